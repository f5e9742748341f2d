"""What to change next and whether it helped: fits, rankings, predictions, verdicts."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stepviz.evidence.fits import fit_contention, fit_cost
    from stepviz.evidence.predictions import predict_buckets
    from stepviz.evidence.rankings import rank_changes
    from stepviz.evidence.run_rates import run_throughput
    from stepviz.evidence.verdicts import Verdict, verdict

#: A command line loads its flags, not what reads traces.
_HOMES = {
    "Verdict": "stepviz.evidence.verdicts",
    "fit_contention": "stepviz.evidence.fits",
    "fit_cost": "stepviz.evidence.fits",
    "predict_buckets": "stepviz.evidence.predictions",
    "rank_changes": "stepviz.evidence.rankings",
    "run_throughput": "stepviz.evidence.run_rates",
    "verdict": "stepviz.evidence.verdicts",
}

__all__ = [
    "Verdict",
    "fit_contention",
    "fit_cost",
    "predict_buckets",
    "rank_changes",
    "run_throughput",
    "verdict",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    msg = f"module 'stepviz.evidence' has no attribute {name!r}"
    raise AttributeError(msg)
