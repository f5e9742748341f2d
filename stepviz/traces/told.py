"""What is worth saying of a step, chosen once: for a terminal and for a page.

Tables are frames of whole nanoseconds; sentences hold no folder of a file.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd

from stepviz.traces.folding.repeats import EVERY, IN_RUN
from stepviz.traces.graph.answers import BEFORE_STEP, WhatIf
from stepviz.traces.graph.programs import MEDIAN_OF_TWO
from stepviz.traces.report_data import what_ifs
from stepviz.traces.runs import REFUSED, Run
from stepviz.traces.step import Step

#: So many kinds are worth a row of their own.
MOST_KINDS: Final = 6
#: So many gains are worth naming.
MOST_GAINS: Final = 3
#: A gain below this part of the step is none.
LEAST_GAIN: Final = 0.001
#: Nobody is slow by less than this part of the step.
LEAST_EXCESS: Final = 0.01

_MS: Final = 1_000_000


@dataclass(frozen=True)
class Gain:
    """A change that would help: what it gains, replayed, of how much of the step."""

    what: str
    gain_ns: int
    completion_ns: int
    share: str
    residual_share: float


def ms(ns: float, digits: int = 2) -> str:
    """Write ns as ms for people, with the unit."""
    return f"{ns / _MS:.{digits}f} ms"


def share(part: float, total: float) -> str:
    """Write a part of a whole as a percentage; none of nothing."""
    return f"{100 * part / total if total else 0.0:.1f} %"


def alone(step: Step) -> int | None:
    """Return the longest rank where clocks are too far apart to put ranks into one graph."""
    lengths = {
        rank: int(ns) for rank, ns in zip(step.ranks, step.windows["duration_ns"], strict=True)
    }
    if step.clash is None or 2 * step.clash.apart_ns < max(lengths.values()):
        return None
    return max(lengths, key=lambda rank: lengths[rank])


def asked(step: Step) -> Step:
    """Return the step whose graph answers: of all ranks, or of the longest alone."""
    rank = alone(step)
    return step if rank is None else step.alone(rank)


def run_said(run: Run) -> str:
    """Say of how many ranks, files and steps a run is."""
    steps = run.steps
    # Across ranks no length is to be had from clocks that disagree, or that nothing compares.
    apart = run.clash is not None or bool(run.step().islands)
    lengths = steps["longest_ns" if apart else "duration_ns"] / _MS
    shown = ", ".join(_about(length) for length in lengths[:8])
    shown += ", …" if len(lengths) > 8 else ""
    # Files that are not there are ranks whose waits nobody sees.
    world = run.systems["world_size"].max()
    of = f" of {world}" if pd.notna(world) and world > len(run.ranks) else ""
    count = len(run.ranks)
    ranks = f"rank {run.ranks[0]}{of}" if count == 1 else f"{count}{of} ranks"
    read = int((run.files["status"] != REFUSED).sum())
    several = "one step" if len(steps) == 1 else f"{len(steps)} steps"
    said = f"{run.name}: {ranks} from {read} of {len(run.files)} files; {several} of {shown} ms"
    return f"{said} on the longest rank" if apart else said


def _about(length: float) -> str:
    """Write a length to a tenth, shorter ones to three digits."""
    return f"{length:.1f}" if length >= 10 else f"{length:.3g}"


def step_said(run: Run, step: Step, most_ranks: int) -> str:
    """Say how long a step took and by whose clock; so many ranks may be named."""
    row = run.steps.loc[step.number]
    took = f"Step {step.number} took {ms(step.completion_ns, 3)}"
    rank = alone(step)
    if rank is not None:
        own = step.windows["duration_ns"] / _MS
        values = " / ".join(f"{length:.3f}" for length in own[:most_ranks])
        return (
            f"Step {step.number} is {values} ms by rank, each by its own clock; path and gains are "
            f"of rank {rank} alone"
        )
    if step.clash is not None or step.islands:
        return f"{took} by these clocks, from the first rank's start to the last one's end"
    if row["ranks"] > 1:
        return f"{took}, from the first rank's start to the end of rank {row['last_rank']}"
    return took


def exchange_said(step: Step, most_ranks: int) -> str:
    """Say what a step exchanged, how much of it nothing hides, and how long ranks waited."""
    collectives = step.collectives
    if collectives.empty:
        return "No exchange between ranks in this step."
    values = [f"{length:.2f}" for length in step.exposed()[:most_ranks]]
    values += ["…"] if len(step.ranks) > most_ranks else []
    counts = collectives["collective"].value_counts(sort=False)
    what = ", ".join(f"{count} {name}{'s' * (count > 1)}" for name, count in counts.items())
    if len(step.ranks) > 1 and (collectives["ranks"] == 1).all():
        what += " of single ranks, not joined"
    by_rank = " by rank" if len(values) > 1 else ""
    line = (
        f"Exchange: {what}. Exposed, so with no compute beside it: {' / '.join(values)} ms{by_rank}"
    )
    joint = collectives[(collectives["ranks"] > 1) & collectives["wait_ns"].notna()]
    if len(joint):
        line += (
            f";\n  waiting for the last to arrive {ms(joint['wait_ns'].sum())} over all ranks, "
            "hidden or not"
        )
    return line + "."


def late_said(step: Step) -> list[str]:
    """Say who is slow: four questions, since their answers may be four different ranks."""
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
    return told or [
        f"nobody by more than {100 * LEAST_EXCESS:.0f} % of the step (see step.slowest)"
    ]


def arrivals(step: Step) -> tuple[dict[int, int], dict[int, int]]:
    """Return how often each rank arrived first, and last, at a collective of several ranks.

    Both are empty where clocks disagree, or nothing was exchanged.
    """
    joint = step.collectives
    joint = joint[joint["ranks"] > 1]
    if step.clash is not None or joint.empty:
        return {}, {}
    none = dict.fromkeys(step.ranks, 0)
    first, last = (
        none | Counter(int(rank) for rank in joint[column].dropna())
        for column in ("first_rank", "last_rank")
    )
    return first, last


def path_table(
    path: pd.DataFrame, *, most_kinds: int = MOST_KINDS, least_ns: int = 500
) -> pd.DataFrame:
    """Return a critical path by kind and owner, ns; "all" first, then whoever has most of it.

    Parameters
    ----------
    path : DataFrame
    most_kinds : int
        Further kinds share one row.
    least_ns : int
        Kinds with less than this in all are left out, unless all have less.
    """
    table = path.assign(who=_owners(path)).pivot_table(
        index="kind", columns="who", values="duration_ns", aggfunc="sum", fill_value=0, sort=False
    )
    table.insert(0, "all", table.sum(axis=1))
    table = table.sort_values("all", ascending=False)
    order = table.sum().sort_values(ascending=False, kind="stable").index
    few = table[order].head(most_kinds)
    if len(table) > len(few):
        few.loc["other kinds"] = table[order].iloc[most_kinds:].sum()
    return few[few["all"] >= least_ns] if (few["all"] >= least_ns).any() else few


def _owners(path: pd.DataFrame) -> pd.Series[Any]:
    return path["rank"].map(lambda rank: "transfer" if pd.isna(rank) else f"rank {rank}")


def path_names(path: pd.DataFrame) -> pd.DataFrame:
    """Return what the path spends its time on: name, kind, who, pieces, duration_ns, most first.

    What has no name of its own has that of its kind.
    """
    named = path["name"].astype("object").where(path["name"] != "", path["kind"])
    gathered = path.assign(name=named, who=_owners(path)).groupby(
        ["name", "kind", "who"], sort=False
    )
    frame = gathered["duration_ns"].agg(pieces="size", duration_ns="sum").reset_index()
    return frame.sort_values("duration_ns", ascending=False, kind="stable", ignore_index=True)


def path_title(step: Step) -> str:
    """Say whose critical path it is."""
    over = "over all ranks" if len(step.ranks) > 1 else f"of rank {step.ranks[0]}"
    return f"The critical path {over}, walked back from the end, ms"


def path_said(path: pd.DataFrame, step: Step) -> list[str]:
    """Say how much of a path was launched earlier, or waits for the host's launches."""
    said = []
    total = int(path["duration_ns"].sum())
    ahead = path.loc[path["launched"] == "before it", "duration_ns"].sum()
    earlier = path.loc[path["launched"] == "by an earlier step", "duration_ns"].sum()
    for ns, how in (
        (ahead, "was launched before this step began: the host runs ahead of the device"),
        (earlier, "was launched by an earlier step"),
    ):
        if ns >= LEAST_GAIN * total:
            said.append(f"{share(ns, total)} of it {how}.")
    if (step.windows["window"] == "device").any():
        # To read a batch or to save takes as long as it takes, however fast the host is.
        slow = path["kind"].isin(["input", "checkpoint"])
        said += _host_said(path[(path["on"] == "host") & ~path["residual"] & ~slow], total, step)
    return said


def _host_said(host: pd.DataFrame, total: int, step: Step) -> list[str]:
    """Say how much of a path runs on the host, where that is most of it, and what devices do."""
    lasts = int(host["duration_ns"].sum())
    if 2 * lasts <= total:
        return []
    idle = 0
    for rank in host["rank"].unique().tolist():
        spans = host.loc[host["rank"] == rank, ["start_ns", "finish_ns"]]
        idle += step.device_idle_ns(rank, spans.to_numpy(dtype=np.int64))
    waiting = f"{share(idle, total)} of it runs on the host while devices wait for launches"
    if 2 * idle > total:
        return [f"{waiting}: a faster host shortens that."]
    beside = share(lasts - idle, total)
    return [f"{waiting}, {beside} beside their work."]


def stretch_said(rank: Any, what: str) -> str:
    """Say whose a stretch of the path is."""
    said = "before its step" if what == BEFORE_STEP else what
    return said if pd.isna(rank) else f"rank {rank} {said}"


def gains(step: Step) -> list[Gain]:
    """Return the changes that would help, each alone and replayed, the largest gain first."""
    total = step.completion_ns
    found = [each for each in what_ifs(step) if each["gain_ns"] > LEAST_GAIN * total]
    return [
        Gain(
            _proposed(each["change"], each["did"])
            + _as_one(each["change"], step)
            + _by_clocks(each["change"], step),
            each["gain_ns"],
            each["completion_ns"],
            share(each["gain_ns"], total),
            each["trust"]["residual_share"],
        )
        for each in found
    ]


def _proposed(change: Mapping[str, Any], did: str) -> str:
    """Say a change as a proposal, where it is one that `what_ifs` makes."""
    if change.get("no_stragglers"):
        median = "the median (of two, the middle)" if MEDIAN_OF_TWO in did else "the median"
        return f"no rank slower than {median} on its way to any collective, none starting late"
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
    count = len(step.unmatched)
    one = "1 of them is" if count == 1 else f"{count} of them are"
    return f" ({one} wait and transfer in one, not joined over ranks)"


def _by_clocks(change: Mapping[str, Any], step: Step) -> str:
    """Say where a change compares starts that only the ranks' own clocks tell."""
    starts = change.get("start_together") or change.get("no_stragglers")
    return (
        " (starts by their own clocks, which nothing compares)" if starts and step.islands else ""
    )


def trust_said(replayed: WhatIf) -> str:
    """Say how far the graph answers."""
    known = replayed.trust
    guessed = f" {known.guessed}." if known.guessed else ""
    return (
        f"the unedited replay is off by {replayed.largest_error_ns} ns at "
        f"most. {share(known.residual_share, 1)} of the path is delay that no work explains and "
        f"no what-if answers for; {share(known.unexplained_share, 1)} is {known.thresholds}."
        f"{guessed}"
    )


def gaps_said(step: Step) -> list[str]:
    """Say which gap, the longest, comes in a rhythm that is not the step's own."""
    gaps = step.idle()
    repeats = gaps["repeats"].astype(str)
    found = gaps[repeats.str.startswith(EVERY) | repeats.str.contains(IN_RUN, regex=False)]
    return [
        f"a gap of {ms(row['duration_ns'])} on rank {row['rank']} comes again ({row['repeats']}); "
        f"it may be: {row['candidates']}"
        for _, row in found.nlargest(1, "duration_ns").iterrows()
    ]


def wrong_said(step: Step) -> str:
    """Say what the two wrong answers would have been."""
    schedule = step.timeline().schedule()
    if not schedule.plain_sum:
        return (
            "no work in the step is long enough to be a bar of its timeline, so there is nothing "
            f"to add up; it took {ms(step.completion_ns)}."
        )
    other = float(step.breakdown().T["other"].max())
    left = f" (neither knows {other:.2f} ms of kind other)" if other > schedule.plain_sum else ""
    return (
        f"a plain sum says {schedule.plain_sum:.2f} ms, a plain maximum "
        f"{schedule.plain_maximum:.2f} ms{left}; the step took {ms(step.completion_ns)}."
    )


def clock_notes(clock: pd.DataFrame) -> list[str]:
    """Say of each rank's clock how it stood to the others'."""
    return [f"rank {rank}'s clock: {why}" for rank, why in clock["why"].items()]


def step_notes(step: Step) -> tuple[list[str], list[str]]:
    """Return what is to be known of a step, and apart from it what only its bars leave out."""
    notes = [note for note in step.notes if note != str(step.clash)]
    bars = [note for note in notes if "pieces as" in note or "in the timeline:" in note]
    return [note for note in notes if note not in bars], bars


def file_notes(run: Run) -> list[str]:
    """Say which files were left out, and what was mended in others."""
    files = run.files
    left = list(files.loc[files["status"] == REFUSED, "why"])
    mended = files[(files["status"] != REFUSED) & (files["why"] != "")]
    told = [f"{file}: {why}" for file, why in zip(mended["file"], mended["why"], strict=True)]
    return left + told


def without_folders(run: Run, lines: Iterable[str]) -> list[str]:
    """Return lines with the names of files alone: the folder is in the command, or private."""
    folders = sorted({str(Path(file).parent) for file in run.files["file"]}, key=len, reverse=True)
    short = list(lines)
    for folder in folders:
        short = [line.replace(f"{folder}{os.sep}", "") for line in short]
    return short
