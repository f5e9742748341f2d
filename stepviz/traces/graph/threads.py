"""A thread of the host, flattened: at every instant the innermost row has it, or a gap does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from stepviz.indices import as_index
from stepviz.traces.graph.arrays import Flags, IntArray, distinct

#: What a stretch of a thread is: an operator or call works; a call waits; an exchange runs;
#: nothing works, but a row says what the thread is at; nothing says anything.
WORKS, WAITS, EXCHANGES, NAMED, BARE = range(5)

#: The columns of a count of active rows.
_COUNTED: Final = 4
#: So often ranges of rows that cross are widened, before all rows are gone through.
_MOST_ROUNDS: Final = 16


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of one thread within a window, in ns from the step's start.

    `works` are operators and calls, `waits` those of them that wait, `exchanges` exchanges that
    run on this thread, `names` rows that name a gap (Python functions, loading data); the rest
    are regions, which may be drawn around anything.
    """

    row: IntArray
    start: IntArray
    finish: IntArray
    works: Flags
    waits: Flags
    exchanges: Flags
    names: Flags

    def __len__(self) -> int:
        return len(self.row)

    def take(self, chosen: Flags) -> Rows:
        """Return some of the rows."""
        return Rows(
            self.row[chosen],
            self.start[chosen],
            self.finish[chosen],
            self.works[chosen],
            self.waits[chosen],
            self.exchanges[chosen],
            self.names[chosen],
        )


@dataclass(frozen=True, eq=False)
class Flat:
    """Stretches that tile a thread's window: `edges` around them, what each is, whose.

    `owner` is the place of the innermost row among the rows of the thread, −1 for none.
    """

    edges: IntArray
    what: IntArray
    owner: IntArray

    @property
    def start(self) -> IntArray:
        """When each stretch starts."""
        return self.edges[:-1]

    @property
    def length(self) -> IntArray:
        """How long each stretch lasts."""
        return np.diff(self.edges)

    def cut(self, times: IntArray) -> Flat:
        """Return the same with more cuts."""
        edges = distinct(np.concatenate((self.edges, times)))
        at = np.searchsorted(self.edges, edges[:-1], side="right") - 1
        return Flat(edges, self.what[at], self.owner[at])

    def runs(self, chosen: Flags) -> tuple[IntArray, IntArray]:
        """Return first and beyond-last stretch of each longest run of chosen ones."""
        padded = np.concatenate(([False], chosen, [False])).astype(np.int8)
        turns = np.flatnonzero(np.diff(padded))
        return turns[::2], turns[1::2]


def flatten(rows: Rows, low: int, high: int, cuts: IntArray) -> Flat:
    """Flatten the rows between `low` and `high`, with more cuts at the given times."""
    lasting = rows.take(rows.finish > rows.start)
    place = np.flatnonzero(rows.finish > rows.start)
    count = len(lasting)
    # At one instant ends come first, inner ones before outer ones, then starts, outer ones first.
    opened = np.lexsort((-lasting.finish, lasting.start))
    closed = opened[::-1]
    closed = closed[np.argsort(lasting.finish[closed], kind="stable")]
    begins = np.repeat([False, True], count)
    which = np.concatenate((closed, opened))
    time = np.concatenate((lasting.finish[closed], lasting.start[opened]))
    order = np.argsort(time, kind="stable")
    time, begins, which = time[order], begins[order], which[order]
    sign = np.where(begins, 1, -1)
    flags = np.column_stack(
        (lasting.works, lasting.waits, lasting.exchanges, lasting.names)
    ).astype(np.int64)
    active = np.cumsum(flags[which] * sign[:, None], axis=0)
    owner = _innermost(begins, which, sign, lasting)
    edges = distinct(np.concatenate((time, cuts, [low, high])))
    edges = edges[(low <= edges) & (edges <= high)]
    last = np.searchsorted(time, edges[:-1], side="right") - 1
    known = last >= 0
    state = np.zeros((len(last), _COUNTED), dtype=np.int64)
    state[known] = active[last[known]]
    mine = np.full(len(last), -1, dtype=np.int64)
    mine[known] = owner[last[known]]
    mine[mine >= 0] = place[mine[mine >= 0]]
    works, waits, exchanges, names = (state > 0).T
    what = np.select([waits, exchanges, works, names], [WAITS, EXCHANGES, WORKS, NAMED], BARE)
    return Flat(edges, what.astype(np.int64), mine)


def _innermost(begins: Flags, which: IntArray, sign: IntArray, rows: Rows) -> IntArray:
    """Return after each turn the row that started last among those that run, −1 for none."""
    depth = np.cumsum(sign)
    # Sixteen bits are sorted in one pass.
    shallow = depth.max(initial=0) <= np.iinfo(np.int16).max
    by_depth = np.argsort(depth.astype(np.int16) if shallow else depth, kind="stable")
    opened = np.maximum.accumulate(np.where(begins[by_depth], np.arange(len(depth)), 0))
    found = np.empty(len(depth), dtype=np.int64)
    found[by_depth] = which[by_depth[opened]] if len(depth) else 0
    found[depth == 0] = -1
    # Where rows nest, whoever ends is the innermost one; else they cross, and are gone through.
    ends = np.flatnonzero(~begins)
    crossed = ends[found[ends - 1] != which[ends]]
    if len(crossed):
        for first, beyond in _tangles(which[crossed], begins, which, len(rows)):
            below = int(found[first - 1]) if first else -1
            part = slice(first, beyond)
            found[part] = _one_by_one(begins[part], which[part], below)
    return found


def _tangles(crossed: IntArray, begins: Flags, which: IntArray, count: int) -> list[list[int]]:
    """Return ranges of turns outside of which rows nest, first and beyond-last turn of each.

    They hold the crossed rows and whatever row has one of its ends among them, so that all other
    rows lie outside, or around.
    """
    turns = np.arange(len(which))
    opens, closes = np.empty((2, count), dtype=np.int64)
    opens[which[begins]] = turns[begins]
    closes[which[~begins]] = turns[~begins]
    size = len(which) + 1
    for _ in range(_MOST_ROUNDS):
        begun = np.bincount(as_index(opens[crossed]), minlength=size)
        over = np.bincount(as_index(closes[crossed] + 1), minlength=size)
        inside = np.cumsum(begun - over) > 0
        edges = np.diff(inside.astype(np.int8), prepend=0)
        # By turn: the number of the range that it is in, 0 outside.
        number = np.where(inside, np.cumsum(edges > 0), 0)
        halves = np.flatnonzero(number[opens] != number[closes])
        if len(halves) == 0:
            ranges: list[list[int]] = np.flatnonzero(edges).reshape(-1, 2).tolist()
            return ranges
        crossed = np.concatenate((crossed, halves))
    return [[0, len(which)]]


def _one_by_one(begins: Flags, which: IntArray, below: int) -> IntArray:
    """Return after each turn the row that started last among those that run, else `below`."""
    ended: set[int] = set()
    stack: list[int] = []
    found = []
    for starts, row in zip(begins.tolist(), which.tolist(), strict=True):
        if starts:
            stack.append(row)
        else:
            ended.add(row)
            while stack and stack[-1] in ended:
                stack.pop()
        found.append(stack[-1] if stack else below)
    return np.array(found, dtype=np.int64)
