"""Which rows have one of some words: asked of the categories, not of every row."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from stepviz.traces.table import Words

BoolArray = npt.NDArray[np.bool_]


def among(column: pd.Series[Any] | Words, words: Container[str]) -> BoolArray:
    """Return which rows of a column of categories are one of the words.

    For the few words of a frame of events this takes a tenth of the time of `isin`.
    """
    if isinstance(column, Words):
        return of_codes([word in words for word in column.categories], column.codes)
    values = column.array
    if not isinstance(values, pd.Categorical):
        return np.array([word in words for word in column], dtype=np.bool_)
    return of_codes([word in words for word in values.categories.tolist()], values.codes)


def of_codes(known: Sequence[bool] | BoolArray, codes: npt.NDArray[np.integer]) -> BoolArray:
    """Return what is known of each row's word, by the codes of words; False for −1."""
    table = np.zeros(len(known) + 1, dtype=np.bool_)
    table[:-1] = known
    found: BoolArray = table[codes] if table.any() else np.zeros(len(codes), dtype=np.bool_)
    return found
