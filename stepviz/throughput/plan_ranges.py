"""A plan as a range: over what its MFU may be, and over a grid of MFU and devices."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pandas as pd

if TYPE_CHECKING:
    from stepviz.throughput.plans import TrainingPlan

#: Where nobody says how well the MFU is known: a fifth below and above.
ASSUMED_SPREAD: Final = 0.2

_OF_MFU: Final = (0.5, 0.75, 1.0, 1.25, 1.5)
_OF_DEVICES: Final = (0.25, 0.5, 1.0, 2.0, 4.0)


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
    each_mfu = [own * f for f in _OF_MFU if own * f <= 1] if mfu is None else list(mfu)
    each_count = [count * f for f in _OF_DEVICES] if devices is None else list(devices)
    return _table([replace(plan, mfu=m, devices=d) for m in each_mfu for d in each_count])


def _table(plans: list[TrainingPlan]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "mfu": [plan.utilization for plan in plans],
            "devices": [plan.given("devices") for plan in plans],
            "days": [float(plan.days) for plan in plans],
            "elapsed_days": [float(plan.elapsed_days) for plan in plans],
        }
    )
