"""Ends of exchanges as stepviz's hook stamped them, which rows give later on a busy CPU.

A gloo thread writes the end of its row after it has told the training thread to go on; where it
loses its core in between, the row lies over the optimizer. The stamp is taken before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from stepviz.traces.reading.words import whole
from stepviz.traces.table import Table


def with_stamps(exchanges: Table, recorded: Mapping[str, Any], steps: Mapping[int, int]) -> Table:
    """Return exchanges that end when the record says that they were done.

    Parameters
    ----------
    exchanges
        Of one rank.
    recorded
        What its file says under ``stepviz``; used from record 1 on.
    steps
        The numbers of the rank's steps, by place.

    Notes
    -----
    The buckets of a step are its all-reduces in order of launch where there are as many of the
    same sizes; elsewhere nothing is changed. A stamp outside its row is not used.
    """
    entries = recorded.get("buckets")
    if not recorded.get("record") or not isinstance(entries, list):
        return exchanges
    said: dict[int, list[list[int]]] = {}  # launch, bytes, done of each bucket
    for entry in entries:
        if isinstance(entry, dict):
            values = [whole(entry.get(key)) for key in ("step", "launch_ns", "bytes", "done_ns")]
            if None not in values:
                step, *stamp = (int(value) for value in values if value is not None)
                said.setdefault(step, []).append(stamp)
    mine = (exchanges["collective"] == "all-reduce") & (exchanges["during"] == "backward")
    mine &= ~exchanges["emulated"] & ~exchanges["on_device"]
    rows = np.flatnonzero(mine)
    rows = rows[np.argsort(exchanges["launched_ns"][rows], kind="stable")]
    place = exchanges["place"][rows]
    finish, arrival = exchanges["finish_ns"].copy(), exchanges["arrival_ns"]
    for each in np.unique(place).tolist():
        stamps = sorted(said.get(steps.get(each, -1), []))
        at = rows[place == each]
        if exchanges["bytes"][at].tolist() != [size for _, size, _ in stamps]:
            continue
        done = np.array([stamp for _, _, stamp in stamps], dtype=np.int64)
        inside = (done > arrival[at]) & (done < finish[at])
        finish[at[inside]] = done[inside]
    return exchanges.assign(finish_ns=finish)
