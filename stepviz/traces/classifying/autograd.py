"""Forward, backward and recompute by what autograd writes down, not by names.

An operator that records for backward says its sequence number; the engine's row that comes
back to it says the same number and the thread it was recorded on. Operators before it that
record nothing say the same number, so only the last counts, and what holds it. Arrows
(`fwdbwd`) say the same where both ends are in the file. What records inside the engine is
recomputed, unless the engine comes back to that too, later: then it is a gradient of a
gradient.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from stepviz.traces.classifying.nesting import nearest

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

#: Threads of the engine, by the name that PyTorch gives them.
ENGINE_THREAD: Final = "pt_autograd"


class HostRows(NamedTuple):
    """What is asked of host rows here; arrays over all rows of a file."""

    start: IntArray
    finish: IntArray
    track: IntArray
    parent: IntArray
    sequence: IntArray
    fwd_thread: IntArray
    operator: BoolArray
    """Rows of operators."""
    module: BoolArray
    """Rows of Python modules' calls."""
    evaluate: BoolArray
    """The engine's rows around all work for one gradient."""


class Recorded(NamedTuple):
    """What autograd says of rows, as masks over all rows of a file."""

    engine: BoolArray
    forward: BoolArray
    recompute: BoolArray
    inside: BoolArray
    """Rows that the engine's rows hold."""


def recorded(rows: HostRows, forward_ns: IntArray, backward_ns: IntArray) -> Recorded:
    """Return what autograd wrote down about host rows.

    Parameters
    ----------
    rows
        The rows.
    forward_ns, backward_ns
        The two ends of its arrows.
    """
    engine = rows.evaluate | (rows.operator & (rows.fwd_thread > 0))
    if len(backward_ns):
        # Where numbers are missing the arrows still end on backward's operators.
        engine |= _starting(rows.operator & (rows.sequence < 0), rows.start, backward_ns)
    holder = nearest(rows.parent, engine, itself=False)
    inside = holder >= 0
    noted = rows.operator & (rows.sequence >= 0) & (rows.fwd_thread <= 0) & ~engine
    source = _starting(rows.operator & ~engine, rows.start, forward_ns)
    came_back, again = _came_back(rows, engine, noted, holder)
    recompute = inside & (noted | source | rows.module)
    if again.any():
        # The outermost of the engine's rows that hold what is differentiated once more.
        outermost = _outermost(rows.parent, engine)
        once_more = np.zeros(len(engine), dtype=np.bool_)
        once_more[outermost[again]] = True
        recompute &= ~once_more[outermost]
    forward = ~inside & ((noted & came_back) | source | rows.module)
    return Recorded(engine, forward, recompute, inside)


def _starting(chosen: BoolArray, start: IntArray, times: IntArray) -> BoolArray:
    """Return which of the chosen rows start at one of some times."""
    found = np.zeros(len(chosen), dtype=np.bool_)
    at = np.flatnonzero(chosen)
    found[at] = np.isin(start[at], times)
    return found


def _came_back(
    rows: HostRows, engine: BoolArray, noted: BoolArray, holder: IntArray
) -> tuple[BoolArray, BoolArray]:
    """Return which operators the engine came back to, and which of those inside it later on."""
    back = np.flatnonzero(engine & (rows.sequence >= 0) & (rows.fwd_thread > 0))
    if len(back) == 0:
        # Old writers say no thread: any row of the engine with a number is one.
        back = np.flatnonzero(engine & (rows.sequence >= 0))
    came_back = np.zeros(len(noted), dtype=np.bool_)
    again = came_back.copy()
    who = np.flatnonzero(noted)
    if len(back) == 0 or len(who) == 0:
        return came_back, again
    thread = _threads(rows, back, who)
    # Numbers are counted on each thread by itself, so thread and number together are the key.
    highest = int(max(rows.sequence[back].max(), rows.sequence[who].max())) + 1
    span = max(int(rows.track.max()), 0) + 2
    if highest > np.iinfo(np.int64).max // span:
        return came_back, again
    wanted = thread * highest + rows.sequence[back]
    key = rows.track[who] * highest + rows.sequence[who]
    # Of the operators of one number the last recorded it, and what holds that one.
    _, inverse = np.unique(key, return_inverse=True)
    last_start = np.full(int(inverse.max()) + 1, np.iinfo(np.int64).min)
    np.maximum.at(last_start, inverse, rows.start[who])
    holds = rows.finish[who] >= last_start[inverse]
    came_back[who] = np.isin(key, wanted) & holds
    within = who[came_back[who] & (holder[who] >= 0)]
    if len(within):
        # The last time the engine came to that number, against when its own row there ended.
        order = np.lexsort((rows.start[back], wanted))
        keys = rows.track[within] * highest + rows.sequence[within]
        last = np.searchsorted(wanted[order], keys, side="right") - 1
        outermost = _outermost(rows.parent, engine)
        later = rows.start[back[order[last]]] >= rows.finish[outermost[within]]
        again[within[later]] = True
    return came_back, again


def _threads(rows: HostRows, back: IntArray, who: IntArray) -> IntArray:
    """Return, per row of the engine, the track of the thread its number was counted on.

    The engine numbers threads in a way of its own: its thread is the track that shows most
    of the numbers it comes back to.
    """
    names = rows.fwd_thread[back]
    thread = np.full(len(back), -1, dtype=np.int64)
    tracks = np.unique(rows.track[who])
    for name in np.unique(names):
        asked = np.unique(rows.sequence[back[names == name]])
        shown = [
            np.isin(asked, rows.sequence[who[rows.track[who] == track]]).sum() for track in tracks
        ]
        thread[names == name] = tracks[int(np.argmax(shown))]
    return thread


def _outermost(parent: IntArray, engine: BoolArray) -> IntArray:
    """Return, per row, the outermost engine row that holds it or is it; −1 where none."""
    up = nearest(parent, engine, itself=False)
    link = nearest(parent, engine)
    while True:
        going = np.flatnonzero(link >= 0)
        going = going[up[link[going]] >= 0]
        if len(going) == 0:
            return link
        link[going] = up[link[going]]
