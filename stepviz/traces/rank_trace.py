"""One rank's trace, kept in compact columns, and one step of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd

from stepviz.errors import TraceError
from stepviz.traces.classifying.added_patterns import Pattern, with_collectives
from stepviz.traces.classifying.kinds import with_kinds
from stepviz.traces.classifying.launches import Launches, launches, ordinary_lag
from stepviz.traces.classifying.windows import (
    Window,
    place_lost,
    step_ranges,
    steps_of_rows,
    windows,
    without_doubles,
)
from stepviz.traces.folding.pieces import Piece, main_track, rank_pieces
from stepviz.traces.joining.exchanges import exchanges_of
from stepviz.traces.joining.stamps import with_stamps
from stepviz.traces.reading.files import rows_of_file
from stepviz.traces.reading.rows import RankRows
from stepviz.traces.reading.sources import TraceFile
from stepviz.traces.table import Table

_NO_ROWS: Final = np.zeros(0, dtype=np.int64)


class _Clock(Protocol):
    def moved(self, ns: Any) -> Any: ...


@dataclass(frozen=True)
class Origin:
    """Where a rank's events came from, to read them again.

    `left` says that they are not in memory; `clocks` moved the rank's times since.
    """

    file: TraceFile
    label: str
    rank: int
    added: Sequence[Pattern] | None
    count: int
    left: bool = False
    clocks: tuple[_Clock, ...] = ()

    def events(self) -> Table:
        """Read and classify the events once more.

        Raises
        ------
        TraceError
            Where the file has gone or changed since.
        """
        for label, found in rows_of_file(self.file):
            if label != self.label or isinstance(found, TraceError):
                continue
            for rows in found:
                if rows.rank == self.rank and len(rows.events) == self.count:
                    events = RankTrace.of(rows, self.added).table
                    for clock in self.clocks:
                        events = _on_clock(events, clock)
                    return events
        msg = f"{self.label} was read before but has changed since, or is gone; load the run again"
        raise TraceError(msg)


@dataclass(frozen=True, eq=False)
class RankTrace:
    """One rank of a run: its rows with kinds, its steps' windows, its exchanges.

    `table` has the columns of `RankRows.events` (which are left out in `rows`) and kind, parent,
    launcher, source and place; `events` is a frame of it. In a large run they are not kept: they
    are read again from `origin` when asked for, so take them once. `memo` holds them meanwhile,
    and what was made of them.
    """

    rows: RankRows
    kept: Table
    windows: list[Window]
    main: int
    exchanges: Table
    ordinary_lag: int
    origin: Origin | None = None
    memo: dict[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls,
        rows: RankRows,
        added: Sequence[Pattern] | None = None,
        file: TraceFile | None = None,
    ) -> RankTrace:
        """Classify the rows of one file and find its steps.

        Parameters
        ----------
        rows
            The file.
        added
            Users' patterns (see `patterns_in_force`, which a worker process must be handed);
            by default those in force here.
        file
            Where to read them again, if need be.
        """
        events = with_kinds(rows, added)
        ranges = without_doubles(step_ranges(events, added), rows.repairs)
        events = events.assign(place=steps_of_rows(events, ranges))
        found = windows(events, ranges)
        events = place_lost(events, found)
        calls = with_collectives(exchanges_of(rows, events), events, added)
        numbers = {place: window.step for place, window in enumerate(found)}
        return cls(
            rows=replace(rows, events=events.take(_NO_ROWS)),
            kept=events,
            windows=found,
            main=main_track(events, ranges),
            exchanges=with_stamps(calls, rows.recorded, numbers),
            ordinary_lag=ordinary_lag(events),
            origin=None if file is None else Origin(file, rows.path, rows.rank, added, len(events)),
        )

    @property
    def in_memory(self) -> bool:
        """Say whether the events are kept."""
        return self.origin is None or not self.origin.left

    @property
    def count(self) -> int:
        """How many events there are."""
        return len(self.kept) if self.origin is None else self.origin.count

    @property
    def table(self) -> Table:
        """All rows of the rank, with kind, parent, launcher, source and place."""
        if self.origin is None or not self.origin.left:
            return self.kept
        if "table" not in self.memo:
            return _remember(self.memo, self.origin.events())
        table: Table = self.memo["table"]
        return table

    @property
    def events(self) -> pd.DataFrame:
        """The same as a frame."""
        table = self.table
        if "events" not in self.memo:
            self.memo["events"] = table.frame(copy=False)
        events: pd.DataFrame = self.memo["events"]
        return events

    def without_events(self) -> RankTrace:
        """Return the same rank with its events left where they came from."""
        if self.origin is None or self.origin.left:
            return self
        none = self.kept.take(_NO_ROWS)
        return replace(self, kept=none, origin=replace(self.origin, left=True), memo={})

    def of_rank(self, rank: int, source: str) -> RankTrace:
        """Return the same trace as that of another rank, which `source` says it is of."""
        return replace(self, rows=replace(self.rows, rank=rank, rank_source=source))

    def on_clock(self, clock: _Clock) -> RankTrace:
        """Return the same rank with all its times moved to another clock.

        Parameters
        ----------
        clock
            Has `moved`, which takes an array of ns and returns the moved one; it keeps order.
        """
        moved = [
            replace(
                window,
                **dict(
                    zip(_WINDOW_TIMES, _moved(_window_times(window), clock).tolist(), strict=True)
                ),
            )
            for window in self.windows
        ]
        rows = replace(
            self.rows,
            flows=self.rows.flows.moved(clock.moved),
            launch_flows=self.rows.launch_flows.moved(clock.moved),
        )
        origin = self.origin
        return replace(
            self,
            rows=rows,
            kept=_on_clock(self.kept, clock),
            windows=moved,
            exchanges=_on_clock(self.exchanges, clock),
            origin=origin and replace(origin, clocks=(*origin.clocks, clock)),
            memo={},
        )

    def step(self, number: int) -> RankStep | None:
        """Return one step of this rank, None where it has none of that number."""
        place = self._places.get(number)
        if place is None:
            return None
        order, bounds = self._by_place
        at = order[bounds[place] : bounds[place + 1]]
        return RankStep(self, self.windows[place], place, at, self.exchanges.take(at))

    @cached_property
    def _places(self) -> dict[int, int]:
        """Places of the windows by the numbers of their steps."""
        return {window.step: place for place, window in enumerate(self.windows)}

    @cached_property
    def _by_place(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """All exchanges by the place of their step, and where each place begins."""
        place = self.exchanges["place"]
        order = np.argsort(place, kind="stable")
        return order, np.searchsorted(place[order], np.arange(len(self.windows) + 1))


_WINDOW_TIMES = ("start_ns", "finish_ns", "host_start_ns", "host_finish_ns")


def _window_times(window: Window) -> list[int]:
    return [getattr(window, name) for name in _WINDOW_TIMES]


def _on_clock(rows: Table, clock: _Clock) -> Table:
    moved = {name: _moved(rows[name], clock) for name in rows if name.endswith("_ns")}
    if "launched_ns" in moved:
        # −1 is no time: it says that the launch is not in the file.
        before = rows["launched_ns"]
        moved["launched_ns"] = np.where(before == -1, before, moved["launched_ns"])
    return rows.assign(**moved)


def _moved(ns: Any, clock: _Clock) -> Any:
    return clock.moved(np.asarray(ns, dtype=np.int64))


#: Events that were read again, the latest last, and how many rows of them are kept.
_RECENT: deque[dict[str, Any]] = deque()
_MOST_ROWS = 10_000_000


def _remember(memo: dict[str, Any], table: Table) -> Table:
    """Keep events for those who ask again soon, and let go of what was read longest ago."""
    memo["table"] = table
    for known in [m for m in _RECENT if m is memo or not m]:
        _RECENT.remove(known)
    _RECENT.append(memo)
    while len(_RECENT) > 1 and sum(len(m.get("table", ())) for m in _RECENT) > _MOST_ROWS:
        _RECENT.popleft().clear()
    return table


@dataclass(frozen=True, eq=False)
class RankStep:
    """One step on one rank: the rank's trace, the step's window, its place and its exchanges.

    `at` are the places of `calls` among the exchanges of the rank.
    """

    trace: RankTrace
    window: Window
    place: int
    at: npt.NDArray[np.int64]
    calls: Table

    @property
    def rows(self) -> RankRows:
        """What its file says."""
        return self.trace.rows

    @property
    def events(self) -> pd.DataFrame:
        """All rows of the rank, not only of this step."""
        return self.trace.events

    @property
    def main(self) -> int:
        """The track of the thread that drives the step."""
        return self.trace.main

    @cached_property
    def clipped(self) -> Table:
        """The exchanges, cut to the window."""
        began, ended, ready = (
            self.calls[column] for column in ("arrival_ns", "finish_ns", "ready_ns")
        )
        arrival, finish = np.clip(
            (began, ended), self.window.start_ns, self.window.finish_ns, dtype=np.int64
        )
        return self.calls.assign(
            began_ns=began,
            ended_ns=ended,
            arrival_ns=arrival,
            finish_ns=finish,
            ready_ns=np.minimum(ready, arrival),
        )

    @cached_property
    def pieces(self) -> list[Piece]:
        """The pieces that tile the window."""
        ends = self.clipped["finish_ns"]
        return rank_pieces(self.events, self.window, self.main, ends)

    @cached_property
    def launches(self) -> Launches:
        """When the device's work in the window was launched."""
        return launches(self.events, self.window, self.trace.ordinary_lag)
