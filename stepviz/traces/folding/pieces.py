"""One rank's step cut into pieces that tile its window: what ran, and what no row explains.

With a device the device's rows are the work and the host only names what it did while the
device was idle. Without one the main thread's operators are the work.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from stepviz.core.intervals import clip, intersect, subtract, union
from stepviz.core.vocabulary import KINDS
from stepviz.indices import as_index
from stepviz.traces.classifying.nesting import last_reaching
from stepviz.traces.classifying.patterns import EVALUATE, WAITING_CALL
from stepviz.traces.classifying.windows import Window
from stepviz.traces.reading.masks import among
from stepviz.traces.reading.rows import CALLS, DEVICE
from stepviz.traces.table import Table

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

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
#: The region of kernels of kind other: they compute, only nothing tells for which pass.
KERNEL: Final = "kernel"
#: What a piece may be besides a kind: nothing that the trace shows.
UNEXPLAINED: Final = "unexplained"

_VAGUE: Final = ("other", KERNEL)
_LAST: Final = ("other", "other")

_WORDS: Final = (*KINDS, UNEXPLAINED)
_NOTHING: Final = -1
_BACKWARD: Final = _WORDS.index("backward")
_EXCHANGE: Final = _WORDS.index("exchange")
_OTHER: Final = _WORDS.index("other")
_UNEXPLAINED: Final = _WORDS.index(UNEXPLAINED)
#: Regions that are their kind even where no operator runs inside: they wait by nature.
_BY_NATURE: Final = ("input", "checkpoint")
_WAITS_BY_NATURE: Final = tuple(_WORDS.index(word) for word in _BY_NATURE)


class Piece(NamedTuple):
    """A stretch of one rank's window, in ns. `region` is the kind it happened in.

    Other work in the region `kernel` is kernels that nothing tells more of. Backward in the region
    `unexplained` is a stop between two gradients (see `stops`).
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
        return _with_device(events, window, _host_pieces(events, window, main, ends))
    # It is the device that waits for an exchange here, not the thread that launched it.
    return _device_pieces(events, window, _host_pieces(events, window, main, ends[:0]))


def stops(pieces: list[Piece]) -> int:
    """Return how many ns of backward are stops between two gradients of over 1 ms."""
    found = [p for p in pieces if p.kind == "backward" and p.region == UNEXPLAINED]
    return sum(p.finish - p.start for p in found if p.finish - p.start > HOST_GAP_NS)


def main_track(events: Table, ranges: Table) -> int:
    """Return the track of the thread that drives the steps."""
    track = events["track"]
    operators = among(events["cat"], ("cpu_op", "user_annotation"))
    if len(ranges):
        marked = int(ranges["track"][0])
        if (operators & (track == marked)).sum() > len(ranges):
            return marked
    numbers, counts = np.unique(
        track[operators & ~among(events["kind"], ("exchange",))], return_counts=True
    )
    return int(numbers[np.argmax(counts)]) if len(numbers) else -1


def _with_device(events: pd.DataFrame, window: Window, host: list[Piece]) -> list[Piece]:
    """Let rows of a device, whose launches are not in the file, be what else nothing explains."""
    silent = [(p.start, p.finish) for p in host if p.kind == UNEXPLAINED]
    free = np.array(silent, dtype=np.int64).reshape(-1, 2)
    pieces, idle = _of_device(events, window, free)
    if not pieces:
        return host
    pieces += [Piece(a, b, UNEXPLAINED, UNEXPLAINED) for a, b in idle.tolist()]
    return sorted([*(piece for piece in host if piece.kind != UNEXPLAINED), *pieces])


def _device_pieces(events: pd.DataFrame, window: Window, host: list[Piece]) -> list[Piece]:
    whole = np.array([[window.start_ns, window.finish_ns]], dtype=np.int64)
    pieces, idle = _of_device(events, window, whole)
    labelled: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for piece in host:
        kind = piece.kind if piece.kind in (*_BY_NATURE, UNEXPLAINED) else "host"
        labelled[kind].append((piece.start, piece.finish))
    for kind, stretches in labelled.items():
        beside = intersect(idle, union(np.array(stretches, dtype=np.int64)))
        pieces += [Piece(a, b, kind, "host") for a, b in beside.tolist() if b > a]
    return sorted(pieces)


def _of_device(
    events: pd.DataFrame, window: Window, free: IntArray
) -> tuple[list[Piece], IntArray]:
    """Return what the device does in some spans, and when in them it does nothing."""
    inside = _inside(events, window) & among(events["cat"], DEVICE)
    rows = np.flatnonzero(inside)
    kinds = _codes(events["kind"])[rows]
    times = np.column_stack(
        (events["start_ns"].to_numpy()[rows], events["finish_ns"].to_numpy()[rows])
    )
    pieces: list[Piece] = []
    kernels = among(events["cat"], ("kernel",))[rows]
    for kind, region in (*((kind, kind) for kind in PRIORITY[:-1]), _VAGUE, _LAST):
        chosen = kinds == _WORDS.index(kind)
        own = times[chosen & kernels if region == KERNEL else chosen]
        new = intersect(free, union(clip(own, window.start_ns, window.finish_ns)))
        free = subtract(free, new)
        pieces += [Piece(a, b, kind, region) for a, b in new.tolist()]
    return pieces, free


def _host_pieces(events: pd.DataFrame, window: Window, main: int, ends: IntArray) -> list[Piece]:
    painted = _painted(events, window, main)
    edges, kind, region = painted.edges, painted.busy.copy(), painted.region.copy()
    if len(kind) == 0:
        return []
    gap = kind == _NOTHING
    if gap.any():
        _explain_gaps(painted, np.sort(ends), gap, kind, region)
    region[(region == _NOTHING) & ~gap] = kind[(region == _NOTHING) & ~gap]
    region[region == _NOTHING] = _UNEXPLAINED
    low, high = edges[:-1], edges[1:]
    # Neighbours of one kind in one region are one piece.
    alike = (kind[1:] == kind[:-1]) & (region[1:] == region[:-1])
    first = np.flatnonzero(np.concatenate(([True], ~alike)))
    last = np.concatenate((first[1:], [len(kind)])) - 1
    return [
        Piece(start, finish, _WORDS[what], _WORDS[where])
        for start, finish, what, where in zip(
            low[first].tolist(), high[last].tolist(), kind[first], region[first], strict=True
        )
    ]


def _explain_gaps(
    painted: _Painted, ends: IntArray, gap: BoolArray, kind: IntArray, region: IntArray
) -> None:
    """Write what each stretch is in which no operator runs, and in what region it lies."""
    edges = painted.edges
    within = np.flatnonzero(gap)
    opens = np.flatnonzero(gap & ~np.concatenate(([False], gap[:-1])))
    closes = np.flatnonzero(gap & ~np.concatenate((gap[1:], [False]))) + 1
    low, high = edges[opens], edges[closes]
    ended = np.searchsorted(ends, high, side="right") > np.searchsorted(ends, low, side="right")
    a_wait = (high - low >= WAIT_GAP_NS) & ended
    # Between two gradients nothing waits for gradients: a stop there is backward's own.
    stop = np.isin(low, painted.gradient_ends) & np.isin(high, painted.gradient_starts)
    which = np.repeat(np.arange(len(opens)), as_index(closes - opens))
    unknown = (a_wait | (high - low > HOST_GAP_NS))[which]
    unknown &= ~np.isin(region[within], _WAITS_BY_NATURE)
    before = opens[which] - 1
    same = (before >= 0) & (painted.row[before] == painted.row[within]) & ~unknown
    what = np.where(unknown, _UNEXPLAINED, region[within])
    # Between two operators of one region: the time belongs to what just ran.
    what = np.where(same, painted.busy[before], what)
    what[what == _NOTHING] = _OTHER
    kind[within] = np.where(stop[which], _BACKWARD, what)
    region[within[stop[which]]] = _UNEXPLAINED


class _Painted(NamedTuple):
    """A window between edges: what is busy, in which region, by which row of an annotation.

    Kinds are places in `_WORDS`, or `_NOTHING`.
    """

    edges: IntArray
    busy: IntArray
    region: IntArray
    row: IntArray
    gradient_starts: IntArray
    gradient_ends: IntArray


def _painted(events: pd.DataFrame, window: Window, main: int) -> _Painted:
    """Paint outer rows, then inner ones, over the window.

    An annotation that names no kind of work says nothing here: it may be drawn around a
    whole step, waits and all.
    """
    here = np.flatnonzero(_inside(events, window))
    part = events.iloc[here]
    track = part["track"].to_numpy()
    cat, names = part["cat"], part["name"].astype("category").cat
    kind = _codes(part["kind"])
    # An autograd thread of its own works while the main thread stands still.
    is_operator, calls = among(cat, ("cpu_op",)), among(cat, CALLS)
    helpers = np.unique(track[(kind == _BACKWARD) & is_operator])
    work = (is_operator | calls) & (kind != _EXCHANGE)
    annotated = among(cat, ("user_annotation",)) & (track == main) & (kind != _OTHER)
    start = np.clip(part["start_ns"].to_numpy(), window.start_ns, window.finish_ns)
    finish = np.clip(part["finish_ns"].to_numpy(), window.start_ns, window.finish_ns)
    layers = [np.flatnonzero(work & (track == t)) for t in helpers if t != main]
    layers.append(np.flatnonzero(work & (track == main)))
    regions = np.flatnonzero(annotated)
    rows = np.concatenate([*layers, regions])
    edges = np.unique(
        np.concatenate((start[rows], finish[rows], [window.start_ns, window.finish_ns]))
    ).astype(np.int64)
    region_row = _topmost(start, finish, regions, edges)
    region = _looked_up(kind, region_row)
    codes = names.codes.to_numpy()
    said = [str(name) for name in names.categories]
    waits = calls & _matching(codes, said, lambda name: bool(WAITING_CALL.search(name)))
    busy = np.full(max(len(edges) - 1, 0), _NOTHING, dtype=np.int64)
    for layer in layers:
        top = _topmost(start, finish, layer, edges)
        busy = np.where(top >= 0, _looked_up(np.where(waits, _NOTHING, kind), top), busy)
    gradients = rows[_matching(codes[rows], said, lambda name: name.startswith(EVALUATE))]
    return _Painted(edges, busy, region, region_row, start[gradients], finish[gradients])


def _looked_up(kinds: IntArray, rows: IntArray) -> IntArray:
    """Return the kind of each row, `_NOTHING` where there is none (−1), even if no row is."""
    return np.append(kinds, _NOTHING)[rows]


def _topmost(start: IntArray, finish: IntArray, rows: IntArray, edges: IntArray) -> IntArray:
    """Return, per stretch between two edges, the last row to begin of those that cover it."""
    order = rows[np.lexsort((-finish[rows], start[rows]))]
    order = order[finish[order] > start[order]]
    low = edges[:-1]
    before = np.searchsorted(start[order], low, side="right")
    found = last_reaching(finish[order], low + 1, before)
    return np.where(found >= 0, order[found], -1) if len(order) else found


def _codes(kinds: pd.Series[str]) -> IntArray:
    words = kinds.astype("category").cat
    place = np.array([_WORDS.index(str(word)) for word in words.categories], dtype=np.int64)
    return np.asarray(place[words.codes.to_numpy()])


def _matching(
    codes: npt.NDArray[np.integer], names: list[str], test: Callable[[str], bool]
) -> BoolArray:
    known = np.zeros(len(names), dtype=np.bool_)
    for code in np.unique(codes).tolist():
        known[code] = test(names[code])
    return np.asarray(known[codes])


def _inside(events: pd.DataFrame, window: Window) -> npt.NDArray[np.bool_]:
    start = events["start_ns"].to_numpy()
    finish = events["finish_ns"].to_numpy()
    return np.asarray((start < window.finish_ns) & (finish > window.start_ns))
