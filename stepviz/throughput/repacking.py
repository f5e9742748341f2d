"""The same sequences in other rows: what packing does to a batch."""

from __future__ import annotations

from typing import Any

import numpy as np

from stepviz.errors import ThroughputError
from stepviz.throughput.batches import Ints, as_rows, fields_of
from stepviz.throughput.checks import whole
from stepviz.throughput.layouts import Batch, token_roles
from stepviz.throughput.tallies import IGNORED, Rules, read_layout


def repacked(
    batch: Any,
    per_row: int,
    *,
    ignore_index: int = IGNORED,
    pad_id: int | None = None,
    shifted: bool = False,
) -> Batch:
    """Return the sequences of a batch with so many of them in a row, and the padding left out.

    Parameters
    ----------
    batch : mapping
        As for `count_tokens`.
    per_row : int
        The most sequences in a row, taken in order. Rows are as wide as the widest needs.
    ignore_index, pad_id, shifted
        As for `count_tokens`.

    Returns
    -------
    dict
        `input_ids`, `attention_mask`, `position_ids` and, where the batch has them, `labels`,
        lists by row. Positions begin again with each sequence, and its first label is ignored
        where the model shifts: nothing in the sequence predicts it.

    Raises
    ------
    ThroughputError
        Where the batch has no real position.

    Examples
    --------
    >>> two = {"input_ids": [[5, 6, 0], [7, 8, 0]], "attention_mask": [[1, 1, 0], [1, 1, 0]]}
    >>> repacked(two, 2)["input_ids"]
    [[5, 6, 7, 8]]
    """
    most = whole(per_row, "per_row", least=1)
    fields = fields_of(batch)
    rules = Rules(ignore_index, pad_id, shifted)
    roles = token_roles(batch, ignore_index=ignore_index, pad_id=pad_id, shifted=shifted)
    real = (roles["role"] != "padding").to_numpy()
    if not real.any():
        msg = "every position of this batch is padding: there is no sequence to pack"
        raise ThroughputError(msg)
    sequence = roles["sequence"][real].to_numpy(dtype=np.int64)
    first = roles["first"].to_numpy()[real]
    place = _places(sequence // most)
    layout, _, _, labels = read_layout(fields, rules)
    ids = as_rows(fields["input_ids"], "input_ids").flat if "input_ids" in fields else layout.flat
    starts = np.flatnonzero(first)
    columns = {
        "input_ids": (ids[real], 0),
        "attention_mask": (np.ones(len(sequence), np.int64), 0),
        "position_ids": (np.arange(len(sequence)) - starts[sequence], 0),
    }
    if labels is not None:
        kept = labels[real].astype(np.int64)
        if not shifted:
            kept[first] = ignore_index
        columns["labels"] = (kept, ignore_index)
    return {name: _grid(values, place, empty) for name, (values, empty) in columns.items()}


def _places(row: Ints) -> tuple[Ints, Ints]:
    """Return the row and the column of each position."""
    begins = np.flatnonzero(np.diff(row, prepend=-1))
    return row, np.arange(len(row)) - begins[row]


def _grid(values: Any, place: tuple[Ints, Ints], empty: int) -> list[list[int]]:
    row, column = place
    grid = np.full((int(row[-1]) + 1, int(column.max()) + 1), empty, np.int64)
    grid[row, column] = values
    rows: list[list[int]] = grid.tolist()
    return rows
