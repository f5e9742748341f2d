"""From the edges of a critical path to its pieces, which partition the step."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pandas as pd

from stepviz.core.vocabulary import KINDS
from stepviz.indices import as_index
from stepviz.traces.graph.answers import (
    BEFORE_STEP,
    UNEXPLAINED,
    WAIT,
    path_of_arrays,
)
from stepviz.traces.graph.arrays import IntArray
from stepviz.traces.graph.links import (
    LAGS,
    LAUNCHED,
    NO_LAUNCH,
    NOWHERE,
    ON,
    ORIGINS,
    RECORDED,
    Link,
)
from stepviz.traces.graph.network import Network

#: Codes of kinds of pieces: those of work, and three more.
_KINDS: Final = (*KINDS, BEFORE_STEP, UNEXPLAINED, WAIT)
_CODE: Final = {kind: at for at, kind in enumerate(_KINDS)}
#: Pieces by column, coded.
Pieces = dict[str, IntArray]

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
    origin = _origins(network, edges, time)
    parts = (
        _before(network, source, edges, time),
        _work(network, edges, time, duration, total, origin),
        _lags(network, edges, worked, time, origin),
    )
    pieces = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
    order = np.flatnonzero(pieces["finish_ns"] > pieces["start_ns"])
    order = order[np.argsort(pieces["start_ns"][order], kind="stable")]
    pieces = _joined({key: values[order] for key, values in pieces.items()})
    pieces["start_ns"] = pieces["start_ns"] + origin_ns
    pieces["finish_ns"] = pieces["finish_ns"] + origin_ns
    return path_of_arrays(_named(network, pieces))


def _columns(start: IntArray, finish: IntArray, **values: IntArray | int) -> Pieces:
    filled = {"track": -1, "row": -1, "launched": NO_LAUNCH, "residual": 0} | values
    return {"start_ns": start, "finish_ns": finish} | {
        key: np.broadcast_to(np.asarray(value, dtype=np.int64), start.shape)
        for key, value in filled.items()
    }


def _before(network: Network, source: IntArray, edges: IntArray, time: IntArray) -> Pieces:
    """Return what lies before the first rank on the path begins its step."""
    last = network.ends[np.argmax(time[network.ends])]
    first = int(source[0] if len(edges) else last)
    rank = int(network.rank[first])
    return _columns(
        np.zeros(1, dtype=np.int64), time[[first]], rank=rank, kind=_CODE[BEFORE_STEP], name=-1,
        on=NOWHERE, origin=0,
    )  # fmt: skip


def _origins(network: Network, edges: IntArray, time: IntArray) -> IntArray:
    """Return by edge how it is known that what comes first on it follows on what was before.

    Work goes on as the file says. But what starts work, with no time between, speaks for it.
    """
    link, origin = network.link[edges], network.origin[edges]
    goes_on = (link == Link.WORK) | (link == Link.THREAD)
    lasts = time[network.target[edges]] > time[network.source[edges]]
    last = np.maximum.accumulate(np.where(~goes_on | lasts, np.arange(len(edges)), 0))
    before = np.append(0, last[:-1])[: len(edges)]
    return np.where(goes_on, origin[before], origin)


def _work(
    network: Network,
    edges: IntArray,
    time: IntArray,
    duration: IntArray,
    total: IntArray,
    origin: IntArray,
) -> Pieces:
    """Return the elements along the path."""
    low, high = network.low[edges], network.high[edges]
    counts = high - low
    edge = np.repeat(np.arange(len(edges)), as_index(counts))
    first = np.cumsum(counts) - counts
    element = np.arange(len(edge)) - first[edge] + low[edge]
    start = time[network.source[edges]][edge] + total[element] - total[low[edge]]
    first_on_edge = start == time[network.source[edges]][edge]
    known = network.elements
    return _columns(
        start,
        start + duration[element],
        rank=known.rank[element],
        kind=known.kind[element],
        name=known.name[element],
        on=known.on[element],
        origin=np.where(first_on_edge, origin[edge], RECORDED),
        track=known.track[element],
        row=known.row[element],
        launched=known.launched[element],
    )


def _lags(
    network: Network, edges: IntArray, worked: IntArray, time: IntArray, origin: IntArray
) -> Pieces:
    """Return what lies between the work of the path: explained, up to a limit, or not."""
    target = network.target[edges]
    link = network.link[edges]
    link = np.where(network.gap[target] & (link == Link.THREAD), Link.GAP, link)
    finish = time[target]
    origin = np.where(worked == time[network.source[edges]], origin, network.origin[edges])
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
        origin=np.where(explained, origin, _UNEXPLAINED_ORIGIN),
        residual=1,
    )


def _joined(pieces: Pieces) -> Pieces:
    """Join pieces of one row that follow one another."""
    count = len(pieces["start_ns"])
    same = np.ones(count, dtype=bool)
    for column in ("rank", "kind", "name", "on", "row", "track", "residual"):
        values = pieces[column]
        same[1:] &= values[1:] == values[:-1]
    same[:1] = False
    first = np.flatnonzero(~same)
    joined = {key: values[first] for key, values in pieces.items()}
    joined["finish_ns"] = pieces["finish_ns"][np.append(first[1:], count)[: len(first)] - 1]
    return joined


def _named(network: Network, pieces: Pieces) -> dict[str, Any]:
    """Put words for codes."""
    codes = pieces["name"]
    lags = [LAGS[link].name for link in Link]
    words = np.array([*network.names, "", *lags], dtype=object)
    # Below −1 are the names of lags, from −2 on downwards.
    count = len(network.names)
    names = words[np.where(codes >= 0, codes, count - 1 - codes)]
    for at in np.flatnonzero(pieces["kind"] == _CODE[UNEXPLAINED]).tolist():
        after = next((name for name in names[at + 1 : at + 3] if name), "")
        names[at] = f"{names[at] or 'nothing'}, before {after}" if after else names[at]
    return pieces | {
        "rank": pd.arrays.IntegerArray(pieces["rank"], pieces["rank"] < 0),
        "kind": np.array(_KINDS, dtype=object)[pieces["kind"]],
        "name": names,
        "origin": np.array(ORIGINS, dtype=object)[pieces["origin"]],
        "launched": np.array(LAUNCHED, dtype=object)[pieces["launched"]],
        "on": np.array(ON, dtype=object)[pieces["on"]],
    }
