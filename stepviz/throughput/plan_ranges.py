"""A plan as a range: over what its MFU may be, and over a grid of MFU and devices."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from stepviz.errors import ThroughputError
from stepviz.throughput.checks import listed, share

if TYPE_CHECKING:
    from stepviz.throughput.plans import TrainingPlan

#: Where nobody says how well the MFU is known: a fifth below and above.
ASSUMED_SPREAD: Final = 0.2

_OF_MFU: Final = (0.5, 0.75, 1.0, 1.25, 1.5)
_OF_DEVICES: Final = (0.25, 0.5, 1.0, 2.0, 4.0)


def range_around(likely: Any, given: Any) -> tuple[float, float]:
    """Return a range of the MFU, checked: two fractions, and the likely one between them.

    Raises
    ------
    ThroughputError
        Where it is no such range.
    """
    ends = listed(given, "mfu_range")
    if len(ends) != 2:
        msg = f"mfu_range is {given!r}: give the lowest and the highest MFU, such as (0.3, 0.5)"
        raise ThroughputError(msg)
    low, high = (share(end, "mfu_range", above_zero=True) for end in ends)
    if low > high:
        msg = f"mfu_range is from {low:g} down to {high:g}: give the lower one first"
        raise ThroughputError(msg)
    if likely is not None and not low <= float(likely) <= high:
        msg = (
            f"mfu is {float(likely):g}, and its range is from {low:g} to {high:g}: give a range "
            "that holds it"
        )
        raise ThroughputError(msg)
    return low, high


def mfu_range_of(plan: TrainingPlan) -> tuple[float, float]:
    """Return between which the MFU may be: as given, or as assumed."""
    if plan.mfu_range is not None:
        return plan.mfu_range
    likely = plan.utilization
    return likely * (1 - ASSUMED_SPREAD), min(1.0, likely * (1 + ASSUMED_SPREAD))


def band_of(plan: TrainingPlan) -> pd.DataFrame:
    """Return the plan at the ends of its range; see `TrainingPlan.band`."""
    low, high = mfu_range_of(plan)
    table = _table([replace(plan, mfu=m) for m in (high, plan.utilization, low)])
    return table.drop(columns="devices").set_axis(
        pd.Index(["best", "likely", "worst"], name="case")
    )


def grid_of(
    plan: TrainingPlan, mfu: Iterable[float] | None, devices: Iterable[float] | None
) -> pd.DataFrame:
    """Return the plan over a grid; see `TrainingPlan.sensitivity`."""
    own, count = plan.utilization, plan.given("devices")
    each_mfu = [own * f for f in _OF_MFU if own * f <= 1] if mfu is None else listed(mfu, "mfu")
    each_count = [count * f for f in _OF_DEVICES]
    if devices is not None:
        each_count = listed(devices, "devices")
    alone = replace(plan, mfu_range=None)
    return _table([replace(alone, mfu=m, devices=d) for m in each_mfu for d in each_count])


def _table(plans: list[TrainingPlan]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "mfu": [plan.utilization for plan in plans],
            "devices": [plan.given("devices") for plan in plans],
            "days": [float(plan.days) for plan in plans],
            "elapsed_days": [
                math.inf if plan.endless else float(plan.elapsed_days) for plan in plans
            ],
        }
    )
