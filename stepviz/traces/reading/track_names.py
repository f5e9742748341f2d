"""Threads and streams: which have rows, and how they are called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stepviz.traces.reading.columns import Columns

Int64Array = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Tracks:
    """Threads and streams by number: the texts of pid and tid, and a name, "" where none is said.

    pid and tid may be numbers or words ("Spans"), so the pair of texts is the key.
    """

    pid: Sequence[str]
    tid: Sequence[str]
    name: Sequence[str]


def tracks_of(columns: Columns, column: npt.NDArray[np.integer]) -> tuple[Tracks, Int64Array]:
    """Return the tracks that have rows, and the new number of each old one, −1 for none.

    Parameters
    ----------
    columns
        A file.
    column
        Old numbers of its rows' tracks; the new ones are in the order in which they come.
    """
    codes, first = np.unique(column, return_index=True)
    keys = list(columns.tracks)
    numbers: dict[tuple[str, str], int] = {}
    new = np.full(len(keys), -1, dtype=np.int64)
    names: dict[tuple[str, str], list[str]] = {}
    for (pid, tid), said in columns.thread_names.items():
        names.setdefault((str(pid), str(tid)), []).extend(said)
    for code in codes[np.argsort(first)].tolist():
        pid, tid = keys[code]
        new[code] = numbers.setdefault((str(pid), str(tid)), len(numbers))
    found = Tracks(
        pid=[pid for pid, _ in numbers],
        tid=[tid for _, tid in numbers],
        name=[_name(names.get(key, [])) for key in numbers],
    )
    return found, new


def _name(said: list[str]) -> str:
    # One thread may be named twice; the process's own name says the least.
    telling = [name for name in said if "(pt_" in name and "pt_main_thread" not in name]
    return (telling or said or [""])[0]
