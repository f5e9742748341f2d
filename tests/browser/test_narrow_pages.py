"""Pages on a phone and in a half window: every word and every setting is inside what is shown."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

import stepviz as sv
from tests.browser.saved import open_from_disk

# What sticks out of its own box or of the page, where nothing scrolls.
OUTSIDE = """() => [...document.querySelectorAll('.stepviz *')].filter((one) => {
    const box = one.getBoundingClientRect();
    if (box.width <= 1 || one.closest('svg, .kn-scroll')) return false;
    const frame = one.closest('.kn-group, .tk-words, .sv-top') ?? document.body;
    return box.right > frame.getBoundingClientRect().right + 1;
}).map((one) => `${one.tagName} ${one.className} ${one.textContent.trim().slice(0, 40)}`)"""
# Whether two rows of the head lie on each other.
OVERLAP = """() => {
    const box = (name) => document.querySelector(name).getBoundingClientRect();
    const apart = (a, b) => a.right <= b.left + 1 || b.right <= a.left + 1
        || a.bottom <= b.top + 1 || b.bottom <= a.top + 1;
    const parts = ['.sv-figure', '.sv-scenarios', '.sv-tools', '.sv-side'].map(box);
    return parts.some((a, k) => parts.slice(k + 1).some((b) => !apart(a, b)));
}"""
WIDGETS = {
    "tokens": sv.TokenComparison,
    "planner": sv.RunPlanner,
    "buckets": lambda: sv.BucketExplorer(sv.sample_run("bucket sweep")),
    "capture": lambda: sv.CapturePanel(runs={"a": sv.sample_run(), "b": sv.sample_run()}),
}
LESSON = sv.lesson()
NAMED = {
    "a few words": ("exchange 25 ms shorter", "backward 100 ms shorter", "no overlap at all"),
    "many": tuple(f"cap {2**k} MiB" for k in range(8)),
    "endless": ("x" * 300, "y" * 300),
}


@pytest.fixture
def opened(new_page, tmp_path):
    """Save a widget and open the file at a width."""

    def load(widget, width):
        path = tmp_path / "page.html"
        widget.save_html(path)
        page = new_page(viewport={"width": width, "height": 800})
        open_from_disk(page, path)
        return page

    return load


@pytest.mark.parametrize("width", [375, 480, 560])
@pytest.mark.parametrize("name", WIDGETS)
def test_settings_and_words_stay_inside(name, width, opened):
    page = opened(WIDGETS[name](), width)
    expect(page.locator(".kn-numbers > *").first).to_be_attached()
    assert page.evaluate(OUTSIDE) == []


@pytest.mark.parametrize("width", [375, 560, 860, 1200])
@pytest.mark.parametrize("name", ["tokens", "planner", "buckets"])
def test_sliders_begin_and_end_together(name, width, opened):
    page = opened(WIDGETS[name](), width)
    expect(page.locator(".kn-numbers > *").first).to_be_attached()
    sliders = [one.bounding_box() for one in page.locator(".kn-controls input[type=range]").all()]
    edges = [(round(box["x"]), round(box["width"])) for box in sliders if box is not None]
    assert len(edges) > 1
    assert edges == edges[:1] * len(edges)


@pytest.mark.parametrize("width", [375, 768, 1000, 1400])
@pytest.mark.parametrize("names", NAMED)
def test_names_of_scenarios_leave_the_headline_its_room(names, width, opened):
    page = opened(sv.TimelineEditor(LESSON, scenarios=dict.fromkeys(NAMED[names], LESSON)), width)
    expect(page.locator(".sv-scenario")).to_have_count(len(NAMED[names]))
    assert not page.evaluate(OVERLAP)
    assert page.evaluate(OUTSIDE) == []


def test_a_run_s_verdict_is_no_column_of_single_words(opened):
    page = opened(WIDGETS["capture"](), 375)
    assert page.locator(".cp-runs tbody tr").last.bounding_box()["height"] < 200
