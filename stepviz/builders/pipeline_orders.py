"""In which order a stage of a pipeline runs its forwards and backwards, and what it holds.

F is a forward, B a backward, or where the backward is split its gradient of the input, and W the
gradient of the weights. Stages count from 0, there are p of them, and m microbatches.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

F, B, W = 0, 1, 2
SCHEDULES: Final = ("gpipe", "1f1b", "interleaved", "zb-h1")

#: Rows of (op, microbatch, chunk), in the order in which a stage runs them.
Order = NDArray[np.int64]


def stage_order(schedule: str, stage: int, p: int, m: int, v: int) -> Order:
    """Return what a stage runs, in order.

    Sources: GPipe (Huang et al., 2019); 1F1B and interleaved as Megatron-LM has them (Narayanan et
    al., 2021); ZB-H1 (Qi et al., Zero Bubble Pipeline Parallelism, 2024): as 1F1B, but stage s
    runs its weight gradients s backwards late, so that no stage holds more than p microbatches.
    """
    if schedule == "gpipe":
        ops = [F] * m + [B] * m
    elif schedule == "1f1b":
        ops = _one_f_one_b(m, min(m, p - stage - 1))
    elif schedule == "zb-h1":
        ops = _zb_h1(m, p, stage)
    else:
        return _interleaved(stage, p, m, v)
    kinds = np.array(ops, dtype=np.int64)
    micro = np.empty(len(kinds), dtype=np.int64)
    for op in (F, B, W):
        here = kinds == op
        micro[here] = np.arange(here.sum())
    return np.column_stack((kinds, micro, np.zeros(len(kinds), dtype=np.int64)))


def _one_f_one_b(n: int, warm_up: int) -> list[int]:
    return [F] * warm_up + [F, B] * (n - warm_up) + [B] * warm_up


def _zb_h1(m: int, p: int, stage: int) -> list[int]:
    forwards = min(m, p - stage)
    ops = [F] * forwards
    weights = 0
    for backwards in range(1, m + 1):
        ops.append(B)
        late = backwards - weights > stage  # one more forward would hold more than p
        if late or forwards == m:
            ops.append(W)
            weights += 1
        if forwards < m:
            ops.append(F)
            forwards += 1
    return ops + [W] * (m - weights)


def _interleaved(stage: int, p: int, m: int, v: int) -> Order:
    n = m * v
    warm_up = n if m == p else min(n, interleaved_warm_up(stage, p, v))
    k = np.arange(n)
    micro = k // (p * v) * p + k % p
    chunk = k % (p * v) // p
    ops = np.array(_one_f_one_b(n, warm_up), dtype=np.int64)
    order = np.empty((2 * n, 3), dtype=np.int64)
    order[:, 0] = ops
    order[ops == F, 1], order[ops == F, 2] = micro, chunk
    order[ops == B, 1], order[ops == B, 2] = micro, v - 1 - chunk
    return order


def interleaved_warm_up(stage: int, p: int, v: int) -> int:
    """Return how many forwards of chunks Megatron runs before its first backward."""
    return (p - stage - 1) * 2 + (v - 1) * p


def in_flight(schedule: str, stage: int, p: int, m: int, v: int) -> tuple[float, str]:
    """Return how many microbatches' activations a stage holds at its peak, and the formula.

    Under ZB-H1 a microbatch counts until its weight gradient is done, though its backward frees a
    part of what it holds.
    """
    if schedule == "gpipe":
        return m, "m"
    if schedule == "1f1b":
        return min(m, p - stage), "min(m, p - s)"
    if schedule == "zb-h1":
        return min(m, p), "min(m, p)"
    if m == p:
        return m, "m"
    held = min(m * v, interleaved_warm_up(stage, p, v) + 1)
    return held / v, "min(m, (2(p - s - 1) + (v - 1)p + 1) / v)"
