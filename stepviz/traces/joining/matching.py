"""Exchanges of single ranks matched over a whole run, in columns.

By the library's own sequence number within a group where every member has the same numbers
with the same names and sizes; else in order of each (step, name, size) within the group, where
every member shows equally many. What cannot be matched stays with its rank, with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from stepviz.indices import as_index
from stepviz.traces.joining.groups import Groups, Members, groups_of, ranks_said
from stepviz.traces.table import Table

IntArray = npt.NDArray[np.int64]

#: Steps of rows that belong to none.
NO_STEP: Final = np.iinfo(np.int64).min

_SENT: Final = ("send", "recv")
#: The name of a send and its receive once they are one exchange.
POINT_TO_POINT: Final = "send-recv"

#: What is said of sends and receives whose other end is not there.
UNEVEN_PAIRS: Final = "receives of two ranks"

#: Ranks may give or get unequal parts.
_UNEVEN: Final = frozenset({"all-to-all", "gather", "scatter"})

#: So much of each rank's exchanges must have its number on all others before numbers are trusted.
_MOST_NUMBERED: Final = 0.5
#: Or so much of what a rank shows that has fewer of them.
_ALMOST_ALL: Final = 0.9


@dataclass(frozen=True)
class RankCalls:
    """What the match needs of one rank: its exchanges, its steps by place, the world's size."""

    exchanges: Table
    steps: list[int]
    world_size: int | None = None


@dataclass(frozen=True)
class Match:
    """Which exchanges are one, over all ranks and steps.

    Rows are those of all ranks, one rank after the other, each in the order of its own frame:
    those of `ranks[i]` are `bounds[i]:bounds[i + 1]`. `exchange` numbers what is one (−1:
    stays with its rank), `group` the process group (−1: of one rank or unknown), `why` is a
    place in `reasons` (−1: none). `absent` says whether groups have members not in the run, or
    whose files show none of their exchanges.
    """

    ranks: IntArray
    bounds: IntArray
    exchange: IntArray
    group: IntArray
    why: IntArray
    reasons: list[str]
    members: list[Members]
    absent: bool = False

    def rows(self, rank: int) -> slice:
        """Return the rows of one rank."""
        at = int(np.searchsorted(self.ranks, rank))
        return slice(int(self.bounds[at]), int(self.bounds[at + 1]))


@dataclass(frozen=True)
class _Columns:
    """Rows of all ranks. `rank` is a place among the ranks of the run."""

    rank: IntArray
    step: IntArray
    name: IntArray
    elements: IntArray
    sequence: IntArray
    order: IntArray
    group: IntArray
    names: list[str]


class _Result:
    """What has been matched so far."""

    def __init__(self, count: int) -> None:
        self.exchange = np.full(count, -1, dtype=np.int64)
        self.why = np.full(count, -1, dtype=np.int64)
        self.reasons: list[str] = []
        self.matched = 0

    def join(self, rows: IntArray, numbers: IntArray, count: int) -> None:
        self.exchange[rows] = self.matched + numbers
        self.matched += count

    def leave(self, rows: IntArray, reason: str) -> None:
        self.why[rows] = len(self.reasons)
        self.reasons.append(reason)


def steps_of(calls: RankCalls) -> IntArray:
    """Return the step of each exchange of a rank, `NO_STEP` where it is in none."""
    steps = np.array([*calls.steps, NO_STEP], dtype=np.int64)
    place = calls.exchanges["place"]
    inside = (place >= 0) & (place < len(steps) - 1)
    return steps[np.where(inside, place, len(steps) - 1)]


def match(calls: Mapping[int, RankCalls], *, among_those_here: bool = False) -> Match:
    """Match the exchanges of all ranks.

    Parameters
    ----------
    calls
        By rank. Times are only compared within a rank.
    among_those_here
        Match exchanges of groups with members that aren't in the run, or show none, as well, among
        those that are and do: nothing then tells who was last, but all of them end at one time.
    """
    ranks = np.array(sorted(calls), dtype=np.int64)
    frames = {int(rank): calls[int(rank)].exchanges for rank in ranks}
    groups = groups_of(frames, {rank: call.world_size for rank, call in calls.items()})
    sizes = [len(frames[int(rank)]) for rank in ranks]
    bounds = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    columns = _columns(calls, ranks, groups)
    result = _Result(len(columns.rank))
    sent = np.isin(columns.name, [k for k, name in enumerate(columns.names) if name in _SENT])
    group = columns.group.copy()
    _match_sent(np.flatnonzero(sent), columns, ranks, calls, result)
    ordered = np.flatnonzero(~sent)
    ordered = ordered[np.argsort(group[ordered], kind="stable")]
    cuts = np.searchsorted(group[ordered], np.arange(len(groups.members) + 1))
    place = {int(rank): at for at, rank in enumerate(ranks)}
    silent = False
    for number, members in enumerate(groups.members):
        rows = ordered[cuts[number] : cuts[number + 1]]
        if len(members) <= 1 or not len(rows):
            continue
        reason = groups.why[number]
        here = np.unique(columns.rank[rows])
        some = len(here) > 1 and (groups.absent[number] or len(here) < len(members))
        silent = silent or some
        absent = among_those_here and some
        if reason is not None and not absent:
            result.leave(rows, reason)
            continue
        if not absent:
            here = np.array([place[m] for m in members], dtype=np.int64)
        _match_group(rows, here, columns, ranks, result)
    return Match(
        ranks,
        bounds,
        result.exchange,
        group,
        result.why,
        result.reasons,
        groups.members,
        any(groups.absent) or silent,
    )


def _columns(calls: Mapping[int, RankCalls], ranks: IntArray, groups: Groups) -> _Columns:
    parts: dict[str, list[Any]] = {
        "rank": [], "step": [], "name": [], "elements": [], "sequence": [], "order": [], "group": []
    }  # fmt: skip
    for at, rank in enumerate(ranks.tolist()):
        frame = calls[rank].exchanges
        emulated = np.where(frame["emulated"], "~", "")
        launched = frame["launched_ns"]
        arrival = frame["arrival_ns"]
        device = frame["on_device"]
        # Threads of a pool may start exchanges in another order than they were asked for.
        by_launch = len(frame) and not device.any() and (launched >= 0).all()
        parts["rank"].append(np.full(len(frame), at, dtype=np.int64))
        parts["step"].append(steps_of(calls[rank]))
        parts["name"].append(frame["collective"] + emulated.astype(object))
        parts["elements"].append(frame["elements"])
        parts["sequence"].append(frame["sequence"])
        parts["order"].append(launched if by_launch else arrival)
        codes, names = pd.factorize(frame["group"])
        numbers = np.array([groups.numbers[rank][str(n)] for n in names], dtype=np.int64)
        parts["group"].append(numbers[codes] if len(names) else np.zeros(0, dtype=np.int64))
    joined = {name: np.concatenate(found) for name, found in parts.items()}
    codes, words = pd.factorize(joined.pop("name"))
    uneven = np.isin(codes, [k for k, name in enumerate(words) if name in _UNEVEN])
    joined["elements"] = np.where(uneven, -1, joined["elements"])
    return _Columns(name=codes.astype(np.int64), names=[str(word) for word in words], **joined)


def _match_group(
    rows: IntArray, members: IntArray, columns: _Columns, ranks: IntArray, result: _Result
) -> None:
    numbered = _by_sequence(rows, len(members), columns)
    whole = numbered is not None and numbered[2]
    if numbered is not None and whole:
        result.join(*numbered[:2], int(numbered[1].max()) + 1)
        return
    trial = _Result(len(columns.rank))
    inside = rows[columns.step[rows] != NO_STEP]
    _by_order(inside, members, columns, ranks, trial)
    if numbered is not None and (trial.why[inside] >= 0).any():
        # Numbers tell more than counts where some exchanges are missing on some rank.
        mine, numbers, _ = numbered
        result.join(mine, numbers, int(numbers.max()) + 1)
        left = np.setdiff1d(inside, mine)
        if len(left):
            result.leave(left, "its sequence number is not on every rank of its group")
        return
    done = inside[trial.exchange[inside] >= 0]
    if len(done):
        result.join(done, trial.exchange[done], trial.matched)
    for at, reason in enumerate(trial.reasons):
        result.leave(inside[trial.why[inside] == at], reason)


def _by_sequence(
    rows: IntArray, count: int, columns: _Columns
) -> tuple[IntArray, IntArray, bool] | None:
    """Match by sequence number: rows, numbers of what is one, and whether those are all rows.

    None where numbers are missing or do not agree: in newer versions they count over the whole
    process, so that ranks of several groups may number one collective differently.
    """
    sequence, rank = columns.sequence[rows], columns.rank[rows]
    if (sequence < 0).any():
        return None
    order = np.lexsort((rank, sequence))
    rows, sequence, rank = rows[order], sequence[order], rank[order]
    if ((sequence[1:] == sequence[:-1]) & (rank[1:] == rank[:-1])).any():
        return None
    shown = np.unique(sequence, return_counts=True)[1]
    full = shown == count
    if not full.any():
        return None
    keep = np.repeat(full, as_index(shown))
    kept = rows[keep]
    shape = (int(full.sum()), count)
    name = columns.name[kept].reshape(shape)
    if (name != name[:, :1]).any() or _sizes_differ(columns.elements[kept].reshape(shape)).any():
        return None
    per_rank = np.bincount(as_index(rank))
    fewest = per_rank[per_rank > 0].min()
    if _MOST_NUMBERED * per_rank.max() > shape[0]:
        # A file that was cut off, or begun late, has few of them, but all of a stretch of time.
        ends = sequence[np.repeat(full, as_index(shown))][[0, -1]]
        inside = np.bincount(as_index(rank[(sequence >= ends[0]) & (sequence <= ends[1])]))
        step = columns.step[kept].reshape(shape)
        few = max(_MOST_NUMBERED * inside.max(), _ALMOST_ALL * fewest) > shape[0]
        if few or (step != step[:, :1]).any():
            return None
    return kept, np.repeat(np.arange(shape[0]), as_index(count)), bool(full.all())


def _by_order(
    rows: IntArray, members: IntArray, columns: _Columns, ranks: IntArray, result: _Result
) -> None:
    """Match the k-th exchange of a name in a step on one rank with the k-th on the others."""
    key, keys = _one_key(columns.step[rows], columns.name[rows])
    even = _equal_counts(rows, key, keys, members, columns, ranks, result)
    rows, key = rows[even[key]], key[even[key]]
    if not len(rows):
        return
    order = np.lexsort((columns.order[rows], key, columns.rank[rows]))
    rows, key = rows[order], key[order]
    table = rows.reshape(len(members), -1)
    apart = _sizes_differ(columns.elements[table].T)
    of_column = key[: table.shape[1]]
    bad = np.unique(of_column[apart])
    good = ~np.isin(of_column, bad)
    taken = table[:, good]
    if taken.size:
        numbers = np.tile(np.arange(taken.shape[1]), len(members))
        result.join(taken.reshape(-1), numbers, taken.shape[1])
    for one in bad.tolist():
        part = table[:, of_column == one]
        _by_size(part, apart[of_column == one], members, columns, ranks, result)


def _by_size(
    table: IntArray,
    apart: npt.NDArray[np.bool_],
    members: IntArray,
    columns: _Columns,
    ranks: IntArray,
    result: _Result,
) -> None:
    """Match the k-th exchange of each size where ranks show them in another order."""
    rows = table.reshape(-1)
    sizes, key = np.unique(columns.elements[rows], return_inverse=True)
    key = key.reshape(-1).astype(np.int64)
    trial = _Result(len(columns.rank))
    even = _equal_counts(rows, key, len(sizes), members, columns, ranks, trial)
    if sizes[0] < 0 or not even.all():
        k = int(np.flatnonzero(apart)[0])
        known = sorted({int(n) for n in columns.elements[table[:, k]] if n >= 0})
        shown = ", ".join(map(str, known[:6])) + (", …" if len(known) > 6 else "")
        result.leave(rows, f"the ranks differ in the size of number {k}: [{shown}] elements")
        return
    order = np.lexsort((columns.order[rows], key, columns.rank[rows]))
    count = table.shape[1]
    result.join(rows[order], np.tile(np.arange(count), len(members)), count)


def _equal_counts(
    rows: IntArray,
    key: IntArray,
    keys: int,
    members: IntArray,
    columns: _Columns,
    ranks: IntArray,
    result: _Result,
) -> npt.NDArray[np.bool_]:
    """Say of which keys every member shows equally many; leave the rest, with the reason."""
    at = np.searchsorted(members, columns.rank[rows])
    counts = np.bincount(as_index(at * keys + key), minlength=len(members) * keys)
    counts = counts.reshape(len(members), keys)
    even: npt.NDArray[np.bool_] = (counts == counts[:1]).all(axis=0)
    for bad in np.flatnonzero(~even).tolist():
        shown = counts[:, bad]
        absent = ranks_said(ranks[members[shown == 0]].tolist())
        reason = f"{absent} without any in this step"
        if not absent:
            said = [f"{n} on rank {ranks[m]}" for n, m in zip(shown, members, strict=True)]
            few = ", ".join(said[:6]) + (", …" if len(said) > 6 else "")
            reason = f"the ranks differ in how many they show: {few}"
        result.leave(rows[key == bad], reason)
    return even


def _one_key(*columns: IntArray) -> tuple[IntArray, int]:
    """Return one number for each different row of several columns, in order, and how many."""
    key, count = np.zeros(len(columns[0]), dtype=np.int64), 1
    for column in columns:
        codes, values = pd.factorize(column, sort=True)
        codes, found = pd.factorize(key * max(len(values), 1) + codes, sort=True)
        key, count = codes.astype(np.int64), len(found)
    return key, count


def _sizes_differ(elements: IntArray) -> npt.NDArray[np.bool_]:
    """Say for each row of a table of sizes whether the known ones differ."""
    largest = elements.max(axis=1)
    known = np.where(elements >= 0, elements, largest[:, None])
    differ: npt.NDArray[np.bool_] = known.min(axis=1) != largest
    return differ


def _match_sent(
    rows: IntArray,
    columns: _Columns,
    ranks: IntArray,
    calls: Mapping[int, RankCalls],
    result: _Result,
) -> None:
    """Match the k-th send from one rank to another in a step with the k-th receive there."""
    if not len(rows):
        return
    peers = np.concatenate([calls[int(r)].exchanges["peer"] for r in ranks])
    peer = peers[rows]
    known = np.isin(peer, ranks)
    if (peer < 0).any():
        said = "sent between two ranks, and the file does not say which"
        result.leave(rows[peer < 0], said)
    for other in np.unique(peer[(peer >= 0) & ~known]).tolist():
        reason = f"rank {other}, at the other end, is not in this run, so its wait is unknown"
        result.leave(rows[peer == other], reason)
    rows, peer = rows[known], peer[known]
    rows, peer = (part[columns.step[rows] != NO_STEP] for part in (rows, peer))
    if not len(rows):
        return
    mine = ranks[columns.rank[rows]]
    sends = np.array([columns.names[k] == "send" for k in columns.name[rows]])
    source, target = np.where(sends, mine, peer), np.where(sends, peer, mine)
    key, keys = _one_key(columns.step[rows], source, target, columns.group[rows])
    counts = np.bincount(as_index(key * 2 + sends), minlength=2 * keys).reshape(-1, 2)
    order = np.lexsort((columns.order[rows], ~sends, key))
    uneven = counts[:, 0] != counts[:, 1]
    bounds = np.concatenate(([0], np.cumsum(counts.sum(axis=1))))
    for at in range(keys):
        part = rows[order[bounds[at] : bounds[at + 1]]]
        half = len(part) // 2
        if uneven[at]:
            result.leave(part, f"{counts[at, 1]} sends and {counts[at, 0]} {UNEVEN_PAIRS}")
        elif _sizes_differ(columns.elements[part].reshape(2, half).T).any():
            result.leave(part, "sends and receives of two ranks differ in size")
        else:
            result.join(part, np.tile(np.arange(half), 2), half)
