"""What the story says of a path's causes, by hand (rows in `synthetic`)."""

from __future__ import annotations

import re

import pytest

import stepviz as sv
from stepviz.traces.story import explain
from tests.traces.many_ranks import on_device, simulated
from tests.traces.synthetic import (
    document,
    gloo_step,
    host,
    kernel,
    launch,
    note,
    two_ranks,
)


@pytest.fixture
def told(write_trace):
    """Explain documents by rank, as one line."""

    def tell(documents):
        for rank, trace in enumerate(documents):
            path = write_trace(f"rank{rank}.json", trace)
        return " ".join(explain(sv.load_run(path.parent)).split())

    return tell


def test_a_late_start_has_no_cause(told):
    """Rank 1 starts 4 ms late and holds all: 4 of 18 ms are outside the trace."""
    documents = [gloo_step(0), gloo_step(1)]
    for event in documents[1]["traceEvents"]:
        event["ts"] += 4000
    for event in documents[0]["traceEvents"]:
        # Rank 0 waits for it, and works as much.
        if event["name"] == "gloo:all_reduce":
            event["dur"] += 4000
        elif event["ts"] >= 12000:
            event["ts"] += 4000
        elif event["name"].startswith("ProfilerStep"):
            event["dur"] += 4000
    text = told(documents)
    assert "before the step 4.00" in text
    assert "rank 1 before its step 4.00 → rank 1 own" in text
    assert "rank 1 arrives last most often: at 1 of 1 exchanges" in text
    assert "4.00 ms (22.2 %) all ranks starting together" in text


def test_a_host_that_stood_still_is_no_cause_and_says_so(told):
    """5 of 10 ms without any row: no change answers for them, and the story says how many."""
    trace = document(0, [
        note("ProfilerStep#1", 0, 10_000),
        host("aten::mm", 0, 2000),
        host("aten::mm", 7000, 3000),
    ], world=1)  # fmt: skip
    text = told([trace])
    assert "50.0 % of the path is delay that no work explains" in text
    assert "50.0 % is unexplained: a host gap over 1 ms" in text
    assert "unexplained 5.00 5.00" in text
    assert "of rank 0" in text
    assert "Who is late" not in text


def test_gains_are_those_that_the_graph_replays(told, write_trace):
    """The three largest, in order, as `what_if` gives them."""
    documents = two_ranks()
    text = told(documents.values())
    for rank, trace in documents.items():
        path = write_trace(f"rank{rank}.json", trace)
    step = sv.load_run(path.parent).step()
    gains = [float(found) for found in re.findall(r"([\d.]+) ms \([\d.]+ %\) ", text)]
    assert gains == sorted(gains, reverse=True)
    asked = {kind: step.what_if(kind=kind, factor=0.5).gain_ms for kind in ("forward", "backward")}
    for kind, gain in asked.items():
        if gain >= gains[-1]:
            assert f"{gain:.2f} ms" in text.split(f"all {kind} work")[0]


def test_ranks_that_differ_little_are_not_called_late(told):
    """Two ranks alike: nobody is late, and the path is not blamed on one of them."""
    text = told([gloo_step(0), gloo_step(1)])
    assert "nobody by more than 1 % of the step" in text


def test_work_launched_before_the_step_is_named(told):
    """The host runs ahead: the second step's kernels were launched before it began."""
    text = told(two_ranks().values())
    assert "was launched before this step began" in text


def test_time_that_nothing_explains_is_not_put_down_to_the_host(told):
    """The device idles for 9 of 10 ms, and no row of the host says why."""
    trace = document(0, [
        note("ProfilerStep#1", 0, 10_000),
        launch(0, 1), kernel("gemm", 10, 490, 1),
        launch(9500, 2), kernel("gemm", 9510, 490, 2),
    ], world=1)  # fmt: skip
    text = told([trace])
    assert "runs on the host while devices wait" not in text
    assert "unexplained 9.0" in text


def test_exchange_that_is_not_joined_says_that_its_wait_goes_with_it(told):
    """One rank's file of a world of two: how long it waits for the other, nothing tells."""
    text = told([gloo_step(0)])
    assert "1 exchange stays with its rank" in text
    assert "all exchange work in half the time (1 of them is wait and transfer in one" in text


def test_a_device_that_works_beside_the_host_does_not_wait_for_it(told):
    """Each kernel is launched just before the one before it ends: nobody waits for the host."""
    events = [note("ProfilerStep#1", 0, 9000)]
    for k in range(16):
        events += [launch(500 * k + 2, k + 1), kernel("gemm", 500 * k + 10, 498, k + 1)]
    text = told([document(0, events, world=1)])
    assert "a faster host shortens that" not in text
    assert "a plain sum says" not in text


def test_a_pause_in_every_other_step_is_told(told):
    """As a garbage collector makes them; no row says what it is."""
    events, at = [], 0
    for k in range(8):
        length = 7000 if k % 2 else 2000
        events += [note(f"ProfilerStep#{k}", at, length), launch(at + 1, 2 * k + 1),
                   kernel("gemm", at + 10, 900, 2 * k + 1), launch(at + length - 990, 2 * k + 2),
                   kernel("gemm", at + length - 980, 900, 2 * k + 2)]  # fmt: skip
        at += length + 5
    text = told([document(0, events, world=1)])
    assert "comes again (every 2nd step: " in text


def test_the_median_of_two_is_said_to_be_their_middle(told):
    times = simulated(2, 3, 2, slow={(1, step, 0): 2000 for step in range(3)})
    text = told(on_device(times).values())
    assert "the median (of two, the middle)" in " ".join(text.split())


def test_a_faster_host_does_not_save_faster(told):
    """The device waits while the host writes a checkpoint."""
    events = [note("ProfilerStep#1", 0, 9000), note("torch.save", 100, 8000),
              host("aten::mm", 0, 50), launch(1, 1), kernel("gemm", 10, 40, 1),
              host("aten::mm", 8200, 50), launch(8201, 2), kernel("gemm", 8210, 40, 2)]  # fmt: skip
    text = told([document(0, events, world=1)])
    assert "checkpoint" in text
    assert "a faster host shortens that" not in text


def test_a_step_without_any_gap_is_told(told):
    """The device works from the window's start to its end."""
    events = [note("ProfilerStep#1", 0, 900), launch(0, 1), kernel("gemm", 0, 1000, 1)]
    assert "How far to trust this" in told([document(0, events, world=1)])


def test_ranks_whose_files_are_not_there_are_counted(told):
    documents = [document(rank, two_ranks()[rank]["traceEvents"], world=512) for rank in (0, 1)]
    assert ": rank 0 of 512 from 1 of 1 files; 2 steps of " in told(documents[:1])
    assert ": 2 of 512 ranks from 2 of 2 files; 2 steps of " in told(documents)
    assert ": 2 ranks from 2 of 2 files; " in told(two_ranks().values())
