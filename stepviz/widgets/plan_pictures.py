"""What the run planner shows of a plan: numbers with unit and convention, parts, a grid."""

from __future__ import annotations

import math
from typing import Any, Final

from stepviz.throughput.figures import Quantity, days_text, number_text, percent
from stepviz.throughput.plans import TrainingPlan

#: MFU along the axis of the sensitivity.
_MFU_AXIS: Final = tuple(k / 20 for k in range(2, 17))
#: Lines of the sensitivity, as multiples of the plan's devices.
_LINES: Final = (0.25, 0.5, 1.0, 2.0, 4.0)

_PARTS: Final = {
    "active": "updates",
    "checkpoints": "checkpoints",
    "evaluation": "evaluation",
    "restarts": "failures: restarts and work done again",
    "downtime": "downtime",
}


def plan_picture(plan: TrainingPlan, unknown: str, answer: Quantity) -> dict[str, Any]:
    """Return a complete plan as plain data for the page.

    Parameters
    ----------
    plan : TrainingPlan
        With all its numbers.
    unknown : str
        What was solved for.
    answer : Quantity
        The solution.
    """
    band = plan.band()
    large = [
        _figure("active", "Active time", plan.days),
        _figure("elapsed", "Elapsed time", plan.elapsed_days),
        _figure("flops", "Work", plan.flops),
        _figure("rate", "Achieved rate", plan.rate),
        _figure("tokens_per_second", "Tokens per second", plan.tokens_per_second),
        _figure("device_hours", "Device-hours", plan.device_hours),
    ]
    if plan.watts_per_device is not None:
        large.append(_figure("energy", "Energy", plan.energy))
    if (plan.price_per_device_hour, plan.price_per_kwh) != (None, None):
        large.append(_figure("cost", "Cost", plan.cost))
    best, likely, worst = (_case(name, row) for name, row in band.iterrows())
    headline = (
        f"{likely['text']} in all at {likely['mfuText']} MFU; from {best['text']} at "
        f"{best['mfuText']} to {worst['text']} at {worst['mfuText']}."
    )
    said = _answer_text(unknown, answer)
    return {
        "answer": {
            "name": unknown,
            "value": float(answer),
            "text": said,
            "convention": answer.convention,
            "how": answer.how,
        },
        "headline": headline,
        "large": large,
        "band": [best, likely, worst],
        "parts": [_part(str(name), row) for name, row in plan.breakdown().iterrows()],
        "goodput": f"{percent(plan.goodput)} of the elapsed time is active (goodput).",
        "sensitivity": _grid(plan),
        "notes": [_as_a_form(note) for note in plan._notes()],
        "spoken": f"{said}. {headline}",
    }


def _figure(name: str, label: str, quantity: Quantity) -> dict[str, Any]:
    return {
        "name": name,
        "label": label,
        "value": float(quantity),
        "text": _text(quantity),
        "unit": quantity.unit,
        "convention": quantity.convention,
        "how": quantity.how,
    }


def _case(name: Any, row: Any) -> dict[str, Any]:
    return {
        "name": str(name),
        "mfu": float(row["mfu"]),
        "mfuText": percent(row["mfu"]),
        "days": float(row["elapsed_days"]),
        "text": f"{days_text(row['elapsed_days'])} days",
    }


def _part(name: str, row: Any) -> dict[str, Any]:
    return {
        "name": name,
        "label": _PARTS[name],
        "days": float(row["days"]),
        "share": float(row["share"]),
        "text": f"{days_text(row['days'])} days",
        "shareText": percent(row["share"]),
    }


def _grid(plan: TrainingPlan) -> dict[str, Any]:
    """Return elapsed days over MFU, a line per number of devices; what never ends is left out."""
    own = plan.utilization
    axis = sorted({*_MFU_AXIS, own})
    lines = []
    for factor in _LINES:
        devices = plan.given("devices") * factor
        frame = plan.sensitivity(mfu=axis, devices=[devices])
        days = frame["elapsed_days"].tolist()
        if not all(map(math.isfinite, days)):
            continue
        lines.append(
            {
                "devices": devices,
                "label": f"{number_text(devices)} devices",
                "days": days,
                "texts": [days_text(one) for one in days],
                "own": factor == 1.0,
            }
        )
    low, high = sorted(plan.band()["mfu"].iloc[[0, -1]].tolist())
    return {
        "mfu": axis,
        "mfuTexts": [percent(m) for m in axis],
        "lines": lines,
        "own": own,
        "range": [low, high],
    }


def _answer_text(unknown: str, answer: Quantity) -> str:
    value = float(answer)
    if unknown == "mfu":
        return f"{percent(value)} MFU"
    if unknown == "devices":
        whole = math.ceil(value * (1 - 1e-12))
        exactly = "" if value == whole else f" (exactly {number_text(value, 6)})"
        return f"{whole:,} devices{exactly}"
    return f"{_text(answer)} {answer.unit}"


def _text(quantity: Quantity) -> str:
    return (days_text if quantity.unit == "days" else number_text)(float(quantity))


def _as_a_form(note: str) -> str:
    """Return a note with the fields' names, not those of Python's arguments."""
    return note.replace("give mfu_range", "fill in the MFU at worst and at best")
