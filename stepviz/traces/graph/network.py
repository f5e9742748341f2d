"""The graph as arrays: points in time, work on the edges between them, and one pass over both.

A point holds the explicit delay that no edge explains, so that the unedited pass gives every
observed time to the nanosecond. Points are numbered in order of observed time, and every edge
goes forward in it: the numbering is a topological order, whatever durations an edit gives.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stepviz.indices import as_index
from stepviz.traces.graph.arrays import Flags, IntArray


@dataclass(frozen=True, eq=False)
class Elements:
    """Pieces of work with a duration of their own: rows, stretches of threads, transfers.

    `rank` is −1 for a transfer, which belongs to all members; `name` and `kind` are codes;
    `start` is when it was observed, from the step's start; `row` is −1 where it is no one row.
    """

    rank: IntArray
    kind: IntArray
    name: IntArray
    on: IntArray
    track: IntArray
    row: IntArray
    start: IntArray
    duration: IntArray
    launched: IntArray

    def __len__(self) -> int:
        return len(self.duration)


@dataclass(frozen=True, eq=False)
class Network:
    """One step's graph over its ranks; times are ns from the step's start.

    Points: `time` as observed, `rank` (−1: a joint of several), `gap` (whether its delay is a
    stretch of a thread without any row). Edges, sorted by target: work on them are the elements
    from `low` to `high`, `base` is what the link itself takes. Point v has the edges
    `into[v]` to `into[v + 1]`. `starts` and `ends` are the first and the last point of each
    rank, in the order of `ranks`.
    """

    ranks: tuple[int, ...]
    time: IntArray
    rank: IntArray
    gap: Flags
    source: IntArray
    target: IntArray
    link: IntArray
    origin: IntArray
    base: IntArray
    low: IntArray
    high: IntArray
    starts: IntArray
    ends: IntArray
    elements: Elements
    names: tuple[str, ...]

    @cached_property
    def into(self) -> IntArray:
        """By point, where its edges begin; one more for the end."""
        return np.searchsorted(self.target, np.arange(len(self.time) + 1))

    @property
    def release(self) -> IntArray:
        """By rank, when its step was observed to start."""
        return self.time[self.starts]

    @cached_property
    def delay(self) -> IntArray:
        """By point, the time that no edge explains."""
        best = self.latest(self.time, self.weights(self.elements.duration))
        best[self.starts] = self.time[self.starts]
        return self.time - best

    @cached_property
    def silence(self) -> IntArray:
        """By point, how much of its delay is a thread that stood still with no row to say why."""
        return np.where(self.gap, self.delay, 0)

    def weights(self, duration: IntArray) -> IntArray:
        """Return by edge how long it takes with these durations of the elements."""
        total = np.concatenate(([0], np.cumsum(duration)))
        return np.asarray(self.base + total[self.high] - total[self.low])

    def latest(self, time: IntArray, weights: IntArray) -> IntArray:
        """Return by point what its edges allow at the earliest, 0 where there are none."""
        found = np.zeros(len(time), dtype=np.int64)
        some = np.flatnonzero(np.diff(self.into))
        if len(some):
            bounds = time[self.source] + weights
            found[some] = np.maximum.reduceat(bounds, as_index(self.into[some]))
        return found

    def solve(
        self, duration: IntArray, release: IntArray, delays: IntArray | None = None
    ) -> IntArray:
        """Return by point when it comes, with these durations and these starts of the ranks.

        `delays` are those of points where they aren't the observed ones.
        """
        floor = np.zeros(len(self.time), dtype=np.int64)
        floor[self.starts] = release
        weights = self.weights(duration).tolist()
        source, delay = self.source.tolist(), (self.delay if delays is None else delays).tolist()
        times: list[int] = []
        edge = 0
        for at, late, last in zip(floor.tolist(), delay, self.into[1:].tolist(), strict=True):
            while edge < last:
                bound = times[source[edge]] + weights[edge]
                if bound > at:
                    at = bound  # noqa: PLW2901 - the maximum is what the loop finds
                edge += 1
            times.append(at + late)
        return np.array(times, dtype=np.int64)

    def binding(self, time: IntArray, duration: IntArray) -> IntArray:
        """Return by point the first edge that holds it, −1 where its release does."""
        weights = self.weights(duration)
        bounds = time[self.source] + weights
        tight = np.flatnonzero(bounds == self.latest(time, weights)[self.target])
        found = np.full(len(time), -1, dtype=np.int64)
        found[self.target[tight][::-1]] = tight[::-1]
        return found

    def walk(self, time: IntArray, duration: IntArray) -> IntArray:
        """Return the edges of the critical path, in order, back from the last end of a rank."""
        held = self.binding(time, duration)
        source = self.source
        at = int(self.ends[np.argmax(time[self.ends])])
        path: list[int] = []
        while (edge := int(held[at])) >= 0:
            path.append(edge)
            at = int(source[edge])
        return np.array(path[::-1], dtype=np.int64)

    def completion(self, time: IntArray) -> int:
        """Return when the last rank ends."""
        return int(time[self.ends].max())
