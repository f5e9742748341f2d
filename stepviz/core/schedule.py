"""A solved timeline: when each phase runs, what is critical, and where the time goes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cached_property

import numpy as np
import pandas as pd

from stepviz.core import sensitivity
from stepviz.core.checks import ms_text
from stepviz.core.graph import Solution
from stepviz.core.intervals import Intervals, clip, intersect, subtract, total, union
from stepviz.core.tables import Tables
from stepviz.core.vocabulary import CATEGORIES, COMPUTE, KINDS, LANE_ORIGIN, LINK_TYPES
from stepviz.errors import TimelineError, near

#: Which row of the breakdown an instant goes to, where several kinds run: the first.
BREAKDOWN_ROWS = (
    *COMPUTE,
    "exchange",
    "wait",
    "optimizer",
    "input",
    "checkpoint",
    "host",
    "other",
    "idle",
)


class Schedule:
    """When each phase of a timeline runs, and what follows from it. All times in ms.

    Made by `Timeline.schedule`; starts are the earliest that dependencies, lanes and releases
    allow.
    """

    def __init__(self, tables: Tables, solution: Solution) -> None:
        self._tables = tables
        self.solution = solution

    @property
    def completion(self) -> float:
        """Finish of the timeline's target, or the last finish, ms."""
        return self.solution.completion

    @cached_property
    def _drag(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return sensitivity.drags(self.solution)

    @property
    def table(self) -> pd.DataFrame:
        """One row per phase, indexed by its name.

        Columns, ms: `start`, `finish`, `latest_start`, `latest_finish` (infinite where a phase
        can't delay the target), `total_float`, `free_float`, `drag` (the most that shortening this
        phase alone can save), `critical` (no total float; differences below 1e-9 of the
        completion count as rounding), and `binding_dependency`: the row of
        `Schedule.dependencies` that holds the phase where it starts, missing where its release or
        the step's start does.
        """
        s = self.solution
        return pd.DataFrame(
            {
                "start": s.start,
                "finish": s.finish,
                "latest_start": s.latest_start,
                "latest_finish": s.latest_finish,
                "total_float": s.total_float,
                "free_float": s.free_float,
                "drag": self._drag,
                "critical": s.critical,
                "binding_dependency": pd.arrays.IntegerArray(s.binding.copy(), s.binding < 0),
            },
            index=pd.Index(self._tables.phase, name="phase"),
        )

    @property
    def dependencies(self) -> pd.DataFrame:
        """Stored dependencies in their order, then those of lane order (origin `lane`).

        Columns: source, target, type, lag (ms), origin, `slack` (ms it could stretch while its
        target stays), `critical` (on a longest path).
        """
        g = self.solution.graph
        extra = len(g.source) - len(self._tables.source)
        lane = np.full(extra, LANE_ORIGIN, dtype=object)
        return pd.DataFrame(
            {
                "source": self._tables.phase[g.source],
                "target": self._tables.phase[g.target],
                "type": np.array(LINK_TYPES, dtype=object)[g.code],
                "lag": g.lag,
                "origin": np.concatenate((self._tables.origin, lane)),
                "slack": self.solution.slack,
                "critical": self.solution.critical_edges,
            }
        )

    @property
    def critical_dependencies(self) -> pd.DataFrame:
        """Every dependency on a longest path, of all paths where there are several."""
        every = self.dependencies
        return every[every["critical"]].drop(columns=["critical", "slack"])

    def explain(self, phase: str) -> str:
        """Say in a sentence what holds a phase where it starts.

        Examples
        --------
        >>> from stepviz.builders.lesson_models import lesson
        >>> lesson().schedule().explain("exchange")
        'exchange starts at 300 ms, when forward has finished + 100 ms (FS, assumed)'
        """
        row = self._tables.find(phase)
        s = self.solution
        start = f"{phase} starts at {ms_text(s.start[row])} ms"
        edge = int(s.binding[row])
        if edge < 0:
            return f"{start}, held by {self._held_by(row)}"
        code = int(s.graph.code[edge])
        event = "finished" if s.graph.from_finish[edge] else "started"
        lag = float(s.graph.lag[edge])
        shift = f" {'+' if lag > 0 else '−'} {ms_text(abs(lag))} ms" if lag else ""
        source = self._tables.phase[s.graph.source[edge]]
        stored = edge < len(self._tables.origin)
        origin = self._tables.origin[edge] if stored else LANE_ORIGIN
        own = ", which holds its finish" if s.graph.to_finish[edge] else ""
        return f"{start}, when {source} has {event}{shift} ({LINK_TYPES[code]}, {origin}{own})"

    def _held_by(self, row: int) -> str:
        """Name what holds a phase: its dependency, its release, or the step's start."""
        s = self.solution
        edge = int(s.binding[row])
        if edge < 0:
            return "its release" if s.start[row] > 0 else "nothing but the step's start"
        lag = float(s.graph.lag[edge])
        shift = f" {'+' if lag > 0 else '−'} {ms_text(abs(lag))}" if lag else ""
        source = self._tables.phase[s.graph.source[edge]]
        return f"{source} ({LINK_TYPES[int(s.graph.code[edge])]}{shift})"

    # Where the time goes

    @cached_property
    def _arrivals(self) -> dict[int, dict[int, float]]:
        """When each member reaches each collective, ms: what its own phases allow, by row.

        A member with no phase of its own before the collective arrives with the last of the
        others; where none has one, all arrive when it starts.
        """
        t, s = self._tables, self.solution
        arrivals: dict[int, dict[int, float]] = {}
        for row in np.flatnonzero(t.rank < 0).tolist():
            arrivals[row] = {}
        if arrivals:
            g, bound = s.graph, s.bound()
            for edge in np.flatnonzero((t.rank[g.target] < 0) & (t.rank[g.source] >= 0)).tolist():
                row, rank = int(g.target[edge]), int(t.rank[g.source[edge]])
                at = min(max(float(bound[edge]), 0.0), float(s.start[row]))
                arrivals[row][rank] = max(arrivals[row].get(rank, 0.0), at)
            for row, known in arrivals.items():
                last = max(known.values(), default=float(s.start[row]))
                arrivals[row] = {rank: known.get(rank, last) for rank in t.ranks_of(row)}
        return arrivals

    def _spans(self, rank: int, kinds: tuple[str, ...], part: str = "all") -> Intervals:
        """When these kinds run on a rank until the completion.

        `part` of a collective: all, only its wait for other members, or only its transfer.
        """
        t, s = self._tables, self.solution
        rows = t.rows_by_rank[rank]
        rows = rows[np.isin(t.kind[rows], kinds)]
        grouped = t.rank[rows] < 0
        own = rows[~grouped] if part != "wait" else rows[:0]
        spans = [np.column_stack((s.start[own], s.finish[own]))]
        for row in rows[grouped].tolist():
            arrivals = self._arrivals[row]
            last = max(arrivals.values())
            begin = last if part == "transfer" else arrivals[rank]
            end = last if part == "wait" else float(s.finish[row])
            spans.append(np.array([[begin, end]]))
        return clip(union(np.concatenate(spans)), 0.0, self.completion)

    def exposed(self, kind: str) -> pd.Series[float]:
        """Return how long a kind runs on each rank while no compute of that rank does, ms.

        Compute is forward, backward and recompute. A collective runs on a rank from that rank's
        arrival to its end.

        Returns
        -------
        Series
            ms, indexed by rank.
        """
        self._need(kind)
        return self._by_rank(
            lambda rank: total(subtract(self._spans(rank, (kind,)), self._spans(rank, COMPUTE))),
            f"exposed {kind}",
        )

    def overlap(self, first: str, second: str) -> pd.Series[float]:
        """Return how long two kinds run at once on each rank, ms, indexed by rank."""
        self._need(first)
        self._need(second)
        return self._by_rank(
            lambda rank: total(
                intersect(self._spans(rank, (first,)), self._spans(rank, (second,)))
            ),
            f"overlap of {first} and {second}",
        )

    def breakdown(self) -> pd.DataFrame:
        """Return where each rank's step goes: rows by kind, a column a rank, ms.

        Every instant from 0 to the completion belongs to one row: compute first, then what is
        exposed (exchange, or the wait for its last member), then optimizer, input, checkpoint,
        host, other; what remains is idle. So each column sums to the completion.
        """
        columns = {}
        for rank in self._tables.ranks():
            free = np.array([[0.0, self.completion]])
            free = free[free[:, 1] > free[:, 0]]
            parts: dict[str, float] = {}
            for row in BREAKDOWN_ROWS[:-1]:
                kinds = ("exchange",) if row == "wait" else (row,)
                part = {"wait": "wait", "exchange": "transfer"}.get(row, "all")
                mine = intersect(self._spans(rank, kinds, part), free)
                free = subtract(free, mine)
                parts[row] = math.fsum((mine[:, 1] - mine[:, 0]).tolist())
            parts["idle"] = math.fsum((free[:, 1] - free[:, 0]).tolist())
            columns[rank] = parts
        frame = pd.DataFrame(columns, index=pd.Index(BREAKDOWN_ROWS, name="kind"))
        return frame.rename_axis(columns="rank")

    @property
    def plain_sum(self) -> float:
        """What adding up input, compute, exchange and optimizer would say, ms. It is wrong."""
        sums = []
        for durations in self._categories():
            added = 0.0  # by hand: from Python 3.12 on, sum() compensates, and the page does not
            for duration in durations.values():
                added += duration
            sums.append(added)
        return max(sums)

    @property
    def plain_maximum(self) -> float:
        """What taking the largest of those four would say, ms. It is wrong too."""
        return max(max(c.values()) for c in self._categories())

    def _categories(self) -> Iterator[dict[str, float]]:
        t = self._tables
        for rows in t.rows_by_rank.values():
            kinds, durations = t.kind[rows], t.duration[rows]
            yield {
                category: math.fsum(durations[np.isin(kinds, members)].tolist())
                for category, members in CATEGORIES.items()
            }

    def _by_rank(self, measure: Callable[[int], float], name: str) -> pd.Series[float]:
        ranks = self._tables.ranks()
        return pd.Series(
            [float(measure(rank)) for rank in ranks],
            index=pd.Index(ranks, name="rank"),
            name=f"{name} (ms)",
            dtype=np.float64,
        )

    def _need(self, kind: str) -> None:
        if kind not in KINDS:
            msg = f"there is no kind {kind!r}: {near(kind, KINDS, most=len(KINDS))}"
            raise TimelineError(msg)

    def __repr__(self) -> str:
        critical = self._tables.phase[self.solution.critical].tolist()
        shown = ", ".join(critical[:6]) + (" …" if len(critical) > 6 else "")
        return f"<Schedule: completion {ms_text(self.completion)} ms, critical: {shown}>"

    def _repr_html_(self) -> str:
        shown = 60
        frame = self.table.iloc[:shown].drop(columns="binding_dependency")
        frame["held by"] = [self._held_by(row) for row in range(len(frame))]
        more = len(self._tables.phase) - shown
        note = f"<p>… and {more} more phases</p>" if more > 0 else ""
        body = frame.to_html(float_format=ms_text, escape=True)
        return (
            f"<p><b>{ms_text(self.completion)} ms</b> completion; all times in ms</p>{body}{note}"
        )
