"""Thousands of pieces of one rank made tens of bars, with no time lost or moved between kinds.

A section lies between two boundaries that the fold needs: a bucket becomes ready, a wait
begins or ends. Inside, work of one kind is gathered with the gaps that lead up to it. Only what
is shorter than the threshold joins a longer bar beside it.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from stepviz.traces.classifying.windows import Window
from stepviz.traces.folding.pieces import UNEXPLAINED, Piece
from stepviz.traces.folding.waits import Wait

#: The first threshold is this part of the window; it doubles until the bars are few enough.
FINEST_PART: Final = 500
#: A gap of this part of the window is a bar of its own; shorter ones go with their work.
LONG_GAP_PART: Final = 20
#: More bars than this on one rank are gathered further.
MOST_BARS: Final = 40

_GAPS: Final = ("host", UNEXPLAINED)


@dataclass(frozen=True)
class Bar:
    """A stretch of one rank that becomes a phase, ns.

    `unexplained` is how much of a host bar no row of the trace explains.
    """

    start: int
    finish: int
    kind: str
    unexplained: int = 0


def gather(
    window: Window, pieces: Sequence[Piece], waits: Sequence[Wait], cuts: Iterable[int]
) -> tuple[list[Bar], int]:
    """Return the bars of one rank and the threshold in ns below which pieces were joined.

    The bars and the waits, up to where work resumed, tile the window.
    """
    edges = {window.start_ns, window.finish_ns}
    edges |= {cut for cut in cuts if window.start_ns < cut < window.finish_ns}
    bounds = sorted(edges)
    inside: set[int] = set()
    for wait in waits:
        inside.update(bounds[bisect_right(bounds, wait.start) : bisect_left(bounds, wait.resumed)])
    waiting = {wait.start for wait in waits}
    bounds = sorted((edges - inside) | waiting | {wait.resumed for wait in waits})
    sections = [
        _within(pieces, low, high) for low, high in itertools.pairwise(bounds) if low not in waiting
    ]
    longest = window.duration_ns // LONG_GAP_PART
    threshold = max(1, window.duration_ns // FINEST_PART)
    # Where the fold needs many sections, each must still be free to hold more than one kind.
    most = max(MOST_BARS, len(sections) + MOST_BARS // 2)
    while True:
        bars = [bar for section in sections for bar in _bars(section, threshold, longest)]
        if len(bars) <= most or threshold > window.duration_ns:
            return bars, threshold
        threshold *= 2


def _within(pieces: Sequence[Piece], low: int, high: int) -> list[Piece]:
    # Pieces tile the window in order, so those of a section lie together.
    first = bisect_right(pieces, low, key=lambda piece: piece.finish)
    beyond = bisect_left(pieces, high, key=lambda piece: piece.start)
    return [
        piece._replace(start=max(piece.start, low), finish=min(piece.finish, high))
        for piece in pieces[first:beyond]
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
            unknown = sum(p.finish - p.start for p in group if p.kind == UNEXPLAINED)
            unknown = min(unknown, lengths[kind]) if kind == "host" else 0
            bars.append(Bar(start, start + lengths[kind], kind, unknown))
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
