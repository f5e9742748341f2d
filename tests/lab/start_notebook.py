"""The main gesture of the start notebook, wherever it is served from and however far away.

The lesson's numbers, worked out by hand: the optimizer's 100 ms end the step at 750, so 50 ms less
end it at 700.
"""

from __future__ import annotations

import itertools
import re

START = "notebooks/01_a_step_is_a_graph.ipynb"

# Where the end of a bar was in every frame, until told to stop.
WATCH_END = """([root, phase]) => {
    const handle = () => root.querySelector(`[data-phase="${phase}"] [data-handle="end"]`);
    window.watched = [];
    window.watching = true;
    const look = () => {
      window.watched.push(handle().getBoundingClientRect().left);
      if (window.watching) requestAnimationFrame(look);
    };
    look();
}"""


def wait_for_completion(notebook, editor, milliseconds):
    """Wait until the page says so."""
    shown = re.compile(rf"^\s*{milliseconds}(\.0+)?\s*ms")
    notebook.page.wait_for_function(
        "([element, pattern]) => new RegExp(pattern).test(element.textContent)",
        arg=[editor.locator('[data-role="completion"]').element_handle(), shown.pattern],
    )


def wait_for_kernel(notebook, expression, expected):
    """Ask the kernel until it has heard: what the page sent is on its way."""
    for _ in range(50):
        answer = notebook.kernel(f"print({expression})")
        if answer == expected:
            return
        notebook.page.wait_for_timeout(100)
    assert answer == expected


def drag_the_optimizer_to_50_ms(start):
    """Run the notebook, drag the bar: the page says 700 at once, and no bar ever jumps back."""
    assert start.run_all() == []
    editor = start.editor("editor")
    wait_for_completion(start, editor, 750)
    start.end_of(editor, "optimizer")
    start.page.evaluate(WATCH_END, [editor.element_handle(), "optimizer"])

    start.drag_end(editor, "optimizer", -50)

    assert start.completion(editor).startswith("700")  # at once, whatever the line
    wait_for_kernel(start, "editor.schedule.completion", "700.0")
    assert start.kernel("print(editor.timeline.phases.loc['optimizer', 'duration'])") == "50.0"
    wait_for_completion(start, editor, 700)
    start.page.evaluate("window.watching = false")
    ends = start.page.evaluate("window.watched")
    assert ends[-1] < ends[0]
    assert all(later <= earlier for earlier, later in itertools.pairwise(ends))
