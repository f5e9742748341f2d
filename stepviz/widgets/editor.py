"""The timeline editor: a widget whose bars can be dragged, and what the notebook sees of it.

The page computes while a bar is dragged and commits once, when it is let go. Python then answers
with its own schedule, the authority. A revision says which timeline a message is about: commits of
a page count up under the page's name, timelines set in Python under the empty name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import anywidget
import traitlets

from stepviz.charts.step_drawings import timeline_svg
from stepviz.core.timeline import Timeline
from stepviz.errors import near
from stepviz.widgets.bundle import bundle_text, packed_module
from stepviz.widgets.pages import Piece, Saved, model_of
from stepviz.widgets.traits import (
    Document,
    DocumentTrait,
    PhaseTrait,
    ScenariosTrait,
    TimelineTrait,
    as_timeline,
    phase_names,
    read_scenarios,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stepviz.core.schedule import Schedule

Revision: TypeAlias = dict[str, Any]

#: What a broken message can raise while it is read.
_BAD = (ValueError, TypeError, KeyError, AttributeError)

#: How what a page sends is read; reading raises where it has no meaning.
_READERS: dict[str, Callable[[object], Any]] = {
    "value": as_timeline,
    "scenarios": read_scenarios,
    "baseline": as_timeline,
}


class TimelineEditor(Saved, anywidget.AnyWidget):
    """A timeline to drag: bars, dependencies, lags, with the completion updated all the while.

    Parameters
    ----------
    timeline : Timeline
        What to edit. Its plain data (`Timeline.to_dict`) does as well.
    baseline : Timeline, optional
        What the editor compares with, and returns to on reset; by default `timeline`.
    height : int, optional
        Height of the chart in px; by default as tall as its rows need, within limits.
    scenarios : mapping of str to Timeline, optional
        Timelines kept by name, to switch between. The baseline is always one of them, called A
        where that name is free.
    layout : ipywidgets.Layout or dict, optional
        As for any widget.

    Raises
    ------
    TypeError
        An unknown keyword argument.
    TimelineError
        A timeline that has no meaning.

    Examples
    --------
    >>> import stepviz as sv
    >>> editor = sv.TimelineEditor(sv.lesson())
    >>> editor.timeline = editor.timeline.with_duration("exchange", 325)
    >>> editor.schedule.completion
    725.0
    >>> editor.value["phases"][4]["duration"]
    325.0
    """

    _esm = traitlets.Unicode().tag(sync=True)
    _css = traitlets.Unicode().tag(sync=True)

    value = DocumentTrait().tag(sync=True)
    """The timeline as plain data, for `observe`, `link` and `jslink`.

    Type: dict, as `Timeline.to_dict` returns it. Assign a whole one; changing it in place is not
    seen. Bad data raises `TimelineError`, and the old value stays. Name the trait when observing:
    ``editor.observe(f, names="value")``.
    """

    selected = PhaseTrait().tag(sync=True)
    """The phase chosen last, in whichever view. Type: str or None. Default: None."""

    scenarios = ScenariosTrait()
    """Timelines kept by name. Type: read-only mapping of str to Timeline; assign a new one:
    ``editor.scenarios = {**editor.scenarios, "faster link": timeline}``.
    """

    baseline = TimelineTrait()
    """What changes are measured against, and what reset returns to. Type: Timeline.
    Default: the timeline given first.
    """

    height = traitlets.Int(None, allow_none=True, min=80).tag(sync=True)
    """Height of the chart, px. Type: int or None. Default: None, as tall as its rows need."""

    _own_layout = False
    _revision = traitlets.Dict().tag(sync=True)
    _answer = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        timeline: Timeline | Mapping[str, Any],
        *,
        baseline: Timeline | None = None,
        height: int | None = None,
        scenarios: Mapping[str, Timeline] | None = None,
        layout: Any = None,
        **unknown: Any,
    ) -> None:
        if unknown:
            name = next(iter(unknown))
            known = ("timeline", "baseline", "height", "scenarios", "layout")
            msg = f"TimelineEditor has no argument {name!r}: {near(name, known)}"
            raise TypeError(msg)
        shown = as_timeline(timeline)
        compared = shown if baseline is None else as_timeline(baseline)
        self._parsed = (shown.to_dict(), shown)
        self._number = 0
        self._from_page: Document | None = None
        self._own_layout = layout is None
        super().__init__(
            value=self._parsed[0],
            baseline=compared,
            scenarios=_with_baseline(scenarios or {}, compared),
            height=height,
            **({} if layout is None else {"layout": layout}),
        )

    @traitlets.default("_esm")
    def _default_esm(self) -> str:
        return packed_module()

    @traitlets.default("_css")
    def _default_css(self) -> str:
        return bundle_text("editor.css")

    @property
    def timeline(self) -> Timeline:
        """The timeline as it is now; assign one to show and edit that instead.

        Setting it is one entry in the editor's undo. During a drag it waits for the drag to end.
        """
        document = self.value
        if self._parsed[0] is not document:
            self._parsed = (document, as_timeline(document))
        return self._parsed[1]

    @timeline.setter
    def timeline(self, timeline: Timeline) -> None:
        self.value = timeline

    @property
    def schedule(self) -> Schedule:
        """The schedule of the timeline as it is now."""
        return self.timeline.schedule()

    # Saved

    def _piece(self) -> Piece:
        return Piece((model_of(self, "editor"),))

    def _title(self) -> str:
        return self.timeline.name or "A training step"

    def _picture_svg(self) -> str:
        return timeline_svg(self.timeline, baseline=self.baseline)

    def close(self) -> None:
        """Close the widget and free it, here and in the page."""
        layout = self.layout if self._own_layout and self.comm is not None else None
        super().close()
        if layout is not None:
            layout.close()  # ipywidgets leaves it open, since users may share theirs

    def __repr__(self) -> str:
        return f"<TimelineEditor of {repr(self.timeline)[1:-1]}>"

    # What the page sends

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Take what the page sent; what has no meaning is answered and put right there."""
        given = dict(sync_data)
        given.pop("_answer", None)
        problems: dict[str, str] = {}
        for name, read in _READERS.items():
            if name in given:
                try:
                    found = read(given[name])
                except _BAD as error:
                    problems[name] = str(error)
                    del given[name]
                else:
                    if name == "value":
                        self._parsed = (found.to_dict(), found)
                        given[name] = self._from_page = self._parsed[0]
        rejected = given.pop("_revision", None) if "value" in problems else None
        if given.get("selected") is not None and given["selected"] not in self._names(given):
            given["selected"] = None
        # The value first: what is selected is one of its phases.
        first = {name: given.pop(name) for name in ("value", "_revision") if name in given}
        try:
            super().set_state(first | given)
        finally:
            self._from_page = None
        if problems:
            self._put_right(problems, rejected)
        elif self._answer.get("revision") != self._revision:
            self._answer = self._make_answer(self._revision)

    def _names(self, given: dict[str, Any]) -> list[str]:
        return phase_names(given.get("value", self.value))

    def _put_right(self, problems: dict[str, str], rejected: Revision | None) -> None:
        """Send the last good values of what could not be read, and say why."""
        with self.hold_sync():
            self._states_to_send.update(problems)
            self._revision = self._next_revision()
            self._answer = self._make_answer(
                self._revision, error="; ".join(problems.values()), rejected=rejected
            )

    # What the page is told

    def notify_change(self, change: Any) -> None:
        """Answer each new timeline with its schedule, then tell observers."""
        if change["name"] != "value":
            super().notify_change(change)
        elif self._from_page is not None and change["new"] is self._from_page:
            self._answer = self._make_answer(self._revision)
            super().notify_change(change)
        else:
            with self.hold_sync():  # one message: a page must not see a value without its revision
                self._revision = self._next_revision()
                self._answer = self._make_answer(self._revision)
                if self.selected not in (None, *phase_names(change["new"])):
                    self.selected = None
                super().notify_change(change)

    def _next_revision(self) -> Revision:
        self._number += 1
        return {"page": "", "number": self._number}

    def _make_answer(
        self, revision: Revision, error: str | None = None, rejected: Revision | None = None
    ) -> dict[str, Any]:
        solution = self.schedule.solution
        return {
            "revision": dict(revision),
            "error": error,
            "rejected": rejected,
            "completion": solution.completion,
            "start": solution.start.tolist(),
            "finish": solution.finish.tolist(),
            "latest_start": _finite(solution.latest_start),
            "latest_finish": _finite(solution.latest_finish),
            "total_float": _finite(solution.total_float),
            "free_float": _finite(solution.free_float),
            "critical": solution.critical.tolist(),
            "binding": solution.binding.tolist(),
        }


def _with_baseline(given: Mapping[str, Timeline], baseline: Timeline) -> dict[str, Timeline]:
    """Return the scenarios with the baseline among them, first if it was not."""
    scenarios = read_scenarios(given)
    if baseline in scenarios.values():
        return dict(scenarios)
    letters = (chr(65 + k % 26) + (str(k // 26 + 1) if k >= 26 else "") for k in range(1000))
    name = next(letter for letter in letters if letter not in scenarios)
    return {name: baseline, **scenarios}


def _finite(values: NDArray[Any]) -> list[float | None]:
    """Return numbers as standard JSON knows them: None for infinite."""
    return [value if math.isfinite(value) else None for value in values.tolist()]
