"""Where a rank's step went: rows that add up to its window exactly, in whole nanoseconds.

The order in which kinds claim an instant is the schedule's: compute first, then exchange that
nothing hides, then the rest. Kernels that nothing tells the pass of compute too. What no row of
the trace explains is a row of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from stepviz.core.intervals import clip, intersect, subtract, total, union
from stepviz.core.vocabulary import COMPUTE
from stepviz.traces.classifying.windows import Window
from stepviz.traces.folding.pieces import KERNEL, UNEXPLAINED, Piece
from stepviz.traces.joining.joins import Exchange
from stepviz.traces.reading.rows import DEVICE

IntArray = npt.NDArray[np.int64]

#: Rows of a breakdown, in the order they claim an instant.
ROWS: Final = (
    *COMPUTE,
    "exchange",
    "wait",
    "optimizer",
    "input",
    "checkpoint",
    "host",
    "other",
    UNEXPLAINED,
)


def breakdown_ns(
    window: Window, pieces: list[Piece], exchanges: list[Exchange], rank: int, *, told: bool
) -> pd.Series[int]:
    """Return ns per row of one rank; they sum to the window's length exactly.

    `told` says whether clocks agree, so that a wait can be told from the transfer; if not,
    all of it is exchange.
    """
    transfer, waiting = exchange_spans(exchanges, rank)
    if not told:
        transfer, waiting = union(np.concatenate((transfer, waiting))), waiting[:0]
    spans = {row: _spans(p for p in pieces if p.kind == row) for row in ROWS}
    free = np.array([[window.start_ns, window.finish_ns]], dtype=np.int64)
    parts = dict.fromkeys(ROWS, 0)
    claims = [(row, spans[row]) for row in COMPUTE]
    claims += [("other", _spans(p for p in pieces if p.region == KERNEL))]
    claims += [("exchange", transfer), ("wait", waiting)]
    claims += [(row, spans[row]) for row in ROWS if row not in (*COMPUTE, "exchange", "wait")]
    for row, claimed in claims:
        mine = intersect(free, union(claimed))
        parts[row] += int(total(mine)) if len(mine) else 0
        free = subtract(free, mine)
    return pd.Series(parts, dtype=np.int64)


def exposed_ns(window: Window, pieces: list[Piece], exchanges: list[Exchange], rank: int) -> int:
    """Return how long exchange ran on a rank while none of its compute did."""
    transfer, waiting = exchange_spans(exchanges, rank)
    running = union(np.concatenate((transfer, waiting)))
    running = clip(running, window.start_ns, window.finish_ns)
    compute = _spans(p for p in pieces if p.kind in COMPUTE or p.region == KERNEL)
    left = subtract(running, compute)
    return int(total(left)) if len(left) else 0


def exchange_spans(exchanges: list[Exchange], rank: int) -> tuple[IntArray, IntArray]:
    """Return when a rank transfers, and when it waits for a collective's last member."""
    transfer, waiting = [], []
    for exchange in exchanges:
        call = exchange.calls.get(rank)
        if call is None:
            continue
        turn = min(max(exchange.last_arrival, call.arrival), call.finish)
        waiting.append((call.arrival, turn))
        transfer.append((turn, call.finish))
    return union(_array(transfer)), union(_array(waiting))


def device_time(events: pd.DataFrame, *, launched_only: bool) -> dict[str, int]:
    """Return what one rank's device did over the whole file, ns.

    Compute is every kernel that moves nothing between ranks; copies and fills are busy time
    but neither.
    """
    device = events[events["cat"].isin(list(DEVICE))]
    if launched_only:
        device = device[device["launcher"] >= 0]
    if device.empty:
        names = ("span", "busy", "idle", "compute", "exchange", "overlap", "exposed")
        return {f"{name}_ns": 0 for name in names}
    busy = int(total(union(_of(device))))
    span = int(device["finish_ns"].max() - device["start_ns"].min())
    moving = device["kind"] == "exchange"
    compute = union(_of(device[(device["cat"] == "kernel") & ~moving]))
    exchange = union(_of(device[moving]))
    both = intersect(exchange, compute)
    overlap = int(total(both)) if len(both) else 0
    return {
        "span_ns": span,
        "busy_ns": busy,
        "idle_ns": span - busy,
        "compute_ns": int(total(compute)) if len(compute) else 0,
        "exchange_ns": int(total(exchange)) if len(exchange) else 0,
        "overlap_ns": overlap,
        "exposed_ns": (int(total(exchange)) if len(exchange) else 0) - overlap,
    }


def _spans(pieces: Iterable[Piece]) -> IntArray:
    return union(_array([(p.start, p.finish) for p in pieces]))


def _array(spans: list[tuple[int, int]]) -> IntArray:
    return np.array(spans, dtype=np.int64).reshape(-1, 2)


def _of(events: pd.DataFrame) -> IntArray:
    return events[["start_ns", "finish_ns"]].to_numpy(dtype=np.int64)
