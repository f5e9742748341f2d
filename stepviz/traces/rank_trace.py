"""One rank's trace, kept as compact frames, and one step of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pandas as pd

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
from stepviz.traces.reading.rows import RankRows


class _Clock(Protocol):
    def moved(self, ns: Any) -> Any: ...


@dataclass(frozen=True, eq=False)
class RankTrace:
    """One rank of a run: its rows with kinds, its steps' windows, its exchanges.

    `rows.events` has the columns of `RankRows` and kind, parent, launcher and place.
    """

    rows: RankRows
    windows: list[Window]
    main: int
    exchanges: pd.DataFrame
    ordinary_lag: int

    @classmethod
    def of(cls, rows: RankRows, added: Sequence[Pattern] | None = None) -> RankTrace:
        """Classify the rows of one file and find its steps.

        Parameters
        ----------
        rows
            The file.
        added
            Users' patterns (see `patterns_in_force`, which a worker process must be handed);
            by default those in force here.
        """
        events = with_kinds(rows, added)
        ranges = without_doubles(step_ranges(events, added), rows.repairs)
        events["place"] = steps_of_rows(events, ranges)
        found = windows(events, ranges)
        place_lost(events, found)
        return cls(
            rows=replace(rows, events=events),
            windows=found,
            main=main_track(events, ranges),
            exchanges=with_collectives(exchanges_of(rows, events), events, added),
            ordinary_lag=ordinary_lag(events),
        )

    @property
    def events(self) -> pd.DataFrame:
        """All rows of the rank, with kind, parent, launcher and place."""
        return self.rows.events

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
                **dict(zip(_WINDOW_TIMES, _moved(_window_times(window), clock), strict=True)),
            )
            for window in self.windows
        ]
        rows = replace(
            self.rows,
            events=_on_clock(self.rows.events, clock),
            flows=_on_clock(self.rows.flows, clock),
            launch_flows=_on_clock(self.rows.launch_flows, clock),
        )
        return replace(self, rows=rows, windows=moved, exchanges=_on_clock(self.exchanges, clock))

    def step(self, number: int) -> RankStep | None:
        """Return one step of this rank, None where it has none of that number."""
        for place, window in enumerate(self.windows):
            if window.step == number:
                calls = self.exchanges[self.exchanges["place"] == place]
                return RankStep(self, window, place, calls)
        return None


_WINDOW_TIMES = ("start_ns", "finish_ns", "host_start_ns", "host_finish_ns")


def _window_times(window: Window) -> list[int]:
    return [getattr(window, name) for name in _WINDOW_TIMES]


def _on_clock(frame: pd.DataFrame, clock: _Clock) -> pd.DataFrame:
    times = [name for name in frame.columns if str(name).endswith("_ns")]
    moved = {name: _moved(frame[name], clock) for name in times}
    if "launched_ns" in moved:
        # −1 is no time: it says that the launch is not in the file.
        before = frame["launched_ns"].to_numpy()
        moved["launched_ns"] = np.where(before == -1, before, moved["launched_ns"])
    return frame.assign(**moved)


def _moved(ns: Any, clock: _Clock) -> Any:
    return clock.moved(np.asarray(ns, dtype=np.int64))


@dataclass(frozen=True, eq=False)
class RankStep:
    """One step on one rank: the rank's trace, the step's window, its place and its exchanges."""

    trace: RankTrace
    window: Window
    place: int
    calls: pd.DataFrame

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
    def clipped(self) -> pd.DataFrame:
        """The exchanges, cut to the window."""
        window = self.window
        frame = self.calls.assign(
            began_ns=self.calls["arrival_ns"], ended_ns=self.calls["finish_ns"]
        )
        for column in ("arrival_ns", "finish_ns"):
            frame[column] = frame[column].clip(window.start_ns, window.finish_ns)
        frame["ready_ns"] = np.minimum(frame["ready_ns"], frame["arrival_ns"])
        return frame

    @cached_property
    def pieces(self) -> list[Piece]:
        """The pieces that tile the window."""
        ends = self.clipped["finish_ns"].to_numpy(dtype=np.int64)
        return rank_pieces(self.events, self.window, self.main, ends)

    @cached_property
    def launches(self) -> Launches:
        """When the device's work in the window was launched."""
        return launches(self.events, self.window, self.trace.ordinary_lag)
