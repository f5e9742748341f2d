"""Which row of a thread holds which, for millions of rows at once."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

#: Ends of nested rows may cross by this much: old profilers round to whole microseconds.
_ROUNDING_NS: Final = 1_000
#: What holds a row is looked for over so many others one by one.
_MOST_HOPS: Final = 24


def parents(
    start: IntArray,
    finish: IntArray,
    track: IntArray,
    rows: IntArray,
    depth: npt.NDArray[np.integer] | None = None,
) -> IntArray:
    """Return, per row of all, the row that holds it; −1 where none does.

    A row is held by the last one before it on its track that still ran when it ended, give or
    take the profiler's rounding. Rows that only overlap (work queued on a thread) hold each
    other not.

    Parameters
    ----------
    start, finish, track
        Of all rows.
    rows
        Those to nest; the others hold nothing.
    depth
        Of all rows: of two with the same start and finish the one of lesser depth holds the
        other; by default, and where these are equal too, the one that comes first.
    """
    depths = np.zeros(len(start), dtype=np.int8) if depth is None else depth
    parent = np.full(len(start), -1, dtype=np.int64)
    order = rows[np.argsort(track[rows], kind="stable")]
    edges = np.flatnonzero(np.diff(track[order])) + 1
    for rows_of_track in np.split(order, edges):
        if len(rows_of_track) == 0:
            continue
        first_outer = np.lexsort(
            (depths[rows_of_track], -finish[rows_of_track], start[rows_of_track])
        )
        own = rows_of_track[first_outer]
        begin, end = start[own], finish[own]
        # Where two rows cross by rounding, the shorter must lie inside for most of its time.
        reach = np.maximum(end - _ROUNDING_NS, (begin + end) // 2)
        at = _holders(end, np.maximum(reach, begin + 1))
        held = at >= 0
        parent[own[held]] = own[at[held]]
    return parent


def _holders(end: IntArray, wanted: IntArray) -> IntArray:
    """Return, per place, the last one before it whose end is at least what it wants; else −1.

    What a place wants is at most its own end and one more. So where the end of one is too
    early, so are those of all between it and where that one has got to: nearly all rows are
    held by one of the few places that are passed so.
    """
    at = np.arange(-1, len(end) - 1)
    going = np.arange(len(end))
    for _ in range(_MOST_HOPS):
        going = going[at[going] >= 0]
        going = going[end[at[going]] < wanted[going]]
        if len(going) == 0:
            return at
        at[going] = at[at[going]]
    at[going] = last_reaching(end, wanted[going], going)
    return at


def last_reaching(values: IntArray, wanted: IntArray, before: IntArray | None = None) -> IntArray:
    """Return, per question, the last place whose value is at least the wanted one.

    Each looks back over blocks that double in size, and then into the block found, so that
    all of them together take few steps over shrinking arrays.

    Parameters
    ----------
    values
        Of all places.
    wanted
        Of each question.
    before
        Only places before this one; by default question k asks about places before k.

    Returns
    -------
    array
        −1 where there is no such place.
    """
    found = np.full(len(wanted), -1, dtype=np.int64)
    if before is None:
        before = np.arange(len(wanted))
    if len(values) == 0:
        return found
    size = len(values)
    # All levels of the tree of maxima in one array: level k begins at offset[k].
    lowest = np.iinfo(np.int64).min
    levels = [values]
    while size > 1:
        low = levels[-1]
        if size % 2:
            low = np.append(low, lowest)
            levels[-1] = low
        levels.append(np.maximum(low[0::2], low[1::2]))
        size = len(levels[-1])
    offset = np.cumsum([0, *(len(level) for level in levels)])
    tree = np.concatenate(levels)
    who = np.flatnonzero(before > 0)
    block, level = before[who] - 1, np.zeros(len(who), dtype=np.int64)
    # Up: to the nearest block on the left that holds a value as large.
    tops, blocks, heights = [], [], []
    while len(who):
        good = tree[offset[level] + block] >= wanted[who]
        tops.append(who[good])
        blocks.append(block[good])
        heights.append(level[good])
        more = ~good & (block > 0)
        who, block, level = who[more], block[more], level[more]
        # From the left half of a pair on to the pair before; from the right half to the left.
        rises = block % 2 == 0
        block = np.where(rises, block // 2 - 1, block - 1)
        level = level + rises
    who = np.concatenate(tops) if tops else who
    block = np.concatenate(blocks) if blocks else block
    level = np.concatenate(heights) if heights else level
    # Down: to the last value in the block that is as large.
    while len(who):
        leaf = level == 0
        found[who[leaf]] = block[leaf]
        who, block, level = who[~leaf], block[~leaf], level[~leaf] - 1
        right = block * 2 + 1
        block = np.where(tree[offset[level] + right] >= wanted[who], right, right - 1)
    return found


def nearest(parent: IntArray, chosen: BoolArray, *, itself: bool = True) -> IntArray:
    """Return, per row, the nearest chosen row among itself and those that hold it; else −1."""
    link = np.where(chosen, np.arange(len(parent)), parent)
    while True:
        # Rows that have arrived point to themselves, or nowhere.
        going = np.flatnonzero(link >= 0)
        going = going[~chosen[link[going]]]
        if len(going) == 0:
            break
        link[going] = link[link[going]]
    if itself:
        return link
    outer = np.full(len(parent), -1, dtype=np.int64)
    inside = np.flatnonzero(parent >= 0)
    outer[inside] = link[parent[inside]]
    return outer
