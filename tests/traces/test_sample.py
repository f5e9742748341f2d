"""The run that ships with the package, and its maker."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

import stepviz as sv

FOLDER = Path(str(files("stepviz"))) / "data" / "sample_run"
MAKER = Path(__file__).parents[2] / "tools" / "make_sample_run.py"


def test_it_loads_folds_and_replays():
    run = sv.sample_run()
    assert run.ranks == [0, 1]
    assert len(run.steps) == 3
    for number in run.steps.index:
        step = run.step(number)
        assert step.collectives["emulated"].all()
        assert (step.collectives["ranks"] == 2).all()
        assert step.timeline().completion == pytest.approx(step.completion_ns / 1e6, abs=1e-6)
        assert (step.breakdown("ns").sum() == step.windows["duration_ns"]).all()


def test_it_has_something_to_drag():
    timeline = sv.sample_run().step().timeline()
    kinds = set(timeline.phases["kind"])
    assert {"forward", "backward", "exchange", "optimizer"} <= kinds
    assert len(timeline.phases) < 60
    table = timeline.schedule().table
    exchange = timeline.phases.index[timeline.phases["kind"] == "exchange"]
    assert (table.loc[exchange, "drag"] > 0).any()


def test_it_is_small_and_names_nobody():
    paths = sorted(FOLDER.glob("rank*.json.gz"))
    assert len(paths) == 2
    assert sum(path.stat().st_size for path in paths) < 300_000
    for path in paths:
        document = json.loads(gzip.decompress(path.read_bytes()))
        assert set(document) == {
            "schemaVersion", "distributedInfo", "displayTimeUnit", "baseTimeNanoseconds",
            "stepviz", "traceEvents",
        }  # fmt: skip
        pids = {e["pid"] for e in document["traceEvents"] if isinstance(e.get("pid"), int)}
        assert pids == {1000}
        # gzip would carry a name and a time of its own.
        assert path.read_bytes()[3:8] == b"\0" * 5


@pytest.mark.slow
def test_the_maker_records_such_a_run(tmp_path):
    pytest.importorskip("torch", reason="recording needs torch")
    command = [sys.executable, str(MAKER), "--out", str(tmp_path / "fresh")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    run = sv.load_run(tmp_path / "fresh")
    assert run.ranks == [0, 1]
    step = run.step()
    assert len(step.collectives) == len(sv.sample_run().step().collectives)
    assert step.unmatched.empty
    assert step.timeline().completion == pytest.approx(step.completion_ns / 1e6, abs=1e-6)


@pytest.mark.slow
def test_a_fresh_capture_of_one_process(tmp_path):
    torch = pytest.importorskip("torch", reason="recording needs torch")
    from torch.profiler import ProfilerActivity, profile, schedule

    model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    path = tmp_path / "rank0.json.gz"
    with profile(
        activities=[ProfilerActivity.CPU],
        schedule=schedule(wait=0, warmup=1, active=2),
        on_trace_ready=lambda p: p.export_chrome_trace(str(path)),
    ) as profiler:
        for _ in range(3):
            loss = model(torch.randn(32, 64)).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            profiler.step()
    run = sv.load_run(tmp_path)
    assert len(run.steps) == 2
    step = run.step()
    parts = step.breakdown()[0]
    # Nothing is annotated: sequence numbers tell forward, evaluate_function backward.
    assert parts["forward"] > 0
    assert parts["backward"] > 0
    assert parts["optimizer"] > 0
    assert step.timeline().completion == pytest.approx(step.completion_ns / 1e6, abs=1e-6)
