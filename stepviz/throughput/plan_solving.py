"""A plan's equation, work = devices × peak × MFU × seconds, solved for any one number of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from stepviz.errors import ThroughputError, near
from stepviz.throughput.checks import real
from stepviz.throughput.figures import Quantity
from stepviz.throughput.goodput import DAY

if TYPE_CHECKING:
    from stepviz.throughput.plans import TrainingPlan

UNKNOWNS: Final = ("parameters", "tokens", "devices", "peak", "mfu", "days")


def solved(
    plan: TrainingPlan, unknown: str, days: float | None, elapsed_days: float | None
) -> Quantity:
    """Return the unknown number; see `TrainingPlan.solve_for`."""
    if unknown not in UNKNOWNS:
        msg = f"a plan cannot be solved for {unknown!r}: {near(unknown, UNKNOWNS, most=9)}"
        raise ThroughputError(msg)
    if unknown == "days":
        if (days, elapsed_days) != (None, None):
            msg = "days are what is asked for: give none, or name another unknown"
            raise ThroughputError(msg)
        return plan.days
    if (days is None) == (elapsed_days is None):
        msg = f"to solve for {unknown}, give days= or elapsed_days=, one of the two"
        raise ThroughputError(msg)
    if unknown == "parameters" and plan.shape is not None:
        msg = "the shape has the parameters: solve for tokens, devices, peak or mfu"
        raise ThroughputError(msg)
    # the unknown number counts as 1, and what is missing beside it raises here
    per_token = 6.0 if unknown == "parameters" else float(plan.flops_per_token)
    work = per_token * (1.0 if unknown == "tokens" else plan.given("tokens"))
    devices = 1.0 if unknown == "devices" else plan.given("devices")
    peak = 1.0 if unknown == "peak" else plan.peak_flops
    speed = devices * peak * (1.0 if unknown == "mfu" else plan.utilization)
    if days is not None:
        seconds = real(days, "days", above=0) * DAY
    else:
        elapsed = real(elapsed_days, "elapsed_days", above=0) * DAY
        if unknown == "devices":
            return _answer(plan, unknown, plan.overheads.devices_for(work / speed, elapsed))
        seconds = plan.overheads.active_of(elapsed, devices)
    ratio = speed * seconds / work
    return _answer(plan, unknown, ratio if unknown in ("parameters", "tokens") else 1 / ratio)


def _answer(plan: TrainingPlan, unknown: str, value: float) -> Quantity:
    unit = {"peak": "FLOP/s", "mfu": "of peak"}.get(unknown, unknown)
    how = "FLOP = devices × peak × MFU × seconds, solved"
    return Quantity(value, unit, plan.convention, how)
