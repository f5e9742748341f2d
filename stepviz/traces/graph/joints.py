"""Exchanges in the graph: a collective over ranks is one node, on what it runs and on its own end.

It transfers from its last arrival to its first end; what a member takes longer than the first
is that member's own, kept as delay.
"""

from __future__ import annotations

from collections.abc import Sequence
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


def members(
    exchange: Exchange, streams: dict[int, Streams], calls: dict[int, HostCalls]
) -> dict[int, Member]:
    """Return the parts of an exchange that lie in their ranks' windows."""
    found: dict[int, Member] = {}
    for rank, call in exchange.calls.items():
        view = streams[rank].view
        name = view.words[int(view.name[call.row])]
        here: Streams | HostCalls = streams[rank] if call.on_device else calls[rank]
        if call.on_device:
            own = streams[rank].rows_of(np.array([call.row]))
        else:
            own = np.flatnonzero(calls[rank].row == call.row)
        if len(own) and own[0] >= 0:
            at = int(own[0])
            found[rank] = Member(
                int(here.start[at]), int(here.finish[at]), int(here.starts[at]),
                int(here.ends[at]), name,
            )  # fmt: skip
    return found


def draw_joint(exchange: Exchange, parts: dict[int, Member], draft: Draft) -> int:
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
    for rank, part in parts.items():
        draft.link(Link.ARRIVAL, [part.starts], joins)
        draft.link(Link.OWN_END, [part.starts], [part.ends])
        if part.finish >= done:
            draft.link(Link.OWN_END, ends, [part.ends])
            continue
        draw_alone({rank: part}, draft)
    return number


def draw_alone(parts: dict[int, Member], draft: Draft) -> None:
    """Add the work of parts whose other members lie outside of their windows."""
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
