"""The editor's keys are its own: the notebook keeps its cells, in a real JupyterLab."""

from __future__ import annotations

import pytest

from tests.browser.driver import Editor
from tests.browser.test_editor_arrows import choose_arrow

CELLS = ["a = 1", "import stepviz as sv\nt = sv.TimelineEditor(sv.lesson())\nt", "b = 2"]
SOURCES = """() => window.jupyterapp.shell.currentWidget.content.model.sharedModel.toJSON()
    .cells.map(cell => cell.cell_type + ' ' + cell.source)"""
INSIDE = "document.activeElement.closest('.stepviz') !== null"


@pytest.fixture
def editor(open_notebook):
    notebook = open_notebook(cells=CELLS)
    assert notebook.run_all() == []
    notebook.end_of(notebook.editor("t"), "exchange")
    return Editor(notebook.page)


def background(editor: Editor) -> None:
    box = editor.role("chart").bounding_box()
    editor.page.mouse.click(box["x"] + box["width"] - 30, box["y"] + box["height"] - 4)


def test_keys_on_what_has_the_focus_leave_the_notebook_alone(editor):
    page = editor.page
    before = page.evaluate(SOURCES)
    places = {
        "bar": lambda: editor.choose("exchange"),
        "arrow": lambda: choose_arrow(editor, 4),
        "background": lambda: background(editor),
        "caption": lambda: editor.role("caption").click(),
        "button": lambda: editor.role("zoom-in").click(),
        "keep": lambda: editor.role("keep").click(),
        "scenario": editor.root.locator("[data-scenario]").first.click,
        "filter, closed again": lambda: (
            editor.role("filter").click(),
            page.keyboard.press("Escape"),
        ),
    }
    for place, go in places.items():
        go()
        page.wait_for_timeout(200)  # the notebook may move the focus a little later
        assert page.evaluate(INSIDE), place
        for key in ("b", "m", "y", "c", "x", "Shift+M", "d", "d", "z"):
            page.keyboard.press(key)
        page.wait_for_timeout(100)
        assert page.evaluate(SOURCES) == before, place
        editor.role("fit").click()


def test_a_chosen_arrow_is_deleted_and_brought_back_by_keys(editor):
    page = editor.page
    before = page.evaluate(SOURCES)
    arrows = editor.root.locator("[data-dependency]")
    count = arrows.count()
    choose_arrow(editor, 4)
    page.keyboard.press("Delete")
    assert arrows.count() == count - 1
    page.keyboard.press("Control+z")
    assert arrows.count() == count
    editor.drag("optimizer", "end", -50)
    background(editor)
    page.keyboard.press("Control+z")
    assert editor.completion == "750 ms"
    assert page.evaluate(SOURCES) == before


def test_saving_goes_through_to_the_notebook(editor):
    page = editor.page
    dirty = "window.jupyterapp.shell.currentWidget.context.model.dirty"
    page.wait_for_function(dirty)
    editor.choose("exchange")
    page.keyboard.press("Control+s")
    page.wait_for_function(f"!{dirty}")
