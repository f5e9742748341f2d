"""Where a step's time goes: its length among the others, ranks by kind, exchange, who is late."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pandas as pd

from stepviz.reports.elements import Content, element, listed
from stepviz.reports.subject import MOST_RANKS, Subject
from stepviz.reports.tables import Cell, each_row, in_ms, in_us, key, number, strip, table, words
from stepviz.traces import told

#: So many steps, collectives and gaps have a row.
MOST_STEPS: Final = 25
MOST_COLLECTIVES: Final = 40
MOST_GAPS: Final = 12

_MIB: Final = 2**20
_QUESTIONS: Final = {
    "longest_step": "longest step by its own clock",
    "last_to_arrive": "last to arrive most often",
    "slowest_to_first_collective": "slowest to its first collective",
    "most_own_time": "most own time outside collectives",
}


def lead(subject: Subject) -> Iterator[Content]:
    """Say which step this is, how long it took and what stands out."""
    run, step = subject.run, subject.step
    if step.clash is not None:
        yield element("p", element("strong", "Beware: "), f"{step.clash}.", class_="beware")
    yield element("p", told.run_said(run), ".", class_="run")
    yield element(
        "p",
        f"{told.step_said(run, step, MOST_RANKS)}:",
        element("br"),
        f"{step.window_rule}.",
    )
    yield element("div", *_figures(subject), class_="figures")


def _figures(subject: Subject) -> Iterator[Content]:
    step, steps = subject.step, subject.run.steps
    place = list(steps.index).index(step.number) + 1
    length = "duration_ns" if step.clash is None else "longest_ns"
    which = f"step {step.number}, {place} of {len(steps)} in the trace"
    if step.clash is not None:
        which += ", on its longest rank"
    yield _figure("step", "The step", in_ms(steps.at[step.number, length]), which)
    exposed = step.exposed(unit="ns").to_dict()
    rank = max(exposed, key=lambda each: exposed[each])
    yield _figure(
        "exposed", "Exposed exchange", in_ms(exposed[rank], 2), f"at most, on rank {rank}"
    )
    best = subject.gains[:1]
    if best:
        gain = f"{best[0].share} sooner: {best[0].what}"
        yield _figure("gain", "Best single change, replayed", in_ms(best[0].gain_ns, 2), gain)
    trust = subject.replayed.trust
    yield element(
        "div",
        element("h3", "Path that no work explains"),
        element("p", told.share(trust.residual_share, 1), class_="value"),
        element("p", "no what-if of a kind or name answers for it"),
        id="figure-residual",
    )


def _figure(name: str, title: str, cell: Cell, below: str) -> Content:
    return element(
        "div",
        element("h3", title),
        element("p", cell.content, " ms", class_="value", data_ns=cell.exact),
        element("p", below),
        id=f"figure-{name}",
    )


def about_steps(subject: Subject) -> Iterator[Content]:
    """Return the run's steps, and how they spread."""
    run, step = subject.run, subject.step
    steps, said = run.steps, run.spread["sentence"].to_dict()
    yield element("p", f"Over the run: {said['steps']}.")
    if len(step.ranks) > 1 and step.number in said:
        yield element("p", f"Over the ranks of this step: {said[step.number]}.")
    place = list(steps.index).index(step.number)
    low = max(0, min(place - MOST_STEPS // 2, len(steps) - MOST_STEPS))
    shown = steps.iloc[low : low + MOST_STEPS]
    if len(shown) < len(steps):
        subject.cuts.append(
            f"steps: {len(shown)} of {len(steps):,} are shown, those around step {step.number}"
        )
    origin = int(steps["start_ns"].min())
    rows = [
        [
            words(f"{row.Index} (this one)" if row.Index == step.number else row.Index),
            in_ms(row.start_ns - origin),
            in_ms(row.duration_ns if run.clash is None else row.longest_ns),
            number(row.ratio, 3),
            words(row.longest_rank),
            words(row.last_rank),
            words(row.window),
            words("odd" if row.odd else ""),
        ]
        for row in each_row(shown)
    ]
    heads = [
        *("step", "start", "length", "× median", "longest rank", "last rank", "measured on"),
        "among the others",
    ]
    yield table(
        "steps", "Steps of the run, ms", heads, rows, chosen=place - low, optional=heads[-1:]
    )


def about_ranks(subject: Subject) -> Iterator[Content]:
    """Return where each rank's step goes, by kind."""
    step = subject.step
    parts = step.breakdown("ns")
    kinds = [str(kind) for kind in parts.index[(parts != 0).any(axis=1)]]
    lengths: dict[Any, int] = step.windows["duration_ns"].to_dict()
    longest = max(lengths.values())
    yield key(kinds)
    rows = []
    for rank in subject.ranks:
        length = lengths[rank]
        column: dict[Any, Any] = parts[rank].to_dict()
        pieces = [(kind, int(column[kind])) for kind in kinds]
        drawn = Cell(strip(pieces, longest - length), number=False)
        times = [in_ms(ns, 2) for _, ns in pieces]
        rows.append([words(f"rank {rank}"), *times, in_ms(length), drawn])
    heads = ["rank", *kinds, "sum", "as a strip"]
    caption = "Where each rank's step goes, ms (exchange and wait: only where nothing hides them)"
    yield table("breakdown", caption, heads, rows)


def about_exchange(subject: Subject) -> Iterator[Content]:
    """Return the exchange that nothing hides, and each collective."""
    step = subject.step
    said = told.exchange_said(step, MOST_RANKS).replace("\n ", "")
    yield element("p", said)
    collectives = step.collectives
    if collectives.empty:
        return
    exposed, parts = step.exposed(unit="ns"), step.breakdown("ns")
    heads = ["rank", "exposed", "of it transfer", "of it wait for the last to arrive"]
    rows = [
        [
            words(f"rank {rank}"),
            in_ms(exposed[rank]),
            in_ms(parts.at["exchange", rank]),
            in_ms(parts.at["wait", rank]),
        ]
        for rank in subject.ranks
    ]
    if step.clash is not None:
        # Nothing tells waits from transfers.
        heads, rows = heads[:2], [row[:2] for row in rows]
    yield table("exposed", "Exchange with no compute beside it, ms", heads, rows)
    shown = subject.largest(
        collectives, "wait_ns", MOST_COLLECTIVES, "collectives", "that ranks waited for longest"
    )
    yield table(
        "collectives",
        "Collectives in order of their last arrival, times in ms from the step's start",
        ("collective", "group", "ranks", "MiB", "first to arrive", "last to arrive",
         "last arrival", "between them", "transfer", "wait, all ranks", "bus GB/s"),
        [_collective(subject, row) for _, row in shown.iterrows()],
        optional=["group", "MiB", "bus GB/s"],
    )  # fmt: skip
    yield element(
        "p",
        "First and last are empty where ranks tie or clocks cannot tell them apart.",
        class_="small",
    )
    if len(step.unmatched):
        by_why = list(step.unmatched.groupby("why", sort=False))
        rows = [
            [words(why, 400), number(len(group)), words(_ranks(group["rank"]))]
            for why, group in subject.first(by_why, MOST_GAPS, "reasons why exchanges stay alone")
        ]
        heads = ["why", "exchanges", "ranks"]
        yield table("unmatched", "Exchanges that stay with their rank", heads, rows)


def _collective(subject: Subject, row: pd.Series[Any]) -> list[Cell]:
    size = None if row["bytes"] < 0 else row["bytes"] / _MIB
    return [
        words(row["name"]),
        words(", ".join(filter(None, (row["group"], "emulated" if row["emulated"] else "")))),
        number(row["ranks"]),
        number(size, 2),
        words(row["first_rank"]),
        words(row["last_rank"]),
        in_ms(None if subject.step.clash else row["arrival_ns"] - subject.origin_ns),
        in_ms(row["skew_ns"]),
        in_ms(row["transfer_ns"]),
        in_ms(row["wait_ns"]),
        number(row["bus_gbps"], 2),
    ]


def _ranks(ranks: pd.Series[Any]) -> str:
    found = sorted({int(rank) for rank in ranks})
    return ", ".join(map(str, found[:8])) + (" …" if len(found) > 8 else "")


def about_late(subject: Subject) -> Iterator[Content]:
    """Return who holds up the others, or why nobody can be named."""
    step = subject.step
    if len(step.ranks) < 2:
        yield element("p", "One rank: there is nobody to be late for.")
        return
    if step.clash is not None:
        yield element("p", f"No rank is called late here: {step.clash}.")
    else:
        yield listed(f"{line}." for line in told.late_said(step))
    rows = []
    for question, row in step.slowest.iterrows():
        counted = question == "last_to_arrive"
        told_as = number if counted else in_ms
        rows.append(
            [
                words(_QUESTIONS.get(str(question), str(question))),
                words(row["rank"]),
                *(told_as(row[column]) for column in ("value", "median", "excess")),
                words(row["sentence"], 400),
            ]
        )
    heads = ["question", "rank", "value", "median of the others", "more than they", "in words"]
    caption = "Who is slowest? Four questions with four answers; ms, or how many times"
    yield table("slowest", caption, heads, rows)
    own, windows = step.own_time, step.windows
    first, last = told.arrivals(step)
    rows = [
        [
            words(f"rank {rank}"),
            in_ms(own.at[rank, "late_ns"]),
            in_ms(windows.at[rank, "duration_ns"]),
            in_ms(own.at[rank, "own_time_ns"]),
            in_ms(own.at[rank, "tail_ns"]),
            number(first.get(rank)),
            number(last.get(rank)),
        ]
        for rank in subject.ranks
    ]
    heads = ["rank", "late start", "length by its own clock", "own time outside collectives",
             "of it after the last one", "first to arrive", "last to arrive"]  # fmt: skip
    yield table("own-time", "Each rank's own time, ms, and how often it arrived first and last",
                heads, rows)  # fmt: skip


def about_idle(subject: Subject) -> Iterator[Content]:
    """Return gaps in ranks' own work, with what may have caused them."""
    gaps = subject.step.idle()
    if gaps.empty:
        yield element("p", "No gap in any rank's own work is longer than a 100th of its step.")
        return
    shown = subject.largest(gaps, "duration_ns", MOST_GAPS, "idle gaps", "that are longest")
    rows = [
        [
            words(f"rank {row.rank}"),
            in_ms(row.start_ns - subject.start_ns(row.rank)),
            in_ms(row.duration_ns),
            words(row.candidates),
            words(row.evidence, 300),
            words(row.repeats),
        ]
        for row in each_row(shown)
    ]
    heads = ["rank", "start", "length", "may be", "evidence", "rhythm"]
    caption = "Gaps in ranks' own work, ms; causes are candidates, those that cover more first"
    yield table("idle", caption, heads, rows, optional=["rhythm"])


def clock_table(subject: Subject) -> Content:
    """Return how far each rank's clock was from the others'."""
    clock = subject.run.clock
    shown = [rank for rank in subject.ranks if rank in clock.index]
    rows = [
        [
            words(f"rank {rank}"),
            in_us(clock.at[rank, "offset_ns"]),
            number(clock.at[rank, "drift_ppm"], 2),
            in_us(clock.at[rank, "residual_ns"]),
            number(clock.at[rank, "collectives"]),
            words("yes" if clock.at[rank, "moved"] else "no"),
            words(clock.at[rank, "why"], 300),
        ]
        for rank in shown
    ]
    heads = ["rank", "ahead by", "drift, ppm", "typical error", "collectives", "moved", "why"]
    return table("clock", "Clocks as recorded, µs against the other ranks'", heads, rows)
