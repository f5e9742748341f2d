"""A recorded step made a timeline to drag, whose schedule replays what was observed.

Per rank the bars tile the window except for waits; each collective is one phase that lasts its
transfer, held by what made every member ready and holding what each member does next. The only
fixed time is each rank's start, as a release on its first phase.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from stepviz.core.timeline import Timeline
from stepviz.core.vocabulary import COMPUTE
from stepviz.traces.classifying.launches import Launches
from stepviz.traces.classifying.windows import Window
from stepviz.traces.first_free import FirstFree
from stepviz.traces.folding.bars import Bar, gather
from stepviz.traces.folding.pieces import Piece
from stepviz.traces.folding.waits import Hold, Wait, gaps, holds, waits
from stepviz.traces.joining.joins import Call, Exchange

#: A timeline of more phases than this is large to look at; it says so.
MANY_PHASES: Final = 500

_MS: Final = 1_000_000


@dataclass(frozen=True)
class Folded:
    """A step's timeline, and what was simplified on the way.

    `unexplained` is, by host bar, how many ns of it no row of the trace explains.
    """

    timeline: Timeline
    notes: tuple[str, ...]
    unexplained: Mapping[str, int]


@dataclass(frozen=True)
class _Line:
    """The bars of one rank, with their phase names."""

    window: Window
    bars: list[Bar]
    names: list[str]
    waits: list[Wait]
    holds: Mapping[int, Hold]

    @cached_property
    def starts(self) -> list[int]:
        """The starts of the bars, in order."""
        return [bar.start for bar in self.bars]

    @cached_property
    def finishes(self) -> list[int]:
        """The ends of the bars, in order."""
        return [bar.finish for bar in self.bars]

    @cached_property
    def computed(self) -> int | None:
        """The end of the last compute, None where there is none."""
        ends = [bar.finish for bar in self.bars if bar.kind in COMPUTE and bar.start < bar.finish]
        return ends[-1] if ends else None

    def before(self, moment: int) -> int:
        """Return the place of the last bar that ended by `moment`, of the first if none did."""
        return max(bisect_right(self.finishes, moment) - 1, 0)

    def after(self, moment: int, place: int) -> int | None:
        """Return the place of the first bar after `place` that starts at `moment` or later."""
        at = max(bisect_left(self.starts, moment), place + 1)
        return at if at < len(self.bars) else None

    def wait_until(self, moment: int) -> Wait | None:
        """Return the wait during which `moment` came, None if work went on."""
        at = bisect_left(self.waits, moment, key=lambda wait: wait.finish)
        found = self.waits[at] if at < len(self.waits) else None
        return found if found is not None and found.start < moment else None


def fold(
    windows: Mapping[int, Window],
    pieces: Mapping[int, list[Piece]],
    launches: Mapping[int, Launches],
    exchanges: Sequence[Exchange],
    name: str,
) -> Folded:
    """Fold one step over the given ranks.

    Parameters
    ----------
    windows, pieces, launches
        By rank: the window, the pieces that tile it, when its device's work was launched.
    exchanges
        Those of the step, each clipped to its members' windows.
    name
        Of the timeline.
    """
    notes: list[str] = []
    shown = sorted(exchanges, key=lambda exchange: (exchange.last_arrival, exchange.name))
    origin = min(window.start_ns for window in windows.values())
    lines: dict[int, _Line] = {}
    for rank, window in windows.items():
        lines[rank] = _line(rank, window, pieces[rank], launches[rank], shown, notes)
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
    moved = _exchange_phases(shown)
    phases += moved
    lanes = {phase["phase"]: phase["lane"] for phase in moved}
    dependencies = _dependencies(lines, shown, lanes)
    if len(phases) > MANY_PHASES:
        # Gathering exchanges would hold what only the last of them holds: many bars are right.
        notes.append(
            f"{len(phases)} phases, {len(shown)} of them exchanges, each on its own; fold a few "
            "ranks, timeline(ranks=[0, 1]), for fewer"
        )
    unexplained = {
        phase: bar.unexplained
        for line in lines.values()
        for bar, phase in zip(line.bars, line.names, strict=True)
        if bar.unexplained
    }
    return Folded(Timeline(phases, dependencies, name=name), tuple(notes), unexplained)


def _link(exchange: Exchange) -> str:
    label = f"link {exchange.label}" if exchange.label else "link"
    return f"{label} (emulated)" if exchange.emulated else label


def _line(
    rank: int,
    window: Window,
    pieces: list[Piece],
    launches: Launches,
    exchanges: Sequence[Exchange],
    notes: list[str],
) -> _Line:
    calls = [exchange.calls[rank] for exchange in exchanges if rank in exchange.calls]
    still = gaps(window, pieces)
    held = holds(calls, still, launches)
    waiting = waits(window, still, calls, held, launches)
    cuts = [hold.cut for hold in held.values()]
    # What comes after the last exchange is a bar of its own, so that the exchange can hold it.
    last = [max(call.finish for call in calls)] if calls else []
    bars, threshold = gather(window, pieces, waiting, [*cuts, *last])
    first = [cut for cut in cuts if cut <= window.start_ns]
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
    return _Line(window, bars, _bar_names(rank, window, bars), waiting, held)


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


def _exchange_phases(exchanges: Sequence[Exchange]) -> list[dict[str, Any]]:
    """Return a phase per exchange, on as many sub-lanes of its link as truly ran at once.

    Streams and groups have lanes of their own, since none of them waits for another one.
    """
    # By what serves it, the lanes: free from the end of the last one on, so until minus that.
    free: dict[tuple[Hashable, ...], FirstFree] = defaultdict(FirstFree)
    lanes: dict[tuple[str, int | None], dict[Hashable, int]] = defaultdict(dict)
    phases = []
    for exchange in exchanges:
        start, finish = exchange.last_arrival, exchange.first_finish
        link, rank = _link(exchange), None if exchange.joint else exchange.members[0]
        call = exchange.calls[exchange.members[0]]
        served = (link, exchange.members, call.queue if call.on_device else None)
        at = free[served].first(-start)
        free[served].set(at, -finish)
        known = lanes[link, rank]
        number = known.setdefault((served, at), len(known)) + 1
        phase: dict[str, Any] = {
            "phase": exchange.name,
            "kind": "exchange",
            "rank": rank,
            "lane": f"{link} {number}" if number > 1 else link,
            "duration": (finish - start) / _MS,
            "release": 0.0,
            "members": list(exchange.members) if exchange.joint else None,
        }
        phases.append(phase)
    return phases


def _dependencies(
    lines: Mapping[int, _Line], exchanges: Sequence[Exchange], lanes: Mapping[str, str]
) -> list[dict[str, Any]]:
    by_call = {
        (rank, call.row): exchange
        for exchange in exchanges
        for rank, call in exchange.calls.items()
    }
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for exchange in exchanges:
        for rank, call in exchange.calls.items():
            after = _arrival(found, lines[rank], exchange, call, by_call)
            _holds(found, lines[rank], exchange, call, after)
    for ahead, exchange in _served_next(by_call):
        if lanes[ahead.name] != lanes[exchange.name]:
            _add(found, ahead.name, exchange.name, 0, "recorded")
    return list(found.values())


def _served_next(
    by_call: Mapping[tuple[int, int], Exchange],
) -> Iterator[tuple[Exchange, Exchange]]:
    """Return each exchange with the one that a stream serves after it."""
    last: dict[tuple[int, int], tuple[int, Exchange]] = {}
    calls = [(exchange.calls[rank], exchange) for (rank, _), exchange in by_call.items()]
    for call, exchange in sorted(calls, key=lambda pair: (pair[0].arrival, pair[0].finish)):
        if not call.on_device:
            continue
        finish, ahead = last.get((call.rank, call.queue), (call.finish, exchange))
        if finish <= call.arrival and ahead.first_finish <= exchange.last_arrival:
            yield ahead, exchange
        last[call.rank, call.queue] = (call.finish, exchange)


def _arrival(
    found: dict[tuple[str, str], dict[str, Any]],
    line: _Line,
    exchange: Exchange,
    call: Call,
    by_call: Mapping[tuple[int, int], Exchange],
) -> int:
    """Add what holds an exchange on one rank; return the place of the bar that does."""
    hold = line.holds[call.row]
    if hold.before is not None:
        ahead = by_call[call.rank, hold.before.row]
        lag = call.arrival - ahead.first_finish
        _add(found, ahead.name, exchange.name, lag, "recorded")
    # The bar that ends where the buffer was full, or where an idle device was given the launch.
    at = line.before(hold.cut)
    lag = 0 if hold.before is not None else call.arrival - line.bars[at].finish
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
    # Reduced gradients are needed once backward is over, not by the backward still running.
    reduces = "reduce" in exchange.collective and call.during in ("backward", "recompute")
    wait = line.wait_until(call.finish)
    if wait is not None and (wait.row == call.row or not reduces):
        at = line.after(wait.resumed, after)
        if at is not None:
            resumed = line.bars[at].start if wait.row == call.row else call.finish
            _add(found, exchange.name, line.names[at], resumed - done, "inferred")
        return
    earliest = call.finish
    if reduces and line.computed is not None:
        earliest = max(earliest, line.computed)
    at = line.after(earliest, after)
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
