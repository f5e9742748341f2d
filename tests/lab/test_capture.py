"""A capture in a cell of a real JupyterLab: somebody watches the bar."""

from __future__ import annotations

import importlib.util

import pytest

CELL = """import stepviz as sv
run = sv.capture(
    out="captured", layers=1, width=32, heads=2, vocabulary=64, sequence=8, warmup=2, timed=0,
    steps=20, sweep=False, overwrite=True,
)
run"""

# What the bar said whenever it changed.
WATCH = """() => {
    window.seen = [];
    new MutationObserver(() => {
        const bar = document.querySelector('progress.stepviz-capture');
        if (bar && bar.value !== window.seen.at(-1)) window.seen.push(bar.value);
    }).observe(document.body, { subtree: true, childList: true, attributes: true });
}"""


def test_the_bar_is_seen_moving_and_the_run_stands_below(open_notebook):
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed, and captures need it")
    notebook = open_notebook(cells=[CELL])
    notebook.page.evaluate(WATCH)
    assert notebook.run_all() == []
    seen = notebook.page.evaluate("window.seen")
    assert len(seen) >= 3  # it moves; a quick capture shows few of its states
    assert seen == sorted(seen)
    output = notebook.page.locator(".jp-OutputArea").first.inner_text()
    assert "captured 2 ranks in" in output
    assert "gloo on cpu" in output
    assert notebook.kernel("print(len(run.buckets), run.ranks)") == "40 [0, 1]"
