"""The columns of a timeline as checked arrays, and the graph they make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from stepviz.core.graph import CycleError, Graph
from stepviz.core.vocabulary import LINK_TYPES
from stepviz.errors import TimelineError, near

PHASE_COLUMNS = ("phase", "kind", "rank", "lane", "duration", "release", "members")
DEPENDENCY_COLUMNS = ("source", "target", "type", "lag", "origin")


@dataclass(frozen=True, eq=False, repr=False)
class Tables:
    """Phases and dependencies as parallel arrays; rank -1 means the phase belongs to a group."""

    phase: NDArray[np.object_]
    kind: NDArray[np.object_]
    rank: NDArray[np.int64]
    lane: NDArray[np.object_]
    duration: NDArray[np.float64]
    release: NDArray[np.float64]
    members: NDArray[np.object_]  # a tuple of ranks, or None
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    code: NDArray[np.int64]  # place of the type in LINK_TYPES
    lag: NDArray[np.float64]
    origin: NDArray[np.object_]
    _place: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for column, values in (("duration", self.duration), ("release", self.release)):
            self._finite(column, values, lambda row: f"phase {self.phase[row]!r}")
        self._finite(
            "lag",
            self.lag,
            lambda row: (
                f"dependency {self.phase[self.source[row]]!r} → {self.phase[self.target[row]]!r}"
            ),
        )
        for name in (*PHASE_COLUMNS, "source", "target", "code", "lag", "origin"):
            getattr(self, name).setflags(write=False)

    @staticmethod
    def _finite(column: str, values: NDArray[np.float64], where: Callable[[int], str]) -> None:
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            row = int(bad[0])
            msg = (
                f"{column} of {where(row)} became {values[row]}: it must stay a finite number of ms"
            )
            raise TimelineError(msg)

    @cached_property
    def place(self) -> dict[str, int]:
        """Row of each phase by name."""
        return self._place or {name: i for i, name in enumerate(self.phase.tolist())}

    def find(self, phase: str) -> int:
        """Return the row of a phase; an unknown name raises with near ones."""
        if isinstance(phase, str) and phase in self.place:
            return self.place[phase]
        msg = f"there is no phase {phase!r}: {near(phase, self.place)}"
        raise TimelineError(msg)

    @cached_property
    def rows_by_rank(self) -> dict[int, NDArray[np.int64]]:
        """Rows that run on each rank, its own and those of its groups; both in order."""
        rows: dict[int, list[int]] = {}
        for row, (rank, members) in enumerate(
            zip(self.rank.tolist(), self.members.tolist(), strict=True)
        ):
            for owner in (rank,) if rank >= 0 else members:
                rows.setdefault(owner, []).append(row)
        return {rank: np.array(rows[rank], dtype=np.int64) for rank in sorted(rows)}

    def ranks(self) -> list[int]:
        """Every rank that owns a phase or is a member of one, sorted."""
        return list(self.rows_by_rank)

    def ranks_of(self, row: int) -> tuple[int, ...]:
        """Return the ranks a phase runs on."""
        if self.rank[row] >= 0:
            return (int(self.rank[row]),)
        members: tuple[int, ...] = self.members[row]
        return members

    @cached_property
    def lane_pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Neighbours in a lane that no stored dependency already orders: (before, after).

        A lane belongs to one rank, or to one group of ranks.
        """
        rows = np.flatnonzero([lane is not None for lane in self.lane])
        if len(rows) < 2:
            return rows[:0], rows[:0]
        lane = pd.factorize(self.lane[rows])[0].astype(np.int64)
        groups = {m: -1 - k for k, m in enumerate(dict.fromkeys(self.members[rows].tolist()))}
        owner = np.array(
            [
                groups[m] if rank < 0 else rank
                for rank, m in zip(
                    self.rank[rows].tolist(), self.members[rows].tolist(), strict=True
                )
            ],
            dtype=np.int64,
        )
        group = owner * (int(lane.max()) + 1) + lane
        sort = np.argsort(group, kind="stable")
        same = group[sort][1:] == group[sort][:-1]
        before, after = rows[sort][:-1][same], rows[sort][1:][same]
        n = len(self.phase)
        stored = np.minimum(self.source, self.target) * n + np.maximum(self.source, self.target)
        free = ~np.isin(before * n + after, stored)
        before, after = before[free], after[free]
        by_row = np.argsort(after, kind="stable")
        return before[by_row], after[by_row]

    def graph(self, target: int) -> Graph:
        """Build the graph a schedule solves: stored dependencies, then lane order."""
        before, after = self.lane_pairs
        extra = len(before)
        graph = Graph(
            self.duration,
            self.release,
            np.concatenate((self.source, before)),
            np.concatenate((self.target, after)),
            np.concatenate((self.code, np.zeros(extra, np.int64))),
            np.concatenate((self.lag, np.zeros(extra))),
            target,
        )
        try:
            graph.order  # noqa: B018 - found here, while the names are at hand
        except CycleError as error:
            raise TimelineError(self._cycle_message(graph, error.rows)) from None
        return graph

    def _cycle_message(self, graph: Graph, rows: list[int]) -> str:
        names = [self.phase[graph.source[r]] for r in rows]
        shown = names if len(names) <= 8 else [*names[:4], "…", *names[-3:]]
        chain = " → ".join(repr(n) if n != "…" else n for n in [*shown, names[0]])
        msg = f"these phases wait for each other in a cycle: {chain}"
        by_lane = [r for r in rows if r >= len(self.source)]
        if by_lane:
            a, b = graph.source[by_lane[0]], graph.target[by_lane[0]]
            return (
                f"{msg}. The order of lane {self.lane[a]!r} takes part ({self.phase[a]!r} comes "
                f"before {self.phase[b]!r}): change their order or lane, or take a dependency out"
            )
        return f"{msg}. Take one of these dependencies out"

    def records(self) -> list[dict[str, Any]]:
        """Return the phases as plain records, in order; None for what is missing."""
        rows = zip(
            self.phase.tolist(),
            self.kind.tolist(),
            (None if r < 0 else r for r in self.rank.tolist()),
            self.lane.tolist(),
            self.duration.tolist(),
            self.release.tolist(),
            self.members.tolist(),
            strict=True,
        )
        return [dict(zip(PHASE_COLUMNS, row, strict=True)) for row in rows]

    def links(self) -> list[dict[str, Any]]:
        """Return the stored dependencies as plain records, in order."""
        rows = zip(
            self.phase[self.source].tolist(),
            self.phase[self.target].tolist(),
            (LINK_TYPES[c] for c in self.code.tolist()),
            self.lag.tolist(),
            self.origin.tolist(),
            strict=True,
        )
        return [dict(zip(DEPENDENCY_COLUMNS, row, strict=True)) for row in rows]

    def replace(self, **columns: Any) -> Tables:
        """Return the same tables with some columns swapped."""
        return replace(self, _place={} if "phase" in columns else self._place, **columns)

    def same(self, other: Tables) -> bool:
        """Whether both hold exactly the same values."""
        names = (*PHASE_COLUMNS, "source", "target", "code", "lag", "origin")
        return all(np.array_equal(getattr(self, n), getattr(other, n)) for n in names)
