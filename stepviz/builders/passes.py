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
    """What a pass begins and ends with on each rank, and its last exchange if any."""

    first: list[str]
    backward: list[str]
    exchange: str | None


def add_inputs(draft: Draft, ranks: int, ms: float, label: str = "") -> list[str]:
    """Add the input of each rank; it may last no time."""
    return [
        draft.phase(of_rank(f"{label}input", rank, ranks), "input", ms, lane=INPUT, rank=rank)
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
    rank; the link serves them in order. A forward that lasts no time is left out. Names begin with
    `label`.
    """
    ranks = len(after)
    # Ready to rounding at the end of backward is ready at its end.
    near_end = backward * (1 - 1e-12)
    ready = [bucket.ready if bucket.ready < near_end else backward for bucket in buckets]
    cuts = sorted({0.0, backward, *ready})
    first, ends = [], []
    at_cut: list[dict[float, str]] = []
    for rank, before in enumerate(after):
        last, opening = before, len(draft.phases)
        if forward > 0:
            name = of_rank(f"{label}forward", rank, ranks)
            last = draft.phase(name, "forward", forward, lane=COMPUTE, rank=rank)
            draft.link(before, last)
        reached = {0.0: last}
        for k, (low, high) in enumerate(itertools.pairwise(cuts), 1):
            name = of_rank(f"{label}backward {k}", rank, ranks)
            draft.phase(name, "backward", high - low, lane=COMPUTE, rank=rank)
            draft.link(last, name)
            reached[high] = last = name
        ends.append(last)
        first.append(draft.phases[opening]["phase"] if opening < len(draft.phases) else before)
        at_cut.append(reached)
    exchange = None
    for k, (bucket, moment) in enumerate(zip(buckets, ready, strict=True), 1):
        exchange = draft.phase(
            f"{label}exchange {k}",
            "exchange",
            bucket.service,
            lane=LINK,
            members=range(ranks),
        )
        for reached in at_cut:
            draft.link(reached[moment], exchange)
    return Ends(first, ends, exchange)


def add_optimizers(draft: Draft, ends: Ends, ms: float) -> None:
    """Add the optimizer of each rank after its backward and the last exchange.

    It may last no time, and then marks the update.
    """
    ranks = len(ends.backward)
    for rank, backward in enumerate(ends.backward):
        name = of_rank("optimizer", rank, ranks)
        draft.phase(name, "optimizer", ms, lane=COMPUTE, rank=rank)
        for source in (backward, ends.exchange):
            draft.link(source, name)
