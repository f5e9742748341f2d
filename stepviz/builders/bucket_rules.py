"""Which gradients share a bucket, and in which order buckets are launched: PyTorch DDP's rules.

Read in torch's `reducer.cpp` and `nn/parallel/distributed.py`, and checked against torch in the
tests:

- A gradient is appended to the open bucket of its dtype and device, then the bucket is closed if
  it has reached its limit. So buckets overshoot, and a gradient is never split.
- By default the first iteration has one bucket per dtype and device. Before the second, buckets
  are rebuilt once, in the order in which gradients were ready, the first with a limit of 1 MiB
  and the others with 25 MiB. A cap that the user sets holds for the first bucket too.
- A static graph is learnt in the first iteration, whose buckets wait for the end of backward; the
  order is taken in the second, and buckets are rebuilt before the third.
- With `find_unused_parameters` nothing is rebuilt: limits go along registration order, and the
  list of buckets is reversed, so the small first bucket comes last.
- Buckets are launched in index order; one that is ready early waits for those before it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd

from stepviz.builders.arguments import as_amount, as_count, as_flag, as_list
from stepviz.builders.parameters import Gradient, gradients_of
from stepviz.core.checks import as_real
from stepviz.errors import TimelineError, near

MIB: Final = 1024 * 1024
#: torch's defaults, MiB.
FIRST_BUCKET_MB: Final = 1.0
BUCKET_CAP_MB: Final = 25.0
#: From this iteration on buckets stay as they are.
STEADY: Final = 3


@dataclass(frozen=True)
class Limits:
    """Bucket limits in bytes, one per bucket of a dtype and device, the last one repeated."""

    sizes: tuple[float, ...]
    explicit: bool

    @classmethod
    def of(cls, bucket_cap_mb: Any, first_bucket_mb: Any) -> Limits:
        """Read `bucket_cap_mb` (a number, or a list of one per bucket) and `first_bucket_mb`."""
        if bucket_cap_mb is not None and as_real(bucket_cap_mb) is None:
            if first_bucket_mb is not None:
                msg = "first_bucket_mb: leave it out where bucket_cap_mb lists every bucket's cap"
                raise TimelineError(msg)
            caps = as_list(bucket_cap_mb, "bucket_cap_mb", "MiB, or a list with one per bucket")
            if not caps:
                msg = "bucket_cap_mb is empty: give MiB, or a list with one per bucket"
                raise TimelineError(msg)
            sizes = tuple(_bytes(cap, f"bucket_cap_mb[{k}]") for k, cap in enumerate(caps))
            return cls(sizes, explicit=True)
        cap = _bytes(BUCKET_CAP_MB if bucket_cap_mb is None else bucket_cap_mb, "bucket_cap_mb")
        if first_bucket_mb is not None:
            first = _bytes(first_bucket_mb, "first_bucket_mb")
        else:
            first = cap if bucket_cap_mb is not None else FIRST_BUCKET_MB * MIB
        return cls((first, cap), explicit=False)


def _bytes(mib: Any, name: str) -> float:
    if as_real(mib) == math.inf:
        return math.inf
    nbytes = as_amount(mib, name, "MiB") * MIB
    return float(int(nbytes)) if nbytes < math.inf else math.inf


def assign(
    gradients: Sequence[Gradient], limits: Sequence[float], order: Sequence[int] | None = None
) -> list[list[int]]:
    """Return buckets as lists of places in `gradients`.

    Along `order` where it is given, and the buckets stay in the order in which they closed;
    else along registration, and the buckets are sorted by the first gradient that they hold.
    """
    closed: list[list[int]] = []
    open_: dict[str, list[int]] = {}  # groups stay in the order in which they were first met
    size: dict[str, float] = {}
    limit: dict[str, int] = {}
    for place in range(len(gradients)) if order is None else order:
        gradient = gradients[place]
        if gradient.sparse:
            closed.append([place])
            continue
        group = gradient.group
        open_.setdefault(group, []).append(place)
        size[group] = size.get(group, 0.0) + gradient.nbytes
        at = limit.setdefault(group, 0)
        if size[group] >= limits[at]:
            closed.append(open_[group])
            open_[group] = []
            size[group] = 0.0
            limit[group] = min(at + 1, len(limits) - 1)
    # torch goes through a hash map here, which lists what was put in last first.
    closed += [bucket for bucket in reversed(open_.values()) if bucket]
    return sorted(closed, key=min) if order is None else closed


def launched(
    gradients: Sequence[Gradient],
    order: Sequence[int],
    limits: Limits,
    *,
    find_unused_parameters: bool,
    static_graph: bool = False,
    iteration: int = STEADY,
) -> list[list[int]]:
    """Return the buckets of an iteration in launch order, as places in `gradients`."""
    rebuilt = static_graph or not find_unused_parameters
    if rebuilt and iteration > (2 if static_graph else 1):
        return assign(gradients, limits.sizes, order)
    whole = rebuilt and not limits.explicit
    return assign(gradients, (math.inf,) if whole else limits.sizes)[::-1]


def ready_places(gradients: Sequence[Gradient], ready_order: Any) -> list[int]:
    """Return the places of gradients in the order in which they are ready.

    `ready_order` lists names or places; None is the reverse of registration.
    """
    if ready_order is None:
        return list(range(len(gradients)))[::-1]
    place = {gradient.name: k for k, gradient in enumerate(gradients)}
    found = []
    for item in as_list(ready_order, "ready_order", "names or places of the parameters"):
        if isinstance(item, str):
            if item not in place:
                msg = f"ready_order names {item!r}, which is no parameter: {near(item, place)}"
                raise TimelineError(msg)
            found.append(place[item])
        else:
            found.append(as_count(item, "a place in ready_order", least=0))
    if sorted(found) != list(range(len(gradients))):
        msg = (
            f"ready_order has {len(set(found))} of {len(gradients)} parameters: "
            "give each of them once"
        )
        raise TimelineError(msg)
    return found


def ddp_buckets(
    parameters: Any,
    *,
    bucket_cap_mb: float | Sequence[float] | None = None,
    first_bucket_mb: float | None = None,
    find_unused_parameters: bool = False,
    static_graph: bool = False,
    iteration: int = STEADY,
    ready_order: Sequence[str | int] | None = None,
) -> pd.DataFrame:
    """Return the buckets that PyTorch's DDP makes of these parameters, in launch order.

    Parameters
    ----------
    parameters
        Sizes in bytes, (name, bytes) pairs, a dict of bytes by name, a frame with `bytes` (and
        `name`, `dtype`), or a `torch.nn.Module`; in registration order.
    bucket_cap_mb : float or list of float, optional
        MiB; None is torch's default of 25 with a first bucket of 1. A list gives each bucket its
        own cap, as torch's `bucket_cap_mb_list` does.
    first_bucket_mb : float, optional
        MiB of the first bucket; None is `bucket_cap_mb` where that is given, else 1.
    find_unused_parameters, static_graph : bool
        As DDP's. Buckets are rebuilt in ready order unless unused parameters are looked for in a
        graph that may change.
    iteration : int
        1 for the first, in which buckets have not been rebuilt (nor have they in the second of a
        static graph); any later one is like 3.
    ready_order : list of str or int, optional
        Parameters in the order in which their gradients are ready, as names or places; None is
        the reverse of registration.

    Returns
    -------
    DataFrame
        Indexed by `bucket` from 1: `bytes`, `tensors` (how many), `parameters` (their names).
        Where several dtypes leave a bucket open at the end of a rebuild, torch appends these in
        the order of a hash map, which is that of its builds for Linux here: the dtype whose first
        gradient was ready last comes first.

    Examples
    --------
    A bucket is closed once it has reached its limit, so it may be nearly twice as large:

    >>> ddp_buckets([20 * 2**20] * 4)["bytes"] / 2**20
    bucket
    1    20.0
    2    40.0
    3    20.0
    Name: bytes, dtype: float64
    """
    gradients = gradients_of(parameters)
    buckets = launched(
        gradients,
        ready_places(gradients, ready_order),
        Limits.of(bucket_cap_mb, first_bucket_mb),
        find_unused_parameters=as_flag(find_unused_parameters, "find_unused_parameters"),
        static_graph=as_flag(static_graph, "static_graph"),
        iteration=as_count(iteration, "iteration"),
    )
    return bucket_frame(gradients, buckets)


def bucket_frame(gradients: Sequence[Gradient], buckets: Sequence[Sequence[int]]) -> pd.DataFrame:
    """Return buckets as a frame indexed from 1: bytes, tensors, parameters."""
    return pd.DataFrame(
        {
            "bytes": [math.fsum(gradients[k].nbytes for k in bucket) for bucket in buckets],
            "tensors": [len(bucket) for bucket in buckets],
            "parameters": [tuple(gradients[k].name for k in bucket) for bucket in buckets],
        },
        index=pd.RangeIndex(1, len(buckets) + 1, name="bucket"),
    )
