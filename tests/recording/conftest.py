"""Real captures, made once for all tests of a run, since each takes seconds."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

import stepviz as sv
from tests.recording.helpers import HERE, ROOT, capture_processes, require_torch


@pytest.fixture(scope="session")
def once(tmp_path_factory):
    """Make a folder once for all workers of a test run; the others wait for it."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base

    def made(name, make):
        folder, done = shared / name, shared / f"{name}.done"
        try:
            (shared / f"{name}.taken").mkdir()
        except FileExistsError:
            until = time.monotonic() + 180
            while not done.exists():
                assert time.monotonic() < until, f"{name} was never made"
                time.sleep(0.2)
            return folder
        try:
            make(folder)
        finally:
            done.touch()
        return folder

    return made


@pytest.fixture(scope="session")
def captured(once):
    """Return a capture as most people make it: gloo on the CPU, all defaults but its length."""
    require_torch()
    make = lambda out: sv.capture(out=out, progress=False, timed=4, steps=3)
    return sv.load_run(once("captured", make))


@pytest.fixture(scope="session")
def emulated(once):
    """Return a capture with everything unusual at once, over an emulated network."""
    require_torch()
    make = lambda out: sv.capture(
        out=out, progress=False, layers=2, width=64, steps=2, warmup=2, timed=2, accumulation=2,
        bucket_cap_mb=[0.2, 0.05, 0.1], latency_ms=4, ms_per_mib=20, checkpointing=True, workers=1,
        input_delay_ms=3, slow_rank=1, slow_ms=30, slow_phase="forward", packing_fraction=0.5,
        device="cpu",
    )  # fmt: skip
    return sv.load_run(once("emulated", make))


@pytest.fixture(scope="session")
def loops(once):
    """Return the folder of `loops.py`: loops of others under torchrun, recorded."""
    require_torch()

    def make(folder):
        folder.mkdir()
        command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
        command += ["--nproc-per-node", "2", str(HERE / "loops.py"), str(folder)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
        answer = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False, timeout=150
        )
        assert answer.returncode == 0, answer.stdout[-3000:] + answer.stderr[-3000:]

    return once("loops", make)


@pytest.fixture
def nothing_left(tmp_path):
    """Fail where a capture below `tmp_path` leaves a process or a half-made folder."""
    yield
    until = time.monotonic() + 10
    while capture_processes(tmp_path) and time.monotonic() < until:
        time.sleep(0.1)
    assert capture_processes(tmp_path) == []
    while list(tmp_path.glob(".*")) and time.monotonic() < until:
        time.sleep(0.1)
    assert list(tmp_path.glob(".*")) == []
