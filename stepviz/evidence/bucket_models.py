"""A capture as a model of its buckets: run again with others, it says how long the step takes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stepviz.builders.bucket_rules import Limits, launched
from stepviz.builders.parameters import gradients_of
from stepviz.errors import CostError
from stepviz.evidence.backward_passes import CapturedStep, captured_steps
from stepviz.evidence.bucket_costs import LinkFit, fit_link, fit_rate
from stepviz.evidence.compute_paces import paces_of, rate_beside
from stepviz.evidence.queued_buckets import Link, Pace, Predicted, queued
from stepviz.evidence.records import (
    emulated,
    option,
    parameters_of,
    ready_order,
    timings,
)
from stepviz.traces import Run
from stepviz.traces.joining.spreads import cut_alike

Floats = npt.NDArray[np.float64]
Buckets = list[list[int]]

_MS: Final = 1e6
#: Whatever else is known, a machine drifts by this part between a capture and the next run.
_DRIFT: Final = 0.04
#: Outside the sizes that were measured, the line's own part is known to this factor.
OUTSIDE: Final = 2.0
#: Input that takes a larger part of the step than this is waited for.
_LATE: Final = 0.1
#: So many steps are enough to predict from.
_MOST_STEPS: Final = 12


@dataclass(frozen=True, eq=False)
class BucketModel:
    """A capture, ready to be run with other buckets.

    Attributes
    ----------
    measured_ms : float
        The captured step: its median without profiler where that was timed (`bare`), else the
        traced steps'.
    replay_error : float
        The model's step under the captured buckets over the measured one, less 1.
    link : LinkFit
    notes : list of str
    """

    run: Run
    steps: list[CapturedStep]
    sizes: list[int]
    order: list[int]
    captured: Buckets
    link: LinkFit
    rate: float
    paces: Mapping[int, Pace]
    bare: bool
    measured_ms: float
    noise_ms: float
    replay_ms: float
    shared: bool
    late: bool
    notes: list[str]

    @property
    def replay_error(self) -> float:
        """How far the model is off for the capture itself."""
        return self.replay_ms / self.measured_ms - 1

    def buckets(self, cap: Any) -> Buckets:
        """Return DDP's buckets under a cap, after the rebuild."""
        gradients = gradients_of(parameters_of(self.run))
        return launched(
            gradients,
            self.order,
            Limits.of(cap, None),
            find_unused_parameters=bool(option(self.run, "find_unused_parameters", default=False)),
            static_graph=bool(option(self.run, "static_graph", default=False)),
        )

    def model(
        self,
        buckets: Buckets,
        scale: float = 1.0,
        rate: float | None = None,
        outside: float = 1.0,
    ) -> Predicted:
        """Return the middle of the captured steps, each with other buckets."""
        link = Link(
            lambda nbytes: scale * self.link.ms(nbytes, outside),
            self.link.servers,
            1 - self.link.slowed,
        )
        found = [
            queued(
                step, buckets, self.sizes, link,
                rate=self.rate if rate is None else rate,
                hooked=not self.bare or emulated(self.run),
                paces=self.paces,
            )
            for step in self.steps
        ]  # fmt: skip
        return Predicted(
            float(np.median([one.length for one in found])),
            float(np.median([one.tail for one in found])),
        )

    def row(self, cap: Any) -> dict[str, Any]:
        """Return one row of the prediction (see `predict_buckets`)."""
        buckets = self.buckets(cap)
        here = self.model(buckets)
        change = here.length - self.replay_ms
        step = self.measured_ms + change
        # What the fit does not know about the link, in ms of this change.
        ends = [
            self.model(buckets, scale).length - self.model(self.captured, scale).length
            for scale in (self.link.low, self.link.high)
        ]
        fit = max(abs(end - change) for end in ends)
        miss = abs(self.replay_ms - self.measured_ms)
        sizes = [float(sum(self.sizes[k] for k in bucket)) for bucket in buckets]
        drift, far = _DRIFT * step, self._outside(buckets, sizes, here.length)
        half = math.sqrt((2 * self.noise_ms) ** 2 + miss**2 + fit**2 + drift**2 + far**2)
        low, high = step - half, step + half
        if self.shared or self.late:
            # Compute and exchange share the cores: what is hidden costs what it hides. Or the input
            # is waited for, and waiting takes up what exchange gives or takes.
            low, high = min(low, self.measured_ms - half), max(high, self.measured_ms + half)
        return {
            "step_ms": step,
            "low_ms": max(low, 0.0),
            "high_ms": high,
            "change_ms": change,
            "tail_ms": here.tail,
            "buckets": len(buckets),
            "beyond": self.link.beyond(sizes),
            "fit_error": self.link.error,
            "replay_error": self.replay_error,
        }

    def _outside(self, buckets: Buckets, sizes: Sequence[float], length: float) -> float:
        """Return what sizes outside the measured ones make unsure, ms: 0 at their edge."""
        smallest, largest = self.link.known
        if min(sizes) >= smallest and max(sizes) <= largest:
            return 0.0
        ends = [self.model(buckets, outside=factor).length for factor in (OUTSIDE, 1 / OUTSIDE)]
        return max(abs(end - length) for end in ends)


def bucket_model(run: Run, without: str = "") -> BucketModel:
    """Return a run's capture as a model of its buckets (errors as `predict_buckets` says).

    `without` names rows that are taken not to have happened.
    """
    if not isinstance(run, Run):
        msg = f"run is {type(run).__name__}: give a run, as sv.capture or load_run returns it"
        raise CostError(msg)
    parameters = parameters_of(run)
    sizes = [int(n) for n in parameters["bytes"]]
    table = run.steps
    numbers = [int(n) for n in table.index[cut_alike(table) & ~table["odd"].to_numpy()]]
    numbers = numbers[-_MOST_STEPS:]
    _one_exchange_a_step(run)
    steps = captured_steps(run, sizes, numbers, without)
    link = fit_link(run, steps)
    order = ready_order(run, run.ranks[0])
    bare = timings(run)
    paces = paces_of(run, steps, without) if bare else {}
    lengths = np.array([step.length for step in steps])
    if bare:
        lengths = np.concatenate(bare) / _MS
    device = any(part.events["cat"].eq("kernel").any() for part in run._ranks.values())
    shared = not device and not emulated(run)
    rate, told = fit_rate(run)
    notes = [f"cost: {link.cost}, from {link.note}", _about(lengths, paces)]
    if emulated(run):
        notes.append("the network is emulated: this says nothing about a real one")
    if shared:
        notes.append(
            "compute and exchange share the cores: the intervals reach to no change at all"
        )
    late = _late_input(run, float(np.median(lengths)))
    if late:
        notes.append(
            "loader processes are waited for, which takes up what other buckets give or take: the "
            "intervals reach to no change at all"
        )
    made = BucketModel(
        run=run, steps=steps, sizes=sizes, order=order, captured=[], link=link, rate=rate,
        paces=paces, bare=bool(bare), measured_ms=float(np.median(lengths)),
        noise_ms=_error_of_median(lengths), replay_ms=math.nan, shared=shared, late=late,
        notes=notes,
    )  # fmt: skip
    made = replace(made, captured=_captured(run, made))
    if not without and any(pace.backward is not None for pace in paces.values()):
        beside, told = rate_beside(run, steps, paces)
        made = made if beside is None else replace(made, rate=beside)
    if link.servers > 1:
        told += f"; the link carries {link.servers} exchanges at a time"
    notes.insert(1, f"contention: {told}")
    return replace(made, replay_ms=made.model(made.captured).length)


def _one_exchange_a_step(run: Run) -> None:
    """Refuse a run in which every microbatch exchanges: the model holds one backward of a step."""
    if (run.buckets["microbatch"] > 0).any():
        msg = (
            f"{run.name} exchanges in each of several microbatches of a step, and only the last of "
            "them could be predicted: capture it with no_sync=True, or accumulation=1"
        )
        raise CostError(msg)


def _late_input(run: Run, step_ms: float) -> bool:
    """Say whether loader processes set the pace: a wait that grows where the step gets shorter."""
    if not option(run, "workers", default=0):
        return False
    waits = timings(run, "input_ns")
    return bool(waits) and float(np.median(np.concatenate(waits))) / _MS > _LATE * step_ms


def _about(lengths: Floats, paces: Mapping[int, Pace]) -> str:
    if not paces:
        return (
            f"measured step: median of {len(lengths)} traced ones; the capture has none without "
            "profiler"
        )
    speed = float(np.median([pace.speed for pace in paces.values()]))
    return (
        f"measured step: median of {len(lengths)} without profiler, in which forward took "
        f"{speed:.2f} times as long as in the traced ones"
    )


def _error_of_median(values: Floats) -> float:
    if len(values) < 2:
        return float(values[0]) * 0.05
    away = 1.4826 * float(np.median(np.abs(values - np.median(values))))
    return 1.2533 * away / math.sqrt(len(values))


def _captured(run: Run, model: BucketModel) -> Buckets:
    """Return the captured buckets: as the record lists them, else by the captured cap."""
    frame = run.buckets
    first = frame[(frame["rank"] == run.ranks[0]) & (frame["step"] == model.steps[0].number)]
    sizes = [int(n) for n in first.sort_values("index")["bytes"]]
    laid = model.buckets(_cap_of(run))
    if [sum(model.sizes[k] for k in bucket) for bucket in laid] == sizes:
        return laid
    return _by_sizes(model, sizes, run)


def _by_sizes(model: BucketModel, sizes: Sequence[int], run: Run) -> Buckets:
    """Cut the ready order where the recorded sizes say."""
    found: Buckets = [[]]
    for place in model.order:
        if (
            found[-1]
            and sum(model.sizes[k] for k in found[-1]) >= sizes[min(len(found), len(sizes)) - 1]
        ):
            found.append([])
        found[-1].append(place)
    if [sum(model.sizes[k] for k in bucket) for bucket in found] != list(sizes):
        msg = (
            f"the buckets that {run.name} recorded ({', '.join(f'{n:,}' for n in sizes[:4])}, … "
            "bytes) are none that its parameters fill in the order in which they were ready"
        )
        raise CostError(msg)
    return found


def _cap_of(run: Run) -> Any:
    listed = option(run, "bucket_list")
    if isinstance(listed, str) and listed:
        return [float(word) for word in listed.replace(";", ",").split(",") if word]
    cap = option(run, "bucket_cap_mb")
    return list(cap) if isinstance(cap, Sequence) else cap
