"""A step explained in a screenful of text: where its time goes, who is late, what would help."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pandas as pd

from stepviz.traces.graph.answers import BEFORE_STEP, WhatIf
from stepviz.traces.notes import about_recording
from stepviz.traces.report_data import what_ifs
from stepviz.traces.runs import REFUSED, Run
from stepviz.traces.step import Step

#: More ranks than this do not fit beside each other.
MOST_RANKS: Final = 8
#: Longer lines are wrapped, but for tables.
WIDTH: Final = 100
#: So many kinds, owners and gains are worth naming.
MOST_KINDS: Final = 6
MOST_OWNERS: Final = 7
MOST_GAINS: Final = 3
#: So many notes of a kind are read.
MOST_NOTES: Final = 3
#: A gain below this part of the step is none.
LEAST_GAIN: Final = 0.001
#: Nobody is slow by less than this part of the step.
LEAST_EXCESS: Final = 0.01

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
    alone = _alone(step)
    asked = step if alone is None else step.alone(alone)
    replayed = asked.replay()
    parts = [
        _head(run, step, alone),
        _table(step),
        _exchange(step),
        _late(step),
        _path(replayed, asked),
        _gains(asked),
        _trust(replayed) + "\n" + _wrong(asked),
        _notes(run, step),
    ]
    text = "\n\n".join(part for part in parts if part)
    return "\n".join(_wrapped(line) for line in text.splitlines())


def _alone(step: Step) -> int | None:
    """Return the longest rank where clocks are too far apart to put ranks into one graph."""
    lengths = {
        rank: int(ns) for rank, ns in zip(step.ranks, step.windows["duration_ns"], strict=True)
    }
    if step.clash is None or 2 * step.clash.apart_ns < max(lengths.values()):
        return None
    return max(lengths, key=lambda rank: lengths[rank])


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
    lengths = steps["duration_ns" if clash is None else "longest_ns"] / _MS
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
    took = f"Step {step.number} took {_ms(step.completion_ns, 3)}"
    if alone is not None:
        own = step.windows["duration_ns"] / _MS
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
    lines = ["Where each rank's step goes, ms (exchange and wait: only where nothing hides them)"]
    return "\n".join(lines + _columns(table.rename(columns="rank {}".format), "sum"))


def _columns(table: pd.DataFrame, total: str) -> list[str]:
    """Write a frame of ms with a column's sum below it, the first columns where there are many."""
    sums = table.sum().rename(total)
    names = list(table.columns[:MOST_RANKS])
    width = max(9, *(len(name) + 2 for name in names), *(len(f"{ms:.2f}") + 2 for ms in sums))
    lines = [f"  {'':16}" + "".join(f"{name:>{width}}" for name in names)]
    for kind, row in [*table.iterrows(), (total, sums)]:
        cells = (f"{row[name]:.2f}" if row[name] >= 5e-4 else "·" for name in names)
        lines.append(f"  {kind:16}" + "".join(f"{cell:>{width}}" for cell in cells))
    if len(table.columns) > len(names):
        lines.append(f"  … and {len(table.columns) - len(names)} more")
    return lines


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
    joint = collectives[(collectives["ranks"] > 1) & collectives["wait_ns"].notna()]
    if len(joint):
        line += (
            f";\n  waiting for the last to arrive {_ms(joint['wait_ns'].sum())} over all ranks, "
            "hidden or not"
        )
    return line + "."


def _late(step: Step) -> str:
    """Say who is slow: four questions, since their answers may be four different ranks."""
    if len(step.ranks) < 2:
        return ""
    slowest = step.slowest
    least = dict.fromkeys(slowest.index, LEAST_EXCESS * step.completion_ns)
    # How often somebody was last is a count; it matters where the others wait for long.
    waited = step.collectives["wait_ns"].sum() if len(step.collectives) else 0
    matters = waited >= LEAST_EXCESS * step.completion_ns * len(step.ranks)
    least["last_to_arrive"] = 1 if matters else float("inf")
    told = [
        # What follows the first point is in step.slowest; a late start is on the path below.
        str(row["sentence"]).split(";")[0]
        for question, row in slowest.iterrows()
        if pd.notna(row["rank"]) and row["excess"] >= least[str(question)]
    ]
    told = told or [f"nobody by more than {LEAST_EXCESS:.0%} of the step (see step.slowest)"]
    return "\n".join(["Who is late", *(f"  {line}" for line in told)])


def _path(replayed: WhatIf, step: Step) -> str:
    path = replayed.critical_path
    total = int(path["duration_ns"].sum())
    ranks = path["rank"].map(lambda rank: "transfer" if pd.isna(rank) else f"rank {rank}")
    table = path.assign(who=ranks).pivot_table(
        index="kind", columns="who", values="duration_ns", aggfunc="sum", fill_value=0, sort=False
    )
    table.insert(0, "all", table.sum(axis=1))
    table = table.sort_values("all", ascending=False)
    order = table.sum().sort_values(ascending=False, kind="stable").index
    few = table[order].head(MOST_KINDS)
    if len(table) > len(few):
        few.loc["other kinds"] = table[order].iloc[MOST_KINDS:].sum()
    few = few[few["all"] >= 500] if (few["all"] >= 500).any() else few
    over = "over all ranks" if len(step.ranks) > 1 else f"of rank {step.ranks[0]}"
    lines = [f"The critical path {over}, walked back from the end, ms"]
    lines += _columns(few / _MS, "sum")
    stretches = replayed.owners
    if 1 < len(stretches) <= MOST_OWNERS:
        columns = (stretches[column] for column in ("rank", "what", "duration_ns"))
        lines.append("  In order: " + " → ".join(map(_stretch, *columns)))
    ahead = path.loc[path["launched"] == "before it", "duration_ns"].sum()
    earlier = path.loc[path["launched"] == "by an earlier step", "duration_ns"].sum()
    for ns, how in (
        (ahead, "was launched before this step began: the host runs ahead of the device"),
        (earlier, "was launched by an earlier step"),
    ):
        if ns >= LEAST_GAIN * total:
            lines.append(f"  {_share(ns, total)} of it {how}.")
    worked = (path["on"] == "host") & ~path["residual"]
    host = path.loc[worked, "duration_ns"].sum()
    if (step.windows["window"] == "device").any() and 2 * host > total:
        lines.append(
            f"  {_share(host, total)} of it runs on the host while devices wait for launches: a "
            "faster host shortens that."
        )
    return "\n".join(lines)


def _stretch(rank: Any, what: str, ns: int) -> str:
    said = "before its step" if what == BEFORE_STEP else what
    return f"{said} {ns / _MS:.2f}" if pd.isna(rank) else f"rank {rank} {said} {ns / _MS:.2f}"


def _gains(step: Step) -> str:
    total = step.completion_ns
    found = [each for each in what_ifs(step) if each["gain_ns"] > LEAST_GAIN * total]
    if not found:
        return ""
    lines = ["What would help most, each alone and replayed on this graph (gains do not add)"]
    for each in found[:MOST_GAINS]:
        gain = f"{_ms(each['gain_ns'])} ({_share(each['gain_ns'], total)})"
        lines.append(
            f"  {gain:>20}  {_asked(each['change'], each['did'])}{_as_one(each['change'], step)}"
        )
    return "\n".join(lines)


def _asked(change: Mapping[str, Any], did: str) -> str:
    """Say a change as a proposal, where it is one that `what_ifs` makes."""
    if change.get("no_stragglers"):
        return "no rank slower than the median on its way to any collective, none starting late"
    if change.get("start_together"):
        return "all ranks starting together"
    if change.get("factor") == 0.5:
        return f"all {change['kind']} work in half the time"
    if change.get("own_time") == 0.5:
        return f"rank {change['rank']}'s work outside collectives in half the time"
    return did


def _as_one(change: Mapping[str, Any], step: Step) -> str:
    """Say where a change of exchange changes waits as well, since nothing tells them apart."""
    if change.get("kind") != "exchange" or step.unmatched.empty:
        return ""
    return f" ({len(step.unmatched)} of them wait and transfer in one, not joined over ranks)"


def _trust(replayed: WhatIf) -> str:
    known = replayed.trust
    return (
        f"How far to trust this: the unedited replay is off by {replayed.largest_error_ns} ns at "
        f"most. {known.residual_share:.1%} of the path is delay that no work explains and no "
        f"what-if answers for; {known.unexplained_share:.1%} is {known.thresholds}."
    )


def _wrong(step: Step) -> str:
    schedule = step.timeline().schedule()
    return (
        f"Without the graph: a plain sum says {schedule.plain_sum:.2f} ms, a plain maximum "
        f"{schedule.plain_maximum:.2f} ms; the step took {_ms(step.completion_ns)}."
    )


def _ms(ns: float, digits: int = 2) -> str:
    return f"{ns / _MS:.{digits}f} ms"


def _share(part: float, total: float) -> str:
    return f"{100 * part / total if total else 0.0:.1f} %"


def _notes(run: Run, step: Step) -> str:
    notes = [note for note in step.notes if not _about_fold(note) and note != str(step.clash)]
    files = run.files
    left = list(files.loc[files["status"] == REFUSED, "why"])
    mended = files[(files["status"] != REFUSED) & (files["why"] != "")]
    told = [f"{file}: {why}" for file, why in zip(mended["file"], mended["why"], strict=True)]
    moved = run.clock[run.clock["moved"]]
    clocks = [f"rank {rank}'s clock: {why}" for rank, why in moved["why"].items()]
    lines = about_recording(run.recorded)
    lines += _few(clocks, "more clocks in run.clock")
    lines += _few(notes, "more notes in step.notes") + _few(left + told, "more files in run.files")
    # Names tell files apart; the folder is in the command.
    folders = sorted({str(Path(file).parent) for file in files["file"]}, key=len, reverse=True)
    for folder in folders:
        lines = [line.replace(f"{folder}{os.sep}", "") for line in lines]
    return "\n".join(["Notes", *(f"  - {line}" for line in lines)]) if lines else ""


def _about_fold(note: str) -> bool:
    """Say whether a note is about the bars of `step.timeline()`, which are not shown here."""
    return "pieces as" in note or "in the timeline:" in note


def _few(notes: Sequence[str], more: str) -> list[str]:
    shown = list(dict.fromkeys(notes))
    rest = len(shown) - MOST_NOTES
    return shown if rest <= 1 else [*shown[:MOST_NOTES], f"{rest} {more}"]
