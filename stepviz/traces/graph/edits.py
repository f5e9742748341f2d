"""What would be different, said once for both levels of a step's graph."""

from __future__ import annotations

import fnmatch
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from stepviz.core.changes.base import Change, Names, Selection, as_tuple
from stepviz.core.changes.durations import Scale, SetDuration, Shorten
from stepviz.core.changes.placement import Together
from stepviz.core.changes.training import DelayInput
from stepviz.core.checks import as_names, as_rank, as_real
from stepviz.core.vocabulary import KINDS
from stepviz.errors import ChangeError, near

_MS = 1_000_000
#: Longer durations, summed over a step, would not fit into whole ns.
MOST_FACTOR = 1e6
MOST_MS = 1e6
#: Rows of tables that are no kind of work.
_NO_WORK = ("wait", "idle", "unexplained", "before the step")
_WORKS = "scale, remove, shorten, set_duration, delay_input and together of these"


@dataclass(frozen=True)
class Edit:
    """One change of matching work.

    Work is chosen by kinds and names and narrowed to one rank; with neither kinds nor names it
    is the rank's whole own time, outside collectives. Exactly one of `factor`, `shorten_ns`,
    `set_ns`, `delay_input_ns` and `start_together` says what becomes of it.
    """

    kinds: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    rank: int | None = None
    factor: float | None = None
    shorten_ns: int | None = None
    set_ns: int | None = None
    delay_input_ns: int | None = None
    start_together: bool = False

    @property
    def own_time(self) -> bool:
        """Whether this is about a rank's whole time outside collectives."""
        return not self.kinds and not self.names and self.factor is not None

    def said(self) -> str:
        """Name the work that is meant."""
        whose = "" if self.rank is None else f" of rank {self.rank}"
        if self.names:
            return " or ".join(map(repr, self.names)) + whose
        if self.kinds:
            return " and ".join(self.kinds) + whose
        return f"own time{whose}" if whose else "own time of every rank"


def edits_of(
    change: Change | None,
    *,
    kind: Names,
    name: Names,
    rank: int | None,
    factor: float | None,
    own_time: float | None,
    start_together: bool,
    ranks: Iterable[int],
) -> list[Edit]:
    """Check what a caller asked for.

    Raises
    ------
    ChangeError
        Where nothing is asked for, or something that has no meaning here.
    """
    who = _rank(rank, list(ranks))
    found: list[Edit] = []
    if change is not None:
        if kind is not None or name is not None or factor is not None:
            msg = "give a change, or kind=, name= and factor=, not both"
            raise ChangeError(msg)
        found += _of_change(change, who, list(ranks))
    if kind is not None or name is not None or (factor is not None and rank is not None):
        if factor is None:
            msg = "say what becomes of it: factor=0.5 halves its duration, factor=0 removes it"
            raise ChangeError(msg)
        names = as_tuple(name, "name")
        found.append(Edit(_kinds(kind), names, who, factor=_factor(factor, "factor")))
    elif factor is not None:
        msg = "say what to scale: by kind=, name= or rank="
        raise ChangeError(msg)
    if own_time is not None:
        found.append(Edit(rank=who, factor=_factor(own_time, "own_time")))
    if not isinstance(start_together, bool):
        msg = f"start_together is {start_together!r}: give True or False"
        raise ChangeError(msg)
    if start_together:
        found.append(Edit(rank=who, start_together=True))
    if not found:
        msg = "say what would be different: kind=, name= or rank= with factor=, own_time=, …"
        raise ChangeError(msg)
    return found


def _of_change(change: Change, rank: int | None, ranks: list[int]) -> list[Edit]:
    if isinstance(change, Together):
        return [edit for part in change.changes for edit in _of_change(part, rank, ranks)]
    if isinstance(change, DelayInput):
        return [Edit(rank=_both(change.rank, rank, ranks), delay_input_ns=_ns(change.ms))]
    if isinstance(change, (Scale, Shorten, SetDuration)):
        chosen: Selection = change.selection
        who = _both(chosen.rank, rank, ranks)
        if isinstance(change, Scale):
            factor = _factor(change.factor, "factor")
            return [Edit(chosen.kind, chosen.phase, who, factor=factor)]
        if isinstance(change, Shorten):
            return [Edit(chosen.kind, chosen.phase, who, shorten_ns=_ns(change.ms))]
        return [Edit(chosen.kind, chosen.phase, who, set_ns=_ns(change.ms))]
    if not isinstance(change, Change):
        msg = f"{change!r} is no change: make one with scale, remove, … ({_WORKS} work here)"
        raise ChangeError(msg)
    msg = (
        f"{type(change).__name__} changes a timeline's links, and has no meaning on the graph of "
        f"a recorded step; {_WORKS} do: or apply it to step.timeline()"
    )
    raise ChangeError(msg)


def _both(one: int | None, other: int | None, ranks: list[int]) -> int | None:
    if one is not None and other is not None and one != other:
        msg = f"the change is about rank {one}, but rank={other} is given"
        raise ChangeError(msg)
    return _rank(one if other is None else other, ranks)


def _rank(rank: int | None, ranks: list[int]) -> int | None:
    if rank is None:
        return None
    if as_rank(rank) is None and not isinstance(rank, bool):
        msg = f"rank is {rank!r}: give the number of one rank, such as {ranks[0]}"
        raise ChangeError(msg)
    if isinstance(rank, bool) or rank not in ranks:
        msg = f"there is no rank {rank!r} in this step: {near(rank, ranks)}"
        raise ChangeError(msg)
    return int(rank)


def _kinds(kind: Names) -> tuple[str, ...]:
    if kind is None:
        return ()
    kinds = as_names(kind)
    if not kinds:
        msg = f"kind is {kind!r}: give a kind or a list of kinds"
        raise ChangeError(msg)
    for one in kinds:
        if one not in KINDS:
            msg = f"there is no kind {one!r}: {near(one, KINDS, most=len(KINDS))}"
            if one in _NO_WORK:
                msg = (
                    f"{one!r} is no work that could be made shorter: it lasts until something "
                    "else is done. Change that, or ask with own_time= or start_together=True"
                )
            raise ChangeError(msg)
    return tuple(kinds)


def _factor(value: float, what: str) -> float:
    number = as_real(value)
    if number is None or not math.isfinite(number) or number < 0:
        msg = f"{what} is {value!r}: give a finite number of 0 or more"
        raise ChangeError(msg)
    if number > MOST_FACTOR:
        msg = f"{what} is {value!r}: no more than {MOST_FACTOR:g} can be counted in ns"
        raise ChangeError(msg)
    return number


def _ns(ms: float) -> int:
    if abs(ms) > MOST_MS:
        msg = f"{ms:g} ms is more than can be counted in ns: give no more than {MOST_MS:g}"
        raise ChangeError(msg)
    return round(ms * _MS)


def matching(
    patterns: Iterable[str], known: Iterable[str], where: str = "in this step"
) -> set[str]:
    """Return the names that are meant: exact ones, and those that fit a pattern with ``*``.

    Raises
    ------
    ChangeError
        Where one of them matches nothing.
    """
    names = list(dict.fromkeys(known))
    there = set(names)
    found: set[str] = set()
    for pattern in patterns:
        if pattern in there:
            found.add(pattern)
            continue
        fits: list[str] = []
        if "*" in pattern:
            # Names of kernels hold [ and ?, so the star alone is special.
            told = re.compile(fnmatch.translate(pattern.replace("[", "[[]").replace("?", "[?]")))
            fits = [name for name in names if told.match(name)]
        if not fits:
            msg = f"nothing {where} is called {pattern!r}: {near(pattern, names)}"
            raise ChangeError(msg)
        found.update(fits)
    return found
