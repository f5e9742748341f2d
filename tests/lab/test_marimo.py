"""The editor in marimo, a notebook that is no Jupyter: no comms, and each widget in a shadow root.

750 and 725 ms are the lesson's release model, before and after exchange is 25 ms shorter.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass

import pytest
from playwright.sync_api import expect

import stepviz as sv
from tests.browser.driver import Editor
from tools import jupyter_lab

pytest.importorskip("marimo", reason="the program that is tested")

# Cells after the editor's run again whenever a drag ends, as everything does in marimo.
APP = """
import marimo

app = marimo.App()


@app.cell
def _():
    import marimo as mo
    import stepviz as sv

    return mo, sv


@app.cell
def _(mo, sv):
    editor = mo.ui.anywidget(sv.TimelineEditor(sv.lesson()))
    editor
    return (editor,)


@app.cell
def _(editor, mo):
    exchange = editor.value["value"]["phases"][4]
    mo.md(f"Python: {editor.schedule.completion} ms, {exchange['phase']} {exchange['duration']}")
    return


@app.cell
def _(sv):
    sv.TraceViewer(sv.sample_run().step())
    return


@app.cell
def _(mo, sv):
    planner = mo.ui.anywidget(sv.RunPlanner())
    planner
    return (planner,)


@app.cell
def _(mo, planner):
    mo.md(f"Plan: {planner.value['value']['mfu']}")
    return


@app.cell
def _(mo, sv):
    explorer = sv.BucketExplorer([2.5e6] * 200, bandwidth=10, latency=0.5)
    mo.vstack([mo.ui.anywidget(part) for part in explorer.children])
    return


@app.cell
def _(mo):
    button = mo.ui.run_button(label="shorter optimizer")
    button
    return (button,)


@app.cell
def _(button, editor):
    if button.value:
        editor.widget.timeline = editor.timeline.with_duration("optimizer", 50)
    return


if __name__ == "__main__":
    app.run()
"""


@dataclass
class Shadowed(Editor):
    """An editor whose bars are found through marimo's element around it."""

    @property
    def root(self):
        return self.page.locator("[data-px-per-ms]").nth(self.view)


@pytest.fixture(scope="module")
def marimo_url(tmp_path_factory):
    scratch = tmp_path_factory.mktemp("marimo")
    path, log_path = scratch / "app.py", scratch / "marimo.log"
    path.write_text(APP, encoding="utf-8")
    port = jupyter_lab.free_port()
    # Nothing of the user's own settings is read or written.
    homes = ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME")
    command = [sys.executable, "-m", "marimo", "--quiet", "run", str(path), "--headless"]
    command += ["--no-token", "--no-sandbox", "--host", "127.0.0.1", "--port", str(port)]
    with log_path.open("w", encoding="utf-8") as log:
        server = subprocess.Popen(
            command, env=os.environ | dict.fromkeys(homes, str(scratch)), stdout=log, stderr=log
        )
    url = f"http://127.0.0.1:{port}"
    try:
        jupyter_lab.wait_for(url + "/health", server, log_path)
        yield url
    finally:
        server.terminate()
        server.wait(20)


def python_says(page, text):
    expect(page.get_by_text(re.compile(rf"^\s*Python: {re.escape(text)}\s*$"))).to_be_visible(
        timeout=60_000
    )


def test_a_drag_reaches_python_and_python_reaches_the_page(marimo_url, new_page):
    page = new_page(color_scheme="dark")
    page.goto(marimo_url)
    python_says(page, "750.0 ms, exchange 350.0")
    editor = Shadowed(page)
    expect(editor.role("completion")).to_contain_text("750")

    # marimo is light unless it is told otherwise, whatever the system is
    assert editor.root.evaluate("element => getComputedStyle(element).colorScheme") == "light"

    editor.drag("exchange", "end", -25)
    expect(editor.role("completion")).to_contain_text("725")
    python_says(page, "725.0 ms, exchange 325.0")

    editor.bar("exchange").focus()
    page.keyboard.press("Control+z")
    expect(editor.role("completion")).to_contain_text("750")
    python_says(page, "750.0 ms, exchange 350.0")

    page.get_by_role("button", name="shorter optimizer").click()
    expect(editor.role("completion")).to_contain_text("700")

    # The viewer asks Python for its lanes by messages.
    expect(page.locator(".tv:not([data-waiting])")).to_be_visible(timeout=60_000)


def test_what_is_typed_is_left_alone_while_it_is_typed(marimo_url, new_page):
    page = new_page()
    page.goto(marimo_url)
    expect(page.get_by_text("Plan: 0.4")).to_be_visible(timeout=60_000)
    field = page.locator('.pl input[type="text"][data-knob="mfu"]')
    field.click()
    field.press("Control+a")
    page.keyboard.type("50.")
    # Python has heard of 50 %, and answered, and the point waits for what comes after it.
    expect(page.get_by_text("Plan: 0.5", exact=True)).to_be_visible()
    page.wait_for_timeout(700)
    assert field.input_value() == "50."
    page.keyboard.type("5")
    expect(page.get_by_text("Plan: 0.505", exact=True)).to_be_visible()
    assert field.input_value() == "50.5"


def test_the_parts_of_a_box_are_shown_one_by_one_and_stay_linked(marimo_url, new_page):
    page = new_page()
    page.goto(marimo_url)
    panel = page.locator(".bk")
    expect(panel.locator('[data-role="headline"]')).to_contain_text("buckets", timeout=60_000)
    slider = panel.locator('[data-knob="cap"]')
    slider.focus()
    page.keyboard.press("Home")
    # what the same explorer says in Python of the smallest cap
    truth = sv.BucketExplorer([2.5e6] * 200, bandwidth=10, latency=0.5).sweep["completion"].iloc[0]
    expect(panel.locator('[data-role="headline"]')).to_contain_text("with 200 buckets")
    chosen = page.locator("[data-px-per-ms] [data-role='completion']").nth(1)
    expect(chosen).to_contain_text(f"{truth:.2f}")
