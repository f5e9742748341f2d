"""Rows that no two intervals share: nested work by depth, overlapping work side by side.

A `Lane` is one row on the screen. Its intervals are sorted by start and by finish alike, so that
what a time range holds is one slice, found by bisection.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stepviz.indices import as_index

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

#: So many depths are taken one by one, which is fastest for what nests as programs mostly do.
_MOST_PASSES: Final = 64
#: Neighbours of one row may cross by this much: old profilers round to whole microseconds.
ROUNDING_NS: Final = 1_000


@dataclass(frozen=True, eq=False)
class Lane:
    """One row: start, finish (ns from the step's start), kind (a code), name (a code), row.

    `row` is the place of the interval among the rank's events, −1 where it is none of them.
    """

    start: IntArray
    finish: IntArray
    kind: npt.NDArray[np.uint8]
    name: IntArray
    row: IntArray

    def __len__(self) -> int:
        return len(self.start)

    def take(self, chosen: IntArray | BoolArray | slice) -> Lane:
        """Return some of the intervals, in the order given; of a slice, a view."""
        return Lane(
            self.start[chosen],
            self.finish[chosen],
            self.kind[chosen],
            self.name[chosen],
            self.row[chosen],
        )

    def within(self, start: float, finish: float) -> slice:
        """Return the slice of what touches a time range."""
        low = int(np.searchsorted(self.finish, start, side="left"))
        high = int(np.searchsorted(self.start, finish, side="right"))
        return slice(low, max(low, high))

    @classmethod
    def of(cls, start: Any, finish: Any, kind: Any, name: Any, row: Any = None) -> Lane:
        """Make one of array-likes, in any order; without rows they are −1."""
        begins = np.asarray(start, dtype=np.int64)
        rows = np.full(len(begins), -1) if row is None else row
        return cls(
            begins,
            np.asarray(finish, dtype=np.int64),
            np.asarray(kind, dtype=np.uint8),
            np.asarray(name, dtype=np.int64),
            np.asarray(rows, dtype=np.int64),
        )


def joined(parts: Sequence[Lane]) -> Lane:
    """Return the intervals of all lanes, one lane after the other."""
    if not parts:
        return Lane.of([], [], [], [], [])
    return Lane(
        np.concatenate([part.start for part in parts]),
        np.concatenate([part.finish for part in parts]),
        np.concatenate([part.kind for part in parts]),
        np.concatenate([part.name for part in parts]),
        np.concatenate([part.row for part in parts]),
    )


def pack(lane: Lane) -> list[Lane]:
    """Spread intervals over as few rows as they need, outer ones above those they hold.

    Parameters
    ----------
    lane
        Intervals of one thread or stream, in any order.

    Returns
    -------
    list of Lane
        Row k holds what is nested k deep. Where intervals cross without nesting, each takes the
        first row that is free at its start.
    """
    order = np.lexsort((-lane.finish, lane.start))
    left = lane.take(order)
    found: list[Lane] = []
    while len(left):
        if len(found) == _MOST_PASSES:
            return [*found, *_nested(left)]
        outer = _outermost(left)
        if outer is None:
            return [*found, *_first_free(left)]
        found.append(left.take(outer))
        left = left.take(~outer)
    return found


def _nested(lane: Lane) -> list[Lane]:
    """Spread what is nested still deeper: one pass over all of it, not one for each depth."""
    starts, ends = lane.start.tolist(), lane.finish.tolist()
    depth = np.empty(len(lane), dtype=np.int64)
    crossing = len(lane)  # the least depth at which some cross without nesting
    latest: list[int] = []  # by depth, the latest end of what is open there
    for i, (start, end) in enumerate(zip(starts, ends, strict=True)):
        # What is deeper than this one has ended before it, or crosses it by rounding.
        while latest and _follows(start, end, latest[-1]):
            latest.pop()
        at = len(latest)
        least = sure = min(at, crossing)
        while least and end > latest[least - 1] + ROUNDING_NS:
            least -= 1
        crossing = crossing if least == sure else least
        depth[i] = at
        latest.append(end)
    inner = depth >= crossing
    found = _by_row(lane.take(~inner), depth[~inner])
    return [*found, *_first_free(lane.take(inner))] if inner.any() else found


def _follows(start: int, end: int, before: int) -> bool:
    return start >= before or (start >= before - ROUNDING_NS and end > before)


def _outermost(lane: Lane) -> BoolArray | None:
    """Say which intervals no earlier one holds; None where some cross without nesting."""
    latest = np.maximum.accumulate(lane.finish)
    before = np.concatenate([[np.iinfo(np.int64).min // 2], latest[:-1]])
    # What crosses by no more than rounding is the next one, not an inner one, or the other way.
    follows = (lane.start >= before) | (
        (lane.start >= before - ROUNDING_NS) & (lane.finish > before)
    )
    inside = lane.finish <= before + ROUNDING_NS
    return follows if bool((follows | inside).all()) else None


def _first_free(lane: Lane) -> list[Lane]:
    """Give each interval, in order, the first row that is free at its start."""
    free: list[int] = []  # rows whose last interval has ended
    busy: list[tuple[int, int]] = []  # (end, row)
    rows = np.empty(len(lane), dtype=np.int64)
    count = 0
    ends = lane.finish.tolist()
    for i, start in enumerate(lane.start.tolist()):
        while busy and busy[0][0] <= start:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if free:
            row = heapq.heappop(free)
        else:
            row, count = count, count + 1
        rows[i] = row
        heapq.heappush(busy, (ends[i], row))
    return _by_row(lane, rows)


def _by_row(lane: Lane, rows: IntArray) -> list[Lane]:
    """Return each row's intervals, in the order given."""
    if len(lane) == 0:
        return []
    order = np.argsort(rows, kind="stable")
    return [
        lane.take(part) for part in np.split(order, np.cumsum(np.bincount(as_index(rows)))[:-1])
    ]


def innermost(rows: list[Lane]) -> Lane:
    """Return one row in which each instant shows the deepest interval of several rows.

    Parameters
    ----------
    rows
        As `pack` returns them.
    """
    edges = np.unique(np.concatenate([edge for lane in rows for edge in (lane.start, lane.finish)]))
    begins, ends = edges[:-1], edges[1:]
    # One row after the other: of two intervals the deeper one is further behind.
    work = joined(rows)
    place = _last_over(
        np.searchsorted(edges, work.start), np.searchsorted(edges, work.finish), len(begins)
    )
    changes = np.ones(len(begins), dtype=np.bool_)
    changes[1:] = np.diff(place) != 0
    first = np.flatnonzero((place >= 0) & changes)
    # A piece lasts until the next change, whatever that is.
    last = np.append(np.flatnonzero(changes), len(begins))
    finish = ends[last[np.searchsorted(last, first, side="right")] - 1]
    shown = work.take(place[first])
    return Lane(begins[first], finish, shown.kind, shown.name, shown.row)


def _last_over(first: IntArray, end: IntArray, count: int) -> IntArray:
    """Return by cell the last of some ranges of cells, first to end − 1, that holds it; −1 none.

    A range is two blocks whose length is a power of two. The longest blocks are halved, and
    halved again, so that it takes no longer where ranges are nested deeply.
    """
    length = end - first
    number = np.flatnonzero(length > 0)
    power = np.zeros(len(first), dtype=np.int64)
    power[number] = np.frexp(length[number].astype(np.float64))[1] - 1
    found = np.full(count, -1, dtype=np.int64)
    for exponent in range(int(power.max(initial=0)), -1, -1):
        size = 1 << exponent
        mine = number[power[number] == exponent]
        np.maximum.at(found, as_index(first[mine]), mine)
        np.maximum.at(found, as_index(end[mine] - size), mine)
        if exponent:
            half = size >> 1
            moved = found[:-half].copy() if half < count else found[:0]
            np.maximum(found[half:], moved, out=found[half:])
    return found


def foremost(lanes: list[Lane], order: list[int], names: list[int]) -> Lane:
    """Return one row in which each instant shows the kind that comes first in `order`.

    Parameters
    ----------
    lanes
        Rows of any kind.
    order
        Codes of kinds, the foremost first; others are not shown.
    names
        The code of a name for each kind's code.
    """
    start = np.concatenate([lane.start for lane in lanes])
    finish = np.concatenate([lane.finish for lane in lanes])
    kind = np.concatenate([lane.kind for lane in lanes])
    edges = np.unique(np.concatenate([start, finish]))
    shown = np.full(max(len(edges) - 1, 0), -1, dtype=np.int64)
    for code in order:
        mine = kind == code
        if not bool(mine.any()):
            continue
        steps = np.bincount(as_index(np.searchsorted(edges, start[mine])), minlength=len(edges))
        steps = steps - np.bincount(
            as_index(np.searchsorted(edges, finish[mine])), minlength=len(edges)
        )
        running = np.cumsum(steps)[:-1] > 0
        shown[running & (shown < 0)] = code
    changes = np.ones(len(shown), dtype=np.bool_)
    changes[1:] = np.diff(shown) != 0
    first = np.flatnonzero(changes)
    last = np.append(first[1:], len(shown))
    kept = shown[first] >= 0
    first, last = first[kept], last[kept]
    codes = shown[first]
    return Lane.of(edges[first], edges[last], codes, np.asarray(names, dtype=np.int64)[codes])
