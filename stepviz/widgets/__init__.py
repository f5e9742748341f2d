"""Widgets for notebooks. They show; the rooms below compute."""

from stepviz.widgets.bucket_explorer import BucketExplorer
from stepviz.widgets.capture_panel import CapturePanel
from stepviz.widgets.editor import TimelineEditor
from stepviz.widgets.quiz import Quiz
from stepviz.widgets.run_planner import RunPlanner
from stepviz.widgets.token_comparison import TokenComparison
from stepviz.widgets.trace_viewer import TraceViewer

__all__ = [
    "BucketExplorer",
    "CapturePanel",
    "Quiz",
    "RunPlanner",
    "TimelineEditor",
    "TokenComparison",
    "TraceViewer",
]
