"""The coarse model of a step: each rank's own times, and the collectives that hold ranks together.

A rank reaches an exchange its own time after the latest thing before it: the end of an exchange,
the arrival at one that still runs, or its step's start. An exchange transfers once its last
member has arrived, and each member is done its own transfer later (the rank's own end is kept).
Whatever a host does while exchanges run is part of this by definition only: the fine graph knows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from stepviz.indices import as_index
from stepviz.traces.joining.step_exchanges import StepExchanges

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Lengths:
    """What may be edited, in ns: starts and tails by rank, gaps and transfers by call."""

    start: IntArray
    gap: IntArray
    transfer: IntArray
    tail: IntArray


class Level(NamedTuple):
    """Calls that arrive at once, exchanges that are then complete, and these exchanges' calls."""

    arriving: IntArray
    complete: IntArray
    calls: IntArray
    heads: IntArray


@dataclass(frozen=True, eq=False)
class CoarseModel:
    """Points of a step and what lies between: starts of ranks, arrivals and ends of calls.

    Point `r` is the start of `ranks[r]`, point `n + c` the arrival of call `c` and
    `n + m + c` its end, for n ranks and m calls; calls are those of `exchanges`. `before` has
    for each call the point it follows, `last` for each rank the one its tail follows. Calls
    that are `early` end before the last member arrives, so they wait for nobody.
    """

    exchanges: StepExchanges
    ranks: IntArray
    rank: IntArray
    before: IntArray
    last: IntArray
    early: npt.NDArray[np.bool_]
    levels: list[Level]
    observed: IntArray
    ends: IntArray
    lengths: Lengths
    origin: int

    def solve(self, lengths: Lengths) -> tuple[IntArray, IntArray]:
        """Return the times of all points, and when each rank ends, ns from the step's start."""
        count, calls = len(self.ranks), len(self.rank)
        time = np.zeros(count + 2 * calls, dtype=np.int64)
        time[:count] = lengths.start
        for level in self.levels:
            new = level.arriving
            time[count + new] = time[self.before[new]] + lengths.gap[new]
            self._end(time, new[self.early[new]], None, lengths)
            if len(level.complete):
                arrived = np.maximum.reduceat(time[count + level.calls], as_index(level.heads))
                sizes = np.diff(np.append(level.heads, len(level.calls)))
                self._end(time, level.calls, np.repeat(arrived, as_index(sizes)), lengths)
        return time, time[self.last] + lengths.tail

    def _end(
        self, time: IntArray, calls: IntArray, arrived: IntArray | None, lengths: Lengths
    ) -> None:
        count = len(self.ranks)
        own = time[count + calls]
        begun = own if arrived is None else np.where(self.early[calls], own, arrived)
        time[count + len(self.rank) + calls] = begun + lengths.transfer[calls]


def coarse_model(windows: Mapping[int, tuple[int, int]], exchanges: StepExchanges) -> CoarseModel:
    """Build the coarse model of a step.

    Parameters
    ----------
    windows
        By rank: start and finish, ns.
    exchanges
        Of the step, cut to these windows.
    """
    ranks = np.array(sorted(windows), dtype=np.int64)
    span = np.array([windows[int(rank)] for rank in ranks], dtype=np.int64).reshape(-1, 2)
    origin = int(span[:, 0].min())
    start, finish = span[:, 0] - origin, span[:, 1] - origin
    rank = np.searchsorted(ranks, exchanges.rank)
    arrival, end = exchanges.arrival - origin, exchanges.finish - origin
    begun = (exchanges.last_arrival - origin)[exchanges.number]
    early = end < begun
    transfer = end - np.where(early, arrival, begun)
    observed = np.concatenate((start, arrival, end))
    before, last, following = _order(rank, start, arrival, end)
    before, levels = _levels(exchanges, rank, before, following, early, len(ranks))
    lengths = Lengths(start, arrival - observed[before], transfer, finish - observed[last])
    return CoarseModel(
        exchanges, ranks, rank, before, last, early, levels, observed, finish, lengths, origin
    )


def _order(
    rank: IntArray, start: IntArray, arrival: IntArray, end: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Return the point before each arrival, each rank's last point, the call after each point."""
    ranks, calls = len(start), len(rank)
    place = np.empty(calls, dtype=np.int64)
    place[np.lexsort((end, arrival, rank))] = np.arange(calls)
    who = np.concatenate((np.arange(ranks), rank, rank))
    time = np.concatenate((start, arrival, end))
    # At one time: the start, then calls in their order, each arriving before it ends.
    turn = np.concatenate((np.full(ranks, -1), 2 * place, 2 * place + 1))
    order = np.lexsort((turn, time, who))
    previous = np.empty(len(order), dtype=np.int64)
    previous[order[1:]] = order[:-1]
    before = previous[ranks : ranks + calls]
    last = order[np.append(np.flatnonzero(np.diff(who[order])), len(order) - 1)]
    following = np.full(len(order), -1, dtype=np.int64)
    following[before] = np.arange(calls)
    return before, last, following


def _levels(
    exchanges: StepExchanges,
    rank: IntArray,
    before: IntArray,
    following: IntArray,
    early: npt.NDArray[np.bool_],
    ranks: int,
) -> tuple[IntArray, list[Level]]:
    """Return an order of solving in which all that a point follows comes before it."""
    calls = len(rank)
    number, waiting = exchanges.number, exchanges.ranks.copy()
    before, done = before.copy(), np.zeros(calls, dtype=bool)
    levels: list[Level] = []
    new = _known(following[:ranks])
    remaining = calls
    while remaining:
        if not len(new):
            # Only calls of no length at one time can wait for each other: free them.
            new = np.flatnonzero(~done)[:1]
            before[new] = rank[new]
        new = new[~done[new]]
        done[new] = True
        remaining -= len(new)
        # Of all exchanges only those that somebody arrives at can be complete now.
        np.subtract.at(waiting, number[new], 1)
        touched = np.unique(number[new])
        complete = touched[waiting[touched] == 0]
        sizes = exchanges.ranks[complete]
        heads = np.concatenate(([0], np.cumsum(sizes)))[:-1].astype(np.int64)
        inside = np.arange(int(sizes.sum())) - np.repeat(heads, as_index(sizes))
        members = np.repeat(exchanges.bounds[complete], as_index(sizes)) + inside
        levels.append(Level(new, complete, members, heads))
        ended = np.concatenate((members[~early[members]], new[early[new]]))
        after = np.concatenate((ranks + new, ranks + calls + ended))
        new = _known(following[after])
    return before, levels


def _known(calls: IntArray) -> IntArray:
    found: IntArray = calls[calls >= 0]
    return found
