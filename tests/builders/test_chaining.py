"""Several updates: prefetch, the wait for updated parameters, loaders, checkpoints."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stepviz as sv
from tests.core.strategies import timelines

B = sv.builders


def test_the_next_forward_waits_for_updated_parameters():
    chain = B.steps(sv.lesson(), 3)
    assert B.step_times(chain)["interval"].tolist() == [750, 750, 750]
    held = chain.schedule().explain("step 2 forward")
    assert (
        held == "step 2 forward starts at 750 ms, when step 1 optimizer has finished (FS, assumed)"
    )
    assert chain.phases.index[0] == "step 1 input"
    assert B.steps(sv.lesson(), 1).completion == 750


def test_prefetch_hides_an_input_that_keeps_up():
    slow = sv.lesson().with_duration("input", 80)
    assert B.steps(slow, 4).completion == 830 + 3 * 750
    assert B.steps(slow, 4, prefetch=1).completion == 830 + 3 * 750
    assert B.steps(slow, 4, prefetch=0).completion == 4 * 830


def test_no_depth_cures_an_input_that_is_too_slow():
    """Input of 1,000 ms sets the rate; depth only sets how far the first loads run ahead."""
    slow = sv.lesson().with_duration("input", 1000)
    for depth in (1, 2, 8, None):
        assert B.step_times(B.steps(slow, 6, prefetch=depth))["interval"].iloc[-1] == 1000
    starts = B.steps(sv.lesson().with_duration("input", 10), 4, prefetch=1).schedule().table
    assert starts.loc["step 2 input", "start"] == 10  # when step 1 has taken its own
    assert starts.loc["step 3 input", "start"] == 760  # and step 2


def test_a_late_input_is_late_in_every_step():
    late = B.steps(sv.lesson(scenario="late-input"), 3)
    assert B.step_times(late)["interval"].tolist() == [830, 830, 830]


def test_a_chain_is_an_ordinary_timeline():
    chain = B.steps(B.ddp([100], forward=1, backward=2, optimizer=1, cost=1), 2)
    assert chain.completion == 10
    assert chain.scale(kind="exchange", factor=3).completion == 14
    assert chain.memory["bytes"].tolist() == [100, 100]
    assert sv.Timeline.from_json(chain.to_json()) == sv.Timeline.from_dict(chain.to_dict())


def test_stages_of_a_pipeline_meet_the_next_update_on_their_own():
    """No barrier: the last stage starts its second update when the first batch reaches it."""
    step = B.pipeline("1f1b", 4, 8, forward=1, backward=2)
    chain = B.steps(step, 3)
    assert B.step_times(chain)["completion"].tolist() == [33, 66, 99]
    table = chain.schedule().table
    assert table.loc["step 2 r3 forward 1", "start"] == 36


@pytest.mark.parametrize("depth", [None, 0, 1, 2])
def test_one_thread_loads_and_computes_in_turns(depth):
    """Input on the lane that takes it, as with no loader process: nothing can run ahead."""
    step = sv.Timeline(
        [
            {"phase": "input", "kind": "input", "duration": 2, "rank": 0, "lane": "thread"},
            {"phase": "forward", "kind": "forward", "duration": 3, "rank": 0, "lane": "thread"},
        ],
        [("input", "forward")],
    )
    chain = B.steps(step, 3, prefetch=depth)
    assert chain.completion == 15
    table = chain.schedule().table
    assert table["start"].tolist() == [0, 2, 5, 7, 10, 12]


@given(timelines(targets=False), st.integers(1, 3), st.sampled_from([None, 0, 1, 2]))
def test_any_timeline_chains(timeline, n, depth):
    chain = B.steps(timeline, n, prefetch=depth)
    assert len(chain) == n * len(timeline)
    if n == 1:
        assert chain.completion == pytest.approx(timeline.completion)
    assert B.steps(timeline, n + 1, prefetch=depth).completion >= chain.completion - 1e-9
    if depth is not None:
        deeper = B.steps(timeline, n, prefetch=depth + 1).completion
        assert deeper <= chain.completion + 1e-6 * max(1, chain.completion)


def test_a_real_step_chains():
    step = sv.sample_run().step().timeline()
    times = B.step_times(B.steps(step, 3))
    assert times["completion"].iloc[0] == pytest.approx(step.completion)
    assert times["interval"].iloc[-1] <= step.completion + 1e-9


def test_checkpoints_stop_the_ranks_every_n_steps():
    chain = B.checkpointed(sv.lesson(), 6, every=2, save=100)
    assert B.step_times(chain)["interval"].tolist() == [750, 750, 850, 750, 850, 750]
    assert chain.completion == 6 * 750 + 3 * 100
    assert (chain.phases["kind"] == "checkpoint").sum() == 3


def test_a_background_write_costs_nothing_until_it_outlasts_its_period():
    hidden = B.checkpointed(sv.lesson(), 6, every=2, save=100, write=1500)
    assert B.step_times(hidden)["completion"].iloc[-1] == 6 * 750 + 2 * 100
    slow = B.checkpointed(sv.lesson(), 6, every=2, save=100, write=2000)
    table = slow.schedule().table
    assert table.loc["step 4 save", "start"] == 1500 + 100 + 2000
    rows = hidden.memory
    assert rows["count"].tolist() == [1]
    synchronous = B.checkpointed(sv.lesson(), 2, every=2, save=100, state_bytes=9).memory
    assert synchronous[["count", "bytes"]].to_numpy().tolist() == [[0, 0]]


def test_checkpoints_of_several_ranks_are_their_own():
    step = B.ddp([1], forward=1, backward=2, optimizer=1, cost=1, ranks=2)
    chain = B.checkpointed(step, 2, every=1, save=3, write=1)
    assert chain.completion == 5 + 3 + 5 + 3 + 1
    assert {"step 1 r0 save", "step 2 r1 write"} <= set(chain.phases.index)


@given(
    st.integers(1, 4), st.integers(1, 3), st.integers(1, 20), st.integers(0, 40), st.integers(0, 20)
)
def test_a_loader_sustains_the_slowest_of_three_rates(workers, depth, compute, load, read):
    batches = 80
    fed = B.input_pipeline(
        batches=batches, compute=compute, load=load, workers=workers, prefetch=depth, read=read
    )
    times = B.step_times(fed)["completion"]
    sustained = (times.iloc[-1] - times.iloc[batches // 2 - 1]) / (batches // 2)
    slowest = max(compute, read, (read + load) / workers)
    # Over half the batches, one round of the workers may be cut off at either end.
    assert sustained == pytest.approx(slowest, abs=(read + load) / batches * 2 + 1e-9)
    assert fed.memory["count"].tolist() == [workers * depth]
    deeper = B.input_pipeline(
        batches=batches, compute=compute, load=load, workers=workers, prefetch=depth + 1, read=read
    )
    assert deeper.completion <= fed.completion


def test_depth_hides_unevenness():
    """Every eighth batch takes 60 ms, which a worker's own pace covers if it may run ahead."""
    load = [60 if i % 8 == 7 else 2 for i in range(64)]
    shallow, deep = (
        B.input_pipeline(batches=64, compute=10, load=load, prefetch=depth) for depth in (1, 6)
    )
    # The first slow one comes before the worker is far enough ahead; the others are hidden.
    assert deep.completion == 7 * 2 + 60 + (64 - 7) * 10
    assert shallow.completion == 2 + 64 * 10 + 8 * (60 - 10)


def test_without_workers_loading_stands_between_steps():
    fed = B.input_pipeline(batches=5, compute=10, load=4, workers=0, read=1)
    assert B.step_times(fed)["interval"].tolist() == [15] * 5
    one = B.input_pipeline(batches=5, compute=10, load=4, workers=1)
    assert B.step_times(one)["interval"].tolist() == [14, 10, 10, 10, 10]


def test_depth_costs_host_memory_and_cures_no_slow_storage():
    for depth in (1, 2, 16):
        fed = B.input_pipeline(
            batches=60, compute=10, load=1, workers=4, prefetch=depth, batch_bytes=1e7,
            storage_rate=0.5,
        )  # fmt: skip
        assert B.step_times(fed)["interval"].iloc[-1] == 20
        assert fed.memory["bytes"].iloc[0] == 4 * depth * 1e7


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: B.steps(5, 2), "timeline is int"),
        (lambda: B.steps(sv.lesson(), 0), "n is 0"),
        (lambda: B.steps(sv.lesson(), 2, prefetch=-1), "prefetch"),
        (lambda: B.step_times(sv.lesson()), r"steps\(timeline, n\)"),
        (lambda: B.checkpointed(sv.lesson(), 2, every=0, save=1), "every"),
        (lambda: B.checkpointed(sv.lesson(), 2, every=1, save=-1), "save"),
        (lambda: B.input_pipeline(batches=0, compute=1, load=1), "batches"),
        (lambda: B.input_pipeline(batches=1, compute=1, load=1, workers=-1), "workers"),
        (lambda: B.input_pipeline(batches=2, compute=1, load=[1]), "load has 1 values for 2"),
        (lambda: B.input_pipeline(batches=1, compute=1, load=1, storage_rate=1), "batch_bytes"),
        (
            lambda: B.input_pipeline(
                batches=1, compute=1, load=1, read=1, storage_rate=1, batch_bytes=1
            ),
            "give one of them",
        ),
    ],
)
def test_bad_input_names_the_argument(make, said):
    with pytest.raises(sv.TimelineError, match=said):
        make()
