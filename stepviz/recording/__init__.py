"""New traces: a DDP benchmark, its launcher, and a recorder for anybody's loop.

The only room that needs torch, and it imports it late: the process that starts a capture never
does.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stepviz.recording.captures import capture
    from stepviz.recording.experiments import experiment
    from stepviz.recording.recorder import Recorder

#: A rank loads its benchmark, not what reads traces.
_HOMES = {
    "Recorder": "stepviz.recording.recorder",
    "capture": "stepviz.recording.captures",
    "experiment": "stepviz.recording.experiments",
}

__all__ = ["Recorder", "capture", "experiment"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    msg = f"module 'stepviz.recording' has no attribute {name!r}"
    raise AttributeError(msg)
