"""Events gathered into columns while a file is read, so that no event outlives its block."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stepviz.traces.reading.collectives import SYNC, Said, collective_said, sync_said
from stepviz.traces.reading.events import NO_ARGS, NOTHING, Args, Event
from stepviz.traces.reading.exact import Int64Array, nanosecond_array
from stepviz.traces.reading.words import int64_array, text, whole_array

#: What a track is called in a file: pid and tid, numbers or words.
TrackKey = tuple[int | str, int | str]

#: The least that a column has room for.
_ROOM: Final = 1024
#: Names of rows whose own arguments say what is exchanged.
_EXCHANGES: Final = ("gloo:", "c10d::")
_ARROWS: Final = frozenset({"s", "f"})


class Codes(dict[Any, int]):
    """Numbers values in the order in which they are first met."""

    def __missing__(self, key: Any) -> int:
        """Give a new value the next number."""
        code = self[key] = len(self)
        return code


class _Names(Codes):
    """Names of rows; those of exchange are remembered."""

    def __init__(self) -> None:
        super().__init__()
        self.exchanges: list[int] = []

    def __missing__(self, key: Any) -> int:
        code = super().__missing__(key)
        if key.startswith(_EXCHANGES):
            self.exchanges.append(code)
        return code


@dataclass(frozen=True)
class Mark:
    """An instant that the profiler wrote: where it began or ended recording."""

    name: str
    ts: bytes
    rank: int


class Table:
    """Columns that grow at their end; what is not filled yet takes no memory."""

    def __init__(self) -> None:
        self._columns: dict[str, npt.NDArray[Any]] = {}
        self._length = 0

    def append(self, **parts: npt.NDArray[Any]) -> None:
        """Put equally many values at the end of each column."""
        count = len(next(iter(parts.values())))
        for name, part in parts.items():
            column = self._columns.get(name)
            if column is None or len(column) < self._length + count:
                larger = np.empty(max(_ROOM, 2 * (self._length + count)), dtype=part.dtype)
                if column is not None:
                    larger[: self._length] = column[: self._length]
                self._columns[name] = column = larger
            column[self._length : self._length + count] = part
        self._length += count

    def take(self) -> dict[str, npt.NDArray[Any]]:
        """Hand over the columns, {} where nothing was put in."""
        columns, self._columns = self._columns, {}
        return {name: column[: self._length] for name, column in columns.items()}


@dataclass
class Columns:
    """All that is kept of a file's events: `spans` of the intervals, `arrows` of the flows."""

    names: _Names = field(default_factory=_Names)
    cats: Codes = field(default_factory=Codes)
    tracks: Codes = field(default_factory=Codes)
    spans: Table = field(default_factory=Table)
    arrows: Table = field(default_factory=Table)
    marks: list[Mark] = field(default_factory=list)
    thread_names: dict[TrackKey, list[str]] = field(default_factory=dict)
    process_names: dict[int | str, list[str]] = field(default_factory=dict)
    collectives: dict[int, Said] = field(default_factory=dict)
    syncs: dict[int, tuple[int, int]] = field(default_factory=dict)
    count: int = 0

    def add(self, events: list[Event]) -> None:
        """Take the events of one block."""
        spans = [event for event in events if event.ph == "X"]
        if spans:
            self._add_spans(spans)
        arrows = [event for event in events if event.ph in _ARROWS]
        if arrows:
            self._add_arrows(arrows)
        if len(spans) + len(arrows) < len(events):
            for event in events:
                if event.ph == "M":
                    self._add_name(event)
                elif event.ph == "i" and event.ts is not NOTHING:
                    rank = _rank(event.args or NO_ARGS)
                    self.marks.append(Mark(event.name, bytes(event.ts), rank))

    def _add_spans(self, spans: list[Event]) -> None:
        args = [event.args or NO_ARGS for event in spans]
        names = _codes(self.names, [event.name for event in spans])
        cats = _codes(self.cats, [event.cat for event in spans])
        start, start_ok = nanosecond_array([event.ts for event in spans])
        duration, duration_ok = nanosecond_array([event.dur for event in spans])
        external = int64_array([a.external for a in args])
        old = int64_array([a.external_old for a in args])
        external = np.where(external < 0, old, external)
        self.spans.append(
            name=names,
            cat=cats,
            track=_codes(self.tracks, [(event.pid, event.tid) for event in spans]),
            start=start,
            start_ok=start_ok,
            duration=duration,
            duration_ok=duration_ok,
            correlation=int64_array([a.correlation for a in args]),
            external=external,
            sequence=int64_array([a.sequence for a in args]),
            fwd_thread=int64_array([a.fwd_thread for a in args]),
            rank=_ranks(args),
        )
        self._add_said(spans, args, names, cats)
        self.count += len(spans)

    def _add_said(
        self, spans: list[Event], args: list[Args], names: Int64Array, cats: Int64Array
    ) -> None:
        """Keep what single rows say: of collectives, and of what a stream waits for."""
        for at, said in enumerate(args):
            if said.collective is not NOTHING:
                self.collectives[self.count + at] = collective_said(said)
        if self.names.exchanges:
            for at in _which(names, self.names.exchanges, len(self.names)):
                if args[at].collective is NOTHING:
                    found = collective_said(args[at], spans[at].name)
                    self.collectives[self.count + at] = found
        waits = [self.cats[cat] for cat in SYNC if cat in self.cats]
        if waits:
            for at in _which(cats, waits, len(self.cats)):
                self.syncs[self.count + at] = sync_said(args[at])

    def _add_arrows(self, arrows: list[Event]) -> None:
        at, at_ok = nanosecond_array([event.ts for event in arrows])
        self.arrows.append(
            at=at,
            at_ok=at_ok,
            ends=np.array([event.ph == "f" for event in arrows], dtype=np.bool_),
            id=whole_array([event.id for event in arrows]),
            cat=_codes(self.cats, [event.cat or event.name for event in arrows]),
            track=_codes(self.tracks, [(event.pid, event.tid) for event in arrows]),
            rank=_ranks([event.args or NO_ARGS for event in arrows]),
        )

    def _add_name(self, event: Event) -> None:
        args = event.args or NO_ARGS
        if event.name == "thread_name":
            names = self.thread_names.setdefault((event.pid, event.tid), [])
            names.append(text(args.name).strip())
        elif event.name in ("process_name", "process_labels"):
            said = text(args.name if event.name == "process_name" else args.labels)
            self.process_names.setdefault(event.pid, []).append(said.strip())


def _codes(codes: Codes, values: list[Any]) -> Int64Array:
    return np.array(list(map(codes.__getitem__, values)), dtype=np.int32)


def _which(codes: Int64Array, wanted: list[int], count: int) -> list[int]:
    """Return the rows of some of so many codes."""
    known = np.zeros(count, dtype=np.bool_)
    known[wanted] = True
    return np.flatnonzero(known[codes]).tolist()


def _ranks(args: list[Args]) -> npt.NDArray[np.int32]:
    """Return the rank that each event says it is of, −1 where it says none."""
    said = [own.rank for own in args]
    if said.count(NOTHING) == len(said):
        return np.full(len(said), -1, dtype=np.int32)
    return np.array([_rank(own) for own in args], dtype=np.int32)


def _rank(args: Args) -> int:
    if args.rank is NOTHING:
        return -1
    rank = int(whole_array([args.rank])[0])
    return rank if 0 <= rank < 2**31 else -1
