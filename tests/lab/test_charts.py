"""Charts are drawn in JupyterLab with no network: the fixtures refuse every other host."""

from __future__ import annotations

import re

from playwright.sync_api import expect

CHARTS = [
    "import stepviz as sv\nstep = sv.lesson()",
    "sv.charts.offline()",
    "sv.charts.timeline_chart(step)",
    "sv.charts.sensitivity_chart(step, 'exchange')",
    "sv.charts.before_after_chart({'a': step, 'b': step.with_duration('exchange', 325)})",
]


def test_pictures_need_nothing_but_the_notebook(open_notebook):
    notebook = open_notebook(cells=CHARTS)
    assert notebook.run_all() == []
    for name in ("timeline_chart", "sensitivity_chart", "before_after_chart"):
        picture = notebook.cell(f"sv.charts.{name}").locator(".jp-OutputArea-output")
        svg = picture.locator("svg, img[src^='data:image/svg']")
        expect(svg).to_have_count(1)
        box = svg.bounding_box()
        assert box["width"] > 300, name
        assert box["height"] > 60, name


def test_interactive_charts_bring_what_draws_them(open_notebook):
    cells = [CHARTS[0], "sv.charts.offline(interactive=True)", CHARTS[2]]
    notebook = open_notebook(cells=cells)
    assert notebook.run_all() == []
    drawn = notebook.cell("sv.charts.timeline_chart").locator("svg.marks, canvas.marks")
    expect(drawn).to_be_visible(timeout=30_000)
    drawn.hover(position={"x": 220, "y": 20})
    # the tooltip names a phase of the step
    tip = notebook.page.locator("#vg-tooltip-element")
    if tip.count():
        expect(tip).to_contain_text(re.compile("forward|backward|exchange|optimizer"))
