"""What each rank ran on and was recorded with, as far as its file says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pandas as pd

from stepviz.traces.rank_trace import RankTrace

#: What stepviz's recorder names otherwise than people do.
_SPELLED = {"torch": "PyTorch", "python": "Python", "cuda": "CUDA", "hip": "HIP", "nccl": "NCCL"}


def systems_frame(ranks: Mapping[int, RankTrace]) -> pd.DataFrame:
    """Return one row per rank: device, backend, world_size, groups, versions, made_by.

    Parameters
    ----------
    ranks
        The run by rank.
    """
    rows = {}
    for rank, trace in ranks.items():
        said = trace.rows
        rows[rank] = {
            "device": _device(said.recorded, said.devices),
            "backend": said.backend or "",
            "world_size": said.world_size,
            "groups": len(said.groups),
            "versions": _versions(said.recorded, said.versions),
            "made_by": _made_by(said.recorded),
        }
    frame = pd.DataFrame.from_dict(rows, orient="index").rename_axis("rank")
    return frame.astype({"world_size": "Int64"})


def _device(recorded: Mapping[str, Any], devices: tuple[str, ...]) -> str:
    """Name a rank's own device, else those of its machine, "" where nothing is said."""
    own = recorded.get("device")
    if isinstance(own, dict) and own.get("name"):
        return str(own["name"])
    counts = Counter(devices)
    names = [f"{count} × {name}" if count > 1 else name for name, count in counts.items()]
    return " and ".join(names) + (" in the machine" if len(devices) > 1 else "")


def _versions(recorded: Mapping[str, Any], versions: Mapping[str, str]) -> str:
    made = recorded.get("made_with")
    own = {
        _SPELLED.get(str(name), str(name)): str(value)
        for name, value in (made.items() if isinstance(made, dict) else ())
        if value is not None
    }
    return ", ".join(f"{name} {value}" for name, value in {**own, **versions}.items())


def _made_by(recorded: Mapping[str, Any]) -> str:
    kind = recorded.get("kind")
    return f"stepviz's {kind}" if isinstance(kind, str) else ""
