"""What the profiler says in the arguments of single rows: collectives, and waits of streams."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stepviz.traces.reading.events import Args
from stepviz.traces.reading.words import plain, text, whole, whole_or_missing

#: Columns of `CollectiveArgs`, and what each holds where a row says nothing.
NOTHING_SAID: Final[dict[str, Any]] = {
    "collective": "",
    "group": "",
    "description": "",
    "elements": -1,
    "out_elements": -1,
    "dtype": "",
    "group_size": -1,
    "sequence": -1,
    "ranks": None,
    "src_rank": -1,
    "dst_rank": -1,
}

#: Categories whose rows say what a stream or thread waits for: no work of the stream.
SYNC: Final = frozenset({"cuda_sync", "xpu_sync", "hip_sync", "cuda_event"})

#: What one row says, in the order of these columns.
Said = tuple[Any, ...]

_NUMBER: Final = re.compile(r"\d{1,9}")
#: A stream named by −1, as old writers put it: no stream in particular.
_NO_STREAM: Final = 2**32 - 1
_LARGE_INT: Final = 2**63 - 1


def collective_said(args: Args, name: str = "") -> Said:
    """Return what a row says: counts are −1 where missing, lists of ranks None.

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
    return tuple(int(word) for word in _NUMBER.findall(value)) or None


def sync_said(args: Args) -> tuple[int, int]:
    """Return the stream that a recorded wait waits for, and which call recorded its event."""
    waited_on = args.wait_on_stream if bytes(args.wait_on_stream) else args.stream
    stream = whole_or_missing(plain(waited_on))
    return -1 if stream == _NO_STREAM else stream, whole_or_missing(plain(args.record_correlation))


@dataclass(frozen=True, eq=False)
class CollectiveArgs:
    """What the arguments of rows say of the collectives they belong to.

    `columns` has an array for each of `NOTHING_SAID`, in the order of `row`.
    """

    row: npt.NDArray[np.int64]
    columns: Mapping[str, npt.NDArray[Any]]

    @classmethod
    def of(cls, said: Mapping[int, Said]) -> CollectiveArgs:
        """Take what was said, by row."""
        values = list(zip(*said.values(), strict=True)) or [()] * len(NOTHING_SAID)
        columns = {
            name: np.fromiter(column, dtype=_dtype(name), count=len(said))
            for name, column in zip(NOTHING_SAID, values, strict=True)
        }
        return cls(np.array(list(said), dtype=np.int64), columns)

    def __len__(self) -> int:
        return len(self.row)

    def for_rows(self, wanted: npt.NDArray[np.int64]) -> dict[str, npt.NDArray[Any]]:
        """Return the columns for some rows, as `NOTHING_SAID` where nothing was said."""
        at = self._places(wanted)
        there = at >= 0
        columns: dict[str, npt.NDArray[Any]] = {}
        for name, missing in NOTHING_SAID.items():
            columns[name] = np.full(len(wanted), missing, dtype=_dtype(name))
            columns[name][there] = self.columns[name][at[there]]
        return columns

    def _places(self, wanted: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return where each wanted row stands, −1 where it does not."""
        if len(self) == 0:
            return np.full(len(wanted), -1, dtype=np.int64)
        order = np.argsort(self.row, kind="stable")
        at = np.minimum(np.searchsorted(self.row[order], wanted), len(self) - 1)
        return np.where(self.row[order[at]] == wanted, order[at], -1)


def _dtype(name: str) -> type[object]:
    return np.int64 if isinstance(NOTHING_SAID[name], int) else object


@dataclass(frozen=True, eq=False)
class Syncs:
    """What rows of recorded waits wait for; −1 where missing.

    `stream` is the stream waited for (of a `Stream Wait Event` the one that recorded the
    event), `record_correlation` the correlation of the call that recorded it.
    """

    row: npt.NDArray[np.int64]
    stream: npt.NDArray[np.int64]
    record_correlation: npt.NDArray[np.int64]

    @classmethod
    def of(cls, said: Mapping[int, tuple[int, int]]) -> Syncs:
        """Take what was said, by row."""
        values = np.array(list(said.values()), dtype=np.int64).reshape(-1, 2)
        return cls(np.array(list(said), dtype=np.int64), *values.T)

    def __len__(self) -> int:
        return len(self.row)


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
