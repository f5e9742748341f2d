"""Completion over the bucket cap, and the two costs that bend it into a U."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd

from stepviz.builders.arguments import as_amount, as_list
from stepviz.builders.bucket_rules import MIB, Limits, launched, ready_places
from stepviz.builders.contention import Contention
from stepviz.builders.cost_fits import ExtrapolationWarning
from stepviz.builders.costs import as_cost
from stepviz.builders.ddp_steps import DEFAULT_COST, ddp
from stepviz.builders.parameters import Gradient, gradients_of, recorded_buckets, recorded_frame
from stepviz.core.timeline import Timeline
from stepviz.errors import CostError, TimelineError

#: Caps that are tried where none are given.
_POINTS: Final = 33
#: From this part of all bytes on.
_LEAST: Final = 1 / 256

SWEEP_COLUMNS: Final = (
    "buckets",
    "completion",
    "backward_end",
    "exposed",
    "queued",
    "last_transfer",
    "overhead",
    "last_bytes",
    "over_best",
    "near_best",
)


def bucket_sweep(
    parameters: Any,
    caps: Iterable[float] | None = None,
    *,
    backward: float,
    forward: float = 0.0,
    optimizer: float = 0.0,
    first_bucket_mb: float | None = None,
    cost: Any = None,
    contention: Contention | None = None,
    within: float = 0.01,
) -> pd.DataFrame:
    """Return the step's completion at each bucket cap, with what makes it longer.

    Small buckets are many, and each pays the latency of a collective; where the link can't keep up,
    the last one queues behind the others when backward ends (`queued`). Large buckets leave much
    to send after backward (`last_transfer`). The two add up to the exposed tail.

    Parameters
    ----------
    parameters : number, sequence or mapping
        As for `ddp`.
    caps : iterable of float, optional
        MiB; from a 256th of all bytes to all of them unless given.
    backward, forward, optimizer, first_bucket_mb, cost
        As for `ddp`.
    contention : Contention, optional
        How compute and exchange slow each other.
    within : float
        How near to the best completion counts as near.

    Returns
    -------
    DataFrame
        Indexed by `cap_mb`: `buckets`; `completion`, `backward_end`, `exposed`, `queued`,
        `last_transfer` (ms); `overhead`, all latencies together, ms, NaN where the cost of no bytes
        is not known; `last_bytes`, of the last
        bucket; `over_best`, ms more than the least completion; `near_best`, whether it is within so
        much of that.

    Raises
    ------
    TimelineError, CostError
        As `ddp`.

    Examples
    --------
    The best of few large and many small buckets of 500 MB on a link of 10 GB/s:

    >>> from stepviz.builders.costs import AlphaBeta
    >>> cost = AlphaBeta(latency=0.5, bandwidth=10)
    >>> caps = [500e6 / 2**20 / k for k in (1, 100, 200)]
    >>> sweep = bucket_sweep([2.5e6] * 200, caps, backward=100, cost=cost)
    >>> sweep[["buckets", "completion"]].round(6).values.tolist()
    [[200.0, 150.5], [100.0, 101.0], [1.0, 150.5]]
    """
    asked = as_amount(within, "within", "a share of the completion")
    if isinstance(parameters, Iterator):
        parameters = list(parameters)  # it is read once per cap
    gradients = gradients_behind(parameters)
    tried = default_caps(gradients) if caps is None else _sorted(caps)
    if not tried:
        msg = "caps is empty: give some MiB, such as [1, 5, 25, 100]"
        raise TimelineError(msg)
    latency = _latency(cost)
    known: dict[tuple[int, ...], dict[str, float]] = {}
    rows = []
    for cap in tried:
        cut = _cut(gradients, cap, first_bucket_mb)
        if cut not in known:
            step: Timeline = ddp(
                parameters,
                backward=backward,
                forward=forward,
                optimizer=optimizer,
                bucket_cap_mb=cap,
                first_bucket_mb=first_bucket_mb,
                cost=cost,
            )
            known[cut] = _measured(step if contention is None else step.apply(contention))
            known[cut]["buckets"] = len(cut)
            known[cut]["overhead"] = latency * len(cut)
            known[cut]["last_bytes"] = _last_bytes(gradients, cap, first_bucket_mb)
        rows.append(known[cut])
    index = pd.Index(tried, name="cap_mb", dtype="float64")
    table = pd.DataFrame(rows, index=index)
    least = table["completion"].min()
    table["over_best"] = table["completion"] - least
    table["near_best"] = table["completion"] <= least * (1 + asked)
    return table[list(SWEEP_COLUMNS)].astype({"buckets": "int64"})


def default_caps(gradients: Sequence[Gradient], points: int = _POINTS) -> list[float]:
    """Return caps, MiB, from a 256th of all bytes to all of them, evenly on a logarithmic scale."""
    total = math.fsum(gradient.nbytes for gradient in gradients) / MIB
    if total <= 0:
        msg = (
            "parameters hold no bytes in all, so there is nothing to exchange: give their sizes "
            "in bytes"
        )
        raise TimelineError(msg)
    spaced = np.geomspace(total * _LEAST, total, points)
    return [float(f"{cap:.3g}") for cap in spaced[:-1]] + [float(f"{total * 1.001:.4g}")]


def last_bucket(
    parameters: Any, cap_mb: float, first_bucket_mb: float | None = None
) -> tuple[float, Gradient]:
    """Return the bytes of the bucket that is launched last, and the largest gradient in it.

    A gradient is never split, so no cap makes that bucket smaller than it.
    """
    gradients = gradients_behind(parameters)
    last = _launched(gradients, cap_mb, first_bucket_mb)[-1]
    held = [gradients[k] for k in last]
    return math.fsum(one.nbytes for one in held), max(held, key=lambda one: one.nbytes)


def gradients_behind(parameters: Any) -> tuple[Gradient, ...]:
    """Return gradients in registration order, of parameters or of a captured step's buckets."""
    frame = recorded_frame(parameters)
    # recorded buckets are in launch order, the reverse of registration
    return gradients_of(parameters) if frame is None else recorded_buckets(frame).gradients[::-1]


def _launched(gradients: Sequence[Gradient], cap: float, first: float | None) -> list[list[int]]:
    order = ready_places(gradients, None)
    return launched(gradients, order, Limits.of(cap, first), find_unused_parameters=False)


def _cut(gradients: Sequence[Gradient], cap: float, first: float | None) -> tuple[int, ...]:
    return tuple(len(bucket) for bucket in _launched(gradients, cap, first))


def _last_bytes(gradients: Sequence[Gradient], cap: float, first: float | None) -> float:
    return math.fsum(gradients[k].nbytes for k in _launched(gradients, cap, first)[-1])


def _latency(cost: Any) -> float:
    model = DEFAULT_COST if cost is None else as_cost(cost)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExtrapolationWarning)  # no bytes are never measured
        try:
            return model.ms(0.0)
        except CostError:
            return math.nan  # a caller's function need not know no bytes


def _measured(step: Timeline) -> dict[str, float]:
    """Return when a step ends and what its exposed tail is made of."""
    solved = step.schedule().table
    kinds = step.phases["kind"]
    backward_end = float(solved.loc[kinds == "backward", "finish"].max())
    exchanges = solved.loc[kinds == "exchange"]
    last = exchanges.iloc[-1]
    exposed = max(float(last["finish"]) - backward_end, 0.0)
    queued = min(max(float(last["start"]) - backward_end, 0.0), exposed)
    return {
        "completion": float(step.completion),
        "backward_end": backward_end,
        "exposed": exposed,
        "queued": queued,
        "last_transfer": exposed - queued,
    }


def _sorted(caps: Any) -> list[float]:
    asked = as_list(caps, "caps", "a list of MiB, such as [1, 5, 25, 100]")
    return sorted({as_amount(cap, "a cap", "MiB") for cap in asked})
