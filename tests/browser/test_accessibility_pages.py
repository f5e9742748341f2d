"""Saved pages and reports, opened from disk: axe-core finds nothing serious in them either."""

from __future__ import annotations

import pytest

import stepviz as sv
from tests.browser.reach import QUESTION, findings

SCHEMES = pytest.mark.parametrize("scheme", ["light", "dark"])
SAVED = {
    "editor": lambda: sv.TimelineEditor(sv.lesson()),
    "viewer": lambda: sv.TraceViewer(sv.sample_run().step()),
    "tokens": sv.TokenComparison,
    "planner": sv.RunPlanner,
    "quiz": lambda: sv.Quiz(**QUESTION),
}


@SCHEMES
@pytest.mark.parametrize("name", SAVED)
def test_a_saved_widget(new_page, tmp_path, name, scheme):
    path = tmp_path / f"{name}.html"
    SAVED[name]().save_html(path)
    page = new_page(color_scheme=scheme)
    page.goto(path.as_uri())
    page.wait_for_selector(".stepviz:not([data-waiting])")
    assert findings(page, "html") == []


@SCHEMES
def test_a_report(new_page, tmp_path, scheme):
    path = tmp_path / "report.html"
    sv.report(sv.sample_run(), path)
    page = new_page(color_scheme=scheme)
    page.goto(path.as_uri())
    assert page.locator("h1").count() == 1
    assert findings(page, "html") == []
