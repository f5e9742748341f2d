"""Batches token by token: what each position is, and small batches made to be looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pandas as pd

from stepviz.errors import ThroughputError
from stepviz.indices import as_index
from stepviz.throughput.batches import fields_of
from stepviz.throughput.checks import share, whole
from stepviz.throughput.tallies import IGNORED, Rules, read_layout

#: What a position can be.
ROLES: Final = ("prompt", "completion", "padding")

#: The lesson's two batches take so long, ms, which is as long per position that is run over.
LESSON_MS: Final = {"padded": 4.0, "packed": 3.0}
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


def made_batch(
    prompts: Sequence[int],
    completions: Sequence[int],
    *,
    length: int | None = None,
    packed: bool = False,
) -> Batch:
    """Return a batch of sequences with the given lengths of prompt and completion.

    Parameters
    ----------
    prompts, completions : sequence of int
        Positions of each sequence; the prompt's are not scored.
    length : int, optional
        Positions in a row; those of the longest row unless given.
    packed : bool
        Whether sequences follow one another in a row, as many as fit, with positions that begin
        again; otherwise each has a row of its own, padded to `length`.

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
    widest = max(sum(sizes) if packed else 0, *sizes)
    room = widest if length is None else whole(length, "length", least=1)
    if max(sizes) > room:
        msg = (
            f"a sequence of {max(sizes)} positions does not fit into a row of {room}: give a "
            "length of so many"
        )
        raise ThroughputError(msg)
    rows: list[list[int]] = []  # numbers of sequences in a row
    left = 0
    for i, size in enumerate(sizes):
        if not packed or not rows or size > left:
            rows.append([])
            left = room
        rows[-1].append(i)
        left -= size
    batch: Batch = {"input_ids": [], "labels": [], "attention_mask": [], "position_ids": []}
    token = 1
    for members in rows:
        ids: list[int] = []
        labels: list[int] = []
        positions: list[int] = []
        for i in members:
            own = list(range(token, token + sizes[i]))
            token += sizes[i]
            ids += own
            labels += [IGNORED] * asked[i] + own[asked[i] :]
            positions += range(sizes[i])
            if not asked[i] and sizes[i]:
                labels[-sizes[i]] = IGNORED  # nothing before it in its sequence predicts it
        padding = room - len(ids)
        batch["attention_mask"].append([1] * len(ids) + [0] * padding)
        batch["input_ids"].append(ids + [0] * padding)
        batch["labels"].append(labels + [IGNORED] * padding)
        batch["position_ids"].append(positions + [0] * padding)
    return batch


def lesson_batches() -> dict[str, Batch]:
    """Return the lesson's fixture: the same two sequences, padded and packed.

    8 positions in 4 ms and 6 in 3 ms (`LESSON_MS`), with the same 2 scored targets.
    """
    return {
        "padded": made_batch([2, 2], [1, 1], length=4),
        "packed": made_batch([2, 2], [1, 1], packed=True),
    }


def slider_batch(
    *,
    rows: int = 4,
    length: int = 16,
    padding: float = 0.25,
    prompt: float = 0.5,
    packed: bool = False,
) -> Batch:
    """Return a batch with about these shares, for whoever turns a knob.

    Parameters
    ----------
    rows, length : int
        Sequences, and positions in a row.
    padding : float
        Share of a row that is padding on average; lengths are spread evenly about it.
    prompt : float
        Share of each sequence that is prompt.
    packed : bool
        Whether sequences share rows of that length.
    """
    rows = whole(rows, "rows", least=1)
    length = whole(length, "length", least=2)
    mean = length * (1 - share(padding, "padding"))
    spread = min(mean - 1, length - mean) if mean > 1 else 0
    steps = np.linspace(-1, 1, rows) if rows > 1 else np.zeros(1)
    sizes = np.clip(np.rint(mean + spread * steps), 1, length).astype(int)
    prompts = np.clip(np.rint(sizes * share(prompt, "prompt")), 0, sizes).astype(int)
    return made_batch(prompts.tolist(), (sizes - prompts).tolist(), length=length, packed=packed)
