"""Counting a batch: positions, padding, targets after the shift, packed sequences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np
import pandas as pd

from stepviz.errors import ThroughputError
from stepviz.throughput.batches import FIELDS, fields_of
from stepviz.throughput.checks import flag, whole
from stepviz.throughput.scopes import known_scope
from stepviz.throughput.streams import sum_of
from stepviz.throughput.tallies import IGNORED, Rules, Tally, tally_of
from stepviz.throughput.token_counts import TokenCounts

_NO_MASK: Final = "no attention_mask and no pad_id were given: every position is taken as real"


def tokens_per_update(
    *, sequence: int, dp: int = 1, microbatch: int = 1, accumulation: int = 1
) -> int:
    """Return the allocated positions of one update of all data-parallel ranks.

    Parameters
    ----------
    sequence : int
        Positions in a row, padding included.
    dp : int
        Data-parallel ranks. Tensor-, context- and pipeline-parallel ranks share their tokens and
        do not multiply them: with 64 devices and TP 8, dp is 8.
    microbatch : int
        Rows that one rank runs at a time.
    accumulation : int
        Microbatches in an update.

    Returns
    -------
    int
        dp × microbatch × accumulation × sequence.

    Examples
    --------
    >>> tokens_per_update(dp=4, microbatch=2, accumulation=8, sequence=2048)
    131072
    """
    factors = {
        "sequence": sequence,
        "dp": dp,
        "microbatch": microbatch,
        "accumulation": accumulation,
    }
    product = 1
    for name, value in factors.items():
        product *= whole(value, name, least=1)
    return product


def count_tokens(
    batch: Any = None,
    *,
    input_ids: Any = None,
    labels: Any = None,
    attention_mask: Any = None,
    position_ids: Any = None,
    cu_seqlens: Any = None,
    loss_mask: Any = None,
    scope: str | None = None,
    seconds: float | None = None,
    updates: int | None = None,
    pad_id: int | None = None,
    ignore_index: int = IGNORED,
    shifted: bool = False,
    skips_padding: bool = False,
) -> TokenCounts:
    """Count a batch, or many, under every name that is called "tokens".

    Parameters
    ----------
    batch : mapping, DataFrame, array, or iterable of them, optional
        A batch under the usual keys, or an iterable of batches, such as a data loader, which is
        read once and never held. A bare array is the input_ids.
    input_ids, labels, attention_mask, position_ids, cu_seqlens : array-like, optional
        The same, one by one: lists, rows of several lengths, numpy, pandas or torch. A mask with
        numbers above 1 numbers the sequences packed into a row. Where position_ids stop rising a
        new sequence begins.
    loss_mask : array-like, optional
        Which labels count, as Megatron's loader gives it beside them: those where it is not 0.
        Without labels it stands for them.
    scope : {"microbatch", "update", "run"}, optional
        What all of it is: unless given, one batch is a microbatch and an iterable a run.
    seconds : float, optional
        The interval of the same scope, s.
    updates : int, optional
        Updates in a run.
    pad_id : int, optional
        The id of padding, where there is no mask.
    ignore_index : int
        The label that is not scored.
    shifted : bool
        Whether labels are shifted already, as Megatron's loader does: then a row's first label is
        a target too.
    skips_padding : bool
        Whether the kernels skip padding, so that only real positions are executed.

    Returns
    -------
    TokenCounts
        `scored` is None without labels. Each row's first label is no target, because the model
        predicts it from nothing; labels of a packed sequence's first position that are not
        ignored are scored, and noted, since they cross the boundary.

    Raises
    ------
    ThroughputError
        Where shapes do not fit, or there is nothing to count; of many batches it says which.

    Examples
    --------
    >>> count_tokens(
    ...     input_ids=[[5, 6, 7, 0], [8, 9, 3, 0]],
    ...     attention_mask=[[1, 1, 1, 0], [1, 1, 1, 0]],
    ...     labels=[[-100, -100, 7, -100], [-100, -100, 3, -100]],
    ... )
    TokenCounts(allocated=8, real=6, executed=8, scored=2, sequences=2, squared_lengths=18,
    microbatches=1, scope='microbatch')
    """
    given = {
        "input_ids": input_ids,
        "labels": labels,
        "attention_mask": attention_mask,
        "position_ids": position_ids,
        "cu_seqlens": cu_seqlens,
        "loss_mask": loss_mask,
    }
    alone = {name: value for name, value in given.items() if value is not None}
    skips = flag(skips_padding, "skips_padding")
    rules = Rules(ignore_index, pad_id, shifted)
    if (batch is None) == (not alone):
        msg = f"give a batch, or some of {', '.join(FIELDS)} by name: one of the two"
        raise ThroughputError(msg)
    several = alone == {} and _is_several(batch)
    if several:
        tally, number = sum_of(batch, rules)
    else:
        tally, number = tally_of(alone or fields_of(batch), rules), 1
    if scope is None:
        scope = "run" if several else "microbatch"
    elif known_scope(scope) == "microbatch" and number > 1:
        msg = f"{number:,} batches are no microbatch: their scope is 'update' or 'run'"
        raise ThroughputError(msg)
    return TokenCounts(
        allocated=tally.allocated,
        real=tally.real,
        executed=tally.real if skips else tally.allocated,
        scored=tally.scored,
        sequences=tally.sequences,
        squared_lengths=tally.squared_lengths,
        updates=updates,
        scope=scope,
        seconds=seconds,
        microbatches=number,
        notes=_notes(tally),
    )


def _is_several(batch: Any) -> bool:
    """Whether this is an iterable of batches, rather than a batch or an array."""
    if isinstance(batch, Mapping | pd.DataFrame | pd.Series | np.ndarray):
        return False
    if hasattr(batch, "detach"):
        return False
    if isinstance(batch, list | tuple):
        return bool(batch) and all(isinstance(one, Mapping | pd.DataFrame) for one in batch)
    return isinstance(batch, Iterable) and not isinstance(batch, str | bytes)


def _notes(tally: Tally) -> tuple[str, ...]:
    notes = []
    if tally.unmasked:
        notes.append(_NO_MASK)
    if tally.single:
        notes.append(
            f"{tally.single:,} of the sequences that position_ids begin have one position: if they "
            "are padding, give attention_mask, pad_id or cu_seqlens"
        )
    if tally.crossing:
        notes.append(
            f"{tally.crossing:,} scored targets are the first of a packed sequence, so they are "
            "predicted across its boundary: set their labels to the ignored one"
        )
    if tally.in_padding:
        notes.append(
            f"{tally.in_padding:,} scored targets are padding, and the loss counts them: set their "
            "labels to the ignored one"
        )
    return tuple(notes)
