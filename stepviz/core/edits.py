"""What edits of a timeline do to its records, and how they find a dependency."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepviz.core.checks import is_name
from stepviz.core.tables import PHASE_COLUMNS, Tables
from stepviz.core.vocabulary import LINK_TYPES
from stepviz.errors import TimelineError, near

Records = list[dict[str, Any]]


def put_phase(
    tables: Tables,
    phase: str,
    after: str | None,
    rename: str | None,
    columns: Mapping[str, Any],
) -> tuple[Records, Records, str]:
    """Add a phase, or change the one of that name; see `Timeline.with_phase`.

    Returns
    -------
    records, links, name
        All phases, all dependencies, and what the phase is called now.
    """
    if not is_name(phase):
        msg = f"phase is {phase!r}: names are non-empty strings of text"
        raise TimelineError(msg)
    known = PHASE_COLUMNS[1:]
    for column in columns:
        if column not in known:
            msg = f"a phase has no column {column!r}: {near(column, known, most=len(known))}"
            raise TimelineError(msg)
    records, links = tables.records(), tables.links()
    at = tables.place.get(phase)
    new: dict[str, Any] = {"phase": phase, "rank": 0} if at is None else dict(records[at])
    if columns.get("members") is not None:  # a phase has one or the other
        new["rank"] = None
    elif columns.get("rank") is not None:
        new["members"] = None
    new |= columns
    if rename is not None:
        new["phase"] = rename
        for link in links:
            for end in ("source", "target"):
                link[end] = rename if link[end] == phase else link[end]
    if at is None:
        records.append(new)
        at = len(records) - 1
    else:
        records[at] = new
    if after is not None and after != phase:
        behind = records[tables.find(after)]
        records.pop(at)
        records.insert(next(k for k, r in enumerate(records) if r is behind) + 1, new)
    return records, links, new["phase"]


def known_type(name: object) -> str:
    """Return the type of a dependency; an unknown one is a `TimelineError`."""
    if not isinstance(name, str) or name not in LINK_TYPES:
        msg = f"type {name!r} is unknown: {near(name, LINK_TYPES)}"
        raise TimelineError(msg)
    return name


def link_rows(tables: Tables, source: str, target: str, type_: str | None) -> NDArray[np.int64]:
    """Return the rows of the stored dependencies between two phases, of one type if given."""
    hit = (tables.source == tables.find(source)) & (tables.target == tables.find(target))
    if type_ is not None:
        hit &= tables.code == LINK_TYPES.index(known_type(type_))
    return np.flatnonzero(hit)


def link_rows_of_one_type(
    tables: Tables, source: str, target: str, type_: str | None
) -> NDArray[np.int64]:
    """As `link_rows`, but none, or several types where none was asked for, is an error."""
    rows = link_rows(tables, source, target, type_)
    types = sorted({LINK_TYPES[code] for code in tables.code[rows]})
    if len(types) > 1:
        msg = f"{source!r} → {target!r} has types {' and '.join(types)}: say which with type="
        raise TimelineError(msg)
    if not types:
        raise TimelineError(_no_link(tables, source, target, type_))
    return rows


def _no_link(tables: Tables, source: str, target: str, type_: str | None) -> str:
    first, second = tables.find(source), tables.find(target)
    outward = tables.phase[tables.target[tables.source == first]].tolist()
    leads = f"it leads to {', '.join(map(repr, outward[:6]))}" if outward else "it has none"
    of = f" of type {type_}" if type_ else ""
    msg = f"there is no dependency{of} from {source!r} to {target!r}; {leads}"
    before, after = tables.lane_pairs
    if ((before == first) & (after == second)).any():
        msg += f". The order of lane {tables.lane[first]!r} ties them: connect them to replace it"
    return msg
