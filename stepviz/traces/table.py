"""Columns of equal length by name: what a frame is, where it is asked for too often to be one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd


class Table:
    """Named columns of equal length, arrays or categories, that are never written to.

    To make a frame or to ask it for a column takes as long as to look at thousands of rows, which
    is most of the time that a small trace takes. People are given frames.

    Parameters
    ----------
    columns
        By name.
    """

    __slots__ = ("_columns",)

    def __init__(self, columns: Mapping[str, Any]) -> None:
        self._columns = dict(columns)

    def __getitem__(self, name: str) -> Any:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        """How many rows there are."""
        return len(next(iter(self._columns.values()), ()))

    def take(self, rows: npt.NDArray[np.integer] | npt.NDArray[np.bool_]) -> Table:
        """Return some rows, by their places or by flags."""
        return Table({name: column[rows] for name, column in self._columns.items()})

    def assign(self, **columns: Any) -> Table:
        """Return the same with more columns, or with others of the same names."""
        return Table({**self._columns, **columns})

    def frame(self, index: pd.Index[Any] | None = None) -> pd.DataFrame:
        """Return a frame of the same columns, its rows by default by number; nothing is copied."""
        return pd.DataFrame(self._columns, index=index, copy=False)
