"""A recorded step made a timeline to drag, whose schedule replays what was observed.

Per rank the bars tile the window except for waits; each collective is one phase that lasts its
transfer, held by what made every member ready and holding what each member does next. The only
fixed time is each rank's start, as a release on its first phase.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from stepviz.core.timeline import Timeline
from stepviz.core.vocabulary import COMPUTE
from stepviz.traces.bars import (
    DEVICE_RESUME_NS,
    Bar,
    Wait,
    find_waits,
    gather,
)
from stepviz.traces.joins import Call, Exchange
from stepviz.traces.pieces import Piece
from stepviz.traces.windows import Window

#: More exchanges than this on one link are shown as bundles.
MOST_EXCHANGES: Final = 24

_MS: Final = 1_000_000


@dataclass(frozen=True)
class Folded:
    """A step's timeline, and what was simplified on the way."""

    timeline: Timeline
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Line:
    """The bars of one rank, with their phase names."""

    window: Window
    bars: list[Bar]
    names: list[str]
    waits: list[Wait]
    pieces: list[Piece]

    def before(self, moment: int) -> int:
        """Return the place of the last bar that ended by `moment`, of the first if none did."""
        found = [i for i, bar in enumerate(self.bars) if bar.finish <= moment]
        return found[-1] if found else 0


def fold(
    windows: Mapping[int, Window],
    pieces: Mapping[int, list[Piece]],
    exchanges: Sequence[Exchange],
    name: str,
) -> Folded:
    """Fold one step over the given ranks.

    Parameters
    ----------
    windows, pieces
        By rank: the window, and the pieces that tile it.
    exchanges
        Those of the step, each clipped to its members' windows.
    name
        Of the timeline.
    """
    notes: list[str] = []
    shown = _bundled(exchanges, notes)
    origin = min(window.start_ns for window in windows.values())
    lines: dict[int, _Line] = {}
    for rank, window in windows.items():
        lines[rank] = _line(rank, window, pieces[rank], shown, notes)
    phases: list[dict[str, Any]] = []
    for rank, line in lines.items():
        lane = "device" if line.window.measured == "device" else "main thread"
        for i, (bar, phase) in enumerate(zip(line.bars, line.names, strict=True)):
            release = (line.window.start_ns - origin) / _MS if i == 0 else 0.0
            phases.append(
                {
                    "phase": phase,
                    "kind": bar.kind,
                    "rank": rank,
                    "lane": lane,
                    "duration": (bar.finish - bar.start) / _MS,
                    "release": release,
                }
            )
    phases += _exchange_phases(shown)
    dependencies = _dependencies(lines, shown)
    return Folded(Timeline(phases, dependencies, name=name), tuple(notes))


def _bundled(exchanges: Sequence[Exchange], notes: list[str]) -> list[Exchange]:
    """Gather neighbours on a link where there are too many to tell apart."""
    links: dict[tuple[str, tuple[int, ...]], list[Exchange]] = defaultdict(list)
    for exchange in exchanges:
        links[_link(exchange), exchange.members].append(exchange)
    shown: list[Exchange] = []
    for members in links.values():
        members.sort(key=lambda exchange: exchange.last_arrival)
        size = math.ceil(len(members) / MOST_EXCHANGES)
        if size == 1:
            shown += members
            continue
        for at in range(0, len(members), size):
            shown.append(_bundle(members[at : at + size]))
        notes.append(
            f"{len(members)} exchanges on {_link(members[0])} are shown in bundles of {size}"
        )
    return sorted(shown, key=lambda exchange: (exchange.last_arrival, exchange.name))


def _bundle(members: Sequence[Exchange]) -> Exchange:
    first = members[0]
    if len(members) == 1:
        return first
    calls = {
        rank: replace(call, finish=max(member.calls[rank].finish for member in members))
        for rank, call in first.calls.items()
    }
    sizes = [member.bytes for member in members]
    return replace(
        first,
        name=f"{first.name} to {members[-1].name}",
        bytes=sum(sizes) if min(sizes) >= 0 else -1,
        calls=calls,
    )


def _link(exchange: Exchange) -> str:
    label = f"link {exchange.label}" if exchange.label else "link"
    return f"{label} (emulated)" if exchange.emulated else label


def _line(
    rank: int,
    window: Window,
    pieces: list[Piece],
    exchanges: Sequence[Exchange],
    notes: list[str],
) -> _Line:
    calls = [exchange.calls[rank] for exchange in exchanges if rank in exchange.calls]
    waits = find_waits(window, pieces, calls)
    cuts = {call.row: _held_by(call, calls[:i], pieces)[0] for i, call in enumerate(calls)}
    bars, threshold = gather(window, pieces, waits, cuts.values())
    first = [cut for cut in cuts.values() if cut <= window.start_ns]
    if first or not bars or bars[0].start > window.start_ns:
        # An exchange that starts with the window needs something of this rank before it.
        bars.insert(0, Bar(window.start_ns, window.start_ns, "other"))
    if bars[-1].finish < window.finish_ns:
        # The window ends with an exchange: this rank's own end is a milestone.
        bars.append(Bar(window.finish_ns, window.finish_ns, "other"))
    notes.append(
        f"rank {rank}: {len(pieces)} pieces as {len(bars)} bars; what lasts less than "
        f"{threshold / _MS:.3g} ms is part of a bar beside it"
    )
    return _Line(window, bars, _bar_names(rank, window, bars), waits, pieces)


def _bar_names(rank: int, window: Window, bars: Sequence[Bar]) -> list[str]:
    totals: dict[str, int] = defaultdict(int)
    stems = []
    for bar in bars:
        stem = bar.kind
        if bar.start == bar.finish:
            stem = "start" if bar.start == window.start_ns else "end"
        stems.append(stem)
        totals[stem] += 1
    seen: dict[str, int] = defaultdict(int)
    names = []
    for stem in stems:
        names.append(f"r{rank} {stem}" + (f" {seen[stem]}" if totals[stem] > 1 else ""))
        seen[stem] += 1
    return names


def _held_by(
    call: Call, earlier: Sequence[Call], pieces: Sequence[Piece]
) -> tuple[int, Call | None]:
    """Return when this rank's line was ready for an exchange, and what its queue had before it.

    The later of the two, buffer full or queue free, is what the exchange waited for. A device
    that stood idle until the host launched the exchange waited for neither: the gap led up to
    it. The second part is None where the queue did not hold it.
    """
    ahead = [c for c in earlier if c.queue == call.queue and c.finish <= call.arrival]
    before = max(ahead, key=lambda c: c.finish, default=None)
    if before is not None and before.finish <= call.ready:
        before = None
    known = call.ready if before is None else before.finish
    if call.on_device and call.arrival - known > DEVICE_RESUME_NS:
        idle = any(p.region == "host" and p.start < call.arrival <= p.finish for p in pieces)
        if idle:
            return call.arrival, None
    return call.ready, before


def _exchange_phases(exchanges: Sequence[Exchange]) -> list[dict[str, Any]]:
    """Return a phase per exchange, on as many sub-lanes of its link as truly ran at once."""
    free: dict[tuple[str, int | None], list[int]] = defaultdict(list)
    phases = []
    for exchange in exchanges:
        start, finish = exchange.last_arrival, exchange.first_finish
        rank = None if exchange.joint else exchange.members[0]
        ends = free[_link(exchange), rank]
        at = next((i for i, end in enumerate(ends) if end <= start), len(ends))
        if at == len(ends):
            ends.append(finish)
        ends[at] = finish
        lane = _link(exchange) + (f" {at + 1}" if at else "")
        phase: dict[str, Any] = {
            "phase": exchange.name,
            "kind": "exchange",
            "rank": rank,
            "lane": lane,
            "duration": (finish - start) / _MS,
            "release": 0.0,
            "members": list(exchange.members) if exchange.joint else None,
        }
        phases.append(phase)
    return phases


def _dependencies(
    lines: Mapping[int, _Line], exchanges: Sequence[Exchange]
) -> list[dict[str, Any]]:
    by_call = {
        (rank, call.row): exchange
        for exchange in exchanges
        for rank, call in exchange.calls.items()
    }
    found: dict[tuple[str, str], dict[str, Any]] = {}
    earlier: dict[int, list[Call]] = defaultdict(list)
    for exchange in exchanges:
        for rank, call in exchange.calls.items():
            line = lines[rank]
            after = _arrival(found, line, exchange, call, earlier[rank], by_call)
            _holds(found, line, exchange, call, after)
            earlier[rank].append(call)
    return list(found.values())


def _arrival(
    found: dict[tuple[str, str], dict[str, Any]],
    line: _Line,
    exchange: Exchange,
    call: Call,
    earlier: Sequence[Call],
    by_call: Mapping[tuple[int, int], Exchange],
) -> int:
    """Add what holds an exchange on one rank; return the place of the bar that does."""
    cut, before = _held_by(call, earlier, line.pieces)
    if before is not None:
        ahead = by_call[call.rank, before.row]
        lag = call.arrival - ahead.first_finish
        _add(found, ahead.name, exchange.name, lag, "recorded")
    # The bar that ends where the buffer was full, or where an idle device was given the launch.
    at = line.before(cut)
    lag = 0 if before is not None else call.arrival - line.bars[at].finish
    _add(found, line.names[at], exchange.name, lag, call.origin)
    return at


def _holds(
    found: dict[tuple[str, str], dict[str, Any]],
    line: _Line,
    exchange: Exchange,
    call: Call,
    after: int,
) -> None:
    """Add what an exchange holds on one rank: what resumed at its end, else what needs it."""
    done = exchange.first_finish
    later = list(enumerate(line.bars))[after + 1 :]
    wait = next((w for w in line.waits if w.start < call.finish <= w.finish), None)
    if wait is not None:
        at = next((i for i, bar in later if bar.start >= wait.resumed), None)
        own = wait.row == call.row
        if at is not None:
            resumed = line.bars[at].start if own else call.finish
            _add(found, exchange.name, line.names[at], resumed - done, "inferred")
        return
    earliest = call.finish
    if call.during in COMPUTE and call.during != "forward":
        # Gradients are needed once backward is over, not by the backward still running.
        last = [bar.finish for bar in line.bars if bar.kind in COMPUTE and bar.start < bar.finish]
        earliest = max(earliest, last[-1] if last else earliest)
    at = next((i for i, bar in later if bar.start >= earliest), None)
    if at is not None:
        _add(found, exchange.name, line.names[at], call.finish - done, "inferred")


def _add(
    found: dict[tuple[str, str], dict[str, Any]],
    source: str,
    target: str,
    lag_ns: int,
    origin: str,
) -> None:
    known = found.get((source, target))
    lag = lag_ns / _MS
    if known is not None:
        known["lag"] = max(known["lag"], lag)
        return
    found[source, target] = {
        "source": source,
        "target": target,
        "type": "FS",
        "lag": lag,
        "origin": origin,
    }
