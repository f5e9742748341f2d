"""What goes wrong: one clear message each, nothing left running, earlier captures as they were."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

import stepviz as sv
from stepviz.recording import captures, failures
from stepviz.recording.standing import Stamps, standing
from stepviz.recording.trace_files import write_whole
from tests.recording.helpers import QUICK, ROOT, capture_processes, require_torch

slow = pytest.mark.slow


class Watched:
    """A bar that keeps what it was shown."""

    def __init__(self):
        self.words = []

    def show(self, _share, words):
        self.words.append(words)

    def line(self, text):
        raise AssertionError(text)

    def close(self, words):
        self.words.append(words)


def fail(monkeypatch, tmp_path, planted, bar=None, **options) -> str:
    """Capture with a planted failure beside an earlier capture; return the message."""
    require_torch()
    monkeypatch.setenv("STEPVIZ_PLANTED_FAILURE", planted)
    if bar is not None:
        monkeypatch.setattr(captures, "bar_here", lambda **_: bar)
    out = tmp_path / "run"
    out.mkdir()
    (out / "rank0.json.gz").write_bytes(b"an earlier capture")
    with pytest.raises(sv.CaptureError) as caught:
        sv.capture(out=out, overwrite=True, **{**QUICK, **options})
    assert [path.name for path in out.iterdir()] == ["rank0.json.gz"]
    assert (out / "rank0.json.gz").read_bytes() == b"an earlier capture"
    return str(caught.value)


# Ranks.
@slow
@pytest.mark.usefixtures("nothing_left")
def test_a_rank_that_crashes_is_named_with_its_last_lines(monkeypatch, tmp_path, capsys):
    said = fail(monkeypatch, tmp_path, "crash:1:2", output=True)
    first, *lines = said.splitlines()
    assert first.startswith("rank 1 of 2 failed in ")
    assert "of pass 3 of 6: RuntimeError: planted failure in pass 2" in first
    assert lines[0].strip() == "last lines of rank 1:"
    assert lines[-1].strip() == "RuntimeError: planted failure in pass 2"
    assert "peer" not in said
    # What ranks print is shown where it is asked for.
    assert "[rank 1] RuntimeError: planted failure in pass 2" in capsys.readouterr().out


@slow
@pytest.mark.usefixtures("nothing_left")
def test_a_rank_that_is_killed_is_named_and_not_who_misses_it(monkeypatch, tmp_path):
    said = fail(monkeypatch, tmp_path, "kill:0:2")
    assert said.startswith("rank 0 of 2 failed")
    assert "it was killed by SIGKILL" in said


@slow
@pytest.mark.usefixtures("nothing_left")
def test_a_rank_that_hangs_is_named_and_not_who_waits_for_it(monkeypatch, tmp_path):
    bar = Watched()
    said = fail(monkeypatch, tmp_path, "hang:1:2", bar, patience_s=6)
    assert said.startswith("rank 1 of 2 hangs: it stood still for")
    assert "; rank 0 waited for it; all were ended" in said
    assert said.endswith("last lines of rank 1:\n    this rank was told to hang")
    # Named within seconds, before it was ended.
    assert any(words.startswith("rank 1 for ") for words in bar.words)
    assert bar.words[-1] == "capture failed"


@slow
@pytest.mark.usefixtures("nothing_left")
def test_a_full_disk_is_one_message(monkeypatch, tmp_path):
    said = fail(monkeypatch, tmp_path, "full:1")
    assert said.startswith("no space is left where rank 1 writes its trace")
    assert "\n" not in said


@slow
@pytest.mark.usefixtures("nothing_left")
def test_a_capture_that_takes_too_long_is_ended(monkeypatch, tmp_path):
    said = fail(monkeypatch, tmp_path, "", timeout_s=1)
    assert said.startswith("the capture took longer than timeout_s=1")


# Before anything starts.
def test_a_folder_with_something_in_it_is_left_alone(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(sv.CaptureError, match=r"is not empty \(notes.txt\); choose another"):
        sv.capture(out=tmp_path)
    with pytest.raises(sv.CaptureError, match=r"holds more than traces \(notes.txt\)"):
        sv.capture(out=tmp_path, overwrite=True)
    with pytest.raises(sv.CaptureError, match="is a file; out is a folder"):
        sv.capture(out=tmp_path / "notes.txt")
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_port_in_use_is_refused_at_once(tmp_path):
    require_torch()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(sv.CaptureError, match=f"port {port} is in use by another program"):
            sv.capture(out=tmp_path / "new", port=port)
    assert list(tmp_path.iterdir()) == []


def test_a_free_port_that_is_taken_meanwhile_is_tried_again(tmp_path, monkeypatch):
    tries = []

    class Taken:
        def __init__(self, *given, **_):
            tries.append(given[1])

        def __enter__(self):
            return self

        def __exit__(self, *problem):
            return None

        def wait(self):
            raise captures.PortTaken(captures.taken(0))

    require_torch()
    monkeypatch.setattr(captures, "Launch", Taken)
    with pytest.raises(sv.CaptureError, match="taken before the ranks could use them; try again"):
        sv.capture(out=tmp_path / "new")
    assert len(set(tries)) == 3
    assert list(tmp_path.iterdir()) == []


def test_too_little_space_is_said_before_anything_starts(tmp_path, monkeypatch):
    require_torch()
    usage = shutil.disk_usage(tmp_path)._replace(free=2**20)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with pytest.raises(sv.CaptureError, match="has 1 MiB left, too little for a capture"):
        sv.capture(out=tmp_path / "new")
    assert list(tmp_path.iterdir()) == []


@slow
def test_gpus_asked_for_and_missing_are_said(tmp_path):
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("this machine has GPUs")
    with pytest.raises(sv.CaptureError, match=r"device='cuda' needs one GPU per rank.*no GPU is"):
        sv.capture(out=tmp_path / "new", device="cuda", progress=False)
    assert list(tmp_path.iterdir()) == []


# The one who asked for it goes away.
#: What is started from a job in the background would else inherit that it is not interrupted.
SCRIPT = """import signal, sys
import stepviz as sv

signal.signal(signal.SIGINT, signal.default_int_handler)
sv.capture(out=sys.argv[1], steps=500, timed=0, sweep=False)
"""


def started(tmp_path) -> subprocess.Popen[str]:
    """Start a long capture from a script without a guard, and wait until its ranks train."""
    require_torch()
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    process = subprocess.Popen(
        [sys.executable, str(script), str(tmp_path / "run")],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    until = time.monotonic() + 90
    while time.monotonic() < until:
        assert process.poll() is None, process.communicate()
        folder = next(tmp_path.glob(".run-*/ranks-*"), None)
        stood = [] if folder is None else [standing(folder, rank) for rank in (0, 1)]
        if len(stood) == 2 and all(one is not None and one.passes > 1 for one in stood):
            return process
        time.sleep(0.1)
    process.kill()
    pytest.fail("the capture did not start")


@slow
@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_whoever_asked_goes_away_and_nothing_is_left(tmp_path, number):
    process = started(tmp_path)
    assert len(capture_processes(tmp_path)) >= 3
    process.send_signal(number)
    _, error = process.communicate(timeout=20)
    assert ("KeyboardInterrupt" in error) == (number == signal.SIGINT)
    assert not (tmp_path / "run").exists()


@slow
@pytest.mark.usefixtures("nothing_left")
def test_ranks_end_when_their_agent_is_killed(tmp_path):
    process = started(tmp_path)
    agents = [pid for pid in capture_processes(tmp_path) if b"agent" in command_of(pid)]
    assert len(agents) == 1
    os.kill(agents[0], signal.SIGKILL)
    _, error = process.communicate(timeout=20)
    assert "CaptureError" in error
    assert process.returncode == 1


def command_of(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


# Parts of it, by hand.
def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path):
    target = tmp_path / "rank0.json.gz"
    target.write_bytes(b"old")
    with pytest.raises(TypeError):
        write_whole(target, "no bytes")
    assert [path.name for path in tmp_path.iterdir()] == ["rank0.json.gz"]
    assert target.read_bytes() == b"old"
    assert write_whole(target, b"new") == 3
    assert target.read_bytes() == b"new"


def test_the_rank_that_is_behind_is_told_by_what_it_did_last(tmp_path):
    stamps = [Stamps(tmp_path, rank) for rank in range(3)]
    for stamp in stamps:
        stamp.total = 9
        stamp.passed()
        stamp.at("backward")
    stamps[0].launch()
    stamps[0].launch()
    stamps[2].launch()
    stamps[2].launch()
    stamps[1].launch()
    stood = {rank: standing(tmp_path, rank) for rank in range(3)}
    said = failures.hang_message(stood, 3, 7, tmp_path)
    assert said.startswith("rank 1 of 3 hangs: it stood still for 7 s in backward of pass 2 of 9")
    assert "after launching 1 exchange; rank 0, 2 waited for it" in said
    # The bar says so before.
    assert failures.stillness(stood, 4).startswith("rank 1 for 4 s in backward of pass 2 of 9")
    stamps[1].launch()
    stood = {rank: standing(tmp_path, rank) for rank in range(3)}
    assert "and none is behind" in failures.hang_message(stood, 3, 7, tmp_path)
    assert failures.stillness(stood, 4) == "no rank has moved for 4 s"
    del stood[2]
    assert "rank 2 of 3 never began" in failures.hang_message(stood, 3, 7, tmp_path)


def test_the_cause_is_told_from_its_consequences():
    peer = "RuntimeError: [gloo] Connection closed by peer [127.0.0.1]:5"
    said = [
        {"failed": peer, "rank": 0, "at_ns": 5},
        {"failed": "ValueError: mine", "rank": 1, "at_ns": 7},
        {"rank": 0, "exitcode": -15, "at_ns": 6},
    ]
    assert failures.first_failure(said)["rank"] == 1
    assert failures.first_failure(said[:1]) is None
    said[1] = {"rank": 3, "exitcode": -9, "at_ns": 9}
    assert failures.first_failure(said)["rank"] == 3


def test_stamps_without_a_launcher_go_nowhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stamps = Stamps(None, 0)
    stamps.at("forward")
    stamps.say(done=True)
    assert list(tmp_path.iterdir()) == []


def test_another_jobs_ranks_are_not_inherited(monkeypatch):
    from stepviz.recording.launching import environment

    for name, value in {"RANK": "5", "WORLD_SIZE": "8", "MASTER_PORT": "1", "HOME": "/x"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "other")
    monkeypatch.setenv("PET_NNODES", "4")  # Kubernetes' PyTorchJob says so to its torchrun
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "ib0")
    found = environment()
    assert "PET_NNODES" not in found
    assert found["GLOO_SOCKET_IFNAME"].startswith("lo")
    assert found["HOME"] == "/x"
    assert not {"RANK", "WORLD_SIZE", "MASTER_PORT", "TORCHELASTIC_RUN_ID"} & set(found)
    assert json.dumps(found)
