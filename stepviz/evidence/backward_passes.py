"""When each gradient of a captured step was ready, and what came after: what no cap changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from stepviz.core.intervals import clip, total, union
from stepviz.core.vocabulary import COMPUTE
from stepviz.errors import CostError
from stepviz.evidence.bucket_handling import LaunchCost, copied_back, copied_into, launch_cost
from stepviz.evidence.records import ready_order
from stepviz.traces import Run, Step

Floats = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_MS: Final = 1e6
_GRADIENT: Final = "torch::autograd::AccumulateGrad"
#: An annotation of a communication hook, which runs in the middle of backward.
_HOOK: Final = "ddp_bucket#"
_LAUNCH: Final = "c10d::allreduce_"


@dataclass(frozen=True, eq=False)
class Pass:
    """The exchanging backward of one rank in one step, ms from the step's start.

    `ready` is when each gradient, in registration order, was ready, and `compute_end` when the
    last gradient work ended, both as if the launches of buckets had taken no time: `hook` is what
    one takes, and `launch` one without a hook. `back` is what copying each gradient back takes,
    `finish` the end of the rank's step, and `rest` what lies between the last copy (the later of
    compute and exchange, where nothing is copied) and it; `forward` is how long that took,
    `backward` when it began, `copies` how much of it went into filling buckets, and `launches` how
    much into all launches but the last.
    """

    rank: int
    start: float
    ready: Floats
    compute_end: float
    hook: LaunchCost
    launch: LaunchCost
    rest: float
    finish: float
    forward: float
    backward: float
    back: Floats
    copies: float = 0.0
    launches: float = 0.0


@dataclass(frozen=True, eq=False)
class CapturedStep:
    """All ranks' passes of one step, and its bucket exchanges: start and end of transfer, ms."""

    number: int
    passes: list[Pass]
    transfers: Floats
    length: float


def captured_steps(
    run: Run, sizes: Sequence[int], numbers: Sequence[int], without: str = ""
) -> list[CapturedStep]:
    """Return the steps of a run that a prediction is made from.

    Parameters
    ----------
    run
        Of data-parallel ranks.
    sizes
        Bytes of the parameters, in registration order.
    numbers
        The steps to take.
    without
        Rows of this name never happened: what comes after them comes sooner.

    Raises
    ------
    CostError
        Where gradients can't be told apart in the trace.
    """
    buckets = run.buckets
    return [_step(run, run.step(number), sizes, buckets, without) for number in numbers]


def _step(
    run: Run, step: Step, sizes: Sequence[int], buckets: pd.DataFrame, without: str
) -> CapturedStep:
    windows = step.windows
    origin = int(windows["start_ns"].min())
    table = step.collectives
    transfers = np.zeros((0, 2))
    if len(table):
        ends = table["finish_ns"].to_numpy(dtype=np.int64)
        took = table["transfer_ns"].fillna(0).to_numpy(dtype=np.int64)
        transfers = np.column_stack((ends - took - origin, ends - origin)) / _MS
    launched = buckets[buckets["step"] == step.number]
    launched = launched[launched["microbatch"] == launched["microbatch"].max()]
    passes = [
        _pass(run, rank, part, origin, sizes, launched[launched["rank"] == rank], without)
        for rank, part in sorted(step._ranks.items())
    ]
    return CapturedStep(step.number, passes, transfers, step.completion_ns / _MS)


def _pass(
    run: Run,
    rank: int,
    part: Any,
    origin: int,
    sizes: Sequence[int],
    buckets: pd.DataFrame,
    without: str,
) -> Pass:
    window = part.window
    events: pd.DataFrame = part.events
    inside = (events["place"] == part.place).to_numpy()
    names = events["name"].astype(object)
    rows = events[inside & names.eq(_GRADIENT).to_numpy()].sort_values("finish_ns")
    order = ready_order(run, rank)
    if sorted(order) != list(range(len(sizes))) or len(rows) < len(sizes):
        msg = (
            f"step {window.step} of rank {rank} shows {len(rows)} gradients being ready, and "
            f"{run.name} has {len(sizes)} parameters: when each is ready can't be told"
        )
        raise CostError(msg)
    ready_ns = rows["finish_ns"].to_numpy(dtype=np.int64)[-len(sizes) :]
    hooks = _hooks(events[inside], names[inside], int(ready_ns[0]))
    first = hooks[hooks["launch"]] if hooks["launch"].any() else hooks
    outer = hooks[~hooks["launch"]] if (~hooks["launch"]).any() else hooks
    spans = outer[["start_ns", "finish_ns"]].to_numpy(dtype=np.int64)
    on_device, ready_ns = _on_device(part, ready_ns)
    if on_device:
        spans = spans[:0]  # the device works on while the host launches
    launches = int(_before(spans, ready_ns.max(keepdims=True))[0]) / _MS
    left_out = events[inside & names.eq(without).to_numpy()] if without else events[:0]
    removed = left_out[["start_ns", "finish_ns"]].to_numpy(dtype=np.int64)
    spans = np.concatenate((spans, removed))
    gone = _before(spans, ready_ns)
    ready = np.empty(len(sizes))
    ready[order] = (ready_ns - origin - gone) / _MS
    marks = int(ready_ns.max())
    compute_end = marks - origin - int(_before(spans, np.array([marks]))[0])
    # Only what backward launched: a barrier after the update holds nothing up in it.
    ends = part.clipped["finish_ns"][part.clipped["during"] == "backward"]
    exchanged = int(ends.max()) if len(ends) else marks
    last = max(marks, min(exchanged, window.finish_ns))
    back = np.zeros(len(sizes))
    if not on_device:
        back, copied = copied_back(events[inside], names[inside], order, marks)
        last = last if copied is None else max(last, min(copied, window.finish_ns))
    forward = [(p.start, p.finish) for p in part.pieces if p.kind == "forward"]
    # Of several microbatches only the last one exchanges.
    begun = max((finish for _, finish in forward if finish <= ready_ns[0]), default=ready_ns[0])
    return Pass(
        rank=rank,
        start=(window.start_ns - origin) / _MS,
        ready=ready,
        compute_end=max(compute_end / _MS, float(ready.max())),
        hook=LaunchCost() if on_device else _cost(outer, buckets),
        launch=LaunchCost() if on_device else _cost(first, buckets),
        rest=(window.finish_ns - last - _after(removed, last)) / _MS,
        finish=(window.finish_ns - origin) / _MS,
        forward=sum(finish - start for start, finish in forward) / _MS,
        backward=(int(begun) - origin - int(_before(removed, np.array([begun]))[0])) / _MS,
        back=back,
        copies=0.0 if on_device else copied_into(events[inside], names[inside], int(begun), marks),
        launches=launches,
    )


def _cost(launches: pd.DataFrame, buckets: pd.DataFrame) -> LaunchCost:
    """Fit what launches of a step took to the sizes of its buckets, in order of launch."""
    rows = launches.sort_values("start_ns")
    took = (rows["finish_ns"] - rows["start_ns"]).to_numpy(dtype=np.float64) / _MS
    sized = buckets[buckets["bytes"] >= 0].sort_values("launch_ns")
    return launch_cost(took.tolist(), sized["bytes"].tolist())


def _hooks(events: pd.DataFrame, names: pd.Series, since: int) -> pd.DataFrame:
    """Return the launches of buckets: hooks, and the calls in them (`launch`)."""
    hook = names.str.startswith(_HOOK).to_numpy(dtype=bool)
    launch = names.eq(_LAUNCH).to_numpy()
    gradient = names.eq(_GRADIENT).to_numpy()
    thread = events["track"].to_numpy()[gradient]
    mine = (hook | launch) & np.isin(events["track"].to_numpy(), np.unique(thread))
    mine &= events["finish_ns"].to_numpy() >= since
    return events[mine].assign(launch=launch[mine])[["start_ns", "finish_ns", "launch"]]


def _before(spans: IntArray, moments: IntArray) -> IntArray:
    """Return how much of a set of spans lies before each moment."""
    if not len(spans):
        return np.zeros(len(moments), dtype=np.int64)
    merged = union(spans)
    cut = np.clip(moments[:, None], merged[None, :, 0], merged[None, :, 1]) - merged[None, :, 0]
    found: IntArray = cut.sum(axis=1)
    return found


def _after(spans: IntArray, moment: int) -> int:
    """Return how much of a set of spans lies after a moment."""
    return int(np.maximum(spans[:, 1] - np.maximum(spans[:, 0], moment), 0).sum())


def _on_device(part: Any, ready_ns: IntArray) -> tuple[bool, IntArray]:
    """Return when gradients were ready on the device: what was launched before was done."""
    events = part.events
    kernels = events[
        events["cat"].eq("kernel").to_numpy()
        & events["kind"].isin(COMPUTE).to_numpy()
        & (events["place"] == part.place).to_numpy()
    ]
    if kernels.empty:
        return False, ready_ns
    launcher = kernels["launcher"].to_numpy()
    launched = events["start_ns"].to_numpy(dtype=np.int64)[np.maximum(launcher, 0)]
    known = launcher >= 0
    order = np.argsort(launched[known], kind="stable")
    launched = launched[known][order]
    ends = np.maximum.accumulate(kernels["finish_ns"].to_numpy(dtype=np.int64)[known][order])
    at = np.searchsorted(launched, ready_ns, side="right") - 1
    return True, np.where(at >= 0, ends[np.maximum(at, 0)], ready_ns)


def beside_exchange(step: CapturedStep, one: Pass) -> float:
    """Return how much of a rank's backward lies beside a transfer, ms."""
    return float(total(clip(union(step.transfers), one.backward, one.compute_end)))


def exchanges_beside(step: CapturedStep) -> Floats:
    """Return how much of each transfer of a step lies beside the backward of some rank, ms."""
    if not len(step.transfers):
        return np.zeros(0)
    begun = min(one.backward for one in step.passes)
    last = max(one.compute_end + one.launches for one in step.passes)
    start, finish = np.clip(step.transfers, begun, last).T
    found: Floats = finish - start
    return found
