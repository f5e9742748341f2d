"""A step under other buckets: gradients as captured, exchanges in a queue, compute slowed beside.

Between two events (a bucket is full on a rank, an exchange ends) all rates are constant, so the
step is solved from event to event, as `stepviz.builders.Contention` does it for timelines.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from stepviz.core.intervals import clip, total, union
from stepviz.evidence.backward_passes import CapturedStep, Pass


@dataclass(frozen=True)
class Link:
    """What carries exchanges: ms for so many bytes, and how many it carries at a time.

    `beside` is its speed while a rank computes, as part of its full one.
    """

    ms: Callable[[float], float]
    servers: int = 1
    beside: float = 1.0


@dataclass(frozen=True)
class Pace:
    """How fast a rank works without profiler.

    Everything takes `speed` times as long as in the trace, but for the work of backward where
    `backward` says how many ms that takes with no exchange beside it.
    """

    speed: float = 1.0
    backward: float | None = None


@dataclass(frozen=True)
class Predicted:
    """When all ranks have finished the step, and how long the last exchange was exposed, ms."""

    length: float
    tail: float


def queued(
    step: CapturedStep,
    buckets: Sequence[Sequence[int]],
    sizes: Sequence[float],
    link: Link,
    *,
    rate: float = 1.0,
    hooked: bool = True,
    paces: Mapping[int, Pace] | None = None,
) -> Predicted:
    """Return a captured step with other buckets.

    Parameters
    ----------
    step
        As captured.
    buckets
        Places of parameters, in launch order.
    sizes
        Bytes of parameters.
    link
        What carries them.
    rate
        Speed of compute while an exchange runs, as part of its full one.
    hooked
        Whether launches cost what the capture's hook took, or what they take without.
    paces
        By rank, how fast it works; as traced where it is not said.
    """
    given = paces or {}
    passes = [
        _Rank(one, step, buckets, sizes, rate, given.get(one.rank, Pace()), hooked=hooked)
        for one in step.passes
    ]
    lengths = [link.ms(sum(sizes[k] for k in bucket)) for bucket in buckets]
    ends = _solve(passes, lengths, link, rate)
    last = max(ends, default=0.0)
    finish = max(one.finish(ends) for one in passes)
    tail = float(np.mean([max(last - one.done, 0.0) for one in passes])) if ends else 0.0
    return Predicted(finish, tail)


class _Rank:
    """One rank's backward as work at full speed, and how far it is."""

    def __init__(
        self,
        one: Pass,
        step: CapturedStep,
        buckets: Sequence[Sequence[int]],
        sizes: Sequence[float],
        rate: float,
        pace: Pace,
        *,
        hooked: bool,
    ) -> None:
        moments = [max(float(one.ready[k]) for k in bucket) for bucket in buckets]
        # A bucket is launched after those before it.
        moments = list(np.maximum.accumulate(moments)) if moments else []
        work = _Work(step, rate)
        cost = one.hook if hooked else one.launch
        # Each is launched before it leaves, so that it waits for its own launch too.
        launches = np.cumsum([cost.ms(sum(sizes[k] for k in bucket)) for bucket in buckets])
        begun, whole = work.at(one.backward), work.at(one.compute_end)
        faster = pace.speed
        if pace.backward is not None and whole > begun:
            faster = pace.backward / (whole - begun)

        def lasts(moment: float) -> float:
            done = work.at(moment)
            return pace.speed * min(done, begun) + faster * max(done - begun, 0.0)

        self.marks = [
            lasts(moment) + float(spent) for moment, spent in zip(moments, launches, strict=True)
        ]
        self.whole = lasts(one.compute_end) + (float(launches[-1]) if len(launches) else 0.0)
        self.whole = max([self.whole, *self.marks])
        self.back = [pace.speed * float(sum(one.back[k] for k in bucket)) for bucket in buckets]
        self.rest = pace.speed * one.rest
        self.now = 0.0  # work done so far
        self.next = 0  # the bucket that is filled next
        self.done = 0.0  # when compute ended

    def finish(self, ends: Sequence[float]) -> float:
        """Return when the step is over: buckets are waited for and copied back one by one."""
        now = self.done
        for end, back in zip(ends, self.back, strict=True):
            now = max(now, end) + back
        return now + self.rest


class _Work:
    """Turns moments of the capture into work at full speed: time beside a transfer counts less."""

    def __init__(self, step: CapturedStep, rate: float) -> None:
        self._rate = rate
        self._spans = union(step.transfers)

    def at(self, moment: float) -> float:
        beside = float(total(clip(self._spans, 0.0, moment)))
        return moment - (1 - self._rate) * beside


def _solve(
    ranks: Sequence[_Rank], lengths: Sequence[float], link: Link, rate: float
) -> list[float]:
    """Run ranks and link side by side; return when each exchange ended."""
    now = 0.0
    ends = [0.0] * len(lengths)
    running: dict[int, float] = {}  # exchanges that run, and what is left of them at full speed
    waiting: list[int] = []  # full on all ranks, not yet begun
    launched = 0
    while True:
        while waiting and len(running) < link.servers:
            bucket = waiting.pop(0)
            running[bucket] = lengths[bucket]
        speed = rate if running else 1.0
        ahead = [_ahead(one) / speed for one in ranks]
        computing = any(math.isfinite(one) for one in ahead)
        carried = link.beside if computing else 1.0
        next_end = min(running.values(), default=math.inf) / carried
        step = min([*ahead, next_end], default=math.inf)
        if math.isinf(step):
            return ends
        now += step
        for bucket in list(running):
            left = running[bucket] - step * carried
            over = running[bucket] / carried <= step
            running[bucket] = left
            if over:
                ends[bucket] = now
                del running[bucket]
        for one, left in zip(ranks, ahead, strict=True):
            _advance(one, step * speed, now, reached=left <= step)
        full = min(one.next for one in ranks)
        waiting += range(launched, full)
        launched = full


def _ahead(one: _Rank) -> float:
    """Return the work up to what the rank does next."""
    if one.next < len(one.marks):
        return max(one.marks[one.next] - one.now, 0.0)
    return max(one.whole - one.now, 0.0) if one.now < one.whole else math.inf


def _advance(one: _Rank, work: float, now: float, *, reached: bool) -> None:
    if one.next >= len(one.marks) and one.now >= one.whole:
        return
    if not reached:
        one.now += work
        return
    if one.next < len(one.marks):
        one.now = max(one.now, one.marks[one.next])
        one.next += 1
        if one.next < len(one.marks) or one.now < one.whole:
            return
    one.now = one.whole
    one.done = now
