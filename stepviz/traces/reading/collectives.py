"""What the profiler says in the arguments of single rows: collectives, and waits of streams."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import numpy as np
import pandas as pd

from stepviz.traces.reading.events import Args
from stepviz.traces.reading.words import plain, text, whole, whole_or_missing

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

#: One row of `RankRows.collectives`.
Said = tuple[Any, ...]

#: A stream named by −1, as old writers put it: no stream in particular.
_NO_STREAM: Final = 2**32 - 1
_LARGE_INT: Final = 2**63 - 1


def collective_said(args: Args, name: str = "") -> Said:
    """Return one row of `collectives`: counts are −1 where missing, lists of ranks None.

    `name` is that of a row which says in its own name what is exchanged, as gloo's do.
    """
    elements, dtype = whole_or_missing(plain(args.elements)), text(args.dtype)
    if name:
        elements, dtype = _elements(plain(args.dims)), _first_text(plain(args.types))
    return (
        name.rsplit(":", maxsplit=1)[-1].rstrip("_") if name else text(args.collective),
        text(args.group),
        text(args.description),
        elements,
        whole_or_missing(plain(args.out_elements)),
        dtype,
        whole_or_missing(plain(args.group_size)),
        whole_or_missing(plain(args.seq)),
        ranks_said(plain(args.ranks)),
        whole_or_missing(plain(args.src_rank)),
        whole_or_missing(plain(args.dst_rank)),
    )


def ranks_said(value: object) -> tuple[int, ...] | None:
    """Return the ranks of a process group; None where they are missing or cut off ("...")."""
    if isinstance(value, list):
        numbers = [whole(item) for item in value]
        members = [n for n in numbers if n is not None]
        return tuple(members) if members and len(members) == len(numbers) else None
    if not isinstance(value, str) or "..." in value:
        return None
    return tuple(int(word) for word in re.findall(r"\d{1,9}", value)) or None


def sync_said(args: Args) -> tuple[int, int]:
    """Return the stream that a recorded wait waits for, and which call recorded its event."""
    waited_on = args.wait_on_stream if bytes(args.wait_on_stream) else args.stream
    stream = whole_or_missing(plain(waited_on))
    return -1 if stream == _NO_STREAM else stream, whole_or_missing(plain(args.record_correlation))


def collectives_frame(said: Mapping[int, Said]) -> pd.DataFrame:
    """Return what rows say about the collectives they belong to, indexed by row."""
    if not said:
        return _none_said().copy()
    return pd.DataFrame(
        list(said.values()),
        columns=list(COLLECTIVE_COLUMNS),
        index=pd.Index(list(said), dtype=np.int64),
    )


@cache
def _none_said() -> pd.DataFrame:
    index = pd.Index([], dtype=np.int64)
    return pd.DataFrame([], columns=list(COLLECTIVE_COLUMNS), index=index)


def syncs_frame(said: Mapping[int, tuple[int, int]]) -> pd.DataFrame:
    """Return what rows of recorded waits wait for, indexed by row; −1 where missing.

    `stream` is the stream waited for (of a `Stream Wait Event` the one that recorded the
    event), `record_correlation` the correlation of the call that recorded it.
    """
    return pd.DataFrame(
        np.array(list(said.values()), dtype=np.int64).reshape(-1, 2),
        columns=["stream", "record_correlation"],
        index=pd.Index(list(said), dtype=np.int64),
    )


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
