"""`sv.capture` as a form: options, a bar, the timeline in the editor, runs side by side."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from typing import Any, Final

import pandas as pd

from stepviz.errors import CaptureError, near
from stepviz.recording.background import (
    BackgroundCapture,
    Stopped,
    kept_folder,
    place_for,
    why_none_here,
)
from stepviz.recording.options import told
from stepviz.traces import Run, sample_run
from stepviz.widgets.boxes import PartsBox
from stepviz.widgets.capture_form import CaptureForm, written_options
from stepviz.widgets.capture_page import runs_given, seen_in_page
from stepviz.widgets.capture_rows import COLUMNS, row_texts, run_row
from stepviz.widgets.drawings import runs_svg, stacked
from stepviz.widgets.editor import TimelineEditor
from stepviz.widgets.pages import Piece, Saved, model_of

_OWN: Final = ("folder", "runs", "layout")
#: Shown where nothing can be captured.
_SAMPLES: Final = ("base", "slow rank")


class CapturePanel(Saved, PartsBox):
    """Capture runs on this machine from a form, and compare them; `sv.capture` with a face.

    The kernel stays free while a capture runs. Stopping it, closing the panel, interrupting or
    restarting the kernel end every process of it.

    Parameters
    ----------
    folder : path, optional
        Where runs are kept, each in a folder of its own (run-1, run-2, …; other panels may keep
        theirs there as well); by default as `capture` keeps them.
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
        An option that cannot be, or a folder in which nothing can be kept.
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

    _parts = ("form", "editor")

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
        self._folder = kept_folder(folder)
        self._runs: dict[str, Run] = {}
        self._rows: dict[str, dict[str, Any]] = {}
        self._chosen = self._label = ""
        self._made: Run | None = None
        self._job: BackgroundCapture | None = None
        self._problem: BaseException | None = None
        self._busy = threading.Lock()
        self._telling = threading.Lock()
        # A capture's thread adds a run while the page renames or removes another.
        self._shelf = threading.RLock()
        self.form = CaptureForm(options, missing=missing, heard=self._heard)
        self._opened = self.form.options
        self.editor: TimelineEditor | None = None
        super().__init__([self.form], layout)
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
        with self._shelf:
            timeline = self._runs[self._known(label)].step().timeline()
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

    def rename(self, label: str, new: str) -> None:
        """Call a run something else; its files stay where they are.

        Raises
        ------
        CaptureError
            No run of this label, or a new one that is empty or another run's.
        """
        with self._shelf:
            self._known(label)
            new = str(new).strip()
            if not new:
                msg = f"a run needs a label: what is {label!r} to be called?"
                raise CaptureError(msg)
            if new != label and new in self._runs:
                msg = f"{new!r} is another run's label; choose another, or rename that first"
                raise CaptureError(msg)
            self._runs = {new if one == label else one: run for one, run in self._runs.items()}
            self._rows = {new if one == label else one: row for one, row in self._rows.items()}
            self._chosen = new if self._chosen == label else self._chosen
            self._list()

    def remove(self, label: str) -> None:
        """Take a run off the table; its files stay where they are.

        Where it was the first, the others are compared with the one that is the first now.

        Raises
        ------
        CaptureError
            No run of this label.
        """
        with self._shelf:
            place = list(self._runs).index(self._known(label))
            run = self._runs.pop(label)
            del self._rows[label]
            left = list(self._runs.items())
            if place == 0:
                self._rows = {
                    one: run_row(kept, left[0][1] if k else None)
                    for k, (one, kept) in enumerate(left)
                }
            if self._chosen == label:
                self._chosen = ""
                if left:
                    self.chosen = left[min(place, len(left) - 1)][0]
                else:
                    self._close_editor()
            files = [str(file) for file in run.files["file"]]
            where = f" in {os.path.dirname(files[0])}" if files else ""  # noqa: PTH120  # maybe a URL
            self._list(f"{label} is off the table; its files stay{where}")

    def _close_editor(self) -> None:
        editor, self.editor = self.editor, None
        self.children = [self.form]
        if editor is not None:
            editor.close()

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
            self._problem, self._made = None, None
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
        return self._made

    def _piece(self) -> Piece:
        form = seen_in_page(model_of(self.form, "capture"))
        editor = () if self.editor is None else self.editor._piece().models
        return Piece((form, *editor), "page_capture", runs_given(self._runs))

    def _title(self) -> str:
        return "Runs side by side"

    def _picture_svg(self) -> str:
        table = runs_svg([row_texts(label, row) for label, row in self._rows.items()])
        if self.editor is None:
            return table
        return stacked([table, self.editor._picture_svg()], self._title())

    def close(self) -> None:
        """Close the panel and free it, here and in the page; a capture at work is stopped."""
        job = self.__dict__.get("_job")
        if job is not None and job.running:
            job.stop()
            job.wait(10)
        super().close()

    def __repr__(self) -> str:
        return f"<CapturePanel: {len(self._runs)} runs, next {self.form._shown['picture']['code']}>"

    def _repr_html_(self) -> str:
        return self.table.to_html()

    # From the page, and from the capture's thread

    def _heard(self, asked: str, which: Any, label: Any = "") -> None:
        try:
            if asked == "run":
                self.start()
            elif asked == "stop":
                self.stop()
            else:
                self._change(asked, int(which), label)
        except CaptureError as error:
            if asked in ("rename", "remove"):
                self._list(str(error))
            elif not self.running:
                self.form.tell("failed", problem=str(error))
        except (KeyError, TypeError, ValueError):
            return  # no run of ours

    def _change(self, asked: str, which: int, label: Any) -> None:
        with self._shelf:
            mine = dict(enumerate(self._runs))[which]
            if asked == "rename":
                self.rename(mine, label)
            elif asked == "remove":
                self.remove(mine)
            else:
                self.chosen = mine

    def _told(self, share: float, words: str) -> None:
        with self._telling:
            if self.form._job["state"] == "running":
                self.form.tell("running", share, words)

    def _ended(self, run: Run | None, problem: BaseException | None) -> None:
        label = self._label
        try:
            if run is not None:
                self._told(1.0, "comparing")
                with self._shelf:
                    label = self._free(label)
                    self._keep(label, run)
                    self.chosen = label
                self._made = run
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
        return self._free(plain)

    def _free(self, plain: str) -> str:
        """Return a label like this one that no run has."""
        count, label = 1, plain
        while label in self._runs:
            count += 1
            label = f"{plain} ({count})"
        return label

    def _known(self, label: str) -> str:
        if label not in self._runs:
            msg = f"there is no run {label!r}: {near(str(label), self._runs)}"
            raise CaptureError(msg)
        return label

    def _list(self, said: str = "") -> None:
        """Show the table, and below it what became of a run."""
        labels = list(self._runs)
        rows = [row_texts(label, self._rows[label]) for label in labels]
        self.form.list_runs(rows, labels.index(self._chosen) if self._chosen else -1, said)
