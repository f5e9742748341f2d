"""Which rows of a trace are work itself: kernels, or on a CPU the operators that do it."""

from __future__ import annotations

import numpy as np
import pandas as pd

from stepviz.indices import as_index


def own_work(events: pd.DataFrame) -> tuple[pd.Series[float], bool]:
    """Return each row's own time, ns, NaN where it is none, and whether the run has a device.

    Of a run with a device its kernels are the work. Else operators of the host are, each without
    what the rows inside it take; an annotation is none, since it may hold waits.
    """
    length = (events["finish_ns"] - events["start_ns"]).to_numpy(dtype=np.float64)
    kernels = events["cat"].eq("kernel").to_numpy()
    if kernels.any():
        return pd.Series(np.where(kernels, length, np.nan), index=events.index), True
    parents = events["parent"].to_numpy()
    inside = parents >= 0
    own = length - np.bincount(
        as_index(parents[inside]), weights=length[inside], minlength=len(events)
    )
    operators = events["cat"].eq("cpu_op").to_numpy()
    return pd.Series(np.where(operators, np.maximum(own, 0.0), np.nan), index=events.index), False


def doing(events: pd.DataFrame) -> pd.Series[bool]:
    """Say which rows are work themselves: kernels, or host rows that do half of it on their own."""
    own, device = own_work(events)
    if device:
        return own.notna()
    length = events["finish_ns"] - events["start_ns"]
    return (own >= 0.5 * length) & (length > 0)
