"""What each device row is: exchange by its own name or place, else as its launch says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from stepviz.core.vocabulary import KINDS
from stepviz.traces.classifying.added_patterns import Names
from stepviz.traces.classifying.nesting import nearest
from stepviz.traces.classifying.patterns import (
    COPY_BETWEEN,
    COPY_IN,
    COPY_WITHIN,
    LIKELY_OPTIMIZER_KERNEL,
    OPTIMIZER_KERNEL,
    is_exchange_kernel,
)
from stepviz.traces.reading.masks import among
from stepviz.traces.reading.rows import CALLS, COLLECTIVE, DEVICE
from stepviz.traces.table import Table

IntArray = npt.NDArray[np.int64]
CodeArray = npt.NDArray[np.int8]
BoolArray = npt.NDArray[np.bool_]

EXCHANGE: Final = KINDS.index("exchange")
OTHER: Final = KINDS.index("other")
_INPUT: Final = KINDS.index("input")
_OPTIMIZER: Final = KINDS.index("optimizer")


class _ByName(Protocol):
    def coded(self, code: Callable[[str], int], chosen: BoolArray) -> CodeArray: ...


class DeviceNames:
    """What the names of device rows say, each asked once."""

    def __init__(self, names: Names, by_name: _ByName) -> None:
        self._names = names
        self._by_name = by_name

    def said(self, chosen: BoolArray) -> CodeArray:
        """Return the kinds that users' patterns give, −1 where none does."""
        if not self._names.asks("kernel"):
            return np.full(len(chosen), -1, dtype=np.int8)

        def code(name: str) -> int:
            pattern = self._names.said("kernel", name)
            return -1 if pattern is None else KINDS.index(pattern.kind)

        return self._by_name.coded(code, chosen)

    def are(self, test: Callable[[str], object], chosen: BoolArray) -> BoolArray:
        """Return which of the chosen rows have a name that passes a test."""
        return np.asarray(self._by_name.coded(lambda name: 1 if test(name) else -1, chosen) == 1)


def device_kinds(
    events: Table,
    names: DeviceNames,
    kind: CodeArray,
    *,
    launcher: IntArray,
    source: IntArray,
    parent: IntArray,
    region: BoolArray,
    graph: BoolArray,
    said: IntArray,
    exchanging: BoolArray,
) -> None:
    """Write the kinds of device rows beside those of host rows.

    Parameters
    ----------
    events, kind
        All rows, and their kinds so far.
    names
        What names say.
    launcher, source, parent
        See `with_kinds`.
    region
        Host rows from inside which a copy between devices is a collective's.
    graph
        Calls that launch a whole graph.
    said
        Rows whose arguments name a collective.
    exchanging
        Host rows from inside which all that is launched is exchange.
    """
    cat = events["cat"]
    device = among(cat, DEVICE)
    rows = np.flatnonzero(device)
    copies = among(cat, ("gpu_memcpy",))
    kernels = device & ~copies & ~among(cat, ("gpu_memset",))
    known = source >= 0

    inherited = np.full(len(events), OTHER, dtype=np.int8)
    inherited[known] = kind[source[known]]
    # Exchange on the host is a thread's; what is launched from there is judged by itself.
    inherited[inherited == EXCHANGE] = OTHER
    untold = device & (inherited == OTHER)
    from_graph = np.zeros(len(events), dtype=np.bool_)
    launched = launcher >= 0
    from_graph[launched] = graph[launcher[launched]]
    vague = device & (~known | from_graph)
    optimizer = names.are(OPTIMIZER_KERNEL.search, kernels & (untold | vague))
    optimizer |= names.are(LIKELY_OPTIMIZER_KERNEL.search, kernels & vague & (untold | from_graph))
    inherited[optimizer] = _OPTIMIZER
    # Copies to the device outside every region: a batch on its way in.
    inherited[names.are(COPY_IN.search, copies & untold)] = _INPUT

    exchange = among(cat, (COLLECTIVE,)) | names.are(is_exchange_kernel, kernels)
    told = np.zeros(len(events), dtype=np.bool_)
    told[said] = True
    exchange |= told & device
    from_exchanging = np.zeros(len(events), dtype=np.bool_)
    from_exchanging[known] = exchanging[source[known]]
    exchange |= from_exchanging & device
    exchange |= _copied(events, names, copies, source, parent, region)
    exchange |= _beside_exchange(events, names, copies & vague, device, exchange)
    result = np.where(exchange, np.int8(EXCHANGE), inherited)
    own = names.said(device)
    kind[rows] = np.where(own >= 0, own, result)[rows]


def _copied(
    events: Table,
    names: DeviceNames,
    copies: BoolArray,
    source: IntArray,
    parent: IntArray,
    region: BoolArray,
) -> BoolArray:
    """Return copies that are a collective's: copy engines do its work without a kernel.

    Between devices: wherever a collective's launch holds the call. Within one, where the call
    is the collective's own and not an operator's, which may only gather its buffers.
    """
    found = np.zeros(len(events), dtype=np.bool_)
    if not region.any():
        return found
    rows = np.flatnonzero(copies & (source >= 0))
    holder = nearest(parent, region)[source[rows]]
    rows, holder = rows[holder >= 0], holder[holder >= 0]
    between = names.are(COPY_BETWEEN.search, copies)[rows]
    within = names.are(COPY_WITHIN.search, copies)[rows]
    calls = among(events["cat"], CALLS)
    outer = nearest(parent, ~calls)[source[rows]]
    found[rows] = between | (within & (outer == holder))
    return found


def _beside_exchange(
    events: Table,
    names: DeviceNames,
    vague: BoolArray,
    device: BoolArray,
    exchange: BoolArray,
) -> BoolArray:
    """Return copies between devices whose launch tells nothing, on streams of exchange alone."""
    found = np.zeros(len(events), dtype=np.bool_)
    rows = np.flatnonzero(names.are(COPY_BETWEEN.search, vague))
    if len(rows) == 0:
        return found
    track = events["track"]
    work = device & ~among(events["cat"], ("gpu_memcpy",))
    links = np.setdiff1d(np.unique(track[work & exchange]), np.unique(track[work & ~exchange]))
    found[rows] = np.isin(track[rows], links)
    return found
