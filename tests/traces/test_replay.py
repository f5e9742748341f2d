"""The unedited replay is exact at every point, an edited one is the longest path: brute force."""

from __future__ import annotations

import json
import tempfile
import warnings
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import stepviz as sv
from stepviz.errors import TraceError
from stepviz.traces import TraceWarning
from stepviz.traces.graph.answers import BEFORE_STEP, UNEXPLAINED, WAIT
from stepviz.traces.graph.draft import Draft
from stepviz.traces.graph.links import ORIGINS, Link
from tests.traces.rough import rough_runs

KINDS = {
    "input", "forward", "backward", "exchange", "optimizer", "recompute", "checkpoint", "host",
    "other", BEFORE_STEP, UNEXPLAINED, WAIT,
}  # fmt: skip


def partitions(step, path):
    """Check that pieces follow one another from the step's start to its completion."""
    if path.empty:
        assert step.completion_ns == 0
        return
    assert path["start_ns"].iloc[0] == step.windows["start_ns"].min()
    assert path["finish_ns"].iloc[-1] == step.windows["finish_ns"].max()
    assert (path["start_ns"].to_numpy()[1:] == path["finish_ns"].to_numpy()[:-1]).all()
    assert (path["duration_ns"] > 0).all()
    assert (path["duration_ns"] == path["finish_ns"] - path["start_ns"]).all()
    assert set(path["kind"]) <= KINDS
    assert set(path["origin"]) <= set(ORIGINS)
    late = path["kind"] == BEFORE_STEP
    assert not late.iloc[1:].any()


def exact(step):
    """Check the unedited replay, at every point of the graph."""
    replay = step.replay()
    assert replay.largest_error_ns == 0
    assert replay.completion_ns == replay.baseline_ns == step.completion_ns
    assert replay.gain_ns == 0
    network = step._fine._drawn.network
    assert (network.delay >= 0).all()
    assert (network.source < network.target).all()
    # Nothing but a rank's first point stands by itself.
    alone = np.flatnonzero(np.diff(network.into) == 0)
    assert set(alone.tolist()) <= set(network.starts.tolist())
    partitions(step, replay.critical_path)


@pytest.mark.slow
@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(rough_runs())
def test_whatever_the_rows_say_the_path_partitions_and_the_replay_is_exact(documents):
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", TraceWarning)
        for rank, trace in enumerate(documents):
            (Path(folder) / f"rank{rank}.json").write_text(json.dumps(trace))
        try:
            run = sv.load_run(folder)
        except TraceError:
            return
    for number in run.steps.index:
        step = run.step(number)
        partitions(step, step.critical_path)
        exact(step)
        longer = step.what_if(start_together=True)
        assert longer.completion_ns <= step.completion_ns
        assert longer.critical_path["duration_ns"].sum() == longer.completion_ns


@st.composite
def drafts(draw):
    """A small graph: points at any times, work that fits between two of them, lags that may not."""
    draft = Draft()
    ranks = draw(st.integers(1, 2))
    times = {}
    points = []
    for rank in range(ranks):
        start = draw(st.integers(0, 20))
        first = draft.start(rank, start)
        times[first] = start
        points.append([first])
    for _ in range(draw(st.integers(1, 9))):
        rank = draw(st.integers(0, ranks - 1))
        time = draw(st.integers(times[points[rank][0]], 60))
        point = int(draft.points([time], draw(st.integers(0, 6)), rank)[0])
        times[point] = time
        points[rank].append(point)
    for rank in range(ranks):
        last = max(times[point] for point in points[rank])
        end = draft.end(rank, last + draw(st.integers(0, 9)))
        times[end] = last + 9
        points[rank].append(end)
    every = sorted(point for mine in points for point in mine)
    kinds = st.sampled_from([Link.WORK, Link.LAUNCH, Link.STREAM, Link.SYNC])
    for _ in range(draw(st.integers(0, 16))):
        source, target = draw(st.sampled_from(every)), draw(st.sampled_from(every))
        room = times[target] - times[source]
        work = draw(st.integers(0, max(room, 0)))
        number = draft.elements(
            np.array([times[source]]), np.array([work]), kind=0, name=draft.name("w"), on=0
        )
        draft.link(
            draw(kinds), [source], [target], base=draw(st.integers(0, 15)),
            low=number, high=number + 1,
        )  # fmt: skip
    return draft.network()


def longest(network, duration, release):
    """Return by point the longest way to it, by another library."""
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(network.time)))
    total = np.concatenate(([0], np.cumsum(duration)))
    for edge in range(len(network.source)):
        pair = int(network.source[edge]), int(network.target[edge])
        weight = network.base[edge] + total[network.high[edge]] - total[network.low[edge]]
        weight = int(weight + network.delay[pair[1]])
        if not graph.has_edge(*pair) or graph.edges[pair]["weight"] < weight:
            graph.add_edge(*pair, weight=weight)
    for at, point in enumerate(network.starts.tolist()):
        graph.add_edge("source", point, weight=int(release[at]))
    found = []
    for point in range(len(network.time)):
        within = graph.subgraph(nx.ancestors(graph, point) | {point})
        found.append(nx.dag_longest_path_length(within))
    return found


@settings(max_examples=300, deadline=None)
@given(drafts(), st.data())
def test_a_solved_graph_is_the_longest_path(network, data):
    duration, release = network.elements.duration, network.release
    assert network.solve(duration, release).tolist() == network.time.tolist()
    factors = data.draw(st.lists(st.integers(0, 4), min_size=len(duration), max_size=len(duration)))
    edited = duration * np.array(factors, dtype=np.int64)
    moved = release * data.draw(st.integers(0, 2))
    time = network.solve(edited, moved)
    assert time.tolist() == longest(network, edited, moved)
    path = network.walk(time, edited)
    weights = network.weights(edited)
    end = int(network.ends[np.argmax(time[network.ends])])
    first = int(network.source[path[0]]) if len(path) else end
    assert first in network.starts
    # What lies on the way, and each point's own delay, is all of the time to the end.
    took = sum(int(weights[e] + network.delay[network.target[e]]) for e in path)
    assert time[first] + took == time[end] == network.completion(time)


@pytest.mark.parametrize("change", [0, 1, 2])
def test_a_graph_of_three_points_by_hand(change):
    draft = Draft()
    start, end = draft.start(0, 5), draft.end(0, 40)
    middle = draft.points([20], 0, 0)
    work = draft.elements(np.array([5]), np.array([10]), kind=0, name=draft.name("w"), on=0)
    draft.link(Link.WORK, [start], middle, low=work, high=work + 1)
    draft.link(Link.STREAM, middle, [end], base=3)
    network = draft.network()
    # 5 of the 15 to the middle and 17 of the 20 to the end are nobody's.
    assert network.delay.tolist() == [0, 5, 17]
    time = network.solve(network.elements.duration * change, network.release)
    assert time.tolist() == [5, 5 + 10 * change + 5, 5 + 10 * change + 5 + 3 + 17]
