"""What a run planner's page computes from: all of a plan that no knob changes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from stepviz.throughput.flop_conventions import caveats
from stepviz.throughput.peak_catalogue import _DENSE_ONLY, peak, peak_table
from stepviz.throughput.plans import TrainingPlan


def planner_given(
    base: TrainingPlan,
    about: str,
    stops: dict[str, list[Any]],
    devices: Iterable[str],
    optional: Iterable[str],
) -> dict[str, Any]:
    """Return plain data for ``page/planner.ts``.

    Parameters
    ----------
    base : TrainingPlan
        Its shape, its convention and what its MFU includes.
    about : str
        What is said of these.
    stops : dict
        Of every slider, whatever is solved for.
    devices : iterable of str
        The catalogue's, with a dense bf16 peak.
    optional : iterable of str
        What may be left empty.
    """
    peaks = peak_table()["flops"]
    shaped = base.shape is not None
    return {
        "perToken": float(base.flops_per_token) if shaped else None,
        "how": (base if shaped else TrainingPlan(parameters=1.0)).flops_per_token.how,
        "convention": base.convention,
        "included": list(base.included),
        "caveats": caveats(base.shape, base.convention),
        "about": about,
        "optional": list(optional),
        "stops": stops,
        "devices": {name: peak(name, "bf16").flops for name in devices},
        "peaks": [
            {
                "device": device,
                "precision": precision,
                "flops": flops,
                "halved": not device.startswith(_DENSE_ONLY),
            }
            for (device, precision), flops in zip(peaks.index.tolist(), peaks.tolist(), strict=True)
        ],
    }
