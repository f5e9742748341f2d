"""Tracks of what was found in a step: its critical path, each rank's kinds, its exchanges."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from stepviz.traces.folding.pieces import Piece
from stepviz.traces.joining.joins import Exchange
from stepviz.traces.tracks.arrows import Arrows
from stepviz.traces.tracks.naming import (
    EXCHANGE,
    KIND,
    PATH,
    PATH_KIND,
    PATH_PROCESS,
    coloured,
    process_of,
)
from stepviz.traces.tracks.writer import (
    EventWriter,
    IntArray,
    Told,
    arrow,
    head,
    lane_name,
    microseconds,
)


def write_path(writer: EventWriter, found: pd.DataFrame) -> None:
    """Write the critical path: by kind, and its pieces on the ranks they ran on."""
    start = found["start_ns"].to_numpy(dtype=np.int64)
    finish = found["finish_ns"].to_numpy(dtype=np.int64)
    kinds, names = _words(found["kind"]), _words(found["name"])
    ranks = np.asarray(found["rank"].astype("Int64").fillna(-1), dtype=np.int64)
    texts = _texts(found, kinds, names, ranks)

    def by_kind(places: IntArray) -> Told:
        heads = [head(kinds[at], PATH_KIND, coloured(kinds[at])) for at in places.tolist()]
        return heads, [texts[at] for at in places.tolist()], [()] * len(places)

    writer.slices(PATH_PROCESS, "critical path: kind", start, finish, by_kind)
    # Arrows from piece to piece; pieces of no length could hold no end of one.
    long = np.flatnonzero(finish > start)
    arrows = Arrows()
    numbers = writer.flows(max(len(long) - 1, 0))
    arrows.add("f", long[1:], numbers, PATH)
    arrows.add("s", long[:-1], numbers, PATH)
    for rank in np.unique(ranks).tolist():
        chosen = np.flatnonzero(ranks == rank)

        def on_rank(places: IntArray, chosen: IntArray = chosen) -> Told:
            rows = chosen[places].tolist()
            heads = [head(names[at] or kinds[at], PATH, coloured(kinds[at])) for at in rows]
            return heads, [texts[at] for at in rows], arrows.of(chosen[places])

        writer.slices(
            PATH_PROCESS,
            "critical path: between ranks" if rank < 0 else f"critical path: rank {rank}",
            start[chosen],
            finish[chosen],
            on_rank,
        )


def _words(column: pd.Series[Any]) -> list[str]:
    """Return a column's words, each kept once."""
    codes, words = pd.factorize(column, use_na_sentinel=False)
    known = [str(word) for word in words]
    return [known[code] for code in codes.tolist()]


def _texts(
    found: pd.DataFrame, kinds: Sequence[str], names: Sequence[str], ranks: IntArray
) -> list[str]:
    """Return what is said of each piece as JSON; what is said of many is kept once."""
    shown = {"kind": kinds, "name": names}
    shown |= {key: _said(found[key]) for key in ("origin", "launched") if key in found}
    known: dict[tuple[Any, ...], str] = {}
    texts = []
    for row in zip(ranks.tolist(), *shown.values(), strict=True):
        if row not in known:
            said: dict[str, Any] = {
                key: word for key, word in zip(shown, row[1:], strict=True) if word
            }
            if row[0] >= 0:
                # Not "rank": readers take that for whose row this is.
                said["on rank"] = row[0]
            known[row] = json.dumps(said)[1:-1]
        texts.append(known[row])
    return texts


def _said(column: pd.Series[Any]) -> list[str]:
    return [word if isinstance(word, str) else "" for word in column.tolist()]


def write_kinds(writer: EventWriter, rank: int, pieces: Sequence[Piece]) -> None:
    """Write what one rank does from moment to moment."""

    def told(places: IntArray) -> Told:
        some = [pieces[at] for at in places.tolist()]
        heads = [head(piece.kind, KIND, coloured(piece.kind)) for piece in some]
        return heads, [f'"region":{json.dumps(piece.region)}' for piece in some], [()] * len(some)

    writer.slices(
        process_of(rank),
        "kinds",
        np.array([piece.start for piece in pieces], dtype=np.int64),
        np.array([piece.finish for piece in pieces], dtype=np.int64),
        told,
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
