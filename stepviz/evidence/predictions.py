"""The step under other bucket caps, from one capture."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import pandas as pd

from stepviz.core.checks import as_real, holds_several
from stepviz.errors import CostError
from stepviz.evidence.bucket_models import OUTSIDE, bucket_model
from stepviz.traces import Run

COLUMNS: Final = (
    "step_ms",
    "low_ms",
    "high_ms",
    "change_ms",
    "tail_ms",
    "buckets",
    "beyond",
    "fit_error",
    "replay_error",
)


def predict_buckets(run: Run, caps: Iterable[Any]) -> pd.DataFrame:
    """Predict the step's time under other bucket caps, from one capture.

    The captured steps are run again with the buckets that PyTorch's DDP makes under each cap:
    each gradient is ready when it was, on each rank; a bucket leaves once it is full on all ranks
    and the link is free; it takes what a line through the run's own exchanges says; compute runs
    slower beside it, as far as passes without exchange told (backward takes what it took in them,
    and what it takes longer without profiler, copies into buckets aside, is what exchange costs),
    and exchange beside compute, as far as the run's own were longer there; a bucket is copied back
    once it has arrived and those before it were, and the optimizer stays as it was. The prediction
    is the measured step plus the model's *change* against its own replay of the captured buckets,
    so that what it gets wrong about both cancels.

    Parameters
    ----------
    run : Run
        A capture that says its parameters, as `sv.capture` and `sv.Recorder` write them.
    caps : iterable
        Bucket caps in MiB, as DDP's `bucket_cap_mb`: numbers, None for its default (25 with a
        first bucket of 1), or lists with a cap for each bucket.

    Returns
    -------
    DataFrame
        Indexed by `cap`: `step_ms` with its interval `low_ms`, `high_ms`; `change_ms`, against
        the captured step; `tail_ms`, exposed after the last gradient; `buckets`, how many;
        `beyond`, whether sizes lie far outside what the cost was fitted to; `fit_error`, the
        median relative residual of the run's exchanges against the fit; `replay_error`, of the
        model for the captured buckets themselves. ``frame.attrs["notes"]`` says how the cost and
        the contention were told.

    Raises
    ------
    CostError
        Where the run holds exchanges of one size only, so that latency and bandwidth can't be
        told apart; does not say its parameters; or does not show when gradients were ready.

    Notes
    -----
    The interval is the root of the sum of squares of: twice the standard error of the measured
    step, the replay's miss, the uncertainty of the fitted line, 4 % for the machine's drift and,
    for buckets outside the sizes that were measured, what a factor of two would change in the
    line's part beyond them. On CPUs where exchange takes cores from compute (a real gloo network)
    one queue is wrong in kind, and the interval then reaches to the captured step itself: the cap
    may do nothing. So it does where loader processes set the pace.

    Examples
    --------
    >>> import stepviz as sv
    >>> predicted = predict_buckets(sv.sample_run("bucket sweep"), caps=[0.25, 1, 25])
    >>> predicted["buckets"].to_dict(), float(predicted["step_ms"].idxmin())
    ({0.25: 11, 1.0: 3, 25.0: 1}, 1.0)
    """
    asked = _caps(caps)
    model = bucket_model(run)
    rows = [model.row(cap) for cap in asked]
    named = [tuple(cap) if isinstance(cap, list) else cap for cap in asked]
    plain = all(as_real(cap) is not None for cap in named)
    kind = None if plain else object  # else None would become NaN, and tuples levels
    index = pd.Index(named, name="cap", dtype=kind, tupleize_cols=False)
    frame = pd.DataFrame(rows, index=index, columns=list(COLUMNS))
    far = [str(cap) for cap, row in zip(named, rows, strict=True) if row["beyond"]]
    smallest, largest = model.link.known
    frame.attrs["notes"] = list(model.notes)
    if far:
        frame.attrs["notes"].append(
            f"caps {', '.join(far)}: buckets of other sizes than the {smallest:,.0f} to "
            f"{largest:,.0f} bytes that were measured; what an exchange takes beyond these is "
            f"known to a factor of {OUTSIDE:g}, and the intervals are wider by that"
        )
    return frame


def _caps(caps: Any) -> list[Any]:
    if not holds_several(caps):
        msg = f"caps is {caps!r}: give a list of bucket caps in MiB, such as [1, 4, 25]"
        raise CostError(msg)
    asked = [list(cap) if isinstance(cap, tuple) else cap for cap in caps]
    for cap in asked:
        several = cap if isinstance(cap, list) else [cap]
        if cap is not None and not all((as_real(one) or 0) > 0 for one in several):
            msg = f"caps has {cap!r}: a cap is MiB above 0, None for DDP's default, or a list"
            raise CostError(msg)
    if not asked:
        msg = "caps is empty: give bucket caps in MiB, such as [1, 4, 25]"
        raise CostError(msg)
    return asked
