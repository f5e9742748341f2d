"""Which host row each device row comes from: the call that launched it, else its operator."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from stepviz.traces.reading.flows import LaunchFlows
from stepviz.traces.reading.masks import among
from stepviz.traces.reading.rows import CALLS, DEVICE, RankRows
from stepviz.traces.table import Table

IntArray = npt.NDArray[np.int64]


class Launchers(NamedTuple):
    """By row of the events, −1 where there is none.

    `launcher` is the call that launched a device row; `source` that, or the operator that
    the profiler says it belongs to where the call is not in the file.
    """

    launcher: IntArray
    source: IntArray


def launchers(rows: RankRows) -> Launchers:
    """Return where the device rows of a file come from."""
    events = rows.events
    device = np.flatnonzero(among(events["cat"], DEVICE))
    call = np.flatnonzero(among(events["cat"], CALLS))
    start = events["start_ns"]
    launcher = np.full(len(events), -1, dtype=np.int64)
    correlation = events["correlation"]
    launcher[device] = _by_id(start, correlation, call, device)
    lost = device[launcher[device] < 0]
    if len(lost) and len(rows.launch_flows):
        launcher[lost] = _by_arrow(events, rows.launch_flows, call, lost)
        lost = device[launcher[device] < 0]
    source = launcher.copy()
    if len(lost):
        operator = np.flatnonzero(among(events["cat"], ("cpu_op",)))
        source[lost] = _by_id(start, events["external"], operator, lost)
        lost = lost[source[lost] < 0]
    if len(lost) and len(rows.launch_flows):
        # Ascend's arrows begin at the operator.
        source[lost] = _by_arrow(events, rows.launch_flows, operator, lost)
    return Launchers(launcher, source)


def _by_id(start: IntArray, number: IntArray, host: IntArray, device: IntArray) -> IntArray:
    """Return, per device row, the host row of the same number (one may have many device rows).

    Where numbers come again it is the last of them that began before the device row.
    """
    host = host[number[host] >= 0]
    found = np.full(len(device), -1, dtype=np.int64)
    if len(host) == 0 or len(device) == 0:
        return found
    host = host[np.lexsort((start[host], number[host]))]
    known = number[host]
    first = np.searchsorted(known, number[device], side="left")
    beyond = np.searchsorted(known, number[device], side="right")
    there = (beyond > first) & (number[device] >= 0)
    found[there] = host[first[there]]
    several = np.flatnonzero(there & (beyond - first > 1))
    for at in several.tolist():
        same = host[first[at] : beyond[at]]
        before = int(np.searchsorted(start[same], start[device[at]], side="right"))
        # Nought is what some back ends write where they know no number.
        nothing = number[device[at]] == 0
        found[at] = -1 if nothing else same[max(before - 1, 0)]
    return found


def _by_arrow(events: Table, arrows: LaunchFlows, call: IntArray, device: IntArray) -> IntArray:
    """Return, per device row, the call from which an arrow leads to it."""
    found = np.full(len(device), -1, dtype=np.int64)
    host = _row_at(events, call, arrows.host_track, arrows.host_ns)
    there = _row_at(events, device, arrows.device_track, arrows.device_ns)
    both = (host >= 0) & (there >= 0)
    place = np.full(len(events), -1, dtype=np.int64)
    place[device] = np.arange(len(device))
    found[place[there[both]]] = host[both]
    return found


def _row_at(events: Table, rows: IntArray, at_track: IntArray, at: IntArray) -> IntArray:
    """Return, per track and moment, the row that starts there or still runs; −1 where none."""
    start, finish = events["start_ns"], events["finish_ns"]
    track = events["track"]
    found = np.full(len(at), -1, dtype=np.int64)
    for one in np.unique(at_track):
        own = rows[track[rows] == one]
        own = own[np.argsort(start[own], kind="stable")]
        wanted = np.flatnonzero(at_track == one)
        before = np.searchsorted(start[own], at[wanted], side="right") - 1
        wanted, before = wanted[before >= 0], before[before >= 0]
        runs = (finish[own[before]] >= at[wanted]) | (start[own[before]] == at[wanted])
        found[wanted[runs]] = own[before[runs]]
    return found
