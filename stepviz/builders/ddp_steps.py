"""A data-parallel step: PyTorch DDP's buckets, on one link, as a timeline."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from stepviz.builders.arguments import as_count, as_flag, as_list, as_ms, each_ms
from stepviz.builders.bucket_rules import STEADY, Limits, launched, ready_places
from stepviz.builders.built import BuiltTimeline, Draft, held
from stepviz.builders.costs import CostModel, Ring, as_cost, each_cost
from stepviz.builders.parameters import (
    Gradient,
    Recorded,
    gradients_of,
    recorded_buckets,
    recorded_frame,
)
from stepviz.builders.passes import Bucket, add_inputs, add_optimizers, add_pass
from stepviz.core.checks import ms_text
from stepviz.errors import TimelineError

#: Stands in where no cost is given, and is said in the notes.
DEFAULT_COST: Final = Ring(ranks=8, latency=0.02, bandwidth=25)
MIB: Final = 2**20


@dataclass(frozen=True)
class Buckets:
    """A pass's buckets in launch order, the bytes behind them, and what was assumed."""

    buckets: list[Bucket]
    nbytes: list[float]
    notes: list[str]


def ddp(
    parameters: Any,
    *,
    backward: float,
    forward: float = 0.0,
    optimizer: float = 0.0,
    input: float = 0.0,  # noqa: A002 - the field's word for it
    bucket_cap_mb: float | Sequence[float] | None = None,
    first_bucket_mb: float | None = None,
    find_unused_parameters: bool = False,
    static_graph: bool = False,
    iteration: int = STEADY,
    ready_order: Sequence[str | int] | None = None,
    ready: Sequence[float] | None = None,
    gradient_as_bucket_view: bool = False,
    cost: Any = None,
    ranks: int = 1,
) -> BuiltTimeline:
    """Return a step of PyTorch's DistributedDataParallel, bucket by bucket.

    Parameters
    ----------
    parameters
        What is exchanged, in registration order: sizes in bytes, (name, bytes) pairs, a dict of
        bytes by name, a frame with `bytes`, a `torch.nn.Module`; or a captured step (a run's
        median one, or its `collectives`), whose buckets are taken as recorded, with their times
        and spacing.
    backward, forward, optimizer, input : float
        ms on each rank.
    bucket_cap_mb, first_bucket_mb, find_unused_parameters, static_graph, iteration, ready_order
        As for `ddp_buckets`. Recorded buckets are kept whole: a cap only joins them.
    ready : list of float, optional
        When each parameter's gradient is ready, ms from backward's start, in registration order.
        Without it backward's time is shared out by bytes, in ready order.
    gradient_as_bucket_view : bool
        As DDP's: gradients live in the buckets, so these cost no memory of their own.
    cost : CostModel, float or callable, optional
        How long a bucket takes: `Ring`, `Tree`, `AlphaBeta`, a fitted cost, ms per bucket, or a
        function from bytes to ms. Without it, what was recorded; else a ring of 8 at 25 GB/s and
        0.02 ms a hop, which the notes say.
    ranks : int
        How many ranks to draw; each has its own compute, and a bucket belongs to all of them.

    Returns
    -------
    BuiltTimeline
        An ordinary `Timeline`: backward cut where buckets become ready, one exchange a bucket on
        the lane `link`, then the optimizer; ``.memory`` and ``.notes`` beside it. Every dependency
        is `assumed`.

    Raises
    ------
    TimelineError, CostError
        A number, size or order without meaning; the message names the argument.

    Examples
    --------
    Seven buckets of 50 ms; the last is ready at the end of backward, so 50 ms stay exposed:

    >>> step = ddp([1] * 7, backward=400, bucket_cap_mb=0, cost=50, ready=range(400, 50, -50))
    >>> step.completion, float(step.schedule().exposed("exchange")[0])
    (450.0, 50.0)
    """
    n = as_count(ranks, "ranks")
    times = {
        "backward": as_ms(backward, "backward"),
        "forward": as_ms(forward, "forward"),
        "optimizer": as_ms(optimizer, "optimizer"),
        "input": as_ms(input, "input"),
    }
    found = buckets_of(
        parameters,
        times["backward"],
        cost,
        limits=(bucket_cap_mb, first_bucket_mb),
        find_unused_parameters=find_unused_parameters,
        static_graph=static_graph,
        iteration=iteration,
        ready_order=ready_order,
        ready=ready,
    )
    draft = Draft()
    inputs = add_inputs(draft, n, times["input"])
    ends = add_pass(
        draft,
        inputs,
        forward=times["forward"],
        backward=times["backward"],
        buckets=found.buckets,
    )
    add_optimizers(draft, ends, times["optimizer"])
    count = len(found.buckets)
    return draft.timeline(
        f"DDP, {count} bucket{'s' if count > 1 else ''}",
        memory=gradient_memory(found.nbytes, views=gradient_as_bucket_view),
        notes=found.notes,
    )


def bucket_queue(
    ready: Sequence[float], service: float | Sequence[float], *, backward: float | None = None
) -> BuiltTimeline:
    """Return buckets on one link as a queue: starts in order, each when it and the link are ready.

    start = max(ready, end of the bucket before). The same service times leave different tails
    when readiness changes.

    Parameters
    ----------
    ready : list of float
        When each bucket is ready, ms from backward's start, in launch order.
    service : float or list of float
        ms on the link, for all buckets or for each.
    backward : float, optional
        When backward ends, ms; without it, when the last bucket is ready.

    Returns
    -------
    BuiltTimeline
        Its completion is the end of the last bucket, or of backward where that is later.

    Examples
    --------
    >>> bucket_queue([100, 200, 300, 400], 60).completion, bucket_queue([400] * 4, 60).completion
    (460.0, 640.0)
    """
    moments = _moments(ready, "ready")
    if not moments:
        msg = "ready is empty: give a time in ms for each bucket"
        raise TimelineError(msg)
    services = each_ms(service, len(moments), "service", "bucket")
    end = max(moments) if backward is None else as_ms(backward, "backward")
    _within(moments, end)
    draft = Draft()
    buckets = [Bucket(*pair) for pair in zip(moments, services, strict=True)]
    ends = add_pass(draft, add_inputs(draft, 1, 0.0), forward=0.0, backward=end, buckets=buckets)
    add_optimizers(draft, ends, 0.0)
    return draft.timeline(f"queue of {len(moments)} buckets")


def buckets_of(
    parameters: Any,
    backward: float,
    cost: Any,
    *,
    limits: tuple[Any, Any],
    find_unused_parameters: Any,
    static_graph: Any,
    iteration: Any,
    ready_order: Any,
    ready: Any,
) -> Buckets:
    """Return the buckets of one pass, from parameters or from a recorded step."""
    model = None if cost is None else as_cost(cost)
    capped = any(limit is not None for limit in limits)
    caps = Limits.of(*limits)
    frame = recorded_frame(parameters)
    if frame is not None:
        return _recorded(recorded_buckets(frame), backward, model, caps if capped else None)
    gradients = gradients_of(parameters)
    notes = []
    if model is None:
        model = DEFAULT_COST
        notes.append(
            f"No cost was given: a ring of {model.ranks} ranks at {model.bandwidth:g} GB/s and "
            f"{model.latency:g} ms a hop is assumed."
        )
    if ready is None:
        order = ready_places(gradients, ready_order)
        moments = _by_bytes(gradients, order, backward)
        notes.append("Gradients become ready over backward in proportion to their bytes.")
    else:
        if ready_order is not None:
            msg = "give ready or ready_order, not both: the times say the order"
            raise TimelineError(msg)
        moments = _moments(ready, "ready")
        if len(moments) != len(gradients):
            msg = f"ready has {len(moments)} times for {len(gradients)} parameters: give one each"
            raise TimelineError(msg)
        _within(moments, backward)
        # Of two that are ready at once, the one registered later comes first, as in autograd.
        order = sorted(range(len(gradients)), key=lambda k: (moments[k], -k))
    static, count = as_flag(static_graph, "static_graph"), as_count(iteration, "iteration")
    found = launched(
        gradients,
        order,
        caps,
        find_unused_parameters=as_flag(find_unused_parameters, "find_unused_parameters"),
        static_graph=static,
        iteration=count,
    )
    if static and count == 1:
        moments = [backward] * len(gradients)
        notes.append("A static graph is learnt in its first pass, which exchanges after backward.")
    sizes = [math.fsum(gradients[k].nbytes for k in bucket) for bucket in found]
    services = each_cost(model, sizes)
    buckets = [
        Bucket(max(moments[k] for k in bucket), service)
        for bucket, service in zip(found, services, strict=True)
    ]
    return Buckets(buckets, sizes, notes)


def _recorded(
    recorded: Recorded, backward: float, model: CostModel | None, caps: Limits | None
) -> Buckets:
    gradients, lead = recorded.gradients, recorded.lead_ms
    if max(lead) > backward * (1 + 1e-12):
        msg = (
            f"backward is {ms_text(backward)} ms, but the first bucket was ready "
            f"{ms_text(max(lead))} ms before the last: give a backward at least as long"
        )
        raise TimelineError(msg)
    notes = ["Buckets are ready as they were recorded, the last one at the end of backward."]
    groups = [[k] for k in range(len(gradients))]
    if caps is not None:
        groups = launched(gradients, range(len(gradients)), caps, find_unused_parameters=False)
        notes.append("Recorded buckets are joined, never split: what is in them is not known.")
    sizes = [math.fsum(gradients[k].nbytes for k in group) for group in groups]
    if model is not None:
        services = each_cost(model, sizes)
    else:
        known = [recorded.transfer_ms[group[0]] for group in groups]
        if caps is not None or any(ms is None for ms in known):
            why = "joined buckets" if caps is not None else "these collectives' transfers"
            msg = (
                f"cost: the run does not say how long {why} take; give a cost, such as a fitted one"
            )
            raise TimelineError(msg)
        services = [ms for ms in known if ms is not None]
    buckets = [
        Bucket(max(backward - min(lead[k] for k in group), 0.0), service)
        for group, service in zip(groups, services, strict=True)
    ]
    return Buckets(buckets, sizes, notes)


def _by_bytes(gradients: Sequence[Gradient], order: Sequence[int], backward: float) -> list[float]:
    """When each gradient is ready if backward's time is shared out by bytes."""
    sizes = [gradients[k].nbytes for k in order]
    if not any(sizes):
        sizes = [1.0] * len(sizes)
    reached = list(itertools.accumulate(sizes))
    moments = [0.0] * len(gradients)
    for place, done in zip(order, reached, strict=True):
        moments[place] = backward * (done / reached[-1])
    return moments


def _moments(ready: Any, name: str) -> list[float]:
    values = as_list(ready, name, "a list of ms from backward's start")
    return [as_ms(value, f"{name}[{k}]") for k, value in enumerate(values)]


def _within(moments: Sequence[float], backward: float) -> None:
    if max(moments) > backward * (1 + 1e-9):  # sums of parts end there to rounding only
        msg = (
            f"ready goes to {ms_text(max(moments))} ms, but backward ends at "
            f"{ms_text(backward)} ms: no gradient is ready after it, so give earlier "
            "times or a longer backward"
        )
        raise TimelineError(msg)


def gradient_memory(sizes: Sequence[float], *, views: Any) -> list[dict[str, Any]]:
    """Return what gradients and their buckets hold on each rank."""
    total = math.fsum(sizes)
    as_views = as_flag(views, "gradient_as_bucket_view")
    return [
        held(None, "gradients", 1, total, "bytes of all gradients"),
        held(
            None,
            "bucket buffers",
            0 if as_views else 1,
            total,
            "0: gradients are views of the buckets" if as_views else "bytes of all gradients",
        ),
    ]
