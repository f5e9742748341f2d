"""Cost models: the formulas' numbers, nccl-tests' bandwidths, and what bounds them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stepviz as sv

B = sv.builders


def test_ring_all_reduce_of_a_gigabyte():
    ring = B.Ring(ranks=8, latency=0.01, bandwidth=100)
    assert ring.ms(1e9) == pytest.approx(17.64, abs=1e-12)
    for half in ("all-gather", "reduce-scatter"):
        assert ring.ms(1e9, half) == pytest.approx(17.64 / 2, abs=1e-12)


@given(
    st.integers(2, 512), st.floats(1, 1e11), st.sampled_from(["all-reduce", "all-gather",
    "reduce-scatter", "broadcast", "reduce"])
)  # fmt: skip
def test_without_latency_the_rings_bus_bandwidth_is_the_links(ranks, nbytes, collective):
    table = B.Ring(ranks, latency=0, bandwidth=40).table([nbytes], collective)
    assert table["bus_bandwidth"].iloc[0] == pytest.approx(40)


def test_bus_factors_of_nccl_tests():
    assert [B.bus_factor(name, 4) for name in ("all_reduce", "AllGather", "broadcast")] == [
        1.5, 0.75, 1.0
    ]  # fmt: skip


def test_one_rank_exchanges_nothing():
    assert B.Ring(1, 0.1, 10).ms(1e9) == B.Tree(1, 0.1, 10).ms(1e9) == 0


@given(st.integers(2, 1024), st.floats(0, 1e10))
def test_a_tree_has_fewer_steps_and_the_ring_the_better_bandwidth(ranks, nbytes):
    tree, ring = B.Tree(ranks, 0.01, 100), B.Ring(ranks, 0.01, 100)
    assert tree.ms(0) <= ring.ms(0)
    assert tree.ms(nbytes) - tree.ms(0) >= ring.ms(nbytes) - ring.ms(0) - 1e-9


@given(st.floats(0, 1e10), st.floats(0, 1e10), st.floats(1, 100), st.floats(1, 10))
def test_more_bytes_never_faster_and_more_bandwidth_never_slower(a, b, bandwidth, more):
    for model in (
        B.AlphaBeta(0.1, bandwidth),
        B.Ring(8, 0.1, bandwidth),
        B.Tree(8, 0.1, bandwidth),
    ):
        assert model.ms(min(a, b)) <= model.ms(max(a, b))
        faster = type(model)(**{**vars(model), "bandwidth": bandwidth * more})
        assert faster.ms(a) <= model.ms(a)


def test_table_counts_bandwidth_in_gb_per_second():
    table = B.AlphaBeta(latency=0, bandwidth=10, ranks=4).table([1e9, 0])
    assert table["ms"].tolist() == [100.0, 0.0]
    assert table["algorithm_bandwidth"].iloc[0] == 10
    assert table["bus_bandwidth"].iloc[0] == 15
    assert math.isnan(table["algorithm_bandwidth"].iloc[1])
    assert B.AlphaBeta(0, 10).table([1e9])["bus_bandwidth"].isna().all()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: B.Ring(0, 0.1, 10), "ranks is 0"),
        (lambda: B.Ring(2.5, 0.1, 10), "ranks"),
        (lambda: B.Ring(8, -1, 10), "latency"),
        (lambda: B.Tree(8, 0.1, 0), "bandwidth"),
        (lambda: B.AlphaBeta(math.nan, 1), "latency"),
        (lambda: B.AlphaBeta(0.1, 1).ms(-1), "nbytes"),
        (lambda: B.AlphaBeta(0.1, 1).ms(1, "all-reduec"), "did you mean 'all-reduce'"),
        (lambda: B.Tree(8, 0.1, 1).ms(1, "all-gather"), "Ring"),
        (lambda: B.ddp([1], backward=1, cost="fast"), "cost is 'fast'"),
        (lambda: B.ddp([1], backward=1, cost=lambda n: -1), "cost says"),
    ],
)
def test_bad_input_names_the_argument(make, said):
    with pytest.raises(sv.CostError, match=said):
        make()
