"""Where a report is from: throughput as the run says it, notes, files, versions, conventions."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import metadata
from typing import Final

from stepviz.errors import StepvizError
from stepviz.evidence.run_rates import run_throughput
from stepviz.reports.elements import Content, element, listed
from stepviz.reports.subject import Subject
from stepviz.reports.tables import Cell, facts, number, table, words
from stepviz.throughput.figures import number_text, percent
from stepviz.traces import told
from stepviz.traces.notes import about_recording
from stepviz.traces.runs import REFUSED

#: So many files have a row, and so many notes are read.
MOST_FILES: Final = 40
MOST_NOTES: Final = 30
#: Traces say times since 1970, or since some start of their machine's, which was before this.
_LIKELY_NS: Final = 946_684_800 * 10**9

CONVENTIONS: Final = {
    "Step": "from the previous update's end to its own, on the slowest rank; on top stands how "
    "this one was measured.",
    "Wait and transfer": "a rank waits from its arrival at a collective to the last member's; "
    "transfer is from there to the rank's own end.",
    "Exposed": "time in which exchange runs on a rank, waits included, and none of its compute.",
    "Critical path": "walked back from the end of the step over recorded and inferred links; its "
    "pieces add up to the step to the nanosecond.",
    "Residual": "delay on the path that no work explains. It is kept, so that the replay is exact, "
    "but no what-if of a kind or a name answers for it.",
    "Gain": "how much sooner the step ends when the graph is solved again with the change made, "
    "and nothing else.",
    "Bus bandwidth": "as nccl-tests define it: size / transfer × factor, in 10⁹ bytes a second.",
    "Plain sum, plain maximum": "of input, compute, exchange and optimizer: the two wrong answers "
    "to how long a step takes.",
}


def about_throughput(subject: Subject) -> Iterator[Content]:
    """Return what the run achieved, as far as it says what it computed."""
    try:
        found = subject.throughput or run_throughput(subject.run)
    except StepvizError as error:
        yield element("p", f"Throughput cannot be told: {error}.")
        return
    rows = [
        [
            words(name),
            Cell(percent(row["value"]) if row["unit"] == "of peak" else number_text(row["value"])),
            words(row["unit"]),
            words(row["counts"], 300),
        ]
        for name, row in found.table.iterrows()
    ]
    heads = ("quantity", "value", "unit", "what exactly is counted")
    yield table("throughput", "Throughput of the run, all of the same updates", heads, rows)
    if found.notes:
        yield listed(found.notes)


def about_notes(subject: Subject) -> Iterator[Content]:
    """Return what was gathered, mended, left out or cannot be known."""
    run = subject.run
    notes, _ = told.step_notes(subject.step)
    lines = [
        *about_recording(run.recorded),
        *told.clock_notes(run.clock[run.clock["moved"]]),
        *notes,
        *told.file_notes(run),
    ]
    shown = subject.first(list(dict.fromkeys(lines)), MOST_NOTES, "notes")
    yield listed(shown) if shown else element("p", "Nothing is to be noted.")


def about_origin(subject: Subject) -> Iterator[Content]:
    """Return files, versions, devices, conventions and the date."""
    run = subject.run
    files, systems = run.files, run.systems
    refused = files["status"] == REFUSED
    sources = ", ".join(dict.fromkeys(files.loc[~refused, "rank_source"]))
    sizes = systems["world_size"].dropna().unique()
    began = int(run.steps["start_ns"].min())
    used, dropped, repaired = (int(files[name].sum()) for name in ("events", "dropped", "repaired"))
    pairs: list[tuple[str, Content]] = [
        ("Run", run.name),
        (
            "Ranks",
            f"{len(run.ranks)} read"
            + (f" of {', '.join(map(str, sizes))} in the job" if len(sizes) else ""),
        ),
        ("Rank of a file from", sources or "nowhere"),
        ("Device", _each(systems["device"]) or "the files do not say"),
        ("Backend", _each(systems["backend"]) or "the files do not say"),
        ("Recorded with", _each(systems["versions"]) or "the files do not say"),
        ("Events", f"{used:,} used, {dropped:,} dropped, {repaired:,} repaired"),
        ("First step began", _moment(began) if began > _LIKELY_NS else "the files do not say"),
        ("Report by", f"stepviz {_version()}, {datetime.now(UTC):%Y-%m-%d %H:%M} UTC"),
    ]
    made_by = _each(systems["made_by"])
    if made_by:
        pairs.insert(5, ("Recorded by", made_by))
    yield facts("origin", pairs)
    order = (~refused & (files["why"] == "")).sort_values(kind="stable").index
    kept = sorted(subject.first(list(order), MOST_FILES, "files, those with a fault first"))
    yield table(
        "files",
        "Files of the run",
        ("file", "rank", "rank from", "status", "events", "dropped", "repaired", "why"),
        [
            [
                words(files.at[at, "file"], 1000),
                words(files.at[at, "rank"]),
                words(files.at[at, "rank_source"]),
                words(files.at[at, "status"]),
                number(files.at[at, "events"]),
                number(files.at[at, "dropped"]),
                number(files.at[at, "repaired"]),
                words(files.at[at, "why"], 400),
            ]
            for at in kept
        ],
        optional=["why"],
    )
    yield element("h3", "Conventions")
    yield facts("conventions", CONVENTIONS.items())
    if subject.cuts:
        yield element("h3", "What this report leaves out")
        yield listed(f"{cut}." for cut in dict.fromkeys(subject.cuts))


def _each(values: object) -> str:
    """Return what ranks say, once where all say the same."""
    found = [str(value) for value in dict.fromkeys(values) if value]  # type: ignore[call-overload]  # a column
    return "; ".join(found[:4]) + (f"; {len(found) - 4} more" if len(found) > 4 else "")


def _moment(ns: int) -> str:
    return f"{datetime.fromtimestamp(ns / 1e9, UTC):%Y-%m-%d %H:%M:%S} UTC, by the files' clock"


def _version() -> str:
    try:
        return metadata.version("stepviz")
    except metadata.PackageNotFoundError:
        # Run from its sources.
        return "not installed"
