"""One rank's step cut into pieces that tile its window: what ran, and what no row explains.

With a device the device's rows are the work and the host only names what it did while the
device was idle. Without one the main thread's operators are the work.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from stepviz.core.intervals import clip, intersect, subtract, union
from stepviz.traces.classifying.patterns import WAITING_CALL
from stepviz.traces.classifying.windows import Window
from stepviz.traces.reading.rows import CALLS, DEVICE

IntArray = npt.NDArray[np.int64]

#: A stretch of a thread without any operator is explained by its region up to this length.
HOST_GAP_NS: Final = 1_000_000
#: A shorter stretch counts as a wait where an exchange ends inside it.
WAIT_GAP_NS: Final = 20_000

#: At an instant where several kinds run, the first of these has it.
PRIORITY: Final = (
    "forward",
    "backward",
    "recompute",
    "optimizer",
    "input",
    "checkpoint",
    "other",
)
#: Regions that are their kind even where no operator runs inside: they wait by nature.
_WAITS_BY_NATURE: Final = ("input", "checkpoint")

#: What a piece may be besides a kind: nothing that the trace shows.
UNEXPLAINED: Final = "unexplained"


#: The engine's row around all work for one gradient; rows of it follow one another.
_GRADIENT: Final = "autograd::engine::evaluate_function"


class Piece(NamedTuple):
    """A stretch of one rank's window, in ns. `region` is the kind it happened in.

    Backward in the region `unexplained` is a stop between two gradients (see `stops`).
    """

    start: int
    finish: int
    kind: str
    region: str


def rank_pieces(events: pd.DataFrame, window: Window, main: int, ends: IntArray) -> list[Piece]:
    """Return pieces that tile the window of one rank, in order, without the exchange.

    Parameters
    ----------
    events
        All rows of the rank, with their kinds.
    window
        The step on this rank.
    main
        The track of the thread that drives the step.
    ends
        Ends of exchanges on this rank, in ns: a stretch of the thread in which one ends is
        a wait, however short.
    """
    if window.measured == "host":
        return _host_pieces(events, window, main, ends)
    # It is the device that waits for an exchange here, not the thread that launched it.
    return _device_pieces(events, window, _host_pieces(events, window, main, ends[:0]))


def stops(pieces: list[Piece]) -> int:
    """Return how many ns of backward are stops between two gradients of over 1 ms."""
    found = [p for p in pieces if p.kind == "backward" and p.region == UNEXPLAINED]
    return sum(p.finish - p.start for p in found if p.finish - p.start > HOST_GAP_NS)


def main_track(events: pd.DataFrame, ranges: pd.DataFrame) -> int:
    """Return the track of the thread that drives the steps."""
    if not ranges.empty:
        marked = int(ranges["track"].iloc[0])
        operators = events["cat"].isin(["cpu_op", "user_annotation"])
        if (operators & (events["track"] == marked)).sum() > len(ranges):
            return marked
    rows = events[events["cat"].isin(["cpu_op", "user_annotation"])]
    rows = rows[rows["kind"] != "exchange"]
    return int(rows["track"].mode().iloc[0]) if len(rows) else -1


def _device_pieces(events: pd.DataFrame, window: Window, host: list[Piece]) -> list[Piece]:
    inside = _inside(events, window) & events["cat"].isin(list(DEVICE)).to_numpy()
    work = events[inside]
    pieces: list[Piece] = []
    covered = np.empty((0, 2), dtype=np.int64)
    for kind in PRIORITY:
        spans = union(clip(_spans(work[work["kind"] == kind]), window.start_ns, window.finish_ns))
        new = subtract(spans, covered)
        covered = union(np.concatenate((covered, new)))
        pieces += [Piece(int(a), int(b), kind, kind) for a, b in new]
    whole = np.array([[window.start_ns, window.finish_ns]], dtype=np.int64)
    idle = subtract(whole, covered)
    labelled: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for piece in host:
        kind = piece.kind if piece.kind in (*_WAITS_BY_NATURE, UNEXPLAINED) else "host"
        labelled[kind].append((piece.start, piece.finish))
    for kind, stretches in labelled.items():
        beside = intersect(idle, union(np.array(stretches, dtype=np.int64)))
        pieces += [Piece(int(a), int(b), kind, "host") for a, b in beside if b > a]
    return sorted(pieces)


def _host_pieces(events: pd.DataFrame, window: Window, main: int, ends: IntArray) -> list[Piece]:
    painted = _painted(events, window, main)
    edges, busy, region, region_row = painted.edges, painted.busy, painted.region, painted.row
    pieces: list[Piece] = []
    at = 0
    while at < len(busy):
        if busy[at] is not None:
            pieces.append(
                Piece(int(edges[at]), int(edges[at + 1]), busy[at], region[at] or busy[at])
            )
            at += 1
            continue
        stop = at
        while stop < len(busy) and busy[stop] is None:
            stop += 1
        low, high = int(edges[at]), int(edges[stop])
        a_wait = high - low >= WAIT_GAP_NS and bool(((ends > low) & (ends <= high)).any())
        if low in painted.gradient_ends and high in painted.gradient_starts:
            # Between two gradients nothing waits for gradients: a stop there is backward's own.
            pieces.append(Piece(low, high, "backward", UNEXPLAINED))
            at = stop
            continue
        before = at - 1 if at and pieces else None
        for i in range(at, stop):
            kind = region[i]
            if kind not in _WAITS_BY_NATURE and (a_wait or high - low > HOST_GAP_NS):
                kind = UNEXPLAINED
            elif before is not None and region_row[before] == region_row[i]:
                # Between two operators of one region: the time belongs to what just ran.
                kind = busy[before]
            pieces.append(
                Piece(int(edges[i]), int(edges[i + 1]), kind or "other", region[i] or UNEXPLAINED)
            )
        at = stop
    return _joined(pieces)


class _Painted(NamedTuple):
    """A window between edges: who is busy, in which region, by which row of an annotation."""

    edges: IntArray
    busy: npt.NDArray[np.object_]
    region: npt.NDArray[np.object_]
    row: IntArray
    gradient_starts: frozenset[int]
    gradient_ends: frozenset[int]


def _painted(events: pd.DataFrame, window: Window, main: int) -> _Painted:
    """Paint outer rows, then inner ones, over the window.

    An annotation that names no kind of work says nothing here: it may be drawn around a
    whole step, waits and all.
    """
    inside = _inside(events, window)
    track = events["track"].to_numpy()
    cat = events["cat"].astype(object).to_numpy()
    kind = events["kind"].astype(object).to_numpy()
    name = events["name"].astype(object).to_numpy()
    # An autograd thread of its own works while the main thread stands still.
    helpers = np.unique(track[inside & (kind == "backward") & (cat == "cpu_op")])
    operator = (cat == "cpu_op") | np.isin(cat, list(CALLS))
    work = inside & operator & (kind != "exchange")
    annotated = inside & (cat == "user_annotation") & (track == main) & (kind != "other")
    start = np.clip(events["start_ns"].to_numpy(), window.start_ns, window.finish_ns)
    finish = np.clip(events["finish_ns"].to_numpy(), window.start_ns, window.finish_ns)
    layers = [np.flatnonzero(work & (track == t)) for t in helpers if t != main]
    layers.append(np.flatnonzero(work & (track == main)))
    regions = np.flatnonzero(annotated)
    rows = np.concatenate([*layers, regions])
    edges = np.unique(
        np.concatenate((start[rows], finish[rows], [window.start_ns, window.finish_ns]))
    ).astype(np.int64)
    low, high = np.searchsorted(edges, start), np.searchsorted(edges, finish)
    busy = np.full(max(len(edges) - 1, 0), None, dtype=object)
    region = busy.copy()
    region_row = np.full(len(busy), -1, dtype=np.int64)
    for row in regions[np.lexsort((-finish[regions], start[regions]))].tolist():
        region[low[row] : high[row]] = kind[row]
        region_row[low[row] : high[row]] = row
    for layer in layers:
        for row in layer[np.lexsort((-finish[layer], start[layer]))].tolist():
            waits = cat[row] in CALLS and WAITING_CALL.search(str(name[row]))
            busy[low[row] : high[row]] = None if waits else kind[row]
    gradients = rows[np.fromiter((str(name[r]).startswith(_GRADIENT) for r in rows), np.bool_)]
    return _Painted(
        edges,
        busy,
        region,
        region_row,
        frozenset(start[gradients].tolist()),
        frozenset(finish[gradients].tolist()),
    )


def _joined(pieces: list[Piece]) -> list[Piece]:
    joined: list[Piece] = []
    for piece in pieces:
        if piece.finish == piece.start:
            continue
        last = joined[-1] if joined else None
        if last and last.finish == piece.start and last[2:] == piece[2:]:
            joined[-1] = last._replace(finish=piece.finish)
        else:
            joined.append(piece)
    return joined


def _inside(events: pd.DataFrame, window: Window) -> npt.NDArray[np.bool_]:
    start = events["start_ns"].to_numpy()
    finish = events["finish_ns"].to_numpy()
    return np.asarray((start < window.finish_ns) & (finish > window.start_ns))


def _spans(events: pd.DataFrame) -> IntArray:
    return events[["start_ns", "finish_ns"]].to_numpy(dtype=np.int64)
