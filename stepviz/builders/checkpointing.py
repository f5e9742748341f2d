"""Checkpoints every so many updates: what stops the ranks, and what goes on beside them."""

from __future__ import annotations

from typing import Any

import pandas as pd

from stepviz.builders.arguments import as_amount, as_count, as_ms
from stepviz.builders.built import BuiltTimeline, held, of_rank
from stepviz.builders.chaining import ends_of, steps
from stepviz.core.timeline import Timeline


def checkpointed(
    timeline: Timeline,
    n: int,
    *,
    every: int,
    save: float,
    write: float = 0.0,
    state_bytes: float | None = None,
    prefetch: int | None = None,
) -> BuiltTimeline:
    """Return `n` updates with a checkpoint after each `every`-th.

    Parameters
    ----------
    timeline : Timeline
        One update.
    n : int
        How many.
    every : int
        A checkpoint after this many.
    save : float
        ms that each rank stops for it: all of it where it is synchronous, the copy to the host
        where it is not.
    write : float
        ms that writing goes on beside the next updates. The next checkpoint waits for it, since
        the host holds one copy.
    state_bytes : float, optional
        Bytes a rank saves, for `.memory`.
    prefetch : int, optional
        As for `steps`.

    Returns
    -------
    BuiltTimeline
        As from `steps`, with phases ``step k save`` and ``step k write`` of kind checkpoint on
        each rank. A checkpoint costs save/every a step, and more once write exceeds `every` steps.

    Examples
    --------
    >>> from stepviz.builders.lesson_models import lesson
    >>> checkpointed(lesson(), 4, every=2, save=100, write=900).completion
    4100.0
    """
    rhythm, stops, goes_on = as_count(every, "every"), as_ms(save, "save"), as_ms(write, "write")
    chain = steps(timeline, n, prefetch=prefetch)
    tables = timeline._tables
    ends, names = ends_of(tables), tables.phase.tolist()
    ranks = sorted(ends.exits)
    phases: list[dict[str, Any]] = []
    links: list[tuple[str, str]] = []
    written: dict[int, str] = {}
    for k in range(rhythm, n + 1, rhythm):
        for rank in ranks:
            saved = f"step {k} {of_rank('save', rank, len(ranks))}"
            phases.append(_phase(saved, rank, "checkpoint", stops))
            links += [(f"step {k} {names[row]}", saved) for row in ends.exits[rank]]
            if k < n:
                links += [(saved, f"step {k + 1} {names[row]}") for row in ends.entries[rank]]
            if rank in written:
                links.append((written[rank], saved))
            if goes_on:
                written[rank] = f"step {k} {of_rank('write', rank, len(ranks))}"
                phases.append(_phase(written[rank], rank, "storage", goes_on))
                links.append((saved, written[rank]))
    size = None if state_bytes is None else as_amount(state_bytes, "state_bytes", "bytes")
    copy = held(
        None, "checkpoint copy on the host", 1 if goes_on else 0, size, "one, while written"
    )
    every_phase = chain.phases.reset_index()
    if phases:
        every_phase = pd.concat([every_phase, pd.DataFrame(phases)], ignore_index=True)
    known = chain.dependencies
    new = pd.DataFrame(links, columns=["source", "target"]).assign(
        type="FS", lag=0.0, origin="assumed"
    )
    return BuiltTimeline.of(
        every_phase,
        pd.concat([known, new], ignore_index=True) if links else known,
        name=f"{chain.name}, a checkpoint every {rhythm}",
        target=chain.target,
        memory=[*chain.memory_rows(), copy],
        notes=chain.notes,
    )


def _phase(name: str, rank: int, lane: str, duration: float) -> dict[str, Any]:
    return {
        "phase": name,
        "kind": "checkpoint",
        "rank": rank,
        "lane": lane,
        "duration": duration,
        "release": 0.0,
        "members": None,
    }
