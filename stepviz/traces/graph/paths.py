"""From the edges of a critical path to its pieces, which partition the step."""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd

from stepviz.core.vocabulary import KINDS
from stepviz.traces.graph.answers import (
    BEFORE_STEP,
    UNEXPLAINED,
    WAIT,
    path_of_columns,
)
from stepviz.traces.graph.arrays import IntArray
from stepviz.traces.graph.links import LAGS, LAUNCHED, NO_LAUNCH, NOWHERE, ON, ORIGINS, Link
from stepviz.traces.graph.network import Network

#: Codes of kinds of pieces: those of work, and three more.
_KINDS: Final = (*KINDS, BEFORE_STEP, UNEXPLAINED, WAIT)
_CODE: Final = {kind: at for at, kind in enumerate(_KINDS)}
_UNEXPLAINED_ORIGIN: Final = ORIGINS.index(UNEXPLAINED)


def path_along(
    network: Network, time: IntArray, duration: IntArray, origin_ns: int
) -> pd.DataFrame:
    """Return the critical path of a solved graph, in order of time, to the ns.

    Parameters
    ----------
    network
        The graph.
    time, duration
        By point and by element, as solved.
    origin_ns
        The step's start, absolute.
    """
    edges = network.walk(time, duration)
    source = network.source[edges]
    low, high = network.low[edges], network.high[edges]
    total = np.concatenate(([0], np.cumsum(duration)))
    worked = time[source] + total[high] - total[low]
    frame = pd.concat(
        [
            _before(network, source, edges, time),
            _work(network, edges, time, duration, total),
            _lags(network, edges, worked, time),
        ],
        ignore_index=True,
    )
    frame = frame[frame["finish_ns"] > frame["start_ns"]]
    frame = frame.sort_values("start_ns", kind="stable", ignore_index=True)
    frame = _named(network, _joined(frame))
    frame["start_ns"] += origin_ns
    frame["finish_ns"] += origin_ns
    return path_of_columns(frame)


def _columns(start: IntArray, finish: IntArray, **values: IntArray | int | bool) -> pd.DataFrame:
    filled = {"track": -1, "row": -1, "launched": NO_LAUNCH, "next": -1} | values
    return pd.DataFrame({"start_ns": start, "finish_ns": finish} | filled)


def _before(network: Network, source: IntArray, edges: IntArray, time: IntArray) -> pd.DataFrame:
    """Return what lies before the first rank on the path begins its step."""
    last = network.ends[np.argmax(time[network.ends])]
    first = int(source[0] if len(edges) else last)
    rank = int(network.rank[first])
    return _columns(
        np.zeros(1, dtype=np.int64), time[[first]], rank=rank, kind=_CODE[BEFORE_STEP], name=-1,
        on=NOWHERE, origin=0, residual=False,
    )  # fmt: skip


def _work(
    network: Network, edges: IntArray, time: IntArray, duration: IntArray, total: IntArray
) -> pd.DataFrame:
    """Return the elements along the path."""
    low, high = network.low[edges], network.high[edges]
    counts = high - low
    edge = np.repeat(np.arange(len(edges)), counts)
    first = np.cumsum(counts) - counts
    element = np.arange(len(edge)) - first[edge] + low[edge]
    start = time[network.source[edges]][edge] + total[element] - total[low[edge]]
    origin = network.origin[edges]
    # A row's own run is linked as its start is.
    before = np.append(origin[:1], origin[:-1])
    origin = np.where(network.link[edges] == Link.WORK, before, origin)
    known = network.elements
    return _columns(
        start,
        start + duration[element],
        rank=known.rank[element],
        kind=known.kind[element],
        name=known.name[element],
        on=known.on[element],
        origin=origin[edge],
        residual=False,
        track=known.track[element],
        row=known.row[element],
        launched=known.launched[element],
    )


def _lags(network: Network, edges: IntArray, worked: IntArray, time: IntArray) -> pd.DataFrame:
    """Return what lies between the work of the path: explained, up to a limit, or not."""
    target = network.target[edges]
    link = network.link[edges]
    link = np.where(network.gap[target] & (link == Link.THREAD), Link.GAP, link)
    finish = time[target]
    limit = np.array(
        [np.iinfo(np.int64).max if (at := LAGS[k].limit) is None else at for k in Link]
    )
    explained = finish - worked <= limit[link]
    kind = np.array([_CODE[LAGS[k].kind] for k in Link])[link]
    on = np.array([LAGS[k].on for k in Link])[link]
    # By these numbers below −1 the names of lags are told from those of rows.
    return _columns(
        worked,
        finish,
        rank=network.rank[target],
        kind=np.where(explained, kind, _CODE[UNEXPLAINED]),
        name=-2 - link,
        on=on,
        origin=np.where(explained, network.origin[edges], _UNEXPLAINED_ORIGIN),
        residual=True,
    )


def _joined(frame: pd.DataFrame) -> pd.DataFrame:
    """Join pieces of one row that follow one another."""
    same = np.ones(len(frame), dtype=bool)
    for column in ("rank", "kind", "name", "on", "row", "track", "residual"):
        values = frame[column].to_numpy()
        same[1:] &= values[1:] == values[:-1]
    same[:1] = False
    first = np.flatnonzero(~same)
    joined = frame.iloc[first].copy()
    joined["finish_ns"] = frame["finish_ns"].to_numpy()[np.append(first[1:], len(frame)) - 1]
    return joined.reset_index(drop=True)


def _named(network: Network, frame: pd.DataFrame) -> pd.DataFrame:
    """Put words for codes."""
    codes = frame["name"].to_numpy()
    words = np.array([*network.names, ""], dtype=object)
    names = np.where(codes >= 0, words[np.maximum(codes, -1)], "")
    lags = np.array([LAGS[link].name for link in Link], dtype=object)
    is_lag = codes <= -2
    names[is_lag] = lags[-2 - codes[is_lag]]
    kind = frame["kind"].to_numpy()
    for at in np.flatnonzero(kind == _CODE[UNEXPLAINED]).tolist():
        after = next((n for n in names[at + 1 : at + 3] if n), "")
        names[at] = f"{names[at] or 'nothing'}, before {after}" if after else names[at]
    rank = frame["rank"].astype("Int64")
    return frame.assign(
        rank=rank.mask(rank < 0),
        kind=np.array(_KINDS, dtype=object)[kind],
        name=names,
        origin=np.array(ORIGINS, dtype=object)[frame["origin"].to_numpy()],
        launched=np.array(LAUNCHED, dtype=object)[frame["launched"].to_numpy()],
        on=np.array(ON, dtype=object)[frame["on"].to_numpy()],
    )
