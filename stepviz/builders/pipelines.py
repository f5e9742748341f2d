"""Pipeline-parallel steps: microbatches through stages under a named schedule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd

from stepviz.builders.arguments import as_amount, as_choice, as_count, as_list, as_ms, each_ms
from stepviz.builders.built import BuiltTimeline, held
from stepviz.builders.passes import COMPUTE
from stepviz.builders.pipeline_orders import SCHEDULES, B, F, Order, W, in_flight, stage_order
from stepviz.core.checks import as_real
from stepviz.core.timeline import Timeline
from stepviz.core.vocabulary import COMPUTE as COMPUTE_KINDS
from stepviz.errors import TimelineError
from stepviz.indices import as_index

Schedule = Literal["gpipe", "1f1b", "interleaved", "zb-h1"]
_KINDS = np.array(["forward", "backward", "backward"], dtype=object)
_SAID = ("forward", "backward", "weight gradient")


def pipeline(
    schedule: Schedule,
    stages: int,
    microbatches: int,
    forward: float | Sequence[float],
    backward: float | Sequence[float],
    *,
    chunks: int = 1,
    p2p: float = 0.0,
    weight: float | Sequence[float] | None = None,
    optimizer: float | Sequence[float] = 0.0,
    activation_bytes: float | Sequence[float] | None = None,
) -> BuiltTimeline:
    """Return a pipeline-parallel step: every stage is a rank with one compute lane.

    A forward waits for that of the stage before it, a backward for that of the stage after it and
    for its own forward; each stage runs its list in the schedule's order.

    Parameters
    ----------
    schedule : {"gpipe", "1f1b", "interleaved", "zb-h1"}
        GPipe: all forwards, then all backwards. 1F1B: in turns after a warm-up. Interleaved: 1F1B
        over `chunks` model chunks a stage, as in Megatron-LM. ZB-H1: 1F1B with the weight
        gradients moved into the bubble, within 1F1B's memory. Its bubble is
        (p − 1)(T_F + T_B − T_W) where m is at least p and T_W no longer than T_F and T_B.
    stages, microbatches : int
        p and m. Interleaved needs m to be a multiple of p.
    forward, backward : float, or one per stage
        ms of a microbatch on a stage; backward is the whole one, for every schedule alike. (The
        zero-bubble paper's T_B is only its gradient of the input.)
    chunks : int
        v, model chunks per stage, for interleaved; each takes a v-th of the stage's time.
    p2p : float
        ms between the end on one stage and the start on the next.
    weight : float, or one per stage
        ms of `backward` that are the gradient of the weights, for ZB-H1; half of it by default.
    optimizer : float, or one per stage
        ms after a stage's last backward; 0 leaves it out.
    activation_bytes : float, or one per stage
        Bytes that a microbatch's activations take on a stage, for `.memory`.

    Returns
    -------
    BuiltTimeline
        `.memory` has the microbatches in flight on each stage. See `pipeline_bubble`.

    Raises
    ------
    TimelineError
        A number or combination without meaning; the message names the argument.

    Examples
    --------
    (m + p − 1)(t_f + t_b), without P2P time and with equal stages:

    >>> pipeline("1f1b", stages=4, microbatches=8, forward=1, backward=2).completion
    33.0
    """
    name = as_choice(schedule, "schedule", SCHEDULES)
    p, m = as_count(stages, "stages"), as_count(microbatches, "microbatches")
    v = _chunks(name, chunks, p, m)
    lasts = {F: np.array(each_ms(forward, p, "forward", "stage")) / v}
    whole = np.array(each_ms(backward, p, "backward", "stage"))
    lasts[B], lasts[W] = _split(name, whole, weight, p, v)
    delay = as_ms(p2p, "p2p")
    orders = [stage_order(name, s, p, m, v) for s in range(p)]
    phases, rows = _phases(orders, lasts, p, m, v)
    dependencies = _dependencies(rows, phases["phase"].to_numpy(), delay)
    updates = each_ms(optimizer, p, "optimizer", "stage")
    phases, dependencies = _with_optimizers(phases, dependencies, orders, updates)
    return BuiltTimeline.of(
        phases,
        dependencies,
        name=f"{name}, {p} stages, {m} microbatches" + (f", {v} chunks" if v > 1 else ""),
        memory=_memory(name, p, m, v, activation_bytes),
        notes=[
            "Stages do not wait for each other's gradients: data-parallel exchange is left out."
        ],
    )


def pipeline_bubble(timeline: Timeline) -> pd.DataFrame:
    """Return how long each rank of a timeline stands without compute.

    Two shares are called the bubble: of the ideal time, (p − 1)/m for GPipe and 1F1B (Megatron's
    paper), and of the whole, (p − 1)/(m + p − 1).

    Parameters
    ----------
    timeline : Timeline
        Of one step, compute on every rank.

    Returns
    -------
    DataFrame
        Indexed by rank: `busy`, `bubble` (the completion less `busy`), both ms, `over_ideal`
        (bubble over busy) and `over_total` (bubble over the completion).

    Examples
    --------
    >>> step = pipeline("1f1b", stages=4, microbatches=8, forward=1, backward=2)
    >>> pipeline_bubble(step).loc[0].round(4).tolist()
    [24.0, 9.0, 0.375, 0.2727]
    """
    if not isinstance(timeline, Timeline):
        msg = f"timeline is {type(timeline).__name__}: give a Timeline"
        raise TimelineError(msg)
    tables = timeline._tables
    counted = np.isin(tables.kind, COMPUTE_KINDS) & (tables.rank >= 0)
    ranks = timeline.ranks
    busy = np.bincount(
        as_index(tables.rank[counted]), weights=tables.duration[counted], minlength=max(ranks) + 1
    )[ranks]
    total = timeline.completion
    bubble = total - busy
    with np.errstate(divide="ignore", invalid="ignore"):
        return pd.DataFrame(
            {
                "busy": busy,
                "bubble": bubble,
                "over_ideal": bubble / busy,
                "over_total": bubble / np.float64(total),
            },
            index=pd.Index(ranks, name="rank"),
        )


def _chunks(schedule: str, chunks: Any, p: int, m: int) -> int:
    v = as_count(chunks, "chunks")
    if schedule != "interleaved":
        if v > 1:
            msg = f"chunks is {v}, but {schedule} has one chunk a stage: use 'interleaved'"
            raise TimelineError(msg)
        return v
    if v == 1:
        msg = "chunks is 1: interleaved needs 2 or more chunks a stage; with one it is '1f1b'"
        raise TimelineError(msg)
    if m % p:
        msg = (
            f"microbatches is {m}: interleaved needs a multiple of its {p} stages, "
            f"such as {m - m % p or p} or {m - m % p + p}"
        )
        raise TimelineError(msg)
    return v


def _split(
    schedule: str, whole: Any, weight: float | Sequence[float] | None, p: int, v: int
) -> tuple[Any, Any]:
    """Return the ms of B and of W on each stage."""
    if schedule != "zb-h1":
        if weight is not None:
            msg = f"weight is {weight!r}, but {schedule} does not split the backward: leave it out"
            raise TimelineError(msg)
        return whole / v, np.zeros(p)
    part = whole / 2 if weight is None else np.array(each_ms(weight, p, "weight", "stage"))
    if (part > whole).any():
        stage = int(np.flatnonzero(part > whole)[0])
        msg = (
            f"weight is {part[stage]:g} ms on stage {stage}, more than its backward of "
            f"{whole[stage]:g} ms: give a part of it"
        )
        raise TimelineError(msg)
    return whole - part, part


def _phases(
    orders: list[Order], lasts: dict[int, Any], p: int, m: int, v: int
) -> tuple[pd.DataFrame, Any]:
    """Return all phases stage by stage, and the row of each (op, stage, chunk, microbatch)."""
    every = np.concatenate(orders)
    stage = np.repeat(np.arange(p), [len(order) for order in orders])
    op, micro, chunk = every.T
    rows = np.full((3, p, v, m), -1, dtype=np.int64)
    rows[op, stage, chunk, micro] = np.arange(len(every))
    heads = [[f"r{s} {said} " for said in _SAID] for s in range(p)]
    tails = [f" chunk {c}" if v > 1 else "" for c in range(1, v + 1)]
    names = [
        f"{heads[s][o]}{i + 1}{tails[c]}"
        for s, o, i, c in zip(
            stage.tolist(), op.tolist(), micro.tolist(), chunk.tolist(), strict=True
        )
    ]
    durations = np.array([lasts[F], lasts[B], lasts[W]])[op, stage]
    return (
        pd.DataFrame(
            {
                "phase": names,
                "kind": _KINDS[op],
                "rank": stage,
                "lane": COMPUTE,
                "duration": durations,
            }
        ),
        rows,
    )


def _dependencies(rows: Any, names: Any, delay: float) -> pd.DataFrame:
    f, b, w = rows
    p = f.shape[0]
    wrap = delay if p > 1 else 0.0  # chunks of one stage hand over on the spot
    parts = [
        (f[:-1], f[1:], delay),  # to the next stage
        (f[-1, :-1], f[0, 1:], wrap),  # and from the last to the next chunk on the first
        (b[1:], b[:-1], delay),
        (b[0, 1:], b[-1, :-1], wrap),
        (f, b, 0.0),
    ]
    if w[0, 0, 0] >= 0:
        parts.append((b, w, 0.0))
    source = np.concatenate([part[0].ravel() for part in parts])
    target = np.concatenate([part[1].ravel() for part in parts])
    lag = np.concatenate([np.full(part[0].size, part[2]) for part in parts])
    return pd.DataFrame({"source": names[source], "target": names[target], "lag": lag})


def _with_optimizers(
    phases: pd.DataFrame, dependencies: pd.DataFrame, orders: list[Order], updates: list[float]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Add each stage's optimizer behind the last of its list."""
    if not any(updates):
        return phases, dependencies
    lasts = np.cumsum([len(order) for order in orders]) - 1
    names = [f"r{s} optimizer" for s in range(len(orders))]
    more = pd.DataFrame(
        {
            "phase": names,
            "kind": "optimizer",
            "rank": np.arange(len(orders)),
            "lane": COMPUTE,
            "duration": updates,
        }
    )
    held_by = pd.DataFrame(
        {"source": phases["phase"].to_numpy()[lasts], "target": names, "lag": 0.0}
    )
    return (
        pd.concat([phases, more], ignore_index=True),
        pd.concat([dependencies, held_by], ignore_index=True),
    )


def _memory(
    schedule: str, p: int, m: int, v: int, activation_bytes: float | Sequence[float] | None
) -> list[dict[str, Any]]:
    each: list[float | None] = [None] * p
    if activation_bytes is not None:
        values = (
            [activation_bytes] * p
            if as_real(activation_bytes) is not None
            else as_list(
                activation_bytes, "activation_bytes", "bytes, or a list with one per stage"
            )
        )
        if len(values) != p:
            msg = f"activation_bytes has {len(values)} values for {p} stages: give one, or {p}"
            raise TimelineError(msg)
        each = [as_amount(x, "activation_bytes", "bytes") for x in values]
    found = []
    for stage in range(p):
        count, formula = in_flight(schedule, stage, p, m, v)
        found.append(held(stage, "activations in flight", count, each[stage], formula))
    return found
