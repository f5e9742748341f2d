"""What a builder returns: a timeline, with the memory it implies and what it rests on."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import pandas as pd

from stepviz.core.edits import Records
from stepviz.core.intake import TableLike
from stepviz.core.tables import Tables
from stepviz.core.timeline import Timeline

#: Columns of `BuiltTimeline.memory`.
MEMORY_COLUMNS = ("rank", "what", "count", "bytes", "formula")


class BuiltTimeline(Timeline):
    """A timeline that a builder made: an ordinary `Timeline` that also knows its memory.

    Edits and changes keep what is said here, since it belongs to the recipe; JSON and frames hold
    the timeline alone.
    """

    _memory: pd.DataFrame | None = None
    _notes: tuple[str, ...] = ()

    @property
    def memory(self) -> pd.DataFrame:
        """Memory that the recipe implies where a formula is known, a row per rank and part.

        Columns: `rank`, `what`, `count` (how many are held at the peak), `bytes` (NaN where the
        size of one was not given), `formula`. A copy.
        """
        if self._memory is None:
            return pd.DataFrame(columns=list(MEMORY_COLUMNS))
        return self._memory.copy()

    def memory_rows(self) -> list[dict[str, Any]]:
        """Return `memory` as records, to build on."""
        return [
            dict(zip(MEMORY_COLUMNS, row, strict=True))
            for row in self.memory.itertuples(index=False, name=None)
        ]

    @property
    def notes(self) -> tuple[str, ...]:
        """What the recipe assumed, in sentences."""
        return self._notes

    @classmethod
    def of(
        cls,
        phases: TableLike,
        dependencies: TableLike,
        *,
        name: str,
        target: str | None = None,
        memory: Sequence[Mapping[str, Any]] = (),
        notes: Iterable[str] = (),
    ) -> Self:
        """Make a timeline and give it its memory and notes."""
        new = cls(phases, dependencies, target, name)
        new._memory = pd.DataFrame(list(memory), columns=list(MEMORY_COLUMNS))
        new._notes = tuple(notes)
        return new

    def _repr_html_(self) -> str:
        said = "".join(f"<li>{html.escape(note)}</li>" for note in self._notes)
        table = self.memory
        shown = "" if table.empty else table.iloc[:20].to_html(index=False, na_rep="", escape=True)
        return super()._repr_html_() + shown + (f"<ul>{said}</ul>" if said else "")

    # Edits keep the recipe's memory and notes.

    def _told(self, new: Self) -> Self:
        new._memory, new._notes = self._memory, self._notes
        return new

    def _edited(self, tables: Tables) -> Self:
        return self._told(super()._edited(tables))

    def _remade(self, records: Records, links: Records, target: str | None) -> Self:
        return self._told(super()._remade(records, links, target))

    def with_target(self, target: str | None) -> Self:  # noqa: D102 - as Timeline's
        return self._told(super().with_target(target))

    def with_name(self, name: str) -> Self:  # noqa: D102 - as Timeline's
        return self._told(super().with_name(name))


class Draft:
    """Phases and dependencies gathered one by one."""

    def __init__(self) -> None:
        self.phases: list[dict[str, Any]] = []
        self.dependencies: list[tuple[str, str, str, float]] = []

    def phase(
        self,
        name: str,
        kind: str,
        duration: float,
        *,
        lane: str | None,
        rank: int | None = 0,
        members: Sequence[int] | None = None,
        release: float = 0.0,
    ) -> str:
        """Add a phase and return its name; with several `members` it belongs to their group."""
        grouped = members is not None and len(members) > 1
        if members is not None and not grouped:
            rank = members[0]
        self.phases.append(
            {
                "phase": name,
                "kind": kind,
                "rank": None if grouped else rank,
                "lane": lane,
                "duration": duration,
                "release": release,
                "members": tuple(members) if members is not None and grouped else None,
            }
        )
        return name

    def link(self, source: str | None, target: str, type_: str = "FS", lag: float = 0.0) -> None:
        """Add a dependency; none where there is no source."""
        if source is not None:
            self.dependencies.append((source, target, type_, lag))

    def timeline(
        self,
        name: str,
        *,
        target: str | None = None,
        memory: Sequence[Mapping[str, Any]] = (),
        notes: Iterable[str] = (),
    ) -> BuiltTimeline:
        """Return what was gathered as a timeline."""
        return BuiltTimeline.of(
            self.phases, self.dependencies, name=name, target=target, memory=memory, notes=notes
        )


def of_rank(name: str, rank: int, ranks: int) -> str:
    """Name a rank's phase; alone, a rank goes without saying."""
    return name if ranks == 1 else f"r{rank} {name}"


def held(
    rank: int | None, what: str, count: float, bytes_each: float | None, formula: str
) -> dict[str, Any]:
    """Return a row of memory; a rank of None stands for each rank alike."""
    total = float("nan") if bytes_each is None else count * bytes_each
    row = (pd.NA if rank is None else rank, what, count, total, formula)
    return dict(zip(MEMORY_COLUMNS, row, strict=True))
