"""Which bucket cap? Sliders, the sweep over caps, and the chosen step in the editor."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pandas as pd

from stepviz.builders.bucket_rules import MIB
from stepviz.builders.parameters import recorded_buckets
from stepviz.core.timeline import Timeline
from stepviz.core.vocabulary import COMPUTE
from stepviz.errors import CostError, near
from stepviz.evidence import fit_contention, fit_cost
from stepviz.traces import Run, Step
from stepviz.widgets.boxes import PartsBox
from stepviz.widgets.bucket_panel import BucketPanel, StepGiven
from stepviz.widgets.drawings import stacked
from stepviz.widgets.editor import TimelineEditor
from stepviz.widgets.pages import Piece, Saved

_SETTINGS = ("cap", "first_bucket", "bandwidth", "latency", "compute", "backward")
_KNOWN = (*_SETTINGS, "forward", "optimizer", "cost", "contention", "layout")


class BucketExplorer(Saved, PartsBox):
    """DDP's bucket cap as a slider: completion and exposed tail over caps, and the chosen step.

    Parameters
    ----------
    run_or_parameters : Run, Step, or parameters as for `builders.ddp`
        Of a run, its median step: its buckets, which can only be joined, its times, and cost and
        contention as fitted to it, where they can be.
    backward, forward, optimizer : float, optional
        ms; of a run what it took, else 200, 100 and 10.
    cap, first_bucket : float, optional
        MiB, at first; the cap is torch's 25 unless given, of a run one that keeps its buckets.
    bandwidth, latency : float, optional
        GB/s of algorithm bandwidth, ms per collective.
    compute : float, optional
        Compute's speed while exchange runs beside it, up to 1.
    layout : ipywidgets.Layout or dict, optional
        As for any widget.

    Raises
    ------
    TimelineError
        Parameters or a setting without meaning.
    TypeError
        An unknown argument.

    Examples
    --------
    >>> import stepviz as sv
    >>> explorer = sv.BucketExplorer([20 * 2**20] * 12, latency=0.5)
    >>> explorer.value = {"cap": 60}
    >>> len(explorer.timeline.phases.query("kind == 'exchange'"))
    4
    >>> explorer.editor.timeline == explorer.timeline
    True
    """

    _parts = ("panel", "editor")

    def __init__(
        self,
        run_or_parameters: Any,
        *,
        forward: float | None = None,
        optimizer: float | None = None,
        layout: Any = None,
        **settings: Any,
    ) -> None:
        for name in settings:
            if name not in _SETTINGS:
                hint = near(name, _KNOWN, most=12)
                msg = f"BucketExplorer has no argument {name!r}: {hint}"
                raise TypeError(msg)
        parameters = run_or_parameters
        if isinstance(parameters, Iterator):
            parameters = list(parameters)
        begun: dict[str, Any] = {}
        times = {"forward": 100.0, "optimizer": 10.0, "lead": 0.0}
        if isinstance(parameters, Run | Step):
            begun, times = _of_run(parameters)
            parameters = parameters if isinstance(parameters, Step) else parameters.step()
        given = StepGiven(
            parameters,
            times["forward"] if forward is None else forward,
            times["optimizer"] if optimizer is None else optimizer,
            times["lead"],
        )
        self.panel = BucketPanel(given, {**begun, **settings})
        opening = self.panel.timeline()
        self.editor = TimelineEditor(opening)
        super().__init__([self.panel, self.editor], layout)
        self.panel.observe(self._follow, names="value")

    @property
    def value(self) -> dict[str, Any]:
        """The settings: cap, first_bucket, bandwidth, latency, compute, backward.

        Assign some of them to change them. To be told, observe the panel:
        ``explorer.panel.observe(f, names="value")``.
        """
        return dict(self.panel.value)

    @value.setter
    def value(self, settings: dict[str, Any]) -> None:
        self.panel.value = settings

    @property
    def sweep(self) -> pd.DataFrame:
        """Completion and what the tail is made of over caps; see `builders.bucket_sweep`."""
        return self.panel.sweep().copy()

    @property
    def timeline(self) -> Timeline:
        """The step at the chosen cap, as the explorer made it."""
        return self.panel.timeline()

    def _piece(self) -> Piece:
        panel, editor = self.panel._piece(), self.editor._piece()
        return Piece((*panel.models, *editor.models), panel.kernel, panel.given)

    _titled = True

    def _title(self) -> str:
        return self.panel._title()

    def _picture_svg(self) -> str:
        drawings = [self.panel._picture_svg(), self.editor._picture_svg()]
        return stacked(drawings, str(self.panel._shown["picture"]["headline"]))

    def __repr__(self) -> str:
        return f"<BucketExplorer: {self.panel._shown['picture']['headline']}>"

    def _repr_html_(self) -> str:
        return self.sweep.to_html(max_rows=20)

    def _follow(self, _change: Any) -> None:
        self.editor.timeline = self.panel.timeline()


def _of_run(given: Run | Step) -> tuple[dict[str, Any], dict[str, float]]:
    """Return settings and times of a run's median step, or of a step."""
    step = given if isinstance(given, Step) else given.step()
    split = step.breakdown().max(axis=1)
    times = {name: float(split.get(name, 0.0)) for name in (*COMPUTE, "optimizer")}
    # Backward lasts at least from the first bucket's readiness to the last one's, also where it
    # stood still in between.
    recorded = recorded_buckets(step.collectives)
    times["lead"] = max(recorded.lead_ms)
    work = times["backward"] + times["recompute"]
    # With a cap of the smallest bucket each stays by itself, as it was recorded.
    smallest = min(bucket.nbytes for bucket in recorded.gradients)
    begun: dict[str, Any] = {"backward": max(work, times["lead"]), "cap": smallest / MIB}
    with suppress(CostError):  # sizes that tell latency and bandwidth apart: else as at first
        fits = fit_cost(given).fits.query("collective == 'all-reduce'").sort_values("points")
        if len(fits):
            row = fits.iloc[-1]
            begun |= {"latency": float(row["latency"]), "bandwidth": float(row["bandwidth"])}
    if isinstance(given, Run):
        with suppress(CostError):  # no kernel ran both alone and beside exchange: none is assumed
            begun["compute"] = fit_contention(given).contention.compute
    return begun, times
