"""Views, linked editors and Python hold the same timeline, in a real JupyterLab.

The numbers are the lesson's release model: 750 ms; exchange 25 ms shorter gives 725, the optimizer
50 ms shorter gives 50 less.
"""

from __future__ import annotations

import re

import pytest

MAKE = "import stepviz as sv\nt = sv.TimelineEditor(sv.lesson())"


def views(notebook):
    return notebook.page.locator("[data-px-per-ms]")


def wait_shown(notebook, view, ms):
    notebook.page.wait_for_function(
        "([element, pattern]) => new RegExp(pattern).test(element.textContent)",
        arg=[
            view.locator('[data-role="completion"]').element_handle(),
            rf"^\s*{re.escape(str(ms))}(\.0+)?\s*ms",
        ],
    )


def wait_python(notebook, expression, expected):
    for _ in range(50):
        answer = notebook.kernel(f"print({expression})")
        if answer == expected:
            return
        notebook.page.wait_for_timeout(100)
    assert answer == expected


def test_two_views_share_one_undo(open_notebook):
    notebook = open_notebook(cells=[MAKE, "t", "t"])
    assert notebook.run_all() == []
    one, other = views(notebook).nth(0), views(notebook).nth(1)
    wait_shown(notebook, one, 750)
    wait_shown(notebook, other, 750)
    notebook.drag_end(one, "exchange", -25)
    wait_shown(notebook, one, 725)
    wait_shown(notebook, other, 725)
    wait_python(notebook, "t.schedule.completion", "725.0")
    assert_undo(one, other, "Undo: exchange 350 → 325 ms")
    other.locator('[data-phase="exchange"]').first.click()
    notebook.page.keyboard.press("Control+z")
    wait_shown(notebook, other, 750)
    wait_shown(notebook, one, 750)
    wait_python(notebook, "t.schedule.completion", "750.0")
    assert_undo(one, other, "Nothing to undo")


def assert_undo(one, other, label):
    for view in (one, other):
        assert view.locator('[data-role="undo"]').get_attribute("aria-label") == label


def test_a_kernel_that_is_busy_is_said_to_be_silent_until_it_answers(open_notebook):
    notebook = open_notebook(cells=[MAKE, "t"])
    assert notebook.run_all() == []
    view = views(notebook).nth(0)
    wait_shown(notebook, view, 750)
    notebook.end_of(view, "exchange")
    notebook.page.evaluate("""() => {
        const { session } = window.jupyterapp.shell.currentWidget.context.sessionContext;
        session.kernel.requestExecute({ code: "import time; time.sleep(8)" });
    }""")
    notebook.drag_end(view, "exchange", -25)
    view.get_by_text("not answering").first.wait_for()
    notebook.drag_end(view, "optimizer", -50)
    wait_shown(notebook, view, 675)
    wait_python(notebook, "t.schedule.completion", "675.0")
    notebook.page.wait_for_function(
        "(element) => !element.textContent.includes('not answering')", arg=view.element_handle()
    )


@pytest.mark.parametrize("latency", [0, 150])
def test_a_timeline_set_during_a_drag_waits_for_its_end(open_notebook, latency):
    notebook = open_notebook(cells=[MAKE, "t"], latency=latency)
    assert notebook.run_all() == []
    view = views(notebook).nth(0)
    wait_shown(notebook, view, 750)
    x, y = notebook.end_of(view, "exchange")
    scale = float(view.get_attribute("data-px-per-ms"))
    mouse = notebook.page.mouse
    mouse.move(x, y)
    mouse.down()
    mouse.move(x - 25 * scale, y, steps=5)
    wait_shown(notebook, view, 725)
    notebook.kernel("t.timeline = t.timeline.with_duration('optimizer', 50)")
    notebook.page.wait_for_timeout(2 * latency + 300)
    wait_shown(notebook, view, 725)  # nothing moved under the hand
    mouse.up()
    wait_shown(notebook, view, 675)
    wait_python(notebook, "t.schedule.completion", "675.0")
    wait_python(
        notebook, "t.value['phases'][4]['duration'], t.value['phases'][3]['duration']", "325.0 50.0"
    )


@pytest.mark.parametrize("latency", [0, 150])
def test_editors_linked_in_the_page_stay_in_step_everywhere(open_notebook, latency):
    link = "import ipywidgets\nu = sv.TimelineEditor(sv.lesson())\n"
    link += "link = ipywidgets.jslink((t, 'value'), (u, 'value'))"
    notebook = open_notebook(cells=[MAKE + "\n" + link, "t", "u"], latency=latency)
    assert notebook.run_all() == []
    one, other = views(notebook).nth(0), views(notebook).nth(1)
    wait_shown(notebook, other, 750)
    notebook.drag_end(one, "exchange", -25)
    wait_shown(notebook, other, 725)
    wait_python(notebook, "t.schedule.completion, u.schedule.completion", "725.0 725.0")
    notebook.drag_end(other, "optimizer", -50)
    wait_shown(notebook, one, 675)
    wait_python(notebook, "t.schedule.completion, u.schedule.completion", "675.0 675.0")
    other.locator('[data-role="undo"]').click()
    wait_shown(notebook, one, 725)
    wait_python(notebook, "t.schedule.completion, u.schedule.completion", "725.0 725.0")
    notebook.page.wait_for_timeout(300)
    for view in (one, other):  # no answer was taken for one about another timeline
        assert view.locator('[data-role="message"]').get_attribute("data-level") != "error"


def test_an_observer_that_rounds_and_one_that_closes(open_notebook):
    rounding = """
def rounded(change):
    ms = t.value["phases"][4]["duration"]
    t.timeline = t.timeline.with_duration("exchange", 10 * round(ms / 10))
t.observe(rounded, names="value")"""
    notebook = open_notebook(cells=[MAKE + rounding, "t"])
    assert notebook.run_all() == []
    view = views(notebook).nth(0)
    wait_shown(notebook, view, 750)
    notebook.drag_end(view, "exchange", -28)
    wait_shown(notebook, view, 720)
    wait_python(notebook, "t.schedule.completion", "720.0")
    notebook.kernel("t.close()")
    notebook.page.wait_for_function("document.querySelectorAll('[data-px-per-ms]').length === 0")
