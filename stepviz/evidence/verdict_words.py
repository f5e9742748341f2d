"""What is said of two measured sides: how the step changed, the trap, how the numbers were had."""

from __future__ import annotations

import math
from typing import Any, Final

from stepviz.core.checks import ms_text
from stepviz.evidence.comparing import Comparison
from stepviz.evidence.intervals import Interval
from stepviz.evidence.useful_work import Work

#: A tail that changed by this part of the step is worth a word.
_TAIL: Final = 0.01


def step_words(found: Comparison, work: Work) -> str:
    """Say how the step changed, and what counts as useful work with it where that differs."""
    row = {name: step_cell(found, name) for name in ("before", "after", "change", "ratio")}
    text = (
        f"the step {_verb(row['change'])} from {ms_words(row['before'])} to "
        f"{ms_words(row['after'])} ms ({percent_change(row['ratio'])})"
    )
    if row["change"] == 0:
        text = f"the step stayed at {ms_words(row['before'])} ms"
    if work.convention != "updates" and abs(work.factor - 1) > 1e-9:
        rate = 1 / found.interval.ratio
        text += f" and {work.unit} {_verb(rate - 1)} by {percent_change(rate)}"
    return text


def tail_words(found: Comparison) -> str:
    """Say how the exposed exchange changed, "" where that is noise."""
    length = step_cell(found, "before")
    if not found.tail_told or abs(found.tail) < _TAIL * length:
        return ""
    verb = "fell" if found.tail < 0 else "grew"
    return f"the tail {verb} by {ms_words(abs(found.tail))} ms"


def span_words(interval: Interval) -> str:
    """Write the interval of a change: −13.1 to −11.9 %."""
    low, high = ((end - 1) * 100 for end in (interval.low, interval.high))
    if not math.isfinite(high):
        return "an interval without end"
    return f"{signed(low)} to {signed(high)} %"


def notes_of(found: Comparison, work: Work) -> list[str]:
    """Say how the numbers were had, and what to bear in mind."""
    sides = {"before": found.before, "after": found.after}
    notes = [f"useful work: {work.note}"]
    counts = " and ".join(str(side.count) for side in sides.values())
    if found.before.bare:
        notes.append(f"step times are those without profiler, {counts} of them")
    else:
        some = any(one.bare for one in (*found.firsts, *found.seconds))
        who = "not every capture holds" if some else "the captures hold no"
        notes.append(
            f"step times are those of the traced steps, {counts} of them, with what the profiler "
            f"costs in both: {who} others"
        )
    notes.append(f"interval: {found.interval.how}")
    if min(len(found.firsts), len(found.seconds)) == 1:
        notes.append(
            "one run a side: the interval knows the noise within each run, not that between runs; "
            "capture both several times, in turns, to know it"
        )
    if found.drift is not None:
        notes.append(f"the same forward operators changed by {percent_change(found.drift)}")
    for name, side in sides.items():
        if side.odd:
            notes.append(
                f"{name}: odd steps {', '.join(map(str, side.odd[:8]))}, which count little"
            )
    for one in (*found.firsts, *found.seconds):
        notes += one.doubts
    return list(dict.fromkeys(notes))


def percent_change(ratio: float) -> str:
    """Write a ratio as a change: +4.0 %."""
    return f"{signed((ratio - 1) * 100)} %"


def signed(value: float) -> str:
    """Write a number with its sign, to a tenth, a whole one from 100."""
    digits = 1 if abs(value) < 99.95 else 0
    text = f"{value:+.{digits}f}"
    return text.replace("-", "−")


def step_cell(found: Comparison, column: str) -> float:
    """Return a cell of the table's step time."""
    value: Any = found.table.loc["step time", column]
    return float(value)


def _verb(change: float) -> str:
    return "grew" if change > 0 else "shrank" if change < 0 else "stayed"


def ms_words(value: float) -> str:
    """Write a time in ms to four digits."""
    return ms_text(float(f"{value:.4g}"))
