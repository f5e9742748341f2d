"""Exposed time, overlap and breakdown against counting instants one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stepviz as sv
from stepviz.core import intervals
from stepviz.core.vocabulary import COMPUTE
from tests.core.strategies import timelines

SPANS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)).map(sorted), max_size=8).map(
    lambda pairs: np.array(pairs, dtype=np.int64).reshape(-1, 2)
)


def _covered(spans: np.ndarray) -> set[int]:
    return {x for a, b in spans for x in range(a, b)}


@given(SPANS, SPANS)
def test_interval_arithmetic_equals_sets_of_instants(a: np.ndarray, b: np.ndarray) -> None:
    ua, ub = intervals.union(a), intervals.union(b)
    assert _covered(ua) == _covered(a)
    assert intervals.total(ua) == len(_covered(a))
    assert (ua[1:, 0] > ua[:-1, 1]).all()
    both, only = intervals.intersect(ua, ub), intervals.subtract(ua, ub)
    assert _covered(both) == _covered(a) & _covered(b)
    assert _covered(only) == _covered(a) - _covered(b)
    assert intervals.total(both) + intervals.total(only) == intervals.total(ua)
    assert _covered(intervals.clip(ua, 5, 20)) == {x for x in _covered(a) if 5 <= x < 20}


def test_intervals_keep_nanoseconds_exact() -> None:
    base = 1_790_857_026_000_000_000
    a = np.array([[base, base + 1], [base + 2, base + 1_000_003]], dtype=np.int64)
    assert intervals.total(intervals.union(a)) == 1_000_002


@given(timelines())
def test_breakdown_adds_up_and_agrees_with_counting(timeline: sv.Timeline) -> None:
    schedule = timeline.schedule()
    breakdown = schedule.breakdown()
    np.testing.assert_allclose(breakdown.sum(), timeline.completion, atol=1e-9, rtol=1e-12)
    assert (breakdown >= 0).all().all()
    table, phases = schedule.table, timeline.phases
    # By counting, on ranks of which no group runs compute or optimizer (a group's wait is below).
    table, phases = schedule.table, timeline.phases
    grouped = {
        rank
        for kind, members in zip(phases["kind"], phases["members"], strict=True)
        if members is not None and kind in (*COMPUTE, "optimizer")
        for rank in members
    }
    edges = np.unique(np.concatenate((table["start"], table["finish"])))
    edges = np.unique(np.clip(edges, 0, timeline.completion))  # with a target, work may go on
    middle, width = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    for rank in set(timeline.ranks) - grouped:

        def running(kinds: tuple[str, ...], on: int = rank) -> np.ndarray:
            rows = table[phases["kind"].isin(kinds) & (phases["rank"].fillna(-1) == on)]
            start, finish = rows["start"].to_numpy()[:, None], rows["finish"].to_numpy()[:, None]
            return ((start <= middle) & (middle < finish)).any(axis=0)

        both = running(("optimizer",)) & running(COMPUTE)
        alone = running(("optimizer",)) & ~running(COMPUTE)
        exposed = schedule.exposed("optimizer")[rank]
        assert exposed == pytest.approx(width[alone].sum(), abs=1e-6)
        hidden = schedule.overlap("optimizer", "backward")[rank]
        assert hidden <= width[both].sum() + 1e-6


def test_lesson_measures() -> None:
    schedule = sv.lesson().schedule()
    assert schedule.exposed("exchange").tolist() == [50.0]
    assert schedule.overlap("exchange", "backward").tolist() == [300.0]
    assert schedule.overlap("backward", "exchange").tolist() == [300.0]
    assert (schedule.plain_sum, schedule.plain_maximum) == (1050.0, 600.0)
    parts = schedule.breakdown()[0]
    assert parts[parts > 0].to_dict() == {
        "forward": 200.0, "backward": 400.0, "exchange": 50.0, "optimizer": 100.0
    }  # fmt: skip


def test_a_collective_waits_for_its_last_member_and_is_exposed_from_arrival() -> None:
    """Rank 0 arrives at 10, rank 1 at 16; the transfer takes 4: wait 6 and 0, exposed 10 and 4."""
    step = sv.Timeline(
        [
            {"phase": "b0", "kind": "backward", "rank": 0, "duration": 10},
            {"phase": "b1", "kind": "backward", "rank": 1, "duration": 16},
            {"phase": "reduce", "kind": "exchange", "members": [0, 1], "duration": 4},
            {"phase": "o0", "kind": "optimizer", "rank": 0, "duration": 2},
            {"phase": "o1", "kind": "optimizer", "rank": 1, "duration": 3},
        ],
        [("b0", "reduce"), ("b1", "reduce"), ("reduce", "o0"), ("reduce", "o1")],
    )
    schedule = step.schedule()
    assert schedule.completion == 23.0
    assert schedule.exposed("exchange").to_dict() == {0: 10.0, 1: 4.0}
    breakdown = schedule.breakdown()
    assert breakdown.loc["wait"].to_dict() == {0: 6.0, 1: 0.0}
    assert breakdown.loc["exchange"].to_dict() == {0: 4.0, 1: 4.0}
    assert breakdown.loc["idle"].to_dict() == {0: 1.0, 1: 0.0}
    # One edit moves it for both; the wait is a gap, so it shrinks with the late rank.
    sooner = step.with_duration("b1", 12).schedule()
    assert sooner.completion == 19.0
    assert sooner.breakdown().loc["wait"].to_dict() == {0: 2.0, 1: 0.0}


def test_explain_says_what_holds_a_phase() -> None:
    schedule = sv.lesson("ss-ff").schedule()
    assert schedule.explain("exchange") == (
        "exchange starts at 300 ms, when backward has started + 100 ms (SS, assumed)"
    )
    shorter = sv.lesson("ss-ff").with_duration("exchange", 325).schedule()
    assert "backward has finished + 50 ms (FF, assumed, which holds its finish)" in (
        shorter.explain("exchange")
    )
    assert "nothing but the step's start" in schedule.explain("input")
    late = sv.lesson(scenario="late-input").schedule()
    assert late.explain("input") == "input starts at 80 ms, held by its release"


def test_a_member_with_nothing_before_it_arrives_with_the_last_and_queueing_is_no_wait() -> None:
    """Two collectives on one link: the second queues until 30, its only known arrival is at 5."""
    step = sv.Timeline(
        [
            {"phase": "a", "kind": "backward", "rank": 0, "duration": 5},
            {"phase": "x", "kind": "exchange", "members": [0, 1], "lane": "l", "duration": 30},
            {"phase": "y", "kind": "exchange", "members": [0, 1], "lane": "l", "duration": 4},
        ],
        [("a", "y")],
    )
    breakdown = step.schedule().breakdown()
    assert step.completion == 34.0
    assert breakdown.loc["wait"].to_dict() == {0: 0.0, 1: 0.0}
    assert breakdown.loc["exchange"].to_dict() == {0: 29.0, 1: 34.0}


def test_what_runs_after_the_target_is_not_exposed_in_the_step() -> None:
    step = sv.Timeline(
        [
            {"phase": "f", "kind": "forward", "duration": 5},
            {"phase": "x", "kind": "exchange", "duration": 50},
        ],
        target="f",
    )
    assert step.schedule().exposed("exchange").tolist() == [0.0]
    assert step.with_target(None).schedule().exposed("exchange").tolist() == [45.0]
