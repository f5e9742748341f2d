"""Ranks are held to the median of those that do the same: a pipeline's stages do not."""

import pytest

import stepviz as sv
from tests.traces.synthetic import (
    COMPUTE_STREAM,
    LINK_STREAM,
    document,
    kernel,
    launch,
    note,
)


def passed(kind, at, end, correlation, *, source, target):
    """Return the device row of a send or a receive."""
    said = {"Collective name": kind, "In msg nelems": 500, "dtype": "Float", "Group size": 2,
            "Process Group Name": "0", "Src Rank": source, "Dst Rank": target}  # fmt: skip
    return kernel("ncclDevKernel_SendRecv", at, end - at, correlation, stream=LINK_STREAM, **said)


def stage(rank, forward, backward):
    """Return one step of one of two stages of a pipeline, times in µs.

    Stage 0: forward 0–300, sends 310–330, waits for its gradient until 960, backward 970–1270.
    Stage 1: waits until 330, forward 340–640, backward 640–940, sends 940–960, update 970–1020.
    """
    c = 10
    events = [note("ProfilerStep#1", -50, 60)]
    for k, (kind, low, high) in enumerate([*forward, *backward]):
        events.append(launch(-40 + 8 * k, c + k))
        if kind == "work":
            events.append(kernel("gemm", low, high - low, c + k, stream=COMPUTE_STREAM))
            continue
        there = 1 - rank
        ends = {"send": (rank, there), "recv": (there, rank)}[kind]
        events.append(passed(kind, low, high, c + k, source=ends[0], target=ends[1]))
    return document(rank, events)


@pytest.fixture
def pipeline(write_trace):
    documents = [
        stage(0, [("work", 0, 300), ("send", 310, 330)], [("recv", 340, 960), ("work", 970, 1270)]),
        stage(
            1,
            [("recv", 0, 330), ("work", 340, 640)],
            [("work", 640, 940), ("send", 940, 960), ("work", 970, 1020)],
        ),
    ]
    for rank, made in enumerate(documents):
        path = write_trace(f"rank{rank}.json", made)
    return sv.load_run(path.parent).step(1)


@pytest.mark.parametrize("level", ["fine", "coarse"])
def test_stages_of_a_pipeline_are_not_slow_for_doing_other_work(pipeline, level):
    """Neither is late: before its first exchange one has a forward to do, the other one nothing."""
    assert pipeline.collectives["collective"].tolist() == ["send-recv", "send-recv"]
    answer = pipeline.no_stragglers(level)
    assert answer.gain_ns == 0
    assert "ranks 0, 1 exchange like no other rank" in answer.did
