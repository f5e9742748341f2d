"""Gaps in a rank's own work: planted ones are found, with their cause among the candidates."""

from __future__ import annotations

import pytest

import stepviz as sv
from tests.traces.synthetic import (
    AUTOGRAD,
    ddp_step,
    document,
    gloo_step,
    host,
    kernel,
    launch,
    note,
    two_ranks,
)

#: Steps are so long, µs.
STEP = 1000


@pytest.fixture
def load(write_trace):
    def read(documents):
        for rank, trace in enumerate(documents):
            path = write_trace(f"rank{rank}.json", trace)
        return sv.load_run(path.parent)

    return read


def steps(count, plant):
    """Return `count` steps of 1 ms: work of 300 µs, what `plant(k, at)` gives, work of 400 µs.

    Between them the device stands still for 300 µs, until work launched only then begins.
    """
    events = []
    for k in range(count):
        at, c = STEP * k, 10 * k
        events += [
            note(f"ProfilerStep#{k}", at, STEP - 10),
            note("forward", at + 5, 40),
            launch(at + 10, c + 1),
            kernel("gemm", at + 20, 300, c + 1),
            *plant(k, at),
            launch(at + 610, c + 2),
            kernel("late gemm", at + 620, 400, c + 2),
        ]
    return events


def only(frame):
    assert len(frame) == 1
    return frame.iloc[0]


def gaps_of(load, plant, count=4, step=1, **how):
    run = load([document(0, steps(count, plant), world=1)])
    return run.step(step).idle(**how)


def test_an_input_that_was_not_ready(load):
    row = only(
        gaps_of(
            load,
            lambda k, at: [note("enumerate(DataLoader)#_Iter.__next__", at + 330, 270)],
        )
    )
    assert row["duration_ns"] == 300_000
    assert row["candidates"] == "input not ready, late launch"
    assert "enumerate(DataLoader)#_Iter.__next__ for 0.27 of 0.3 ms" in row["evidence"]
    assert "late gemm, which ends it, was launched only 0.01 ms before" in row["evidence"]
    assert "it began: 0.29 of 0.3 ms into the gap" in row["evidence"]
    assert row["repeats"] == "alike in each of 4 steps"


@pytest.mark.parametrize(
    ("row", "cause"),
    [
        (note("save_checkpoint", 330, 270), "checkpoint"),
        (note("Optimizer.step#SGD.step", 330, 270), "optimizer work on the host"),
        (host("aten::item", 330, 270), "host work"),
        (host("cudaDeviceSynchronize", 330, 270, cat="cuda_runtime"), "host waits for the device"),
        (host("gc.py(3): collect", 325, 280, cat="python_function"), "Python on the host"),
        (note("my phase", 315, 310), "host gap without rows"),
    ],
)
def test_what_the_host_did_meanwhile(row, cause, load):
    found = only(gaps_of(load, lambda k, at: [{**row, "ts": row["ts"] + at}]))
    candidates = found["candidates"].split(", ")
    assert cause in candidates
    assert "late launch" in candidates
    assert row["name"] in found["evidence"]


def test_a_gap_before_work_launched_long_ago_was_held_on_the_device(load):
    events = [
        note("ProfilerStep#1", 0, 1000),
        launch(10, 1), launch(15, 2),
        kernel("gemm", 20, 300, 1), kernel("held", 620, 380, 2),
    ]  # fmt: skip
    row = only(load([document(0, events, world=1)]).step(1).idle(50_000))
    assert "held on the device" in row["candidates"]
    assert "late launch" not in row["candidates"]
    assert "held, which ends it, had been launched 0.305 ms before the gap" in row["evidence"]


def test_a_launch_that_is_not_in_the_file_is_no_late_launch(load):
    events = [
        note("ProfilerStep#1", 0, 1000),
        launch(10, 1), kernel("gemm", 20, 300, 1), kernel("whose", 620, 380, 99),
    ]  # fmt: skip
    row = only(load([document(0, events, world=1)]).step(1).idle(50_000))
    assert "late launch" not in row["candidates"]


def test_waiting_for_a_rank_and_transfer_are_told_apart(load):
    """Of 300 µs rank 0 waits 95 for rank 1, then 195 are transfer; rank 1 waits for nobody."""
    documents = []
    for rank, (first, second, link) in enumerate([(200, 10, (405, 700)), (300, 150, (505, 700))]):
        events = []
        for k in range(2):
            at, c = 500 * k, 10 * (k + 1)
            events += ddp_step(k + 1, at, 100 + 900 * k, first, second, link, (710, 800), c)
        documents.append(document(rank, events))
    frame = load(documents).step(2).idle(50_000)
    first = only(frame[(frame["rank"] == 0) & (frame["duration_ns"] == 300_000)])
    assert first["candidates"].split(", ")[:2] == ["transfer of all-reduce", "waiting for rank 1"]
    assert "all-reduce transfers for 0.195 of 0.3 ms" in first["evidence"]
    assert "waits 0.095 of 0.3 ms for rank 1, which arrives 0.1 ms after" in first["evidence"]
    assert not frame.loc[frame["rank"] == 1, "candidates"].str.contains("waiting for").any()


def test_no_rank_is_named_where_clocks_disagree(load):
    traces = list(two_ranks().values())
    for row in traces[1]["traceEvents"]:
        # Arrows of time that no shift mends: half a step each way.
        if row["name"].startswith("ncclDev"):
            row["ts"] += 5_000 if row["ts"] < 900 else -300
    run = load(traces)
    for number in run.steps.index:
        step = run.step(number)
        if step.clash is not None:
            assert not step.idle()["candidates"].str.contains("waiting for rank").any()


def test_a_gap_of_every_third_step_is_pointed_out(load):
    def plant(k, at):
        return [note("save_checkpoint", at + 330, 270)] if k % 3 == 1 else []

    events = []
    for k in range(9):
        at, c = STEP * k, 10 * k
        begin = 620 if k % 3 == 1 else 330
        events += [
            note(f"ProfilerStep#{k}", at, STEP - 10),
            launch(at + 10, c + 1), kernel("gemm", at + 20, 300, c + 1),
            *plant(k, at),
            launch(at + begin - 10, c + 2), kernel("gemm", at + begin, STEP - begin + 15, c + 2),
        ]  # fmt: skip
    run = load([document(0, events, world=1)])
    row = only(run.step(4).idle(100_000))
    assert row["repeats"] == "every 3rd step: 1, 4, 7"
    assert "checkpoint" in row["candidates"]
    assert run.step(3).idle(100_000).empty


def test_gaps_at_a_constant_period_within_a_step(load):
    events = [note("ProfilerStep#1", 0, 1000)]
    for k in range(5):
        events += [launch(200 * k + 40, k), kernel("gemm", 200 * k + 50, 150, k)]
    frame = load([document(0, events, world=1)]).step(1).idle()
    assert len(frame) == 5
    assert (frame["repeats"] == "5 alike in this step, every 0.2 ms").all()


def test_a_thread_that_waits_for_gloo(load):
    """`gloo_step`: 6 ms until the all-reduce ends, which is one transfer for both ranks."""
    frame = load([gloo_step(rank) for rank in (0, 1)]).step(1).idle(1_000_000)
    assert frame["rank"].tolist() == [0, 1]
    assert frame["duration_ns"].tolist() == [6_010_000] * 2
    assert (frame["candidates"] == "transfer of all-reduce").all()
    assert frame["evidence"].str.startswith("all-reduce transfers for 6 of 6.01 ms").all()


def test_an_autograd_thread_at_work_is_no_gap_of_the_host(load):
    events = [
        note("ProfilerStep#1", 0, 1000),
        host("aten::mm", 0, 300),
        host("autograd::engine::evaluate_function: X", 310, 400, tid=AUTOGRAD),
        host("aten::add", 715, 285),
        host("aten::more", 20, 5), host("aten::more", 30, 5),
    ]  # fmt: skip
    assert load([document(0, events, world=1)]).step(1).idle().empty


def test_gaps_are_those_of_the_rows(load):
    """All gaps together are the window less the union of its rows."""
    frame = gaps_of(load, lambda k, at: [], longer_than_ns=0)
    assert frame["duration_ns"].sum() == 1_000_000 - 700_000
    assert list(frame.columns) == [
        "rank", "start_ns", "finish_ns", "duration_ns", "candidates", "evidence", "repeats",
    ]  # fmt: skip


@pytest.mark.parametrize("length", [-1, 0.5, "1", True])
def test_lengths_that_are_none(length, load):
    run = load([document(0, steps(1, lambda k, at: []), world=1)])
    with pytest.raises(sv.TraceError, match="longer_than_ns"):
        run.step().idle(length)


@pytest.mark.parametrize(
    "name",
    ["ddp-a100-nccl-1of2", "dlrm-v100-nccl-8of8", "gloo-2rank-b4", "gloo-2rank-slowfabric-b1"],
)
def test_each_gap_of_a_real_step_has_candidates_and_evidence(name, handed):
    run = sv.load_run(handed(name))
    for number in run.steps.index:
        step = run.step(number)
        frame = step.idle()
        assert (frame["candidates"] != "").all() and (frame["evidence"] != "").all()
        for rank, own in frame.groupby("rank"):
            window = step.windows.loc[rank]
            assert (own["start_ns"] >= window["start_ns"]).all()
            assert (own["finish_ns"] <= window["finish_ns"]).all()
            assert (own["start_ns"].iloc[1:].to_numpy() >= own["finish_ns"].iloc[:-1]).all()


def test_dlrm_waits_for_rank_7(handed):
    """§5.2: the longest waits are for the rank that started 7.5 ms late."""
    frame = sv.load_run(handed("dlrm-v100-nccl-8of8")).step().idle(4_000_000)
    assert len(frame) >= 4
    assert frame["candidates"].str.startswith("waiting for rank 7").all()
