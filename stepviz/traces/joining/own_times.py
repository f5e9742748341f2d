"""What each rank does between collectives, and who is slow: four questions, four answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from stepviz.indices import as_index
from stepviz.traces.joining.clocks import length_said
from stepviz.traces.joining.step_exchanges import StepExchanges

IntArray = npt.NDArray[np.int64]

LATE: Final = "late_ns"
TAIL: Final = "tail_ns"
OWN: Final = "own_time_ns"

#: Own time has so many columns where there is no exchange: late start, tail, sum.
_OF_NONE: Final = 3

#: From how much on a late start is told, ns: profilers write microseconds.
_TOLD: Final = 1_000


def own_time_frame(
    columns: StepExchanges, windows: Mapping[int, tuple[int, int]], *, told: bool
) -> pd.DataFrame:
    """Return each rank's own time (see `ObservedStep.own_time`).

    Parameters
    ----------
    columns
        The step's exchanges, cut to the windows.
    windows
        By rank: start and finish, ns.
    told
        Whether the ranks' clocks agree, so that late starts can be told.
    """
    ranks = np.array(sorted(windows), dtype=np.int64)
    span = np.array([windows[int(rank)] for rank in ranks], dtype=np.int64).reshape(-1, 2)
    origin = int(span[:, 0].min())
    start, finish = span[:, 0] - origin, span[:, 1] - origin
    who = np.searchsorted(ranks, columns.rank)
    gap, reached = _gaps(who, columns.arrival - origin, columns.finish - origin, start)
    tail = finish - reached
    frame: dict[str, Any] = {LATE: pd.array(start, dtype="Int64")}
    if not told and len(ranks) > 1:
        frame[LATE] = pd.array([pd.NA] * len(ranks), dtype="Int64")
    order = np.lexsort((columns.finish, columns.arrival, who))
    counts = np.bincount(as_index(who), minlength=len(ranks))
    place = np.arange(len(who)) - np.repeat(np.cumsum(counts) - counts, as_index(counts))
    ups = np.zeros((int(counts.max(initial=0)), len(ranks)), dtype=np.int64)
    missing = np.ones(ups.shape, dtype=bool)
    ups[place, who[order]] = gap[order]
    missing[place, who[order]] = False
    for k in range(len(ups)):
        frame[f"→ #{k}"] = pd.arrays.IntegerArray(ups[k], missing[k])
    frame[TAIL] = pd.array(tail, dtype="Int64")
    total = tail + np.bincount(as_index(who), weights=gap, minlength=len(ranks)).astype(np.int64)
    frame[OWN] = pd.array(total, dtype="Int64")
    return pd.DataFrame(frame, index=pd.Index(ranks, name="rank"))


def first_reached(columns: StepExchanges, windows: Mapping[int, tuple[int, int]]) -> pd.Series[int]:
    """Return by rank how long it took from its start to its first joint exchange, ns.

    Where none is joint, to its first one: how long that takes needs no other rank. But where
    ranks then show more or fewer of them, the first ones may be others, and none is returned; nor
    where a rank may have waited for others in one before, that is not matched with theirs.
    """
    joint = columns.ranks > 1
    if not joint.any() and len(set(np.unique(columns.rank, return_counts=True)[1].tolist())) > 1:
        return pd.Series(dtype="int64")
    meant = (joint if joint.any() else ~joint)[columns.number]
    arrivals = pd.Series(columns.arrival[meant]).groupby(columns.rank[meant]).min()
    lone = (~joint & (columns.group >= 0))[columns.number] & ~meant
    earliest = pd.Series(columns.arrival[lone]).groupby(columns.rank[lone]).min()
    both = earliest.index.intersection(arrivals.index)
    if (earliest[both] < arrivals[both]).any():
        return pd.Series(dtype="int64")
    return (
        arrivals - pd.Series({rank: start for rank, (start, _) in windows.items()})[arrivals.index]
    )


def _gaps(
    who: IntArray, arrival: IntArray, finish: IntArray, start: IntArray
) -> tuple[IntArray, IntArray]:
    """Return the own time before each call, and when each rank ended its last exchange.

    From the latest of what came before: the step's start, the end of an exchange, the arrival
    at one that still runs. Between two exchanges that run at once a rank still does its own.
    """
    calls, ranks = len(who), len(start)
    reached = start.copy()
    np.maximum.at(reached, who, finish)
    place = np.empty(calls, dtype=np.int64)
    place[np.lexsort((finish, arrival, who))] = np.arange(calls)
    rank = np.concatenate((np.arange(ranks), who, who))
    time = np.concatenate((start, arrival, finish))
    turn = np.concatenate((np.full(ranks, -1), 2 * place, 2 * place + 1))
    order = np.lexsort((turn, time, rank))
    before = np.empty(len(order), dtype=np.int64)
    before[order[1:]] = time[order[:-1]]
    return arrival - before[ranks : ranks + calls], reached


def slowest_frame(
    own: pd.DataFrame,
    lengths: Mapping[int, int],
    first: pd.Series[int],
    last: pd.Series[int],
    work: Mapping[int, int],
    doubt: str,
    lacking: Mapping[int, str],
) -> pd.DataFrame:
    """Return who is slowest, by four questions (see `ObservedStep.slowest`).

    Parameters
    ----------
    own
        Own times by rank.
    lengths
        By rank: the window's length, ns.
    first
        By rank: from its start to its first joint exchange, ns.
    last
        By joint exchange: who arrived last, missing where nobody can be named.
    work
        By rank: its own work, ns, that beside an exchange too.
    doubt
        Why clocks cannot be compared, "" where they can.
    lacking
        By rank whose file may lack exchanges: why so.
    """
    late = own[LATE]
    rows = {
        "longest_step": _most(pd.Series(lengths), "the longest step"),
        "last_to_arrive": _last(last, list(lengths), doubt),
        "slowest_to_first_collective": _first(first, exchanges=len(own.columns) > _OF_NONE),
        "most_own_time": _most(
            own[OWN].astype("int64"), "the most own time", pd.Series(dict(work))
        ),
    }
    most = rows["most_own_time"]
    if most["rank"] in lacking:
        most["sentence"] = (
            f"nobody can be called: rank {most['rank']} has most of what lies outside exchanges, "
            f"but {lacking[most['rank']]}, so that waiting in what is lost counts as its own time"
        )
        most |= {"rank": pd.NA, "median": pd.NA, "excess": pd.NA}
    for row in rows.values():
        rank = row["rank"]
        row["late_ns"] = pd.NA if rank is pd.NA else late.get(rank, pd.NA)
        if rank is not pd.NA and row["late_ns"] is not pd.NA and row["late_ns"] >= _TOLD:
            when = length_said(int(row["late_ns"]))
            row["sentence"] += f"; apart from that it began its step {when} after the first rank"
    frame = pd.DataFrame.from_dict(rows, orient="index").rename_axis("question")
    columns = ["rank", "value", "median", "excess", "late_ns", "sentence"]
    return frame[columns].astype(dict.fromkeys(columns[:-1], "Int64"))


def _most(values: pd.Series[int], what: str, work: pd.Series[int] | None = None) -> dict[str, Any]:
    """Say who has the most of something in ns, and how much more than the median of others.

    With `work` that is judged by the work beside exchanges as well.
    """
    most = int(values.max())
    ranks = [int(rank) for rank in values.index[values == most]]
    row: dict[str, Any] = {"rank": pd.NA, "value": most, "median": pd.NA, "excess": pd.NA}
    said = length_said(most)
    if len(values) == 1:
        row["sentence"] = f"rank {ranks[0]} is the only one here, with {said}"
        return row
    if len(ranks) > 1:
        row["sentence"] = f"{_listed(ranks)} tie for {what}: {said}"
        return row
    rank = ranks[0]
    measured = values if work is None else work
    excess = round(measured[rank] - measured.drop(rank).median())
    row |= {"rank": rank, "median": round(values.drop(rank).median()), "excess": excess}
    row["sentence"] = f"rank {rank} has {what}: {said}"
    if excess > 0:
        others = values.index.drop([rank])
        than = f"rank {others[0]}" if len(others) == 1 else "the median of the others"
        row["sentence"] += f", {length_said(excess)} more than {than}"
    if measured.max() > measured[rank]:
        row["sentence"] += f"; but with the work beside exchanges rank {measured.idxmax()} has more"
    return row


def _last(last: pd.Series[int], ranks: list[int], doubt: str) -> dict[str, Any]:
    row: dict[str, Any] = {"rank": pd.NA, "value": pd.NA, "median": pd.NA, "excess": pd.NA}
    if len(ranks) == 1:
        row["sentence"] = f"rank {ranks[0]} is the only one here"
        return row
    if doubt:
        row["sentence"] = f"nobody can be called last: {doubt}"
        return row
    counts = last.value_counts().reindex(ranks, fill_value=0)
    most = int(counts.max())
    if not len(last) or not most:
        none = "no exchange is joined over ranks" if not len(last) else "clocks cannot tell"
        row["sentence"] = f"nobody can be called last: {none}"
        return row
    row["value"] = most
    first = [int(rank) for rank in counts.index[counts == most]]
    if len(first) > 1:
        row["sentence"] = f"{_listed(first)} tie for last to arrive most often: {most} times each"
        return row
    row["rank"] = first[0]
    row["median"] = round(counts.drop(first[0]).median())
    row["excess"] = most - row["median"]
    row["sentence"] = f"rank {first[0]} arrives last most often: at {most} of {len(last)} exchanges"
    return row


def _first(first: pd.Series[int], *, exchanges: bool) -> dict[str, Any]:
    if first.empty:
        why = "ranks differ in how many exchanges they show, so their first ones may differ"
        return {
            "rank": pd.NA, "value": pd.NA, "median": pd.NA, "excess": pd.NA,
            "sentence": why if exchanges else "there is no exchange to be slow to",
        }  # fmt: skip
    return _most(first, "the longest way to its first collective")


def _listed(ranks: list[int]) -> str:
    few = ", ".join(map(str, ranks[:6])) + (", …" if len(ranks) > 6 else "")
    return f"ranks {few}"
