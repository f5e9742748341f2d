"""The report as a file."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from stepviz.errors import ThroughputError, TraceError
from stepviz.evidence.run_rates import RunThroughput
from stepviz.files import target_of, write_text
from stepviz.reports import graph_sections, origin_sections, step_sections
from stepviz.reports.cleaning import Cleaner
from stepviz.reports.elements import Content, element, markup
from stepviz.reports.picture import picture
from stepviz.reports.subject import Subject
from stepviz.reports.tables import COLOURED
from stepviz.traces import Run, Step
from stepviz.widgets.bundle import bundle_text
from stepviz.widgets.pages import Part, page

_SECTIONS: Final[tuple[tuple[str, str, Callable[[Subject], Iterable[Content]]], ...]] = (
    ("gains-section", "What would help", graph_sections.about_gains),
    ("path-section", "The critical path", graph_sections.about_path),
    ("ranks-section", "Where each rank's step goes", step_sections.about_ranks),
    ("exchange-section", "Exchange", step_sections.about_exchange),
    ("late-section", "Who is late", step_sections.about_late),
    ("idle-section", "Idle gaps", step_sections.about_idle),
    ("steps-section", "The step among the others", step_sections.about_steps),
    ("trust-section", "How far to trust this", graph_sections.about_trust),
    ("throughput-section", "Throughput", origin_sections.about_throughput),
    ("notes-section", "Notes", origin_sections.about_notes),
    ("origin-section", "Where this is from", origin_sections.about_origin),
)


def report(
    run: Run | Step,
    path: str | os.PathLike[str],
    *,
    step: int | None = None,
    throughput: RunThroughput | None = None,
) -> Path:
    """Write what a step shows as one HTML file, to attach to a ticket.

    It opens from a disk, without a network, and prints: the step and how it lies among the
    others, the critical path by kind and rank, changes that would help with their replayed
    gains, exchange, ranks, idle gaps, the step's timeline to drag, how far to trust all of it,
    throughput where the run says what it computed, and where it is from. Its numbers are those of
    ``stepviz explain``; cells keep the exact ns as ``data-ns``. Of paths only the names of files
    are told.

    Parameters
    ----------
    run : Run or Step
        A step stands for itself in its run.
    path : path
        Of the file, such as ``"step.html"``; one that is there is replaced once the new one is
        whole.
    step : int, optional
        The step's number; by default the one of median length.
    throughput : RunThroughput, optional
        From `run_throughput`, where the run does not say its tokens, model or peak, and you do;
        by default what the run says.

    Returns
    -------
    Path
        Where it is.

    Raises
    ------
    TraceError
        Where the run has no such step, or `path` is one of its own traces.
    ThroughputError
        Where `throughput` is something else.
    StepvizError
        Where the file cannot be written.

    Examples
    --------
    >>> import stepviz as sv, tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = sv.report(sv.sample_run(), pathlib.Path(folder) / "step.html")
    ...     "The critical path" in file.read_text(encoding="utf-8")
    True
    """
    if throughput is not None and not isinstance(throughput, RunThroughput):
        msg = f"throughput is {throughput!r}: give what run_throughput returns"
        raise ThroughputError(msg)
    subject = replace(_subject(run, step), throughput=throughput)
    sources = [str(file) for file in subject.run.files["file"]]
    target = target_of(path, sources=sources, error=TraceError)
    write_text(target, report_page(subject))
    return target


def report_page(subject: Subject) -> str:
    """Return the report as the text of an HTML page."""
    clean = Cleaner(map(str, subject.run.files["file"]))
    title = f"{subject.run.name}, step {subject.step.number}"
    drawn, part = picture(subject, clean)
    made = [(name, heading, list(about(subject))) for name, heading, about in _SECTIONS]
    made.insert(1, ("timeline-section", "The timeline", drawn))
    top = element(
        "header",
        element("p", "Report of a training step", class_="eyebrow"),
        element("h1", title),
        *step_sections.lead(subject),
    )
    index = element(
        "nav",
        *(element("a", heading, href=f"#{name}") for name, heading, _ in made),
        aria_label="Contents",
    )
    sections = [
        element(
            "section",
            element("h2", heading, id=f"{name}-title"),
            *inside,
            id=name,
            aria_labelledby=f"{name}-title",
        )
        for name, heading, inside in made
    ]
    main = element("main", top, index, *sections, class_="report")
    whole = Part(markup(main, clean), part.bundles, part.kernels)
    sheet = files("stepviz.reports").joinpath("report.css").read_text(encoding="utf-8")
    return page(clean(title), [whole], css=sheet + _colours(), heading=False)


def _colours() -> str:
    """Return the editor's colours of kinds, light and dark, for what stands outside the editor."""
    found = dict(re.findall(r"--sv-([a-z]+):\s*([^;}]+)", bundle_text("editor.css")))
    return f":root {{ {' '.join(f'--sv-{kind}: {found[kind]};' for kind in COLOURED)} }}\n"


def _subject(run: Any, number: int | None) -> Subject:
    if isinstance(run, Run):
        return Subject(run, run.step(number))
    if not isinstance(run, Step):
        msg = (
            f"a report is of a run, as load_run or sample_run returns it, or of one of its steps, "
            f"not of {type(run).__name__}"
        )
        raise TraceError(msg)
    if number is not None and number != run.number:
        msg = f"this is step {run.number}, not {number!r}: pass the run to choose another step"
        raise TraceError(msg)
    if run.run is None:
        msg = "this step was taken out of its run (step.alone): pass the run and step="
        raise TraceError(msg)
    return Subject(run.run, run)
