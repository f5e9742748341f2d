"""What the graphs of all steps of a rank ask of its events, worked out once."""

from __future__ import annotations

from collections.abc import Container
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from stepviz.core.vocabulary import KINDS
from stepviz.indices import as_index
from stepviz.traces.classifying.name_traits import Trait, traits
from stepviz.traces.classifying.windows import BETWEEN
from stepviz.traces.rank_trace import RankTrace
from stepviz.traces.reading.masks import among
from stepviz.traces.reading.rows import CALLS

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
        As a `RankTrace`'s. All steps of a rank share one of these, so that a step costs by its
        own events and not by those of the file.
    """

    def __init__(self, events: pd.DataFrame) -> None:
        self._events = events
        self.start: npt.NDArray[np.int64] = events["start_ns"].to_numpy()
        self.finish: npt.NDArray[np.int64] = events["finish_ns"].to_numpy()
        self.track: npt.NDArray[np.int64] = events["track"].to_numpy()
        self.launcher: npt.NDArray[np.int64] = events["launcher"].to_numpy()
        self.place: npt.NDArray[np.int64] = events["place"].to_numpy()
        self.correlation: npt.NDArray[np.int64] = events["correlation"].to_numpy()
        self.name: IntArray = events["name"].array.codes
        self.cat: IntArray = events["cat"].array.codes

    @cached_property
    def kind(self) -> npt.NDArray[np.int8]:
        """Code of the kind of every event."""
        column = self._events["kind"].array
        known = {kind: at for at, kind in enumerate(KINDS)}
        codes = [known.get(str(kind), known["other"]) for kind in column.categories.tolist()]
        return np.asarray(np.array(codes, dtype=np.int8)[column.codes])

    @cached_property
    def words(self) -> list[str]:
        """All names, by the codes in `name`."""
        return [str(name) for name in self._events["name"].array.categories.tolist()]

    @cached_property
    def categories(self) -> list[str]:
        """All categories, by the codes in `cat`."""
        return [str(cat) for cat in self._events["cat"].array.categories.tolist()]

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
    events = trace.events
    known = trace.memo.get("columns")
    if not isinstance(known, Columns):
        known = trace.memo["columns"] = Columns(events)
    return known
