"""What a token comparison's page computes from: positions, and the FLOPs of conventions."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from stepviz.throughput.batches import fields_of
from stepviz.throughput.flop_conventions import CONVENTIONS, flops_per_token
from stepviz.throughput.layouts import ROLES, token_roles
from stepviz.throughput.model_shapes import ModelShape
from stepviz.throughput.peak_catalogue import roof_of
from stepviz.throughput.tallies import Rules, read_layout
from stepviz.throughput.utilization import mfu
from stepviz.widgets.packing import packed_json

#: Far beyond any length: between two of these a convention's FLOPs are on a straight line.
_FAR: Final = 2.0**40


def layout_of(batch: Any, pad_id: int | None) -> dict[str, Any]:
    """Return what each position of a batch is, as runs of equal ones.

    Returns
    -------
    dict
        `lengths` of the rows; `runs`, each start (in all positions), length, role (a place in
        `ROLES`), sequence (−1 in padding), whether scored, whether the first of its sequence;
        `labelled`, whether the batch has labels.
    """
    roles = token_roles(batch, pad_id=pad_id)
    role = roles["role"].map({name: k for k, name in enumerate(ROLES)}).to_numpy(dtype=np.int64)
    sequence = roles["sequence"].fillna(-1).to_numpy(dtype=np.int64)
    columns = np.column_stack(
        (
            role,
            sequence,
            roles["scored"].to_numpy(dtype=np.int64),
            roles["first"].to_numpy(dtype=np.int64),
            roles["row"].to_numpy(dtype=np.int64),
        )
    )
    changed = np.ones(len(columns), dtype=np.bool_)
    changed[1:] = (columns[1:] != columns[:-1]).any(axis=1)
    begins = np.flatnonzero(changed)
    lengths = np.diff(np.append(begins, len(columns)))
    runs = np.column_stack((begins, lengths, columns[begins, :4])).tolist()
    layout = read_layout(fields_of(batch), Rules(pad_id=pad_id))
    return {
        "lengths": layout.rows.lengths.tolist(),
        "runs": runs,
        "labelled": layout.labels is not None,
    }


def model_given(shape: Any, peak: Any, devices: int) -> dict[str, Any]:
    """Return the FLOPs per token of every convention, as corners of lines over the length."""
    windows = shape.windows if isinstance(shape, ModelShape) else ()
    corners = {float(w) for w in (windows or ()) if w} if isinstance(windows, tuple) else set()
    lengths = sorted({1.0, *corners, _FAR})
    listed = []
    for name, convention in CONVENTIONS.items():
        found = mfu(
            shape,
            convention=name,
            tokens_per_second=1e-9,  # what is said of it at any rate
            sequence=1,
            peak=peak,
            devices=devices,
        )
        listed.append(
            {
                "name": name,
                "kind": found.kind,
                "includes": convention.includes,
                "guards": list(found.guards),
                "flops": [float(flops_per_token(shape, name, t)) for t in lengths],
            }
        )
    return {"lengths": lengths, "conventions": listed, "roof": devices * roof_of(peak)}


def tokens_given(data: dict[str, Any]) -> str:
    """Return plain data for ``page/tokens.ts``, packed."""
    return packed_json(data)
