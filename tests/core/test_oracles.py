"""The solver against others: linear programming, networkx, brute force."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import coo_array

import stepviz as sv
from stepviz.core import graph
from tests.core.strategies import random_timeline, timelines

NETWORKS, BATCH = 1000, 50


def _constraints(timeline: sv.Timeline) -> list[tuple[int, int, float]]:
    """Every dependency, lanes included, as start_j >= start_i + w (the textbook table)."""
    row = {name: k for k, name in enumerate(timeline.phases.index)}
    d = timeline.phases["duration"].to_numpy()
    found = []
    for link in timeline.schedule().dependencies.itertuples():
        i, j = row[link.source], row[link.target]
        w = {
            "FS": d[i] + link.lag,
            "SS": link.lag,
            "FF": d[i] + link.lag - d[j],
            "SF": link.lag - d[j],
        }[link.type]
        found.append((i, j, float(w)))
    return found


def _by_linear_programming(
    batch: list[sv.Timeline],
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Earliest and latest starts of many networks in two linear programs."""
    rows, columns, values, bounds_upper = [], [], [], []
    low, high, offsets, at = [], [], [], 0
    for timeline in batch:
        frame = timeline.phases
        for i, j, w in _constraints(timeline):
            k = len(bounds_upper)
            rows += [k, k]
            columns += [at + i, at + j]
            values += [1.0, -1.0]
            bounds_upper.append(-w)
        low += frame["release"].tolist()
        offsets.append((at, at + len(frame)))
        at += len(frame)
    matrix = coo_array((values, (rows, columns)), shape=(len(bounds_upper), at)).tocsr()
    early = linprog(np.ones(at), A_ub=matrix, b_ub=bounds_upper, bounds=[(x, None) for x in low]).x
    for timeline, (a, b) in zip(batch, offsets, strict=True):
        d = timeline.phases["duration"].to_numpy()
        high += ((early[a:b] + d).max() - d).tolist()
    late = linprog(
        -np.ones(at),
        A_ub=matrix,
        b_ub=bounds_upper,
        bounds=[(None, x) for x in high],
    ).x
    return [(early[a:b], late[a:b]) for a, b in offsets]


def test_random_networks_equal_linear_programming() -> None:
    rng = np.random.default_rng(20)
    seen = 0
    for _ in range(NETWORKS // BATCH):
        batch = [
            random_timeline(rng, int(rng.integers(1, 12)), int(rng.integers(0, 25)))
            for _ in range(BATCH)
        ]
        for timeline, (early, late) in zip(batch, _by_linear_programming(batch), strict=True):
            table = timeline.schedule().table
            np.testing.assert_allclose(table["start"], early, atol=1e-7)
            np.testing.assert_allclose(table["latest_start"], late, atol=1e-7)
            np.testing.assert_allclose(table["total_float"], late - early, atol=1e-7)
            seen += 1
    assert seen >= NETWORKS


@given(timelines(lanes=True, targets=False))
def test_completion_is_the_longest_path_of_the_event_graph(timeline: sv.Timeline) -> None:
    events = nx.DiGraph()
    d = timeline.phases["duration"].to_numpy()
    release = timeline.phases["release"].to_numpy()
    for i, (length, first) in enumerate(zip(d, release, strict=True)):
        events.add_edge("source", i, weight=first)
        events.add_edge(i, "sink", weight=length)
    for i, j, w in _constraints(timeline):
        if not events.has_edge(i, j) or events[i][j]["weight"] < w:
            events.add_edge(i, j, weight=w)
    longest = nx.bellman_ford_path_length(
        nx.DiGraph((u, v, {"weight": -x["weight"]}) for u, v, x in events.edges(data=True)),
        "source",
        "sink",
    )
    assert timeline.completion == pytest.approx(-longest, abs=1e-8)


@given(timelines(), st.data())
def test_slipping_within_float_is_safe(timeline: sv.Timeline, data: st.DataObject) -> None:
    table = timeline.schedule().table
    phase = data.draw(st.sampled_from(list(table.index)))
    for column, moves in (("total_float", False), ("free_float", True)):
        slip = min(float(table.loc[phase, column]), 1e6)
        later = timeline.with_release(phase, float(table.loc[phase, "start"]) + slip)
        assert later.completion == pytest.approx(timeline.completion, abs=1e-6)
        if moves:
            others = table.index != phase
            np.testing.assert_allclose(
                later.schedule().table["start"][others], table["start"][others], atol=1e-6
            )


@given(timelines(), st.data())
def test_slipping_beyond_float_delays_the_completion(
    timeline: sv.Timeline, data: st.DataObject
) -> None:
    table = timeline.schedule().table
    phase = data.draw(st.sampled_from(list(table.index)))
    slack = float(table.loc[phase, "total_float"])
    if np.isfinite(slack):
        later = timeline.with_release(phase, float(table.loc[phase, "start"]) + slack + 5)
        assert later.completion == pytest.approx(timeline.completion + 5, abs=1e-6)


@given(timelines())
def test_floats_are_ordered_and_a_critical_path_exists(timeline: sv.Timeline) -> None:
    schedule = timeline.schedule()
    table = schedule.table
    assert (table["free_float"] >= 0).all()
    assert (table["free_float"] <= table["total_float"] + 1e-9).all()
    assert table["critical"].any()
    # Each critical phase starts at 0 or its release, or is held by a critical dependency.
    held = set(schedule.critical_dependencies["target"])
    for phase in table.index[table["critical"]]:
        free = table.loc[phase, "start"] <= timeline.phases.loc[phase, "release"] + 1e-6
        assert free or phase in held


@given(timelines(), st.floats(0.1, 10))
def test_scaling_all_times_scales_the_completion(timeline: sv.Timeline, k: float) -> None:
    phases, links = timeline.phases, timeline.dependencies
    phases[["duration", "release"]] *= k
    links["lag"] *= k
    scaled = sv.Timeline(phases, links, timeline.target)
    assert scaled.completion == pytest.approx(k * timeline.completion, rel=1e-9, abs=1e-9)


@given(timelines(lanes=False, targets=False), st.data())  # in a lane FS would replace its order
def test_one_more_dependency_never_helps(timeline: sv.Timeline, data: st.DataObject) -> None:
    names = list(timeline.phases.index)
    if len(names) > 1:
        i = data.draw(st.integers(0, len(names) - 2))
        j = data.draw(st.integers(i + 1, len(names) - 1))
        one_more = [names[i], names[j], "FS", 0.0, "assumed"]
        links = [*timeline.dependencies.itertuples(index=False, name=None), tuple(one_more)]
        assert sv.Timeline(timeline.phases, links).completion >= timeline.completion - 1e-9


def test_both_ways_of_walking_the_graph_give_the_same_bits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(3)
    wide = [random_timeline(rng, 40, 120) for _ in range(30)]
    monkeypatch.setattr(graph, "NARROW", 0)
    levels = [sv.Timeline(t.phases, t.dependencies).schedule() for t in wide]
    assert all(s.solution.graph.order.levels is not None for s in levels)
    monkeypatch.setattr(graph, "NARROW", 10**9)
    loops = [sv.Timeline(t.phases, t.dependencies).schedule() for t in wide]
    assert all(s.solution.graph.order.levels is None for s in loops)
    for a, b in zip(levels, loops, strict=True):
        assert a.table.equals(b.table)
        assert a.critical_dependencies.equals(b.critical_dependencies)
