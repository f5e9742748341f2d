"""Arrows of a file: from forward operators to backward ones, from launches to device rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

#: How arrows of autograd, and those from launches to device rows, are called; old names too.
_DIFFERENTIATED: Final = "fwdbwd"
_LAUNCH: Final = ("ac2g", "async")

Arrows = Mapping[str, npt.NDArray[Any]]


def autograd_flows(arrows: Arrows, cats: Mapping[str, int], base: int) -> pd.DataFrame:
    """Return forward_ns and backward_ns of autograd's arrows, by id (ids are a file's own).

    Parameters
    ----------
    arrows
        Columns at, at_ok, ends, id, cat, track of the file's arrows.
    cats
        Numbers of the categories in `cat`.
    base
        What to add to the file's times, ns.
    """
    starts, ends = _both_ends(arrows, cats, (_DIFFERENTIATED,))
    both = starts.drop_duplicates("id", keep="last").merge(
        ends.drop_duplicates("id", keep="last"), on="id", suffixes=("_s", "_f")
    )
    both = both.sort_values("id")
    return pd.DataFrame(
        {
            "forward_ns": both["at_s"].to_numpy(dtype=np.int64) + base,
            "backward_ns": both["at_f"].to_numpy(dtype=np.int64) + base,
        },
        index=pd.Index(both["id"].to_numpy(dtype=np.int64), name="flow"),
    )


def launch_flows(arrows: Arrows, cats: Mapping[str, int], base: int) -> pd.DataFrame:
    """Return host_ns, host_track, device_ns, device_track of the arrows from launches.

    A track is −1 where no row lies on it. Parameters as for `autograd_flows`.
    """
    starts, ends = _both_ends(arrows, cats, _LAUNCH)
    # One launch of a graph starts many rows; calls that launch nothing have an end only.
    both = starts.drop_duplicates("id").merge(ends, on="id", suffixes=("_s", "_f"))
    both = both[(both["track_s"] != both["track_f"]) | (both["track_f"] < 0)]
    both = both.sort_values("id", kind="stable")
    return pd.DataFrame(
        {
            "host_ns": both["at_s"].to_numpy(dtype=np.int64) + base,
            "host_track": both["track_s"].to_numpy(dtype=np.int64),
            "device_ns": both["at_f"].to_numpy(dtype=np.int64) + base,
            "device_track": both["track_f"].to_numpy(dtype=np.int64),
        }
    )


def _both_ends(
    arrows: Arrows, cats: Mapping[str, int], words: Iterable[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return id, at and track of the arrows' starts and of their ends."""
    if not arrows:
        none = pd.DataFrame({"id": [], "at": [], "track": []}, dtype=np.int64)
        return none, none
    known = [code for name, code in cats.items() if name.startswith(tuple(words))]
    chosen = arrows["at_ok"] & (arrows["id"] >= 0) & np.isin(arrows["cat"], known)
    frame = pd.DataFrame({name: arrows[name] for name in ("id", "at", "track")})
    return frame[chosen & ~arrows["ends"]], frame[chosen & arrows["ends"]]
