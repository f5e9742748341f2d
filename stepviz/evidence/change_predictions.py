"""What a change of a capture's options would do to its step, from that capture alone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from stepviz.errors import CostError
from stepviz.evidence.bucket_models import BucketModel, bucket_model
from stepviz.evidence.records import option, timings
from stepviz.traces import Run

_MS: Final = 1e6
#: The row of a planted delay.
PLANTED: Final = "planted delay"
#: What is predicted is off by this part of itself, where nothing better is known.
_DOUBT: Final = 0.1

#: Options whose change can be predicted.
PREDICTED: Final = (
    "bucket_cap_mb",
    "slow_rank",
    "slow_ms",
    "input_delay_ms",
    "accumulation",
    "fused",
    "optimizer",
)


@dataclass(frozen=True)
class Effect:
    """How many ms a change adds to the step, give or take, and how that was told."""

    ms: float
    half_ms: float
    how: str


class ChangePredictor:
    """Predicts changes of one capture's options.

    Parameters
    ----------
    run : Run
        The capture, by `sv.capture`.
    optimizer_ms : mapping, optional
        What the optimizer of a changed configuration takes by itself, by the change's name.
    """

    def __init__(self, run: Run, optimizer_ms: Mapping[str, float] | None = None) -> None:
        self.run = run
        self.optimizer_ms = dict(optimizer_ms or {})

    @cached_property
    def model(self) -> BucketModel:
        """The capture with its buckets."""
        return bucket_model(self.run)

    @cached_property
    def undelayed(self) -> BucketModel:
        """The same as if nothing had been planted."""
        return replace(bucket_model(self.run, without=PLANTED), rate=self.model.rate)

    def effect(self, name: str, change: Mapping[str, Any]) -> Effect:
        """Return what a change does.

        Raises
        ------
        CostError
            Where the capture can't tell.
        """
        other = {key: value for key, value in change.items() if value != option(self.run, key)}
        for key in other:
            if key not in PREDICTED:
                msg = f"{key}: one capture says nothing about it"
                raise CostError(msg)
        parts: list[Effect] = []
        if {"bucket_cap_mb", "slow_rank", "slow_ms"} & set(other):
            parts.append(self._exchange(other))
        if "input_delay_ms" in other:
            parts.append(self._input(other["input_delay_ms"], other.get("accumulation")))
        if "accumulation" in other:
            parts.append(self._accumulation(other["accumulation"]))
        if {"fused", "optimizer"} & set(other):
            parts.append(self._optimizer(name))
        half = math.sqrt(sum(part.half_ms**2 for part in parts))
        return Effect(
            sum(part.ms for part in parts), half, "; ".join(dict.fromkeys(p.how for p in parts))
        )

    def _exchange(self, other: Mapping[str, Any]) -> Effect:
        """Return the effect of other buckets, without a planted delay where that goes."""
        captured = self.model
        here = captured
        if "slow_rank" in other or "slow_ms" in other:
            if other.get("slow_ms", 0.0):
                msg = "slow_ms: a planted delay can be predicted away, not to another length"
                raise CostError(msg)
            here = self.undelayed
        cap = other.get("bucket_cap_mb", _captured_cap(self.run))
        buckets = here.buckets(cap) if "bucket_cap_mb" in other else here.captured
        change = here.model(buckets).length - captured.replay_ms
        ends = [
            here.model(buckets, scale).length - captured.model(captured.captured, scale).length
            for scale in (captured.link.low, captured.link.high)
        ]
        fit = max(abs(end - change) for end in ends)
        miss = captured.replay_ms - captured.measured_ms
        half = math.hypot(fit, miss, _DOUBT * change)
        if captured.shared or captured.late:
            half = max(half, abs(change))
        return Effect(change, half, "the captured gradients in a queue of other buckets")

    def _input(self, delay: float, accumulation: int | None) -> Effect:
        """Return the effect of another delay of making a batch."""
        passes = (
            option(self.run, "accumulation", default=1) if accumulation is None else accumulation
        )
        before = float(option(self.run, "input_delay_ms", default=0.0))
        workers = int(option(self.run, "workers", default=0))
        more = (delay - before) * passes
        waits = self._part("input_ns")
        if workers and more > 0:
            msg = "input_delay_ms: loader processes may hide a longer delay; only less is predicted"
            raise CostError(msg)
        # Less than nothing is never waited for.
        ms = max(more, -waits)
        return Effect(ms, _DOUBT * abs(ms), f"input takes {waits:.4g} ms of the captured step")

    def _accumulation(self, passes: int) -> Effect:
        before = int(option(self.run, "accumulation", default=1))
        alone = [self._part(f"{part}_ns", "alone") for part in ("input", "forward", "backward")]
        if not option(self.run, "no_sync", default=True):
            msg = "accumulation: with an exchange in every pass it can't be told from one capture"
            raise CostError(msg)
        # A planted delay comes once an update, however many passes that has.
        planted = float(option(self.run, "slow_ms", default=0.0))
        each = max(sum(alone) - planted, 0.0) / before
        ms = (passes - before) * each
        return Effect(ms, _DOUBT * abs(ms), f"a pass without exchange takes {each:.4g} ms")

    def _optimizer(self, name: str) -> Effect:
        if name not in self.optimizer_ms:
            msg = "optimizer: what the other one takes by itself was not timed"
            raise CostError(msg)
        before, after = self._part("optimizer_ns"), self.optimizer_ms[name]
        how = f"the optimizer takes {before:.4g} ms of the step, the other by itself {after:.4g}"
        return Effect(after - before, _DOUBT * abs(after - before) + 0.2 * after, how)

    def _part(self, what: str, mode: str = "bare") -> float:
        found = timings(self.run, what, mode)
        if not found:
            msg = (
                f"{self.run.name} has no steps timed without profiler that say {what}: capture it "
                "with timed=8"
            )
            raise CostError(msg)
        return float(np.median(np.concatenate(found))) / _MS


def _captured_cap(run: Run) -> Any:
    cap = option(run, "bucket_cap_mb")
    return list(cap) if isinstance(cap, list | tuple) else cap
