"""A step of DDP: the queue's fixtures and closed form, memory, recorded buckets, invariants."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stepviz as sv
from tests.builders.gpt2 import sizes

B = sv.builders


def exchange_ends(step: sv.Timeline) -> list[float]:
    table = step.schedule().table
    return table[step.phases["kind"] == "exchange"]["finish"].tolist()


@pytest.mark.parametrize(
    ("ready", "service", "ends", "tail"),
    [
        (range(300, 650, 50), 50, list(range(350, 700, 50)), 50),
        ([100, 200, 300, 400], 60, [160, 260, 360, 460], 60),
        ([250, 300, 350, 400], 60, [310, 370, 430, 490], 90),
        ([400] * 4, 60, [460, 520, 580, 640], 240),
    ],
)
def test_queue_fixtures(ready, service, ends, tail):
    queue = B.bucket_queue(ready, service)
    assert exchange_ends(queue) == ends
    assert queue.schedule().exposed("exchange")[0] == pytest.approx(tail, abs=1e-9)


def test_evenly_spread_readiness_leaves_the_same_tail():
    ready = [600 - 400 / 7 * k for k in range(6, -1, -1)]
    assert ready[0] == pytest.approx(257.1, abs=0.05)
    assert B.bucket_queue(ready, 50).completion == 650


SWEEP = {
    1: 150.5, 2: 125.5, 4: 113.0, 5: 110.5, 8: 106.75, 10: 105.5, 16: 103.625, 25: 102.5,
    50: 101.5, 100: 101.0, 200: 150.5,
}  # fmt: skip


@pytest.mark.parametrize("k", SWEEP)
def test_sweep_of_equal_buckets_is_u_shaped(k):
    step = B.ddp(
        [500e6 / k] * k, backward=100, bucket_cap_mb=0, cost=B.AlphaBeta(latency=0.5, bandwidth=10)
    )
    assert step.completion == pytest.approx(SWEEP[k], abs=1e-12)


@given(
    st.integers(1, 60), st.floats(1e6, 1e9), st.floats(0.1, 100), st.floats(0, 5),
    st.floats(1, 500),
)  # fmt: skip
def test_closed_form_of_equal_buckets(k, total, bandwidth, alpha, backward):
    service = alpha + total / k / (bandwidth * 1e6)
    keeps_up = service <= backward / k
    expected = backward + service if keeps_up else backward / k + k * service
    cost = B.AlphaBeta(alpha, bandwidth)
    step = B.ddp([total / k] * k, backward=backward, bucket_cap_mb=0, cost=cost)
    assert step.completion == pytest.approx(expected, rel=1e-12)


@given(
    st.lists(st.tuples(st.floats(0, 100), st.floats(0, 50)), min_size=1, max_size=12),
    st.floats(0, 50),
    st.integers(1, 3),
)
def test_any_queue_is_the_recurrence(buckets, late, ranks):
    ready, service = [r for r, _ in buckets], [s for _, s in buckets]
    backward = max(ready) + late
    end, ends = 0.0, []
    for at, lasts in buckets:
        end = max(at, end) + lasts
        ends.append(end)
    assert exchange_ends(B.bucket_queue(ready, service, backward=backward)) == pytest.approx(
        ends, abs=1e-9
    )
    # Buckets of one gradient each, in ready order, are the same queue in that order.
    order = sorted(range(len(ready)), key=lambda k: (ready[k], -k))
    sized = iter([service[k] for k in order])
    step = B.ddp(
        [1] * len(ready), backward=backward, bucket_cap_mb=0, ready=ready, ranks=ranks,
        cost=lambda _: next(sized), forward=7, optimizer=3,
    )  # fmt: skip
    end = 0.0
    for k in order:
        end = max(ready[k], end) + service[k]
    assert step.completion == pytest.approx(7 + max(end, backward) + 3)
    assert step.completion >= 7 + max(backward, math.fsum(service)) + 3 - 1e-9


def test_the_seed_as_buckets_of_one_gradient():
    """Model (c): 746.43 for an exchange 25 ms faster, 743.75 for a backward 25 ms faster."""
    step = B.ddp(
        [1] * 7, forward=200, backward=400, optimizer=100, bucket_cap_mb=0, cost=50,
        ready=range(400, 50, -50),
    )  # fmt: skip
    assert step.completion == 750
    assert step.schedule().plain_sum == 1050
    answers = {
        "exchange": step.apply(sv.shorten(kind="exchange", ms=25)).completion,
        "backward": step.apply(sv.shorten(kind="backward", ms=25)).completion,
        "tail": step.apply(sv.shrink_tail(25)).completion,
    }
    assert {k: round(v, 2) for k, v in answers.items()} == {
        "exchange": 746.43, "backward": 743.75, "tail": 725.0
    }  # fmt: skip
    late = step.apply(sv.delay_input(80))
    assert late.completion == 830
    assert isinstance(late, B.BuiltTimeline)


def test_gpt2s_tail_is_its_embedding_bucket():
    cost = B.Ring(ranks=8, latency=0.02, bandwidth=25)
    step = B.ddp(sizes(), forward=50, backward=100, optimizer=10, cost=cost)
    assert len(exchange_ends(step)) == 13
    assert step.schedule().exposed("exchange")[0] >= cost.ms(168.272 * 2**20)
    first = B.ddp(sizes(), forward=50, backward=100, optimizer=10, cost=cost, iteration=1)
    assert first.completion == 50 + 100 + cost.ms(sum(size for _, size in sizes())) + 10
    assert first.schedule().overlap("exchange", "backward")[0] == 0


def test_unused_parameters_wait_for_the_first_bucket_of_the_list():
    """Bucket 1 holds the last-registered, and all others wait for it to be launched."""
    step = B.ddp(
        [2**20, 2**20, 2**20], backward=30, bucket_cap_mb=1, find_unused_parameters=True, cost=1,
        ready=[10, 20, 30],
    )  # fmt: skip
    assert exchange_ends(step) == [31, 32, 33]


def test_ranks_have_their_own_compute_and_share_buckets():
    step = B.ddp([1, 1], forward=1, backward=4, optimizer=1, bucket_cap_mb=0, cost=1, ranks=3)
    assert step.ranks == [0, 1, 2]
    assert (step.phases["kind"] == "exchange").sum() == 2
    slow = step.scale(kind="backward", factor=2, rank=2)
    assert (step.completion, slow.completion) == (7, 11)
    assert slow.schedule().breakdown().loc["wait"].tolist() == [3.0, 3.0, 0.0]


def test_memory_is_gradients_and_a_copy_of_them_unless_they_are_views():
    step = B.ddp(sizes(), backward=100, cost=1)
    total = sum(size for _, size in sizes())
    assert step.memory["bytes"].tolist() == [total, total]
    views = B.ddp(sizes(), backward=100, cost=1, gradient_as_bucket_view=True)
    assert views.memory["bytes"].sum() == total
    kept = views.scale(kind="exchange", factor=2).with_name("x").without("exchange 1")
    assert kept.memory.equals(views.memory)
    assert "<table" in views._repr_html_()


def recorded(**columns) -> pd.DataFrame:
    frame = pd.DataFrame(
        {
            "name": ["all-reduce 0", "all-gather 0", "all-reduce 1"],
            "collective": ["all-reduce", "all-gather", "all-reduce"],
            "bytes": [3 * 2**20, 7, 2**20],
            "ranks": 2,
            "arrival_ns": np.array([10_000_000, 12_000_000, 40_000_000]) + 2**60,
            "transfer_ns": pd.array([5_000_000, 1, 20_000_000], dtype="Int64"),
        }
    )
    return frame.assign(**columns)


def test_recorded_buckets_keep_their_spacing_and_transfers():
    step = B.ddp(recorded(), backward=50)
    assert exchange_ends(step) == [25.0, 70.0]
    assert step.memory["bytes"].iloc[0] == 4 * 2**20
    priced = B.ddp(recorded(), backward=50, cost=B.AlphaBeta(1, 1))
    assert exchange_ends(priced) == pytest.approx([20 + 1 + 3.145728, 50 + 1 + 1.048576])
    apart = B.ddp(recorded(), backward=50, bucket_cap_mb=25, first_bucket_mb=1, cost=7)
    assert exchange_ends(apart) == [27.0, 57.0]
    whole = B.ddp(recorded(), backward=50, bucket_cap_mb=25, cost=7)
    assert exchange_ends(whole) == [57.0]


def test_a_captured_run_gives_its_buckets():
    run = sv.sample_run()
    step = run.step()
    frame = step.collectives
    built = B.ddp(frame, backward=100)
    assert B.ddp(step, backward=100) == B.ddp(run, backward=100) == built
    assert (built.phases["kind"] == "exchange").sum() == len(frame)
    spans = built.phases.loc[built.phases["kind"] == "exchange", "duration"]
    assert spans.tolist() == pytest.approx((frame["transfer_ns"] / 1e6).tolist())


@given(st.lists(st.integers(1, 10**8), min_size=1, max_size=20), st.floats(1, 100), st.floats(1, 4))
def test_more_bandwidth_is_never_later(nbytes, bandwidth, more):
    slow, fast = (
        B.ddp(nbytes, backward=50, bucket_cap_mb=10, cost=B.AlphaBeta(0.1, rate)).completion
        for rate in (bandwidth, bandwidth * more)
    )
    assert fast <= slow + 1e-9


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"backward": -1}, "backward is -1"),
        ({"backward": "x"}, "backward"),
        ({"backward": 1, "forward": math.inf}, "forward"),
        ({"backward": 1, "ready": [1]}, "ready has 1 times for 2"),
        ({"backward": 1, "ready": [1, 2]}, "backward ends at 1 ms"),
        ({"backward": 1, "ready": [1, 1], "ready_order": [0, 1]}, "not both"),
        ({"backward": 1, "ranks": 0}, "ranks"),
        ({"backward": 1, "gradient_as_bucket_view": 1}, "gradient_as_bucket_view"),
    ],
)
def test_bad_input_names_the_argument(options, said):
    with pytest.raises(sv.TimelineError, match=said):
        B.ddp([1, 1], cost=1, **options)


def test_bad_recordings_say_what_is_missing():
    with pytest.raises(sv.TimelineError, match="at least as long"):
        B.ddp(recorded(), backward=20)
    with pytest.raises(sv.TimelineError, match="cost"):
        B.ddp(recorded(transfer_ns=pd.array([1, 1, None], dtype="Int64")), backward=50)
    with pytest.raises(sv.TimelineError, match="cost"):
        B.ddp(recorded(), backward=50, bucket_cap_mb=5)
    with pytest.raises(sv.TimelineError, match="no all-reduce"):
        B.ddp(recorded(collective="all-gather"), backward=50)
    with pytest.raises(sv.TimelineError, match="ready is empty"):
        B.bucket_queue([], 1)


def test_ready_to_rounding_at_the_end_of_backward_is_ready_at_its_end():
    end = 244.93999999999997
    ready = [end * (k + 1) / 49 for k in range(49)]
    ready[-1] = float(np.nextafter(end, 1000.0))
    assert sv.builders.bucket_queue(ready, 1.0, backward=end).completion == end + 1
    with pytest.raises(sv.TimelineError, match="no gradient is ready after it"):
        sv.builders.bucket_queue([end + 0.001], 1.0, backward=end)
