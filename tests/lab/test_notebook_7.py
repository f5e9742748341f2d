"""The same widgets in Notebook 7, which is JupyterLab's parts around a single notebook.

750, 725 and 700 ms are the lesson's release model: exchange 25 ms shorter, or the optimizer 50.
"""

from __future__ import annotations

import pytest

pytest.importorskip("notebook", reason="the program that is tested")

MAKE = "import stepviz as sv\neditor = sv.TimelineEditor(sv.lesson())\neditor"

EVERY_WIDGET = [
    "import stepviz as sv",
    "sv.TraceViewer(sv.sample_run().step())",
    "sv.BucketExplorer([2.5e6] * 20, bandwidth=10, latency=0.5)",
    "sv.TokenComparison()",
    "sv.RunPlanner()",
]


# Notebook 7.6 says so of its own settings while it opens any notebook, with no widget in it.
ITS_OWN = "page error: Cannot read properties of undefined (reading 'schema')"


@pytest.fixture(autouse=True)
def but_for_its_own(page_problems):
    yield
    page_problems[:] = [problem for problem in page_problems if problem != ITS_OWN]


def test_a_drag_is_shown_at_once_heard_by_python_and_undone(open_notebook):
    notebook = open_notebook(cells=[MAKE], program="notebook")
    assert notebook.run_all() == []
    editor = notebook.page.locator("[data-px-per-ms]")
    notebook.shows(editor, 750)

    notebook.drag_end(editor, "exchange", -25)
    notebook.shows(editor, 725)
    notebook.eventually("editor.schedule.completion", "725.0")

    # Keys are the editor's: b would make a cell and x would cut one.
    cells = notebook.page.locator(".jp-Cell").count()
    editor.locator('[data-phase="exchange"]').first.click()
    for key in ("b", "x", "Control+z"):
        notebook.page.keyboard.press(key)
    notebook.shows(editor, 750)
    notebook.eventually("editor.schedule.completion", "750.0")
    assert notebook.page.locator(".jp-Cell").count() == cells

    # And Python is heard by the page.
    notebook.kernel("editor.timeline = editor.timeline.with_duration('optimizer', 50)")
    notebook.shows(editor, 700)


def test_every_widget_is_drawn(open_notebook):
    notebook = open_notebook(cells=EVERY_WIDGET, program="notebook")
    assert notebook.run_all() == []
    for start, root in (
        ("sv.TraceViewer", ".stepviz.tv:not([data-waiting])"),
        ("sv.BucketExplorer", ".stepviz.bk"),
        ("sv.BucketExplorer", "[data-px-per-ms]"),
        ("sv.TokenComparison", ".stepviz.tk"),
        ("sv.RunPlanner", ".stepviz.pl"),
    ):
        notebook.cell(start).locator(root).wait_for()
