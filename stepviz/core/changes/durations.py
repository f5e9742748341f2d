"""Changes of durations: shorten, scale, set."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stepviz.core.changes.base import Change, Outcome, Selection, shown
from stepviz.core.checks import ms_text
from stepviz.errors import ChangeError

if TYPE_CHECKING:
    from stepviz.core.timeline import Timeline


def with_durations(timeline: Timeline, rows: list[int], values: list[float]) -> Timeline:
    """Return the timeline with other durations, ms, in some rows."""
    durations = timeline._tables.duration.copy()
    durations[rows] = values
    return timeline._edited(timeline._tables.replace(duration=durations))


@dataclass(frozen=True)
class Shorten(Change):
    """Durations lowered by a total of `ms`, spread over the selection pro rata."""

    selection: Selection
    ms: float

    def on(self, timeline: Timeline) -> Outcome:  # noqa: D102 - as Change.on
        tables = timeline._tables
        rows = self.selection.rows(tables)
        before = tables.duration[rows]
        lasts = math.fsum(before.tolist())
        if self.ms > lasts * (1 + 1e-12):
            msg = (
                f"can't shorten {shown(tables, rows)} by {ms_text(self.ms)} ms: "
                f"{'they last' if len(rows) > 1 else 'it lasts'} {ms_text(lasts)} ms"
            )
            raise ChangeError(msg)
        if len(rows) == 1:
            after = [max(float(before[0]) - self.ms, 0.0)]
        elif lasts == 0:  # nothing to be in proportion to
            after = [-self.ms / len(rows)] * len(rows)
        else:
            share = max((lasts - self.ms) / lasts, 0.0)
            after = [duration * share for duration in before.tolist()]
        verb = "shortened" if self.ms >= 0 else "lengthened"
        did = f"{verb} {shown(tables, rows)} by {ms_text(abs(self.ms))} ms"
        if len(rows) > 1:
            did += f" in all, pro rata over {len(rows)} phases"
        did += self.selection.left_out(tables)
        return Outcome(with_durations(timeline, rows, after), did)


@dataclass(frozen=True)
class Scale(Change):
    """Durations multiplied by a factor."""

    selection: Selection
    factor: float

    def on(self, timeline: Timeline) -> Outcome:  # noqa: D102 - as Change.on
        tables = timeline._tables
        rows = self.selection.rows(tables)
        after = [duration * self.factor for duration in tables.duration[rows].tolist()]
        did = f"scaled {shown(tables, rows)} by {self.factor:g}"
        did += self.selection.left_out(tables)
        return Outcome(with_durations(timeline, rows, after), did)


@dataclass(frozen=True)
class SetDuration(Change):
    """A duration set to a number of ms, each phase of the selection alike."""

    selection: Selection
    ms: float

    def on(self, timeline: Timeline) -> Outcome:  # noqa: D102 - as Change.on
        tables = timeline._tables
        rows = self.selection.rows(tables)
        did = f"set {shown(tables, rows)} to {ms_text(self.ms)} ms"
        did += self.selection.left_out(tables)
        return Outcome(with_durations(timeline, rows, [self.ms] * len(rows)), did)
