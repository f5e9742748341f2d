"""What each interval is: input, forward, backward, exchange, optimizer, …

A host row has the kind its name or structure says, else that of the row it is nested in.
A device row has the kind of the call that launched it, unless it moves data between ranks.
"""

from __future__ import annotations

import functools
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from stepviz.core.vocabulary import KINDS
from stepviz.traces.classifying.patterns import (
    EXCHANGE_EMULATED,
    EXCHANGE_HOST,
    EXCHANGE_KERNEL,
    OPTIMIZER_KERNEL,
    annotation_kind,
    operator_kind,
)
from stepviz.traces.reading.rows import CALLS, DEVICE, HOST, RankRows

IntArray = npt.NDArray[np.int64]

_OTHER: Final = "other"
#: Ends of nested rows may cross by this much: old profilers round to whole microseconds.
_ROUNDING_NS: Final = 1_000
_EVALUATE: Final = "autograd::engine::evaluate_function"


def with_kinds(rows: RankRows) -> pd.DataFrame:
    """Return the events with three more columns: kind, parent and launcher.

    `parent` is the row a host row is nested in, `launcher` the host call that launched a
    device row; −1 where there is none.
    """
    events = rows.events
    cats = events["cat"].astype(object).to_numpy()
    names = events["name"].astype(object).to_numpy()
    host = np.isin(cats, list(HOST))
    device = np.isin(cats, list(DEVICE))
    parent = np.full(len(events), -1, dtype=np.int64)
    kind = np.full(len(events), _OTHER, dtype=object)
    differentiated = _differentiated(events, names)
    for rows_of_track in _by_track(events, host):
        _nest(events, names, cats, rows_of_track, parent, kind, differentiated)
    _mark_exchange(events, names, host, kind)
    launcher = _launchers(events, cats, device)
    for row in np.flatnonzero(device):
        kind[row] = _device_kind(names[row], cats[row], kind, launcher[row])
    return events.assign(
        kind=pd.Categorical(kind, categories=list(KINDS)), parent=parent, launcher=launcher
    )


def _differentiated(events: pd.DataFrame, names: npt.NDArray[np.object_]) -> frozenset[int]:
    """Return the sequence numbers that backward comes back to: their operators are forward."""
    backward = events["sequence"].to_numpy()[
        np.fromiter((str(n).startswith(_EVALUATE) for n in names), np.bool_, len(names))
    ]
    return frozenset(int(s) for s in backward if s >= 0)


def _by_track(events: pd.DataFrame, host: npt.NDArray[np.bool_]) -> list[IntArray]:
    """Return the host rows of each thread, outer rows before the rows they hold."""
    start = events["start_ns"].to_numpy()
    finish = events["finish_ns"].to_numpy()
    track = events["track"].to_numpy()
    selected = np.flatnonzero(host)
    order = selected[np.lexsort((-finish[selected], start[selected], track[selected]))]
    if len(order) == 0:
        return []
    return np.split(order, np.flatnonzero(np.diff(track[order])) + 1)


def _nest(
    events: pd.DataFrame,
    names: npt.NDArray[np.object_],
    cats: npt.NDArray[np.object_],
    order: IntArray,
    parent: IntArray,
    kind: npt.NDArray[np.object_],
    differentiated: frozenset[int],
) -> None:
    start = events["start_ns"].to_numpy()
    finish = events["finish_ns"].to_numpy()
    sequence = events["sequence"].to_numpy()
    fwd_thread = events["fwd_thread"].to_numpy()
    operator = functools.cache(operator_kind)
    annotation = functools.cache(annotation_kind)
    stack: list[int] = []
    autograd: list[bool] = []
    for row in order.tolist():
        # Rows of one thread may overlap (queued work): only a row that ends within is inside,
        # give or take the profiler's rounding.
        while stack and (
            finish[stack[-1]] <= start[row] or finish[stack[-1]] + _ROUNDING_NS < finish[row]
        ):
            stack.pop()
            autograd.pop()
        outer = stack[-1] if stack else -1
        parent[row] = outer
        name = str(names[row])
        own = operator(name)
        if own is None and cats[row] in ("user_annotation", "python_function"):
            own = annotation(name) if cats[row] == "user_annotation" else None
        inside_autograd = autograd[-1] if autograd else False
        if own is None and sequence[row] >= 0 and fwd_thread[row] <= 0:
            if inside_autograd and cats[row] == "cpu_op":
                own = "recompute"
            elif (outer < 0 or kind[outer] == _OTHER) and int(sequence[row]) in differentiated:
                own = "forward"
        if own is None:
            own = kind[outer] if outer >= 0 else _OTHER
        kind[row] = own
        stack.append(row)
        autograd.append(name.startswith(_EVALUATE) or (inside_autograd and own == "backward"))


def _mark_exchange(
    events: pd.DataFrame,
    names: npt.NDArray[np.object_],
    host: npt.NDArray[np.bool_],
    kind: npt.NDArray[np.object_],
) -> None:
    """Mark exchange on host threads; transport inside an emulated exchange is not it."""
    start = events["start_ns"].to_numpy()
    finish = events["finish_ns"].to_numpy()
    rows = np.flatnonzero(host)
    emulated = np.array([r for r in rows if EXCHANGE_EMULATED.match(str(names[r]))], dtype=int)
    emulated = emulated[np.argsort(start[emulated], kind="stable")]
    kind[emulated] = "exchange"
    for row in rows:
        if not EXCHANGE_HOST.match(str(names[row])):
            continue
        at = int(np.searchsorted(start[emulated], start[row], side="right")) - 1
        inside = at >= 0 and start[row] < finish[emulated[at]]
        kind[row] = _OTHER if inside else "exchange"


def _launchers(
    events: pd.DataFrame, cats: npt.NDArray[np.object_], device: npt.NDArray[np.bool_]
) -> IntArray:
    """Return, per device row, the call with its correlation id (one call may launch many)."""
    correlation = events["correlation"].to_numpy()
    calls = np.flatnonzero(np.isin(cats, list(CALLS)) & (correlation >= 0))
    by_id = pd.Series(calls, index=correlation[calls])
    by_id = by_id[~by_id.index.duplicated(keep="first")]
    launcher = np.full(len(events), -1, dtype=np.int64)
    rows = np.flatnonzero(device & (correlation >= 0))
    launcher[rows] = by_id.reindex(correlation[rows]).fillna(-1).to_numpy(dtype=np.int64)
    return launcher


def _device_kind(name: str, cat: str, kind: npt.NDArray[np.object_], launcher: int) -> str:
    if cat == "kernel" and EXCHANGE_KERNEL.search(name):
        return "exchange"
    if launcher < 0 and OPTIMIZER_KERNEL.search(name):
        return "optimizer"
    inherited = str(kind[launcher]) if launcher >= 0 else _OTHER
    if inherited == _OTHER and "HtoD" in name:
        # Copies to the device outside every region: a batch on its way in.
        return "input"
    return inherited
