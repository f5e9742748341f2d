"""Exchanges joined over ranks: one collective, its members, its last arrival, its end.

Joined in order within a process group, if every member shows equally many of one name and
their sizes agree. What cannot be joined stays with its rank, with the reason.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Final

import pandas as pd

from stepviz.traces.joining.clocks import Clash, ended_early, worst_of
from stepviz.traces.reading.rows import RankRows

#: A collective cannot end on one rank before another arrives. Past this, clocks disagree.
CLOCK_TOLERANCE_NS: Final = 2_000_000

#: Names of the group of all ranks, where the file does not list its members.
_WORLD: Final = frozenset({"", "0", "default_pg"})

#: Ranks of a group; a range where they are 0, 1, …, so that no large world is written out.
Members = range | tuple[int, ...]

#: One rank's part in an exchange, by column.
Row = dict[str, Any]

_POINT_TO_POINT: Final = frozenset({"send", "recv"})


@dataclass(frozen=True)
class Call:
    """One rank's part in one exchange, in ns, clipped to the rank's window.

    `launched` is −1 where its launch is not in the file.
    """

    rank: int
    row: int
    queue: int
    ready: int
    launched: int
    arrival: int
    finish: int
    origin: str
    during: str
    on_device: bool


@dataclass(frozen=True)
class Exchange:
    """One exchange: a collective over its members, or one rank's part where not joined."""

    name: str
    collective: str
    label: str
    emulated: bool
    bytes: int
    calls: Mapping[int, Call] = field(default_factory=dict)

    @property
    def members(self) -> tuple[int, ...]:
        """Return the ranks that take part."""
        return tuple(sorted(self.calls))

    @property
    def joint(self) -> bool:
        """Say whether this is one exchange over several ranks."""
        return len(self.calls) > 1

    def with_calls(self, calls: Mapping[int, Call]) -> Exchange:
        """Return the same exchange among some of its members."""
        name = self.name if len(calls) > 1 or not self.joint else f"r{min(calls)} {self.name}"
        return replace(self, name=name, calls=dict(calls))

    @property
    def last_arrival(self) -> int:
        """Return when the transfer can begin."""
        return max(call.arrival for call in self.calls.values())

    @property
    def first_finish(self) -> int:
        """Return when the transfer is done on the first rank, not before it began."""
        return max(self.last_arrival, min(call.finish for call in self.calls.values()))


@dataclass(frozen=True)
class Joined:
    """The exchanges of a step: all of them, why some stayed with their rank, clocks' clash."""

    exchanges: list[Exchange]
    unmatched: pd.DataFrame
    clash: Clash | None = None


def join(calls: Mapping[int, pd.DataFrame], ranks: Mapping[int, RankRows]) -> Joined:
    """Join one step's exchanges over its ranks.

    Parameters
    ----------
    calls
        By rank: the exchanges of the step (see `exchanges.COLUMNS`), clipped to its window;
        began_ns and ended_ns are not.
    ranks
        By rank: the rows they come from.
    """
    by_key: dict[tuple[str, str, bool, Members], dict[int, list[Row]]]
    by_key = defaultdict(dict)
    for rank, frame in calls.items():
        for (group, name, emulated), part in frame.groupby(
            ["group", "collective", "emulated"], sort=False
        ):
            members = _members(str(group), rank, ranks)
            records: list[Row] = part.to_dict("records")  # type: ignore[assignment]  # text keys
            by_key[str(group), str(name), bool(emulated), members][rank] = records
    joined: list[list[tuple[int, Row]]] = []
    reasons: list[tuple[int, Row, str]] = []
    clashes: list[Clash | None] = []
    for (_, name, _, members), parts in by_key.items():
        reason = _why_not(name, members, parts, ranks)
        if reason is None and len(parts) > 1:
            clash = _clash(name, parts)
            clashes.append(clash)
            reason = _clocks_apart(parts) if clash is not None else None
        if reason is None and len(parts) > 1:
            count = len(next(iter(parts.values())))
            joined += [[(rank, part[k]) for rank, part in parts.items()] for k in range(count)]
            continue
        for rank, rows in parts.items():
            for row in rows:
                joined.append([(rank, row)])
                if reason is not None:
                    reasons.append((rank, row, reason))
    unmatched = pd.DataFrame(
        [
            {
                "rank": rank,
                "collective": row["collective"],
                "group": row["label"],
                "arrival_ns": int(row["arrival_ns"]),
                "finish_ns": int(row["finish_ns"]),
                "why": reason,
            }
            for rank, row, reason in reasons
        ],
        columns=["rank", "collective", "group", "arrival_ns", "finish_ns", "why"],
    )
    return Joined(_named(joined), unmatched, worst_of(clashes))


def _clash(name: str, parts: Mapping[int, list[Row]]) -> Clash | None:
    arrivals = {rank: [int(row["began_ns"]) for row in part] for rank, part in parts.items()}
    ends = {rank: [int(row["ended_ns"]) for row in part] for rank, part in parts.items()}
    return ended_early(name, arrivals, ends)


def _clocks_apart(parts: Mapping[int, list[Row]]) -> str | None:
    """Say so where most exchanges could not be joined by these clocks."""
    late = 0
    columns = list(zip(*parts.values(), strict=True))
    for rows in columns:
        last_arrival = max(int(row["began_ns"]) for row in rows)
        first_finish = min(int(row["ended_ns"]) for row in rows)
        late += first_finish < last_arrival - CLOCK_TOLERANCE_NS
    if 2 * late > len(columns):
        return "it ends on one rank before another arrives: the ranks' clocks disagree"
    return None


def _members(group: str, rank: int, ranks: Mapping[int, RankRows]) -> Members:
    """Return who belongs to a group: what the file says, else the world."""
    rows = ranks[rank]
    _, said = rows.groups.get(group, ("", ()))
    if said:
        members = tuple(sorted(set(said)))
        # The same group, whether a file lists its members or only counts the world.
        whole = range(len(members))
        return whole if members[0] == 0 and members[-1] == len(members) - 1 else members
    if rows.world_size is not None and group in _WORLD:
        return range(rows.world_size)
    return tuple(sorted(ranks))


def _why_not(
    name: str,
    members: Members,
    parts: Mapping[int, list[Row]],
    ranks: Mapping[int, RankRows],
) -> str | None:
    """Say why exchanges of one name and group cannot be joined, None where they can."""
    if len(members) <= 1:
        return None
    if name in _POINT_TO_POINT:
        return "sent between two ranks; only collectives of a group are joined"
    missing = _ranks_said(m for m in members if m not in ranks)
    if missing:
        return f"{missing} of its group not in this run, so its wait is unknown"
    absent = _ranks_said(m for m in members if m not in parts)
    if absent:
        return f"{absent} without any in this step"
    counts = {rank: len(part) for rank, part in parts.items()}
    if len(set(counts.values())) > 1:
        said = ", ".join(f"{n} on rank {rank}" for rank, n in sorted(counts.items()))
        return f"the ranks differ in how many they show: {said}"
    for k, rows in enumerate(zip(*parts.values(), strict=True)):
        known = {int(row["elements"]) for row in rows if row["elements"] >= 0}
        if len(known) > 1:
            return f"the ranks differ in the size of number {k}: {sorted(known)} elements"
    return None


def _ranks_said(ranks: Iterable[int]) -> str:
    """Name a few of many ranks without counting them all: a world may be large."""
    few = list(islice(ranks, 7))
    shown = ", ".join(str(rank) for rank in few[:6]) + (", …" if len(few) > 6 else "")
    if not few:
        return ""
    return f"rank {shown} is" if len(few) == 1 else f"ranks {shown} are"


def _named(joined: list[list[tuple[int, Row]]]) -> list[Exchange]:
    """Name exchanges in order of their last arrival: "all-reduce 2", "r0 all-reduce 1"."""
    joined.sort(key=lambda parts: max(int(row["arrival_ns"]) for _, row in parts))
    totals: dict[tuple[str, str], int] = defaultdict(int)
    prefixes = []
    for parts in joined:
        rank, row = parts[0]
        prefix = "" if len(parts) > 1 else f"r{rank} "
        prefixes.append(prefix)
        totals[prefix, str(row["collective"])] += 1
    seen: dict[tuple[str, str], int] = defaultdict(int)
    exchanges = []
    for parts, prefix in zip(joined, prefixes, strict=True):
        row = parts[0][1]
        collective = str(row["collective"])
        number = seen[prefix, collective]
        seen[prefix, collective] += 1
        name = prefix + collective
        if totals[prefix, collective] > 1:
            name += f" {number}"
        sizes = [int(r["bytes"]) for _, r in parts if r["bytes"] >= 0]
        exchanges.append(
            Exchange(
                name=name,
                collective=collective,
                label=str(row["label"]),
                emulated=bool(row["emulated"]),
                bytes=max(sizes, default=-1),
                calls={rank: _call(rank, r) for rank, r in parts},
            )
        )
    return exchanges


def _call(rank: int, row: Row) -> Call:
    return Call(
        rank=rank,
        row=int(row["row"]),
        queue=int(row["queue"]),
        ready=int(row["ready_ns"]),
        launched=int(row["launched_ns"]),
        arrival=int(row["arrival_ns"]),
        finish=int(row["finish_ns"]),
        origin=str(row["origin"]),
        during=str(row["during"]),
        on_device=bool(row["on_device"]),
    )


def local(exchanges: list[Exchange]) -> list[Exchange]:
    """Return the same exchanges, each rank's part on its own."""
    apart = []
    for exchange in exchanges:
        for rank, call in exchange.calls.items():
            name = exchange.name if not exchange.joint else f"r{rank} {exchange.name}"
            apart.append(replace(exchange, name=name, calls={rank: call}))
    return apart
