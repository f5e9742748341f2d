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
from stepviz.traces.samples import FOLDERS

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


@pytest.mark.parametrize("name", list(FOLDERS))
def test_every_sample_is_there_small_and_exact(name):
    folder = FOLDER.parent / FOLDERS[name]
    assert (folder / "README.md").exists()
    assert sum(path.stat().st_size for path in folder.glob("rank*.json.gz")) < 300_000
    run = sv.sample_run(name)
    assert len(run.files) == len(run.ranks)
    assert (run.files["why"] == "").all()
    steps = [run.step(number) for number in run.steps.index]
    for step in steps:
        assert step.replay().largest_error_ns == 0
        assert step.critical_path["duration_ns"].sum() == step.completion_ns
    assert sorted(step.unexplained_share for step in steps)[len(steps) // 2] < 0.03


def test_the_slow_rank_is_named_though_all_backwards_are_equally_long():
    """Rank 1 sleeps 15 ms in each backward (`tools/make_sample_runs.py`), the network hides 5."""
    run = sv.sample_run("slow rank")
    excess = []
    for number in run.steps.index:
        step = run.step(number)
        durations = step.windows["duration_ns"]
        assert durations.max() - durations.min() < 0.02 * durations.max()
        most = step.slowest.loc["most_own_time"]
        assert most["rank"] == 1
        excess.append(most["excess"])
        # The path goes through the sleep, and it is not all that is to be had by its absence.
        path = step.critical_path
        slept = path.loc[path["name"] == "planted delay", "duration_ns"].sum()
        assert slept == pytest.approx(15e6, rel=0.02)
        gain = step.what_if(name="planted delay", factor=0).gain_ns
        assert 0 < gain < slept
        assert step.what_if(rank=0, own_time=0.5).gain_ns < 0.05 * slept
    # What rank 1 works more than rank 0, noise of a real machine included.
    assert sorted(excess)[1] == pytest.approx(15e6, rel=0.1)


def test_input_that_is_late_is_named_and_not_the_network():
    """A batch takes 45 ms in its worker (`tools/make_sample_runs.py`), and so does a step."""
    run = sv.sample_run("late input")
    assert (run.steps["duration_ns"] / 1e6).tolist() == pytest.approx([45] * 3, rel=0.08)
    for number in run.steps.index:
        step = run.step(number)
        gaps = step.idle()
        for _, own in gaps.groupby("rank"):
            longest = own.loc[own["duration_ns"].idxmax()]
            assert longest["candidates"] == "input not ready"
            assert "input" in longest["evidence"]
        waited = step.breakdown().loc["input"]
        assert (waited > 15).all()
        gain = step.what_if(kind="input", factor=0).gain_ms
        assert gain == pytest.approx(waited.min(), rel=0.05)


def test_other_caps_are_predicted_from_the_sweep_as_they_were_measured():
    path = FOLDER.parent / "experiments" / "bucket_sweep.json"
    found = json.loads(path.read_text(encoding="utf-8"))
    measured = {float(name.split()[1]): row["measured_ms"] for name, row in found["rows"].items()}
    run = sv.sample_run("bucket sweep")
    predicted = sv.predict_buckets(run, caps=list(measured))
    for cap, ms in measured.items():
        row = predicted.loc[cap]
        assert row["low_ms"] < ms < row["high_ms"]
        assert row["step_ms"] == pytest.approx(ms, rel=0.06)
    assert predicted["step_ms"].idxmin() == min(measured, key=measured.__getitem__) == 1
    assert abs(predicted["replay_error"].iloc[0]) < 0.08


def test_hidden_exchange_was_not_free_under_contention():
    """Real all-reduces on the cores that compute (`tools/make_sample_runs.py`)."""
    run = sv.sample_run("contention")
    for rank, part in run._ranks.items():
        timings = part.rows.recorded["timings"]
        alone, bare = (
            sorted(one["backward_ns"] for one in timings if one["mode"] == mode)
            for mode in ("alone", "bare")
        )
        stretched = bare[len(bare) // 2] / alone[len(alone) // 2]
        assert stretched > 1.1, rank
    for number in run.steps.index:
        step = run.step(number)
        assert not step.collectives["emulated"].any()
        # What is exposed is a small part of what backward lost.
        exposed = step.breakdown().loc[["exchange"]].sum()
        assert (exposed < 2).all()
    notes = sv.predict_buckets(run, caps=[25]).attrs["notes"]
    assert any("share the cores" in note for note in notes)


def test_a_pipelines_bubble_is_waiting_for_the_stage_before_or_after():
    """Passes of 3 and 6 ms, 4 stages, 6 microbatches (`tools/pipeline_loop.py`)."""
    run = sv.sample_run("pipeline")
    assert run.ranks == [0, 1, 2, 3]
    for number in run.steps.index:
        step = run.step(number)
        assert step.unmatched.empty
        # Three borders, each crossed by six microbatches there and back; and the loss.
        counts = step.collectives["collective"].value_counts()
        assert counts.to_dict() == {"send-recv": 36, "all-reduce": 1}
        parts = step.breakdown()
        assert parts.loc["forward"].tolist() == pytest.approx([6 * 3] * 4, rel=0.3)
        assert parts.loc["backward"].tolist() == pytest.approx([6 * 6] * 4, rel=0.3)
        # Of 81 ms that are the least each stage idles 27, and a little more here.
        assert parts.loc["wait"].between(27, 40).all()
        # The path enters the last stage and comes back.
        assert set(step.critical_path["rank"].dropna()) == {0, 1, 2, 3}


def test_sharded_blocks_are_gathered_twice_and_their_gradients_scattered():
    """Four blocks (`tools/fsdp_loop.py`) of 8·128² + 7·128 parameters each, in float32."""
    run = sv.sample_run("FSDP")
    for number in run.steps.index:
        step = run.step(number)
        assert step.unmatched.empty
        rows = step.collectives
        # Each block is gathered for forward and again for backward.
        counts = rows["collective"].value_counts()
        assert counts.to_dict() == {"all-gather": 8, "reduce-scatter": 4}
        assert (rows["ranks"] == 4).all()
        whole = 4 * (8 * 128**2 + 7 * 128)
        scattered = rows.loc[rows["collective"] == "reduce-scatter", "bytes"]
        assert (scattered == whole).all()
        # Over gloo a gather's row says what one rank brings.
        assert (rows.loc[rows["collective"] == "all-gather", "bytes"] == whole // 4).all()


def test_no_such_sample_is_said():
    with pytest.raises(sv.TraceError, match=r"no sample run 'slow'.*slow rank"):
        sv.sample_run("slow")


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


@pytest.mark.parametrize(
    ("name", "milliseconds", "tail"), [("long tail", 750, 50), ("short tail", 780, 0)]
)
def test_the_made_runs_are_the_lessons_steps_with_a_little_noise(name, milliseconds, tail):
    run = sv.sample_run(name)
    lasts = run.steps["duration_ns"] / 1e6
    assert len(lasts) == 12
    assert lasts.std() > 0
    assert lasts.mean() == pytest.approx(milliseconds, rel=0.005)
    exposed = [run.step(number).breakdown().loc["exchange", 0] for number in run.steps.index]
    assert sum(exposed) / 12 == pytest.approx(tail, abs=2)


def test_the_shorter_tail_is_told_from_a_shorter_step():
    found = sv.verdict(sv.sample_run("long tail"), sv.sample_run("short tail"))
    assert found.decision == "revert"
    assert found.trap.startswith("the tail fell by")
    assert found.table.loc["same backward operators", "ratio"] == pytest.approx(1.2, abs=0.01)
    assert found.table.loc["same forward operators", "ratio"] == pytest.approx(1, abs=0.01)
