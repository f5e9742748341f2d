"""Changes as values: say what would be different, apply it to any timeline, compare several.

A change knows nothing of a timeline until it is applied. Applied, it returns the new timeline and
a sentence that says what it did there. A change that matches nothing raises `ChangeError` with
near names.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stepviz.core.vocabulary import COMPUTE, KINDS
from stepviz.errors import ChangeError, near

if TYPE_CHECKING:
    from stepviz.core.tables import Tables
    from stepviz.core.timeline import Timeline

Names = str | Sequence[str] | None


@dataclass(frozen=True)
class Outcome:
    """A changed timeline, and what was done to it in words."""

    timeline: Timeline
    did: str


class Change(ABC):
    """Something that would be different; see `shorten`, `scale`, `delay_input` and the others."""

    @abstractmethod
    def on(self, timeline: Timeline) -> Outcome:
        """Apply the change and say what it did; `timeline` itself stays as it is."""


@dataclass(frozen=True)
class Selection:
    """Phases by name or kind, narrowed to one rank where given."""

    phase: tuple[str, ...] = ()
    kind: tuple[str, ...] = ()
    rank: int | None = None

    @classmethod
    def of(cls, phase: Names, kind: Names, rank: int | None) -> Selection:
        """Check what a caller gave: at least one of phase, kind and rank."""
        phases = (phase,) if isinstance(phase, str) else tuple(phase or ())
        kinds = (kind,) if isinstance(kind, str) else tuple(kind or ())
        if phases and kinds:
            msg = "give phases by name or by kind, not both"
            raise ChangeError(msg)
        if not phases and not kinds and rank is None:
            msg = "say which phases: by phase=, kind= or rank="
            raise ChangeError(msg)
        for k in kinds:
            if k not in KINDS:
                msg = f"there is no kind {k!r}: {near(k, KINDS, most=len(KINDS))}"
                raise ChangeError(msg)
        return cls(phases, kinds, rank)

    def rows(self, tables: Tables) -> list[int]:
        """Return the rows that match; none is a `ChangeError`."""
        for name in self.phase:
            if name not in tables.place:
                raise ChangeError(self._no_phase(name, tables))
        wanted = np.ones(len(tables.phase), dtype=bool)
        if self.phase:
            wanted = np.isin(tables.phase, self.phase)
        if self.kind:
            wanted = np.isin(tables.kind, self.kind)
        if wanted.any() and self.rank is not None:
            here = tables.rank == self.rank
            if not (wanted & here).any():
                of = f" of rank {self.rank}"
                shared = [
                    r for r in np.flatnonzero(wanted).tolist() if self.rank in tables.ranks_of(r)
                ]
                hint = (
                    "they belong to a group of ranks, so leave rank= out"
                    if shared
                    else f"ranks: {', '.join(map(str, tables.ranks()))}"
                )
                msg = f"no {self._said()}{of} to change: {hint}"
                raise ChangeError(msg)
            wanted &= here
        if not wanted.any():
            there = dict.fromkeys(tables.kind.tolist())
            msg = f"no phase is of kind {' or '.join(map(repr, self.kind))}: {near('', there)}"
            raise ChangeError(msg)
        return np.flatnonzero(wanted).tolist()

    def _no_phase(self, name: str, tables: Tables) -> str:
        kinds = set(tables.kind.tolist())
        hint = f"; there is the kind {name!r} (kind={name!r})" if name in kinds else ""
        return f"there is no phase {name!r}: {near(name, tables.place)}{hint}"

    def _said(self) -> str:
        return "phase " + " or ".join(map(repr, self.phase)) if self.phase else "phase of this kind"


def _number(value: float | None, what: str, *, least: float | None = 0.0) -> float:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    given = float(value) if number and value is not None else math.nan
    if not math.isfinite(given) or (least is not None and given < least):
        rule = "" if least is None else f" of {least:g} or more"
        msg = f"{what} is {value!r}: give a finite number{rule}"
        raise ChangeError(msg)
    return given


def _shown(tables: Tables, rows: list[int]) -> str:
    names = tables.phase[rows].tolist()
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _with_durations(timeline: Timeline, rows: list[int], values: list[float]) -> Timeline:
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
                f"can't shorten {_shown(tables, rows)} by {self.ms:g} ms: "
                f"{'they last' if len(rows) > 1 else 'it lasts'} {lasts:g} ms"
            )
            raise ChangeError(msg)
        if len(rows) == 1:
            after = [max(float(before[0]) - self.ms, 0.0)]
        elif lasts == 0:  # nothing to be in proportion to
            after = [-self.ms / len(rows)] * len(rows)
        else:
            after = (before * max((lasts - self.ms) / lasts, 0.0)).tolist()
        verb = "shortened" if self.ms >= 0 else "lengthened"
        did = f"{verb} {_shown(tables, rows)} by {abs(self.ms):g} ms"
        if len(rows) > 1:
            did += f" in all, pro rata over {len(rows)} phases"
        return Outcome(_with_durations(timeline, rows, after), did)


@dataclass(frozen=True)
class Scale(Change):
    """Durations multiplied by a factor."""

    selection: Selection
    factor: float

    def on(self, timeline: Timeline) -> Outcome:  # noqa: D102 - as Change.on
        tables = timeline._tables
        rows = self.selection.rows(tables)
        after = (tables.duration[rows] * self.factor).tolist()
        did = f"scaled {_shown(tables, rows)} by {self.factor:g}"
        return Outcome(_with_durations(timeline, rows, after), did)


@dataclass(frozen=True)
class SetDuration(Change):
    """A duration set to a number of ms, each phase of the selection alike."""

    selection: Selection
    ms: float

    def on(self, timeline: Timeline) -> Outcome:  # noqa: D102 - as Change.on
        tables = timeline._tables
        rows = self.selection.rows(tables)
        did = f"set {_shown(tables, rows)} to {self.ms:g} ms"
        return Outcome(_with_durations(timeline, rows, [self.ms] * len(rows)), did)


@dataclass(frozen=True)
class SetRelease(Change):
    """An earliest start from outside, ms from the step's start; 0 takes it away."""

    phase: str
    ms: float

    def on(self, timeline: Timeline) -> Outcome:  # noqa: D102 - as Change.on
        Selection((self.phase,)).rows(timeline._tables)
        return Outcome(
            timeline.with_release(self.phase, self.ms),
            f"{self.phase} starts at {self.ms:g} ms or later" if self.ms else f"freed {self.phase}",
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
        changed = timeline.with_lag(self.source, self.target, self.ms, self.type)
        return Outcome(changed, f"lag {self.source} → {self.target} set to {self.ms:g} ms")


@dataclass(frozen=True)
class DelayInput(Change):
    """The input of each rank is ready later: the release of its first input phase moves."""

    ms: float
    rank: int | None = None

    def on(self, timeline: Timeline) -> Outcome:  # noqa: D102 - as Change.on
        tables, solution = timeline._tables, timeline.schedule().solution
        rows = Selection((), ("input",), self.rank).rows(tables)
        first: dict[tuple[int, ...], int] = {}
        for row in rows:
            owner = tables.ranks_of(row)
            if owner not in first or solution.start[row] < solution.start[first[owner]]:
                first[owner] = row
        moved = sorted(first.values())
        release = tables.release.copy()
        release[moved] = solution.start[moved] + self.ms
        changed = timeline._edited(tables.replace(release=release))
        return Outcome(changed, f"{_shown(tables, moved)} ready {self.ms:g} ms later")


@dataclass(frozen=True)
class ShrinkTail(Change):
    """The exchange that is exposed after the last backward compute ends `ms` earlier.

    Whatever holds it there gives way: the duration of the exchange and, where a dependency holds
    its finish (FF, SF), that lag as well; of several exchanges in the tail, the last one first.
    """

    ms: float

    def on(self, timeline: Timeline) -> Outcome:  # noqa: D102 - as Change.on
        Selection((), ("exchange",)).rows(timeline._tables)
        did: list[str] = []
        cut_any = False
        for rank in timeline.ranks:
            tail = _tail(timeline, rank)
            if tail is None or tail[1] <= 0:
                continue
            end = tail[0] - self.ms
            if self.ms > tail[1] + timeline.schedule().solution.tolerance:
                msg = (
                    f"can't take {self.ms:g} ms off the exposed tail of rank {rank}: "
                    f"it is {tail[1]:g} ms"
                )
                raise ChangeError(msg)
            cut_any = True
            timeline = self._cut(timeline, rank, end, did)
        if not cut_any:
            msg = "no exchange is exposed after the last compute, so there is no tail to shrink"
            raise ChangeError(msg)
        return Outcome(timeline, "; ".join(dict.fromkeys(did)))

    def _cut(self, timeline: Timeline, rank: int, end: float, did: list[str]) -> Timeline:
        """Move the end of the rank's exchange to `end`, cutting its last phases."""
        for _ in range(len(timeline) + 1):
            solution, tables = timeline.schedule().solution, timeline._tables
            late = [r for r in _exchanges(tables, rank) if solution.finish[r] > end]
            late = [r for r in late if solution.finish[r] - end > solution.tolerance]
            if not late:
                return timeline
            row = max(late, key=lambda r: (tables.duration[r] > 0, solution.finish[r], r))
            over = float(solution.finish[row]) - end
            step = min(over, float(tables.duration[row]))
            g = solution.graph
            bound = solution.bound() + tables.duration[g.target]
            holds = (g.target == row) & g.to_finish & (bound > solution.finish[row] - over)
            stored = np.flatnonzero(holds[: len(tables.lag)])
            name = tables.phase[row]
            if step <= 0 and not len(stored):
                msg = (
                    f"{name!r} ends at {solution.finish[row]:g} ms although it has no work left: "
                    f"{timeline.schedule().explain(name)}; nothing of its own can move it"
                )
                raise ChangeError(msg)
            lag = tables.lag.copy()
            lag[stored] -= bound[stored] - (solution.finish[row] - over)
            durations = tables.duration.copy()
            durations[row] = max(durations[row] - step, 0.0)
            timeline = timeline._edited(tables.replace(lag=lag, duration=durations))
            also = " with the lag that holds its finish" if len(stored) else ""
            did.append(f"{name} {step:g} ms shorter{also}")
        msg = f"the tail of rank {rank} did not move: another exchange holds it"
        raise ChangeError(msg)


def _exchanges(tables: Tables, rank: int) -> list[int]:
    rows = np.flatnonzero(tables.kind == "exchange").tolist()
    return [r for r in rows if rank in tables.ranks_of(r)]


def _tail(timeline: Timeline, rank: int) -> tuple[float, float] | None:
    """When a rank's last exchange ends, and how long after its last compute, ms."""
    tables, solution = timeline._tables, timeline.schedule().solution
    exchanges = _exchanges(tables, rank)
    compute = np.flatnonzero(np.isin(tables.kind, COMPUTE) & (tables.rank == rank))
    if not exchanges:
        return None
    end = float(solution.finish[exchanges].max())
    return end, end - float(solution.finish[compute].max(initial=0.0))


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


def shorten(
    phase: Names = None,
    ms: float | None = None,
    *,
    kind: Names = None,
    rank: int | None = None,
) -> Change:
    """Shorten phases by `ms` ms in all; over several phases, in proportion to their durations.

    Parameters
    ----------
    phase : str or list of str, optional
        Phases by name; or give `kind` (and `rank`) instead.
    ms : float
        Total cut, ms. Negative lengthens.

    Examples
    --------
    >>> from stepviz.builders.lesson_models import lesson
    >>> lesson().apply(shorten("exchange", 25)).completion
    725.0
    """
    return Shorten(Selection.of(phase, kind, rank), _number(ms, "ms", least=None))


def scale(
    phase: Names = None,
    factor: float | None = None,
    *,
    kind: Names = None,
    rank: int | None = None,
) -> Change:
    """Multiply durations by `factor` (0 or more): `scale(kind="backward", factor=0.9)`."""
    return Scale(Selection.of(phase, kind, rank), _number(factor, "factor"))


def set_duration(
    phase: Names = None,
    ms: float | None = None,
    *,
    kind: Names = None,
    rank: int | None = None,
) -> Change:
    """Set the duration of each selected phase to `ms` ms."""
    return SetDuration(Selection.of(phase, kind, rank), _number(ms, "ms"))


def remove(phase: Names = None, *, kind: Names = None, rank: int | None = None) -> Change:
    """Take the work of phases away: they last 0 ms, and their dependencies still hold."""
    return Scale(Selection.of(phase, kind, rank), 0.0)


def set_release(phase: str, ms: float) -> Change:
    """Let `phase` start at `ms` ms or later (from the step's start); 0 takes the pin out."""
    return SetRelease(phase, _number(ms, "ms"))


def set_lag(source: str, target: str, ms: float, type: str | None = None) -> Change:  # noqa: A002
    """Set the lag of a dependency, ms; `type` where source and target have several."""
    return SetLag(source, target, _number(ms, "ms", least=None), type)


def delay_input(ms: float, *, rank: int | None = None) -> Change:
    """Let the input be ready `ms` ms later, on each rank or on one."""
    return DelayInput(_number(ms, "ms"), rank)


def shrink_tail(ms: float) -> Change:
    """End the exchange that is exposed after compute `ms` ms earlier, on every rank that has one.

    Not the same change as a faster exchange: in a model in which a dependency holds the finish
    (FF), a shorter exchange only starts later. This one also moves what holds the tail.
    """
    return ShrinkTail(_number(ms, "ms"))


def together(*changes: Change) -> Change:
    """Make several changes, one after the other, as one."""
    return Together(changes)
