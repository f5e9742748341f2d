"""Rows whose times cannot be: outside the recording, or longer than what they are part of.

The profiler says from when to when it recorded; where it does not, the bulk of the rows does.
Every row that is dropped or cut is counted, with the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from stepviz.traces.classifying.name_traits import Trait, traits
from stepviz.traces.reading.columns import Mark
from stepviz.traces.reading.exact import json_number, nanoseconds
from stepviz.traces.reading.masks import among, of_codes
from stepviz.traces.reading.repairs import Repairs
from stepviz.traces.table import Table

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

_SECOND: Final = 10**9
#: Without a recording window, rows this far from all others are not of this recording.
FAR_NS: Final = 600 * _SECOND
#: A row may outlast the one it began in by this much.
OUTLAST_NS: Final = 1_000_000
#: Where more of the rows than this lie outside, it is the window that cannot be.
MOST_OUTSIDE: Final = 0.1
#: The largest stretch of rows is the recording if it holds this part of them.
BULK_PART: Final = 0.75


def recording(
    events: Table, marks: Sequence[Mark], base: int, rank: int | None
) -> tuple[int, int] | None:
    """Return from when to when the profiler says rows may lie, ns, with room to spare.

    Devices work on for a while after the recording's end, so there is room on both sides.

    Parameters
    ----------
    events
        cat, start_ns, finish_ns of the rank's intervals.
    marks
        Instants of the file.
    base
        What to add to their times, ns.
    rank
        In a merged file only its own marks count.
    """
    start, finish = events["start_ns"], events["finish_ns"]
    spans = among(events["cat"], ("Trace",)) & (finish > start)
    lows: list[int] = start[spans].tolist()
    highs: list[int] = finish[spans].tolist()
    closed = False
    for mark in marks:
        at = nanoseconds(json_number(mark.ts))
        if at is None or mark.rank not in (-1, rank):
            continue
        if mark.name.startswith("Iteration Start"):
            lows.append(at + base)
        elif mark.name.startswith("Record Window End"):
            highs.append(at + base)
            closed = True
    if not lows or not highs or max(highs) <= min(lows):
        return None
    length = max(highs) - min(lows)
    room = length // 10 + _SECOND // 10 if closed else length + _SECOND
    return min(lows) - room, max(highs) + room


def without_impossible(
    events: Table, said: tuple[int, int] | None, host: BoolArray, repairs: Repairs
) -> tuple[BoolArray, IntArray | None]:
    """Return which rows to keep, and all ends with those that cannot be cut back.

    None for the ends where all of them can be.

    Parameters
    ----------
    events
        name, cat, track, start_ns, finish_ns.
    said
        The recording's window (see `recording`), None where the file has none.
    host
        Which rows are operators or calls of a thread, so that they nest.
    repairs
        Gets a sentence per kind of fault.
    """
    start, finish = events["start_ns"], events["finish_ns"].copy()
    markers = _markers(events)
    own = ~among(events["cat"], ("Trace",))
    low, high, how = _window(start, finish, own, said, repairs)
    strays = own & ((start < low) | (start > high))
    too_long = own & ~strays & (finish > high)
    finish[too_long & markers] = high
    keep = ~strays & ~(too_long & ~markers)
    for note, count, one, what in (
        (repairs.drop, int(strays.sum()), "event", f"outside {how}: dropped"),
        (repairs.drop, int((too_long & ~markers).sum()), "event",
         f"ending long after {how}: dropped"),
        (repairs.mend, int((too_long & markers).sum()), "step marker",
         f"ending long after {how}: cut"),
    ):  # fmt: skip
        if count:
            note(count, f"{count} {one}{'' if count == 1 else 's'} {what}")
    cut = _outlasting(start, finish, events["track"], host & keep, (host | markers) & keep)
    for row, end in cut.items():
        finish[row] = end
    if cut:
        noun = "event outlasts" if len(cut) == 1 else "events outlast"
        repairs.mend(
            len(cut), f"{len(cut)} {noun} the operator or step it began in: cut to its end"
        )
    cut_back = bool(cut) or bool((too_long & markers).any())
    return keep, finish if cut_back else None


def _markers(events: Table) -> BoolArray:
    names = events["name"]
    return of_codes(traits(names.categories) & Trait.STEP > 0, names.codes)


def _window(
    start: IntArray,
    finish: IntArray,
    own: BoolArray,
    said: tuple[int, int] | None,
    repairs: Repairs,
) -> tuple[int, int, str]:
    """Return from when on and until when rows may lie, and what says so."""
    if said is not None:
        low, high = said
        outside = own & ((start < low) | (finish > high))
        if outside.sum() <= max(1, MOST_OUTSIDE * own.sum()):
            return low, high, "the recording's window"
        repairs.append("most rows lie outside the recording's window, which was left out")
    order = np.sort(start[own])
    whole = int(start.min(initial=0)), int(finish.max(initial=0))
    if len(order) == 0:
        return *whole, "the file's rows"
    runs = np.split(order, np.flatnonzero(np.diff(order) > FAR_NS) + 1)
    bulk = max(runs, key=len)
    if len(bulk) < BULK_PART * len(order):
        repairs.append(f"rows lie in {len(runs)} stretches over 10 minutes apart")
        return *whole, "the file's rows"
    return int(bulk[0]) - FAR_NS, int(bulk[-1]) + FAR_NS, "the time of nearly all rows"


def _outlasting(
    start: IntArray, finish: IntArray, track: IntArray, inner: BoolArray, outer: BoolArray
) -> dict[int, int]:
    """Return rows that end long after the one they began in, with that one's end.

    Calls of one thread nest. Where several rows outlast one, it is that one's end that is
    wrong, and they stay.
    """
    rows = np.flatnonzero(outer)
    rows = rows[_may_outlast(start[rows], finish[rows], track[rows])]
    order = rows[np.lexsort((-finish[rows], start[rows], track[rows]))].tolist()
    found: dict[int, int] = {}
    stack: list[tuple[int, int]] = []
    thread = None
    for row in order:
        begin, end = int(start[row]), int(finish[row])
        if track[row] != thread:
            stack, thread = [], track[row]
        while stack and stack[-1][1] <= begin:
            stack.pop()
        if stack and inner[row] and end > stack[-1][1] + OUTLAST_NS:
            found[row] = stack[-1][0]
            end = stack[-1][1]
        stack.append((row, end))
    blamed = Counter(found.values())
    return {row: int(finish[parent]) for row, parent in found.items() if blamed[parent] == 1}


def _may_outlast(start: IntArray, finish: IntArray, track: IntArray) -> BoolArray:
    """Return which rows are long enough to outlast one by much, or hold the start of such a row.

    The others, nearly all of a trace, cannot change what `_outlasting` finds.
    """
    keep = finish - start > OUTLAST_NS
    for thread in np.unique(track[keep]):
        rows = np.flatnonzero(track == thread)
        begins = np.sort(start[rows[keep[rows]]])
        first = np.searchsorted(begins, start[rows], side="left")
        after = np.searchsorted(begins, finish[rows], side="left")
        keep[rows] |= after > first
    return keep
