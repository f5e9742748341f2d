"""Exchanges in the graph: a collective over ranks is one node, on what it runs and on its own end.

It transfers from its last arrival to its first end; what a member takes longer than the first
is that member's own, kept as delay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from stepviz.traces.graph.arrays import IntArray
from stepviz.traces.graph.draft import (
    AT_ONCE,
    JOINT_ENDS,
    KIND_CODE,
    LAST,
    OWN_ENDS,
    STARTS,
    Draft,
)
from stepviz.traces.graph.hosts import HostCalls
from stepviz.traces.graph.links import ON_HOST, ON_LINK, Link
from stepviz.traces.graph.streams import Streams
from stepviz.traces.graph.view import NEVER, View
from stepviz.traces.joining.joins import Exchange

#: A collective's own points come after all arrivals of that instant.
_JOINS: Final = LAST // 2

_EXCHANGE: Final = KIND_CODE["exchange"]


@dataclass(frozen=True)
class Member:
    """A rank's part in an exchange: its points and times, from the step's start."""

    start: int
    finish: int
    starts: int
    ends: int
    name: str


def joint_rows(exchanges: Sequence[Exchange], rank: int) -> IntArray:
    """Return the events of a rank that are its part in a joint exchange."""
    rows = [e.calls[rank].row for e in exchanges if e.joint and rank in e.calls]
    return np.array(rows, dtype=np.int64)


def host_calls(
    view: View, exchanges: Sequence[Exchange], draft: Draft, names: IntArray
) -> HostCalls:
    """Add the points of a rank's exchanges that run on threads, and the work of its lone ones."""
    found = [
        (call, exchange.joint)
        for exchange in exchanges
        if (call := exchange.calls.get(view.rank)) is not None and not call.on_device
    ]
    rows = np.array([call.row for call, _ in found], dtype=np.int64)
    start, finish = view.clipped(rows)
    joint = np.array([joint for _, joint in found], dtype=bool)
    posted = np.array([call.launched for call, _ in found], dtype=np.int64)
    ended = np.where(finish > start, OWN_ENDS, STARTS + AT_ONCE // 2)
    calls = HostCalls(
        rows,
        view.track[rows],
        np.where(posted >= 0, posted - view.origin, NEVER),
        start,
        finish,
        draft.points(start, STARTS, view.rank),
        draft.points(finish, ended, view.rank),
    )
    alone = np.flatnonzero(~joint)
    numbers = draft.elements(
        start[alone],
        (finish - start)[alone],
        rank=view.rank,
        kind=_EXCHANGE,
        name=names[view.name[rows[alone]]],
        on=ON_HOST,
        track=view.track[rows[alone]],
        row=rows[alone],
    )
    draft.link(Link.WORK, calls.starts[alone], calls.ends[alone], low=numbers, high=numbers + 1)
    return calls


def joint_parts(rows: IntArray, streams: Streams, calls: HostCalls) -> dict[int, Member]:
    """Return, by event, a rank's parts in joint exchanges that lie in its window."""
    view = streams.view
    at = streams.rows_of(rows)
    threads = {int(row): place for place, row in enumerate(calls.row.tolist())}
    found: dict[int, Member] = {}
    for row, place in zip(rows.tolist(), at.tolist(), strict=True):
        here: Streams | HostCalls = streams if place >= 0 else calls
        own = place if place >= 0 else threads.get(row, -1)
        if own >= 0:
            found[row] = Member(
                int(here.start[own]),
                int(here.finish[own]),
                int(here.starts[own]),
                int(here.ends[own]),
                view.words[int(view.name[row])],
            )
    return found


def members(exchange: Exchange, parts: Mapping[int, Mapping[int, Member]]) -> dict[int, Member]:
    """Return by rank the parts of an exchange that lie in their ranks' windows."""
    return {
        rank: parts[rank][call.row]
        for rank, call in exchange.calls.items()
        if call.row in parts[rank]
    }


def draw_joint(exchange: Exchange, parts: Mapping[int, Member], draft: Draft) -> int:
    """Add a collective over its members; return its transfer's number."""
    everyone = list(parts.values())
    arrived = max(part.start for part in everyone)
    # Whoever only gives, or only gets, may have ended before the last one came.
    done = min(part.finish for part in everyone if part.finish >= arrived)
    number = int(
        draft.elements(
            np.array([arrived]),
            np.array([done - arrived]),
            kind=_EXCHANGE,
            name=draft.name(exchange.name),
            on=ON_LINK,
        )[0]
    )
    joins = draft.points([arrived], _JOINS, -1)
    ends = draft.points([done], JOINT_ENDS if done > arrived else _JOINS + 1, -1)
    draft.link(Link.WORK, joins, ends, low=number, high=number + 1)
    starts = np.array([part.starts for part in everyone])
    own_ends = np.array([part.ends for part in everyone])
    together = np.array([part.finish >= done for part in everyone])
    draft.link(Link.ARRIVAL, starts, np.repeat(joins, len(starts)))
    draft.link(Link.OWN_END, starts, own_ends)
    draft.link(Link.OWN_END, np.repeat(ends, together.sum()), own_ends[together])
    draw_alone({rank: part for rank, part in parts.items() if part.finish < done}, draft)
    return number


def draw_alone(parts: Mapping[int, Member], draft: Draft) -> None:
    """Add the work of parts that go on by themselves, whatever the other members do."""
    for rank, part in parts.items():
        own = draft.elements(
            np.array([part.start]),
            np.array([part.finish - part.start]),
            rank=rank,
            kind=_EXCHANGE,
            name=draft.name(part.name),
            on=ON_LINK,
        )
        draft.link(Link.WORK, [part.starts], [part.ends], low=own, high=own + 1)
