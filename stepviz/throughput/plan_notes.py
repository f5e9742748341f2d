"""What a plan must say beside its numbers: how sure they are, and what they leave out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepviz.errors import ThroughputError
from stepviz.throughput.figures import days_text, percent
from stepviz.throughput.flop_conventions import caveats
from stepviz.throughput.peak_catalogue import Peak, sparse_guard

if TYPE_CHECKING:
    from stepviz.throughput.plans import TrainingPlan


def notes_of(plan: TrainingPlan) -> list[str]:
    """Say a complete plan's range first, then what is missing or does not fit."""
    if plan.endless:
        try:
            _ = plan.elapsed_days
        except ThroughputError as error:
            return [str(error), *_doubts(plan)]
    band = plan.band()
    fast, slow = (days_text(days) for days in band["elapsed_days"].iloc[[0, -1]].tolist())
    high, low = (percent(m) for m in band["mfu"].iloc[[0, -1]].tolist())
    why = "assumed: give mfu_range" if plan.mfu_range is None else "given"
    said = [f"{fast} to {slow} days at {high} to {low} MFU, a range that is {why}"]
    if not float(plan.elapsed_days) > float(plan.days):
        has = f" but what the MFU includes ({', '.join(plan.included)})" * bool(plan.included)
        said.append(
            "nothing comes on top of the active time: no checkpoint, evaluation, restart or "
            f"downtime is in this plan{has}"
        )
    return said + _doubts(plan)


def _doubts(plan: TrainingPlan) -> list[str]:
    """Say where convention and model do not fit, or the peak is a sparse one."""
    said = caveats(plan.shape, plan.convention)
    return said if isinstance(plan.peak, Peak) else said + sparse_guard(plan.peak_flops, None)
