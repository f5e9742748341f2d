"""What the graphs of all steps of a rank ask of its events, worked out once."""

from __future__ import annotations

from collections.abc import Container, Sequence
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from stepviz.indices import as_index
from stepviz.traces.classifying.name_traits import Trait, traits
from stepviz.traces.classifying.windows import BETWEEN
from stepviz.traces.rank_trace import RankTrace
from stepviz.traces.reading.masks import among
from stepviz.traces.reading.rows import CALLS
from stepviz.traces.table import Table

IntArray = npt.NDArray[np.integer]
Flags = npt.NDArray[np.bool_]

#: So many events have one common range of time, by which most of a file is passed over.
_BLOCK: Final = 2048


class Since:
    """Times of events, counted from an origin when they are asked for.

    Parameters
    ----------
    values
        Absolute, ns.
    origin
        What to count from, ns.
    """

    def __init__(self, values: npt.NDArray[np.int64], origin: int) -> None:
        self._values = values
        self._origin = origin

    def __getitem__(self, rows: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
        return np.asarray(self._values[rows] - self._origin)


class Columns:
    """The columns of one rank's events as arrays.

    Parameters
    ----------
    events
        As a `RankTrace`'s `table`. All steps of a rank share one of these, so that a step costs
        by its own events and not by those of the file.
    """

    def __init__(self, events: Table) -> None:
        self._events = events
        self.start: npt.NDArray[np.int64] = events["start_ns"]
        self.finish: npt.NDArray[np.int64] = events["finish_ns"]
        self.track: npt.NDArray[np.int64] = events["track"]
        self.launcher: npt.NDArray[np.int64] = events["launcher"]
        self.place: npt.NDArray[np.int64] = events["place"]
        self.correlation: npt.NDArray[np.int64] = events["correlation"]
        self.name: IntArray = events["name"].codes
        self.cat: IntArray = events["cat"].codes
        self.kind: npt.NDArray[np.int8] = events["kind"].codes

    @property
    def words(self) -> Sequence[str]:
        """All names, by the codes in `name`."""
        words: Sequence[str] = self._events["name"].categories
        return words

    @property
    def categories(self) -> Sequence[str]:
        """All categories, by the codes in `cat`."""
        categories: Sequence[str] = self._events["cat"].categories
        return categories

    @cached_property
    def traits(self) -> npt.NDArray[np.int64]:
        """Traits of all names."""
        return traits(self.words)

    def of_cat(self, rows: IntArray, wanted: Container[str]) -> Flags:
        """Return which of some events are of the wanted categories."""
        return np.array([cat in wanted for cat in self.categories], dtype=bool)[self.cat[rows]]

    @cached_property
    def _bounds(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Earliest start and latest end in every block of events."""
        if len(self.start) == 0:
            return self.start, self.finish
        edges = np.arange(0, len(self.start), _BLOCK)
        return np.minimum.reduceat(self.start, as_index(edges)), np.maximum.reduceat(
            self.finish, as_index(edges)
        )

    def between(self, low: int, high: int) -> npt.NDArray[np.int64]:
        """Return the events that run between two absolute times, in order of rows."""
        if low == high:
            return np.zeros(0, dtype=np.int64)
        first, last = self._bounds
        blocks = np.flatnonzero((first < high) & (last > low))
        rows = (blocks[:, None] * _BLOCK + np.arange(_BLOCK)).ravel()
        rows = rows[: np.searchsorted(rows, len(self.start))]
        return np.asarray(rows[(self.start[rows] < high) & (self.finish[rows] > low)])

    @cached_property
    def _by_place(self) -> tuple[npt.NDArray[np.integer], npt.NDArray[np.int64]]:
        """All events by the place of their step, and where each place from −2 on begins."""
        counts = np.bincount(as_index(self.place - BETWEEN))
        order = np.argsort(self.place, kind="stable").astype(np.int32)
        return order, np.concatenate(([0], np.cumsum(counts)))

    def of_step(self, place: int) -> npt.NDArray[np.integer]:
        """Return the events that belong to a step, in order of rows."""
        order, begins = self._by_place
        at = place - BETWEEN
        return order[begins[at] : begins[at + 1]] if at + 1 < len(begins) else order[:0]

    @cached_property
    def calls_by_correlation(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The correlation ids of all calls of the host, sorted, and their rows."""
        rows = np.flatnonzero(self._calls & (self.correlation >= 0))
        order = np.argsort(self.correlation[rows], kind="stable")
        return self.correlation[rows[order]], rows[order]

    @cached_property
    def wait_calls(self) -> npt.NDArray[np.int64]:
        """The calls that make a stream wait for an event."""
        waiting = np.flatnonzero(self.traits & Trait.WAIT_CALL)
        return np.flatnonzero(self._calls & np.isin(self.name, waiting))

    @property
    def _calls(self) -> Flags:
        return among(self._events["cat"], CALLS)


def columns_of(trace: RankTrace) -> Columns:
    """Return the columns of a rank's events, kept for as long as the events are.

    Parameters
    ----------
    trace
        The rank.
    """
    events = trace.table
    known = trace.memo.get("columns")
    if not isinstance(known, Columns):
        known = trace.memo["columns"] = Columns(events)
    return known
