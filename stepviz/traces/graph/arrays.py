"""Arrays of whole numbers and of flags."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


def distinct(values: IntArray) -> IntArray:
    """Return each value once, sorted.

    By sorting: numpy's own way, by hashing, takes ten times as long on a million times.
    """
    ordered = np.sort(values)
    fresh = np.ones(len(ordered), dtype=bool)
    fresh[1:] = ordered[1:] != ordered[:-1]
    return ordered[fresh]


def filled(value: IntArray | Sequence[int] | int, count: int) -> IntArray:
    """Return so many values: those given, or as many of the one given."""
    if isinstance(value, int):
        return np.full(count, value, dtype=np.int64)
    values = np.asarray(value, dtype=np.int64)
    return values if values.shape == (count,) else np.broadcast_to(values, (count,))
