"""stepviz: what would make this training step finish sooner, and did it?

Every public name loads its room, and what that needs, when first used; so importing is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from stepviz.errors import (
    ChangeError,
    CostError,
    StepvizError,
    ThroughputError,
    TimelineError,
    TraceError,
)

if TYPE_CHECKING:
    from stepviz import builders as builders
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
    from stepviz.traces import (
        TraceWarning,
        add_pattern,
        list_patterns,
        load_run,
        remove_pattern,
        sample_run,
    )
    from stepviz.widgets import TimelineEditor, TraceViewer

__version__ = "0.1.0"

#: Rooms that are used by their own name.
_ROOMS = ("builders",)

#: Where each public name lives.
_HOMES = {
    "Change": "stepviz.core.changes",
    "Schedule": "stepviz.core.schedule",
    "Timeline": "stepviz.core.timeline",
    "TimelineEditor": "stepviz.widgets",
    "TraceViewer": "stepviz.widgets.trace_viewer",
    "TraceWarning": "stepviz.traces",
    "add_pattern": "stepviz.traces",
    "compare": "stepviz.core.comparison",
    "delay_input": "stepviz.core.changes",
    "lesson": "stepviz.builders.lesson_models",
    "list_patterns": "stepviz.traces",
    "load_run": "stepviz.traces",
    "remove": "stepviz.core.changes",
    "remove_pattern": "stepviz.traces",
    "sample_run": "stepviz.traces",
    "scale": "stepviz.core.changes",
    "set_duration": "stepviz.core.changes",
    "set_lag": "stepviz.core.changes",
    "set_release": "stepviz.core.changes",
    "shorten": "stepviz.core.changes",
    "shrink_tail": "stepviz.core.changes",
    "together": "stepviz.core.changes",
}

__all__ = [
    "Change",
    "ChangeError",
    "CostError",
    "Schedule",
    "StepvizError",
    "ThroughputError",
    "Timeline",
    "TimelineEditor",
    "TimelineError",
    "TraceError",
    "TraceViewer",
    "TraceWarning",
    "add_pattern",
    "compare",
    "delay_input",
    "lesson",
    "list_patterns",
    "load_run",
    "remove",
    "remove_pattern",
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
    if name in _ROOMS:
        return import_module(f"stepviz.{name}")
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    msg = f"module 'stepviz' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return sorted([*__all__, *_ROOMS])
