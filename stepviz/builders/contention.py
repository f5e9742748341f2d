"""Overlap has a price: compute runs slower while exchange runs beside it, and the reverse.

A fixed stretch of backward is right for one schedule only. Here compute has a rate at each moment,
which depends on what runs beside it on its rank; between two starts or ends all rates are
constant, so the step is solved exactly from event to event. When exchange shrinks, compute gets
its speed back.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepviz.core.changes.base import Change, Outcome
from stepviz.core.checks import as_real, ms_text
from stepviz.core.intervals import intersect, total, union
from stepviz.core.tables import Tables
from stepviz.core.timeline import Timeline
from stepviz.core.vocabulary import COMPUTE, LINK_TYPES
from stepviz.errors import ChangeError
from stepviz.indices import as_index

Floats = NDArray[np.float64]

_START, _FINISH = 1, 0  # at one moment ends come before starts


@dataclass(frozen=True)
class Contention(Change):
    """A change that makes compute and exchange slow each other where they overlap.

    The durations of the timeline are read as work at full speed. Applied, each phase lasts as long
    as its work takes at the rates it meets, and the result is an ordinary timeline. Put it last:
    ``together(shorten("exchange", 25), Contention(compute=0.8))`` shortens the exchange's work and
    then lets the two meet.

    Parameters
    ----------
    compute : float
        Rate of forward, backward and recompute of a rank while an exchange of that rank runs:
        above 0, at most 1. 0.85 is a share of 0.15 taken by communication.
    exchange : float
        Rate of an exchange while compute runs on one of its members.

    Raises
    ------
    ChangeError
        A rate out of range; when applied, a dependency that would need to know the future (FF, SF,
        or a negative lag).

    Examples
    --------
    The lesson's contended step: an exchange of 330 ms takes 8/33 of compute's speed.

    >>> from stepviz.builders.lesson_models import lesson
    >>> step = lesson().with_duration("exchange", 330).apply(Contention(compute=25 / 33))
    >>> round(float(step.phases.loc["backward", "duration"]), 9), round(step.completion, 9)
    (480.0, 780.0)
    """

    compute: float = 1.0
    exchange: float = 1.0

    def __post_init__(self) -> None:
        for name in ("compute", "exchange"):
            rate = as_real(getattr(self, name))
            if rate is None or not 0 < rate <= 1:
                msg = f"{name} is {getattr(self, name)!r}: give a rate above 0 and at most 1"
                raise ChangeError(msg)
            object.__setattr__(self, name, rate)

    def on(self, timeline: Timeline) -> Outcome:  # noqa: D102 - as Change.on
        tables = timeline._tables
        lasts = _Run(timeline, self).durations()
        changed = timeline._edited(tables.replace(duration=lasts))
        return Outcome(changed, self._did(tables, lasts))

    def lifted(self) -> Change:
        """Return the change that takes this contention out of a timeline that was measured with it.

        Each phase gets the work it did at full speed, by what overlaps it in the timeline's
        schedule. ``together(c.lifted(), shorten("exchange", 25), c)`` is the what-if on a
        measured step.
        """
        return _Lifted(self)

    def _did(self, tables: Tables, lasts: Floats) -> str:
        parts = []
        for kind in (*COMPUTE, "exchange"):
            here = tables.kind == kind
            before, after = float(tables.duration[here].sum()), float(lasts[here].sum())
            if after != before:
                parts.append(f"{kind} {ms_text(before)} → {ms_text(after)} ms")
        beside = f"compute at {self.compute:g}, exchange at {self.exchange:g} beside each other"
        return f"{beside}: {'; '.join(parts) or 'they never overlap'}"


@dataclass(frozen=True)
class _Lifted(Change):
    contention: Contention

    def on(self, timeline: Timeline) -> Outcome:
        tables, solution = timeline._tables, timeline.schedule().solution
        spans = np.column_stack((solution.start, solution.finish))
        work = tables.duration.copy()
        kinds = np.isin(tables.kind, COMPUTE)
        exchanges = tables.kind == "exchange"
        by_rank = {
            rank: (union(spans[rows[exchanges[rows]]]), union(spans[rows[kinds[rows]]]))
            for rank, rows in tables.rows_by_rank.items()
        }
        for row in np.flatnonzero(kinds | exchanges).tolist():
            is_exchange = bool(exchanges[row])
            beside = union(
                np.concatenate([by_rank[rank][int(is_exchange)] for rank in tables.ranks_of(row)])
            )
            rate = self.contention.exchange if is_exchange else self.contention.compute
            both = float(total(intersect(union(spans[[row]]), beside)))
            work[row] = max(work[row] - (1 - rate) * both, 0.0)
        changed = timeline._edited(tables.replace(duration=work))
        c = self.contention
        return Outcome(
            changed, f"lifted contention of compute at {c.compute:g}, exchange at {c.exchange:g}"
        )


class _Run:
    """One pass through a timeline from event to event, with rates that depend on what runs."""

    def __init__(self, timeline: Timeline, rates: Contention) -> None:
        tables, graph = timeline._tables, timeline._graph
        self.tables, self.rates = tables, rates
        self.compute = np.isin(tables.kind, COMPUTE)
        self.exchange = tables.kind == "exchange"
        self._need_causes(graph)
        n = graph.n
        self.owners = [tables.ranks_of(row) for row in range(n)]
        self.waits = np.bincount(as_index(graph.target), minlength=n).tolist()
        self.earliest = tables.release.tolist()
        # What a start and what a finish lets go: (target, lag).
        self.after: tuple[list[list[tuple[int, float]]], ...] = (
            [[] for _ in range(n)],
            [[] for _ in range(n)],
        )
        lags = graph.lag - np.where(graph.to_finish, tables.duration[graph.target], 0.0)
        for source, target, from_finish, lag in zip(
            graph.source.tolist(),
            graph.target.tolist(),
            graph.from_finish.tolist(),
            lags.tolist(),
            strict=True,
        ):
            self.after[_FINISH if from_finish else _START][source].append((target, lag))
        self.now = 0.0
        self.events: list[tuple[float, int, int, int]] = []  # moment, start or finish, row, version
        self.version = [0] * n
        self.left = tables.duration.tolist()
        self.rate = [1.0] * n
        self.seen = [0.0] * n  # when `left` was true
        self.started = [0.0] * n
        self.slowed = [False] * n
        self.running: dict[bool, dict[int, set[int]]] = {
            True: defaultdict(set),
            False: defaultdict(set),
        }

    def _need_causes(self, graph: Any) -> None:
        """Refuse a dependency that would have to know the future."""
        contends = self.compute | self.exchange
        lag = graph.lag - np.where(graph.to_finish, self.tables.duration[graph.target], 0.0)
        bad = np.flatnonzero((graph.to_finish & contends[graph.target]) | (lag < 0))
        if len(bad):
            row = int(bad[0])
            names = self.tables.phase
            kind = LINK_TYPES[int(graph.code[row])]
            msg = (
                f"contention can't be solved with {names[graph.source[row]]!r} → "
                f"{names[graph.target[row]]!r} ({kind}, lag {ms_text(float(graph.lag[row]))} ms): "
                "its target would start by what comes later. Use FS or SS with a lag of 0 or more"
            )
            raise ChangeError(msg)

    def durations(self) -> Floats:
        """Return how long each phase lasts, ms; what was never slowed keeps its duration."""
        lasts = self.tables.duration.copy()
        for row, waits in enumerate(self.waits):
            if not waits:
                heapq.heappush(self.events, (self.earliest[row], _START, row, 0))
        while self.events:
            moment, what, row, version = heapq.heappop(self.events)
            if what == _FINISH and version != self.version[row]:
                continue  # its rate has changed since
            self.now = moment
            if what == _START:
                self._start(row)
            else:
                self._stop(row)
                if self.slowed[row]:
                    lasts[row] = moment - self.started[row]
            self._release(what, row)
        return lasts

    def _release(self, what: int, row: int) -> None:
        for target, lag in self.after[what][row]:
            self.earliest[target] = max(self.earliest[target], self.now + lag)
            self.waits[target] -= 1
            if not self.waits[target]:
                heapq.heappush(self.events, (self.earliest[target], _START, target, 0))

    def _start(self, row: int) -> None:
        self.started[row] = self.seen[row] = self.now
        if self._contends(row):
            is_exchange = bool(self.exchange[row])
            for rank in self.owners[row]:
                self.running[is_exchange][rank].add(row)
            self._turn(row)
            self._rates_beside(row)
        else:
            self._plan(row)

    def _stop(self, row: int) -> None:
        if self._contends(row):
            for rank in self.owners[row]:
                self.running[bool(self.exchange[row])][rank].discard(row)
            self._rates_beside(row)

    def _contends(self, row: int) -> bool:
        return bool(self.exchange[row] or self.compute[row]) and self.tables.duration[row] > 0

    def _rates_beside(self, row: int) -> None:
        other = not self.exchange[row]
        beside = {k for rank in self.owners[row] for k in self.running[bool(other)][rank]}
        for k in sorted(beside):
            self._turn(k)

    def _turn(self, row: int) -> None:
        """Let a running phase go on at the rate that holds from now."""
        is_exchange = bool(self.exchange[row])
        met = any(self.running[not is_exchange][rank] for rank in self.owners[row])
        rate = (self.rates.exchange if is_exchange else self.rates.compute) if met else 1.0
        if rate != self.rate[row] or self.version[row] == 0:
            self.left[row] = max(self.left[row] - self.rate[row] * (self.now - self.seen[row]), 0.0)
            self.seen[row], self.rate[row] = self.now, rate
            self.slowed[row] |= rate != 1.0
            self._plan(row)

    def _plan(self, row: int) -> None:
        self.version[row] += 1
        end = self.now + self.left[row] / self.rate[row]
        heapq.heappush(self.events, (end, _FINISH, row, self.version[row]))
