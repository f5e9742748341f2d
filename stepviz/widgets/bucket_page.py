"""What a bucket explorer's page computes from: the gradients, and the step around them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stepviz.builders.bucket_sweeps import gradients_behind
from stepviz.builders.parameters import recorded_buckets, recorded_frame
from stepviz.widgets.packing import packed_json


def buckets_given(
    parameters: Any, forward: float, optimizer: float, stops: Mapping[str, list[Any]]
) -> str:
    """Return plain data for ``page/buckets.ts``, packed.

    Parameters
    ----------
    parameters
        As for `ddp`.
    forward, optimizer : float
        ms.
    stops : mapping
        Of every slider.
    """
    frame = recorded_frame(parameters)
    ready = gradients_behind(parameters)[::-1]  # the last registered is ready first
    return packed_json(
        {
            "gradients": [
                {"name": one.name, "nbytes": one.nbytes, "group": one.group, "sparse": one.sparse}
                for one in ready
            ],
            "leads": None if frame is None else list(recorded_buckets(frame).lead_ms),
            "forward": forward,
            "optimizer": optimizer,
            "stops": dict(stops),
        }
    )
