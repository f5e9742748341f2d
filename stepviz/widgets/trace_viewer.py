"""The trace viewer: all ranks and lanes of a step, drawn in the page, kept in Python.

The page asks for what it shows, a time range at a width in pixels, and draws what it has until the
answer comes (see `viewer_answers`). What was chosen there comes back as `selection`.
"""

from __future__ import annotations

import operator
from pathlib import PurePath
from typing import Any

import anywidget
import pandas as pd
import traitlets

from stepviz.core.timeline import Timeline
from stepviz.errors import TraceError, near
from stepviz.traces.runs import Run
from stepviz.traces.step import Step
from stepviz.widgets.bundle import bundle_text, packed_module
from stepviz.widgets.pages import Piece, Saved, model_of
from stepviz.widgets.viewer_answers import Answers
from stepviz.widgets.viewer_drawing import step_svg
from stepviz.widgets.viewer_page import viewer_given


class TraceViewer(Saved, anywidget.AnyWidget):
    """A step's trace to look into: every rank, stream and thread, the critical path across them.

    Parameters
    ----------
    step : Step
        What to show: ``run.step()``.
    height : int, optional
        Height of the drawing in px; by default as tall as its rows need, within limits.
    layout : ipywidgets.Layout or dict, optional
        As for any widget.

    Raises
    ------
    TraceError
        What is shown is no step.
    TypeError
        An unknown keyword argument.

    Examples
    --------
    >>> import stepviz as sv
    >>> viewer = sv.TraceViewer(sv.sample_run().step())
    >>> len(viewer.find("gloo:all_reduce")) > 0
    True
    >>> viewer.show(start_ns=viewer.step.windows["start_ns"].min())
    """

    _esm = traitlets.Unicode().tag(sync=True)
    _css = traitlets.Unicode().tag(sync=True)

    selection = traitlets.Dict(None, allow_none=True, read_only=True)
    """What was clicked, or the range that was measured. Type: dict or None. Default: None.

    Keys: rank, lane, name, kind (all missing for a range over all lanes), start_ns, finish_ns
    (absolute, as in every frame of the step). Pieces narrower than a pixel are chosen together:
    the name is then that of the longest. Name the trait when observing:
    ``viewer.observe(f, names="selection")``.
    """

    height = traitlets.Int(None, allow_none=True, min=120).tag(sync=True)
    """Height of the drawing, px. Type: int or None. Default: None, as tall as its rows need."""

    _own_layout = False
    _scene = traitlets.Dict().tag(sync=True)
    _selected = traitlets.Dict(None, allow_none=True).tag(sync=True)
    _view = traitlets.Dict().tag(sync=True)
    _query = traitlets.Dict().tag(sync=True)

    def __init__(
        self, step: Step, *, height: int | None = None, layout: Any = None, **unknown: Any
    ) -> None:
        if unknown:
            name = next(iter(unknown))
            msg = f"TraceViewer has no argument {name!r}: {near(name, ('height', 'layout'))}"
            raise TypeError(msg)
        self._step = _as_step(step)
        self._answers = Answers(self._step)
        self._own_layout = layout is None
        super().__init__(
            height=height,
            _scene=self._answers.overview(),
            **({} if layout is None else {"layout": layout}),
        )
        self.on_msg(self._asked)

    @traitlets.default("_esm")
    def _default_esm(self) -> str:
        return packed_module("viewer.js")

    @traitlets.default("_css")
    def _default_css(self) -> str:
        return bundle_text("viewer.css")

    @property
    def step(self) -> Step:
        """The step that is shown."""
        return self._step

    def show(self, *, start_ns: int | None = None, finish_ns: int | None = None) -> None:
        """Move every view of this widget to a time range.

        Parameters
        ----------
        start_ns, finish_ns : int, optional
            Absolute, as in ``step.windows`` and every other frame; by default the step's start
            and its end.

        Raises
        ------
        TraceError
            Where the range is empty or outside of what is shown.
        """
        scene = self._answers.scene
        origin = scene.origin_ns
        start = 0 if start_ns is None else _ns(start_ns, "start_ns") - origin
        finish = scene.span_ns if finish_ns is None else _ns(finish_ns, "finish_ns") - origin
        if finish <= start or finish <= scene.begin_ns or start >= scene.span_ns:
            msg = (
                f"nothing to show from {start + origin} to {finish + origin}: the lanes go from "
                f"{origin + scene.begin_ns} to {origin + scene.span_ns} ns"
            )
            raise TraceError(msg)
        number = self._view.get("number", 0) + 1
        self._view = {"start": start, "finish": finish, "number": number}

    def find(self, name: str) -> pd.DataFrame:
        """Find a text in the names of all intervals, and mark what is found in every view.

        Parameters
        ----------
        name : str
            A part of the name, in capitals or not.

        Returns
        -------
        DataFrame
            One row per interval, by start: rank, lane, name, kind, start_ns, finish_ns,
            duration_ns.

        Raises
        ------
        TraceError
            Where `name` is no text.
        """
        if not isinstance(name, str) or not name:
            msg = f"a name to find is text of one letter or more, not {name!r}"
            raise TraceError(msg)
        matches = self._answers.find(name)
        self._query = {"text": name, "number": self._query.get("number", 0) + 1}
        return matches.frame(self._answers.scene)

    # Saved

    def _piece(self) -> Piece:
        given, notes = viewer_given(self._answers)
        return Piece((model_of(self, "viewer"),), "page_viewer", given, tuple(notes))

    _titled = True

    def _title(self) -> str:
        return str(self._scene["title"])

    def _picture_svg(self) -> str:
        return step_svg(self._answers)

    def close(self) -> None:
        """Close the widget and free it, here and in the page."""
        layout = self.layout if self._own_layout and self.comm is not None else None
        super().close()
        if layout is not None:
            layout.close()  # ipywidgets leaves it open, since users may share theirs

    def __repr__(self) -> str:
        return f"<TraceViewer of {repr(self._step)[1:-1]}>"

    # What the page sends

    def _asked(self, _widget: object, content: Any, _buffers: object) -> None:
        if isinstance(content, dict) and "ask" in content:
            answer, buffers = self._answers.answer(content)
            self.send(answer, buffers or None)

    @traitlets.observe("_selected")
    def _chosen(self, change: Any) -> None:
        self.set_trait("selection", self._answers.selection(change["new"]))


def _as_step(given: object) -> Step:
    """Return a step; anything else is refused, and what to write instead is said."""
    if isinstance(given, Step):
        return given
    if isinstance(given, Run):
        msg = f"TraceViewer shows one step, not the whole {given!r}: give it run.step()"
        raise TraceError(msg)
    if isinstance(given, Timeline):
        msg = "TraceViewer shows a recorded step; for a timeline there is TimelineEditor(timeline)"
        raise TraceError(msg)
    if isinstance(given, (str, PurePath)):
        example = f"sv.TraceViewer(sv.load_run({str(given)!r}).step())"
        msg = f"TraceViewer shows a step, not a path; load the run first: {example}"
        raise TraceError(msg)
    msg = f"TraceViewer shows a step, as run.step() returns it, not {type(given).__name__}"
    raise TraceError(msg)


def _ns(given: object, name: str) -> int:
    """Return a whole number of ns."""
    if isinstance(given, bool) or not hasattr(given, "__index__"):
        msg = f"{name} is a whole number of ns, as in step.windows, not {given!r}"
        raise TraceError(msg)
    return operator.index(given)
