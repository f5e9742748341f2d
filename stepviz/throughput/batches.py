"""Batches as people have them: lists, numpy, pandas or torch; read without importing torch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from stepviz.errors import ThroughputError, near

Ints = NDArray[np.int64]

#: What a batch may hold for us, and other names under which trainers hand it over.
FIELDS: Final = (
    "input_ids",
    "labels",
    "attention_mask",
    "position_ids",
    "cu_seqlens",
    "loss_mask",
)
_OTHER_NAMES: Final = {
    "cu_seqlens": ("cu_seq_lens_q", "cu_seqlens_q"),
    "input_ids": ("tokens", "input"),
}


#: What masks of more dimensions are.
WHO_SEES_WHOM: Final = (
    "this attention_mask says who sees whom: give the mask of the tokenizer, one number per "
    "position, 1 where it is real and 0 where it is padding"
)

#: Names that only `fields_of` knows what to do with, and `cu_seqlens`, which spans rows.
OTHER_NAMES: Final = frozenset(chain(("cu_seqlens",), *_OTHER_NAMES.values()))


@dataclass(frozen=True)
class Rows:
    """A field of a batch: its values, row after row, and each row's length."""

    flat: NDArray[Any]
    lengths: Ints

    @property
    def starts(self) -> Ints:
        """Where each row that is not empty begins in `flat`."""
        ends = np.cumsum(self.lengths)
        return (ends - self.lengths)[self.lengths > 0]


def fields_of(batch: Any) -> dict[str, Any]:
    """Return what a batch holds under our own names; a bare array is its input_ids.

    Raises
    ------
    ThroughputError
        Where there is nothing in it to count.
    """
    if isinstance(batch, pd.DataFrame):
        held: Mapping[Any, Any] = {name: batch[name] for name in batch.columns}
        if not any(name in held for name in _every_name()):
            return {"input_ids": batch}
    elif isinstance(batch, Mapping):
        held = batch
    else:
        _refuse_pairs(batch)
        return {"input_ids": batch}
    found = {}
    for name in FIELDS:
        for key in (name, *_OTHER_NAMES.get(name, ())):
            if held.get(key) is not None:
                found[name] = held[key]
                break
    if not found:
        keys = ", ".join(repr(key) for key in list(held)[:6]) or "nothing"
        msg = (
            f"a batch with {keys} has no tokens to count: give some of "
            f"{', '.join(FIELDS)}; for the first key {near(next(iter(held), ''), FIELDS)}"
        )
        raise ThroughputError(msg)
    return found


def _refuse_pairs(batch: Any) -> None:
    """Refuse what a loader yields as (ids, labels): both would be counted as positions."""
    if not isinstance(batch, list | tuple) or len(batch) < 2:
        return
    sizes = [getattr(part, "ndim", 0) for part in batch]
    pair = isinstance(batch, tuple) and len(batch) == 2 and all(sizes)
    keyed = any(isinstance(part, Mapping) for part in batch)
    if keyed or pair or max(sizes) > 1:
        msg = (
            f"a {type(batch).__name__} of {len(batch)} does not say what its parts are: give "
            "{'input_ids': …, 'labels': …}, or input_ids= and labels= by name"
        )
        raise ThroughputError(msg)


def _every_name() -> list[str]:
    return [*FIELDS, *chain.from_iterable(_OTHER_NAMES.values())]


def as_rows(value: Any, name: str) -> Rows:
    """Return a field as rows: of a grid, of rows of several lengths, or of one row.

    Raises
    ------
    ThroughputError
        Where it holds no whole numbers, or is nested otherwise.
    """
    plain = _plain(value, name)
    if isinstance(plain, np.ndarray):
        if name == "attention_mask" and plain.ndim > 3:
            raise ThroughputError(WHO_SEES_WHOM)
        return _grid(plain, name)
    if not len(plain) or not _is_nested(plain[0]):
        return _grid(_array(plain, name), name)
    if all(type(row) is list for row in plain):
        lengths = np.fromiter(map(len, plain), np.int64, len(plain))
        values = list(chain.from_iterable(plain))
        if not values or not _is_nested(values[0]):
            return Rows(_whole(_array(values, name), name), lengths)
    if all(type(row) is np.ndarray and row.ndim == 1 for row in plain):
        lengths = np.fromiter(map(len, plain), np.int64, len(plain))
        return Rows(_whole(np.concatenate(plain), name), lengths)
    parts = [as_rows(row, name) for row in plain]
    flat = np.concatenate([part.flat for part in parts])
    return Rows(flat, np.concatenate([part.lengths for part in parts]))


def _plain(value: Any, name: str) -> NDArray[Any] | Sequence[Any]:
    """Take a value out of its library: an array, or a sequence of values or of rows."""
    if getattr(value, "is_nested", False) is True:
        return list(value.unbind())  # torch's rows of several lengths
    if hasattr(value, "detach") and hasattr(value, "cpu"):
        try:
            value = value.detach().cpu()
            if str(getattr(value, "dtype", "")) == "torch.bfloat16":
                value = value.float()  # numpy has no such type; a mask's 0 and 1 stay what they are
            return np.asarray(value)
        except (NotImplementedError, RuntimeError, TypeError) as error:
            # Which of them torch raises depends on whether it is sparse, nested or quantized.
            msg = f"{name} cannot be read ({str(error).splitlines()[0]}): give a dense tensor"
            raise ThroughputError(msg) from None
    if isinstance(value, pd.DataFrame | pd.Series | pd.Index):
        value = value.to_numpy()
    if isinstance(value, np.ndarray):
        return list(value) if value.dtype == object else value
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        return np.asarray(None)
    return value if isinstance(value, Sequence) else list(value)


def _is_nested(item: Any) -> bool:
    return not isinstance(item, str | bytes) and (
        isinstance(item, Sequence) or getattr(item, "ndim", 0) > 0
    )


def _array(values: Sequence[Any], name: str) -> NDArray[Any]:
    if not len(values):
        return np.zeros(0, np.int64)
    try:
        return np.asarray(values)
    except (ValueError, TypeError):
        msg = f"{name} mixes numbers and lists: give one row, or rows of numbers"
        raise ThroughputError(msg) from None


def _grid(array: NDArray[Any], name: str) -> Rows:
    if array.ndim == 0:
        msg = f"{name} holds no positions: give a row of numbers, or rows of them"
        raise ThroughputError(msg)
    array = _whole(array, name)
    rows = int(np.prod(array.shape[:-1], dtype=np.int64))
    return Rows(array.reshape(-1), np.full(rows, array.shape[-1], np.int64))


def _whole(array: NDArray[Any], name: str) -> NDArray[Any]:
    """Return an array of whole numbers, or of bools; refuse text and fractions."""
    if array.dtype.kind in "biu":
        return array
    if array.dtype == object and array.size:
        array = np.asarray(array.tolist())
    if array.dtype.kind in "biu":
        return array
    if array.dtype.kind == "f":
        if name == "attention_mask" and array.size and float(array.min()) < 0:
            msg = (
                "this attention_mask is added to scores: give the mask of the tokenizer, 1 where a "
                "position is real and 0 where it is padding"
            )
            raise ThroughputError(msg)
        if bool(np.all(np.isfinite(array))) and bool(np.all(array == np.rint(array))):
            return array.astype(np.int64)
    msg = f"{name} holds {_odd(array)}: give whole numbers"
    raise ThroughputError(msg)


def _odd(array: NDArray[Any]) -> str:
    if array.dtype.kind == "f":
        odd = array.reshape(-1)
        return repr(float(odd[~(np.isfinite(odd) & (odd == np.rint(odd)))][0]))
    return f"values of type {array.dtype}"
