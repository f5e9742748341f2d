"""One set of token losses under every denominator in use."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from stepviz.errors import ThroughputError
from stepviz.throughput.checks import real, whole

_USED = {
    "all targets": "right for a mean over targets: global count, over microbatches and ranks",
    "microbatch means": "accumulation that averages averages: trainers before October 2024",
    "rank means": "each rank divides by its own count: average_tokens_across_devices=False",
    "unshifted labels": "labels counted before the shift: one too many per row",
    "rank, its targets": "what one rank logs, its own count",
    "rank, its microbatch means": "what one rank logs, averaging averages",
}


def loss_denominators(losses: Any, *, rows: int = 1) -> pd.DataFrame:
    """Return one update's loss under each reduction in use, for the same token losses.

    Parameters
    ----------
    losses : list of list of list of float
        Loss of each scored target, by rank, by microbatch.
    rows : int
        Rows in a microbatch: an unshifted count has one label too many in each.

    Returns
    -------
    DataFrame
        Indexed by reduction: `value`, `total` and `denominator` where it is one quotient,
        `rank` where it is one rank's, `used` (who does that). A microbatch without targets has no
        mean, so a mean of means over it is NaN, as it is in a trainer.

    Raises
    ------
    ThroughputError
        Where there are no losses, or they are not nested like that.

    Examples
    --------
    >>> table = loss_denominators([[[2, 2, 2, 2], [6]], [[1, 1, 1], [5]]])
    >>> table["value"].head(4).round(3).tolist()
    [2.444, 3.5, 2.4, 1.692]
    """
    ranks = [_microbatches(rank, i) for i, rank in enumerate(_listed(losses, "losses"))]
    extra = whole(rows, "rows", least=1)
    flat = [loss for rank in ranks for batch in rank for loss in batch]
    if not flat:
        msg = "there is no loss in losses: give those of each rank's microbatches"
        raise ThroughputError(msg)
    total = math.fsum(flat)
    unshifted = len(flat) + extra * sum(len(rank) for rank in ranks)
    found: list[dict[str, Any]] = [
        _row("all targets", total / len(flat), total, len(flat)),
        _row("microbatch means", _mean([_mean(batch) for rank in ranks for batch in rank])),
        _row("rank means", _mean([_mean(_joined(rank)) for rank in ranks])),
        _row("unshifted labels", total / unshifted, total, unshifted),
    ]
    for i, rank in enumerate(ranks):
        own = _joined(rank)
        found += [
            _row("rank, its targets", _mean(own), math.fsum(own), len(own), rank=i),
            _row("rank, its microbatch means", _mean([_mean(b) for b in rank]), rank=i),
        ]
    table = pd.DataFrame(found).set_index("reduction")
    return table.astype({"rank": "Int64", "denominator": "Int64"})


def _row(
    reduction: str,
    value: float,
    total: float | None = None,
    denominator: int | None = None,
    rank: int | None = None,
) -> dict[str, Any]:
    return {
        "reduction": reduction,
        "value": value,
        "total": total,
        "denominator": denominator,
        "rank": rank,
        "used": _USED[reduction],
    }


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


def _joined(batches: list[list[float]]) -> list[float]:
    return [loss for batch in batches for loss in batch]


def _microbatches(rank: Any, number: int) -> list[list[float]]:
    return [
        [real(loss, f"a loss of rank {number}") for loss in _listed(batch, "a microbatch")]
        for batch in _listed(rank, f"rank {number}")
    ]


def _listed(value: Any, name: str) -> list[Any]:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, str) or not isinstance(value, Iterable):
        msg = (
            f"{name} is {value!r}: give lists of token losses, by rank and by microbatch, such as "
            "[[[2.0, 2.0], [6.0]], [[1.0]]]"
        )
        raise ThroughputError(msg)
    return list(value)
