"""Steps of a trace in which no ProfilerStep marks them, and how each was found.

Asked in this order: a user's own pattern; annotations that number steps; annotations that
name them; whatever is repeated and holds one update each time; the updates themselves. An
update is one optimizer step, or several with no backward between them, so passes whose
gradients accumulate are one step. A trace of forward alone is cut where its outermost module
is called again. Where nothing of this shows, the whole trace is one step.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from stepviz.indices import as_index
from stepviz.traces.classifying.added_patterns import STEP, Names, Pattern
from stepviz.traces.classifying.nesting import nearest
from stepviz.traces.classifying.patterns import MODULE
from stepviz.traces.reading.masks import among
from stepviz.traces.reading.rows import HOST
from stepviz.traces.table import Table

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

#: Columns of the ranges of steps on the host.
COLUMNS: Final = ("step", "start_ns", "finish_ns", "track", "found_by")

_WORDS: Final = r"(train(ing)?[-_ ]?(step|iter(ation)?|batch)|global[-_ ]?step|step|iter(ation)?)"
#: "step 12", "## train_step #12 ##", "iteration_3".
_NUMBERED: Final = re.compile(rf"^[#\s\[]*{_WORDS}[-_ #:=]*(?P<step>\d{{1,18}})\b", re.IGNORECASE)
#: "train_step", "## step ##", Lightning's "[pl][profile]run_training_batch".
_NAMED: Final = re.compile(
    rf"^[#\s]*{_WORDS}[#\s]*$|^\[pl\]\[profile\].*run_training_batch$", re.IGNORECASE
)
#: Rows that may mark a step, and what users call their place.
_PLACES: Final = (("user_annotation", "annotation"), ("python_function", "function"))
_TRAILING: Final = re.compile(r"(\d{1,18})\D*$")
_ZERO_GRAD: Final = "zero_grad"
#: What is repeated must cover this part of the time from its first to its last.
_COVERED: Final = 0.5
#: Ends of rounded times may cross the next start by this much.
_ROUNDING_NS: Final = 1_000


class _Rows(NamedTuple):
    """Rows of a trace and what its names say."""

    events: Table
    names: Sequence[str]
    codes: npt.NDArray[np.integer]
    start: IntArray
    finish: IntArray
    updates: IntArray
    """Starts and ends of updates, shape (n, 2)."""

    def called(self, pattern: re.Pattern[str], categories: Sequence[str]) -> IntArray:
        """Return rows whose name matches, the first of its kind on its thread, in time."""
        known = np.array([bool(pattern.search(name)) for name in self.names], dtype=np.bool_)
        return self.outermost(known[self.codes] & among(self.events["cat"], categories))

    def outermost(self, chosen: BoolArray) -> IntArray:
        """Return the chosen rows that no other one holds, in order of time."""
        holder = nearest(self.events["parent"], chosen, itself=False)
        found = np.flatnonzero(chosen & (holder < 0))
        return found[np.argsort(self.start[found], kind="stable")]

    def held(self, rows: IntArray) -> IntArray:
        """Return how many whole updates each row holds."""
        first = np.searchsorted(self.updates[:, 0], self.start[rows], side="left")
        beyond = np.searchsorted(self.updates[:, 1], self.finish[rows], side="right")
        return np.asarray(np.maximum(beyond - first, 0))

    def apart(self, rows: IntArray) -> bool:
        """Say whether rows, in order of time, follow one another."""
        ends, starts = self.finish[rows][:-1], self.start[rows][1:]
        return bool((ends <= starts + _ROUNDING_NS).all())

    def told(self, rows: IntArray) -> bool:
        """Say whether rows may be steps: one follows the other, and each has an update.

        One may lack its update, where the recording ended; more are passes of an update.
        """
        if not self.apart(rows):
            return False
        return len(self.updates) == 0 or int((self.held(rows) == 0).sum()) <= 1

    def ranges(self, rows: IntArray, found_by: str, numbers: Sequence[int] = ()) -> Table:
        """Return ranges from rows, numbered from 0 where they have no numbers of their own."""
        known = list(numbers)
        if len(known) != len(rows) or len(set(known)) < len(known):
            known = list(range(len(rows)))
        return Table(
            {
                "step": np.array(known, dtype=np.int64),
                "start_ns": self.start[rows],
                "finish_ns": self.finish[rows],
                "track": self.events["track"][rows],
                "found_by": np.full(len(rows), found_by, dtype=object),
            }
        )


def by_pattern(events: Table, added: Sequence[Pattern] | None) -> Table | None:
    """Return the steps that a user's pattern marks, None where none does."""
    names = Names(added)
    places = [(c, where) for c, where in _PLACES if names.asks(where)]
    if not places:
        return None
    rows = _rows(events, updates=np.empty((0, 2), dtype=np.int64))
    chosen = np.zeros(len(events), dtype=np.bool_)
    patterns = []
    for category, where in places:
        found = [names.said(where, name) for name in rows.names]
        known = np.array([p is not None and p.kind == STEP for p in found], dtype=np.bool_)
        here = known[rows.codes] & among(events["cat"], (category,))
        chosen |= here
        patterns += [found[code] for code in np.unique(rows.codes[here])]
    marked = rows.outermost(chosen)
    if len(marked) == 0:
        return None
    text = next(p.pattern for p in patterns if p is not None)
    return rows.ranges(marked, f"your pattern {text!r}", _numbers(rows, marked, _TRAILING))


def found_otherwise(events: Table) -> Table:
    """Return the steps of a trace that marks none; empty where nothing tells of any."""
    rows = _rows(events, _updates(events))
    for find in (_numbered, _named, _repeated, _by_updates, _by_modules):
        found = find(rows)
        if found is not None:
            return found
    return Table({name: np.zeros(0, dtype=np.int64) for name in COLUMNS})


def _rows(events: Table, updates: IntArray) -> _Rows:
    names = events["name"]
    return _Rows(
        events,
        names.categories,
        names.codes,
        events["start_ns"],
        events["finish_ns"],
        updates,
    )


def _updates(events: Table) -> IntArray:
    """Return when each update began and ended on the host."""
    names = events["name"]
    clears = np.array([_ZERO_GRAD in name for name in names.categories], dtype=np.bool_)
    host = among(events["cat"], HOST)
    optimizer = host & among(events["kind"], ("optimizer",))
    holder = nearest(events["parent"], optimizer, itself=False)
    rows = np.flatnonzero(optimizer & (holder < 0) & ~clears[names.codes])
    start, finish = events["start_ns"], events["finish_ns"]
    rows = rows[np.argsort(start[rows], kind="stable")]
    if len(rows) == 0:
        return np.empty((0, 2), dtype=np.int64)
    backward = np.sort(start[host & among(events["kind"], ("backward",))])
    if len(backward):
        reached = np.searchsorted(backward, start[rows])
        opens = np.concatenate(([True], np.diff(reached) > 0))
    else:
        # Nothing tells passes apart: an update begins where an optimizer comes again.
        opens = np.zeros(len(rows), dtype=np.bool_)
        seen: set[int] = set()
        for at, code in enumerate(names.codes[rows].tolist()):
            opens[at] = at == 0 or code in seen
            seen = {code} if opens[at] else seen | {code}
    first = np.flatnonzero(opens)
    # Updates of two threads may cross: none ends before the one that began before it.
    ends = np.maximum.accumulate(np.maximum.reduceat(finish[rows], as_index(first)))
    return np.column_stack((start[rows[first]], ends))


def _numbered(rows: _Rows) -> Table | None:
    marked = rows.called(_NUMBERED, ["user_annotation"])
    if len(marked) == 0 or not rows.told(marked):
        return None
    first = rows.names[rows.codes[marked[0]]]
    return rows.ranges(
        marked, f"annotations such as {first!r}", _numbers(rows, marked, _NUMBERED, "step")
    )


def _named(rows: _Rows) -> Table | None:
    marked = rows.called(_NAMED, ["user_annotation"])
    if len(marked) < 2 or not rows.told(marked):
        return None
    return rows.ranges(marked, f"the annotation {rows.names[rows.codes[marked[0]]]!r}")


def _repeated(rows: _Rows) -> Table | None:
    """Return what is repeated and holds one update each time: the longest of all such.

    It must hold the backward of the update too: what only wraps the optimizer is no step.
    """
    if len(rows.updates) < 2:
        return None
    cat, kind = rows.events["cat"], rows.events["kind"]
    host = among(cat, HOST)
    backward = np.sort(rows.start[host & among(kind, ("backward",))])
    for categories, what in (
        (["user_annotation"], "annotation"),
        (["python_function"], "function"),
    ):
        candidates = np.flatnonzero(among(cat, categories))
        candidates = candidates[rows.held(candidates) == 1]
        candidates = candidates[~among(kind, ("optimizer",))[candidates]]
        if len(backward):
            first, last = np.searchsorted(
                backward, (rows.start[candidates], rows.finish[candidates])
            )
            candidates = candidates[last > first]
        best, longest = None, 0
        for code in np.unique(rows.codes[candidates]):
            own = candidates[rows.codes[candidates] == code]
            own = own[np.argsort(rows.start[own], kind="stable")]
            covered = int((rows.finish[own] - rows.start[own]).sum())
            span = int(rows.finish[own].max() - rows.start[own].min())
            enough = len(own) >= 2 and rows.apart(own) and covered >= _COVERED * span
            if enough and covered > longest:
                best, longest = own, covered
        if best is not None:
            name = rows.names[rows.codes[best[0]]]
            return rows.ranges(best, f"the repeated {what} {name!r}, which holds one update")
    return None


def _by_updates(rows: _Rows) -> Table | None:
    """Return steps from the end of one update to the end of the next."""
    if len(rows.updates) < 2:
        return None
    ends = rows.updates[:, 1]
    host = among(rows.events["cat"], HOST)
    track = rows.events["track"]
    at = np.flatnonzero(host & np.isin(rows.start, rows.updates[:, 0]))[0]
    return Table(
        {
            "step": np.arange(len(ends)),
            "start_ns": np.concatenate(([rows.start[host].min()], ends[:-1])),
            "finish_ns": ends,
            "track": np.full(len(ends), track[at]),
            "found_by": np.full(len(ends), "the ends of updates (optimizer steps)", dtype=object),
        }
    )


def _by_modules(rows: _Rows) -> Table | None:
    """Return calls of the outermost module, where one is called again and again."""
    chosen = rows.called(re.compile("^" + re.escape(MODULE)), ["python_function"])
    if len(chosen) < 2 or len(np.unique(rows.codes[chosen])) > 1 or not rows.apart(chosen):
        return None
    name = rows.names[rows.codes[chosen[0]]]
    return rows.ranges(chosen, f"calls of the outermost module {name!r}")


def _numbers(
    rows: _Rows, marked: IntArray, pattern: re.Pattern[str], group: str | int = 1
) -> list[int]:
    found = [pattern.search(rows.names[code]) for code in rows.codes[marked]]
    return [int(match[group]) for match in found if match is not None]
