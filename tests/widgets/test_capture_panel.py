"""The capture panel's Python side, with a launcher that only pretends, and one that does not."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path

import pytest

import stepviz as sv
from stepviz.recording import background, captures
from stepviz.recording.options import told
from stepviz.widgets import capture_panel


class Launcher:
    """Pretends to capture: goes on when it is let, ends as it is told."""

    def __init__(self):
        self.asked, self.targets = [], []
        self.go = threading.Event()
        self.problem = None
        self.run = sv.sample_run()
        self.done = 0

    def __call__(self, options, target, bar, *, output):
        self.asked.append(options)
        self.targets.append(target)
        assert output is False
        bar.show(0.25, "pass 1 of 4, gloo on cpu")
        while not self.go.wait(0.02):
            bar.show(0.5, "pass 2 of 4, gloo on cpu")
        if self.problem is not None:
            raise self.problem
        self.done += 1
        return self.run


@pytest.fixture
def launcher(monkeypatch):
    made = Launcher()
    monkeypatch.setattr(background, "_captured", made)
    monkeypatch.setattr(capture_panel, "why_none_here", lambda: "")
    yield made
    made.go.set()


def press(panel, what, **content):
    panel.form._asked(None, {"ask": what, **content}, None)


def job(panel):
    return panel.form._job


def test_every_option_is_in_the_form_with_its_default():
    form = sv.CapturePanel().form
    knobs = {knob["name"]: knob for knob in form._form}
    assert set(knobs) == set(told())
    first = [knob["name"] for knob in form._form if knob["group"] in ("run", "slow", "fabric")]
    assert first[0] == "ranks"
    assert {"bucket_cap_mb", "accumulation", "slow_rank", "input_delay_ms", "steps"} < set(first)
    for name, (what, default) in told().items():
        assert form.value[name] == default
        assert what.help in knobs[name]["help"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"ranks": 0}, "ranks=0 is too few; at least 1"),
        ({"ranks": "many"}, "ranks is a whole number, not 'many'"),
        ({"ranks": None}, "ranks is a whole number, and none is given"),
        ({"slow_rank": 1}, "slow_rank=1 without slow_ms changes nothing; give slow_ms=20, say"),
        ({"width": 250}, "not divisible by heads=4"),
        ({"bucket_cap_mb": "4, x"}, "bucket_cap_mb is a finite number, not '4, x'"),
        ({"bucket_cap": 4}, "capture has no option 'bucket_cap'; did you mean 'bucket_cap_mb'"),
    ],
)
def test_what_is_typed_is_refused_in_the_sentence_of_capture(given, said):
    panel = sv.CapturePanel()
    before = panel.value
    panel.form.set_state({"value": {**before, **given}})
    assert said in panel.form._shown["problem"]
    assert panel.value == before
    with pytest.raises(sv.CaptureError) as raised:
        panel.value = given
    assert said in str(raised.value)
    with pytest.raises((sv.CaptureError, TypeError)):
        sv.CapturePanel(**given)


def test_the_same_in_python_is_what_differs_from_the_defaults():
    panel = sv.CapturePanel()
    code = lambda: panel.form._shown["picture"]["code"]
    assert code() == "sv.capture()"
    panel.value = {"bucket_cap_mb": [1, 2.5, 4], "latency_ms": 5, "slow_rank": 1, "slow_ms": 20}
    assert code() == (
        "sv.capture(bucket_cap_mb=[1, 2.5, 4], slow_rank=1, slow_ms=20, latency_ms=5)"
    )
    assert "emulated" in panel.form._shown["picture"]["emulated"]
    json.dumps([panel.value, panel.form._form, panel.form._shown], allow_nan=False)


def test_a_capture_leaves_the_kernel_free_and_its_run_in_the_editor(launcher, tmp_path):
    panel = sv.CapturePanel(folder=tmp_path, steps=2)
    assert (panel.run, panel.runs, panel.editor) == (None, {}, None)
    press(panel, "run", value={**panel.value, "ranks": 3})
    assert panel.running
    assert job(panel)["state"] == "running"
    while job(panel)["share"] < 0.5:
        assert panel.running
    assert job(panel)["words"] == "pass 2 of 4, gloo on cpu"
    with pytest.raises(sv.CaptureError, match="a capture is at work"):
        panel.start()
    assert panel.wait(0.01) is None
    launcher.go.set()
    assert panel.wait(30) is launcher.run
    assert job(panel)["state"] == "done"
    assert launcher.asked[0].ranks == 3
    assert launcher.targets == [tmp_path / "run-1"]
    assert panel.run is launcher.run
    assert list(panel.runs) == [panel.chosen] == ["ranks=3"]
    assert panel.children == (panel.form, panel.editor)
    assert panel.editor.timeline == launcher.run.step().timeline()
    assert panel.form._table["chosen"] == 0


def test_runs_are_kept_side_by_side_and_compared_with_the_first(launcher):
    launcher.go.set()
    base, slow = sv.sample_run(), sv.sample_run("slow rank")
    panel = sv.CapturePanel(runs={"mine": base})
    launcher.run = slow
    for _ in range(2):
        panel.start()
        panel.wait()
    assert list(panel.runs) == ["mine", "base", "base (2)"]
    table = panel.table
    found = sv.verdict(base, slow)
    assert table.loc["base", "verdict"] == found.decision
    assert table.loc["base", "reason"] == found.reason
    assert table.loc["mine", "verdict"] == ""
    assert (table["quartile_1_ms"] <= table["step_ms"]).all()
    assert (table["step_ms"] <= table["quartile_3_ms"]).all()
    exposed = found.table.loc["exposed exchange"]
    assert table.loc["mine", "exposed_ms"] == pytest.approx(exposed["before"])
    assert table.loc["base", "exposed_ms"] == pytest.approx(exposed["after"])

    press(panel, "choose", run=0)
    assert (panel.chosen, panel.run) == ("mine", base)
    assert panel.editor.timeline == base.step().timeline()
    for nonsense in (7, "x", None):
        press(panel, "choose", run=nonsense)
    assert panel.chosen == "mine"
    with pytest.raises(sv.CaptureError, match="there is no run 'other'"):
        panel.chosen = "other"
    assert "base (2)" in panel._repr_html_()


def test_a_run_is_renamed_and_removed_and_the_rest_compared_anew(launcher):
    base, slow, late = sv.sample_run(), sv.sample_run("slow rank"), sv.sample_run("late input")
    panel = sv.CapturePanel(runs={"a": base, "b": slow, "c": late})
    said = lambda: panel.form._table["said"]
    labels = lambda: [row["label"] for row in panel.form._table["rows"]]
    press(panel, "rename", run=1, label=" slow one ")
    assert list(panel.runs) == labels() == ["a", "slow one", "c"]
    assert (panel.chosen, said()) == ("a", "")
    press(panel, "rename", run=0, label="first")
    assert panel.chosen == "first"
    turn = panel.form._table["turn"]
    for label, why in (("c", "'c' is another run's label"), ("  ", "a run needs a label")):
        press(panel, "rename", run=0, label=label)
        assert said().startswith(why)
    assert panel.form._table["turn"] == turn + 2  # also the same words twice reach the page
    with pytest.raises(sv.CaptureError, match="no run 'x'"):
        panel.rename("x", "y")

    # The first goes: what was second is what the others are compared with.
    press(panel, "remove", run=0)
    assert list(panel.runs) == labels() == ["slow one", "c"]
    assert panel.chosen == "slow one"
    assert panel.editor.timeline == slow.step().timeline()
    assert panel.table.loc["slow one", "verdict"] == ""
    assert panel.table.loc["c", "reason"] == sv.verdict(slow, late).reason
    assert said().startswith("first is off the table; its files stay in ")
    assert all(Path(file).exists() for file in base.files["file"])
    panel.remove("c")
    assert panel.chosen == "slow one"
    for nonsense in (7, -1, "x", None):
        press(panel, "remove", run=nonsense)
    panel.remove("slow one")
    assert (panel.runs, panel.run, panel.chosen, panel.editor) == ({}, None, "", None)
    assert panel.children == (panel.form,)
    assert panel.form._table["rows"] == []
    with pytest.raises(sv.CaptureError, match="no run 'x': there are none"):
        panel.remove("x")
    launcher.go.set()
    panel.start()
    assert panel.wait() is launcher.run
    assert panel.editor is not None


def test_a_run_renamed_meanwhile_keeps_its_name_and_the_new_one_gets_another(launcher):
    panel = sv.CapturePanel(runs={"mine": sv.sample_run()})
    panel.start()
    panel.rename("mine", "base")  # as the one at work was to be called
    launcher.go.set()
    assert panel.wait() is launcher.run
    assert list(panel.runs) == ["base", "base (2)"]
    panel.remove("base (2)")
    assert panel.wait() is launcher.run


@pytest.mark.parametrize("kind", ["file", "below a file", "a number", "nobody's home"])
def test_a_folder_that_can_hold_nothing_is_refused_in_a_sentence(tmp_path, kind):
    (tmp_path / "notes.txt").write_text("mine")
    folder, said = {
        "file": (tmp_path / "notes.txt", "notes.txt is a file, so no capture can be kept in"),
        "below a file": (tmp_path / "notes.txt" / "runs", "notes.txt is a file"),
        "a number": (5, "folder is 5: give a path"),
        "nobody's home": ("~no-such-user-here/runs", "folder is '~no-such-user-here/runs'"),
    }[kind]
    with pytest.raises(sv.CaptureError, match=said):
        sv.CapturePanel(folder=folder)


def test_a_folder_that_goes_bad_meanwhile_is_told_in_the_panel(launcher, tmp_path):
    panel = sv.CapturePanel(folder=tmp_path / "runs")
    (tmp_path / "runs").write_text("a file now")
    press(panel, "run", value=panel.value)
    assert job(panel)["state"] == "failed"
    assert job(panel)["problem"].endswith("; choose another folder")
    assert "Errno" not in job(panel)["problem"]
    (tmp_path / "runs").unlink()
    launcher.go.set()
    panel.start()
    panel.wait()
    assert launcher.targets == [tmp_path / "runs" / "run-1"]


def test_two_panels_in_one_folder_keep_out_of_each_others_way(launcher, tmp_path):
    launcher.go.set()
    panels = [sv.CapturePanel(folder=tmp_path) for _ in range(2)]
    (tmp_path / ".run-1-x2f").mkdir()  # what one that is at work works in
    (tmp_path / "run-2").mkdir()
    for panel in panels:
        panel.start()
        panel.wait()
    assert launcher.targets[0] == tmp_path / "run-3"
    # And where both began at the same moment, the later one's files go beside.
    for number in range(2):
        files = tmp_path / f"files-{number}"
        files.mkdir()
        (files / "rank0.json.gz").write_bytes(bytes([number]))
        kept = captures._keep(files, tmp_path / "run-3")
        assert kept.name == ("run-3", "run-3-2")[number]
        assert (kept / "rank0.json.gz").read_bytes() == bytes([number])


def test_a_failure_is_told_in_its_sentence_and_another_run_may_follow(launcher):
    launcher.go.set()
    launcher.problem = sv.CaptureError("rank 1 of 2 failed: boom\n  last lines of rank 1:\n    x")
    panel = sv.CapturePanel()
    panel.start()
    with pytest.raises(sv.CaptureError, match="rank 1 of 2 failed"):
        panel.wait()
    assert job(panel)["state"] == "failed"
    assert job(panel)["problem"] == "rank 1 of 2 failed: boom"
    assert job(panel)["lines"] == "  last lines of rank 1:\n    x"
    launcher.problem = None
    panel.start()
    assert panel.wait() is launcher.run
    assert job(panel)["problem"] == ""


@pytest.mark.parametrize("how", ["button", "interrupt", "close"])
def test_it_is_stopped(launcher, how):
    panel = sv.CapturePanel()
    panel.start()
    sentry = panel._job._sentry
    if how == "button":
        press(panel, "stop")
        assert job(panel)["state"] == "stopping"
    elif how == "interrupt":  # what a kernel's manager sends goes to its whole group
        while job(panel)["share"] < 0.5:
            pass
        for _ in range(100):
            os.kill(sentry.pid, signal.SIGINT)
            if panel._job.wait(0.1):
                break
    else:
        panel.close()
        assert not panel.running
        return
    said = {"button": "stopped", "interrupt": "interrupted"}[how]
    with pytest.raises(sv.CaptureError, match=f"was {said}; every process of it has ended"):
        panel.wait(30)
    assert job(panel)["state"] == "stopped"
    assert sentry.poll() is not None
    assert panel.runs == {}
    launcher.go.set()
    panel.start()
    assert panel.wait() is launcher.run


def test_a_kernel_that_is_gone_leaves_no_sentry():
    code = (
        "import time, os, signal, stepviz as sv\n"
        "from stepviz.recording import background\n"
        "from stepviz.widgets import capture_panel\n"
        "background._captured = lambda *a, **k: time.sleep(60)\n"
        "capture_panel.why_none_here = lambda: ''\n"
        "panel = sv.CapturePanel()\npanel.start()\n"
        "print(panel._job._sentry.pid, flush=True)\nos.kill(os.getpid(), signal.SIGKILL)"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    sentry = Path(f"/proc/{int(answer.stdout)}/stat")
    until = time.monotonic() + 5
    gone = lambda: not sentry.exists() or sentry.read_text().rpartition(")")[2].split()[0] == "Z"
    while not gone() and time.monotonic() < until:
        time.sleep(0.05)
    assert gone()


def test_without_torch_it_says_what_to_install_and_shows_the_samples(monkeypatch):
    said = "capture needs torch, which is not installed: pip install 'stepviz[capture]'"
    monkeypatch.setattr(capture_panel, "why_none_here", lambda: said)
    panel = sv.CapturePanel()
    assert job(panel)["missing"] == said
    assert list(panel.runs) == ["sample: base", "sample: slow rank"]
    assert panel.run.ranks == [0, 1]
    assert panel.editor is not None


def test_wrong_arguments_are_refused():
    with pytest.raises(TypeError, match="did you mean 'ranks'"):
        sv.CapturePanel(rank=2)
    with pytest.raises(sv.CaptureError, match="ranks=0 is too few"):
        sv.CapturePanel(ranks=0)


def test_it_is_freed_when_closed(launcher):
    launcher.go.set()
    panel = sv.CapturePanel()
    panel.start()
    panel.wait()
    refs = [weakref.ref(part) for part in (panel, panel.form, panel.editor)]
    panel.close()
    del panel
    gc.collect()
    assert [ref() for ref in refs] == [None] * 3
