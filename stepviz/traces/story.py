"""The story of one step in a screenful of plain text."""

from __future__ import annotations

import math
import os
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pandas as pd

from stepviz.core.schedule import Schedule
from stepviz.core.timeline import Timeline
from stepviz.traces.runs import REFUSED, Run
from stepviz.traces.steps import Step

#: More ranks than this do not fit beside each other.
MOST_RANKS: Final = 8
#: Longer lines are wrapped, but for tables of many ranks.
WIDTH: Final = 100
#: So many single bars, and so many kinds, are worth naming.
MOST_BARS: Final = 3
MOST_KINDS: Final = 6
MOST_SAVINGS: Final = 5
#: So many notes of a kind are read.
MOST_NOTES: Final = 3

_BETWEEN: Final = "between bars"
_BEFORE: Final = "before the rank's start"


def explain(run: Run, number: int | None = None) -> str:
    """Return what a step shows, for a reader at a terminal.

    Parameters
    ----------
    run : Run
    number : int, optional
        The step; by default the one of median length.

    Raises
    ------
    TraceError
        Where the run has no such step.
    """
    step = run.step(number)
    alone = _alone(step)
    timeline = step.timeline(alone)
    schedule = timeline.schedule()
    parts = [
        _head(run, step, alone),
        _table(step),
        _exchange(step),
        _path(timeline, schedule, step.unexplained(alone)),
        _savings(timeline, schedule, step.unexplained(alone)) + "\n" + _wrong(schedule),
        _notes(run, step),
    ]
    text = "\n\n".join(part for part in parts if part)
    return "\n".join(_wrapped(line) for line in text.splitlines())


def _alone(step: Step) -> int | None:
    """Return the longest rank where clocks are too far apart to fold ranks together."""
    lengths = {
        rank: int(ns) for rank, ns in zip(step.ranks, step.windows["duration_ns"], strict=True)
    }
    if step.clash is None or 2 * step.clash.apart_ns < max(lengths.values()):
        return None
    return max(lengths, key=lambda rank: lengths[rank])


def critical_path(timeline: Timeline, schedule: Schedule) -> pd.DataFrame:
    """Walk back from the completion along binding dependencies; the pieces add up to it.

    Returns
    -------
    DataFrame
        In order of time: phase, kind, rank, duration (ms). Lags between bars have the kind
        "between bars", a rank's late start "before the rank's start".
    """
    times = schedule.table[["start", "finish"]].to_dict("index")
    binding = schedule.table["binding_dependency"].to_dict()
    source = schedule.dependencies["source"].to_dict()
    phases = timeline.phases[["kind", "rank", "duration"]].to_dict("index")
    name: Any = timeline.target or schedule.table["finish"].idxmax()
    pieces: list[dict[str, Any]] = []
    while True:
        row = phases[name]
        pieces.append({"phase": name, **{str(key): value for key, value in row.items()}})
        held = binding[name]
        before = None if pd.isna(held) else source[held]
        gap = times[name]["start"] - (0.0 if before is None else times[before]["finish"])
        if gap:
            kind = _BEFORE if before is None else _BETWEEN
            pieces.append({"phase": name, "kind": kind, "rank": row["rank"], "duration": gap})
        if before is None:
            return pd.DataFrame(pieces[::-1])
        name = before


def _wrapped(line: str) -> str:
    if len(line) <= WIDTH or "   " in line.strip():
        return line
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    return textwrap.fill(
        line, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def _head(run: Run, step: Step, alone: int | None) -> str:
    steps = run.steps
    clash = step.clash
    lengths = steps["duration_ns" if clash is None else "longest_ns"] / 1e6
    shown = ", ".join(f"{ms:.1f}" for ms in lengths[:8]) + (", …" if len(lengths) > 8 else "")
    ranks = f"rank {run.ranks[0]}" if len(run.ranks) == 1 else f"{len(run.ranks)} ranks"
    read = int((run.files["status"] != REFUSED).sum())
    row = steps.loc[step.number]
    count = "one step" if len(steps) == 1 else f"{len(steps)} steps"
    lines = [] if clash is None else [f"Beware: {clash}."]
    lines.append(
        f"{run.name}: {ranks} from {read} of {len(run.files)} files; {count} of {shown} ms"
        + ("" if clash is None else " on the longest rank")
    )
    took = f"Step {step.number} took {step.completion_ns / 1e6:.3f} ms"
    if alone is not None:
        own = step.windows["duration_ns"] / 1e6
        values = " / ".join(f"{ms:.3f}" for ms in own[:MOST_RANKS])
        took = (
            f"Step {step.number} is {values} ms by rank, each by its own clock; below the tables, "
            f"rank {alone} alone"
        )
    elif clash is not None:
        took += " by these clocks, from the first rank's start to the last one's end"
    elif row["ranks"] > 1:
        took += f", from the first rank's start to the end of rank {row['last_rank']}"
    return "\n".join([*lines, f"{took}:", f"  {step.window_rule}."])


def _table(step: Step) -> str:
    table = step.breakdown()
    table = table[(table.abs() >= 5e-4).any(axis=1)]
    total = table.sum().rename("sum")
    ranks = list(table.columns[:MOST_RANKS])
    width = max(9, *(len(f"{value:.2f}") + 2 for value in total))
    lines = ["Where each rank's step goes, ms"]
    lines.append(f"  {'':12}" + "".join(f"{f'rank {rank}':>{width}}" for rank in ranks))
    for kind, row in [*table.iterrows(), ("sum", total)]:
        lines.append(f"  {kind:12}" + "".join(f"{row[rank]:>{width}.2f}" for rank in ranks))
    if len(table.columns) > len(ranks):
        lines.append(f"  … and {len(table.columns) - len(ranks)} more ranks")
    return "\n".join(lines)


def _exchange(step: Step) -> str:
    collectives = step.collectives
    if collectives.empty:
        return "No exchange between ranks in this step."
    exposed = step.exposed()
    values = [f"{ms:.2f}" for ms in exposed[:MOST_RANKS]]
    counts = collectives["collective"].value_counts(sort=False)
    what = ", ".join(f"{count} {name}" for name, count in counts.items())
    if len(step.ranks) > 1 and (collectives["ranks"] == 1).all():
        what += " of single ranks, not joined"
    line = (
        f"Exchange: {what}. Exposed, so with no compute beside it: {' / '.join(values)} ms by rank"
    )
    joint = collectives[(collectives["ranks"] > 1) & collectives["last_rank"].notna()]
    if len(joint):
        late = joint["last_rank"].value_counts()
        line += (
            f";\n  waiting for the last to arrive {joint['wait_ns'].sum() / 1e6:.2f} ms over "
            f"all ranks, last most often: rank {late.index[0]} ({late.iloc[0]} of {len(joint)})"
        )
    return line + "."


def _path(timeline: Timeline, schedule: Schedule, unexplained: pd.Series) -> str:
    pieces = critical_path(timeline, schedule)
    by_kind = pieces.groupby("kind", sort=False)["duration"].sum().sort_values(ascending=False)
    total = math.fsum(pieces["duration"])
    lines = [f"The critical path, walked back from the end: {total:.3f} ms"]
    for kind, ms in by_kind[by_kind >= 5e-4][:MOST_KINDS].items():
        lines.append(f"  {kind:24}{ms:>10.2f} ms {_share(ms, total):>5.1f} %")
    host = pieces[pieces["kind"] == "host"]
    blank = host["phase"].map(unexplained).fillna(0.0).sum()
    causes = {
        "host bars without operators": float(blank),
        _BETWEEN.replace("between", "gaps between"): float(by_kind.get(_BETWEEN, 0.0)),
        "late starts of ranks": float(by_kind.get(_BEFORE, 0.0)),
    }
    ran = float(host["duration"].sum()) - float(blank)
    if ran >= 5e-4:
        lines.append(
            f"  In {_share(ran, total):.1f} % of it a device stood idle while the host ran "
            "operators: a faster host shortens that."
        )
    unknown = math.fsum(causes.values())
    if unknown >= 5e-4:
        shown = ", ".join(f"{what} {ms:.2f} ms" for what, ms in causes.items() if ms >= 5e-4)
        lines.append(
            f"  For {_share(unknown, total):.1f} % of it the trace shows no cause ({shown}): no "
            "prediction answers for that."
        )
    return "\n".join(lines)


def _share(part: float, total: float) -> float:
    return 100 * part / total if total else 0.0


def _savings(timeline: Timeline, schedule: Schedule, unexplained: pd.Series) -> str:
    lines = []
    drag = schedule.table["drag"].sort_values(ascending=False)
    drag = drag[drag > 0][:MOST_BARS]
    if len(drag):
        shown = ", ".join(f"{name} {ms:.2f} ms" for name, ms in drag.items())
        lines.append(f"What shortening one bar alone could save at most:\n  {shown}")
    kinds = [str(kind) for kind in timeline.phases["kind"].unique()]
    completion = schedule.completion
    gains = {kind: completion - timeline.scale(kind=kind, factor=0.5).completion for kind in kinds}
    found = sorted(((gain, kind) for kind, gain in gains.items() if gain > 5e-4), reverse=True)
    if found:
        host = timeline.phases.loc[timeline.phases["kind"] == "host", "duration"].sum()
        blank = {"host": " (mostly without a known cause)"} if 2 * unexplained.sum() > host else {}
        shown = ", ".join(
            f"{kind}{blank.get(kind, '')} {gain:.2f} ms" for gain, kind in found[:MOST_SAVINGS]
        )
        lines.append(f"What halving all of one kind would save:\n  {shown}")
    return "\n".join(lines)


def _wrong(schedule: Schedule) -> str:
    return (
        f"Without the graph: a plain sum says {schedule.plain_sum:.2f} ms, a plain maximum "
        f"{schedule.plain_maximum:.2f} ms; the step took {schedule.completion:.2f} ms."
    )


def _notes(run: Run, step: Step) -> str:
    notes = [note for note in step.notes if not _about_bars(note) and note != str(step.clash)]
    files = run.files
    left = list(files.loc[files["status"] == REFUSED, "why"])
    mended = files[(files["status"] != REFUSED) & (files["why"] != "")]
    told = [f"{file}: {why}" for file, why in zip(mended["file"], mended["why"], strict=True)]
    lines = _few(notes, "more notes in step.notes") + _few(left + told, "more files in run.files")
    # Names tell files apart; the folder is in the command.
    folders = sorted({str(Path(file).parent) for file in files["file"]}, key=len, reverse=True)
    for folder in folders:
        lines = [line.replace(f"{folder}{os.sep}", "") for line in lines]
    return "\n".join(["Notes", *(f"  - {line}" for line in lines)]) if lines else ""


def _about_bars(note: str) -> bool:
    return "pieces as" in note


def _few(notes: Sequence[str], more: str) -> list[str]:
    shown = list(dict.fromkeys(notes))
    rest = len(shown) - MOST_NOTES
    return shown if rest <= 1 else [*shown[:MOST_NOTES], f"{rest} {more}"]
