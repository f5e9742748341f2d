"""Changes of releases and lags, and several changes as one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stepviz.core.changes.base import Change, Outcome, Selection
from stepviz.core.checks import ms_text
from stepviz.errors import ChangeError, TimelineError

if TYPE_CHECKING:
    from stepviz.core.timeline import Timeline


@dataclass(frozen=True)
class SetRelease(Change):
    """An earliest start from outside, ms from the step's start; 0 takes it away."""

    phase: str
    ms: float

    def on(self, timeline: Timeline) -> Outcome:  # noqa: D102 - as Change.on
        Selection((self.phase,)).rows(timeline._tables)
        return Outcome(
            timeline.with_release(self.phase, self.ms),
            f"{self.phase} starts at {ms_text(self.ms)} ms or later"
            if self.ms
            else f"freed {self.phase}",
        )


@dataclass(frozen=True)
class SetLag(Change):
    """A dependency's lag set to a number of ms."""

    source: str
    target: str
    ms: float
    type: str | None = None

    def on(self, timeline: Timeline) -> Outcome:  # noqa: D102 - as Change.on
        Selection((self.source, self.target)).rows(timeline._tables)
        try:
            changed = timeline.with_lag(self.source, self.target, self.ms, self.type)
        except TimelineError as error:
            raise ChangeError(str(error)) from None
        return Outcome(changed, f"lag {self.source} → {self.target} set to {ms_text(self.ms)} ms")


@dataclass(frozen=True)
class Together(Change):
    """Several changes, one after the other."""

    changes: tuple[Change, ...]

    def on(self, timeline: Timeline) -> Outcome:  # noqa: D102 - as Change.on
        did = []
        for change in self.changes:
            outcome = change.on(timeline)
            timeline = outcome.timeline
            did.append(outcome.did)
        return Outcome(timeline, "; ".join(did))
