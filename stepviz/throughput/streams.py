"""Counting what is too much to hold: batch after batch, single rows by the hundred."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from stepviz.errors import ThroughputError
from stepviz.throughput.batches import FIELDS, OTHER_NAMES, fields_of
from stepviz.throughput.tallies import Rules, Tally, tally_of

#: Single rows are gathered to so many, or so many positions, and counted as one batch.
MOST_ROWS: Final = 512
MOST_POSITIONS: Final = 1 << 20

_BY_ROW: Final = tuple(name for name in FIELDS if name != "cu_seqlens")


def sum_of(batches: Iterable[Any], rules: Rules) -> tuple[Tally, int]:
    """Return the sum over batches that are read once, and how many there were.

    Raises
    ------
    ThroughputError
        Where there is none, one cannot be counted, or only some have labels; it says which.
    """
    total = [0] * len(Tally._fields)
    labelled: bool | None = None
    number = 0
    for tally, batch_count in _tallies(batches, rules):
        has_labels = tally.scored is not None
        if labelled is None:
            labelled = has_labels
        elif labelled != has_labels:
            has, lacks = (number, number + 1) if labelled else (number + 1, number)
            msg = f"batch {has} has labels and batch {lacks} has none: count them apart"
            raise ThroughputError(msg)
        number += batch_count
        total = [sum_ + (part or 0) for sum_, part in zip(total, tally, strict=True)]
    if not number:
        msg = (
            "there was no batch to count: the iterable is empty, or was read before, so make it "
            "anew"
        )
        raise ThroughputError(msg)
    tally = Tally(*total)
    return (tally if labelled else tally._replace(scored=None)), number


def _tallies(batches: Iterable[Any], rules: Rules) -> Iterator[tuple[Tally, int]]:
    """Count batches in turn; consecutive single rows with the same fields together."""
    number = 0  # of batches that are counted
    gathered: list[dict[str, Any]] = []
    positions = 0
    for batch in batches:
        row, length = _single_row(batch)
        same = row is not None and (not gathered or row.keys() == gathered[0].keys())
        full = len(gathered) >= MOST_ROWS or positions + length > MOST_POSITIONS
        if gathered and (full or not same):
            yield _together(gathered, rules, number), len(gathered)
            number, gathered, positions = number + len(gathered), [], 0
        if row is not None:
            gathered.append(row)
            positions += length
        else:
            number += 1
            yield _one(batch, rules, number), 1
    if gathered:
        yield _together(gathered, rules, number), len(gathered)


def _single_row(batch: Any) -> tuple[dict[str, Any] | None, int]:
    """Return a batch that is one row of plain numbers, and its length; else None."""
    if not isinstance(batch, Mapping) or not OTHER_NAMES.isdisjoint(batch):
        return None, 0
    row, length = {}, 0
    for name in _BY_ROW:
        value = batch.get(name)
        if value is None:
            continue
        value = _flat(value)
        if value is None:
            return None, 0
        row[name] = value
        length = len(value)
    return (row or None), length


def _flat(value: Any) -> list[int] | NDArray[Any] | None:
    """Return one row of plain numbers as a list or an array, anything else as None."""
    if type(value) is tuple:
        value = list(value)
    if type(value) is list:
        return value if value and type(value[0]) is int else None
    if getattr(value, "ndim", 0) != 1:
        return None
    if hasattr(value, "detach"):
        try:
            value = value.detach().numpy()
        except (RuntimeError, TypeError, ValueError):
            return None  # on a device, or of a type of torch's own: read as any batch is
    return value if type(value) is np.ndarray else None


def _together(rows: list[dict[str, Any]], rules: Rules, before: int) -> Tally:
    fields = {name: [row[name] for row in rows] for name in rows[0]}
    try:
        # rows of their own lengths were not padded to one another
        return tally_of(fields, rules)._replace(unmasked=0)
    except ThroughputError:
        for number, row in enumerate(rows, start=before + 1):
            _one(row, rules, number)  # says which it is
        raise


def _one(batch: Any, rules: Rules, number: int) -> Tally:
    try:
        return tally_of(fields_of(batch), rules)
    except ThroughputError as error:
        msg = f"batch {number}: {error}"
        raise ThroughputError(msg) from error
