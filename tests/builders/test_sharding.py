"""Sharded steps: ZeRO's volumes and memory, prefetch and rate limit by hand and by recurrence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stepviz as sv

B = sv.builders


@pytest.mark.parametrize(("stage", "gigabytes"), [(0, 120), (1, 31.4), (2, 16.6), (3, 1.88)])
def test_memory_of_7_5_billion_on_64_ranks(stage, gigabytes):
    table = B.zero_memory(7.5e9, ranks=64, stage=stage)
    digits = 2 if gigabytes < 10 else 1
    assert round(table.loc["total", "bytes"] / 1e9, digits) == gigabytes


@pytest.mark.parametrize(("stage", "volume"), [(1, 2), (2, 2), (3, 3)])
@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=8))
def test_volumes_per_step(stage, volume, units):
    """2Ψ for stages 1 and 2, 3Ψ for stage 3: a cost of a ms a byte makes time volume."""
    step = B.sharded(units, stage=stage, backward=1, cost=float)
    exchange = step.phases["kind"] == "exchange"
    assert step.phases.loc[exchange, "duration"].sum() == volume * sum(units)


def test_stages_keep_what_zero_says():
    for stage in (1, 2, 3):
        step = B.sharded([2e9, 1e9], stage=stage, backward=1, cost=1, shards=64)
        rows = step.memory.set_index("what")["bytes"]
        state = rows[["parameters", "gradients", "optimizer state"]]
        expected = B.zero_memory(1.5e9, ranks=64, stage=stage)["bytes"].drop("total")
        assert state.tolist() == pytest.approx(expected.tolist())
    whole = B.sharded([2e9, 1e9], backward=1, cost=1, shards=64, no_sync=True).memory
    assert whole.set_index("what").loc["gradients", "bytes"] == 3e9
    assert B.sharded([1], backward=1, cost=1).memory["bytes"].isna().sum() == 3
    by_cost = B.sharded([64], backward=1, cost=B.Ring(4, 0, 1)).memory.set_index("what")
    assert by_cost.loc["parameters", "bytes"] == 16


def test_gathered_units():
    def gathered(**options):
        memory = B.sharded([4, 8, 2, 1], backward=1, cost=1, **options).memory.set_index("what")
        return memory.loc["gathered units", ["count", "bytes"]].tolist()

    assert gathered() == [2, 16]
    assert gathered(prefetch=0) == [1, 8]
    assert gathered(prefetch=3, rate_limit=None) == [4, 32]
    assert gathered(reshard_after_forward=False)[0] == 4


def test_prefetch_hides_all_but_the_first_gather_and_the_last_scatter():
    hidden = B.sharded([1] * 4, forward=40, backward=80, cost=5)
    assert hidden.completion == 5 + 120 + 5
    assert hidden.schedule().exposed("exchange")[0] == 10
    serial = B.sharded([1] * 4, forward=40, backward=80, cost=5, prefetch=0)
    assert serial.completion == 8 * 5 + 120 + 5
    kept = B.sharded([1] * 4, forward=40, backward=80, cost=5, reshard_after_forward=False)
    assert (kept.phases["kind"] == "exchange").sum() == 4 + 4
    assert kept.completion == 130


def test_one_stream_lets_scatters_block_gathers():
    """Gather of 8 and scatter of 8 in 10 ms of backward each: together they don't fit."""
    cost = {"forward": 10 * 4, "backward": 10 * 4, "cost": 8}
    two, one = (B.sharded([1] * 4, shared_stream=one, **cost).completion for one in (False, True))
    assert two == 8 + 80 + 8
    assert one > two
    lanes = B.sharded([1] * 4, shared_stream=True, **cost).phases["lane"]
    assert set(lanes) == {"input", "compute", "link"}


def by_recurrence(fwd, bwd, sizes, depth, limit, again):
    """Ends of FSDP's compute on two streams, written out."""
    n = len(sizes)
    uses = [(u, fwd[u], True) for u in range(n)]
    uses += [(u, bwd[u], again) for u in reversed(range(n))]
    start, end, gather_free, scatter_free = [], [], 0.0, 0.0
    for k, (u, ms, gathers) in enumerate(uses):
        at = end[k - 1] if k else 0.0
        if gathers:
            may = 0.0
            if depth == 0 and k:
                may = end[k - 1]
            elif depth and k >= depth:
                may = start[k - depth]
            if limit is not None and k >= limit:
                may = max(may, end[k - limit])
            gather_free = max(gather_free, may) + sizes[u]
            at = max(at, gather_free)
        start.append(at)
        end.append(at + ms)
        if k >= n:
            scatter_free = max(scatter_free, end[k]) + sizes[u]
    return max(end[-1], scatter_free)


@given(st.data())
def test_prefetch_and_rate_limit_against_the_recurrence(data):
    n = data.draw(st.integers(1, 6))
    fwd, bwd, sizes = ([float(data.draw(st.integers(0, 20))) for _ in range(n)] for _ in range(3))
    depth = data.draw(st.integers(0, 4))
    limit = data.draw(st.one_of(st.none(), st.integers(1, 5)))
    again = data.draw(st.booleans())
    if not again:
        limit = None
    step = B.sharded(
        sizes, forward=fwd, backward=bwd, cost=float, prefetch=depth, rate_limit=limit,
        reshard_after_forward=again, ranks=data.draw(st.integers(1, 2)),
    )  # fmt: skip
    assert step.completion == pytest.approx(by_recurrence(fwd, bwd, sizes, depth, limit, again))
    more = B.sharded(
        sizes, forward=fwd, backward=bwd, cost=float, prefetch=depth + 1, rate_limit=limit,
        reshard_after_forward=again,
    )  # fmt: skip
    assert more.completion <= step.completion + 1e-9
    assert step.completion >= max(sum(fwd) + sum(bwd), sum(sizes)) - 1e-9


def test_microbatches_gather_each_time_and_scatter_as_the_stage_says():
    def counts(**options):
        step = B.sharded([1, 1], microbatches=3, forward=2, backward=2, cost=1, **options)
        names = step.phases.index
        return (
            names.str.contains("all-gather").sum(),
            names.str.contains("reduce-scatter").sum(),
        )

    assert counts(stage=1) == (2, 2)
    assert counts(stage=2) == (2, 6)
    assert counts(stage=3) == (12, 6)
    assert counts(stage=3, no_sync=True) == (12, 2)


def test_stage_1_gathers_updated_parameters_after_the_optimizer():
    step = B.sharded([1, 1], stage=1, forward=4, backward=6, optimizer=3, cost=1, ranks=2)
    assert step.completion == 4 + 6 + 1 + 3 + 2
    assert step.ranks == [0, 1]
    chain = B.steps(step, 2)
    assert chain.completion == 32
    assert chain.schedule().table.loc["step 2 r0 forward 1", "start"] == 16


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"stage": 4}, "stage is 4"),
        ({"stage": True}, "stage"),
        ({"prefetch": -1}, "prefetch"),
        ({"rate_limit": 0}, "rate_limit"),
        ({"backward": [1]}, "backward has 1 values for 2 units"),
        ({"element_bytes": 0}, "element_bytes"),
        ({"shards": 0}, "shards"),
        ({"reshard_after_forward": None}, "reshard_after_forward"),
    ],
)
def test_bad_input_names_the_argument(options, said):
    with pytest.raises(sv.TimelineError, match=said):
        B.sharded([1, 1], **{"backward": 1, "cost": 1, **options})
