"""Which exchanges of several ranks are one: by sequence number, by order, by size, by pair."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stepviz as sv
from stepviz.traces.joining.exchanges import _take
from tests.traces.columns import frame_of, matched
from tests.traces.many_ranks import on_device, simulated


def numbers(found, rank):
    """Return which exchange each row of a rank belongs to."""
    return found.exchange[found.rows(rank)].tolist()


def together(found, *ranks):
    """Return for each exchange its place on each rank, as sets of (rank, row)."""
    members = {}
    for rank in ranks:
        for at, number in enumerate(numbers(found, rank)):
            members.setdefault(number, set()).add((rank, at))
    members.pop(-1, None)
    return sorted(map(sorted, members.values()))


def why(found, rank):
    """Return why rows of a rank stay local."""
    return {found.reasons[k] for k in found.why[found.rows(rank)] if k >= 0}


def rows(count, **shared):
    """Return rows one after the other."""
    return [{"arrival_ns": 10 * k, "finish_ns": 10 * k + 5, **shared} for k in range(count)]


def test_in_order_of_each_name():
    first = [{**row, "collective": c} for row, c in zip(rows(4), "abab", strict=True)]
    second = [{**row, "collective": c} for row, c in zip(rows(4), "aabb", strict=True)]
    found = matched({0: frame_of(first), 1: frame_of(second)})
    assert together(found, 0, 1) == [
        [(0, 0), (1, 0)], [(0, 1), (1, 2)], [(0, 2), (1, 1)], [(0, 3), (1, 3)],
    ]  # fmt: skip


def test_sequence_numbers_tell_what_was_not_recorded():
    """Rank 1's profiler began one exchange later and ended one later."""
    first = [{**row, "sequence": 10 + k} for k, row in enumerate(rows(6))]
    second = [{**row, "sequence": 11 + k} for k, row in enumerate(rows(5))]
    found = matched({0: frame_of(first), 1: frame_of(second)})
    assert numbers(found, 0)[1:] == numbers(found, 1)
    assert numbers(found, 0)[0] == -1
    assert why(found, 0) == {"its sequence number is not on every rank of its group"}


def test_sequence_numbers_of_the_process_are_not_those_of_the_group():
    """pytorch 191990: rank 1 is in another group too, so it counts further; order still tells."""
    first = [{**row, "sequence": k} for k, row in enumerate(rows(4))]
    second = [{**row, "sequence": 1 + k} for k, row in enumerate(rows(4))]
    found = matched({0: frame_of(first), 1: frame_of(second)})
    assert numbers(found, 0) == numbers(found, 1)
    assert min(numbers(found, 0)) >= 0


def test_sequence_numbers_with_other_names_are_not_believed():
    first = [{**row, "sequence": k, "collective": c} for k, (row, c) in
             enumerate(zip(rows(4), "abab", strict=True))]  # fmt: skip
    second = [{**row, "sequence": k, "collective": c} for k, (row, c) in
              enumerate(zip(rows(4), "aabb", strict=True))]  # fmt: skip
    found = matched({0: frame_of(first), 1: frame_of(second)})
    assert [(0, 1), (1, 2)] in together(found, 0, 1)


def test_groups_are_known_by_their_members_not_by_their_names():
    """Each rank calls its pair by another name; rows name the ranks."""
    frames = {
        rank: frame_of(rows(3, group=f"pair {rank}", members=(0, 1) if rank < 2 else (2, 3)))
        for rank in range(4)
    }
    found = matched(frames, world=4)
    assert numbers(found, 0) == numbers(found, 1)
    assert numbers(found, 2) == numbers(found, 3)
    assert not set(numbers(found, 0)) & set(numbers(found, 2))


def test_two_groups_of_the_same_ranks_stay_apart():
    """Names are compared as numbers: group 9 was made before group 10."""

    def of(names):
        return frame_of([{"arrival_ns": 10 * k, "finish_ns": 10 * k + 5, "group": name,
                          "members": (0, 1)} for k, name in enumerate(names)])  # fmt: skip

    found = matched({0: of(["9", "10", "9"]), 1: of(["10", "9", "9"])})
    assert together(found, 0, 1) == [[(0, 0), (1, 1)], [(0, 1), (1, 0)], [(0, 2), (1, 2)]]


def test_sizes_match_where_order_does_not():
    """Two threads of gloo start buckets in another order."""
    first = [{**row, "elements": n} for row, n in zip(rows(3), (5, 7, 9), strict=True)]
    second = [{**row, "elements": n} for row, n in zip(rows(3), (7, 5, 9), strict=True)]
    found = matched({0: frame_of(first), 1: frame_of(second)})
    assert together(found, 0, 1) == [[(0, 0), (1, 1)], [(0, 1), (1, 0)], [(0, 2), (1, 2)]]


def test_sizes_that_differ_are_said():
    first = [{**row, "elements": n} for row, n in zip(rows(2), (5, 7), strict=True)]
    second = [{**row, "elements": n} for row, n in zip(rows(2), (5, 8), strict=True)]
    found = matched({0: frame_of(first), 1: frame_of(second)})
    assert why(found, 1) == {"the ranks differ in the size of number 1: [7, 8] elements"}
    # Parts of an all-to-all may be unequal.
    uneven = {
        rank: frame_of([{**row, "collective": "all-to-all"} for row in part])
        for rank, part in enumerate((first, second))
    }
    assert numbers(matched(uneven), 0) == numbers(matched(uneven), 1)


def test_counts_are_checked_in_each_step():
    first = [{**row, "place": k // 2} for k, row in enumerate(rows(6))]
    second = [{**row, "place": k // 2} for k, row in enumerate(rows(5))]
    found = matched({0: frame_of(first), 1: frame_of(second)}, steps=(1, 2, 3))
    assert numbers(found, 0)[:4] == numbers(found, 1)[:4]
    assert numbers(found, 0)[4:] == [-1, -1]
    assert why(found, 0) == {"the ranks differ in how many they show: 2 on rank 0, 1 on rank 1"}


def test_what_belongs_to_no_step_needs_a_number():
    outside = rows(2, place=-2)
    found = matched({0: frame_of(outside), 1: frame_of(outside)})
    assert numbers(found, 0) == [-1, -1]
    numbered = [{**row, "sequence": k} for k, row in enumerate(outside)]
    found = matched({0: frame_of(numbered), 1: frame_of(numbered)})
    assert numbers(found, 0) == numbers(found, 1) != [-1, -1]


def test_a_group_that_is_not_all_here_stays_local():
    frames = {rank: frame_of(rows(2, members=(0, 1, 2, 3))) for rank in (0, 1)}
    found = matched(frames)
    assert numbers(found, 0) == [-1, -1]
    assert why(found, 0) == {"ranks 2, 3 of its group are not in this run, so its wait is unknown"}


def test_ranks_numbered_within_their_group_are_not_believed():
    """Rank 5 cannot be in a group of ranks 0 and 1."""
    frames = {rank: frame_of(rows(2, members=(0, 1), group_size=2)) for rank in (4, 5)}
    assert numbers(matched(frames, world=8), 4) == numbers(matched(frames, world=8), 5)


def test_sends_meet_their_receives():
    send = {"collective": "send", "elements": 8}
    recv = {"collective": "recv", "elements": 8}
    frames = {
        0: frame_of([{"arrival_ns": 0, "finish_ns": 9, **send, "peer": 1},
                     {"arrival_ns": 20, "finish_ns": 29, **recv, "peer": 1},
                     {"arrival_ns": 30, "finish_ns": 39, **send, "peer": 7}]),
        1: frame_of([{"arrival_ns": 5, "finish_ns": 9, **recv, "peer": 0},
                     {"arrival_ns": 15, "finish_ns": 29, **send, "peer": 0},
                     {"arrival_ns": 40, "finish_ns": 49, **send, "peer": -1}]),
    }  # fmt: skip
    found = matched(frames, world=2)
    assert together(found, 0, 1) == [[(0, 0), (1, 0)], [(0, 1), (1, 1)]]
    assert why(found, 0) == {"rank 7, at the other end, is not in this run, so its wait is unknown"}
    assert why(found, 1) == {"sent between two ranks, and the file does not say which"}


def test_sends_without_as_many_receives_stay_local():
    frames = {
        0: frame_of(rows(2, collective="send", peer=1)),
        1: frame_of(rows(1, collective="recv", peer=0)),
    }
    found = matched(frames, world=2)
    assert numbers(found, 0) == [-1, -1]
    assert why(found, 1) == {"2 sends and 1 receives of two ranks"}


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_planted_match_is_found(data):
    """Exchanges of crossing groups, in steps, some with sizes; times are each rank's own."""
    world = data.draw(st.integers(2, 5))
    groups = [tuple(range(world)), *data.draw(
        st.lists(st.sets(st.integers(0, world - 1), min_size=2).map(lambda s: tuple(sorted(s))),
                 max_size=2, unique=True))]  # fmt: skip
    groups = list(dict.fromkeys(groups))
    numbered = data.draw(st.booleans())
    lines = {rank: [] for rank in range(world)}
    sequence = dict.fromkeys(groups, 0)
    for number in range(data.draw(st.integers(1, 12))):
        group = data.draw(st.sampled_from(groups))
        name = data.draw(st.sampled_from(["all-reduce", "all-gather"]))
        size = data.draw(st.sampled_from([-1, 4, 8]))
        for rank in group:
            at = 100 * len(lines[rank]) + data.draw(st.integers(0, 50))
            lines[rank].append({
                "arrival_ns": at, "finish_ns": at + 10, "collective": name, "elements": size,
                "members": group, "group": str(groups.index(group)), "place": number // 4,
                "sequence": sequence[group] if numbered else -1, "bytes": number,
            })  # fmt: skip
        sequence[group] += 1
    frames = {rank: frame_of(line) for rank, line in lines.items()}
    found = matched(frames, steps=(1, 2, 3))
    planted = {}
    for rank, frame in frames.items():
        for number, told in zip(numbers(found, rank), frame["bytes"], strict=True):
            assert number >= 0
            assert planted.setdefault(number, told) == told
    assert len(set(planted.values())) == len(planted)


def test_a_run_matches_over_all_its_steps(write_trace):
    times = simulated(3, 4, 3)
    for rank, trace in on_device(times, names={0: "0", 1: "7", 2: "default_pg"}).items():
        path = write_trace(f"rank{rank}.json", trace)
    run = sv.load_run(path.parent)
    for number in run.steps.index:
        step = run.step(number)
        assert step.unmatched.empty
        table = step.collectives
        assert table["ranks"].tolist() == [3, 3, 3]
        expected = [max(times[r][number - 1]["exchange"][k][0] for r in times) for k in range(3)]
        waited = [
            sum(last - times[r][number - 1]["exchange"][k][0] for r in times)
            for k, last in enumerate(expected)
        ]
        assert table["wait_ns"].tolist() == [round(1000 * us) for us in waited]
    assert int((run.clock["collectives"] == 12).sum()) == 3


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_run_without_exchange(ranks, write_trace):
    times = simulated(ranks, 2, 1)
    for rank, trace in on_device(times).items():
        trace["traceEvents"] = [e for e in trace["traceEvents"] if "nccl" not in e["name"]]
        path = write_trace(f"rank{rank}.json", trace)
    run = sv.load_run(path.parent)
    assert run.step(2).collectives.empty
    assert (run.clock["collectives"] == 0).all()
    assert run.clock["offset_ns"].isna().all()
    assert np.isfinite(run.step(2).own_time["own_time_ns"].astype(float)).all()


def test_a_gathers_launch_may_say_the_whole_where_its_row_says_a_part():
    start, elements = np.array([10, 20]), {0: 400, 1: 100}
    assert _take(deque([0]), start, 1, elements, parts=True) == 0
    assert _take(deque([0]), start, 1, elements, parts=False) == -1
    assert _take(deque([0]), start, 1, {0: 410, 1: 100}, parts=True) == -1
    assert _take(deque([1]), start, 0, elements, parts=True) == -1  # launched later
