"""Who is late and who is slow: the facts' table, and delays that were planted."""

from __future__ import annotations

import numpy as np
import pytest

import stepviz as sv
from tests.traces.many_ranks import on_clocks, on_device, over_gloo, simulated
from tests.traces.synthetic import collective, document, kernel, note

#: traces.md 5.2, µs: late, → #0 … → #7, tail, own time.
DLRM_OWN = {
    0: (5469, 3121, 1745, 225, 1, 1053, 1239, 2, 478, 793, 8657),
    1: (0, 3101, 1752, 231, 2, 988, 1211, 1, 506, 773, 8565),
    2: (6887, 3330, 2261, 228, 1, 1096, 1289, 31, 518, 771, 9525),
    3: (695, 3908, 1755, 228, 1, 1003, 1213, 2, 547, 882, 9539),
    4: (2844, 3009, 1669, 231, 2, 1202, 1691, 537, 1361, 1690, 11392),
    5: (2990, 3066, 1717, 226, 1, 1200, 1745, 585, 1348, 1658, 11546),
    6: (6875, 3345, 2259, 225, 1, 1086, 1268, 8, 508, 833, 9533),
    7: (7513, 3212, 2770, 393, 126, 1212, 1395, 138, 624, 893, 10763),
}


@pytest.fixture(scope="module")
def dlrm(handed):
    return sv.load_run(handed("dlrm-v100-nccl-8of8"))


def test_own_time_of_dlrm_to_the_nanosecond(dlrm):
    table = dlrm.step().own_time
    names = ["late_ns", *(f"→ #{k}" for k in range(8)), "tail_ns", "own_time_ns"]
    assert table.columns.tolist() == names
    for rank, expected in DLRM_OWN.items():
        assert table.loc[rank].tolist() == [1000 * us for us in expected]


def test_who_is_slowest_in_dlrm_has_four_answers(dlrm):
    """traces.md 5.2: rank 1 only waits the most, 7 starts late, 5 has the most of its own."""
    table = dlrm.step().slowest
    assert table["rank"].to_dict() == {
        "longest_step": 1,
        "last_to_arrive": 7,
        "slowest_to_first_collective": 3,
        "most_own_time": 5,
    }
    assert table["value"].tolist() == [19_901_000, 5, 3_908_000, 11_546_000]
    assert table.loc["last_to_arrive", "late_ns"] == 7_513_000
    assert "5 of 8" in table.loc["last_to_arrive", "sentence"]
    assert "apart from that it began" in table.loc["last_to_arrive", "sentence"]


def test_dlrm_by_collective(dlrm):
    """traces.md 5.2; two first arrivals are ties there, so no one is named."""
    table = dlrm.step().collectives
    assert table["last_rank"].tolist() == [7, 7, 7, 7, 7, 5, 5, 4]
    assert table["first_rank"].fillna(-1).tolist() == [1, 4, -1, -1, 1, 1, 3, 0]
    assert table["wait_ns"].sum() == 46_843_000
    assert table["bus_gbps"].isna().all()


PLANTED = [(1, 0), (2, 1), (0, 3)]


@pytest.mark.parametrize("world", [2, 4])
@pytest.mark.parametrize("write", [on_device, over_gloo])
@pytest.mark.parametrize("blocking", [True, False])
@pytest.mark.parametrize(("rank", "bucket"), PLANTED)
def test_a_delay_planted_in_one_ranks_backward_is_named(rank, bucket, blocking, write, world, load):
    """All backwards last equally long, since each all-reduce waits; arrivals and own time tell."""
    if rank >= world:
        rank = world - 1
    delay = 120
    times = simulated(world, 3, 4, slow={(rank, 1, bucket): delay}, blocking=blocking, end_skew=1)
    run = load(write(times))
    step = run.step(2)
    slowest = step.slowest
    assert slowest.loc["most_own_time", "rank"] == rank
    assert slowest.loc["most_own_time", "excess"] == pytest.approx(1000 * delay, rel=0.05)
    assert slowest.loc["last_to_arrive", "rank"] == rank
    # The steps themselves tell nothing.
    lengths = step.windows["duration_ns"]
    assert lengths.max() - lengths.min() < 5_000
    if blocking:
        own = step.own_time["own_time_ns"]
        assert own[rank] - own.drop(rank).median() == pytest.approx(1000 * delay, rel=0.05)
    assert not run.clock["moved"].any()


@pytest.mark.parametrize("write", [on_device, over_gloo])
def test_late_before_the_step_is_no_slowness_in_it(write, load):
    times = simulated(3, 2, 3, late={(2, 0): 700}, blocking=True)
    step = load(write(times)).step(1)
    assert step.own_time["late_ns"].tolist() == [0, 0, 700_000]
    table = step.slowest
    assert table.loc["last_to_arrive", "rank"] == 2
    assert table.loc["last_to_arrive", "late_ns"] == 700_000
    # All do the same inside; the first two wait, so their steps are longer.
    assert step.own_time["own_time_ns"].nunique() == 1
    assert table.loc["most_own_time"].isna()["rank"]
    assert "tie" in table.loc["most_own_time", "sentence"]
    assert "tie" in table.loc["longest_step", "sentence"]


def test_own_time_sums_to_the_window_less_the_exchanges(load):
    times = simulated(3, 2, 4, slow={(1, 1, 2): 300}, blocking=True, end_skew=9)
    step = load(on_device(times)).step(2)
    parts = step.own_time.drop(columns=["late_ns", "own_time_ns"]).sum(axis=1)
    assert (parts == step.own_time["own_time_ns"]).all()
    for rank, own in step.own_time["own_time_ns"].items():
        inside = sum(end - low for low, end in times[rank][1]["exchange"])
        assert own == step.windows.loc[rank, "duration_ns"] - round(1000 * inside)


def test_clocks_that_disagree_leave_what_needs_no_clock(load):
    """One exchange a step and one step: nothing tells a clock from an exchange that ends late."""
    documents = on_device(simulated(2, 1, 1, slow={(1, 0, 0): 300}))
    step = load(on_clocks(documents, {1: 5_000_000})).step()
    assert step.clash is not None
    assert step.own_time["late_ns"].isna().all()
    table = step.slowest
    assert table["rank"].isna().to_dict()["last_to_arrive"]
    for question in ("slowest_to_first_collective", "most_own_time"):
        assert table.loc[question, "rank"] == 1
        assert table.loc[question, "excess"] == 300_000
    assert "clocks" in table.loc["last_to_arrive", "sentence"]


def test_one_rank_alone_is_not_called_slow(load):
    documents = on_device(simulated(2, 2, 2))
    step = load({0: documents[0]}).step(2)
    assert step.slowest["rank"].isna().all()
    assert step.slowest["sentence"].str.len().gt(0).all()
    assert step.own_time.columns[1:3].tolist() == ["→ #0", "→ #1"]


def test_a_skew_below_what_clocks_tell_names_nobody(load):
    """Arrivals 1 µs apart where ends scatter by 40: who was last cannot be told."""
    times = simulated(2, 4, 4, slow={(1, s, b): 1 for s in range(4) for b in range(4)},
                      blocking=True, end_skew=40)  # fmt: skip
    table = load(on_device(times)).step(3).collectives
    assert (table["skew_ns"] < 100_000).all()
    near = table["skew_ns"] <= 2_000
    assert table.loc[near, "last_rank"].isna().all()


def test_an_odd_step_is_not_taken_for_the_run(load):
    slow = {(0, 3, 0): 3000}
    run = load(on_device(simulated(2, 8, 3, slow=slow)))
    steps = run.steps
    assert steps.index[steps["odd"]].tolist() == [4]
    assert steps.loc[4, "ratio"] > 2
    assert run.step().number != 4
    assert "odd step among 7: 4 (" in run.spread.loc["steps", "sentence"]
    usual = steps["duration_ns"].drop(1)
    assert run.spread.loc["steps", "median"] == round(np.median(usual))
    assert run.spread.loc[4, "count"] == 2


def test_bus_bandwidth_is_what_nccl_tests_say(load):
    """4 ranks reduce 4,000,000 bytes in 100 µs: 40 GB/s · 2·3/4 = 60."""
    times = simulated(4, 2, 1, slow={(1, 1, 0): 50})
    table = load(on_device(times, elements=1_000_000)).step(2).collectives
    assert table["transfer_ns"].tolist() == [100_000]
    assert table["bytes"].tolist() == [4_000_000]
    assert table["bus_gbps"].tolist() == pytest.approx([60.0])


def covered(spans, low, high):
    """Return the microseconds of a window in which a span is, by trying every half of one."""
    return {x for a, b in spans for x in range(int(max(2 * a, 2 * low)), int(min(2 * b, 2 * high)))}


def test_kernels_of_no_known_pass_compute_too(load):
    """Nothing says forward or backward here, as in traces of the device alone."""
    times = simulated(4, 3, 3, slow={(2, step, 1): 800 for step in range(3)})
    documents = on_device(times)
    for trace in documents.values():
        trace["traceEvents"] = [
            event for event in trace["traceEvents"] if event["name"] not in ("forward", "backward")
        ]
    step = load(documents).step(2)
    table = step.breakdown("ns")
    assert table.loc["other"].tolist() == [1_200_000, 1_200_000, 2_000_000, 1_200_000]
    for rank, steps in times.items():
        low, high = steps[0]["update"][1], steps[1]["update"][1]
        moving = covered(steps[1]["exchange"], low, high)
        exposed = 500 * len(moving - covered(steps[1]["work"], low, high))
        assert step.exposed(unit="ns")[rank] == exposed
        assert table.loc[["exchange", "wait"], rank].sum() == exposed
        assert table[rank].sum() == (high - low) * 1000
    assert step.slowest.loc["most_own_time", "rank"] == 2
    assert step.slowest.loc["most_own_time", "excess"] == pytest.approx(800_000, rel=0.05)


def test_of_two_ranks_the_other_one_is_named(load):
    run = load(on_device(simulated(2, 3, 2, slow={(1, step, 0): 900 for step in range(3)})))
    assert run.step(2).slowest.loc["most_own_time", "sentence"].endswith("more than rank 0")


def test_kernels_without_any_launch_are_no_silence(load):
    """As where the device alone was recorded; the markers are all that the host shows."""
    documents = {}
    for rank, length in ((0, 400), (1, 700)):
        events = []
        for number in range(3):
            at = 2000 * number
            events += [note(f"ProfilerStep#{number}", at, 2000),
                       kernel("gemm", at + 100, length, -1),
                       *collective("allreduce", 0, at + 100 + length, 1000 - length, -1)[1:],
                       kernel("gemm", at + 1200, 500, -1)]  # fmt: skip
            for event in events:
                event["args"].pop("correlation", None)
        documents[rank] = document(rank, events)
    step = load(documents).step(1)
    assert (step.windows["window"] == "host").all()
    table = step.breakdown("ns")
    assert table.loc["other"].tolist() == [900_000, 1_200_000]
    assert table.loc["exchange"].tolist() == [300_000, 300_000]
    assert table.loc["wait"].tolist() == [300_000, 0]
    assert table.loc["unexplained"].tolist() == [500_000, 500_000]
    assert step.exposed(unit="ns").tolist() == [600_000, 300_000]
    assert step.slowest.loc["most_own_time", "excess"] == 300_000
    assert step.timeline().schedule().completion == 2.0
