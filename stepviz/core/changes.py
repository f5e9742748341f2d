"""Changes as values: say what would be different, apply it to any timeline, compare several.

A change knows nothing of a timeline until it is applied. Applied, it returns the new timeline and
a sentence that says what it did there. A change that matches nothing raises `ChangeError` with
near names.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stepviz.core.checks import as_names, as_rank, as_real, ms_text
from stepviz.core.vocabulary import COMPUTE, KINDS
from stepviz.errors import ChangeError, TimelineError, near

if TYPE_CHECKING:
    from stepviz.core.tables import Tables
    from stepviz.core.timeline import Timeline

Names = str | Iterable[str] | None


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
        phases = _names(phase, "phase")
        kinds = _names(kind, "kind")
        if phases and kinds:
            msg = "give phases by name or by kind, not both"
            raise ChangeError(msg)
        for k in kinds:
            if k not in KINDS:
                msg = f"there is no kind {k!r}: {near(k, KINDS, most=len(KINDS))}"
                raise ChangeError(msg)
        if rank is not None and as_rank(rank) is None:
            msg = f"rank is {rank!r}: give one rank, a whole number from 0"
            raise ChangeError(msg)
        if not phases and not kinds and rank is None:
            msg = "say which phases: by phase=, kind= or rank="
            raise ChangeError(msg)
        return cls(phases, kinds, None if rank is None else as_rank(rank))

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
            if not wanted.any():
                there = ", ".join(dict.fromkeys(tables.kind.tolist()))
                asked = " or ".join(map(repr, self.kind))
                msg = f"no phase is of kind {asked}: the kinds here are {there}"
                raise ChangeError(msg)
        if self.rank is not None:
            here = wanted & (tables.rank == self.rank)
            if not here.any():
                shared = any(
                    self.rank in tables.ranks_of(row) for row in np.flatnonzero(wanted).tolist()
                )
                hint = (
                    "what matches belongs to a group of ranks, so leave rank= out"
                    if shared
                    else f"the ranks are {', '.join(map(str, tables.ranks()))}"
                )
                msg = f"{self._said()} is no work of rank {self.rank} alone: {hint}"
                raise ChangeError(msg)
            wanted = here
        return [int(row) for row in np.flatnonzero(wanted)]

    def left_out(self, tables: Tables) -> str:
        """Say that a rank's collectives are not its own to change, where it has some."""
        if self.rank is None or self.phase or self.kind:
            return ""
        groups = tables.rows_by_rank[self.rank]
        return "; its collectives stay as they are" if (tables.rank[groups] < 0).any() else ""

    def _no_phase(self, name: str, tables: Tables) -> str:
        kinds = set(tables.kind.tolist())
        hint = f"; there is the kind {name!r} (kind={name!r})" if name in kinds else ""
        return f"there is no phase {name!r}: {near(name, tables.place)}{hint}"

    def _said(self) -> str:
        if self.phase:
            return " or ".join(map(repr, self.phase))
        return f"kind {' or '.join(map(repr, self.kind))}" if self.kind else "nothing here"


def _names(given: Names, what: str) -> tuple[str, ...]:
    if given is None:
        return ()
    names = as_names(given)
    if not names:
        msg = f"{what} is {given!r}: give a name or a list of names"
        raise ChangeError(msg)
    return tuple(names)


def _one_name(given: str, what: str) -> str:
    if not isinstance(given, str):
        msg = f"{what} is {given!r}: give the name of a phase"
        raise ChangeError(msg)
    return given


def _number(value: float | None, what: str, *, least: float | None = 0.0) -> float:
    number = as_real(value)
    if number is None or not math.isfinite(number) or (least is not None and number < least):
        rule = "" if least is None else f" of {least:g} or more"
        msg = f"{what} is {value!r}: give a finite number{rule}"
        raise ChangeError(msg)
    return number


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
                f"can't shorten {_shown(tables, rows)} by {ms_text(self.ms)} ms: "
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
        did = f"{verb} {_shown(tables, rows)} by {ms_text(abs(self.ms))} ms"
        if len(rows) > 1:
            did += f" in all, pro rata over {len(rows)} phases"
        did += self.selection.left_out(tables)
        return Outcome(_with_durations(timeline, rows, after), did)


@dataclass(frozen=True)
class Scale(Change):
    """Durations multiplied by a factor."""

    selection: Selection
    factor: float

    def on(self, timeline: Timeline) -> Outcome:  # noqa: D102 - as Change.on
        tables = timeline._tables
        rows = self.selection.rows(tables)
        after = [duration * self.factor for duration in tables.duration[rows].tolist()]
        did = f"scaled {_shown(tables, rows)} by {self.factor:g}"
        did += self.selection.left_out(tables)
        return Outcome(_with_durations(timeline, rows, after), did)


@dataclass(frozen=True)
class SetDuration(Change):
    """A duration set to a number of ms, each phase of the selection alike."""

    selection: Selection
    ms: float

    def on(self, timeline: Timeline) -> Outcome:  # noqa: D102 - as Change.on
        tables = timeline._tables
        rows = self.selection.rows(tables)
        did = f"set {_shown(tables, rows)} to {ms_text(self.ms)} ms"
        did += self.selection.left_out(tables)
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
class DelayInput(Change):
    """The first input phase of each rank is ready later than whatever holds it now.

    Its release moves, and so does the lag of each dependency that leads to it, so that the delay
    does not depend on what else changes.
    """

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
        release, lag = tables.release.copy(), tables.lag.copy()
        lag[np.isin(tables.target, moved)] += self.ms
        before, after = tables.lane_pairs
        held = np.isin(after, moved)  # lane order has no lag: it becomes a dependency that has
        led = np.isin(moved, np.concatenate((tables.target, after)))
        pinned = release[moved] > 0
        release[np.array(moved)[~led | pinned]] += self.ms
        more = int(held.sum())
        changed = timeline._edited(
            tables.replace(
                release=release,
                source=np.concatenate((tables.source, before[held])),
                target=np.concatenate((tables.target, after[held])),
                code=np.concatenate((tables.code, np.zeros(more, np.int64))),
                lag=np.concatenate((lag, np.full(more, self.ms))),
                origin=np.concatenate((tables.origin, np.full(more, "assumed", dtype=object))),
            )
        )
        return Outcome(changed, f"{_shown(tables, moved)} ready {ms_text(self.ms)} ms later")


@dataclass(frozen=True)
class ShrinkTail(Change):
    """The exchange that is exposed after the last backward compute ends `ms` earlier.

    Whatever holds it there gives way: the duration of the exchange and, where a dependency holds
    its finish (FF, SF), that lag as well; of several exchanges in the tail, the last one first.
    A rank whose tail is shorter than `ms` loses all of it.
    """

    ms: float

    def on(self, timeline: Timeline) -> Outcome:  # noqa: D102 - as Change.on
        tables, tolerance = timeline._tables, timeline.schedule().solution.tolerance
        Selection((), ("exchange",)).rows(tables)
        # All tails are measured before any cut, so that a collective is cut once for its members.
        tails = {rank: _tail(timeline, rank) for rank in tables.ranks()}
        exposed = {rank: tail for rank, tail in tails.items() if tail[1] > tolerance}
        if not exposed:
            msg = "no exchange is exposed after the last compute, so there is no tail to shrink"
            raise ChangeError(msg)
        longest = max(length for _, length in exposed.values())
        if self.ms > longest + tolerance:
            msg = (
                f"can't take {ms_text(self.ms)} ms off the exposed tail: "
                f"it is {ms_text(longest)} ms"
            )
            raise ChangeError(msg)
        ends = {rank: end - min(self.ms, length) for rank, (end, length) in exposed.items()}
        changed = timeline
        for rank in sorted(ends, key=lambda r: (-ends[r], r)):
            changed = _end_by(changed, rank, ends[rank])
        return Outcome(changed, _cuts(timeline, changed))


def _end_by(timeline: Timeline, rank: int, end: float) -> Timeline:
    """Cut a rank's exchanges, the last one first, until all of them end by `end` ms."""
    for _ in range(len(timeline) + 1):
        solution, tables = timeline.schedule().solution, timeline._tables
        late = [
            row
            for row in _exchanges(tables, rank)
            if solution.finish[row] - end > solution.tolerance
        ]
        if not late:
            return timeline
        row = max(late, key=lambda r: (tables.duration[r] > 0, solution.finish[r], r))
        finish = float(solution.finish[row])
        step = min(finish - end, float(tables.duration[row]))
        # A dependency that acts on the finish would hold it where it is: its lag goes too.
        g = solution.graph
        bound = solution.bound() + tables.duration[g.target]
        holds = np.flatnonzero((g.target == row) & g.to_finish & (bound > end))
        if step <= 0 and not len(holds):
            name = tables.phase[row]
            msg = (
                f"{name!r} ends at {ms_text(finish)} ms although it has no work left: "
                f"{timeline.schedule().explain(name)}"
            )
            raise ChangeError(msg)
        lag, duration = tables.lag.copy(), tables.duration.copy()
        lag[holds] -= bound[holds] - end
        duration[row] = max(duration[row] - step, 0.0)
        timeline = timeline._edited(tables.replace(lag=lag, duration=duration))
    msg = f"the tail of rank {rank} did not move: another exchange holds it"
    raise ChangeError(msg)


def _cuts(before: Timeline, after: Timeline) -> str:
    """Say what became shorter, and whose lags moved with it."""
    old, new = before._tables, after._tables
    lags = set(old.target[old.lag != new.lag].tolist())
    did = [
        f"{old.phase[row]} {ms_text(old.duration[row] - new.duration[row])} ms shorter"
        + (" with the lag that holds its finish" if row in lags else "")
        for row in np.flatnonzero(old.duration != new.duration).tolist()
    ]
    return "; ".join(did) or "nothing"


def _exchanges(tables: Tables, rank: int) -> list[int]:
    rows = np.flatnonzero(tables.kind == "exchange").tolist()
    return [r for r in rows if rank in tables.ranks_of(r)]


def _tail(timeline: Timeline, rank: int) -> tuple[float, float]:
    """When a rank's last exchange ends, and how long after its last compute, ms."""
    tables, solution = timeline._tables, timeline.schedule().solution
    compute = np.flatnonzero(np.isin(tables.kind, COMPUTE) & (tables.rank == rank))
    end = max((float(solution.finish[row]) for row in _exchanges(tables, rank)), default=0.0)
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
        Phases by name.
    ms : float
        Total cut, ms. Negative lengthens.
    kind : str or list of str, optional
        Phases by kind, instead of by name.
    rank : int, optional
        Only phases of this rank alone, not its collectives.

    Returns
    -------
    Change
        For `Timeline.apply` and `compare`.

    Raises
    ------
    ChangeError
        At once for a number or kind without meaning; when applied, where nothing matches or
        the phases last less than `ms`.

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
    """Multiply durations by `factor` (0 or more).

    Phases are chosen as in `shorten`: ``scale(kind="backward", factor=0.9)``.
    """
    return Scale(Selection.of(phase, kind, rank), _number(factor, "factor"))


def set_duration(
    phase: Names = None,
    ms: float | None = None,
    *,
    kind: Names = None,
    rank: int | None = None,
) -> Change:
    """Set the duration of each chosen phase (as in `shorten`) to `ms` ms."""
    return SetDuration(Selection.of(phase, kind, rank), _number(ms, "ms"))


def remove(phase: Names = None, *, kind: Names = None, rank: int | None = None) -> Change:
    """Take the work of phases (chosen as in `shorten`) away.

    They last 0 ms, and their dependencies and lags still hold. To take a phase out together with
    its dependencies, use `Timeline.without`.
    """
    return Scale(Selection.of(phase, kind, rank), 0.0)


def set_release(phase: str, ms: float) -> Change:
    """Let `phase` start at `ms` ms or later (from the step's start); 0 takes the pin out."""
    return SetRelease(_one_name(phase, "phase"), _number(ms, "ms"))


def set_lag(source: str, target: str, ms: float, type: str | None = None) -> Change:  # noqa: A002 - the field's word for it
    """Set the lag of a dependency to `ms` ms; say its `type` where there are several."""
    ends = _one_name(source, "source"), _one_name(target, "target")
    return SetLag(*ends, _number(ms, "ms", least=None), type)


def delay_input(ms: float, *, rank: int | None = None) -> Change:
    """Let the input be ready `ms` ms later, on each rank or on one.

    The first input phase of a rank moves: its release, and the lags that lead to it.
    """
    Selection.of(None, "input", rank)
    return DelayInput(_number(ms, "ms"), rank)


def shrink_tail(ms: float) -> Change:
    """End the exchange that is exposed after compute `ms` ms earlier.

    Not the same change as a faster exchange: in a model in which a dependency holds the finish
    (FF), a shorter exchange only starts later. This one also moves what holds the tail. On
    several ranks, each tail loses `ms` ms, or all of it where it is shorter; a collective is cut
    once for all its members.

    Raises
    ------
    ChangeError
        When applied: where no rank has that long a tail.
    """
    return ShrinkTail(_number(ms, "ms"))


def together(*changes: Change) -> Change:
    """Make several changes, one after the other, as one."""
    for change in changes:
        if not isinstance(change, Change):
            msg = f"{change!r} is not a change: make one with shorten, scale, …"
            raise ChangeError(msg)
    return Together(changes)
