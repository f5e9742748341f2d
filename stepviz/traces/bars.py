"""Thousands of pieces of one rank made tens of bars, with no time lost or moved between kinds.

A section lies between two boundaries that the fold needs: a bucket becomes ready, a wait
begins or ends. Inside, work of one kind is gathered with the gaps that lead up to it. Only what
is shorter than the threshold joins a longer bar beside it.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from stepviz.core.intervals import union
from stepviz.traces.joins import Call
from stepviz.traces.pieces import UNEXPLAINED, Piece
from stepviz.traces.windows import Window

#: A device resumes after the exchange it waited for within this time.
DEVICE_RESUME_NS: Final = 50_000
#: A thread resumes after the exchange it waited for within this time; later it is a host gap.
HOST_RESUME_NS: Final = 1_000_000
#: The first threshold is this part of the window; it doubles until the bars are few enough.
FINEST_PART: Final = 500
#: A gap of this part of the window is a bar of its own; shorter ones go with their work.
LONG_GAP_PART: Final = 20
#: More bars than this on one rank are gathered further.
MOST_BARS: Final = 40

_GAPS: Final = ("host", UNEXPLAINED)


@dataclass(frozen=True)
class Bar:
    """A stretch of one rank that becomes a phase, ns."""

    start: int
    finish: int
    kind: str


@dataclass(frozen=True)
class Wait:
    """A gap that ends because an exchange did: no bar, `resumed` is when work went on."""

    start: int
    finish: int
    resumed: int
    row: int


def find_waits(window: Window, pieces: Sequence[Piece], calls: Iterable[Call]) -> list[Wait]:
    """Return the gaps of a rank that an exchange ends, in order.

    A device's gap is a wait only where work resumes at once, since the host may be what is
    late; a thread's gap is one wherever an exchange ends inside it.
    """
    own = sorted(calls, key=lambda call: (call.finish, call.row))
    if not own:
        return []
    device = window.measured == "device"
    running = union(np.array([(c.arrival, c.finish) for c in own], dtype=np.int64).reshape(-1, 2))
    resume = DEVICE_RESUME_NS if device else HOST_RESUME_NS
    waits = []
    for low, high in _gaps(pieces, device=device):
        ending = [c for c in own if low < c.finish <= high]
        if not ending or (device and high - ending[-1].finish > resume):
            continue
        last = ending[-1]
        at = int(np.searchsorted(running[:, 1], last.finish, side="left"))
        start = max(low, int(running[at, 0])) if at < len(running) else last.finish
        if start >= last.finish:
            continue
        resumed = high if high - last.finish <= resume else last.finish
        waits.append(Wait(start, last.finish, resumed, last.row))
    return waits


def gather(
    window: Window, pieces: Sequence[Piece], waits: Sequence[Wait], cuts: Iterable[int]
) -> tuple[list[Bar], int]:
    """Return the bars of one rank and the threshold in ns below which pieces were joined.

    The bars and the waits, up to where work resumed, tile the window.
    """
    edges = {window.start_ns, window.finish_ns}
    edges |= {cut for cut in cuts if window.start_ns < cut < window.finish_ns}
    for wait in waits:
        edges -= {edge for edge in edges if wait.start < edge < wait.resumed}
        edges |= {wait.start, wait.resumed}
    bounds = sorted(edges)
    waiting = {wait.start for wait in waits}
    sections = [
        _within(pieces, low, high) for low, high in itertools.pairwise(bounds) if low not in waiting
    ]
    longest = window.duration_ns // LONG_GAP_PART
    threshold = max(1, window.duration_ns // FINEST_PART)
    while True:
        bars = [bar for section in sections for bar in _bars(section, threshold, longest)]
        if len(bars) <= max(MOST_BARS, len(sections)) or threshold > window.duration_ns:
            return bars, threshold
        threshold *= 2


def _gaps(pieces: Sequence[Piece], *, device: bool) -> list[tuple[int, int]]:
    """Return runs of pieces in which this rank's own work stands still."""
    gaps: list[tuple[int, int]] = []
    for piece in pieces:
        still = piece.region == "host" if device else piece.kind == UNEXPLAINED
        if not still:
            continue
        if gaps and gaps[-1][1] == piece.start:
            gaps[-1] = (gaps[-1][0], piece.finish)
        else:
            gaps.append((piece.start, piece.finish))
    return gaps


def _within(pieces: Sequence[Piece], low: int, high: int) -> list[Piece]:
    return [
        piece._replace(start=max(piece.start, low), finish=min(piece.finish, high))
        for piece in pieces
        if piece.start < high and piece.finish > low
    ]


def _bars(section: Sequence[Piece], threshold: int, longest_gap: int) -> list[Bar]:
    if not section:
        return []
    bars: list[Bar] = []
    for group in _groups(section, threshold, longest_gap):
        start = group[0].start
        lengths: dict[str, int] = defaultdict(int)
        for piece in group:
            lengths["host" if piece.kind in _GAPS else piece.kind] += piece.finish - piece.start
        work = {kind: length for kind, length in lengths.items() if kind != "host"}
        main = max(work, key=lambda kind: work[kind]) if work else "host"
        if main != "host" and work[main] < threshold <= lengths["host"]:
            main = "host"
        for kind in [k for k, length in lengths.items() if length < threshold and k != main]:
            lengths[main] += lengths.pop(kind)
        # What leads up to the work comes first, so that the work ends where the section does.
        order = sorted(lengths, key=lambda kind: (kind == main, kind != "host"))
        for kind in order:
            bars.append(Bar(start, start + lengths[kind], kind))
            start += lengths[kind]
    return bars


def _groups(section: Sequence[Piece], threshold: int, longest_gap: int) -> list[list[Piece]]:
    """Cut a section where its kind of work changes; a gap goes with the work after it.

    A gap that is long by itself is a group of its own.
    """
    long = max(4 * threshold, longest_gap)
    groups: list[list[Piece]] = []
    kinds: list[str | None] = []
    for piece in section:
        kind = None if piece.kind in _GAPS else piece.kind
        long_gap = kind is None and piece.finish - piece.start >= long
        if long_gap:
            groups.append([piece])
            kinds.append("gap")
        elif groups and kinds[-1] != "gap" and (kind is None or kinds[-1] in (None, kind)):
            groups[-1].append(piece)
            kinds[-1] = kinds[-1] or kind
        else:
            lead = _trailing_gaps(groups[-1]) if groups and kinds[-1] != "gap" else []
            groups.append([*lead, piece])
            kinds.append(kind)
    groups, kinds = _without_empty(groups, kinds)
    joined: list[list[Piece]] = []
    last: str | None = None
    for group, kind in zip(groups, kinds, strict=True):
        short = sum(p.finish - p.start for p in group) < threshold
        if joined and (short or (kind == last and kind != "gap")):
            joined[-1] += group
        elif joined and sum(p.finish - p.start for p in joined[-1]) < threshold:
            joined[-1] += group
            last = kind
        else:
            joined.append(list(group))
            last = kind
    return joined


def _trailing_gaps(group: list[Piece]) -> list[Piece]:
    """Take the gaps at the end of a group away from it."""
    keep = len(group)
    while keep and group[keep - 1].kind in _GAPS:
        keep -= 1
    taken = group[keep:]
    del group[keep:]
    return taken


def _without_empty(
    groups: list[list[Piece]], kinds: list[str | None]
) -> tuple[list[list[Piece]], list[str | None]]:
    kept = [(group, kind) for group, kind in zip(groups, kinds, strict=True) if group]
    return [group for group, _ in kept], [kind for _, kind in kept]
