"""Tracks of what was found in a step: its critical path, each rank's kinds, its exchanges."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from stepviz.traces.folding.pieces import Piece
from stepviz.traces.joining.joins import Exchange
from stepviz.traces.tracks.naming import (
    EXCHANGE,
    KIND,
    PATH,
    PATH_KIND,
    PATH_PROCESS,
    coloured,
    process_of,
)
from stepviz.traces.tracks.writer import EventWriter, arrow, head, lane_name, microseconds


def write_path(writer: EventWriter, found: pd.DataFrame) -> None:
    """Write the critical path: by kind, and its pieces on the ranks they ran on."""
    start = found["start_ns"].to_numpy(dtype=np.int64)
    finish = found["finish_ns"].to_numpy(dtype=np.int64)
    kinds = [str(kind) for kind in found["kind"]]
    names = [str(name) for name in found["name"]]
    texts = [json.dumps(_said(row))[1:-1] for row in found.to_dict("records")]
    by_kind = [head(kind, PATH_KIND, coloured(kind)) for kind in kinds]
    writer.slices(PATH_PROCESS, "critical path: kind", start, finish, by_kind, texts)
    heads = [
        head(name or kind, PATH, coloured(kind)) for name, kind in zip(names, kinds, strict=True)
    ]
    # Arrows from piece to piece; pieces of no length could hold no end of one.
    long = np.flatnonzero(finish > start).tolist()
    arrows: dict[int, list[str]] = {}
    for before, after in pairwise(long):
        number = writer.flow()
        arrows.setdefault(before, []).append(arrow("s", number, PATH))
        arrows.setdefault(after, []).append(arrow("f", number, PATH))
    ranks = found["rank"].astype("Int64").fillna(-1).to_numpy(dtype=np.int64)
    for rank in np.unique(ranks).tolist():
        chosen = np.flatnonzero(ranks == rank).tolist()
        writer.slices(
            PATH_PROCESS,
            "critical path: between ranks" if rank < 0 else f"critical path: rank {rank}",
            start[chosen],
            finish[chosen],
            [heads[at] for at in chosen],
            [texts[at] for at in chosen],
            {place: arrows[at] for place, at in enumerate(chosen) if at in arrows},
        )


def _said(row: dict[Any, Any]) -> dict[str, str | int]:
    shown: dict[str, str | int] = {}
    for key in ("kind", "name", "origin", "launched"):
        value = row.get(key)
        if isinstance(value, str) and value:
            shown[key] = value
    rank = row.get("rank")
    if rank is not None and not pd.isna(rank):
        # Not "rank": readers take that for whose row this is.
        shown["on rank"] = int(rank)
    return shown


def write_kinds(writer: EventWriter, rank: int, pieces: Sequence[Piece]) -> None:
    """Write what one rank does from moment to moment."""
    writer.slices(
        process_of(rank),
        "kinds",
        np.array([piece.start for piece in pieces], dtype=np.int64),
        np.array([piece.finish for piece in pieces], dtype=np.int64),
        [head(piece.kind, KIND, coloured(piece.kind)) for piece in pieces],
        [f'"region":{json.dumps(piece.region)}' for piece in pieces],
    )


@dataclass(frozen=True)
class _Slot:
    """A wait or a transfer of one rank; `arrow` is s where others wait for its start, f else."""

    start: int
    finish: int
    name: str
    args: str
    exchange: int
    arrow: str


def write_exchanges(writer: EventWriter, exchanges: Sequence[Exchange], *, told: bool) -> None:
    """Write each rank's waits and transfers, and arrows from who arrived last.

    All ranks at once, in order of time: both ends of an arrow have the same time, and its start
    must come first. Where the clocks disagree (not `told`), wait and transfer are not told apart.
    """
    by_rank: dict[int, list[_Slot]] = {}
    for number, exchange in enumerate(exchanges):
        for rank, slots in _slots(exchange, number, told=told).items():
            by_rank.setdefault(rank, []).extend(slots)
    flows: dict[int, int] = {}
    events: list[tuple[int, int, str]] = []
    for rank, mine in sorted(by_rank.items()):
        mine.sort(key=lambda slot: (slot.start, -slot.finish))
        tids: list[int] = []
        for slot, lane in zip(mine, _lanes_apart(mine), strict=True):
            if lane == len(tids):
                tids.append(writer.track(process_of(rank), lane_name("exchange", lane)))
            place = f'"pid":{process_of(rank)},"tid":{tids[lane]}'
            length = microseconds(slot.finish - slot.start)
            text = f'{{"ph":"X",{slot.name},{place},"dur":{length},"args":{{{slot.args}}}'
            events.append((slot.start, 0, text))
            if slot.arrow:
                if slot.exchange not in flows:
                    flows[slot.exchange] = writer.flow()
                text = f"{{{arrow(slot.arrow, flows[slot.exchange], EXCHANGE)},{place}"
                events.append((slot.start, 1 if slot.arrow == "s" else 2, text))
    writer.together(events)


def _slots(exchange: Exchange, number: int, *, told: bool) -> dict[int, list[_Slot]]:
    """Return by rank the wait and the transfer of one exchange; one slot where clocks disagree."""
    last = max(exchange.calls.values(), key=lambda call: (call.arrival, -call.rank))
    split = told and exchange.joint
    # A transfer of no length holds no arrow, and none starts at nothing.
    arrows = split and last.finish > last.arrival
    said = {
        "collective": exchange.collective,
        "group": exchange.label,
        "ranks": len(exchange.calls),
        **({"bytes": exchange.bytes} if exchange.bytes >= 0 else {}),
        **({"last to arrive": f"rank {last.rank}"} if split else {}),
    }
    args = json.dumps(said)[1:-1]
    word = "transfer" if split else "exchange"
    wait = head(f"wait: {exchange.name}", EXCHANGE, coloured("wait"))
    transfer = head(f"{word}: {exchange.name}", EXCHANGE, coloured("exchange"))
    found = {}
    for rank, call in exchange.calls.items():
        begun = min(max(last.arrival, call.arrival), call.finish) if split else call.arrival
        slots = []
        if begun > call.arrival:
            slots.append(_Slot(call.arrival, begun, wait, args, number, ""))
        end = "s" if rank == last.rank else "f"
        end = end if arrows and call.finish > begun else ""
        slots.append(_Slot(begun, call.finish, transfer, args, number, end))
        found[rank] = slots
    return found


def _lanes_apart(slots: Sequence[_Slot]) -> list[int]:
    """Return lanes on which no two slots share time, so that an arrow's end binds to its own."""
    free: list[int] = []
    lanes = []
    for slot in slots:
        lane = next((k for k, end in enumerate(free) if end <= slot.start), len(free))
        if lane == len(free):
            free.append(slot.finish)
        free[lane] = slot.finish
        lanes.append(lane)
    return lanes
