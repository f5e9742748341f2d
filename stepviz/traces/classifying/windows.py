"""Steps: which rows belong to which, and from when to when each lasts on one rank.

A step runs from the previous update's completion to its own: the end of the device work that
its host range launched, since most kernels run later than that, or the end of the range
itself where the host is last. Where there is no device it is the host's range. Where nothing
marks a step, and nothing else tells (see `iterations`), it is the whole trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from stepviz.traces.classifying.added_patterns import Pattern
from stepviz.traces.classifying.iterations import by_pattern, found_otherwise
from stepviz.traces.classifying.name_traits import Trait, traits
from stepviz.traces.classifying.patterns import STEP
from stepviz.traces.reading.masks import among, of_codes
from stepviz.traces.reading.rows import DEVICE, HOST
from stepviz.traces.table import Table

#: How the start of a window was found.
PREVIOUS: Final = "previous update"
HOST_START: Final = "host start"
WHOLE_TRACE: Final = "whole trace"

#: Places of rows that belong to no step: before the first range, and after the end of one.
BEFORE: Final = -1
BETWEEN: Final = -2

IntArray = npt.NDArray[np.int64]

_RANGE: Final = ("step", "start_ns", "finish_ns", "found_by")

#: The number of the one step of a trace that marks none.
UNMARKED: Final = 0


@dataclass(frozen=True)
class Window:
    """One step on one rank, in ns: when, measured on what, and how its start was found.

    `found_by` says by what steps were told apart, "" where ProfilerStep marks them.
    """

    step: int
    start_ns: int
    finish_ns: int
    measured: str
    start_from: str
    host_start_ns: int
    host_finish_ns: int
    found_by: str = ""

    @property
    def duration_ns(self) -> int:
        """Return the length of the step on this rank."""
        return self.finish_ns - self.start_ns

    @property
    def rule(self) -> str:
        """Say in a sentence from when to when the step was measured."""
        if self.start_from == WHOLE_TRACE:
            return "no step is marked, so this is the whole trace, from its first row to its last"
        told = f"no ProfilerStep marks steps, so they are told by {self.found_by}; "
        told = told if self.found_by else ""
        if self.measured == "host":
            what = "step's host range" if self.found_by else "step's marker"
            return f"{told}measured on the host, from the start of the {what} to its end"
        since = "the host's start (the trace has no update before it) to"
        if self.start_from == PREVIOUS:
            since = "the previous update's completion to its own:"
        return (
            f"{told}from {since} the end of its device work, or of the host's range where that "
            "is later"
        )


def step_ranges(events: Table, added: Sequence[Pattern] | None = None) -> Table:
    """Return the ranges of a rank's steps on its host, found by the first thing that tells.

    Parameters
    ----------
    events
        Rows with kinds.
    added
        Users' patterns, by default those in force.

    Returns
    -------
    Table
        step, start_ns, finish_ns, track, found_by ("" for the profiler's markers), sorted by
        start; empty where nothing tells of steps.
    """
    own = by_pattern(events, added)
    if own is not None:
        return own
    marked = host_ranges(events)
    return marked if len(marked) else found_otherwise(events)


def host_ranges(events: Table) -> Table:
    """Return the markers of a rank's steps in order of time (columns: see `step_ranges`)."""
    names = events["name"]
    words = names.categories
    marks = traits(words) & Trait.STEP > 0
    rows = np.flatnonzero(of_codes(marks, names.codes) & among(events["cat"], HOST))
    start = events["start_ns"]
    rows = rows[np.argsort(start[rows], kind="stable")]
    found = [STEP.match(words[code]) for code in names.codes[rows].tolist()]
    return Table(
        {
            "step": np.array([int(one["step"]) for one in found if one], dtype=np.int64),
            "start_ns": start[rows],
            "finish_ns": events["finish_ns"][rows],
            "track": events["track"][rows],
            "found_by": np.full(len(rows), "", dtype=object),
        }
    )


def without_doubles(ranges: Table, repairs: list[str]) -> Table:
    """Keep the first marker of each step number, and say so where there are more."""
    numbers = ranges["step"].tolist()
    if len(set(numbers)) == len(numbers):
        return ranges
    first = np.unique(ranges["step"], return_index=True)[1]
    kept = ranges.take(np.sort(first))
    repairs.append(f"markers of a step already marked were passed over: {len(ranges) - len(kept)}")
    return kept


def steps_of_rows(events: Table, ranges: Table) -> IntArray:
    """Return, per row, the place in `ranges` of the step it belongs to, else BEFORE or BETWEEN.

    A host row belongs to the range it starts in; a device row to the step of the call that
    launched it, however late it runs. A device row whose launch is not in the file cannot tell
    whose it is, but for an update's: that belongs to the step its stream was working for.
    """
    if not len(ranges):
        return np.zeros(len(events), dtype=np.int64)
    start = events["start_ns"]
    place = np.searchsorted(ranges["start_ns"], start, side="right") - 1
    ended = (place >= 0) & (start >= ranges["finish_ns"][place])
    place[ended] = BETWEEN
    source = events["source"]
    launched = source >= 0
    place[launched] = place[source[launched]]
    lost = among(events["cat"], DEVICE) & ~launched
    updates = np.flatnonzero(lost & among(events["kind"], ("optimizer",)))
    place[lost] = BETWEEN
    track = events["track"]
    for stream in np.unique(track[updates]):
        rows = np.flatnonzero(launched & (track == stream))
        rows = rows[np.argsort(start[rows], kind="stable")]
        mine = updates[track[updates] == stream]
        before = np.searchsorted(start[rows], start[mine], side="right") - 1
        place[mine[before >= 0]] = place[rows[before[before >= 0]]]
    return np.asarray(place, dtype=np.int64)


def place_lost(events: Table, found: list[Window]) -> Table:
    """Give device rows without a launch to the step in whose window they start."""
    place = events["place"].copy()
    lost = np.flatnonzero(
        among(events["cat"], DEVICE) & (events["source"] < 0) & (place == BETWEEN)
    )
    if len(lost) == 0:
        return events
    start = events["start_ns"]
    lost = lost[np.argsort(start[lost], kind="stable")]
    for at, window in enumerate(found):
        first, beyond = np.searchsorted(start[lost], (window.start_ns, window.finish_ns))
        place[lost[first:beyond]] = at
    return events.assign(place=place)


def windows(events: Table, ranges: Table) -> list[Window]:
    """Return the windows of a rank in order of time.

    Parameters
    ----------
    events
        Rows with a column `place` (see `steps_of_rows`).
    ranges
        Those of `step_ranges`; empty where nothing tells of steps.
    """
    device = among(events["cat"], DEVICE)
    if not len(ranges):
        return [_whole_trace(events, device)]
    place = events["place"]
    finish = events["finish_ns"]
    # Kernels that cannot tell whose they are end no step.
    owned = device & (place != BETWEEN)
    before = finish[owned & (place == BEFORE)]
    previous: int | None = int(before.max()) if len(before) else None
    own = np.flatnonzero(owned & (place >= 0))
    none = np.iinfo(np.int64).min
    last = np.full(len(ranges), none, dtype=np.int64)
    np.maximum.at(last, place[own], finish[own])
    found: list[Window] = []
    unmarked = _Unmarked.of(events, device)
    for device_end, step, host_start, host_finish, by in zip(
        last.tolist(), *(ranges[name].tolist() for name in _RANGE), strict=True
    ):
        host = (host_start, host_finish)
        if device_end == none:
            found.append(Window(step, *host, "host", HOST_START, *host, by))
            continue
        # The update is over when both its device work and the host's own range are.
        end = max(device_end, host[1])
        if previous is not None and found and not by and step > found[-1].step + 1:
            # Steps between the two are not marked: what ended last of them, if they are there.
            previous = max(previous, unmarked.end(found[-1].host_finish_ns, host[0]))
            previous = None if previous < host[0] else previous
        if previous is None:
            start, start_from = min(host[0], end), HOST_START
        else:
            # Work of this step that ended before the previous one's last adds nothing to it.
            start, start_from = previous, PREVIOUS
            end = max(end, previous)
        found.append(Window(step, start, end, "device", start_from, *host, by))
        previous = end
    return found


@dataclass(frozen=True, eq=False)
class _Unmarked:
    """The device rows that were launched between the ranges of steps: when, and when they end."""

    launched: IntArray
    finish: IntArray

    @classmethod
    def of(cls, events: Table, device: npt.NDArray[np.bool_]) -> _Unmarked:
        source, place = events["source"], events["place"]
        rows = np.flatnonzero(device & (place == BETWEEN) & (source >= 0))
        start = events["start_ns"]
        return cls(start[source[rows]], events["finish_ns"][rows])

    def end(self, since: int, until: int) -> int:
        """Return when the last of them ended that was launched in this time, `since` for none."""
        mine = (self.launched >= since) & (self.launched < until)
        return int(self.finish[mine].max(initial=since))


def _whole_trace(events: Table, device: npt.NDArray[np.bool_]) -> Window:
    work = device | among(events["cat"], HOST)
    shown = events.take(work) if work.any() else events
    start, finish = int(shown["start_ns"].min()), int(shown["finish_ns"].max())
    measured = "device" if device.any() else "host"
    return Window(UNMARKED, start, finish, measured, WHOLE_TRACE, start, finish)
