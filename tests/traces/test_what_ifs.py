"""What a folded step answers, against values worked out by hand (rows in `synthetic`)."""

from __future__ import annotations

import pytest

import stepviz as sv
from tests.traces.synthetic import (
    document,
    gloo_step,
    host,
    kernel,
    launch,
    many_small,
    note,
    sharded,
)


@pytest.fixture
def load(write_trace):
    """Load documents by rank."""

    def read(documents):
        for rank, trace in enumerate(documents):
            path = write_trace(f"rank{rank}.json", trace)
        return sv.load_run(path.parent)

    return read


def after(timeline, **scaled):
    return timeline.scale(**scaled).completion


@pytest.mark.parametrize("layers", [4, 12, 40])
def test_a_sharded_model_by_hand(layers, load):
    """Everything runs in turn, so each kind costs what its kernels sum to."""
    timeline = load([sharded(0, layers), sharded(1, layers)]).step(2).timeline()
    exchange, whole = 0.3 * layers, timeline.completion
    # Per layer 900 µs of rows and 25 µs between them, then the optimizer.
    assert whole == pytest.approx(0.925 * layers + 0.05, abs=1e-9)
    shown = timeline.phases.query("kind == 'exchange'")
    assert len(shown) == 3 * layers
    assert shown["duration"].sum() == pytest.approx(exchange)
    assert after(timeline, kind="backward", factor=0.5) == pytest.approx(whole - 0.2 * layers)
    assert after(timeline, kind="forward", factor=0.5) == pytest.approx(whole - 0.1 * layers)
    assert after(timeline, kind="exchange", factor=2) == pytest.approx(whole + exchange)
    # Without exchange each gap of 5 µs beside it stays, as a lag.
    assert after(timeline, kind="exchange", factor=0) == pytest.approx(whole - exchange)


@pytest.mark.parametrize("count", [20, 60, 200])
def test_many_small_exchanges_beside_backward(count, load):
    """However many they are, only the last one is on the path."""
    step = load([many_small(0, count), many_small(1, count)]).step(2)
    timeline, whole = step.timeline(), count + 0.07
    assert timeline.completion == pytest.approx(whole, abs=1e-9)
    shown = timeline.phases.query("kind == 'exchange'")
    assert shown["duration"].sum() == pytest.approx(0.01 * count)
    assert after(timeline, kind="exchange", factor=2) == pytest.approx(whole + 0.01)
    assert after(timeline, kind="backward", factor=0.5) == pytest.approx(count / 2 + 0.07)
    assert step.exposed().tolist() == pytest.approx([0.01, 0.01])
    assert timeline.schedule().exposed("exchange").tolist() == pytest.approx([0.01, 0.01])
    large = [note for note in step.notes if "phases" in note]
    assert len(large) == (1 if count == 200 else 0)


def test_back_to_back_exchanges_are_one_wait(load):
    """Scatter and gather, 5 µs between them, hold the next layer together: nothing is host."""
    step = load([sharded(0, 4), sharded(1, 4)]).step(2)
    phases = step.timeline().phases.query("duration > 0")
    assert (phases["kind"] != "host").all()
    assert phases.groupby("kind")["duration"].sum().to_dict() == pytest.approx(
        {"forward": 2 * 0.8, "backward": 2 * 1.6, "exchange": 1.2, "optimizer": 2 * 0.05}
    )


def late_launch(launched, *, sync=None):
    """Return a step in which backward goes on 6 µs after an all-reduce ended, at 600 µs.

    The kernel that goes on was launched at `launched` µs; `sync` is when a call waited.
    """
    said = {"Collective name": "allreduce", "In msg nelems": 8, "Process Group Name": "0"}
    waits = [] if sync is None else [host("cudaStreamSynchronize", *sync, cat="cuda_runtime")]
    return document(0, [
        note("ProfilerStep#1", 0, 900),
        note("backward", 1, 890),
        launch(80, 1), kernel("gemm", 100, 200, 1),
        launch(290, 2), kernel("ncclDevKernel_AllReduce", 310, 290, 2, stream=20, **said),
        *waits,
        launch(launched, 3), kernel("gemm", 606, 300, 3),
    ], world=1)  # fmt: skip


def test_a_launch_that_came_late_is_not_held_by_an_exchange(load):
    """Launched 12 µs before it ran, as launches take: the host was late, whatever ended then."""
    timeline = load([late_launch(594)]).step(1).timeline()
    assert timeline.completion == pytest.approx(0.906)
    assert after(timeline, kind="exchange", factor=0.5) == pytest.approx(0.906)
    gap = timeline.phases.query("kind == 'host'")["duration"]
    assert gap.sum() == pytest.approx(0.1 + 0.306)


def test_a_launch_that_came_early_was_held(load):
    """Launched 500 µs before: the exchange held it, and gives 145 µs when it takes half."""
    timeline = load([late_launch(106)]).step(1).timeline()
    assert after(timeline, kind="exchange", factor=0.5) == pytest.approx(0.906 - 0.145)
    assert after(timeline, kind="exchange", factor=2) == pytest.approx(0.906 + 0.29)


def test_a_host_that_waited_for_the_exchange_was_held(load):
    """The call returns 2 µs after the exchange and then comes the launch: exchange holds both."""
    timeline = load([late_launch(604, sync=(320, 282))]).step(1).timeline()
    assert after(timeline, kind="exchange", factor=0.5) == pytest.approx(0.906 - 0.145)


@pytest.mark.parametrize("wrapper", [None, "train_step", "epoch 3", "ProfilerStep*"])
def test_an_annotation_around_the_step_changes_nothing(wrapper, load):
    """Waits stay waits: without exchange 14 ms are 7.99, for 10 µs of it were the resuming."""
    step = load([gloo_step(rank, wrapper=wrapper) for rank in (0, 1)]).step(1)
    timeline = step.timeline()
    assert timeline.completion == pytest.approx(14)
    assert step.exposed().tolist() == pytest.approx([6, 6])
    assert timeline.schedule().exposed("exchange").tolist() == pytest.approx([6, 6])
    assert after(timeline, kind="exchange", factor=0) == pytest.approx(7.99)
    shown = step.breakdown()[0]
    assert shown["exchange"] == pytest.approx(6)
    # All of copying back and the 10 µs before it.
    assert shown["other"] + shown["unexplained"] == pytest.approx(0.1)


def test_a_stop_between_two_gradients_is_backward_and_is_said(load):
    """No exchange can hold it: rows, timeline and breakdown agree, and a note tells."""
    step = load([gloo_step(rank, stop=3000) for rank in (0, 1)]).step(1)
    timeline = step.timeline()
    assert step.exposed().tolist() == pytest.approx([6, 6])
    assert timeline.schedule().exposed("exchange").tolist() == pytest.approx([6, 6])
    assert step.breakdown().loc["backward"].tolist() == pytest.approx([7, 7])
    assert after(timeline, kind="exchange", factor=0) == pytest.approx(10.99)
    assert "count as backward: 3 ms on rank 0, 3 ms on rank 1" in " ".join(step.notes)


@pytest.mark.parametrize("name", ["gloo-2rank-b4", "gloo-2rank-slowfabric-b1"])
def test_exposed_in_rows_and_timeline_agree_or_it_is_said(name, handed):
    run = sv.load_run(handed(name))
    for number in run.steps.index:
        step = run.step(number)
        table = step.breakdown()
        exposed = step.exposed()
        assert (table.loc["exchange"] + table.loc["wait"]).tolist() == pytest.approx(
            exposed.tolist()
        )
        apart = (exposed - step.timeline().schedule().exposed("exchange")).abs().max()
        said = any("exposed exchange by the rows" in note for note in step.notes)
        assert said == (apart > 0.01 * step.completion_ns / 1e6)
