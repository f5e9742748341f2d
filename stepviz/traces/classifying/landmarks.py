"""Lengths of forward and backward as regions, comparable with what annotations would say."""

from __future__ import annotations

import numpy as np
import pandas as pd

from stepviz.traces.classifying.windows import Window
from stepviz.traces.reading.rows import DEVICE

_COPY_BACK = "torch.distributed.ddp.reducer::copy_bucket_to_grad"
_EVALUATE = "autograd::engine::evaluate_function"


def landmarks(
    events: pd.DataFrame, window: Window, calls: pd.DataFrame, main: int
) -> dict[str, int]:
    """Return the landmarks of one step on one rank, ns; 0 where there is no such work."""
    inside = (events["start_ns"] < window.finish_ns) & (events["finish_ns"] > window.start_ns)
    rows = events[inside]
    if window.measured == "device":
        rows = rows[rows["cat"].isin(list(DEVICE)) & (rows["kind"] != "exchange")]
        backward = gradients = rows[rows["kind"] == "backward"]
        forward = rows[rows["kind"] == "forward"]
    else:
        rows = rows[rows["cat"].isin(["cpu_op", "user_annotation"])]
        forward = rows[(rows["kind"] == "forward") & (rows["track"] == main)]
        names = rows["name"].astype(str)
        gradients = rows[names.str.startswith(_EVALUATE)]
        annotated = rows[(rows["kind"] == "backward") & (rows["cat"] == "user_annotation")]
        copies = rows[names.str.startswith(_COPY_BACK)]
        backward = pd.concat([annotated, gradients, copies])
    during = calls[calls["during"] == "backward"] if len(calls) else calls
    start = int(backward["start_ns"].min()) if len(backward) else 0
    ends = during["finish_ns"].to_numpy(dtype=np.int64)
    lengths = (calls["finish_ns"] - calls["arrival_ns"]).to_numpy(dtype=np.int64)
    return {
        "forward_ns": _extent(forward),
        "backward_ns": _extent(backward),
        "compute_end_ns": int(gradients["finish_ns"].max()) - start if len(gradients) else 0,
        "last_exchange_ns": int(ends.max()) - start if len(ends) and len(backward) else 0,
        "exchange_ns": int(lengths.sum()),
    }


def _extent(rows: pd.DataFrame) -> int:
    return int(rows["finish_ns"].max() - rows["start_ns"].min()) if len(rows) else 0
