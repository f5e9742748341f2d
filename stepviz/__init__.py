"""stepviz: what would make this training step finish sooner, and did it?"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from stepviz.builders.lesson_models import lesson
from stepviz.core.changes import (
    Change,
    delay_input,
    remove,
    scale,
    set_duration,
    set_lag,
    set_release,
    shorten,
    shrink_tail,
    together,
)
from stepviz.core.comparison import compare
from stepviz.core.schedule import Schedule
from stepviz.core.timeline import Timeline
from stepviz.errors import ChangeError, StepvizError, TimelineError, TraceError

if TYPE_CHECKING:
    from stepviz.traces import TraceWarning, load_run, sample_run
    from stepviz.widgets import TimelineEditor

__version__ = "0.1.0"

#: Public names that load their room, and what it needs, when first used.
_LATER = {
    "TimelineEditor": "stepviz.widgets",
    "TraceWarning": "stepviz.traces",
    "load_run": "stepviz.traces",
    "sample_run": "stepviz.traces",
}

__all__ = [
    "Change",
    "ChangeError",
    "Schedule",
    "StepvizError",
    "Timeline",
    "TimelineEditor",
    "TimelineError",
    "TraceError",
    "TraceWarning",
    "compare",
    "delay_input",
    "lesson",
    "load_run",
    "remove",
    "sample_run",
    "scale",
    "set_duration",
    "set_lag",
    "set_release",
    "shorten",
    "shrink_tail",
    "together",
]


def __getattr__(name: str) -> Any:
    if name in _LATER:
        value = getattr(import_module(_LATER[name]), name)
        globals()[name] = value
        return value
    msg = f"module 'stepviz' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return sorted(__all__)
