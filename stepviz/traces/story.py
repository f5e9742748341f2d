"""A step explained in a screenful of text: where its time goes, who is late, what would help."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any, Final

import pandas as pd

from stepviz.traces import told
from stepviz.traces.graph.answers import WhatIf
from stepviz.traces.notes import about_recording
from stepviz.traces.runs import Run
from stepviz.traces.step import Step

#: More ranks than this do not fit beside each other.
MOST_RANKS: Final = 8
#: Longer lines are wrapped, but for tables.
WIDTH: Final = 100
#: So many owners are worth naming.
MOST_OWNERS: Final = 7
#: Shorter ones would read 0.00 ms.
LEAST_STRETCH_NS: Final = 5_000
#: So many notes of a kind are read.
MOST_NOTES: Final = 3

_MS: Final = 1_000_000


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
    asked = told.asked(step)
    replayed = asked.replay()
    parts = [
        _head(run, step),
        _table(step),
        told.exchange_said(step, MOST_RANKS),
        _late(step),
        _path(replayed, asked),
        _gains(asked),
        _trust(replayed, asked),
        _notes(run, step),
    ]
    text = "\n\n".join(part for part in parts if part)
    return "\n".join(_wrapped(line) for line in text.splitlines())


def _wrapped(line: str) -> str:
    if len(line) <= WIDTH or "   " in line.strip():
        return line
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    return textwrap.fill(
        line, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def _head(run: Run, step: Step) -> str:
    lines = [] if step.clash is None else [f"Beware: {step.clash}."]
    took = told.step_said(run, step, MOST_RANKS)
    return "\n".join([*lines, told.run_said(run), f"{took}:", f"  {step.window_rule}."])


def _table(step: Step) -> str:
    table = step.breakdown().rename(columns="rank {}".format)
    least = _least_ms(step)
    shown = table[(table.abs() >= least).any(axis=1)]
    lines = ["Where each rank's step goes, ms (exchange and wait: only where nothing hides them)"]
    return "\n".join(lines + _columns(shown, table.sum(), least))


def _least_ms(step: Step) -> float:
    """Return what is worth a figure: what would not read 0.00, of a short step less."""
    return min(5e-3, step.completion_ns / _MS / 1_000)


def _columns(table: pd.DataFrame, sums: pd.Series[float], least_ms: float) -> list[str]:
    """Write a frame of ms with the sums below it, the first columns where there are many."""
    names = list(table.columns[:MOST_RANKS])
    width = max(9, *(len(name) + 2 for name in names), *(len(f"{ms:.2f}") + 2 for ms in sums))
    lines = [f"  {'':16}" + "".join(f"{name:>{width}}" for name in names)]
    for kind, row in [*table.iterrows(), ("sum", sums)]:
        cells = (f"{row[name]:.2f}" if row[name] >= least_ms else "·" for name in names)
        lines.append(f"  {kind:16}" + "".join(f"{cell:>{width}}" for cell in cells))
    if len(table.columns) > len(names):
        lines.append(f"  … and {len(table.columns) - len(names)} more")
    return lines


def _late(step: Step) -> str:
    if len(step.ranks) < 2:
        return ""
    return "\n".join(["Who is late", *(f"  {line}" for line in told.late_said(step))])


def _path(replayed: WhatIf, step: Step) -> str:
    path = replayed.critical_path
    least = _least_ms(step)
    table = told.path_table(path, least_ns=round(least * _MS)) / _MS
    sums = told.path_table(path, least_ns=0).sum() / _MS
    lines = [told.path_title(step), *_columns(table, sums, least)]
    stretches = replayed.owners
    if 1 < len(stretches) <= MOST_OWNERS:
        stretches = stretches[stretches["duration_ns"] >= LEAST_STRETCH_NS]
        columns = (stretches[column] for column in ("rank", "what", "duration_ns"))
        lines.append("  In order: " + " → ".join(map(_stretch, *columns)))
    return "\n".join([*lines, *(f"  {line}" for line in told.path_said(path, step))])


def _stretch(rank: Any, what: str, ns: int) -> str:
    return f"{told.stretch_said(rank, what)} {ns / _MS:.2f}"


def _gains(step: Step) -> str:
    found = told.gains(step)[: told.MOST_GAINS]
    if not found:
        return ""
    lines = ["What would help most, each alone and replayed on this graph (gains do not add)"]
    for each in found:
        gain = f"{told.ms(each.gain_ns)} ({each.share})"
        lines.append(f"  {gain:>20}  {each.what}")
    return "\n".join(lines)


def _trust(replayed: WhatIf, step: Step) -> str:
    lines = (
        f"How far to trust this: {told.trust_said(replayed)}",
        f"Without the graph: {told.wrong_said(step)}",
    )
    return "\n".join(lines)


def _notes(run: Run, step: Step) -> str:
    # What only the bars of `step.timeline()` leave out is of no use here: they are not shown.
    notes, _ = told.step_notes(step)
    lines = about_recording(run.recorded)
    lines += _few(told.clock_notes(run.clock[run.clock["moved"]]), "more clocks in run.clock")
    lines += told.gaps_said(step)
    lines += _few(notes, "more notes in step.notes")
    lines += _few(told.file_notes(run), "more files in run.files")
    lines = told.without_folders(run, lines)
    return "\n".join(["Notes", *(f"  - {line}" for line in lines)]) if lines else ""


def _few(notes: Sequence[str], more: str) -> list[str]:
    shown = list(dict.fromkeys(notes))
    rest = len(shown) - MOST_NOTES
    return shown if rest <= 1 else [*shown[:MOST_NOTES], f"{rest} {more}"]
