"""On a line of 300 ms there and back, hands are faster than answers; nothing jumps back.

The numbers are the lesson's release model, 750 ms: 25 off exchange are 25 off the step, and so is
each millisecond of the optimizer's.
"""

from __future__ import annotations

import itertools
import json
import re

# Where the end of every bar was in every frame, until told to stop.
WATCH = """(root) => {
    window.ends = {};
    window.watching = true;
    const look = () => {
      for (const bar of root.querySelectorAll('[data-phase]')) {
        const end = bar.querySelector('[data-handle="end"]');
        if (end) (window.ends[bar.dataset.phase] ??= []).push(end.getBoundingClientRect().left);
      }
      if (window.watching) requestAnimationFrame(look);
    };
    look();
}"""
# What each bar says of itself, in full where its short form is rounded.
LENGTHS = """(root) => Object.fromEntries([...root.querySelectorAll('[data-phase]')].map(bar =>
    [bar.dataset.phase, bar.getAttribute('aria-label')]))"""

MAKE = """import stepviz as sv
t = sv.TimelineEditor(sv.lesson())
heard = []
t.observe(lambda change: heard.append(t.schedule.completion), names="value")
t"""


def lengths(notebook, editor):
    """What the page says how long each phase is."""
    found = {}
    for phase, label in editor.evaluate(LENGTHS).items():
        exact = re.search(r"exactly ([\d.,]+) ms", label)
        brief = re.search(rf"{phase} ([\d.,]+)", label)
        found[phase] = float((exact or brief)[1].replace(",", ""))
    return found


def test_five_drags_before_the_first_answer(open_notebook):
    notebook = open_notebook(cells=[MAKE], latency=150)
    assert notebook.run_all() == []
    editor = notebook.page.locator("[data-px-per-ms]")
    notebook.shows(editor, 750)
    notebook.end_of(editor, "exchange")
    editor.evaluate(WATCH)

    shown = 750
    for phase, by in (("exchange", 25), ("optimizer", 30), ("exchange", 15), ("optimizer", 20)):
        notebook.drag_end(editor, phase, -by, steps=25)
        shown -= by
        assert notebook.completion(editor).startswith(str(shown))  # at once, whatever the line
    notebook.drag_end(editor, "forward", -40, steps=25)
    shown -= 40
    assert notebook.completion(editor).startswith(str(shown))

    notebook.eventually("t.schedule.completion", f"{shown}.0")
    notebook.page.wait_for_timeout(700)  # the last answer is on its way to the page
    notebook.shows(editor, shown)
    notebook.page.evaluate("window.watching = false")
    for phase, ends in notebook.page.evaluate("window.ends").items():
        back = [pair for pair in itertools.pairwise(ends) if pair[1] > pair[0] + 0.5]
        assert back == [], phase
    # Python heard each commit once, in order, or skipped to a later one; none came again.
    heard = json.loads(notebook.kernel("print(heard)"))
    assert heard == sorted(heard, reverse=True)
    assert heard[-1] == shown

    said = notebook.kernel("print({p['phase']: p['duration'] for p in t.value['phases']})")
    held = json.loads(said.replace("'", '"'))
    assert lengths(notebook, editor) == {name: held[name] for name in lengths(notebook, editor)}
    assert held["exchange"] == 310
    assert held["optimizer"] == 50
    assert held["forward"] == 160

    # As many steps back, as fast as keys are pressed.
    editor.locator('[data-phase="exchange"]').first.focus()
    for _ in range(5):
        notebook.page.keyboard.press("Control+z")
    notebook.shows(editor, 750)
    notebook.eventually("t.schedule.completion", "750.0")
    notebook.page.wait_for_timeout(700)
    notebook.shows(editor, 750)
