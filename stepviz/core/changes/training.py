"""Changes that know what a training step is: late input, a shorter tail of exchange."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stepviz.core.changes.base import Change, Outcome, Selection, shown
from stepviz.core.checks import ms_text
from stepviz.core.vocabulary import COMPUTE
from stepviz.errors import ChangeError

if TYPE_CHECKING:
    from stepviz.core.tables import Tables
    from stepviz.core.timeline import Timeline


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
        release[moved] += self.ms  # also where nothing but the step's start holds it
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
        return Outcome(changed, f"{shown(tables, moved)} ready {ms_text(self.ms)} ms later")


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
