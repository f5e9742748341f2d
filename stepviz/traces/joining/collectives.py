"""The exchanges of a step as people read them: who came first and last, wait, transfer, rate."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from stepviz.indices import as_index
from stepviz.traces.joining.alignment import Aligned
from stepviz.traces.joining.clocks import ROUNDING_NS
from stepviz.traces.joining.step_exchanges import StepExchanges

IntArray = npt.NDArray[np.int64]

#: Columns that compare the clocks of several ranks.
TOLD_BY_CLOCKS: Final = (
    "first_rank",
    "last_rank",
    "skew_ns",
    "end_skew_ns",
    "transfer_ns",
    "wait_ns",
)

_TYPES: Final = {
    "name": "object",
    "collective": "object",
    "group": "object",
    "emulated": "bool",
    "bytes": "int64",
    "ranks": "int64",
    "first_rank": "Int64",
    "last_rank": "Int64",
    "arrival_ns": "int64",
    "finish_ns": "int64",
    "skew_ns": "Int64",
    "end_skew_ns": "Int64",
    "transfer_ns": "Int64",
    "wait_ns": "Int64",
    "bus_gbps": "Float64",
}

#: Bus traffic of n ranks in parts of the size, by nccl-tests: a + b·(n−1)/n.
_TRAFFIC: Final = {
    "all-reduce": 2.0,
    "all-gather": 1.0,
    "reduce-scatter": 1.0,
    "all-to-all": 1.0,
    "gather": 1.0,
    "scatter": 1.0,
}
_WHOLE: Final = frozenset({"broadcast", "reduce", "send-recv"})
#: Their size is that of what all ranks give together.
_GATHERED: Final = frozenset({"all-gather", "gather"})


def collectives_frame(columns: StepExchanges, aligned: Aligned, *, told: bool) -> pd.DataFrame:
    """Return one row per exchange (columns: see `ObservedStep.collectives`).

    Parameters
    ----------
    columns
        The step's exchanges.
    aligned
        How well the ranks' clocks are known.
    told
        Whether clocks agree at all.
    """
    if not len(columns):
        return pd.DataFrame({name: pd.Series(dtype=of) for name, of in _TYPES.items()})
    number, heads = columns.number, columns.bounds[:-1]
    last, first = columns.last_arrival, columns.first_arrival
    finish = columns.last_finish
    skew = last - first
    ends = finish - np.minimum.reduceat(columns.finish, as_index(heads))
    turn = np.minimum(last[number], columns.finish)
    wait = np.add.reduceat(np.maximum(turn - columns.arrival, 0), as_index(heads))
    transfer = finish - last
    frame = pd.DataFrame(
        {
            "name": columns.names,
            "collective": columns.collective,
            "group": columns.label,
            "emulated": columns.emulated,
            "bytes": columns.bytes,
            "ranks": columns.ranks,
            "first_rank": _only(columns, aligned, columns.arrival, np.minimum),
            "last_rank": _only(columns, aligned, columns.arrival, np.maximum),
            "arrival_ns": last,
            "finish_ns": finish,
            "skew_ns": skew,
            "end_skew_ns": ends,
            "transfer_ns": transfer,
            "wait_ns": wait,
        }
    )
    frame["bus_gbps"] = bus_rate(columns, transfer)
    frame = frame.astype(dict.fromkeys(TOLD_BY_CLOCKS, "Int64") | {"bus_gbps": "Float64"})
    joint = columns.ranks > 1
    # Nobody is first or last alone.
    frame.loc[~joint, ["first_rank", "last_rank"]] = pd.NA
    if not told:
        frame.loc[joint, [*TOLD_BY_CLOCKS, "bus_gbps"]] = pd.NA
        return frame
    frame.loc[joint & ~told_apart(columns, aligned, skew), ["first_rank", "last_rank"]] = pd.NA
    return frame


def told_apart(columns: StepExchanges, aligned: Aligned, skew: IntArray) -> npt.NDArray[np.bool_]:
    """Say of each exchange whether clocks tell its first from its last arrival."""
    unsure = np.array([aligned.unsure.get(rank, 0) for rank in columns.rank.tolist()])
    if not len(unsure):
        return np.zeros(0, dtype=bool)
    heads = columns.bounds[:-1]
    largest = np.maximum.reduceat(unsure, as_index(heads))
    # The two clocks that are known worst are the most that first and last can be off by.
    at_largest = np.add.reduceat(
        (unsure == largest[columns.number]).astype(np.int64), as_index(heads)
    )
    below = np.where(unsure == largest[columns.number], 0, unsure)
    second = np.where(at_largest > 1, largest, np.maximum.reduceat(below, as_index(heads)))
    told: npt.NDArray[np.bool_] = skew > np.maximum(ROUNDING_NS, largest + second)
    return told


def bus_rate(columns: StepExchanges, transfer: IntArray) -> pd.Series[float]:
    """Return the bus bandwidth of each exchange, GB/s, missing where it is not known."""
    count = columns.ranks
    kinds = pd.Series(columns.collective)
    factor = kinds.map(_TRAFFIC).to_numpy(dtype=np.float64) * (count - 1) / count
    factor = np.where(kinds.isin(list(_WHOLE)), 1.0, factor)
    gathered = kinds.isin(list(_GATHERED)).to_numpy()
    size = columns.bytes.astype(np.float64)
    whole = np.where(columns.out_bytes >= 0, columns.out_bytes, size * count)
    size = np.where(gathered, whole, size)
    known = (columns.bytes >= 0) & (transfer > 0) & (count > 1) & ~np.isnan(factor)
    rate = np.where(known, size * factor / np.maximum(transfer, 1), np.nan)
    return pd.Series(rate).astype("Float64").where(known)


def _only(
    columns: StepExchanges, aligned: Aligned, times: IntArray, extreme: np.ufunc
) -> pd.Series[int]:
    """Return the one rank of each exchange with the extreme time, missing where several tie."""
    heads, number, ranks = columns.bounds[:-1], columns.number, columns.rank
    there = times == extreme.reduceat(times, as_index(heads))[number]
    count = np.add.reduceat(there.astype(np.int64), as_index(heads))
    rank = np.add.reduceat(np.where(there, ranks, 0), as_index(heads))
    moved = np.isin(ranks, [rank for rank, clock in aligned.clocks.items() if not clock.still])
    if moved.any():
        # A tie of the others stays one where a moved clock may be a little off it.
        none = np.iinfo(np.int64).max if extreme is np.minimum else np.iinfo(np.int64).min
        tied_at = extreme.reduceat(np.where(moved, none, times), as_index(heads))[number]
        tied = (
            np.add.reduceat((~moved & (times == tied_at)).astype(np.int64), as_index(heads))[number]
            > 1
        )
        unsure = np.array([aligned.unsure[r] for r in ranks.tolist()])
        blurred = (
            moved & there & tied & (np.abs(times - tied_at) <= np.maximum(unsure, ROUNDING_NS))
        )
        count += np.add.reduceat(blurred.astype(np.int64), as_index(heads))
    return pd.Series(rank).astype("Int64").where(pd.Series(count == 1))
