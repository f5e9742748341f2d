"""What a rank's own thread does with a bucket: copies into it, starts its exchange, copies back.

None of it is exchange, and yet another cap changes when it happens: a bucket's gradients are copied
back once it has arrived, while later ones still travel, so that after the last exchange only the
last bucket is left. One large bucket leaves all of it to the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from stepviz.core.intervals import total, union

Floats = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_MS: Final = 1e6
#: Into a bucket; the first is that of DDP's own exchange, which divides as well.
_INTO: Final = ("torch::distributed::reducer::mul_out", "torch::distributed::reducer::copy_")
_BACK: Final = "torch.distributed.ddp.reducer::copy_bucket_to_grad"
#: Two buckets tell a slope where their sizes differ by this part of the largest one.
_APART: Final = 0.2


@dataclass(frozen=True)
class LaunchCost:
    """What starting an exchange takes on the thread that does it: ms, and ms for each byte."""

    fixed: float = 0.0
    per_byte: float = 0.0

    def ms(self, nbytes: float) -> float:
        """Return what it takes for so many bytes."""
        return self.fixed + self.per_byte * nbytes


def launch_cost(lengths: Sequence[float], nbytes: Sequence[float]) -> LaunchCost:
    """Fit a line to launches: the median slope of pairs, so that one that waited is no matter.

    Buckets of nearly one size tell no slope: what they differ by is divided by next to nothing.

    Parameters
    ----------
    lengths : sequence of float
        What each took, ms.
    nbytes : sequence of float
        How large each was; anything else than one for each length says nothing.

    Examples
    --------
    >>> launch_cost([1.0, 2.0, 3.0, 50.0], [10, 20, 30, 15]).ms(40)
    4.0
    """
    if not len(lengths):
        return LaunchCost()
    took = np.asarray(lengths, dtype=np.float64)
    if len(nbytes) != len(lengths):
        return LaunchCost(float(np.median(took)))
    size = np.asarray(nbytes, dtype=np.float64)
    slopes = [
        (took[b] - took[a]) / (size[b] - size[a])
        for a, b in combinations(range(len(took)), 2)
        if abs(size[a] - size[b]) >= _APART * size.max() > 0
    ]
    slope = max(float(np.median(slopes)), 0.0) if slopes else 0.0
    fixed = float(np.median(took - slope * size))
    if fixed < 0:
        return LaunchCost(0.0, float(np.median(took[size > 0] / size[size > 0])))
    return LaunchCost(fixed, slope)


def copied_into(events: pd.DataFrame, names: pd.Series, since: int, until: int) -> float:
    """Return how long gradients of a pass took to be copied into their buckets, ms."""
    rows = events[names.isin(list(_INTO)).to_numpy()]
    spans = rows[["start_ns", "finish_ns"]].to_numpy(dtype=np.int64)
    spans = spans[(spans[:, 0] >= since) & (spans[:, 1] <= until)]
    return float(total(union(spans))) / _MS if len(spans) else 0.0


def copied_back(
    events: pd.DataFrame, names: pd.Series, order: Sequence[int], since: int
) -> tuple[Floats, int | None]:
    """Return what each gradient took to be copied back, ms, and when the last one was.

    Parameters
    ----------
    events, names
        A rank's rows of a step, and their names as text.
    order
        Places of parameters in the order of the buckets.
    since
        The end of the last gradient, ns.

    Returns
    -------
    tuple of ndarray and int
        By place, nothing where DDP copies nothing (gradients are views of buckets); then the
        moment is None.
    """
    rows = events[names.eq(_BACK).to_numpy()]
    rows = rows[rows["start_ns"] >= since].sort_values("start_ns")
    nothing = np.zeros(len(order))
    if len(rows) != len(order):
        return nothing, None
    start, finish = (rows[c].to_numpy(dtype=np.int64) for c in ("start_ns", "finish_ns"))
    took = (finish - start) / _MS
    # Between two of a bucket lies the loop around them; between buckets, a wait.
    between = (start[1:] - finish[:-1]) / _MS
    usual = float(np.clip(np.quantile(between, 0.25), 0.0, np.median(took))) if len(took) > 1 else 0
    took[1:] += np.clip(between, 0.0, usual)
    nothing[list(order)] = took
    return nothing, int(finish[-1])
