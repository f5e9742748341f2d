"""A run as a row of the capture panel's table, compared with the first."""

from __future__ import annotations

from typing import Any, Final

import pandas as pd

from stepviz.errors import StepvizError
from stepviz.evidence.measured import measured
from stepviz.evidence.records import emulated, option
from stepviz.evidence.verdicts import verdict
from stepviz.throughput.figures import number_text
from stepviz.traces import Run

#: In the words of the table, the columns of `CapturePanel.table`.
COLUMNS: Final = (
    *("ranks", "bucket_cap_mb", "step_ms", "quartile_1_ms", "quartile_3_ms", "exposed_ms"),
    *("verdict", "reason"),
)


def run_row(run: Run, first: Run | None) -> dict[str, Any]:
    """Return a run's row, as data for `CapturePanel.table`; `first` is what it is compared with."""
    seen = measured(run)
    low, middle, high = (float(ms) for ms in pd.Series(seen.all_steps).quantile([0.25, 0.5, 0.75]))
    decision, reason = "", ""
    if first is not None:
        try:
            found = verdict(first, run)
        except StepvizError as error:
            decision, reason = "not comparable", str(error)
        else:
            decision, reason = found.decision, found.reason
    return {
        "ranks": len(run.ranks),
        "bucket_cap_mb": option(run, "bucket_cap_mb"),
        "step_ms": middle,
        "quartile_1_ms": low,
        "quartile_3_ms": high,
        "exposed_ms": float(seen.traced["exposed"].median()),
        "verdict": decision,
        "reason": reason,
        "bare": seen.bare,
        "emulated": emulated(run),
    }


def row_texts(label: str, row: dict[str, Any]) -> dict[str, Any]:
    """Return a row as the page writes it."""
    cap = row["bucket_cap_mb"]
    caps = cap if isinstance(cap, list) else [] if cap is None else [cap]
    quartiles = f"{number_text(row['quartile_1_ms'])}–{number_text(row['quartile_3_ms'])}"
    return {
        "label": label,
        "ranks": str(row["ranks"]),
        "caps": ", ".join(number_text(one) for one in caps) or "DDP's own",
        "step": number_text(row["step_ms"]),
        "quartiles": quartiles,
        "how": "" if row["bare"] else "traced",
        "exposed": number_text(row["exposed_ms"]),
        "verdict": row["verdict"] or "the first",
        "reason": row["reason"],
        "emulated": row["emulated"],
    }
