"""The start notebook as somebody meets it: open it, run it, drag its bars.

The numbers are the lesson's, worked out by hand: forward ends at 200 and backward at 600 ms;
exchange runs from 300 to 650, and the optimizer's 100 ms end the step at 750. In the release model
exchange starts 100 ms after forward whatever backward does, so 25 ms off exchange are 25 ms off the
step. In SS+FF its finish lags backward's by 50 ms, so exchange merely starts later.
"""

from __future__ import annotations

import re

import pytest

START = "notebooks/01_a_step_is_a_graph.ipynb"


def wait_for_completion(notebook, editor, shown):
    """Wait until the page says so many milliseconds."""
    text = re.compile(rf"(?<![\d.,]){re.escape(shown)}(\.0+)?(?!\d)")
    completion = editor.locator('[data-role="completion"]').first
    notebook.page.wait_for_function(
        "([element, pattern]) => new RegExp(pattern).test(element.textContent)",
        arg=[completion.element_handle(), text.pattern],
    )


def wait_for_kernel(notebook, expression, expected):
    """Ask the kernel until it has heard; a message sent by the page is on its way."""
    for _ in range(50):
        answer = notebook.kernel(f"print({expression})")
        if answer == expected:
            return
        notebook.page.wait_for_timeout(100)
    assert answer == expected


@pytest.fixture
def start(open_notebook):
    notebook = open_notebook(START)
    assert notebook.run_all() == []
    return notebook


def test_the_optimizer_dragged_to_50_ms_ends_the_step_at_700(start):
    editor = start.editor()
    wait_for_completion(start, editor, "750")
    start.drag_end(editor, "optimizer", -50)
    wait_for_completion(start, editor, "700")
    wait_for_kernel(start, "editor.schedule.completion", "700.0")
    assert start.kernel("print(editor.timeline.phases.loc['optimizer', 'duration'])") == "50.0"


def test_exchange_25_ms_shorter_saves_25_in_one_model_and_nothing_in_the_other(start):
    editor = start.editor()
    start.kernel("editor.timeline = sv.lesson('release')")
    wait_for_completion(start, editor, "750")
    start.drag_end(editor, "exchange", -25)
    wait_for_completion(start, editor, "725")
    wait_for_kernel(start, "editor.schedule.completion", "725.0")

    start.kernel("editor.timeline = sv.lesson('ss-ff')")
    wait_for_completion(start, editor, "750")
    start.drag_end(editor, "exchange", -25)
    wait_for_kernel(start, "editor.timeline.phases.loc['exchange', 'duration']", "325.0")
    wait_for_completion(start, editor, "750")
    wait_for_kernel(start, "editor.schedule.completion", "750.0")
