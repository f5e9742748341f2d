"""The trace viewer in a real JupyterLab, with a real kernel that answers."""

from __future__ import annotations

import pytest

from tests.browser.traces import Viewer

MAKE = "import stepviz as sv\nv = sv.TraceViewer(sv.sample_run().step())\nv"
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
def test_a_step_is_looked_into_in_a_notebook(open_notebook, latency):
    notebook = open_notebook(cells=["a = 1", MAKE, "b = 2"], latency=latency)
    page = notebook.page
    assert notebook.run_all() == []
    viewer = Viewer(page)
    viewer.role("lanes").wait_for()
    viewer.role("lanes").scroll_into_view_if_needed()
    page.wait_for_selector(".tv:not([data-waiting])")
    viewer.settle()
    before = page.evaluate(SOURCES)

    # Keys are the viewer's own: the notebook keeps its cells.
    viewer.focus()
    whole = viewer.range
    for key in ("w", "w", "d", "b", "m", "x", "d", "d", "z", "Shift+M", "/", "Escape"):
        page.keyboard.press(key)
    viewer.settle()
    assert viewer.range[1] - viewer.range[0] < (whole[1] - whole[0]) / 2
    assert page.evaluate(SOURCES) == before

    # A piece that was found is chosen, and Python knows it.
    page.keyboard.press("0")
    page.keyboard.press("/")
    page.keyboard.type("ddp_exchange#0")
    page.keyboard.press("Enter")
    page.wait_for_function(
        "e => e.textContent.includes(' of 2')", arg=viewer.role("search-count").element_handle()
    )
    eventually(notebook, "v.selection['name'].split('#bytes')[0]", "ddp_exchange#0")
    eventually(
        notebook, "v.selection['start_ns'] in set(v.find('ddp_exchange#0').start_ns)", "True"
    )

    # Python moves the view.
    notebook.kernel("w = v.step.windows.start_ns.min(); v.show(start_ns=w, finish_ns=w + 10**6)")
    page.wait_for_function(
        "root => Number(root.dataset.start) === 0 && Number(root.dataset.finish) === 1e6",
        arg=viewer.root.element_handle(),
    )
    notebook.kernel("v.close()")
    page.wait_for_function("document.querySelectorAll('.tv').length === 0")
