"""Every answer about a step against a machine that ran it, and ran it again with each change.

The machine's times are the truth: who came when, what each wait was, what a change really gives.
"""

from __future__ import annotations

import random
from functools import partial

import pandas as pd
import pytest

import stepviz as sv
from tests.traces.machine import Rank
from tests.traces.machine_programs import (
    ddp,
    experts,
    experts_in_groups,
    fsdp,
    gloo,
    one_forward_one_backward,
    pipeline,
    tensor_parallel,
)
from tests.traces.many_ranks import on_clocks

STEP = 2

PROGRAMS = {
    "ddp": ddp,
    "ddp, a slow rank": partial(ddp, slow={1: 1.4}),
    "ddp, accumulating": partial(ddp, microbatches=3),
    "ddp, a loss read in each step": partial(ddp, item=True),
    "ddp, a slow loader": partial(ddp, loader=1500, item=True),
    "ddp, graphs": partial(ddp, graph=True),
    "ddp, buffers": partial(ddp, buffers=True),
    "ddp, its host behind": partial(ddp, host_slow={0: 60, 1: 60, 2: 80}),
    "fsdp, its waits recorded": partial(fsdp, syncs=True),
    "pipeline": pipeline,
    "tensor parallel": partial(tensor_parallel, slow={2: 1.2}),
    "one forward, one backward": one_forward_one_backward,
    "experts": experts,
    "experts in groups": partial(experts_in_groups, slow={3: 1.3}),
}


def _of(*kinds, factor):
    return lambda node: factor if node.kind in kinds else 1


CHANGES = [
    ({"kind": kind, "factor": factor}, _of(kind, factor=factor))
    for kind, factor in [
        ("forward", 0.5),
        ("forward", 2),
        ("backward", 0.5),
        ("backward", 1.5),
        ("optimizer", 3),
        ("exchange", 0),
        ("exchange", 2),
    ]
]


def _own(rank, factor):
    return lambda node: factor if node.rank == rank and node.kind != "exchange" else 1


def _united(spans, low, high):
    """Return spans within bounds, in order and apart."""
    found = []
    for start, finish in sorted((max(a, low), min(b, high)) for a, b in spans):
        if found and start <= found[-1][1]:
            found[-1][1] = max(found[-1][1], finish)
        elif finish > start:
            found.append([start, finish])
    return found


def _covered(spans, low, high):
    return sum(finish - start for start, finish in _united(spans, low, high))


def _kernels(machine, rank, kinds):
    rows = [row for row in machine.ranks[rank].rows if row[0] == "kernel"]
    return [(row[4].start, row[4].end) for row in rows if row[4].kind in kinds]


def _parts(machine, rank):
    parts = [of[rank] for of in machine.parts.values() if rank in of]
    return [(node.start, node.end) for node in parts if node.step == STEP]


@pytest.fixture(params=[(name, seed) for name in PROGRAMS for seed in (0, 1)], ids=str)
def ran(request, load):
    """Return the machine and the step as it was read."""
    name, seed = request.param
    machine = PROGRAMS[name](seed)
    return machine, load(machine.documents()).step(STEP)


def test_a_step_is_where_and_as_long_as_it_was(ran):
    machine, step = ran
    for rank, (low, high) in machine.windows(STEP).items():
        assert step.windows.loc[rank, "duration_ns"] == high - low
    assert step.clash is None
    assert len(step.unmatched) == 0
    assert step.completion_ns == machine.completion(STEP)
    for level in ("fine", "coarse"):
        assert step.replay(level).completion_ns == step.completion_ns
        path = step.path(level)
        assert path["duration_ns"].sum() == step.completion_ns
        assert (path["start_ns"].iloc[1:].to_numpy() == path["finish_ns"].iloc[:-1]).all()
    assert step.replay().largest_error_ns == 0
    assert step.timeline().schedule().completion * 1e6 == pytest.approx(step.completion_ns)


def test_who_came_first_and_last_and_what_was_waited(ran):
    machine, step = ran
    windows, truth = machine.windows(STEP), []
    for key, parts in machine.parts.items():
        if next(iter(parts.values())).step != STEP:
            continue
        came = {rank: max(node.start, windows[rank][0]) for rank, node in parts.items()}
        first, last = min(came.values()), max(came.values())
        truth.append((
            last, len(parts),
            *([rank for rank, at in came.items() if at == when] for when in (first, last)),
            last - first, machine.transfers[key].ns, sum(last - at for at in came.values()),
        ))  # fmt: skip
    found = [
        (row.ranks, row.first_rank, row.last_rank, row.skew_ns, row.transfer_ns, row.wait_ns)
        for row in step.collectives.itertuples()
    ]
    assert len(found) == len(truth)
    for got, (_, count, first, last, *lengths) in zip(found, sorted(truth), strict=True):
        assert (got[0], *got[3:]) == (count, *lengths)
        for said, really in zip(got[1:3], (first, last), strict=True):
            # Two that tie, or are closer than clocks can tell, are no first and no last.
            assert (said in really) if said is not pd.NA else (len(really) > 1 or got[3] <= 2000)


def test_where_a_rank_spends_its_step(ran):
    machine, step = ran
    table = step.breakdown(unit="ns")
    for rank, window in machine.windows(STEP).items():
        assert table[rank].sum() == window[1] - window[0]
        compute = _kernels(machine, rank, ("forward", "backward"))
        exchange = _parts(machine, rank)
        for kind in ("forward", "backward"):
            assert table.loc[kind, rank] == _covered(_kernels(machine, rank, [kind]), *window)
        exposed = _covered(compute + exchange, *window) - _covered(compute, *window)
        assert step.exposed(unit="ns")[rank] == exposed
        assert table.loc["exchange", rank] + table.loc["wait", rank] == exposed


def test_changes_give_what_they_are_said_to(ran):
    machine, step = ran
    owns = [(rank, factor) for rank in step.ranks for factor in (0.5, 1.5)]
    changes = CHANGES + [({"rank": r, "own_time": f}, _own(r, f)) for r, f in owns]
    for change, really in changes:
        expected = machine.completion(STEP, really)
        answer = step.what_if(**change).completion_ns
        # Lags of a few µs stay as they were; so does what no row says.
        assert answer == pytest.approx(expected, abs=0.003 * step.completion_ns), change


@pytest.mark.parametrize("seed", range(4))
def test_what_is_fetched_ahead_holds_nothing_before_its_turn(seed, load):
    # Calls that make a stream wait name neither stream nor event, so this is inferred.
    machine = fsdp(seed, layers=10)
    step = load(machine.documents()).step(STEP)
    off = []
    for change, really in CHANGES:
        expected = machine.completion(STEP, really)
        off.append(abs(step.what_if(**change).completion_ns - expected) / step.completion_ns)
    assert max(off) < 0.03
    assert sorted(off)[len(off) // 2] < 0.001


@pytest.mark.parametrize("seed", [0, 3])
def test_of_two_streams_that_end_together_one_is_waited_for(seed, load, monkeypatch):
    # Ends that lie a few µs apart by chance: what others of the name wait for tells which it is.
    chosen = random.Random(1)  # no secret
    device = Rank._device

    def later(self, *given, **options):
        node = device(self, *given, **options)
        node.after = [
            (other, edge, lag + chosen.randint(0, 4000)) for other, edge, lag in node.after
        ]
        node.holds = [(other, edge, chosen.randint(0, 6000)) for other, edge, _ in node.holds]
        return node

    monkeypatch.setattr(Rank, "_device", later)
    machine = tensor_parallel(seed, tensor=4, data=2, layers=5)
    step = load(machine.documents()).step(STEP)
    owns = [({"rank": r, "own_time": f}, _own(r, f)) for r in step.ranks for f in (0.5, 1.5)]
    for change, really in CHANGES + owns:
        expected = machine.completion(STEP, really)
        answer = step.what_if(**change).completion_ns
        assert answer == pytest.approx(expected, abs=0.006 * step.completion_ns), change


SLOW = [
    (partial(ddp, ranks=4), {"slow": {1: 1.5}}),
    (partial(ddp, ranks=4), {"host_slow": {0: 60, 1: 90, 2: 60, 3: 60}}),
    (partial(ddp, ranks=4, loader=300, item=True), {"host_slow": {1: 20}}),
    (partial(ddp, ranks=4, loader=300), {"host_slow": {1: 20}}),
    (fsdp, {"slow": {2: 1.4}}),
    (experts, {"slow": {0: 1.5}}),
]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("program", "slow"), SLOW)
def test_without_the_slow_rank_a_step_takes_what_it_would(program, slow, seed, load):
    usual = {what: dict.fromkeys(by, min(by.values())) for what, by in slow.items()}
    usual = {} if len(next(iter(slow.values()))) == 1 else usual
    machine, without = program(seed, alike=True, **slow), program(seed, alike=True, **usual)
    step = load(machine.documents()).step(STEP)
    (by,) = slow.values()
    planted = max(by, key=by.get)
    assert step.slowest.loc["most_own_time", "rank"] == planted
    gain = machine.completion(STEP) - without.completion(STEP)
    assert step.no_stragglers().gain_ns == pytest.approx(gain, rel=0.08)


def test_several_clocks_are_off_and_drift_at_once(load):
    machine = tensor_parallel(2, steps=5, slow={2: 1.3})
    true = load(machine.documents()).step(3)
    ahead, drift = {1: 10**9, 2: -3_141_592, 3: 77_000}, {1: 40, 3: -25}
    run = load(on_clocks(machine.documents(), ahead, drift))
    step = run.step(3)
    assert run.clock["moved"].tolist()[1:] == [True, True, True]
    assert step.completion_ns == pytest.approx(true.completion_ns, abs=3_000)
    assert step.collectives["last_rank"].equals(true.collectives["last_rank"])
    assert step.slowest["rank"].equals(true.slowest["rank"])
    for name in ("skew_ns", "wait_ns", "transfer_ns"):
        apart = (step.collectives[name] - true.collectives[name]).abs()
        assert apart.max() < 6_000


def test_a_rank_is_not_slow_for_an_exchange_that_its_file_lacks(load):
    machine = ddp(1, slow={1: 1.3})
    documents = machine.documents()
    rows = documents[2]["traceEvents"]
    exchanges = [row for row in rows if row["cat"] == "kernel" and "Seq" in row["args"]]
    longest = max(exchanges[4:8], key=lambda row: row["dur"])
    documents[2]["traceEvents"] = [row for row in rows if row is not longest]
    step = load(documents).step(STEP)
    rank, said = step.slowest["rank"], step.slowest["sentence"]
    assert rank["last_to_arrive"] is pd.NA or rank["last_to_arrive"] == 1
    # It waited in the one that is lost, and that was its first.
    assert rank["slowest_to_first_collective"] is pd.NA
    assert rank["most_own_time"] is pd.NA
    assert "rank 2" in said["most_own_time"]
    assert "3 of the 4" in said["most_own_time"]
    # What the others show is as it was.
    assert step.completion_ns == machine.completion(STEP)


def test_nobody_is_slow_where_ends_of_sends_are_lost(load):
    machine = one_forward_one_backward(1)
    documents = machine.documents()
    low, high = machine.windows(STEP)[2]
    rows = documents[2]["traceEvents"]
    sends = [row for row in rows if "Dst Rank" in row["args"] and row["cat"] == "kernel"]
    lost = [row for row in sends if low < 1000 * row["ts"] < high][:3]
    documents[2]["traceEvents"] = [row for row in rows if row not in lost]
    most = load(documents).step(STEP).slowest.loc["most_own_time"]
    assert most["rank"] is pd.NA
    assert "lack their other end" in most["sentence"]


def test_kernels_that_were_launched_and_are_not_there_are_counted(load):
    machine = ddp(1)
    documents = machine.documents()
    assert not [n for n in load(documents).step(STEP).notes if "launched" in n]
    low, high = machine.windows(STEP)[1]
    rows = documents[1]["traceEvents"]
    lost = [row for row in rows if row["name"] == "gemm" and low < 1000 * row["ts"] < high][:2]
    documents[1]["traceEvents"] = [row for row in rows if row not in lost]
    (note,) = [n for n in load(documents).step(STEP).notes if "launched" in n]
    assert "2 of 13 on rank 1" in note


def test_a_rank_whose_file_lost_the_devices_last_step_is_left_out_of_it(load):
    machine = ddp(1, slow={1: 1.3})
    documents = machine.documents()
    rows = documents[1]["traceEvents"]
    end = (machine.ends(3)[1]) / 1000
    documents[1]["traceEvents"] = [
        row for row in rows if row["cat"] != "kernel" or row["ts"] + row["dur"] <= end
    ]
    run = load(documents)
    assert run.clash is None
    assert run.steps["ranks"].tolist() == [3, 3, 3, 2]
    (low, high), (other_low, other_high) = (machine.windows(4)[rank] for rank in (0, 2))
    step = run.step(4)
    assert step.ranks == [0, 2]
    assert step.completion_ns == max(high, other_high) - min(low, other_low)
    assert any("without its device's work: 1" in note for note in step.notes)
    assert run.step(3).completion_ns == machine.completion(3)


@pytest.mark.parametrize("seed", range(3))
def test_one_exchange_that_is_dragged_holds_up_what_its_stream_serves_next(seed, load):
    machine = tensor_parallel(seed)
    documents = machine.documents()
    for document in documents.values():
        for event in document["traceEvents"]:
            # Groups of one dimension of a mesh have one description.
            if "Process Group Name" in event["args"]:
                inner = event["args"]["Process Group Name"].startswith("t")
                event["args"]["Process Group Description"] = "mesh_tp" if inner else "mesh_dp"
    step = load(documents).step(STEP)
    timeline, low = step.timeline(), machine.windows(STEP)
    came = {
        key: max(max(node.start, low[rank][0]) for rank, node in parts.items())
        for key, parts in machine.parts.items()
        if next(iter(parts.values())).step == STEP
    }
    for name, key in zip(step.collectives["name"], sorted(came, key=came.get), strict=True):
        dragged = machine.transfers[key]
        really = machine.completion(STEP, lambda node, longer=dragged: 20 if node is longer else 1)
        found = timeline.apply(sv.scale(name, factor=20)).schedule().completion * 1e6
        assert found == pytest.approx(really, abs=0.002 * step.completion_ns)
        assert step.what_if(name=name, factor=20).completion_ns == really


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("step", "part"), [(0, 0.0), (1, 0.9), (2, 0.5), (4, 0.9)])
def test_a_file_that_was_cut_off_costs_that_rank_alone(step, part, seed, load):
    machine = ddp(seed, ranks=4, steps=6, slow={1: 1.3})
    documents = on_clocks(machine.documents(), {3: 5_000_000})
    low, high = machine.windows(step)[0] if step else (0, 0)
    cut = (low + part * (high - low)) / 1000
    documents[0]["traceEvents"] = [
        row for row in documents[0]["traceEvents"] if row["cat"] != "kernel" or row["ts"] < cut
    ]
    run = load(documents)
    assert run.clash is None
    assert run.clock.loc[3, "moved"]
    assert run.clock.loc[3, "offset_ns"] == 5_000_000
    assert run.steps["ranks"].tolist() == [4] * step + [3] * (6 - step)
    for number in range(1, 7):
        assert run.step(number).ranks == ([0] if number <= step else []) + [1, 2, 3]
    for number in range(1, step):
        assert (run.step(number).collectives["ranks"] == 4).all()
        if number > 1:
            assert run.step(number).completion_ns == machine.completion(number)


@pytest.mark.parametrize("seed", range(3))
def test_over_gloo_the_thread_that_exchanges_is_where_the_wait_is(seed, load):
    machine = gloo(seed, slow={1: 1.3})
    step = load(machine.documents()).step(STEP)
    began = {
        rank: min(n.start for n in machine.nodes if n.rank == rank and n.step == STEP)
        for rank in step.ranks
    }

    def completion(change):
        known = machine.solve(lambda n: round(n.ns * change(n)) if n.step >= STEP else n.ns)
        return max(machine.ends(STEP, known).values()) - min(began.values())

    assert step.completion_ns == completion(lambda node: 1)
    came = [parts for parts in machine.parts.values() if parts[0].step == STEP]
    for row, parts in zip(step.collectives.itertuples(), came, strict=True):
        at = {rank: node.start for rank, node in parts.items()}
        assert row.wait_ns == sum(max(at.values()) - came for came in at.values())
        assert row.skew_ns == max(at.values()) - min(at.values())
    for change, really in [*CHANGES, ({"rank": 1, "own_time": 0.7}, _own(1, 0.7))]:
        answer = step.what_if(**change).completion_ns
        assert answer == pytest.approx(completion(really), abs=0.005 * step.completion_ns)
