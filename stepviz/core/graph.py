"""Longest paths over arrays: the one pass behind completion, floats and the critical set.

Phases are numbers 0..n-1, dependencies are edges. Every edge is a lower bound on the start of its
target; FS and FF leave from the source's finish, FF and SF act on the target's finish (classic
precedence diagramming, phases are not split). The TypeScript solver does the same operations on the
same operands, so both give the same bits: maxima are exact, so the order of visits is free.

A graph that is wide is swept level by level with numpy; one that is deep and narrow (a trace of a
single thread, say) by a plain loop, which is faster than a million tiny array calls.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from stepviz.indices import as_index

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Below this mean number of edges a level, the plain loop wins (measured: about 100).
NARROW = 100


class CycleError(Exception):
    """The edges contain a cycle; `rows` are the edges of one, in order."""

    def __init__(self, rows: list[int]) -> None:
        super().__init__("cycle")
        self.rows = rows


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """Phases and dependencies as arrays.

    Parameters
    ----------
    duration, release : array of float, shape (n,)
        ms; release is 0 where nothing from outside holds a phase.
    source, target : array of int, shape (m,)
        Phase numbers of each dependency.
    code : array of int, shape (m,)
        Place of its type in `LINK_TYPES`: FS 0, SS 1, FF 2, SF 3.
    lag : array of float, shape (m,)
        ms, may be negative.
    goal : int
        The phase whose finish is the completion, or -1 for the last finish.
    """

    duration: Floats
    release: Floats
    source: Ints
    target: Ints
    code: Ints
    lag: Floats
    goal: int = -1

    @property
    def n(self) -> int:
        """Number of phases."""
        return len(self.duration)

    @cached_property
    def from_finish(self) -> NDArray[np.bool_]:
        """Whether each edge leaves from its source's finish (FS, FF)."""
        leaves: NDArray[np.bool_] = self.code % 2 == 0
        return leaves

    @cached_property
    def to_finish(self) -> NDArray[np.bool_]:
        """Whether each edge acts on its target's finish (FF, SF)."""
        return self.code >= 2

    @cached_property
    def order(self) -> _Order:
        """A topological order; raises `CycleError`."""
        return _topological(self)

    def solve(self) -> Solution:
        """Run the forward and the backward pass; OverflowError where times exceed a float."""
        with np.errstate(over="ignore"):  # asked for below
            start = _forward(self)
            finish = start + self.duration
        completion = float(finish[self.goal] if self.goal >= 0 else finish.max())
        if not np.isfinite(finish).all():
            msg = "times add up to more than a float can hold"
            raise OverflowError(msg)
        sink = np.full(self.n, np.inf)
        if self.goal >= 0:
            sink[self.goal] = completion
        else:
            sink[:] = completion
        late = _backward(self, sink)
        return Solution(self, start, finish, late, late + self.duration, sink, completion)


@dataclass(frozen=True, eq=False, repr=False)
class _Order:
    """A topological order cut into levels, with edges sorted for both sweeps."""

    phases: Ints  # order of visits
    levels: Ints | None  # where each level begins in `phases`; None: visit one by one
    into: Ints  # edges by the place of their target
    out: Ints  # edges by the place of their source
    into_at: Ints  # phases[k] has edges into[into_at[k]:into_at[k + 1]]
    out_at: Ints


def _topological(g: Graph) -> _Order:
    n, m = g.n, len(g.source)
    by_source = np.argsort(g.source, kind="stable")
    out_count = np.bincount(as_index(g.source), minlength=n)
    out_ptr = np.concatenate(([0], np.cumsum(out_count)))
    waiting = np.bincount(as_index(g.target), minlength=n)
    successors = g.target[by_source]

    frontier = np.flatnonzero(waiting == 0)
    parts, seen = [], 0
    narrow = False
    while len(frontier):
        parts.append(frontier)
        seen += len(frontier)
        if len(parts) > 1000 and m < NARROW * len(parts) * n / max(seen, 1):
            narrow = True
            break
        count = out_count[frontier]
        total = int(count.sum())
        if total == 0:
            break
        at = np.repeat(out_ptr[frontier] - np.cumsum(count) + count, as_index(count)) + np.arange(
            total
        )
        touched, times = np.unique(successors[at], return_counts=True)
        waiting[touched] -= times
        frontier = touched[waiting[touched] == 0]
    if narrow:
        phases = _one_by_one(g, successors, out_ptr)
        levels = None
    else:
        phases = np.concatenate(parts) if parts else np.empty(0, np.int64)
        levels = np.concatenate(([0], np.cumsum([len(p) for p in parts])))
        if m < NARROW * len(parts):
            levels = None
    if len(phases) < n:
        raise CycleError(_find_cycle(g, phases))

    place = np.empty(n, np.int64)
    place[phases] = np.arange(n)
    at_target, at_source = place[g.target], place[g.source]
    return _Order(
        phases,
        levels,
        np.argsort(at_target, kind="stable"),
        np.argsort(at_source, kind="stable"),
        np.concatenate(([0], np.cumsum(np.bincount(as_index(at_target), minlength=n)))),
        np.concatenate(([0], np.cumsum(np.bincount(as_index(at_source), minlength=n)))),
    )


def _one_by_one(g: Graph, successors: Ints, out_ptr: Ints) -> Ints:
    if (g.source < g.target).all():
        return np.arange(g.n)
    waiting = np.bincount(as_index(g.target), minlength=g.n).tolist()
    after, ptr = successors.tolist(), out_ptr.tolist()
    order = [i for i, w in enumerate(waiting) if w == 0]
    for i in order:  # grows while it is walked
        for j in after[ptr[i] : ptr[i + 1]]:
            left = waiting[j] - 1
            waiting[j] = left
            if not left:
                order.append(j)
    return np.array(order, dtype=np.int64)


def _find_cycle(g: Graph, visited: Ints) -> list[int]:
    """Walk backwards among the phases that were never free until one repeats."""
    stuck = np.ones(g.n, bool)
    stuck[visited] = False
    into: dict[int, int] = {}
    for row in np.flatnonzero(stuck[g.source] & stuck[g.target])[::-1].tolist():
        into[int(g.target[row])] = row
    at = next(iter(into))
    seen: dict[int, int] = {}
    path: list[int] = []
    while at not in seen:
        seen[at] = len(path)
        path.append(into[at])
        at = int(g.source[into[at]])
    return path[seen[at] :][::-1]


def _forward(g: Graph) -> Floats:
    order, n = g.order, g.n
    edges = order.into
    event = (g.source + n * g.from_finish)[edges]
    lag, acts_on_finish = g.lag[edges], g.to_finish[edges]
    if order.levels is None:
        return _forward_loop(g, event, lag, acts_on_finish)
    times = np.zeros(2 * n)  # starts, then finishes
    start = np.maximum(g.release, 0.0)
    cut = np.where(acts_on_finish, g.duration[g.target[edges]], 0.0)
    levels = order.levels.tolist()
    for a, b in pairwise(levels):
        lo, hi = order.into_at[a], order.into_at[b]
        here = order.phases[a:b]
        if hi > lo:
            bound = (times[event[lo:hi]] + lag[lo:hi]) - cut[lo:hi]
            best = np.maximum.reduceat(bound, as_index(order.into_at[a:b] - lo))
            start[here] = np.maximum(start[here], best)
        times[here] = start[here]
        times[here + n] = start[here] + g.duration[here]
    return start


def _forward_loop(g: Graph, event: Ints, lag: Floats, acts: NDArray[np.bool_]) -> Floats:
    order, n = g.order, g.n
    times = [0.0] * (2 * n)
    ptr, duration = order.into_at.tolist(), g.duration.tolist()
    release = np.maximum(g.release, 0.0).tolist()
    events, lags, on_finish = event.tolist(), lag.tolist(), acts.tolist()
    e = 0
    for i, last in zip(order.phases.tolist(), ptr[1:], strict=True):
        at, length = release[i], duration[i]
        while e < last:
            bound = times[events[e]] + lags[e]
            if on_finish[e]:
                bound -= length
            if bound > at:
                at = bound
            e += 1
        times[i] = at
        times[i + n] = at + length
    return np.array(times[:n])


def _backward(g: Graph, sink: Floats) -> Floats:
    order, n = g.order, g.n
    edges = order.out
    event = (g.target + n * g.to_finish)[edges]
    lag, leaves_finish = g.lag[edges], g.from_finish[edges]
    if order.levels is None:
        return _backward_loop(g, event, lag, leaves_finish, sink)
    late = sink - g.duration
    times = np.zeros(2 * n)
    cut = np.where(leaves_finish, g.duration[g.source[edges]], 0.0)
    levels = order.levels.tolist()
    for a, b in zip(levels[-2::-1], levels[:0:-1], strict=True):
        lo, hi = order.out_at[a], order.out_at[b]
        here = order.phases[a:b]
        if hi > lo:
            bound = (times[event[lo:hi]] - lag[lo:hi]) - cut[lo:hi]
            has = order.out_at[a + 1 : b + 1] > order.out_at[a:b]
            least = np.minimum.reduceat(bound, as_index(order.out_at[a:b][has] - lo))
            late[here[has]] = np.minimum(late[here[has]], least)
        times[here] = late[here]
        times[here + n] = late[here] + g.duration[here]
    return late


def _backward_loop(
    g: Graph, event: Ints, lag: Floats, leaves: NDArray[np.bool_], sink: Floats
) -> Floats:
    order, n = g.order, g.n
    times = [0.0] * (2 * n)
    ptr, duration = order.out_at.tolist(), g.duration.tolist()
    bounds = (sink - g.duration).tolist()
    events, lags, from_finish = event.tolist(), lag.tolist(), leaves.tolist()
    e = len(events) - 1
    for i, first in zip(order.phases[::-1].tolist(), ptr[-2::-1], strict=True):
        at, length = bounds[i], duration[i]
        while e >= first:
            bound = times[events[e]] - lags[e]
            if from_finish[e]:
                bound -= length
            if bound < at:
                at = bound
            e -= 1
        times[i] = at
        times[i + n] = at + length
    return np.array(times[:n])


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """Both passes of one graph, all in ms, shape (n,) for phases and (m,) for edges."""

    graph: Graph
    start: Floats
    finish: Floats
    latest_start: Floats
    latest_finish: Floats
    sink: Floats
    completion: float

    def __post_init__(self) -> None:
        for times in (self.start, self.finish, self.latest_start, self.latest_finish, self.sink):
            times.setflags(write=False)

    @property
    def tolerance(self) -> float:
        """Below this, a difference is rounding: 1e-9 of the completion, at least 1e-9 ms."""
        return 1e-9 * max(1.0, abs(self.completion))

    def snap(self, values: Floats) -> Floats:
        """Set differences that are rounding to exactly 0."""
        return np.where(np.abs(values) <= self.tolerance, 0.0, values)

    def head(self) -> Floats:
        """Time of the source event of each edge."""
        g = self.graph
        return np.where(g.from_finish, self.finish[g.source], self.start[g.source])

    def bound(self) -> Floats:
        """Earliest start of its target that each edge alone would allow."""
        g = self.graph
        return (self.head() + g.lag) - np.where(g.to_finish, g.duration[g.target], 0.0)

    @cached_property
    def total_float(self) -> Floats:
        """How long each phase may slip without moving the completion."""
        return self.snap(self.latest_start - self.start)

    @cached_property
    def critical(self) -> NDArray[np.bool_]:
        """Whether each phase has no total float."""
        none: NDArray[np.bool_] = self.total_float == 0.0
        return none

    @cached_property
    def slack(self) -> Floats:
        """How long each edge may stretch, its target staying where it is."""
        g = self.graph
        at = np.where(g.to_finish, self.finish[g.target], self.start[g.target])
        return self.snap((at - g.lag) - self.head())

    @cached_property
    def free_float(self) -> Floats:
        """How long each phase may slip without moving any other, nor the completion."""
        least = self.sink - self.finish
        np.minimum.at(least, self.graph.source, self.slack)
        return self.snap(least)

    @cached_property
    def critical_edges(self) -> NDArray[np.bool_]:
        """Whether each edge lies on a longest path."""
        g = self.graph
        tight: NDArray[np.bool_] = self.slack == 0.0
        return self.critical[g.source] & self.critical[g.target] & tight

    @cached_property
    def binding(self) -> Ints:
        """First edge that holds each phase where it starts; -1: its release, or nothing."""
        g = self.graph
        bound = self.bound()
        tight = np.flatnonzero(bound == self.start[g.target])
        rows = np.full(g.n, -1, dtype=np.int64)
        rows[g.target[tight][::-1]] = tight[::-1]
        return rows
