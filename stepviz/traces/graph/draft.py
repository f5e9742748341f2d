"""A graph while it is drawn: points, elements and links in any order, put in order at the end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np

from stepviz.core.vocabulary import KINDS
from stepviz.traces.graph.arrays import Flags, IntArray, filled
from stepviz.traces.graph.links import NO_LAUNCH, Link, usual_origin
from stepviz.traces.graph.network import Elements, Network

#: Codes of kinds of work.
KIND_CODE: Final = {kind: at for at, kind in enumerate(KINDS)}

#: Points of one instant, in the order in which one may hold another.
ENDS, JOINT_ENDS, OWN_ENDS, ARRIVES, GIVES, TAKES, DEPARTS, STARTS = range(8)
#: More of one instant: the ends of what takes no time, and what follows on them.
AT_ONCE: Final = 16
LAST: Final = 2**40


#: So many parts of a graph are made one: an array takes more than the few numbers of a small part.
_FEW: Final = 1024


class _Parts:
    """Columns that are added part after part, thousands of small ones too."""

    def __init__(self) -> None:
        self._small: list[dict[str, Any]] = []
        self._large: list[dict[str, Any]] = []

    def add(self, part: dict[str, Any]) -> None:
        self._small.append(part)
        if len(self._small) >= _FEW:
            self._large.append(
                {key: np.concatenate([one[key] for one in self._small]) for key in part}
            )
            self._small = []

    def column(self, key: str, dtype: Any = np.int64) -> Any:
        parts = [*self._large, *self._small]
        return np.concatenate(
            [np.empty(0, dtype=dtype), *(part[key].astype(dtype, copy=False) for part in parts)]
        )


class Draft:
    """Collects the parts of a graph, rank after rank."""

    def __init__(self) -> None:
        self._points = _Parts()
        self._count = 0
        self._elements = _Parts()
        self._work = 0
        self._links = _Parts()
        self._names: dict[str, int] = {}
        self._starts: dict[int, int] = {}
        self._ends: dict[int, int] = {}

    def name(self, name: str) -> int:
        """Return the code of a name."""
        return self._names.setdefault(name, len(self._names))

    def codes(self, names: Iterable[object]) -> IntArray:
        """Return the codes of names."""
        return np.array([self.name(str(name)) for name in names], dtype=np.int64)

    def points(
        self,
        time: IntArray | Sequence[int],
        tie: IntArray | int,
        rank: int,
        gap: Flags | None = None,
    ) -> IntArray:
        """Add points; `tie` orders those of one instant. Return their numbers."""
        times = np.asarray(time, dtype=np.int64)
        count = len(times)
        gaps = np.zeros(count, dtype=bool) if gap is None else gap
        self._points.add(
            {"time": times, "tie": filled(tie, count), "rank": filled(rank, count), "gap": gaps}
        )
        self._count += count
        return np.arange(self._count - count, self._count)

    def start(self, rank: int, time: int) -> int:
        """Add the first point of a rank."""
        self._starts[rank] = int(self.points([time], -1, rank)[0])
        return self._starts[rank]

    def end(self, rank: int, time: int) -> int:
        """Add the last point of a rank."""
        self._ends[rank] = int(self.points([time], LAST, rank)[0])
        return self._ends[rank]

    def elements(self, start: IntArray, duration: IntArray, **columns: Any) -> IntArray:
        """Add elements; return their numbers, which follow one another."""
        count = len(start)
        all_columns = {"rank": -1, "track": -1, "row": -1, "launched": NO_LAUNCH} | columns
        given = {key: filled(value, count) for key, value in all_columns.items()}
        self._elements.add({"start": start, "duration": duration, **given})
        self._work += count
        return np.arange(self._work - count, self._work)

    def link(
        self,
        kind: Link,
        source: IntArray | Sequence[int],
        target: IntArray | Sequence[int],
        *,
        base: IntArray | int = 0,
        low: IntArray | int = 0,
        high: IntArray | int = 0,
        origin: IntArray | int | None = None,
    ) -> None:
        """Add links. `base` is cut to what times allow; what they forbid is left out."""
        sources = np.asarray(source, dtype=np.int64)
        count = len(sources)
        if count == 0:
            return
        values = {
            "target": target,
            "link": int(kind),
            "base": base,
            "low": low,
            "high": high,
            "origin": usual_origin(kind) if origin is None else origin,
        }
        self._links.add(
            {"source": sources} | {key: filled(value, count) for key, value in values.items()}
        )

    def network(self) -> Network:
        """Put everything in order."""
        time, tie, rank = (self._points.column(key) for key in ("time", "tie", "rank"))
        gap = self._points.column("gap", np.bool_)
        elements = self._all_elements()
        order = np.lexsort((tie, time))
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        columns = ("source", "target", "link", "origin", "base", "low", "high")
        edges = {key: self._links.column(key) for key in columns}
        total = np.concatenate(([0], np.cumsum(elements.duration)))
        room = time[edges["target"]] - time[edges["source"]]
        room = room - (total[edges["high"]] - total[edges["low"]])
        forward = place[edges["source"]] < place[edges["target"]]
        starts = np.array(list(self._starts.values()), dtype=np.int64)
        # A rank starts when it was observed to, whatever ended before.
        kept = (room >= 0) & forward & ~np.isin(edges["target"], starts)
        edges = {key: values[kept] for key, values in edges.items()}
        edges["base"] = np.minimum(edges["base"], room[kept])
        edges = _held(edges, rank, starts, list(self._starts), len(time))
        source, target = place[edges["source"]], place[edges["target"]]
        by_target = np.lexsort((edges["link"], target))
        return Network(
            ranks=tuple(self._starts),
            time=time[order],
            rank=rank[order],
            gap=gap[order],
            source=source[by_target],
            target=target[by_target],
            link=edges["link"][by_target],
            origin=edges["origin"][by_target],
            base=edges["base"][by_target],
            low=edges["low"][by_target],
            high=edges["high"][by_target],
            starts=place[starts],
            ends=place[np.array([self._ends[rank] for rank in self._starts], dtype=np.int64)],
            elements=elements,
            names=tuple(self._names),
        )

    def _all_elements(self) -> Elements:
        # There are several for each row of a trace, so what is small is kept small.
        short, code, time = np.int32, np.int8, np.int64
        kept = {
            "rank": short, "kind": code, "name": short, "on": code, "track": short, "row": short,
            "start": time, "duration": time, "launched": code,
        }  # fmt: skip
        columns: dict[str, Any] = {
            key: self._elements.column(key, dtype) for key, dtype in kept.items()
        }
        return Elements(**columns)


def _held(
    edges: dict[str, IntArray], rank: IntArray, starts: IntArray, ranks: list[int], count: int
) -> dict[str, IntArray]:
    """Let what nothing holds be held by the start of its rank."""
    free = np.ones(count, dtype=bool)
    free[edges["target"]] = False
    free[starts] = False
    loose = np.flatnonzero(free & (rank >= 0))
    if len(loose) == 0:
        return edges
    known = np.argsort(ranks)
    first = starts[known[np.searchsorted(np.array(ranks)[known], rank[loose])]]
    zero = np.zeros(len(loose), dtype=np.int64)
    more = {
        "source": first,
        "target": loose,
        "link": zero + int(Link.START),
        "origin": zero + usual_origin(Link.START),
        "base": zero,
        "low": zero,
        "high": zero,
    }
    return {key: np.concatenate((edges[key], more[key])) for key in edges}
