"""The sweep over the bucket cap: the closed form, a queue by hand, where its parts come from."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stepviz as sv
from stepviz.builders import AlphaBeta, Contention, Ring, bucket_sweep, ddp, ddp_buckets
from stepviz.builders.bucket_sweeps import last_bucket
from tests.builders.gpt2 import sizes

MIB = 2**20
#: G = 500 MB, B = 10 GB/s, α = 0.5 ms, backward 100 ms: finish by the number of equal buckets.
FINISH = {
    1: 150.5,
    2: 125.5,
    4: 113,
    5: 110.5,
    8: 106.75,
    10: 105.5,
    25: 102.5,
    50: 101.5,
    100: 101,
    200: 150.5,
}


def test_the_closed_form_of_equal_buckets():
    caps = [500e6 / k / MIB for k in FINISH]
    sweep = bucket_sweep(
        [2.5e6] * 200, caps, backward=100, cost=AlphaBeta(latency=0.5, bandwidth=10)
    )
    found = dict(zip(sweep["buckets"], sweep["completion"], strict=True))
    assert found == pytest.approx(FINISH)
    assert sweep["overhead"].tolist() == pytest.approx((0.5 * sweep["buckets"]).tolist())
    best = sweep["completion"].idxmin()
    assert sweep.loc[best, "buckets"] == 100
    assert set(sweep.loc[sweep["near_best"], "buckets"]) == {50, 100}
    assert set(sweep.index[sweep["near_best"]]) == {500e6 / 50 / MIB, 500e6 / 100 / MIB}


@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=25),
    st.lists(st.floats(0, 30), min_size=1, max_size=5, unique=True),
    st.floats(0, 2),
    st.floats(0.01, 5),
    st.floats(1, 50),
)
def test_any_sweep_is_a_queue_by_hand(mib, caps, latency, bandwidth, backward):
    nbytes = [size * MIB for size in mib]
    cost = AlphaBeta(latency, bandwidth)
    sweep = bucket_sweep(nbytes, caps, backward=backward, forward=3, optimizer=2, cost=cost)
    for cap, row in sweep.iterrows():
        buckets = ddp_buckets(nbytes, bucket_cap_mb=cap)["bytes"].tolist()
        done, end = 0.0, 0.0
        for size in buckets:
            done += size
            ready = backward * done / sum(nbytes)
            start = max(ready, end)
            end = start + latency + size / (bandwidth * 1e6)
        assert row["buckets"] == len(buckets)
        assert row["completion"] == pytest.approx(3 + max(end, backward) + 2)
        assert row["exposed"] == pytest.approx(max(end - backward, 0), abs=1e-9)
        assert row["queued"] == pytest.approx(max(start - backward, 0), abs=1e-6)
        assert row["queued"] + row["last_transfer"] == pytest.approx(row["exposed"])
        assert row["last_bytes"] == buckets[-1]
    assert sweep["near_best"].any()


def test_contention_is_solved_at_every_cap():
    caps, slow = [5, 25, 100], Contention(compute=0.8, exchange=0.9)
    sweep = bucket_sweep(sizes(), caps, backward=200, cost=Ring(8, 0.02, 25), contention=slow)
    for cap in caps:
        step = ddp(sizes(), backward=200, bucket_cap_mb=cap, cost=Ring(8, 0.02, 25)).apply(slow)
        assert sweep.loc[cap, "completion"] == step.completion
        assert sweep.loc[cap, "backward_end"] > 200


def test_default_caps_go_from_many_buckets_to_one():
    sweep = bucket_sweep(sizes(), backward=200, cost=Ring(8, 0.02, 25))
    assert sweep["buckets"].iloc[-1] == 1
    assert sweep["buckets"].is_monotonic_decreasing
    assert sweep.index.is_monotonic_increasing


def test_no_cap_splits_the_embedding():
    held, largest = last_bucket(sizes(), 1)
    assert largest.name == "wte"
    assert held >= largest.nbytes == 50257 * 768 * 4


def test_a_captured_runs_buckets_are_joined():
    step = sv.sample_run().step()
    recorded = step.collectives["bytes"].dropna()
    sweep = bucket_sweep(step, backward=100, cost=AlphaBeta(0.1, 1))
    assert sweep["buckets"].iloc[0] == len(recorded)
    assert sweep["buckets"].iloc[-1] == 1
    assert sweep["last_bytes"].iloc[-1] == recorded.sum()


def test_what_has_no_meaning_is_said():
    with pytest.raises(sv.TimelineError, match="caps is empty"):
        bucket_sweep([1e6], [], backward=1)
    with pytest.raises(sv.TimelineError, match="a cap is -1"):
        bucket_sweep([1e6], [-1], backward=1)
    with pytest.raises(sv.TimelineError, match="hold no bytes"):
        bucket_sweep([0], backward=1)
    assert math.isfinite(bucket_sweep(iter([1e6, 2e6]), [1], backward=1)["completion"].iloc[0])
