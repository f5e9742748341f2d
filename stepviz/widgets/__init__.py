"""Widgets for notebooks: the timeline editor and the trace viewer. They show; the core computes."""

from stepviz.widgets.editor import TimelineEditor
from stepviz.widgets.trace_viewer import TraceViewer

__all__ = ["TimelineEditor", "TraceViewer"]
