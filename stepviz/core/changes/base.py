"""What a change is, and how the phases it acts on are chosen."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stepviz.core.checks import as_names, as_rank, as_real
from stepviz.core.vocabulary import KINDS
from stepviz.errors import ChangeError, near

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
        phases = as_tuple(phase, "phase")
        kinds = as_tuple(kind, "kind")
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


def as_tuple(given: Names, what: str) -> tuple[str, ...]:
    """Return one name or several as a tuple; anything else is a `ChangeError`."""
    if given is None:
        return ()
    names = as_names(given)
    if not names:
        msg = f"{what} is {given!r}: give a name or a list of names"
        raise ChangeError(msg)
    return tuple(names)


def one_name(given: str, what: str) -> str:
    """Return a name; anything else is a `ChangeError`."""
    if not isinstance(given, str):
        msg = f"{what} is {given!r}: give the name of a phase"
        raise ChangeError(msg)
    return given


def as_number(value: float | None, what: str, *, least: float | None = 0.0) -> float:
    """Return a finite number, `least` or more; anything else is a `ChangeError`."""
    number = as_real(value)
    if number is None or not math.isfinite(number) or (least is not None and number < least):
        rule = "" if least is None else f" of {least:g} or more"
        msg = f"{what} is {value!r}: give a finite number{rule}"
        raise ChangeError(msg)
    return number


def shown(tables: Tables, rows: list[int]) -> str:
    """Name the phases, the first three of many."""
    names = tables.phase[rows].tolist()
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
