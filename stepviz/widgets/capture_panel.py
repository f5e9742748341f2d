"""`sv.capture` as a form: options, a bar, the timeline in the editor, runs side by side."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import ipywidgets
import pandas as pd

from stepviz.errors import CaptureError, near
from stepviz.recording.background import BackgroundCapture, Stopped, place_for, why_none_here
from stepviz.recording.options import told
from stepviz.traces import Run, sample_run
from stepviz.widgets.capture_form import CaptureForm, written_options
from stepviz.widgets.capture_rows import COLUMNS, row_texts, run_row
from stepviz.widgets.editor import TimelineEditor

_OWN: Final = ("folder", "runs", "layout")
#: Shown where nothing can be captured.
_SAMPLES: Final = ("base", "slow rank")


class CapturePanel(ipywidgets.VBox):  # type: ignore[misc]  # ipywidgets has no types
    """Capture runs on this machine from a form, and compare them; `sv.capture` with a face.

    The kernel stays free while a capture runs. Stopping it, closing the panel, interrupting or
    restarting the kernel end every process of it.

    Parameters
    ----------
    folder : path, optional
        Where runs are kept, each in a folder of its own; by default as `capture` keeps them.
    runs : mapping of str to Run, optional
        Runs that are there at first; the first is what others are compared with. Where nothing
        can be captured, since there is no torch, the sample runs unless given.
    layout : ipywidgets.Layout or dict, optional
        As for any widget.
    **options
        Options of `capture` to begin with.

    Raises
    ------
    CaptureError
        An option that cannot be.
    TypeError
        An unknown argument.

    Examples
    --------
    >>> import stepviz as sv
    >>> panel = sv.CapturePanel(runs={"base": sv.sample_run()}, bucket_cap_mb=8)
    >>> panel.run.ranks
    [0, 1]
    >>> panel.value["bucket_cap_mb"]
    8.0
    >>> panel.close()
    """

    def __init__(
        self,
        *,
        folder: str | os.PathLike[str] | None = None,
        runs: Mapping[str, Run] | None = None,
        layout: Any = None,
        **options: Any,
    ) -> None:
        for name in options:
            if name not in told():
                hint = near(name, [*_OWN, *told()])
                msg = f"CapturePanel has no argument {name!r}: {hint}"
                raise TypeError(msg)
        missing = why_none_here()
        self._folder = None if folder is None else Path(folder).expanduser().absolute()
        self._runs: dict[str, Run] = {}
        self._rows: dict[str, dict[str, Any]] = {}
        self._chosen = self._label = ""
        self._job: BackgroundCapture | None = None
        self._problem: BaseException | None = None
        self._busy = threading.Lock()
        self._telling = threading.Lock()
        self.form = CaptureForm(options, missing=missing, heard=self._heard)
        self._opened = self.form.options
        self.editor: TimelineEditor | None = None
        super().__init__(children=[self.form], **({} if layout is None else {"layout": layout}))
        if runs is None and missing:
            runs = {f"sample: {name}": sample_run(name) for name in _SAMPLES}
        for label, run in (runs or {}).items():
            self._keep(label, run)
        if runs:
            self.chosen = next(iter(runs))
        self._list()

    @property
    def value(self) -> dict[str, Any]:
        """The options by name; assign some of them to change them.

        To be told, observe the form: ``panel.form.observe(f, names="value")``.
        """
        return dict(self.form.value)

    @value.setter
    def value(self, options: Mapping[str, Any]) -> None:
        self.form.value = options

    @property
    def run(self) -> Run | None:
        """The run that is chosen, None where there is none yet."""
        return self._runs.get(self._chosen)

    @property
    def runs(self) -> dict[str, Run]:
        """All runs by their label, the oldest first."""
        return dict(self._runs)

    @property
    def chosen(self) -> str:
        """The label of the run that the editor shows; assign another to show that."""
        return self._chosen

    @chosen.setter
    def chosen(self, label: str) -> None:
        if label not in self._runs:
            msg = f"there is no run {label!r}: {near(str(label), self._runs)}"
            raise CaptureError(msg)
        timeline = self._runs[label].step().timeline()
        self._chosen = label
        if self.editor is None:
            self.editor = TimelineEditor(timeline)
            self.children = [self.form, self.editor]
        else:
            self.editor.timeline = timeline
        self._list()

    @property
    def table(self) -> pd.DataFrame:
        """One row per run, by its label.

        step_ms is the median step, with its quartiles, without profiler where the run has such
        steps; exposed_ms the exchange and waits that no work covers, in the traced steps; verdict
        and reason compare it with the first, see `verdict`.
        """
        rows = [[row[name] for name in COLUMNS] for row in self._rows.values()]
        index = pd.Index(list(self._rows), name="run", dtype=object)
        return pd.DataFrame(rows, index=index, columns=list(COLUMNS))

    @property
    def running(self) -> bool:
        """Whether a capture is at work."""
        return self._job is not None and self._job.running

    def start(self) -> None:
        """Begin a capture with the options as they are, and return at once.

        Raises
        ------
        CaptureError
            Where one is at work already.
        """
        if not self._busy.acquire(blocking=False):
            msg = "a capture is at work; stop it, or wait until it is done"
            raise CaptureError(msg)
        try:
            options = self.form.options
            target = place_for(self._folder, len(self._runs) + 1)
            self.form.tell("running", 0.0, "starting")
            self._label = self._new_label(written_options(options, beside=self._opened))
            self._problem = None
            self._job = BackgroundCapture(options, target, self._told, self._ended)
        except BaseException as error:
            self.form.tell("failed", problem=str(error))
            self._busy.release()
            raise

    def stop(self) -> None:
        """End the capture that is at work, with every process of it."""
        with self._telling:
            if self._job is not None and self._busy.locked():
                self._job.stop()
                self.form.tell("stopping", self.form._job["share"], "stopping")

    def wait(self, timeout: float | None = None) -> Run | None:
        """Wait for the capture that is at work, and return its run; the kernel is busy meanwhile.

        Parameters
        ----------
        timeout : float, optional
            For so long at most, s; None is returned where it takes longer.

        Raises
        ------
        CaptureError
            Where the capture failed, or was stopped.
        """
        if self._job is None:
            return self.run
        try:
            over = self._job.wait(timeout)
        except KeyboardInterrupt:
            self._job.stop()
            self._job.wait()
            raise
        if not over:
            return None
        if self._problem is not None:
            raise self._problem
        return list(self._runs.values())[-1]

    def close(self) -> None:
        """Close the panel and free it, here and in the page; a capture at work is stopped."""
        job = self.__dict__.get("_job")
        if job is not None and job.running:
            job.stop()
            job.wait(10)
        super().close()
        for name in ("form", "editor"):
            part = self.__dict__.get(name)
            if part is not None:
                part.close()

    def __repr__(self) -> str:
        return f"<CapturePanel: {len(self._runs)} runs, next {self.form._shown['picture']['code']}>"

    def _repr_html_(self) -> str:
        return self.table.to_html()

    # From the page, and from the capture's thread

    def _heard(self, asked: str, which: Any) -> None:
        try:
            if asked == "run":
                self.start()
            elif asked == "stop":
                self.stop()
            else:
                self.chosen = list(self._runs)[int(which)]
        except CaptureError as error:
            if not self.running:
                self.form.tell("failed", problem=str(error))
        except (IndexError, TypeError, ValueError):
            return  # no run of ours

    def _told(self, share: float, words: str) -> None:
        with self._telling:
            if self.form._job["state"] == "running":
                self.form.tell("running", share, words)

    def _ended(self, run: Run | None, problem: BaseException | None) -> None:
        label = self._label
        try:
            if run is not None:
                self._told(1.0, "comparing")
                self._keep(label, run)
                self._list()
                self.chosen = label
        except Exception as error:  # noqa: BLE001  # told in the panel; nobody else hears of it
            problem = error
        self._problem = problem
        with self._telling:
            self._busy.release()
            if problem is None:
                self.form.tell("done", 1.0, f"captured: {label}")
            elif isinstance(problem, Stopped):
                self.form.tell("stopped", words=str(problem))
            else:
                self.form.tell("failed", problem=str(problem) or type(problem).__name__)

    def _keep(self, label: str, run: Run) -> None:
        first = next(iter(self._runs.values()), None)
        self._rows[label] = run_row(run, first)
        self._runs[label] = run

    def _new_label(self, changed: Mapping[str, Any]) -> str:
        plain = ", ".join(f"{name}={value}" for name, value in changed.items()) or "base"
        count, label = 1, plain
        while label in self._runs:
            count += 1
            label = f"{plain} ({count})"
        return label

    def _list(self) -> None:
        labels = list(self._runs)
        rows = [row_texts(label, self._rows[label]) for label in labels]
        self.form.list_runs(rows, labels.index(self._chosen) if self._chosen else -1)
