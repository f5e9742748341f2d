"""Widgets for notebooks: the timeline editor. They show and edit; the core computes."""

from stepviz.widgets.editor import TimelineEditor

__all__ = ["TimelineEditor"]
