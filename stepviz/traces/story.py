"""The story of one step in a screenful of plain text."""

from __future__ import annotations

import math
import textwrap
from collections import defaultdict
from collections.abc import Sequence
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
#: So many single bars are worth naming.
MOST_BARS: Final = 4

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
    timeline = step.timeline()
    schedule = timeline.schedule()
    parts = [
        _head(run, step),
        _table(step),
        _exchange(step),
        _path(timeline, schedule),
        _savings(timeline, schedule),
        _wrong(schedule),
        _notes(run, step),
    ]
    text = "\n\n".join(part for part in parts if part)
    return "\n".join(_wrapped(line) for line in text.splitlines())


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


def _head(run: Run, step: Step) -> str:
    steps = run.steps
    lengths = [f"{ns / 1e6:.1f}" for ns in steps["duration_ns"]]
    shown = ", ".join(lengths[:8]) + (", …" if len(lengths) > 8 else "")
    ranks = f"rank {run.ranks[0]}" if len(run.ranks) == 1 else f"{len(run.ranks)} ranks"
    read = int((run.files["status"] != REFUSED).sum())
    row = steps.loc[step.number]
    one = len(steps) == 1
    return (
        f"{run.name}: {ranks} from {read} of {len(run.files)} files; "
        f"{'one step' if one else f'{len(steps)} steps'} of {shown} ms\n"
        f"Step {step.number} took {step.completion_ns / 1e6:.3f} ms"
        + (
            f", from the first rank's start to the end of rank {row['last_rank']}"
            if row["ranks"] > 1
            else ""
        )
        + f":\n  {step.window_rule}."
    )


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
    line = (
        f"Exchange: {what}. Exposed, so with no compute beside it: {' / '.join(values)} ms by rank"
    )
    joint = collectives[collectives["ranks"] > 1]
    if len(joint):
        late = joint["last_rank"].value_counts()
        line += (
            f";\n  waiting for the last to arrive {joint['wait_ns'].sum() / 1e6:.2f} ms over "
            f"all ranks, last most often: rank {late.index[0]} ({late.iloc[0]} of {len(joint)})"
        )
    return line + "."


def _path(timeline: Timeline, schedule: Schedule) -> str:
    pieces = critical_path(timeline, schedule)
    by_kind = pieces.groupby("kind", sort=False)["duration"].sum().sort_values(ascending=False)
    total = math.fsum(pieces["duration"])
    lines = [f"The critical path, walked back from the end: {total:.3f} ms"]
    for kind, ms in by_kind.items():
        if ms >= 5e-4:
            lines.append(f"  {kind:24}{ms:>10.2f} ms {100 * ms / total:>5.1f} %")
    residual = sum(float(by_kind.get(kind, 0.0)) for kind in ("host", _BETWEEN))
    lines.append(
        f"  Of it {100 * residual / total:.1f} % is host time and gaps, for which the trace shows "
        "no cause;\n  what-ifs on the rest leave it as it is."
    )
    return "\n".join(lines)


def _savings(timeline: Timeline, schedule: Schedule) -> str:
    lines = []
    drag = schedule.table["drag"].sort_values(ascending=False)
    drag = drag[drag > 0][:MOST_BARS]
    if len(drag):
        lines.append("What shortening one bar alone could save at most")
        lines += [f"  {name:24}{ms:>10.2f} ms" for name, ms in drag.items()]
    kinds = [str(kind) for kind in timeline.phases["kind"].unique()]
    completion = schedule.completion
    gains = {kind: completion - timeline.scale(kind=kind, factor=0.5).completion for kind in kinds}
    found = sorted(((gain, kind) for kind, gain in gains.items() if gain > 5e-4), reverse=True)
    if found:
        lines.append("What halving all of one kind would save")
        lines += [f"  {kind:24}{gain:>10.2f} ms" for gain, kind in found[:MOST_BARS]]
    return "\n".join(lines)


def _wrong(schedule: Schedule) -> str:
    return (
        f"Without the graph: a plain sum says {schedule.plain_sum:.2f} ms, a plain maximum "
        f"{schedule.plain_maximum:.2f} ms; the step took {schedule.completion:.2f} ms."
    )


def _notes(run: Run, step: Step) -> str:
    lines = _shortened([note for note in step.notes if not _about_bars(note)])
    files = run.files
    lines += [str(why) for why in files.loc[files["status"] == REFUSED, "why"]]
    mended = files[(files["status"] != REFUSED) & (files["why"] != "")]
    lines += [f"{file}: {why}" for file, why in zip(mended["file"], mended["why"], strict=True)]
    return "\n".join(["Notes", *(f"  - {line}" for line in lines)]) if lines else ""


def _about_bars(note: str) -> bool:
    return "pieces as" in note


def _shortened(notes: Sequence[str], most: int = 6) -> list[str]:
    groups: dict[str, int] = defaultdict(int)
    for note in notes:
        groups[note] += 1
    shown = list(groups)
    return shown[:most] + ([f"and {len(shown) - most} more notes"] if len(shown) > most else [])
