"""The counts of one batch, which is read whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stepviz.errors import ThroughputError
from stepviz.throughput.batches import FIELDS, WHO_SEES_WHOM, Ints, Rows, as_rows
from stepviz.throughput.checks import flag, one_number

#: The label that cross-entropy losses leave out, in torch and all that follows it.
IGNORED: Final = -100


class Tally(NamedTuple):
    """The counts of one batch, which add up."""

    allocated: int
    real: int
    scored: int | None
    sequences: int
    squared_lengths: int
    crossing: int
    in_padding: int
    unmasked: int
    single: int


@dataclass(frozen=True)
class Rules:
    """How a batch is read."""

    ignore_index: int = IGNORED
    pad_id: int | None = None
    shifted: bool = False

    def __post_init__(self) -> None:
        """Refuse ids that no array of ids can be compared with."""
        for name in ("ignore_index", "pad_id"):
            value = one_number(getattr(self, name))
            object.__setattr__(self, name, value)
            if name == "pad_id" and value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, Integral):
                msg = f"{name} is {value!r}: give the id, a whole number"
                raise ThroughputError(msg)
        object.__setattr__(self, "shifted", flag(self.shifted, "shifted"))


class Layout(NamedTuple):
    """A batch as it is read: rows, where sequences begin, what is real, labels.

    The mask is None where nothing tells padding apart, the labels where there are none.
    """

    rows: Rows
    begins: Ints
    mask: NDArray[Any] | None
    labels: NDArray[Any] | None


def read_layout(fields: Mapping[str, Any], rules: Rules) -> Layout:
    """Read a batch.

    Raises
    ------
    ThroughputError
        Where its fields do not fit one another.
    """
    read = {name: as_rows(fields[name], name) for name in FIELDS if name in fields}
    bounds = read.pop("cu_seqlens", None)
    ends = None if bounds is None else _cumulative(bounds)
    if not read:
        if ends is None:
            msg = "there is nothing to count: give input_ids, or another field of a batch"
            raise ThroughputError(msg)
        read["input_ids"] = Rows(np.zeros(int(ends[-1]), np.int8), ends[-1:])
    layout = _common_layout(read)
    mask = _mask(read, rules)
    begins = _begins(read, layout, ends, mask)
    if ends is not None and mask is None:
        mask = np.arange(len(layout.flat)) < ends[-1]  # a tail behind the last end is padding
    labels = read["labels"].flat if "labels" in read else None
    if "loss_mask" in read:
        labels = _kept(labels, read["loss_mask"].flat, rules)
    return Layout(layout, begins, mask, labels)


def tally_of(fields: Mapping[str, Any], rules: Rules) -> Tally:
    """Count one batch."""
    layout, begins, mask, labels = read_layout(fields, rules)
    lengths = _lengths(layout, begins, mask)
    scored, crossing, in_padding = None, 0, 0
    if labels is not None:
        counted = _scored(labels, layout, rules)
        scored = int(np.count_nonzero(counted))
        crossing = 0 if rules.shifted else int(np.count_nonzero(counted[begins]))
        if mask is not None:
            in_padding = int(np.count_nonzero(counted & ~mask.astype(bool)))
    grid = len(set(layout.lengths.tolist())) == 1
    return Tally(
        allocated=len(layout.flat),
        real=int(np.sum(lengths)),
        scored=scored,
        sequences=int(np.count_nonzero(lengths)),
        squared_lengths=int(np.sum(lengths * lengths)),
        crossing=crossing,
        in_padding=in_padding,
        unmasked=int(mask is None and grid and len(layout.lengths) > 1),
        single=_single(layout, lengths) if mask is None else 0,
    )


def _single(layout: Rows, lengths: Ints) -> int:
    """Return how many sequences in longer rows have one position: padding, as positions show it?"""
    return int(np.count_nonzero(lengths == 1) - np.count_nonzero(layout.lengths == 1))


def _kept(labels: NDArray[Any] | None, kept: NDArray[Any], rules: Rules) -> NDArray[Any]:
    """Return the labels that a loss mask keeps; where there are none it stands for them."""
    if labels is None:
        labels = np.full(len(kept), rules.ignore_index + 1)
    # an unsigned label can be no −100
    return np.where(kept.astype(bool), labels.astype(np.int64), rules.ignore_index)


def _common_layout(read: dict[str, Rows]) -> Rows:
    """Return one field that has the batch's rows; repeat position_ids that all rows share."""
    first = next(iter(read))
    layout = read[first]
    for name, rows in read.items():
        if np.array_equal(rows.lengths, layout.lengths):
            continue
        shared = name == "position_ids" and len(rows.lengths) == 1
        if shared and np.all(layout.lengths == rows.lengths[0]):
            repeated = np.tile(rows.flat, len(layout.lengths))
            read[name] = Rows(repeated, layout.lengths)
            continue
        if name == "attention_mask" and len(rows.lengths) == len(layout.flat):
            raise ThroughputError(WHO_SEES_WHOM)
        msg = (
            f"{name} is {_shape(rows)} and {first} {_shape(layout)}: they must be the same rows of "
            "the same lengths"
        )
        raise ThroughputError(msg)
    return layout


def _shape(rows: Rows) -> str:
    lengths = sorted(set(rows.lengths.tolist())) or [0]
    spread = f"{lengths[0]} to {lengths[-1]}" if len(lengths) > 1 else f"{lengths[0]}"
    one = len(rows.lengths) == 1
    return f"{len(rows.lengths)} row{'' if one else 's'} of {spread} positions"


def _cumulative(bounds: Rows) -> Ints:
    """Return cu_seqlens: where each packed sequence ends, from 0 on."""
    ends = bounds.flat.astype(np.int64)
    if len(bounds.lengths) != 1 or len(ends) < 2 or ends[0] != 0 or bool(np.any(np.diff(ends) < 0)):
        shown = ", ".join(map(str, ends[:6].tolist()))
        msg = f"cu_seqlens starts with {shown}: give one row that begins with 0 and never falls"
        raise ThroughputError(msg)
    return ends


def _mask(read: dict[str, Rows], rules: Rules) -> NDArray[Any] | None:
    """Return which positions are real, numbered where several sequences share a row."""
    if "attention_mask" in read:
        mask = read["attention_mask"].flat
        if mask.dtype.kind == "i" and mask.size and int(mask.min()) < 0:
            msg = (
                f"attention_mask holds {int(mask.min())}: give 1 for a real position and 0 for "
                "padding"
            )
            raise ThroughputError(msg)
        return mask
    if rules.pad_id is not None and "input_ids" in read:
        padding: NDArray[np.bool_] = read["input_ids"].flat == rules.pad_id
        return ~padding
    return None


def _begins(
    read: dict[str, Rows], layout: Rows, ends: Ints | None, mask: NDArray[Any] | None
) -> Ints:
    """Return where sequences begin, padding before them left out or not."""
    n = len(layout.flat)
    if ends is not None:
        return _begins_from(ends, n, mask)
    found = [layout.starts]
    at = np.arange(n) if mask is None else np.flatnonzero(mask)
    numbered = mask is not None and mask.dtype.kind in "iu" and mask.size and int(mask.max()) > 1
    if mask is not None and numbered:
        found.append(at[1:][mask[at[1:]] != mask[at[:-1]]])
    if "position_ids" in read:
        positions = read["position_ids"].flat
        found.append(at[1:][positions[at[1:]] <= positions[at[:-1]]])
    return found[0] if len(found) == 1 else np.unique(np.concatenate(found))


def _begins_from(ends: Ints, n: int, mask: NDArray[Any] | None) -> Ints:
    """Return the starts that cu_seqlens names, counted in all positions or in the real ones."""
    total = int(ends[-1])
    at = np.arange(n)
    if mask is not None and total == np.count_nonzero(mask):
        at = np.flatnonzero(mask)
    if total > n:
        msg = (
            f"cu_seqlens ends at {total:,} and the batch holds {n:,} positions: give the bounds of "
            "this batch, of which the last is at most that"
        )
        raise ThroughputError(msg)
    return at[np.unique(ends[ends < len(at)])]  # what follows the last end is padding


def _lengths(layout: Rows, begins: Ints, mask: NDArray[Any] | None) -> Ints:
    """Return how many real positions each sequence has."""
    n = len(layout.flat)
    if mask is None:
        return np.diff(begins, append=n)
    kept = np.cumsum(mask.astype(bool))
    before = np.where(begins > 0, kept[begins - 1], 0)
    return np.diff(before, append=kept[-1] if n else 0)


def _scored(labels: NDArray[Any], layout: Rows, rules: Rules) -> NDArray[np.bool_]:
    """Return which targets the loss counts."""
    counted: NDArray[np.bool_] = labels != rules.ignore_index
    if not rules.shifted:
        counted[layout.starts] = False
    return counted
