"""Several updates in a row: what a step hands to the next, and the steady state.

The next update's work on a rank waits for this update's last; input may run ahead; what shares a
lane stays in order.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from stepviz.builders.arguments import as_count
from stepviz.builders.built import BuiltTimeline
from stepviz.core.tables import Tables
from stepviz.core.timeline import Timeline
from stepviz.core.vocabulary import LINK_TYPES
from stepviz.errors import TimelineError

#: Kinds that may run beside the next update.
_ASIDE: Final = ("input", "checkpoint")
_STEP = re.compile(r"(?:step (\d+) .*|.* (\d+))")


@dataclass(frozen=True)
class Ends:
    """Where one update meets the next, as rows by rank.

    `entries` begin a rank's update and `exits` end it, input and checkpoints apart; `inputs` are
    its first inputs, and `users` what takes a rank's input first.
    """

    entries: dict[int, list[int]]
    exits: dict[int, list[int]]
    inputs: dict[int, list[int]]
    users: dict[int, list[int]]


def steps(timeline: Timeline, n: int, *, prefetch: int | None = None) -> BuiltTimeline:
    """Return `n` updates in a row.

    On each rank, what begins an update waits for what ended the last one there (its optimizer);
    there is no barrier across ranks but the step's own collectives. Input runs ahead of it.

    Parameters
    ----------
    timeline : Timeline
        One update.
    n : int
        How many.
    prefetch : int, optional
        How many batches input may be ahead: it may begin once the step that many before has
        taken its own; 0 loads only between updates. None lets it run as far ahead as its lane
        allows.

    Returns
    -------
    BuiltTimeline
        Phases of update k are named ``step k …``. A release, which counts from a step's start,
        counts from the end of the update before. See `step_times`.

    Examples
    --------
    An input of 80 ms on a lane of its own shows once; with no prefetch it shows each time:

    >>> from stepviz.builders.lesson_models import lesson
    >>> late = lesson().with_duration("input", 80)
    >>> steps(late, 3).completion, steps(late, 3, prefetch=0).completion
    (2330.0, 2490.0)
    """
    if not isinstance(timeline, Timeline):
        msg = f"timeline is {type(timeline).__name__}: give a Timeline"
        raise TimelineError(msg)
    count = as_count(n, "n")
    depth = None if prefetch is None else as_count(prefetch, "prefetch", least=0)
    tables = timeline._tables
    ends = ends_of(tables)
    phases, dependencies = _copies(tables, count)
    size = len(tables.phase)
    more: list[tuple[int, int, str, float]] = []
    freed = _releases(tables, ends)
    turns = _turns(tables)
    for k in range(1, count):
        now, before = k * size, (k - 1) * size
        for rank, entries in ends.entries.items():
            more += [
                (before + out, now + entry, "FS", 0.0)
                for out in ends.exits[rank]
                for entry in entries
            ]
        more += [(before + out, now + row, "FS", lag) for out, row, lag in freed]
        if depth is not None and k >= max(depth, 1):
            taken = (k - max(depth, 1)) * size
            for rank, inputs in ends.inputs.items():
                holders = ends.users[rank] if depth else ends.exits[rank]
                for row in holders:
                    for first in inputs:
                        # A dependency between neighbours of a lane stands for their order there.
                        alone = depth == 0 or (taken + size == now and (row, first) in turns)
                        more.append((taken + row, now + first, "FS" if alone else "SS", 0.0))
    names = phases["phase"].to_numpy()
    links = pd.DataFrame(more, columns=["source", "target", "type", "lag"])
    links["source"] = names[links["source"].to_numpy(dtype=np.int64)]
    links["target"] = names[links["target"].to_numpy(dtype=np.int64)]
    links["origin"] = "assumed"
    links = links.drop_duplicates(["source", "target", "type", "lag"])
    built = timeline if isinstance(timeline, BuiltTimeline) else None
    return BuiltTimeline.of(
        phases,
        pd.concat([dependencies, links], ignore_index=True) if len(links) else dependencies,
        name=f"{count} × {timeline.name}" if timeline.name else f"{count} steps",
        target=None if timeline.target is None else f"step {count} {timeline.target}",
        memory=() if built is None else built.memory_rows(),
        notes=() if built is None else built.notes,
    )


def step_times(timeline: Timeline) -> pd.DataFrame:
    """Return when each update of several completes, and how long after the one before.

    Parameters
    ----------
    timeline : Timeline
        From `steps`, `checkpointed` or `input_pipeline`: names begin with ``step k``, or end
        with the number of the batch.

    Returns
    -------
    DataFrame
        Indexed by step from 1: `start`, the first start of its work; `completion`, the last
        finish; `interval`, ms since the completion before (of the first: since 0). Input and
        checkpoints do not count. In the steady state the interval is what a step costs.

    Examples
    --------
    >>> from stepviz.builders.lesson_models import lesson
    >>> step_times(steps(lesson(), 3))["completion"].tolist()
    [750.0, 1500.0, 2250.0]
    """
    if not isinstance(timeline, Timeline):
        msg = f"timeline is {type(timeline).__name__}: give a Timeline"
        raise TimelineError(msg)
    tables, solution = timeline._tables, timeline.schedule().solution
    rows = np.flatnonzero(~np.isin(tables.kind, _ASIDE))
    found = [_STEP.fullmatch(name) for name in tables.phase[rows].tolist()]
    if not found or any(match is None for match in found):
        msg = "these phases are not numbered by step: make several updates with steps(timeline, n)"
        raise TimelineError(msg)
    numbers = [int(match[1] or match[2]) for match in found if match is not None]
    frame = pd.DataFrame(
        {"step": numbers, "start": solution.start[rows], "completion": solution.finish[rows]}
    )
    table = frame.groupby("step").agg({"start": "min", "completion": "max"})
    table["interval"] = table["completion"].diff().fillna(table["completion"])
    return table


def ends_of(tables: Tables) -> Ends:
    """Return where an update begins and ends on each rank."""
    before, after = tables.lane_pairs
    edges = list(
        zip(
            [*tables.source.tolist(), *before.tolist()],
            [*tables.target.tolist(), *after.tolist()],
            strict=True,
        )
    )
    ranks = [set(tables.ranks_of(row)) for row in range(len(tables.phase))]
    aside = np.isin(tables.kind, _ASIDE).tolist()
    is_input = (tables.kind == "input").tolist()
    held: set[tuple[int, int]] = set()  # (row, rank) with work of that rank before it
    holds: set[tuple[int, int]] = set()
    fed: set[tuple[int, int]] = set()  # inputs behind another input
    users: dict[int, list[int]] = defaultdict(list)
    for source, target in edges:
        for rank in ranks[source] & ranks[target]:
            if not aside[source] and not aside[target]:
                held.add((target, rank))
                holds.add((source, rank))
            elif is_input[source] and is_input[target]:
                fed.add((target, rank))
            elif is_input[source] and not aside[target]:
                users[rank].append(target)
    entries: dict[int, list[int]] = defaultdict(list)
    exits: dict[int, list[int]] = defaultdict(list)
    inputs: dict[int, list[int]] = defaultdict(list)
    for row, owners in enumerate(ranks):
        for rank in sorted(owners):
            if is_input[row]:
                if (row, rank) not in fed:
                    inputs[rank].append(row)
            elif not aside[row]:
                if (row, rank) not in held:
                    entries[rank].append(row)
                if (row, rank) not in holds:
                    exits[rank].append(row)
    for rank in inputs:  # nothing takes it: the step's own beginning stands in
        users.setdefault(rank, entries.get(rank, []))
        exits.setdefault(rank, [])
    return Ends(dict(entries), dict(exits), dict(inputs), dict(users))


def _turns(tables: Tables) -> set[tuple[int, int]]:
    """Return the last and the first phase of each lane: neighbours, from one update to the next."""
    ends: dict[tuple[Any, ...], tuple[int, int]] = {}
    for row, lane in enumerate(tables.lane.tolist()):
        if lane is not None:
            key = (int(tables.rank[row]), tables.members[row], lane)
            ends[key] = (row, ends.get(key, (row, row))[1])
    return set(ends.values())


def _releases(tables: Tables, ends: Ends) -> list[tuple[int, int, float]]:
    """Return the releases of an update as lags after the exits of the one before it."""
    found = []
    for row in np.flatnonzero(tables.release > 0).tolist():
        outs = {out for rank in tables.ranks_of(row) for out in ends.exits.get(rank, ())}
        found += [(out, row, float(tables.release[row])) for out in sorted(outs)]
    return found


def _copies(tables: Tables, n: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the phases and dependencies of `n` updates, each with names of its own."""
    names = [f"step {k} {name}" for k in range(1, n + 1) for name in tables.phase.tolist()]
    size = len(tables.phase)
    release = np.zeros(n * size)
    release[:size] = tables.release
    phases = pd.DataFrame(
        {
            "phase": names,
            "kind": np.tile(tables.kind, n),
            "rank": pd.array(_repeated([None if r < 0 else r for r in tables.rank.tolist()], n),
                             dtype="Int64"),
            "lane": np.tile(tables.lane, n),
            "duration": np.tile(tables.duration, n),
            "release": release,
            "members": pd.Series(_repeated(tables.members.tolist(), n), dtype=object),
        }
    )  # fmt: skip
    shift = np.repeat(np.arange(n) * size, len(tables.source))
    every = np.array(names, dtype=object)
    dependencies = pd.DataFrame(
        {
            "source": every[np.tile(tables.source, n) + shift],
            "target": every[np.tile(tables.target, n) + shift],
            "type": np.array(LINK_TYPES, dtype=object)[np.tile(tables.code, n)],
            "lag": np.tile(tables.lag, n),
            "origin": np.tile(tables.origin, n),
        }
    )
    return phases, dependencies


def _repeated(values: Iterable[Any], n: int) -> list[Any]:
    return list(values) * n
