"""Offsets and drifts of the ranks' clocks, from the ends of the collectives they share.

Clocks are compared within each process group first, groups are then joined by the ranks they
share. The largest set of ranks whose clocks agree is the reference, and never moves; the others
are measured against it, on each collective against the middle of the reference's ends, where
collectives whose ends lie close together weigh more.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from stepviz.traces.joining.ends import Ends, middle, middle_of_others, tightness
from stepviz.traces.joining.robust import FloatArray, Line, line_of

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

#: Ends of NCCL kernels are this far apart by nature; a smaller offset is no clock's.
NATURAL_NS: Final = 10_000
#: Fewer collectives cannot tell a clock from collectives that end late.
FEWEST: Final = 3


@dataclass
class Estimates:
    """What ends tell of each rank's clock; arrays over the run's ranks, in ns.

    `offset` is how far a clock is ahead at `reference_ns` of the reference clock, and `slope`
    how that grows. `group` numbers ranks that collectives connect (−1: none). `precision` is
    three standard errors.
    """

    offset: FloatArray
    slope: FloatArray
    residual: FloatArray
    precision: FloatArray
    count: IntArray
    peaked: BoolArray
    reference: BoolArray
    group: IntArray
    reference_ns: int
    span: float

    @classmethod
    def none(cls, count: int) -> Estimates:
        """Return what no collective tells."""
        zeros = np.zeros(count)
        return cls(
            zeros, zeros.copy(), zeros.copy(), zeros.copy(), np.zeros(count, dtype=np.int64),
            np.zeros(count, dtype=bool), np.zeros(count, dtype=bool),
            np.full(count, -1, dtype=np.int64), 0, 0.0,
        )  # fmt: skip

    def corrected(self, table: Ends, columns: IntArray) -> IntArray:
        """Return the ends of some members on the reference clock."""
        times = table.times[:, columns]
        who = table.members[columns]
        moved: IntArray = times - np.rint(self.offset[who]).astype(np.int64)
        slope = self.slope[who]
        if slope.any():
            ahead = (moved - self.reference_ns).astype(np.float64) * (slope / (1 + slope))
            moved = moved - np.rint(ahead).astype(np.int64)
        return moved


@dataclass
class _Found:
    """Differences of one rank to the middle of others, over all its tables."""

    times: list[FloatArray] = field(default_factory=list)
    apart: list[FloatArray] = field(default_factory=list)
    weights: list[FloatArray] = field(default_factory=list)

    def line(self) -> Line:
        return line_of(
            np.concatenate(self.times), np.concatenate(self.apart), np.concatenate(self.weights)
        )


def estimate(tables: list[Ends], ranks: int) -> Estimates:
    """Estimate the clocks of a run of so many ranks."""
    found = Estimates.none(ranks)
    if not tables:
        return found
    low = min(int(table.times.min()) for table in tables)
    high = max(int(table.times.max()) for table in tables)
    # One rank's clock may be hours away: the median is where the run really is.
    starts = [int(np.median(table.times[0] - low)) for table in tables]
    finishes = [int(np.median(table.times[-1] - low)) for table in tables]
    found.span = float(min(high - low, max(1, max(finishes) - min(starts))))
    found.reference_ns = low + (min(starts) + max(finishes)) // 2
    _connect(tables, found)
    for group in range(int(found.group.max()) + 1):
        _choose_reference(np.flatnonzero(found.group == group), found)
    _measure(tables, found)
    return found


def _connect(tables: list[Ends], found: Estimates) -> None:
    """Place all ranks on one rough clock for each set of ranks that collectives connect."""
    of_rank: dict[int, list[int]] = defaultdict(list)
    for at, table in enumerate(tables):
        for rank in table.members.tolist():
            of_rank[rank].append(at)
    lines: dict[int, list[Line]] = {}
    group = 0
    for first in range(len(tables)):
        if (found.group[tables[first].members] >= 0).all():
            continue
        queue, queued = [first], {first}
        while queue:
            at = heapq.heappop(queue)
            table = tables[at]
            new = found.group[table.members] < 0
            if not new.any():
                continue
            lines[at] = _lines_within(table, found.reference_ns)
            _place(table.members, new, lines[at], found)
            found.group[table.members[new]] = group
            for rank in table.members[new].tolist():
                for other in of_rank[rank]:
                    if other not in queued:
                        queued.add(other)
                        # Tables are sorted: those that tell most come first.
                        heapq.heappush(queue, other)
        group += 1


def _lines_within(table: Ends, reference_ns: int) -> list[Line]:
    """Return each member's clock against that of the member in the middle."""
    base, apart = middle(table.times)
    away = np.abs((table.times - base[:, None]) - apart[:, None])
    chosen = int(np.argmin(np.median(away, axis=0)))
    clock = table.times[:, chosen]
    times = (clock - reference_ns).astype(np.float64)
    weights = np.ones(len(times))
    return [
        line_of(times, (table.times[:, j] - clock).astype(np.float64), weights)
        for j in range(len(table.members))
    ]


def _place(members: IntArray, new: BoolArray, lines: list[Line], found: Estimates) -> None:
    at = np.array([line.place.at for line in lines])
    slope = np.array([line.slope for line in lines])
    known = members[~new]
    if len(known):
        at += np.median(found.offset[known] - at[~new])
        slope += np.median(found.slope[known] - slope[~new])
    who = members[new]
    found.offset[who], found.slope[who] = at[new], slope[new]
    few = np.array([line.count < FEWEST for line in lines])
    precision = np.array([line.place.precision for line in lines])
    found.precision[who] = np.where(few, np.inf, precision)[new]


def _choose_reference(ranks: IntArray, found: Estimates) -> None:
    """Choose the largest set of ranks that agree with one of them, the lowest where several."""
    offset, slope = found.offset[ranks], found.slope[ranks]
    room = NATURAL_NS + found.precision[ranks]
    best = np.zeros(len(ranks), dtype=bool)
    for k in range(len(ranks)):
        near = np.abs(offset - offset[k]) <= room + room[k] - NATURAL_NS
        near &= np.abs(slope - slope[k]) * found.span <= NATURAL_NS
        if near.sum() > best.sum():
            best = near
    found.reference[ranks[best]] = True


def _measure(tables: list[Ends], found: Estimates) -> None:
    """Measure all ranks against the reference, those it does not meet against those it does."""
    known = found.reference.copy()
    found.offset[known] = found.slope[known] = 0.0
    while True:
        differences: dict[int, _Found] = defaultdict(_Found)
        sided: dict[int, bool] = {}
        for table in tables:
            here, there = known[table.members], ~known[table.members]
            if not here.any() or not there.any():
                continue
            times = found.corrected(table, np.flatnonzero(here))
            base, apart = middle(times)
            outside = np.flatnonzero(there)
            _note(table, outside, base, apart[:, None], times, differences, sided, found)
        if not differences:
            break
        for rank, one in differences.items():
            _keep(rank, one.line(), found)
            known[rank] = True
    # Once more, now that all are nearly right: a rank's own late end makes a collective tell less.
    differences, sided = defaultdict(_Found), {}
    for table in tables:
        everyone = np.arange(len(table.members))
        times = found.corrected(table, everyone)
        base, apart = middle_of_others(times)
        _note(table, everyone, base, apart, times, differences, sided, found)
    for rank, one in differences.items():
        line = one.line()
        _keep(rank, replace(line, slope=0.0) if found.reference[rank] else line, found)


def _note(
    table: Ends,
    columns: IntArray,
    base: IntArray,
    apart: FloatArray,
    times: IntArray,
    differences: dict[int, _Found],
    sided: dict[int, bool],
    found: Estimates,
) -> None:
    weights = tightness(times)
    clock = (base - found.reference_ns).astype(np.float64)
    ahead = (table.times[:, columns] - base[:, None]).astype(np.float64) - apart
    for j, rank in enumerate(table.members[columns].tolist()):
        # Ends of one-sided exchanges count only where nothing better is there.
        if table.one_sided and not sided.setdefault(rank, table.one_sided):
            continue
        sided[rank] = table.one_sided
        one = differences[rank]
        one.times.append(clock)
        one.apart.append(ahead[:, j])
        one.weights.append(weights)


def _keep(rank: int, line: Line, found: Estimates) -> None:
    found.offset[rank], found.slope[rank] = line.place.at, line.slope
    found.residual[rank] = line.place.residual
    found.precision[rank] = line.place.precision
    found.count[rank] = line.count
    found.peaked[rank] = line.place.peaked
