"""Timelines from profiler files: read, classify, join over ranks, fold."""

from __future__ import annotations

from stepviz.traces.classifying.added_patterns import (
    add_pattern,
    list_patterns,
    remove_pattern,
)
from stepviz.traces.loading import TraceWarning, load_run
from stepviz.traces.runs import Run
from stepviz.traces.samples import sample_run
from stepviz.traces.step import Step

__all__ = [
    "Run",
    "Step",
    "TraceWarning",
    "add_pattern",
    "list_patterns",
    "load_run",
    "remove_pattern",
    "sample_run",
]
