"""The gradients a step exchanges: from sizes, a frame, a model, or a run's recorded buckets.

Nothing here imports torch: a model is known by its `named_parameters`, a tensor by its `numel`
and `element_size`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from stepviz.builders.arguments import as_list
from stepviz.builders.costs import collective_name
from stepviz.core.checks import as_real, holds_several
from stepviz.errors import CostError, TimelineError

_WANTED = (
    "give sizes in bytes, (name, bytes) pairs, a dict of bytes by name, a frame with a column "
    "'bytes', a torch.nn.Module, or a captured step"
)
_NS_PER_MS = 1e6


@dataclass(frozen=True)
class Gradient:
    """One parameter's gradient, or one recorded bucket of several.

    `group` tells apart what may not share a bucket (dtype and device). A sparse gradient is
    always alone.
    """

    name: str
    nbytes: float
    group: str = ""
    sparse: bool = False


@dataclass(frozen=True)
class Recorded:
    """Buckets as a run exchanged them, in the order in which they were launched.

    `lead_ms` is how long before the last bucket each was ready; `transfer_ms` how long it took,
    None where the run can't tell.
    """

    gradients: tuple[Gradient, ...]
    lead_ms: tuple[float, ...]
    transfer_ms: tuple[float | None, ...]


def gradients_of(parameters: Any) -> tuple[Gradient, ...]:
    """Return the gradients in registration order; what can't be read is a `TimelineError`."""
    if hasattr(parameters, "named_parameters"):
        found = _of_module(parameters)
    elif isinstance(parameters, pd.DataFrame):
        found = _of_frame(parameters)
    elif isinstance(parameters, Mapping):
        found = [_of_pair(name, size) for name, size in parameters.items()]
    elif not holds_several(parameters):
        msg = f"parameters is {type(parameters).__name__}: {_WANTED}"
        raise TimelineError(msg)
    else:
        items = as_list(parameters, "parameters", "a list")
        found = [_of_item(k, item) for k, item in enumerate(items)]
    if not found:
        msg = f"parameters holds none that gets a gradient: {_WANTED}"
        raise TimelineError(msg)
    if math.isinf(sum(gradient.nbytes for gradient in found)):
        msg = "parameters together have more bytes than a number can hold: give sizes in bytes"
        raise TimelineError(msg)
    return tuple(found)


def recorded_frame(parameters: Any) -> pd.DataFrame | None:
    """Return a step's `collectives`, from that frame, a step or a run (its median step).

    None where this is none of them.
    """
    if hasattr(parameters, "named_parameters"):
        return None
    if not isinstance(parameters, pd.DataFrame):
        step = parameters.step() if callable(getattr(parameters, "step", None)) else parameters
        parameters = getattr(step, "collectives", None)
    known = isinstance(parameters, pd.DataFrame) and "transfer_ns" in parameters.columns
    return parameters if known else None


def recorded_buckets(frame: pd.DataFrame) -> Recorded:
    """Return the all-reduces of a step's `collectives` frame as buckets.

    Columns used: `bytes`, `transfer_ns`, and where they are there `collective`, `arrival_ns`
    (the last member's arrival) and `name`.
    """
    if "bytes" not in frame.columns:
        have = ", ".join(map(str, frame.columns))
        msg = f"the collectives have no column 'bytes', only {have}: give a step's collectives"
        raise TimelineError(msg)
    rows = frame
    if "collective" in frame.columns:
        rows = frame[[_is_all_reduce(name) for name in frame["collective"]]]
    rows = rows[rows["bytes"].notna()]
    if rows.empty:
        msg = "the collectives hold no all-reduce of known size: was DDP traced, with shapes on?"
        raise TimelineError(msg)
    names = [str(n) for n in rows["name"]] if "name" in rows.columns else [""] * len(rows)
    if len(set(names)) < len(names):
        names = [f"bucket {k}" for k in range(1, len(rows) + 1)]
    lead = np.zeros(len(rows))
    if "arrival_ns" in rows.columns:
        arrival = rows["arrival_ns"].to_numpy(dtype=np.int64)
        lead = (arrival.max() - arrival) / _NS_PER_MS
    return Recorded(
        tuple(Gradient(name, float(size)) for name, size in zip(names, rows["bytes"], strict=True)),
        tuple(lead.tolist()),
        tuple(
            None if pd.isna(ns) or ns < 0 else float(ns) / _NS_PER_MS for ns in rows["transfer_ns"]
        ),
    )


def _is_all_reduce(name: object) -> bool:
    try:
        return collective_name(name) == "all-reduce"
    except CostError:
        return False


def _of_module(module: Any) -> list[Gradient]:
    # As DDP does: a sparse embedding's weight is found by its module, not by itself.
    sparse = {
        f"{name}.weight" if name else "weight"
        for name, part in getattr(module, "named_modules", tuple)()
        if getattr(part, "sparse", False) is True and hasattr(part, "num_embeddings")
    }
    return [
        _of_tensor(name, tensor, sparse=name in sparse)
        for name, tensor in module.named_parameters()
        if getattr(tensor, "requires_grad", True)
    ]


def _of_tensor(name: str, tensor: Any, *, sparse: bool = False) -> Gradient:
    group = f"{getattr(tensor, 'dtype', '')} {getattr(tensor, 'device', '')}".strip()
    return Gradient(name, float(tensor.numel() * tensor.element_size()), group, sparse)


def _of_frame(frame: pd.DataFrame) -> list[Gradient]:
    if "bytes" not in frame.columns:
        have = ", ".join(map(str, frame.columns)) or "none"
        msg = f"parameters has no column 'bytes' (its columns: {have}): give sizes in bytes"
        raise TimelineError(msg)
    numbered = isinstance(frame.index, pd.RangeIndex)
    names = frame["name"] if "name" in frame.columns else frame.index
    groups = frame["dtype"] if "dtype" in frame.columns else [""] * len(frame)
    found = []
    for k, (name, size, group) in enumerate(zip(names, frame["bytes"], groups, strict=True)):
        plain = f"parameter {k}" if numbered and "name" not in frame.columns else str(name)
        found.append(_of_pair(plain, size, str(group)))
    return found


def _of_item(k: int, item: Any) -> Gradient:
    if hasattr(item, "numel") and hasattr(item, "element_size"):
        return _of_tensor(f"parameter {k}", item)
    if isinstance(item, Gradient):
        return item
    if isinstance(item, Sequence) and not isinstance(item, str | bytes) and len(item) == 2:
        name, size = item
        if not isinstance(name, str):
            msg = f"parameter {k} is {item!r}: a pair is (name, bytes); for a shape, give its bytes"
            raise TimelineError(msg)
        if hasattr(size, "numel") and hasattr(size, "element_size"):
            return _of_tensor(name, size)
        return _of_pair(name, size)
    return _of_pair(f"parameter {k}", item)


def _of_pair(name: object, size: object, group: str = "") -> Gradient:
    number = as_real(size)
    if number is None or not math.isfinite(number) or number < 0:
        msg = f"the size of {name!r} is {size!r}: {_WANTED}"
        raise TimelineError(msg)
    return Gradient(str(name), number, group)
