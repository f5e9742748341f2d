"""How every name of a run was classified: to see where a pattern is missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pandas as pd

from stepviz.traces.reading.rows import DEVICE, HOST

COLUMNS: Final = ("name", "where", "kind", "rows", "total_ns", "ranks")

#: What users call the places of names (see `add_pattern`), by category.
_PLACE: Final = {
    **dict.fromkeys(DEVICE, "kernel"),
    "cpu_op": "operator",
    "user_annotation": "annotation",
    "python_function": "function",
}
_CALL: Final = "call"


def names_frame(by_rank: Mapping[int, pd.DataFrame]) -> pd.DataFrame:
    """Return the names of all ranks' rows with their kinds, the longest in all first.

    Parameters
    ----------
    by_rank
        Rows with kinds, by rank.
    """
    parts = []
    for events in by_rank.values():
        work = events[events["cat"].isin([*DEVICE, *HOST])]
        lengths = (work["finish_ns"] - work["start_ns"]).rename("total_ns")
        grouped = lengths.groupby(
            [work["name"], work["cat"], work["kind"]], observed=True, sort=False
        )
        part = grouped.agg(["size", "sum"]).reset_index()
        part.columns = pd.Index(["name", "cat", "kind", "rows", "total_ns"])
        parts.append(part.astype({"name": object, "cat": object, "kind": object}))
    if not parts:
        return pd.DataFrame(columns=list(COLUMNS))
    every = pd.concat(parts, ignore_index=True)
    every["where"] = every["cat"].map(_PLACE).fillna(_CALL)
    every["ranks"] = 1
    # One rank may show a name under two categories: it is still one rank.
    every = every.groupby(["name", "where", "kind"], as_index=False, sort=False)[
        ["rows", "total_ns", "ranks"]
    ].sum()
    every["ranks"] = every["ranks"].clip(upper=len(by_rank))
    ordered = every.sort_values(["total_ns", "name"], ascending=[False, True], kind="stable")
    return ordered[list(COLUMNS)].reset_index(drop=True)
