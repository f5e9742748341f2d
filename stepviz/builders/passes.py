"""One forward and backward pass on every rank, its gradient buckets exchanged on one link."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from stepviz.builders.built import Draft, of_rank

COMPUTE, LINK, INPUT = "compute", "link", "input"


@dataclass(frozen=True)
class Bucket:
    """A bucket in launch order: when it is ready, ms from backward's start, and its time, ms."""

    ready: float
    service: float


@dataclass(frozen=True)
class Ends:
    """What a pass ends with: the last backward of each rank, and the last exchange if any."""

    backward: list[str]
    exchange: str | None


def add_inputs(draft: Draft, ranks: int, ms: float, label: str = "") -> list[str]:
    """Add the input of each rank; it may last no time."""
    return [
        draft.phase(of_rank(f"input{label}", rank, ranks), "input", ms, lane=INPUT, rank=rank)
        for rank in range(ranks)
    ]


def add_pass(
    draft: Draft,
    after: Sequence[str],
    *,
    forward: float,
    backward: float,
    buckets: Sequence[Bucket] = (),
    label: str = "",
) -> Ends:
    """Add a pass of every rank, each held by the phase of that rank in `after`.

    Backward is cut where a bucket becomes ready, and each bucket depends on the cut of every
    rank; the link serves them in order. A forward that lasts no time is left out.
    """
    ranks = len(after)
    # Ready to rounding at the end of backward is ready at its end.
    near_end = backward * (1 - 1e-12)
    ready = [bucket.ready if bucket.ready < near_end else backward for bucket in buckets]
    cuts = sorted({0.0, backward, *ready})
    ends = []
    at_cut: list[dict[float, str]] = []
    for rank, before in enumerate(after):
        last = before
        if forward > 0:
            name = of_rank(f"forward{label}", rank, ranks)
            last = draft.phase(name, "forward", forward, lane=COMPUTE, rank=rank)
            draft.link(before, last)
        reached = {0.0: last}
        for k, (low, high) in enumerate(itertools.pairwise(cuts), 1):
            name = of_rank(f"backward{label} {k}", rank, ranks)
            draft.phase(name, "backward", high - low, lane=COMPUTE, rank=rank)
            draft.link(last, name)
            reached[high] = last = name
        ends.append(last)
        at_cut.append(reached)
    exchange = None
    for k, (bucket, moment) in enumerate(zip(buckets, ready, strict=True), 1):
        exchange = draft.phase(
            f"exchange{label} {k}",
            "exchange",
            bucket.service,
            lane=LINK,
            members=range(ranks),
        )
        for reached in at_cut:
            draft.link(reached[moment], exchange)
    return Ends(ends, exchange)


def add_optimizers(draft: Draft, ends: Ends, ms: float, *, also: Sequence[str] = ()) -> list[str]:
    """Add the optimizer of each rank after its backward and the last exchange.

    It may last no time, and then marks the update.
    """
    ranks = len(ends.backward)
    found = []
    for rank, backward in enumerate(ends.backward):
        name = of_rank("optimizer", rank, ranks)
        draft.phase(name, "optimizer", ms, lane=COMPUTE, rank=rank)
        for source in dict.fromkeys((backward, ends.exchange, *also)):
            draft.link(source, name)
        found.append(name)
    return found
