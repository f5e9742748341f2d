"""Ends of arrows by the row they are bound to, as text only when a row is written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stepviz.indices import as_index
from stepviz.traces.tracks.writer import arrow

IntArray = npt.NDArray[np.int64]

_PHASES: Final = "sf"


class Arrows:
    """Ends of arrows: the row, whether the arrow starts there or ends, its number, its name."""

    def __init__(self) -> None:
        self._parts: list[tuple[IntArray, IntArray, str]] = []
        self._sorted: tuple[IntArray, IntArray, IntArray, list[str]] | None = None

    def add(self, phase: str, rows: Any, numbers: Any, name: str) -> None:
        """Bind ends to rows, behind those bound before; `phase` is s where arrows start, else f."""
        ends = np.asarray(numbers, dtype=np.int64) * 2 + _PHASES.index(phase)
        self._parts.append((np.asarray(rows, dtype=np.int64), ends, name))
        self._sorted = None

    def of(self, rows: IntArray) -> list[Sequence[str]]:
        """Return the ends at each of some rows, in the order in which they were bound."""
        bound, ends, names, words = self._in_order()
        low = np.searchsorted(bound, rows, side="left").tolist()
        high = np.searchsorted(bound, rows, side="right").tolist()
        return [
            [arrow(_PHASES[ends[k] & 1], int(ends[k] >> 1), words[names[k]]) for k in range(a, b)]
            if b > a
            else ()
            for a, b in zip(low, high, strict=True)
        ]

    def _in_order(self) -> tuple[IntArray, IntArray, IntArray, list[str]]:
        if self._sorted is None:
            none = np.empty(0, dtype=np.int64)
            rows = np.concatenate([none, *(part[0] for part in self._parts)])
            ends = np.concatenate([none, *(part[1] for part in self._parts)])
            sizes = [len(part[0]) for part in self._parts]
            names = np.repeat(np.arange(len(sizes)), as_index(sizes))
            order = np.argsort(rows, kind="stable")
            words = [part[2] for part in self._parts]
            self._sorted = rows[order], ends[order], names[order], words
        return self._sorted
