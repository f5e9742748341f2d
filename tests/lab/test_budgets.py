"""What widgets cost: seconds to the first drag, memory after the last, megabytes saved."""

from __future__ import annotations

import json
import os
import sys
import time

import pytest

from tools import jupyter_lab

MAKE = "import stepviz as sv\nt = sv.TimelineEditor(sv.lesson())\nt"


@pytest.fixture
def tell(capsys, record_property):
    """Say a figure where it can be read, whether the test passes or not."""

    def say(name, value):
        record_property(name, value)
        with capsys.disabled():
            sys.stdout.write(f"\n{name}: {value}\n")

    return say


# Seconds.
LIMIT = 15.0
STEPS = 12


def seconds_to_an_answer(new_page, scratch):
    """From starting ``jupyter lab`` to a drag that Python has heard."""
    (scratch / "root").mkdir(parents=True)
    (scratch / "lab").mkdir()
    page = new_page()  # the browser is open already, as most people's is
    begun = time.monotonic()
    with jupyter_lab.serve(scratch / "root", scratch / "lab") as url:
        jupyter_lab.put_notebook(page, url, "first.ipynb", [MAKE])
        jupyter_lab.open_notebook(page, url, "first.ipynb")
        assert jupyter_lab.run_all(page) == []
        root = page.locator("[data-px-per-ms]")
        box = root.locator('[data-phase="optimizer"] [data-handle="end"]').bounding_box()
        by = -50 * float(root.get_attribute("data-px-per-ms"))
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + by, y, steps=STEPS)
        page.mouse.up()
        shown = root.locator('[data-role="completion"]').text_content()
        answered = jupyter_lab.run_in_kernel(page, "print(t.schedule.completion)").strip()
        while answered == "750.0":
            answered = jupyter_lab.run_in_kernel(page, "print(t.schedule.completion)").strip()
        took = time.monotonic() - begun
        jupyter_lab.close_sessions(page, url)
        page.close()  # while there is somebody to say goodbye to
    assert answered == "700.0"
    assert shown.startswith("700")
    return took


def test_the_first_drag_is_answered_within_15_seconds(new_page, tmp_path, tell):
    # The best of three: what else the machine does is not what is measured.
    tries = []
    for k in range(3):
        tries.append(seconds_to_an_answer(new_page, tmp_path / str(k)))
        if min(tries) < LIMIT:
            break
    busy = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    tell("seconds from `jupyter lab` to an answered drag", round(min(tries), 2))
    tell("load per core meanwhile", round(busy, 2))
    assert min(tries) < LIMIT * busy


# Memory.
BATCHES = """import gc, weakref
import ipywidgets
import stepviz as sv
from IPython.display import display
known = ipywidgets.widgets.widget._instances
shown, gone = [], []

def batch(count):
    for widget in shown:
        widget.close()
    shown.clear()
    gc.collect()
    for k in range(count):
        shown.append({})
        gone.append(weakref.ref(shown[-1]))
    display(*shown)
count = 10"""

# A closed slider of ipywidgets leaves some 30 kB in JupyterLab 4.6, a kept editor 140 kB and a kept
# explorer 200 kB. Megabytes of the page's heap: after a hundred, and more with each hundred.
CLOSED = {
    "editor": ("sv.TimelineEditor(sv.lesson())", 3, 1),
    "explorer": ("sv.BucketExplorer([2.5e6] * 20, bandwidth=10, latency=0.5)", 4, 2.5),
}

# anywidget holds each model for two seconds, by a timer; one that is set later rings later.
TIMERS_RANG = """() => new Promise(done =>
    AbortSignal.timeout(2000).addEventListener('abort', () => setTimeout(done)))"""


@pytest.fixture
def listeners():
    """What is listened to where a widget would be heard after it is gone, by how many.

    Not on the document: there JupyterLab's own come and go, and no source of ours names it.
    """

    def count(page):
        session = page.context.new_cdp_session(page)
        found = {}
        for name in ("window", "document.body"):
            at = session.send("Runtime.evaluate", {"expression": name})["result"]["objectId"]
            heard = session.send("DOMDebugger.getEventListeners", {"objectId": at})["listeners"]
            found[name] = sorted(one["type"] for one in heard)
        session.detach()
        return found

    return count


def cost(page, session):
    """Bytes, nodes and listeners that the page holds on to."""
    page.evaluate(TIMERS_RANG)
    for _ in range(3):
        session.send("HeapProfiler.collectGarbage")
    found = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    return {name: found[name] for name in ("JSHeapUsedSize", "Nodes", "JSEventListeners")}


@pytest.mark.parametrize("kind", CLOSED)
def test_hundreds_of_widgets_made_and_closed_leave_nothing(open_notebook, listeners, tell, kind):
    make, first, more = CLOSED[kind]
    notebook = open_notebook(cells=[BATCHES.format(make), "batch(count)"])
    page = notebook.page
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    run = """async () => {
        const { content } = window.jupyterapp.shell.currentWidget;
        content.activeCellIndex = 1;
        content.deselectAll();
        await window.jupyterapp.commands.execute('notebook:run-cell');
    }"""

    def show(count):
        notebook.kernel(f"count = {count}")
        page.evaluate(run)
        page.wait_for_function(
            "n => document.querySelectorAll('[data-px-per-ms]').length === n", arg=count
        )

    def since_start():
        return {name: value - start[name] for name, value in cost(page, session).items()}

    assert notebook.run_all() == []
    show(10)
    show(0)
    start, begun = cost(page, session), int(notebook.kernel("print(len(known))"))
    ears = listeners(page)
    show(10)
    held = since_start()
    show(0)
    tell(f"held by 10 of {kind}", held)
    left = []
    for hundred in range(1, 4):
        for _ in range(10):
            show(10)
            show(0)
        left.append(since_start())
        tell(f"left by {hundred}00 of {kind}, closed", left[-1])
    assert listeners(page) == ears
    # Less than what five of them hold, the notebook's own among it.
    assert left[0]["Nodes"] < held["Nodes"] / 2
    assert left[0]["JSEventListeners"] < held["JSEventListeners"] / 2
    heap = [one["JSHeapUsedSize"] / 1e6 for one in left]
    assert heap[0] < first
    assert heap[2] - heap[1] < more

    notebook.kernel("Out.clear(); gc.collect()")
    assert notebook.kernel("print(sum(one() is not None for one in gone))") == "0"
    assert notebook.kernel("print(len(gone))") == "330"
    assert int(notebook.kernel("print(len(known))")) == begun


# Megabytes.
TWENTY = """editors = [sv.TimelineEditor(sv.lesson()) for _ in range(10)]
viewers = [sv.TraceViewer(sv.sample_run().step()) for _ in range(4)]
knobs = [sv.TokenComparison(), sv.RunPlanner(), sv.TokenComparison(), sv.RunPlanner()]
explorers = [sv.BucketExplorer([2.5e6] * 200, bandwidth=10, latency=0.5) for _ in range(2)]
from IPython.display import display
display(*editors, *viewers, *knobs, *explorers)"""
KEEP_STATE = "@jupyter-widgets/jupyterlab-manager:plugin"


def test_a_notebook_with_twenty_widgets_stays_below_five_megabytes_and_opens_again(
    open_notebook, lab, new_page, tell
):
    request = new_page().context.request
    address = f"{lab}/lab/api/settings/{KEEP_STATE}"
    assert request.put(address, data=json.dumps({"raw": '{"saveState": true}'})).ok
    try:
        notebook = open_notebook(cells=["import stepviz as sv", TWENTY])
        page = notebook.page
        assert notebook.run_all() == []
        page.wait_for_function("document.querySelectorAll('.stepviz').length >= 22")
        editor = page.locator("[data-px-per-ms]").first
        notebook.shows(editor, 750)
        notebook.drag_end(editor, "exchange", -25)
        notebook.eventually("editors[0].schedule.completion", "725.0")
        page.evaluate("window.jupyterapp.commands.execute('docmanager:save')")
        page.wait_for_function(
            "!window.jupyterapp.shell.currentWidget.context.model.dirty", timeout=60_000
        )
        path = page.evaluate("window.jupyterapp.shell.currentWidget.context.path")
        saved = request.get(f"{lab}/api/contents/{path}?content=1").json()["content"]
        size = len(json.dumps(saved, indent=1).encode())
        states = saved["metadata"]["widgets"]["application/vnd.jupyter.widget-state+json"]["state"]
        tell("MB saved with twenty widgets", round(size / 1e6, 2))
        assert sum("_esm" in one["state"] for one in states.values()) >= 20
        assert size < 5_000_000

        # Opened again, before any cell runs: there, and it still follows a hand.
        again = open_notebook(path)
        editor = again.page.locator("[data-px-per-ms]").first
        again.shows(editor, 725)
        again.drag_end(editor, "optimizer", -50)
        again.shows(editor, 675)
    finally:
        request.put(address, data=json.dumps({"raw": "{}"}))
