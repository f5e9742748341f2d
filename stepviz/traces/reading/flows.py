"""Arrows of a file: from forward operators to backward ones, from launches to device rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pandas as pd

from stepviz.traces.reading.exact import nanoseconds
from stepviz.traces.reading.words import whole

_DIFFERENTIATED: Final = "fwdbwd"
#: New and old names of the arrow from a launch to its device row.
_LAUNCH: Final = ("ac2g", "async")

Ends = dict[str, dict[int, list[tuple[int, int]]]]


def flows(
    events: list[dict[str, Any]], base: int, codes: Mapping[tuple[str, str], int]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the arrows of a file, joined by id (ids are local to a file).

    Parameters
    ----------
    events
        All events of the file.
    base
        What to add to its times, ns.
    codes
        Number of each track by pid and tid.

    Returns
    -------
    tuple of DataFrame
        forward_ns, backward_ns of the arrows of autograd, indexed by flow; host_ns, host_track,
        device_ns, device_track of those of launches (track −1 where no row lies on it).
    """
    found: dict[str, Ends] = {"grad": {"s": {}, "f": {}}, "launch": {"s": {}, "f": {}}}
    for event in events:
        phase = event.get("ph")
        if phase not in ("s", "f"):
            continue
        kind = _kind(str(event.get("cat", event.get("name", ""))))
        flow, at = whole(event.get("id")), nanoseconds(event.get("ts"))
        if kind is None or flow is None or at is None:
            continue
        track = codes.get((str(event.get("pid", "")), str(event.get("tid", ""))), -1)
        found[kind][phase].setdefault(flow, []).append((at + base, track))
    return _autograd(found["grad"]), _launches(found["launch"])


def _kind(word: str) -> str | None:
    if word.startswith(_DIFFERENTIATED):
        return "grad"
    return "launch" if word.startswith(_LAUNCH) else None


def _autograd(ends: Ends) -> pd.DataFrame:
    both = sorted(ends["s"].keys() & ends["f"].keys())
    return pd.DataFrame(
        {
            "forward_ns": np.array([ends["s"][i][-1][0] for i in both], dtype=np.int64),
            "backward_ns": np.array([ends["f"][i][-1][0] for i in both], dtype=np.int64),
        },
        index=pd.Index(both, name="flow", dtype=np.int64),
    )


def _launches(ends: Ends) -> pd.DataFrame:
    # One launch of a graph starts many rows; calls that launch nothing have an end only.
    pairs = [
        (*ends["s"][flow][0], *end)
        for flow in sorted(ends["s"].keys() & ends["f"].keys())
        for end in ends["f"][flow]
        if end[1] != ends["s"][flow][0][1] or end[1] < 0
    ]
    return pd.DataFrame(
        np.array(pairs, dtype=np.int64).reshape(-1, 4),
        columns=["host_ns", "host_track", "device_ns", "device_track"],
    )
