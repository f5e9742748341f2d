"""Columns of equal length by name: what a frame is, where it is asked for too often to be one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

Rows = npt.NDArray[np.integer] | npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Words:
    """A column of words, each by its place in a list of different ones."""

    codes: npt.NDArray[np.integer]
    categories: Sequence[str]

    def __len__(self) -> int:
        return len(self.codes)

    def __iter__(self) -> Iterator[str]:
        return (self.categories[code] for code in self.codes.tolist())

    def __getitem__(self, rows: Rows) -> Words:
        return Words(self.codes[rows], self.categories)

    def categorical(self) -> pd.Categorical[Any]:
        """Return the same as frames hold it."""
        dtype: pd.CategoricalDtype[Any] = pd.CategoricalDtype(pd.Index(list(self.categories)))
        return pd.Categorical.from_codes(self.codes, dtype=dtype, validate=False)


class Table:
    """Named columns of equal length, arrays or `Words`, that are never written to.

    To make a frame, or to ask one for a column, takes as long as to look at thousands of rows,
    and a trace is asked some 200 times while it is read. People are given frames.

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

    def take(self, rows: Rows) -> Table:
        """Return some rows, by their places or by flags."""
        return Table({name: column[rows] for name, column in self._columns.items()})

    def assign(self, **columns: Any) -> Table:
        """Return the same with more columns, or with others of the same names."""
        return Table({**self._columns, **columns})

    def frame(self, index: pd.Index[Any] | None = None, *, copy: bool = True) -> pd.DataFrame:
        """Return a frame of the same columns, its rows by default by number.

        Parameters
        ----------
        index
            Labels of the rows.
        copy
            If not, whoever writes into the frame writes into the table: for frames that nobody
            is given.
        """
        columns = {
            name: column.categorical() if isinstance(column, Words) else column
            for name, column in self._columns.items()
        }
        # The constructor's own copy leaves out arrays of texts.
        frame = pd.DataFrame(columns, index=index, copy=False)
        return frame.copy() if copy else frame
