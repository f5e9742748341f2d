"""An input pipeline: loader workers that fetch ahead of the steps that use their batches."""

from __future__ import annotations

from collections.abc import Sequence

from stepviz.builders.arguments import as_amount, as_count, each_ms
from stepviz.builders.built import BuiltTimeline, Draft, held
from stepviz.builders.costs import BYTES_PER_MS
from stepviz.builders.passes import COMPUTE
from stepviz.errors import TimelineError


def input_pipeline(
    *,
    batches: int,
    compute: float | Sequence[float],
    load: float | Sequence[float],
    workers: int = 1,
    prefetch: int = 2,
    read: float | Sequence[float] = 0.0,
    batch_bytes: float | None = None,
    storage_rate: float | None = None,
) -> BuiltTimeline:
    """Return `batches` steps that are fed by loader workers, as torch's DataLoader feeds them.

    Batch i belongs to worker i mod W, which reads it from a storage that all share, then prepares
    it. At most W · `prefetch` batches are under way or waiting: the next is asked for when a step
    takes one. In the long run a step takes the longest of its compute, its read, and
    (read + load)/W: depth hides unevenness, it cures no rate that is too low.

    Parameters
    ----------
    batches : int
        How many steps to show.
    compute : float, or one per batch
        ms a step computes.
    load : float, or one per batch
        ms a worker prepares a batch.
    workers : int
        W; 0 loads in the training loop, between steps.
    prefetch : int
        Batches ahead per worker, torch's `prefetch_factor`.
    read : float, or one per batch
        ms a batch takes from storage, one at a time. Or give `batch_bytes` and `storage_rate`.
    batch_bytes : float, optional
        Bytes of a batch, for the time to read it and for `.memory`.
    storage_rate : float, optional
        GB/s that the storage sustains.

    Returns
    -------
    BuiltTimeline
        Phases ``read i``, ``load i`` (kind input) and ``compute i``; `.memory` has the batches
        held on the host. See `step_times`.

    Examples
    --------
    Storage of 0.5 GB/s gives a batch of 10 MB every 20 ms, at any depth:

    >>> from stepviz.builders.chaining import step_times
    >>> for depth in (1, 8):
    ...     fed = input_pipeline(
    ...         batches=40,
    ...         compute=10,
    ...         load=5,
    ...         workers=4,
    ...         prefetch=depth,
    ...         batch_bytes=10e6,
    ...         storage_rate=0.5,
    ...     )
    ...     float(step_times(fed)["interval"].iloc[-1])
    20.0
    20.0
    """
    n, w = as_count(batches, "batches"), as_count(workers, "workers", least=0)
    depth = as_count(prefetch, "prefetch")
    lasts, prepares = each_ms(compute, n, "compute", "batch"), each_ms(load, n, "load", "batch")
    fetches = _read_ms(read, n, batch_bytes, storage_rate)
    reads = any(fetches)
    size = None if batch_bytes is None else as_amount(batch_bytes, "batch_bytes", "bytes")
    draft = Draft()
    ahead = w * depth
    for i in range(n):
        lane = f"loader {i % w}" if w else COMPUTE
        first = f"load {i + 1}"
        if reads:
            where = "storage" if w else COMPUTE
            first = draft.phase(f"read {i + 1}", "input", fetches[i], lane=where)
        draft.phase(f"load {i + 1}", "input", prepares[i], lane=lane)
        if reads:
            draft.link(first, f"load {i + 1}")
            if w and i >= w:  # a worker is busy with a batch from its read to its end
                draft.link(f"load {i + 1 - w}", first)
        if w and i >= ahead:
            draft.link(f"compute {i + 1 - ahead}", first, "SS")
        name = draft.phase(f"compute {i + 1}", "forward", lasts[i], lane=COMPUTE)
        draft.link(f"load {i + 1}", name)
    count = ahead if w else 1
    formula = "workers · prefetch" if w else "1, loaded between steps"
    return draft.timeline(
        f"{n} batches, {w} worker{'s' if w != 1 else ''}, {depth} ahead each",
        memory=[held(0, "batches on the host", count, size, formula)],
    )


def _read_ms(
    read: float | Sequence[float], n: int, batch_bytes: float | None, storage_rate: float | None
) -> list[float]:
    fetches = each_ms(read, n, "read", "batch")
    if storage_rate is None:
        return fetches
    if any(fetches):
        msg = "read and storage_rate both say how long a read takes: give one of them"
        raise TimelineError(msg)
    if batch_bytes is None:
        msg = "storage_rate needs batch_bytes, the bytes of a batch"
        raise TimelineError(msg)
    rate = as_amount(storage_rate, "storage_rate", "GB/s", above=0)
    return [as_amount(batch_bytes, "batch_bytes", "bytes") / (rate * BYTES_PER_MS)] * n
