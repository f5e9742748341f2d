"""The capture panel in a real JupyterLab, with real captures."""

from __future__ import annotations

import importlib.util

import pytest

CELL = """import stepviz as sv
panel = sv.CapturePanel(
    folder="panel", layers=1, width=32, heads=2, vocabulary=64, sequence=8, warmup=2, timed=0,
    steps=20, sweep=False,
)
panel"""

# What the bar said whenever it changed.
WATCH = """() => {
    window.seen = [];
    const look = () => {
        const bar = document.querySelector('.stepviz.cp progress');
        if (bar && !bar.hidden && bar.value !== window.seen.at(-1)) window.seen.push(bar.value);
        requestAnimationFrame(look);
    };
    look();
}"""
STATE = "state => document.querySelector('.stepviz.cp').dataset.job === state"
RESTART = """() => window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel
    .restart()"""
CAPTURE_MS = 90_000

#: How many processes of captures are children of this kernel, or of its children.
LEFT = """import pathlib
words = [p.read_bytes() for p in pathlib.Path('/proc').glob('[0-9]*/cmdline') if p.exists()]
print(sum(b'stepviz.recording' in w and str(pathlib.Path('panel').resolve()).encode() in w
          for w in words), [p.name for p in pathlib.Path('panel').glob('.*')])"""


def left_at_last(notebook):
    """Return what is left of captures, once what was killed has had time to go."""
    left = ""
    for _ in range(50):
        left = notebook.kernel(LEFT)
        if left == "0 []":
            break
        notebook.page.wait_for_timeout(200)
    return left


def job(notebook, state, timeout=CAPTURE_MS):
    notebook.page.wait_for_function(STATE, arg=state, timeout=timeout)


def test_a_capture_is_run_watched_and_shown_while_the_kernel_stays_free(open_notebook):
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed, and captures need it")
    notebook = open_notebook(cells=[CELL])
    page = notebook.page
    assert notebook.run_all() == []
    run = page.locator('[data-role="run"]')
    run.wait_for()
    page.evaluate(WATCH)

    # The bar moves, the kernel answers meanwhile, and the run's timeline appears in the editor.
    run.click()
    job(notebook, "running")
    assert notebook.kernel("print(panel.running, panel.run)") == "True None"
    job(notebook, "done")
    seen = page.evaluate("window.seen")
    assert len(seen) >= 3  # it moves; a busy machine shows fewer of its states
    assert seen == sorted(seen)
    page.locator("[data-px-per-ms]").wait_for()
    assert notebook.kernel("print(list(panel.runs), panel.run.ranks)") == "['base'] [0, 1]"
    exchanges = page.locator('[data-px-per-ms] [data-phase][data-kind="exchange"]')
    assert exchanges.count() > 0

    # A second one beside it, with other buckets.
    page.locator('input[type="text"][data-knob="bucket_cap_mb"]').fill("0.01")
    run.click()
    job(notebook, "running")
    job(notebook, "done")
    rows = page.locator('[data-role="runs"] tbody tr')
    assert rows.count() == 2
    assert "bucket_cap_mb=0.01" in rows.nth(1).inner_text()
    assert rows.nth(1).get_attribute("data-chosen") is not None
    page.get_by_role("radio", name="base").check()
    page.wait_for_function("document.querySelector('tr[data-chosen]').innerText.includes('base')")
    assert notebook.kernel("print(panel.chosen)") == "base"

    # Stop, and the kernel's interrupt, end every process; the interrupt also of an idle kernel.
    for way in ("stop", "interrupt"):
        run.click()
        job(notebook, "running")
        page.wait_for_function("document.querySelector('.stepviz.cp progress').value > 0.05")
        if way == "stop":
            page.locator('[data-role="stop"]').click()
        else:
            page.evaluate("window.jupyterapp.commands.execute('notebook:interrupt-kernel')")
        job(notebook, "stopped")
        assert left_at_last(notebook) == "0 []"
    assert notebook.kernel("print(len(panel.runs))") == "2"

    # So does a restart.
    run.click()
    page.wait_for_function("document.querySelector('.stepviz.cp progress').value > 0.05")
    assert notebook.kernel(LEFT).split()[0] != "0"
    page.evaluate(RESTART)
    assert left_at_last(notebook) == "0 []"
