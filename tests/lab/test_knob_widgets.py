"""Widgets with knobs in a real JupyterLab, with a real kernel that answers."""

from __future__ import annotations

import pytest

CELLS = [
    "import stepviz as sv\ntokens = sv.TokenComparison()\ntokens",
    "planner = sv.RunPlanner()\nplanner",
]
SOURCES = """() => window.jupyterapp.shell.currentWidget.content.model.sharedModel.toJSON()
    .cells.map(cell => cell.cell_type + ' ' + cell.source)"""


def eventually(notebook, expression, expected):
    answer = None
    for _ in range(50):
        answer = notebook.kernel(f"print({expression})")
        if answer == expected:
            return
        notebook.page.wait_for_timeout(100)
    assert answer == expected


@pytest.mark.parametrize("latency", [0, 150])
def test_knobs_are_turned_in_a_notebook(open_notebook, latency):
    notebook = open_notebook(cells=CELLS, latency=latency)
    page = notebook.page
    assert notebook.run_all() == []
    tokens, planner = page.locator(".stepviz.tk"), page.locator(".stepviz.pl")
    tokens.scroll_into_view_if_needed()
    assert "667" in tokens.locator(".tk-card").nth(1).inner_text()
    before = page.evaluate(SOURCES)

    # A slider that was picked up answers each key at once, however far the kernel is.
    padding = tokens.locator('[data-knob="padding"]')
    padding.focus()
    page.wait_for_timeout(1500 + 4 * latency)
    page.keyboard.press("ArrowRight")
    assert tokens.get_attribute("data-stale") is None
    held = tokens.locator('[data-side="before"] .sv-dim').last.inner_text()
    assert held.endswith("4 padding")
    eventually(notebook, "tokens.value['padding']", "0.5")

    # Keys that are shortcuts elsewhere leave the notebook alone.
    for key in ("b", "x", "ArrowDown"):
        page.keyboard.press(key)
    assert page.evaluate(SOURCES) == before

    # What is typed is solved by Python, and what Python sets is shown.
    planner.scroll_into_view_if_needed()
    planner.locator('[data-knob="unknown"]').select_option("mfu")
    planner.locator('input[type="text"][data-knob="days"]').fill("5")
    page.keyboard.press("Enter")
    eventually(notebook, "round(float(planner.answer), 4)", "0.5064")
    page.wait_for_function(
        "document.querySelector('.stepviz.pl [data-role=answer]').textContent.includes('50.64 %')"
    )
    notebook.kernel("tokens.value = {'accumulation': 8}; planner.value = {'unknown': 'days'}")
    page.wait_for_function(
        "document.querySelector('.stepviz.pl [data-role=answer]').textContent.includes('6.33 days')"
    )
    page.wait_for_function("document.querySelector('.stepviz.tk [data-role=trap]') !== null")
    notebook.kernel("tokens.close(); planner.close()")
    page.wait_for_function("document.querySelectorAll('.stepviz').length === 0")


def test_the_chosen_cap_is_drawn_in_the_editor(open_notebook):
    make = "import stepviz as sv\ne = sv.BucketExplorer([5 * 2**20] * 24, latency=0.5)\ne"
    notebook = open_notebook(cells=[make])
    page = notebook.page
    assert notebook.run_all() == []
    bars = page.locator('[data-px-per-ms] [data-phase^="exchange"][data-kind="exchange"]')
    page.locator("[data-px-per-ms]").wait_for()
    eventually(notebook, "e.value['cap']", "25.0")
    slider = page.locator('[data-knob="cap"]')
    slider.scroll_into_view_if_needed()
    slider.focus()
    page.keyboard.press("End")
    eventually(notebook, "e.panel.value['cap'] > 100", "True")
    eventually(notebook, "len(e.editor.timeline.phases.query('kind == \"exchange\"'))", "1")
    page.wait_for_function(
        "!document.querySelector('[data-px-per-ms] [data-phase=\"exchange 2\"]')"
    )
    assert bars.count() <= 1
