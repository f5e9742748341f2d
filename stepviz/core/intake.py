"""What people hand in as phases and dependencies, made into `Tables`, or one clear error."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from stepviz.core.checks import (
    MOST_RANKS,
    as_rank,
    as_real,
    holds_several,
    is_missing,
    is_name,
    ms_text,
)
from stepviz.core.tables import DEPENDENCY_COLUMNS, PHASE_COLUMNS, Tables
from stepviz.core.vocabulary import KINDS, LINK_TYPES, ORIGINS
from stepviz.errors import TimelineError, near

#: What users may hand in as a table.
TableLike = pd.DataFrame | Mapping[str, Any] | Iterable[Any] | None
Columns = dict[str, Any]


def read_tables(phases: TableLike, dependencies: TableLike) -> Tables:
    """Check what was handed in and return it as arrays; raise `TimelineError` otherwise."""
    given, n = _columns(phases, "phases", PHASE_COLUMNS, ("phase", "duration"))
    if n == 0:
        msg = "a timeline needs at least one phase: give a name and a duration (ms)"
        raise TimelineError(msg)
    names = _names(given["phase"], "phase")
    place = {name: i for i, name in enumerate(names.tolist())}
    if len(place) < n:
        counts = pd.Series(names).value_counts()
        twice = counts[counts > 1].index[0]
        msg = f"the phase {twice!r} is there {counts[twice]} times: phase names must be unique"
        raise TimelineError(msg)

    def where(row: int) -> str:
        return f"phase {names[row]!r}"

    rank, members = _ownership(given, n, where)
    durations = _numbers(given["duration"], "duration", where, least=0.0)
    release = _numbers(given.get("release"), "release", where, least=0.0, default=0.0, n=n)
    links, m = _columns(
        dependencies, "dependencies", DEPENDENCY_COLUMNS, ("source", "target"), pairs=True
    )

    def link(row: int) -> str:
        return f"dependency {links['source'][row]!r} → {links['target'][row]!r}"

    index = pd.Index(names, dtype=object)
    code = _choice(links.get("type"), "type", LINK_TYPES, link, "FS", m)
    tables = Tables(
        phase=names,
        kind=_choice(given.get("kind"), "kind", KINDS, where, "other", n, words=True),
        rank=rank,
        lane=_lanes(given.get("lane"), n, where),
        duration=durations,
        release=release,
        members=members,
        source=_ends(links.get("source", []), index, "source"),
        target=_ends(links.get("target", []), index, "target"),
        code=code,
        lag=_numbers(links.get("lag"), "lag", link, default=0.0, n=m),
        origin=_choice(links.get("origin"), "origin", ORIGINS, link, "assumed", m, words=True),
        _place=place,
    )
    itself = np.flatnonzero(tables.source == tables.target)
    if len(itself):
        name = names[tables.source[itself[0]]]
        msg = f"phase {name!r} can't depend on itself: take that dependency out"
        raise TimelineError(msg)
    return tables


def _columns(
    table: TableLike,
    what: str,
    known: tuple[str, ...],
    needed: tuple[str, ...],
    *,
    pairs: bool = False,
) -> tuple[Columns, int]:
    """Return the columns of a frame, of records or of a dict of columns, and their length."""
    if table is None:
        return {}, 0
    if isinstance(table, pd.DataFrame):
        columns = _frame_columns(table, needed[0], what)
        rows = len(table)
    elif isinstance(table, Mapping):
        columns, rows = _dict_columns(table, what)
    else:
        columns, rows = _record_columns(table, what, known, pairs=pairs)
    if rows == 0:
        return {}, 0
    for name in columns:
        if name not in known:
            msg = (
                f"{what} has an unknown column {name!r}: {near(name, known, most=len(known))}. "
                "Rename it, or drop it before making a timeline"
            )
            raise TimelineError(msg)
    for name in needed:
        if name not in columns:
            msg = (
                f"{what} has no column {name!r}: it has "
                f"{', '.join(repr(c) for c in columns)}; it needs {', '.join(map(repr, needed))}"
            )
            raise TimelineError(msg)
    return columns, rows


def _frame_columns(frame: pd.DataFrame, first: str, what: str) -> Columns:
    """Return columns that are indexed by position, whatever the frame's index is."""
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        msg = f"{what} has two columns named {twice!r}: keep one"
        raise TimelineError(msg)
    columns: Columns = {}
    named = frame.index.name == first or (
        first == "phase" and frame.index.name is None and frame.index.dtype.kind in "OTU"
    )
    if first not in frame.columns and named:
        columns[first] = frame.index.to_numpy()
    for name in frame.columns:
        column = frame[name]
        plain = isinstance(column.dtype, np.dtype)
        columns[str(name)] = column.to_numpy() if plain else column.array
    return columns


def _dict_columns(table: Mapping[str, Any], what: str) -> tuple[Columns, int]:
    if "phases" in table:
        msg = f"{what} is a whole timeline as plain data: read it with Timeline.from_dict"
        raise TimelineError(msg)
    columns: Columns = {}
    for name, column in table.items():
        if not holds_several(column):
            msg = f"column {name!r} of {what} is {column!r}: give a list with a value per row"
            raise TimelineError(msg)
        columns[str(name)] = list(column)
    sizes = {k: len(v) for k, v in columns.items()}
    if len(set(sizes.values())) > 1:
        msg = f"the columns of {what} differ in length: {sizes}"
        raise TimelineError(msg)
    return columns, next(iter(sizes.values()), 0)


def _record_columns(
    table: Iterable[Any], what: str, known: tuple[str, ...], *, pairs: bool
) -> tuple[Columns, int]:
    if not holds_several(table):
        msg = f"{what} must be a data frame or a list of records, not {type(table).__name__}"
        raise TimelineError(msg)
    records = []
    for k, record in enumerate(table):
        if pairs and isinstance(record, tuple) and 2 <= len(record) <= len(known):
            records.append(dict(zip(known, record, strict=False)))
        elif isinstance(record, Mapping):
            records.append(dict(record))
        else:
            msg = f"record {k} of {what} is {record!r}: give a dict such as {{{known[0]!r}: …}}"
            raise TimelineError(msg)
    names = dict.fromkeys(str(name) for record in records for name in record)
    return {n: [record.get(n) for record in records] for n in names}, len(records)


def _names(values: Any, what: str) -> NDArray[np.object_]:
    names = _objects(values)
    for row, name in enumerate(names):
        if not is_name(name):
            msg = f"{what} name in row {row} is {name!r}: names are non-empty strings of text"
            raise TimelineError(msg)
    return names


def _numbers(
    values: Any,
    column: str,
    where: Callable[[int], str],
    *,
    least: float | None = None,
    default: float | None = None,
    n: int = 0,
) -> NDArray[np.float64]:
    """Return a column of finite numbers; `default` stands for None and NA, never for NaN."""
    if values is None:
        return np.full(n, default, dtype=np.float64)
    empty = math.nan if default is None else default
    dtype = getattr(values, "dtype", None)
    if dtype is not None and getattr(dtype, "kind", "O") in "iuf":
        numbers = (
            np.array(values, dtype=np.float64)
            if isinstance(dtype, np.dtype)
            else (values.to_numpy(dtype=np.float64, na_value=empty))
        )
    else:
        numbers = np.empty(len(values), dtype=np.float64)
        for row, value in enumerate(values):
            number = empty if value is None or value is pd.NA else as_real(value)
            if number is None:
                msg = (
                    f"{column} of {where(row)} is {value!r} ({type(value).__name__}): "
                    "give a number of ms"
                )
                raise TimelineError(msg)
            numbers[row] = number
    bad = ~np.isfinite(numbers)
    if least is not None:
        bad |= numbers < least
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        value = float(numbers[row])
        said = "missing (NaN)" if math.isnan(value) else f"{ms_text(value)} ms"
        rule = "a finite number of ms" + ("" if least is None else f", {least:g} or more")
        msg = f"{column} of {where(row)} is {said}: it must be {rule}"
        raise TimelineError(msg)
    return numbers + 0.0  # -0.0 becomes 0.0


def _choice(
    values: Any,
    column: str,
    known: Sequence[str],
    where: Callable[[int], str],
    default: str,
    n: int,
    *,
    words: bool = False,
) -> NDArray[Any]:
    """Return a column from a closed vocabulary, as codes or as words."""
    vocabulary = np.empty(len(known), dtype=object)
    vocabulary[:] = known
    first = known.index(default)
    codes = np.full(n, first, dtype=np.int64)
    if values is not None:
        codes = _rows_of(pd.Index(vocabulary), values)
        for row in np.flatnonzero(codes < 0).tolist():
            if not is_missing(values[row]):
                shown = near(values[row], known, most=len(known))
                msg = f"{column} of {where(row)} is {values[row]!r}, which is unknown: {shown}"
                raise TimelineError(msg)
            codes[row] = first
    return vocabulary[codes] if words else codes


def _objects(values: Any) -> NDArray[np.object_]:
    """Return a column as Python objects; many times faster from an array than one by one."""
    if hasattr(values, "to_numpy"):
        whole: NDArray[np.object_] = values.to_numpy(dtype=object)
        return whole.copy()
    objects = np.empty(len(values), dtype=object)
    objects[:] = list(values)
    return objects


def _rows_of(index: pd.Index[Any], values: Any) -> NDArray[np.int64]:
    """Return where each value stands in an index of names; -1 for what does not."""
    given = _objects(values)
    try:
        return index.get_indexer(pd.Index(given)).astype(np.int64)
    except TypeError:  # something unhashable among them, which is no name
        hashable = np.array([value if isinstance(value, str) else None for value in given])
        return index.get_indexer(pd.Index(hashable, dtype=object)).astype(np.int64)


def _lanes(values: Any, n: int, where: Callable[[int], str]) -> NDArray[np.object_]:
    lanes = np.full(n, None, dtype=object)
    for row, lane in enumerate(() if values is None else values):
        if is_missing(lane):
            continue
        if not is_name(lane):
            msg = f"lane of {where(row)} is {lane!r}: a lane is a name, or missing"
            raise TimelineError(msg)
        lanes[row] = lane
    return lanes


def _rank(value: object, what: str) -> int:
    rank = as_rank(value)
    if rank is None:
        msg = f"{what} is {value!r}: ranks are whole numbers from 0"
        raise TimelineError(msg)
    return rank


def _ownership(
    given: Columns, n: int, where: Callable[[int], str]
) -> tuple[NDArray[np.int64], NDArray[np.object_]]:
    """Read rank and members: each phase has one or the other; with neither column, rank 0."""
    rank = np.full(n, -1, dtype=np.int64)
    members = np.full(n, None, dtype=object)
    ranks = given.get("rank", ())
    if (
        getattr(ranks, "dtype", None) == np.int64
        and (ranks >= 0).all()
        and (ranks < MOST_RANKS).all()
    ):
        rank[:] = ranks
    else:
        for row, value in enumerate(ranks):
            if not is_missing(value):
                rank[row] = _rank(value, f"rank of {where(row)}")
    for row, value in enumerate(given.get("members", ())):
        if is_missing(value):
            continue
        if not holds_several(value):
            msg = f"members of {where(row)} is {value!r}: give a list of ranks such as [0, 1]"
            raise TimelineError(msg)
        found = sorted({_rank(v, f"a member of {where(row)}") for v in value})
        if not found:
            msg = f"members of {where(row)} is empty: give the ranks of its group, or a rank"
            raise TimelineError(msg)
        if rank[row] >= 0:
            msg = f"{where(row)} has both a rank and members: a collective's rank stays missing"
            raise TimelineError(msg)
        members[row] = tuple(found)
    homeless = (rank < 0) & np.array([m is None for m in members])
    if homeless.all():
        rank[:] = 0
    elif homeless.any():
        row = int(np.flatnonzero(homeless)[0])
        msg = f"{where(row)} has neither a rank nor members: give it one"
        raise TimelineError(msg)
    return rank, members


def _ends(values: Any, index: pd.Index[Any], column: str) -> NDArray[np.int64]:
    rows = _rows_of(index, values)
    missing = np.flatnonzero(rows < 0)
    if len(missing):
        name = values[int(missing[0])]
        msg = (
            f"the {column} of dependency {int(missing[0])} is {name!r}, which is no phase: "
            f"{near(name, index)}"
        )
        raise TimelineError(msg)
    return rows
