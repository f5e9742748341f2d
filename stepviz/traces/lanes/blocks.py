"""What a screen needs of many lanes: a time range, with what is narrower than a pixel merged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from stepviz.indices import as_index
from stepviz.traces.lanes.packing import BoolArray, IntArray, Lane, joined

#: Bits of `Blocks.flags`.
FOUND: Final = 1

_LARGEST: Final = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Blocks:
    """Intervals, or runs of them, lane after lane: those of lane k are `bounds[k]:bounds[k+1]`.

    `kind` is that which takes most of a run's time, `name` and `row` those of its longest
    interval, `count` how many it holds, `busy_ns` their time.
    """

    bounds: IntArray
    start: IntArray
    finish: IntArray
    busy_ns: IntArray
    count: IntArray
    kind: npt.NDArray[np.uint8]
    name: IntArray
    row: IntArray
    flags: npt.NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.start)

    def packed(self, origin: int, unit: int) -> bytes:
        """Return the columns for a page, little-endian, one after the other.

        int32 bounds, start, finish, name; uint32 count; uint8 kind, flags, share of time busy.
        Times are counted in units of `unit` ns from `origin`, what lies further is cut.
        """
        start = np.clip((self.start - origin) // unit, -_LARGEST, _LARGEST)
        finish = np.clip(-((origin - self.finish) // unit), -_LARGEST, _LARGEST)
        length = np.maximum(self.finish - self.start, 1)
        share = np.ceil(255 * np.minimum(self.busy_ns / length, 1.0))
        columns = (
            self.bounds.astype("<i4"),
            start.astype("<i4"),
            finish.astype("<i4"),
            self.name.astype("<i4"),
            np.minimum(self.count, 2**32 - 1).astype("<u4"),
            self.kind,
            self.flags,
            share.astype(np.uint8),
        )
        return b"".join(column.tobytes() for column in columns)


def merged(
    lanes: Sequence[Lane],
    start: int,
    finish: int,
    pixel: int,
    *,
    hidden: BoolArray | None = None,
    found: BoolArray | None = None,
) -> Blocks:
    """Return what is to be drawn of some lanes between two times.

    Parameters
    ----------
    lanes
        The lanes, each sorted as `packing.pack` leaves them.
    start, finish
        The range, ns.
    pixel
        How long a pixel is, ns. Neighbours that are shorter and begin in the same pixel become
        one block. Pixels are counted from time 0, so a range that moves finds the same blocks.
    hidden
        By code of kind, whether it is left out.
    found
        By code of name, whether it is to be marked.
    """
    parts = [lane.take(lane.within(start, finish)) for lane in lanes]
    sizes = np.array([len(part) for part in parts], dtype=np.int64)
    lane_of = np.repeat(np.arange(len(parts)), as_index(sizes))
    work = joined(parts)
    if hidden is not None:
        seen = ~hidden[work.kind]
        work, lane_of = work.take(seen), lane_of[seen]
    begins, ends = work.start, work.finish
    length = ends - begins
    wide = length >= pixel
    bucket = begins // pixel
    opens = np.ones(len(begins), dtype=np.bool_)
    opens[1:] = wide[1:] | wide[:-1] | (bucket[1:] != bucket[:-1]) | (lane_of[1:] != lane_of[:-1])
    first = np.flatnonzero(opens)
    count = np.diff(np.append(first, len(begins)))
    flags = np.zeros(len(first), dtype=np.uint8)
    if len(first) and found is not None:
        flags[np.logical_or.reduceat(found[work.name], as_index(first))] |= FOUND
    longest, most = first.copy(), work.kind[first].copy()
    _sum_up(
        np.flatnonzero(count > 1), np.cumsum(opens) - 1, count, length, work.kind, longest, most
    )
    return Blocks(
        bounds=np.searchsorted(lane_of[first], np.arange(len(parts) + 1)).astype(np.int64),
        start=begins[first],
        finish=np.maximum.reduceat(ends, as_index(first)) if len(first) else ends,
        busy_ns=np.add.reduceat(length, as_index(first)) if len(first) else length,
        count=count,
        kind=most,
        name=work.name[longest],
        row=work.row[longest],
        flags=flags,
    )


def _sum_up(
    runs: IntArray,
    run_of: IntArray,
    count: IntArray,
    length: IntArray,
    kind: npt.NDArray[np.uint8],
    longest: IntArray,
    most: npt.NDArray[np.uint8],
) -> None:
    """Find the longest interval of each run, and the kind that takes most of its time."""
    if len(runs) == 0:
        return
    inside = np.flatnonzero(count[run_of] > 1)
    run = np.searchsorted(runs, run_of[inside])
    # Sorted by run and then by length: the last of each run is its longest; of equals the first.
    order = np.lexsort((-inside, length[inside], run))
    last = np.append(np.flatnonzero(np.diff(run[order])), len(order) - 1)
    longest[runs] = inside[order[last]]
    kinds = int(kind.max()) + 1
    # Zero-length marks count too where there is nothing else.
    weight = np.maximum(length[inside], 0.25)
    time = np.bincount(
        as_index(run * kinds + kind[inside]), weights=weight, minlength=len(runs) * kinds
    )
    most[runs] = time.reshape(len(runs), kinds).argmax(axis=1)
