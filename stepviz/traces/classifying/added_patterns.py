"""Patterns that users add: a kernel of their own, an annotation of their own trainer.

They are asked before those that stepviz brings (see `patterns`), the last added first, and
hold for every trace loaded from then on. A pattern is plain text, so that it travels to the
workers that read files.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Literal, Self, get_args

import numpy as np
import pandas as pd

from stepviz.core.vocabulary import KINDS
from stepviz.errors import TraceError, near
from stepviz.traces.classifying import patterns as built_in
from stepviz.traces.table import Table

Where = Literal["kernel", "operator", "annotation", "function"]

#: What marks a step is no kind of work, but may be said in the same way.
STEP: Final = "step"
#: Where a name may stand in a trace.
PLACES: Final[tuple[str, ...]] = get_args(Where)

_ADDED: list[Pattern] = []


@dataclass(frozen=True)
class Pattern:
    """A pattern in force: what it matches, and what that is.

    It may be taken back with `remove`, or hold for a `with` block only.
    """

    kind: str
    pattern: str
    where: str
    collective: str | None = None

    def matches(self, name: str) -> bool:
        """Say whether a name is one of these."""
        return _compiled(self.pattern).search(name) is not None

    def remove(self) -> None:
        """Take the pattern back; traces loaded before keep what it said."""
        for at in range(len(_ADDED) - 1, -1, -1):
            if _ADDED[at] is self:
                del _ADDED[at]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.remove()


def add_pattern(
    kind: str, pattern: str, *, where: Where = "kernel", collective: str | None = None
) -> Pattern:
    r"""Say what rows of some name are, in every trace loaded from now on.

    Parameters
    ----------
    kind : str
        A kind of work (input, forward, backward, exchange, optimizer, recompute, checkpoint,
        host, other), or ``"step"`` for what marks a step in an annotation or function. Where
        its name ends in a number, that is the step's.
    pattern : str
        A regular expression, searched for in the whole name as the trace writes it. ``(?i)`` at
        its start ignores case, ``^`` and ``$`` are the name's ends.
    where : {"kernel", "operator", "annotation", "function"}
        Which names: those of device rows (copies too), of operators (``aten::mm``), of what
        ``record_function`` wrote, of Python functions. Host rows hand their kind on to what
        they hold and launch. Exchange said of a host row is what it launches on a device,
        or the row itself where it launches nothing.
    collective : str, optional
        Of exchange: which one, such as ``"all-to-all"``, where the name doesn't tell.

    Returns
    -------
    Pattern
        To remove again, or to use in a ``with`` block.

    Raises
    ------
    TraceError
        Where the kind, place or collective is unknown, or the pattern is no regular expression
        or matches every name.

    Examples
    --------
    >>> import stepviz as sv
    >>> added = sv.add_pattern("exchange", r"^my_all_to_all", collective="all-to-all")
    >>> sv.list_patterns().iloc[0]["pattern"]
    '^my_all_to_all'
    >>> added.remove()
    >>> with sv.add_pattern("optimizer", r"^my trainer: update$", where="annotation"):
    ...     run = sv.load_run("traces/")  # doctest: +SKIP
    """
    if where not in PLACES:
        msg = f"where={where!r} is no place for a name; {near(where, PLACES)}"
        raise TraceError(msg)
    if kind not in (*KINDS, STEP):
        msg = f"kind {kind!r} is unknown; {near(kind, (*KINDS, STEP), most=10)}"
        raise TraceError(msg)
    if kind == STEP and where not in ("annotation", "function"):
        msg = f"a {where} marks no step; say where='annotation' or where='function'"
        raise TraceError(msg)
    added = Pattern(kind, _checked(pattern), where, _spelled(kind, collective))
    _ADDED.append(added)
    return added


def remove_pattern(pattern: str, *, where: Where | None = None) -> int:
    """Take back the patterns of your own that read so.

    Parameters
    ----------
    pattern : str
        As it was added.
    where : str, optional
        Only there.

    Returns
    -------
    int
        How many there were.

    Raises
    ------
    TraceError
        Where there is none.

    Examples
    --------
    >>> _ = add_pattern("exchange", "^my_ring_sum")
    >>> remove_pattern("^my_ring_sum")
    1
    """
    found = [p for p in _ADDED if p.pattern == pattern and where in (None, p.where)]
    if not found:
        known = [p.pattern for p in _ADDED]
        msg = f"no pattern of yours reads {pattern!r}; {near(pattern, known)}"
        raise TraceError(msg)
    for one in found:
        one.remove()
    return len(found)


def list_patterns() -> pd.DataFrame:
    """Return the patterns by which names are known, in the order in which they are asked.

    Returns
    -------
    DataFrame
        kind, where, pattern, collective ("" where the name tells it), of ("you", "stepviz").
        stepviz's own are searched for in the name of a kernel's function, without its
        namespaces' templates and parameters, and mostly without regard to case.

    Examples
    --------
    >>> with add_pattern("exchange", "^my_ring_sum"):
    ...     list_patterns().loc[0, ["kind", "pattern", "of"]].tolist()
    ['exchange', '^my_ring_sum', 'you']
    """
    rows = [(p.kind, p.where, p.pattern, p.collective or "", "you") for p in reversed(_ADDED)]
    for where, table in (
        ("operator", built_in.OPERATORS),
        ("annotation", built_in.ANNOTATIONS),
        ("function", built_in.FUNCTIONS),
    ):
        rows += [(kind, where, p.pattern, "", "stepviz") for p, kind in table]
    rows += [
        ("exchange", "kernel", p.pattern, collective or "", "stepviz")
        for p, collective in built_in.EXCHANGES
    ]
    rows.append(("optimizer", "kernel", built_in.OPTIMIZER_KERNEL.pattern, "", "stepviz"))
    return pd.DataFrame(rows, columns=["kind", "where", "pattern", "collective", "of"])


def patterns_in_force() -> tuple[Pattern, ...]:
    """Return users' patterns as they stand, the first to ask first; they can be pickled."""
    return tuple(reversed(_ADDED))


class Names:
    """What names are, by users' patterns and then by stepviz's own."""

    def __init__(self, added: Sequence[Pattern] | None = None) -> None:
        self._added = patterns_in_force() if added is None else tuple(added)

    def said(self, where: str, name: str) -> Pattern | None:
        """Return the user's pattern that matches, None where none does."""
        return next((p for p in self._added if p.where == where and p.matches(name)), None)

    def asks(self, where: str) -> bool:
        """Say whether users added any pattern for names of this place."""
        return any(p.where == where for p in self._added)

    def host_kind(self, where: str, name: str) -> str | None:
        """Return the kind of a host row by its name alone: one of KINDS, "step" or None."""
        said = self.said(where, name)
        if said is not None:
            return said.kind
        if where == "function":
            return built_in.function_kind(name)
        kind = built_in.operator_kind(name)
        return built_in.annotation_kind(name) if kind is None and where == "annotation" else kind


def with_collectives(
    exchanges: Table, events: Table, added: Sequence[Pattern] | None = None
) -> Table:
    """Return a rank's exchanges with the collectives that users' patterns name.

    Parameters
    ----------
    exchanges
        With the columns row (of the events) and collective.
    events
        Rows with source and parent.
    added
        Users' patterns, by default those in force.
    """
    naming = [p for p in (patterns_in_force() if added is None else added) if p.collective]
    if not naming or not len(exchanges):
        return exchanges
    names = events["name"]
    words = names.categories
    said: dict[tuple[bool, int], str | None] = {}
    codes, parent, source = names.codes, events["parent"], events["source"]

    def of(row: int, *, device: bool) -> str | None:
        key = (device, int(codes[row]))
        if key not in said:
            matching = (
                p.collective
                for p in naming
                if (p.where == "kernel") == device and p.matches(words[key[1]])
            )
            said[key] = next(matching, None)
        return said[key]

    named = []
    for row, known in zip(exchanges["row"].tolist(), exchanges["collective"], strict=True):
        found = of(row, device=True)
        holder = int(source[row]) if source[row] >= 0 else row
        while found is None and holder >= 0:
            found = of(holder, device=False)
            holder = int(parent[holder])
        named.append(found or known)
    return exchanges.assign(collective=np.array(named, dtype=object))


@functools.lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _checked(pattern: object) -> str:
    if not isinstance(pattern, str):
        msg = f"a pattern is text, not {type(pattern).__name__}"
        if isinstance(pattern, re.Pattern):
            msg += "; pass its .pattern, with (?i) at the start to ignore case"
        raise TraceError(msg)
    try:
        found = re.compile(pattern)
    except re.error as error:
        msg = (
            f"pattern {pattern!r} is no regular expression ({error}); mend it, or pass "
            "re.escape(name) to find a name as it stands"
        )
        raise TraceError(msg) from error
    if found.search("") is not None:
        msg = f"pattern {pattern!r} matches every name; say more of the name"
        raise TraceError(msg)
    return pattern


def _spelled(kind: str, collective: object) -> str | None:
    if collective is None:
        return None
    if kind != "exchange":
        msg = f"collective={collective!r} belongs to exchange, not to {kind}; leave it out"
        raise TraceError(msg)
    known = built_in.COLLECTIVES
    spelled = built_in.collective_name(str(collective))
    if spelled not in known:
        msg = f"collective {collective!r} is unknown; {near(collective, known, most=12)}"
        raise TraceError(msg)
    return spelled
