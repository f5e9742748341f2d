"""Process groups over ranks: who belongs to which, whatever each rank's file calls it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

import numpy as np
import pandas as pd

from stepviz.traces.table import Table

#: Names of the group of all ranks, where the file does not list its members.
_WORLD: Final = frozenset({"0", "default_pg"})

#: What has a stream for each pair of ranks.
_SENT: Final = ("send", "recv", "send-recv")

#: Ranks of a group; a range where they are 0, 1, …, so that no large world is written out.
Members = range | tuple[int, ...]


@dataclass(frozen=True)
class Groups:
    """Groups of a run by number: their members, why their rows stay local; numbers by name.

    `absent` says whether that is because members are not in the run. `numbers` has, by rank and
    by the name that its file uses, the number of the group.
    """

    members: list[Members]
    why: list[str | None]
    absent: list[bool]
    numbers: dict[int, dict[str, int]]


def groups_of(exchanges: Mapping[int, Table], worlds: Mapping[int, int | None]) -> Groups:
    """Find the groups of a run by their members.

    Two ranks may call one group by two names; two groups may have the same members, and are
    then told apart by the order of their names. Where no file names any group, all are one, unless
    a rank's device serves its collectives on several streams: a group has one of its own.

    Parameters
    ----------
    exchanges
        By rank (see `exchanges.COLUMNS`).
    worlds
        By rank, how many ranks its file says there are.
    """
    said: dict[int, dict[str, Members | None]] = {}
    sizes: dict[tuple[int, str], int] = {}
    for rank, frame in exchanges.items():
        said[rank] = {}
        for name, members, size in _first_of_each(frame):
            said[rank][name] = _members(members, name, size, rank, worlds[rank])
            sizes[rank, name] = size
    showing: dict[str, list[int]] = defaultdict(list)
    for rank, names in said.items():
        for name, found in names.items():
            if found is None:
                showing[name].append(rank)
    by_members: dict[Members, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    unknown: set[Members] = set()
    nameless = all(set(names) <= {""} for names in said.values())
    several = nameless and any(_on_several_streams(frame) for frame in exchanges.values())
    for rank, names in said.items():
        for name, found in names.items():
            known = canonical(exchanges) if several else found
            if several:
                unknown.add(canonical(exchanges))
            if known is None:
                known = _guessed(showing[name], sizes[rank, name], exchanges)
                if known is None:
                    known = canonical(showing[name])
                    unknown.add(known)
            by_members[known][rank].append(name)
    return _numbered(by_members, unknown, exchanges)


def canonical(ranks: Iterable[int]) -> Members:
    """Return the same members in one form, however they were listed."""
    members = tuple(sorted(set(ranks)))
    whole = range(len(members))
    if members and members[0] == 0 and members[-1] == len(members) - 1:
        return whole
    return members


def ranks_said(ranks: Iterable[int]) -> str:
    """Name a few of many ranks without counting them all: a world may be large."""
    few = list(islice(ranks, 7))
    shown = ", ".join(str(rank) for rank in few[:6]) + (", …" if len(few) > 6 else "")
    if not few:
        return ""
    return f"rank {shown} is" if len(few) == 1 else f"ranks {shown} are"


def _first_of_each(frame: Table) -> list[tuple[str, Any, int]]:
    """Return of each group a rank names what its first rows say: name, members, size."""
    codes, names = pd.factorize(frame["group"])
    members = frame["members"]
    sizes = np.full(len(names), -1, dtype=np.int64)
    np.maximum.at(sizes, codes, frame["group_size"])
    told = np.flatnonzero(np.array([said is not None for said in members], dtype=bool))
    first = dict(zip(codes[told][::-1].tolist(), told[::-1].tolist(), strict=True))
    return [
        (str(name), members[first[k]] if k in first else None, int(sizes[k]))
        for k, name in enumerate(names)
    ]


def _on_several_streams(frame: Table) -> bool:
    """Say whether collectives of which a device's rows say nothing may be of several groups."""
    untold = np.array([said is None for said in frame["members"]], dtype=bool)
    untold &= frame["on_device"].astype(bool) & (frame["group_size"] < 0)
    untold &= ~np.isin(frame["collective"].astype(str), _SENT)
    return len(np.unique(frame["queue"][untold])) > 1


def _members(said: Any, name: str, size: int, rank: int, world: int | None) -> Members | None:
    """Return who belongs to a group: what the file says, else the world; None where unknown."""
    # Some writers number the ranks of a group from 0, whoever they are.
    if said is not None and len(said) and rank in said:
        return canonical(said)
    if world is not None and (size == world or name in _WORLD or (size < 0 and not name)):
        return range(world)
    return None


def _guessed(showing: list[int], size: int, ranks: Collection[int]) -> Members | None:
    if size < 0 or size == len(ranks) or len(ranks) == 1:
        return canonical(ranks)
    return canonical(showing) if len(showing) == size else None


def _numbered(
    by_members: Mapping[Members, Mapping[int, list[str]]],
    unknown: set[Members],
    ranks: Collection[int],
) -> Groups:
    groups = Groups([], [], [], {rank: {} for rank in ranks})
    for members, names in by_members.items():
        several = max(len(found) for found in names.values())
        # The k-th name on one rank is the k-th on another: groups are made in the same order.
        first = len(groups.members)
        why = _why_local(members, ranks)
        absent = why is not None
        if members in unknown:
            why = "the files do not say which ranks are in its group"
        groups.members.extend([members] * several)
        groups.why.extend([why] * several)
        groups.absent.extend([absent and members not in unknown] * several)
        for rank, found in names.items():
            for k, name in enumerate(sorted(found, key=_by_number)):
                groups.numbers[rank][name] = first + k
    return groups


def _why_local(members: Members, ranks: Collection[int]) -> str | None:
    # A huge world is not walked through: the first few that are missing are enough.
    missing = ranks_said(m for m in members if m not in ranks)
    if not missing:
        return None
    who, _, verb = missing.rpartition(" ")
    return f"{who} of its group {verb} not in this run, so its wait is unknown"


def _by_number(name: str) -> tuple[int, int, str]:
    return (0, int(name), name) if name.isdecimal() else (1, 0, name)
