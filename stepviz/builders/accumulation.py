"""Gradient accumulation under DDP: several passes to an update, exchange on the last or on all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stepviz.builders.arguments import as_amount, as_count, as_flag, as_ms
from stepviz.builders.bucket_rules import STEADY
from stepviz.builders.built import BuiltTimeline, Draft, held
from stepviz.builders.ddp_steps import buckets_of, gradient_memory
from stepviz.builders.passes import Ends, add_inputs, add_optimizers, add_pass


def accumulated(
    parameters: Any,
    *,
    microbatches: int,
    backward: float,
    forward: float = 0.0,
    optimizer: float = 0.0,
    input: float = 0.0,  # noqa: A002 - the field's word for it
    no_sync: bool = True,
    bucket_cap_mb: float | Sequence[float] | None = None,
    first_bucket_mb: float | None = None,
    find_unused_parameters: bool = False,
    static_graph: bool = False,
    ready_order: Sequence[str | int] | None = None,
    ready: Sequence[float] | None = None,
    gradient_as_bucket_view: bool = False,
    activation_bytes: float | None = None,
    cost: Any = None,
    ranks: int = 1,
) -> BuiltTimeline:
    """Return an update of several microbatches under DDP.

    With `no_sync`, passes before the last exchange nothing: (a − 1)(F + B) + F + B + tail +
    optimizer. The classic trap is to exchange on every pass, a(F + B + tail) + optimizer: DDP
    waits for its buckets at the end of each backward. It also springs where only the backward is
    inside `no_sync`, since DDP arms its hooks in the forward.

    Parameters
    ----------
    parameters, bucket_cap_mb, first_bucket_mb, find_unused_parameters, static_graph
        As for `ddp`.
    ready_order, ready, gradient_as_bucket_view, cost, ranks
        As for `ddp`.
    microbatches : int
        a, passes to an update.
    backward, forward, input : float
        ms of one microbatch on each rank.
    optimizer : float
        ms once an update.
    no_sync : bool
        Whether passes before the last are inside DDP's `no_sync`, forward and backward.
    activation_bytes : float, optional
        Bytes of one microbatch's activations, for `.memory`: only one is held at a time.

    Returns
    -------
    BuiltTimeline
        Phases of pass i are named ``pass i …``.

    Examples
    --------
    >>> options = {"microbatches": 4, "forward": 10, "backward": 20, "cost": 6, "optimizer": 5}
    >>> accumulated([1], **options).completion
    131.0
    >>> accumulated([1], no_sync=False, **options).completion
    149.0
    """
    a, n = as_count(microbatches, "microbatches"), as_count(ranks, "ranks")
    f, b = as_ms(forward, "forward"), as_ms(backward, "backward")
    batch, update = as_ms(input, "input"), as_ms(optimizer, "optimizer")
    quiet = as_flag(no_sync, "no_sync")
    found = buckets_of(
        parameters,
        b,
        cost,
        limits=(bucket_cap_mb, first_bucket_mb),
        find_unused_parameters=find_unused_parameters,
        static_graph=static_graph,
        iteration=STEADY,
        ready_order=ready_order,
        ready=ready,
    )
    draft = Draft()
    ends: Ends | None = None
    for i in range(1, a + 1):
        label = f"pass {i} "
        exchanged = found.buckets if i == a or not quiet else []
        before = ends
        inputs = add_inputs(draft, n, batch, label)
        ends = add_pass(draft, inputs, forward=f, backward=b, buckets=exchanged, label=label)
        if before is not None:
            for last, first in zip(before.backward, ends.first, strict=True):
                if first not in inputs:  # a pass of no time has nothing to hold
                    draft.link(last, first)
                    draft.link(before.exchange, first)
    assert ends is not None  # noqa: S101 - there is at least one pass
    add_optimizers(draft, ends, update)
    rows = gradient_memory(found.nbytes, views=gradient_as_bucket_view)
    size = None
    if activation_bytes is not None:
        size = as_amount(activation_bytes, "activation_bytes", "bytes")
    rows.append(held(None, "activations", 1, size, f"one microbatch of the {a}"))
    how = "exchange on the last" if quiet else "exchange on every one"
    return draft.timeline(f"{a} passes to an update, {how}", memory=rows, notes=found.notes)
