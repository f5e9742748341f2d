"""What a rank's host did at some time, by the rows of its step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from stepviz.core.intervals import clip, union
from stepviz.traces.classifying.nesting import nearest
from stepviz.traces.classifying.patterns import STEP, WAITING_CALL
from stepviz.traces.classifying.windows import Window
from stepviz.traces.reading.rows import CALLS, HOST

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

#: So many names are said of many rows.
_MOST_NAMES: Final = 3


@dataclass(frozen=True)
class HostRows:
    """Rows of the main thread, and of the autograd thread, in one window, sorted by start."""

    start: IntArray
    finish: IntArray
    names: npt.NDArray[np.object_]
    kind: npt.NDArray[np.object_]
    operator: BoolArray
    waits: BoolArray
    python: BoolArray
    annotation: BoolArray
    top: BoolArray
    """Rows that no other of their sort holds."""

    def _over(self, chosen: BoolArray, start: int, finish: int) -> IntArray:
        return np.flatnonzero(chosen & (self.start < finish) & (self.finish > start))

    def _spans(self, rows: IntArray, start: int, finish: int) -> IntArray:
        spans = np.column_stack((self.start[rows], self.finish[rows]))
        return union(clip(spans, start, finish))

    def _longest(self, rows: IntArray, start: int, finish: int) -> list[str]:
        """Return the names that cover most of a stretch."""
        within = np.minimum(self.finish[rows], finish) - np.maximum(self.start[rows], start)
        sums = pd.Series(within).groupby(self.names[rows]).sum()
        ordered = sums.sort_values(ascending=False, kind="stable")
        return [str(name) for name in ordered.index[:_MOST_NAMES]]

    def at_kind(self, kind: str, start: int, finish: int) -> tuple[IntArray, str]:
        """Return when rows of a kind ran, and the name of the longest."""
        rows = self._over((self.kind == kind) & ~self.waits, start, finish)
        if len(rows) == 0:
            return np.empty((0, 2), dtype=np.int64), ""
        return self._spans(rows, start, finish), self._longest(rows, start, finish)[0]

    def _named(self, chosen: BoolArray, start: int, finish: int) -> tuple[IntArray, list[str]]:
        rows = self._over(chosen, start, finish)
        return self._spans(rows, start, finish), self._longest(rows, start, finish)

    def waiting(self, start: int, finish: int) -> tuple[IntArray, list[str]]:
        """Return when calls waited for the device, and which."""
        return self._named(self.waits, start, finish)

    def working(self, start: int, finish: int) -> tuple[IntArray, list[str]]:
        """Return when operators and calls ran, and the longest of them."""
        return self._named(self.operator & self.top, start, finish)

    def in_python(self, start: int, finish: int) -> tuple[IntArray, list[str]]:
        """Return when Python functions ran, and the innermost that hold the whole stretch."""
        spans, _ = self._named(self.python, start, finish)
        rows = self._over(self.python, start, finish)
        whole = rows[(self.start[rows] <= start) & (self.finish[rows] >= finish)]
        # The last to begin is the innermost.
        named = [str(self.names[whole[-1]])] if len(whole) else self._longest(rows, start, finish)
        return spans, named

    def around(self, start: int, finish: int) -> str:
        """Return the innermost annotation that holds the whole stretch, "" where none does."""
        rows = np.flatnonzero(self.annotation & (self.start <= start) & (self.finish >= finish))
        return str(self.names[rows[-1]]) if len(rows) else ""


def host_rows(events: pd.DataFrame, window: Window, main: int) -> HostRows:
    """Return the rows of a rank's main and autograd threads that lie in a window."""
    start, finish = events["start_ns"].to_numpy(), events["finish_ns"].to_numpy()
    inside = (start < window.finish_ns) & (finish > window.start_ns)
    track = events["track"].to_numpy()
    operators = inside & (events["cat"] == "cpu_op").to_numpy()
    helping = np.unique(track[operators & (events["kind"] == "backward").to_numpy()])
    threads = np.union1d(helping, [main])
    host = events["cat"].isin(list(HOST)).to_numpy() & np.isin(track, threads)
    host &= (events["kind"] != "exchange").to_numpy()
    rows = np.flatnonzero(inside & host)
    rows = rows[np.lexsort((-finish[rows], start[rows]))]
    part = events.iloc[rows]
    names = part["name"].astype(object).to_numpy()
    calls = part["cat"].isin(list(CALLS)).to_numpy()
    waits = calls & np.array([bool(WAITING_CALL.search(str(n))) for n in names], dtype=np.bool_)
    operator = ((part["cat"] == "cpu_op").to_numpy() | calls) & ~waits
    place = np.full(len(events) + 1, -1, dtype=np.int64)
    place[rows] = np.arange(len(rows))
    parent = place[part["parent"].to_numpy()]
    marker = np.array([bool(STEP.match(str(n))) for n in names], dtype=np.bool_)
    return HostRows(
        start[rows],
        finish[rows],
        names,
        part["kind"].astype(object).to_numpy(),
        operator,
        waits,
        (part["cat"] == "python_function").to_numpy(),
        (part["cat"] == "user_annotation").to_numpy() & ~marker,
        nearest(parent, operator, itself=False) < 0,
    )
