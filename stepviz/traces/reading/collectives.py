"""What the profiler says in the arguments of single rows: collectives, and waits of streams."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pandas as pd

from stepviz.traces.reading.words import whole, whole_or_missing

#: Columns of `RankRows.collectives`.
COLLECTIVE_COLUMNS: Final = (
    "collective",
    "group",
    "description",
    "elements",
    "out_elements",
    "dtype",
    "group_size",
    "sequence",
    "ranks",
    "src_rank",
    "dst_rank",
)

#: Categories whose rows say what a stream or thread waits for: no work of the stream.
SYNC: Final = frozenset({"cuda_sync", "xpu_sync", "hip_sync", "cuda_event"})

#: A stream named by −1, as old writers put it: no stream in particular.
_NO_STREAM: Final = 2**32 - 1
_LARGE_INT: Final = 2**63 - 1


def collectives(kept: list[dict[str, Any]]) -> pd.DataFrame:
    """Return, by row, what an event's arguments say about the collective it belongs to.

    Counts and numbers are −1 where missing; `ranks` is None where the file does not say them
    or cuts their list short.
    """
    rows: dict[int, dict[str, Any]] = {}
    for i, event in enumerate(kept):
        args = event.get("args")
        if not isinstance(args, dict):
            continue
        name = event.get("name")
        if "Collective name" in args:
            rows[i] = _said(args)
        elif isinstance(name, str) and name.startswith(("gloo:", "c10d::")):
            rows[i] = {
                **_said({}),
                "collective": name.split(":")[-1].rstrip("_"),
                "elements": _elements(args.get("Input Dims")),
                "dtype": _first_text(args.get("Input type")),
            }
    return pd.DataFrame.from_dict(rows, orient="index", columns=list(COLLECTIVE_COLUMNS))


def _said(args: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "collective": str(args.get("Collective name", "")),
        "group": str(args.get("Process Group Name", "")),
        "description": str(args.get("Process Group Description", "")),
        "elements": whole_or_missing(args.get("In msg nelems")),
        "out_elements": whole_or_missing(args.get("Out msg nelems")),
        "dtype": str(args.get("dtype", "")),
        "group_size": whole_or_missing(args.get("Group size")),
        "sequence": whole_or_missing(args.get("Seq")),
        "ranks": ranks_said(args.get("Process Group Ranks")),
        "src_rank": whole_or_missing(args.get("Src Rank")),
        "dst_rank": whole_or_missing(args.get("Dst Rank")),
    }


def ranks_said(value: object) -> tuple[int, ...] | None:
    """Return the ranks of a process group; None where they are missing or cut off ("...")."""
    if isinstance(value, list):
        numbers = [whole(item) for item in value]
        members = [n for n in numbers if n is not None]
        return tuple(members) if members and len(members) == len(numbers) else None
    if not isinstance(value, str) or "..." in value:
        return None
    return tuple(int(word) for word in re.findall(r"\d{1,9}", value)) or None


def syncs(kept: list[dict[str, Any]]) -> pd.DataFrame:
    """Return, by row, what rows of recorded waits wait for.

    Two columns, −1 where missing: `stream`, the stream waited for (of a `Stream Wait Event`
    the one that recorded the event), and `record_correlation`, the correlation of the call
    that recorded it.
    """
    rows: dict[int, tuple[int, int]] = {}
    for i, event in enumerate(kept):
        if event.get("cat") not in SYNC:
            continue
        args = event.get("args")
        args = args if isinstance(args, dict) else {}
        rows[i] = (
            _stream(args.get("wait_on_stream", args.get("stream"))),
            whole_or_missing(args.get("wait_on_cuda_event_record_corr_id")),
        )
    return pd.DataFrame(
        np.array(list(rows.values()), dtype=np.int64).reshape(-1, 2),
        columns=["stream", "record_correlation"],
        index=pd.Index(list(rows), dtype=np.int64),
    )


def _stream(value: object) -> int:
    number = whole_or_missing(value)
    return -1 if number == _NO_STREAM else number


def _elements(dims: object) -> int:
    """Return the number of elements in the first tensor of `Input Dims`, −1 where missing."""
    while isinstance(dims, list) and dims and isinstance(dims[0], list):
        dims = dims[0]
    if not isinstance(dims, list) or not dims or not all(isinstance(d, int) for d in dims):
        return -1
    count = math.prod(dims)
    return count if 0 <= count <= _LARGE_INT else -1


def _first_text(value: object) -> str:
    while isinstance(value, list) and value:
        value = value[0]
    return value if isinstance(value, str) else ""
