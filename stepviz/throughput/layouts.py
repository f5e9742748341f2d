"""Batches token by token: what each position is, and small batches made to be looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pandas as pd

from stepviz.errors import ThroughputError
from stepviz.indices import as_index
from stepviz.throughput.batches import fields_of
from stepviz.throughput.checks import whole
from stepviz.throughput.tallies import IGNORED, Rules, read_layout

#: What a position can be.
ROLES: Final = ("prompt", "completion", "padding")

#: The lesson's two batches, of 8 and 6 positions, take 4 and 3 ms.
LESSON_MS_PER_POSITION: Final = 0.5

Batch = dict[str, list[list[int]]]


def token_roles(
    batch: Any, *, ignore_index: int = IGNORED, pad_id: int | None = None, shifted: bool = False
) -> pd.DataFrame:
    """Return what each position of a batch is: the masks, drawn token by token.

    Parameters
    ----------
    batch : mapping
        As for `count_tokens`.
    ignore_index, pad_id, shifted
        As for `count_tokens`.

    Returns
    -------
    DataFrame
        One row per position: `row`, `position`, `sequence` (which of the packed ones, missing for
        padding), `role` (prompt, completion, padding), `scored` (its label is a target that the
        loss counts), `first` (of its sequence). Without labels nothing is scored and what is no
        padding is prompt.

    Examples
    --------
    >>> batch = {
    ...     "input_ids": [[5, 6, 7, 0]],
    ...     "attention_mask": [[1, 1, 1, 0]],
    ...     "labels": [[-100, 6, 7, -100]],
    ... }
    >>> token_roles(batch)["role"].tolist()
    ['prompt', 'completion', 'completion', 'padding']
    """
    rules = Rules(ignore_index, pad_id, shifted)
    layout, begins, mask, labels = read_layout(fields_of(batch), rules)
    n = len(layout.flat)
    real = np.ones(n, bool) if mask is None else mask.astype(bool)
    row = np.repeat(np.arange(len(layout.lengths)), as_index(layout.lengths))
    starts = np.cumsum(layout.lengths) - layout.lengths
    opened = np.zeros(n, bool)
    opened[begins] = True
    part = np.cumsum(opened) - 1
    used, sequence = np.unique(part[real], return_inverse=True)
    first = np.zeros(n, bool)
    at = np.flatnonzero(real)
    if len(at):
        first[at[np.concatenate(([True], np.diff(part[at]) > 0))]] = True
    labelled = np.zeros(n, bool)
    if labels is not None:
        labelled = labels != ignore_index
    scored = labelled.copy()
    if not shifted:
        scored[layout.starts] = False
    numbered = pd.array(np.full(n, len(used)), dtype="Int64")
    numbered[at] = sequence
    numbered[~real] = pd.NA
    return pd.DataFrame(
        {
            "row": row,
            "position": np.arange(n) - starts[row],
            "sequence": numbered,
            "role": np.where(real, np.where(labelled, "completion", "prompt"), "padding"),
            "scored": scored,
            "first": first,
        }
    )


def made_batch(prompts: Sequence[int], completions: Sequence[int], *, length: int) -> Batch:
    """Return a batch of sequences with the given lengths of prompt and completion, a row each.

    Parameters
    ----------
    prompts, completions : sequence of int
        Positions of each sequence; the prompt's are not scored.
    length : int
        Positions in a row; what a sequence leaves is padding.

    Returns
    -------
    dict
        `input_ids`, `labels`, `attention_mask`, `position_ids`, lists by row.
    """
    asked = [whole(p, "a prompt's length") for p in prompts]
    given = [whole(c, "a completion's length") for c in completions]
    if len(asked) != len(given) or not asked:
        msg = f"{len(asked)} prompts and {len(given)} completions: one of each per sequence"
        raise ThroughputError(msg)
    sizes = [p + c for p, c in zip(asked, given, strict=True)]
    room = whole(length, "length", least=1)
    if max(sizes) > room:
        msg = (
            f"a sequence of {max(sizes)} positions does not fit into a row of {room}: give a "
            "length of so many"
        )
        raise ThroughputError(msg)
    batch: Batch = {"input_ids": [], "labels": [], "attention_mask": [], "position_ids": []}
    token = 1
    for prompt, size in zip(asked, sizes, strict=True):
        ids = list(range(token, token + size))
        token += size
        labels = [IGNORED] * prompt + ids[prompt:]
        if size:
            labels[0] = IGNORED  # nothing before it predicts it
        padding = room - size
        batch["input_ids"].append(ids + [0] * padding)
        batch["labels"].append(labels + [IGNORED] * padding)
        batch["attention_mask"].append([1] * size + [0] * padding)
        batch["position_ids"].append(list(range(size)) + [0] * padding)
    return batch
