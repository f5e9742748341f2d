"""Exact arithmetic on sets of intervals, as pairs of sorted, disjoint arrays.

A set is an array of shape (n, 2) of starts and ends in any one unit. Floats (ms) and integers
(ns) both work, and neither is rounded on the way.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stepviz.indices import as_index

Intervals = NDArray[Any]


def union(intervals: Intervals) -> Intervals:
    """Merge intervals that overlap or touch; empty ones vanish.

    Parameters
    ----------
    intervals : array, shape (n, 2)
        Starts and ends, in any order.

    Returns
    -------
    array, shape (m, 2)
        Sorted, disjoint, none empty.
    """
    spans = intervals[intervals[:, 1] > intervals[:, 0]]
    if len(spans) == 0:
        return spans
    spans = spans[np.argsort(spans[:, 0], kind="stable")]
    reach = np.maximum.accumulate(spans[:, 1])
    opens = np.concatenate(([True], spans[1:, 0] > reach[:-1]))
    first = np.flatnonzero(opens)
    last = np.concatenate((first[1:] - 1, [len(spans) - 1]))
    return np.column_stack((spans[first, 0], reach[last]))


def intersect(a: Intervals, b: Intervals) -> Intervals:
    """Return what both sets cover; both must be sorted and disjoint (see `union`)."""
    if len(a) == 0 or len(b) == 0:
        return a[:0]
    first = np.searchsorted(b[:, 1], a[:, 0], side="right")
    last = np.searchsorted(b[:, 0], a[:, 1], side="left")
    count = np.maximum(last - first, 0)
    left = np.repeat(np.arange(len(a)), as_index(count))
    offset = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, as_index(count))
    right = np.repeat(first, as_index(count)) + offset
    return np.column_stack(
        (np.maximum(a[left, 0], b[right, 0]), np.minimum(a[left, 1], b[right, 1]))
    )


def subtract(a: Intervals, b: Intervals) -> Intervals:
    """Return what `a` covers and `b` does not; both must be sorted and disjoint."""
    if len(a) == 0 or len(b) == 0:
        return a
    low, high = min(a[0, 0], b[0, 0]), max(a[-1, 1], b[-1, 1])
    edges = np.concatenate(([low], b.ravel(), [high])).reshape(-1, 2)
    return intersect(a, edges[edges[:, 1] > edges[:, 0]])


def clip(a: Intervals, low: float, high: float) -> Intervals:
    """Return the part of `a` between `low` and `high`."""
    cut = np.clip(a, low, high)
    return cut[cut[:, 1] > cut[:, 0]]


def total(a: Intervals) -> Any:
    """Return the summed length of a disjoint set, in the unit and type of the set."""
    return (a[:, 1] - a[:, 0]).sum()
