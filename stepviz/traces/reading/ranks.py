"""Whose trace a file is: of one rank, or of several that somebody merged into one file.

Tools that merge write the rank into every event, into the names of the processes, or into the
process ids themselves ("[TP01] 4711"); ids of calls then collide between ranks.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stepviz.traces.reading.collectives import NOTHING_SAID
from stepviz.traces.reading.columns import Columns
from stepviz.traces.reading.sources import DIGITS, INSIDE, RANK_FOLDER
from stepviz.traces.reading.words import whole

#: More ranks than this no job has.
LARGEST_WORLD: Final = 10_000_000

_RANK: Final = re.compile(
    r"(?:(?<![a-z])|(?<=global)|(?<=world)|(?<=local))rank[\s_\-.=:#\[(]*(\d{1,7})(?!\d)",
    re.IGNORECASE,
)
#: Words before it that make it a rank among some only: of a machine, of one kind of parallelism.
_SOME: Final = re.compile(r"(?:^|[^a-z])(?:local|node|group|[tdpcem]p)[\s_\-.]*$", re.IGNORECASE)
#: As the examples of torch.profiler name files.
_WORKER: Final = re.compile(r"(?<![a-z])worker[\s_\-.=:#\[(]*(\d{1,7})(?!\d)", re.IGNORECASE)
#: A number behind one of these counts something else.
_COUNTS: Final = re.compile(
    r"(?:step|epoch|iter|iteration|cycle|part|shard|try)[\s_\-.#]*$", re.IGNORECASE
)
#: What says a rank where only the numbers in the names of all files tell them apart.
BY_NUMBER: Final = "file name, the one number that differs"
#: Ranks of tensor, data, pipeline and expert parallelism, as a label in front of a process id.
_PARALLEL: Final = re.compile(r"^\s*\[((?:(?:TP|DP|PP|EP|CP)\d+-?)+)\]")
#: So many ns may a device row lie behind its launch, to tell whose it is.
_LONGEST_LAG_NS: Final = 10 * 10**9

_RANKS: Final = list(NOTHING_SAID).index("ranks")

#: So many of a device's rows tell who launched them.
_ENOUGH: Final = 10_000
#: A rank that could have launched so large a part of what another one could fits as well.
_AS_WELL: Final = 0.95

Spans = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Part:
    """One rank's part of a file; `spans` and `arrows` say which are its, None for all."""

    rank: int | None
    source: str
    spans: npt.NDArray[np.bool_] | None = None
    arrows: npt.NDArray[np.bool_] | None = None


def parts_of(
    columns: Columns, spans: Spans, arrows: Spans, metadata: Mapping[str, Any], path: str
) -> list[Part]:
    """Return the ranks of a file and what is theirs; rank None where nothing says it."""
    merged = _by_event(spans, arrows) or _by_process(columns, spans, arrows)
    if merged:
        return merged
    info = metadata.get("distributedInfo")
    if isinstance(info, dict):
        rank = whole(info.get("rank"))
        if rank is not None and 0 <= rank < LARGEST_WORLD:
            return [Part(rank, "distributedInfo")]
    head, chained, _ = path.partition("::")
    shown = head if chained and head.startswith(INSIDE) else path
    folder, _, name = shown.replace("\\", "/").replace("::", "/").rpartition("/")
    found = list(_RANK.finditer(name))
    whole_run = [match for match in found if not _SOME.search(name[: match.start()])]
    said = whole_run or _WORKER.findall(name)
    if said:
        last = said[-1]
        return [Part(int(last if isinstance(last, str) else last[1]), "file name")]
    named = RANK_FOLDER.fullmatch(folder.rpartition("/")[2])
    if named:
        return [Part(int(named[1]), "folder name")]
    rank = _by_groups(columns)
    if rank is None and len(found) == 1:
        return [Part(int(found[0][1]), "file name, a rank among some")]
    return [Part(rank, "not said" if rank is None else "process groups")]


def ranks_by_number(names: Sequence[str]) -> dict[str, int]:
    """Return ranks of files that differ in one number only, where those are 0, 1, 2, … of them.

    Parameters
    ----------
    names
        Of all files; {} where they tell nothing.
    """
    parts = [DIGITS.split(name) for name in names]
    if len(names) < 2 or len({tuple(part[::2]) for part in parts}) > 1:
        return {}
    columns = [[int(number) for number in column] for column in [*zip(*parts, strict=True)][1::2]]
    differ = [place for place, column in enumerate(columns) if len(set(column)) > 1]
    if len(differ) != 1 or sorted(columns[differ[0]]) != list(range(len(names))):
        return {}
    if _COUNTS.search(parts[0][2 * differ[0]]):
        return {}
    return dict(zip(names, columns[differ[0]], strict=True))


def _by_event(spans: Spans, arrows: Spans) -> list[Part]:
    """Return a part per rank where the events of several say whose they are."""
    ranks = np.unique(spans["rank"][spans["rank"] >= 0])
    if len(ranks) < 2:
        return []
    return [
        Part(
            int(rank),
            "merged file, rank of each event",
            spans["rank"] == rank,
            arrows["rank"] == rank if arrows else None,
        )
        for rank in ranks
    ]


def _by_process(columns: Columns, spans: Spans, arrows: Spans) -> list[Part]:
    """Return a part per rank where processes of several are labelled."""
    pids = list(dict.fromkeys(pid for pid, _ in columns.tracks))
    found = {pid: _rank_of_process(pid, columns) for pid in pids}
    said = {pid: label for pid, label in found.items() if label is not None}
    labels = sorted(set(said.values()))
    if len(labels) < 2:
        return []
    # Several kinds of parallelism together make no number: their order does.
    numbers = [number for number, _ in labels]
    alone = len(set(numbers)) == len(labels) and min(numbers) >= 0
    rank_of = {label: label[0] if alone else place for place, label in enumerate(labels)}
    source = "merged file, process names" if alone else "merged file, order of its process names"
    # A thread's number is that of its process; -1 for one that says no rank.
    of_pid = {pid: rank_of[said[pid]] if pid in said else -1 for pid in pids}
    of_track = np.array([of_pid[pid] for pid, _ in columns.tracks], dtype=np.int64)
    place = {pid: at for at, pid in enumerate(pids)}
    pid_of_track = np.array([place[pid] for pid, _ in columns.tracks], dtype=np.int64)
    _adopt(of_track, pid_of_track, spans)
    return [
        Part(
            rank,
            source,
            of_track[spans["track"]] == rank,
            of_track[arrows["track"]] == rank if arrows else None,
        )
        for rank in sorted(rank_of.values())
    ]


def _rank_of_process(pid: int | str, columns: Columns) -> tuple[int, str] | None:
    """Return a number and a label of the rank that a process says it is, None where it does not."""
    for words in (str(pid), *columns.process_names.get(pid, [])):
        found = _PARALLEL.match(words)
        if found:
            numbers = re.findall(r"\d+", found[1])
            return (int(numbers[0]) if len(numbers) == 1 else -1, found[1])
        rank = _RANK.search(words)
        if rank:
            return int(rank[1]), ""
    return None


def _adopt(
    of_track: npt.NDArray[np.int64], pid_of_track: npt.NDArray[np.int64], spans: Spans
) -> None:
    """Give processes that say no rank, such as devices, to the rank that launched their rows."""
    rank = of_track[spans["track"]]
    pid = pid_of_track[spans["track"]]
    known = np.flatnonzero((rank >= 0) & (spans["correlation"] >= 0))
    order = known[np.lexsort((spans["start"][known], spans["correlation"][known]))]
    ids = spans["correlation"][order]
    adopted: Counter[int] = Counter()
    for mine in np.unique(pid[rank < 0]):
        rows = np.flatnonzero((pid == mine) & (spans["correlation"] >= 0))[:_ENOUGH]
        low = np.searchsorted(ids, spans["correlation"][rows], side="left")
        high = np.searchsorted(ids, spans["correlation"][rows], side="right")
        votes: Counter[int] = Counter()
        for row, first, end in zip(rows, low, high, strict=True):
            calls = order[first:end]
            lag = spans["start"][row] - spans["start"][calls]
            votes.update(set(rank[calls[(lag >= 0) & (lag < _LONGEST_LAG_NS)]].tolist()))
        if votes:
            # Ids collide between ranks: where several fit as well, each has a device of its own.
            most = max(votes.values())
            fitting = sorted(r for r, count in votes.items() if count >= _AS_WELL * most)
            owner = min(fitting, key=lambda r: (adopted[r], r))
            adopted[owner] += 1
            of_track[(pid_of_track == mine) & (of_track < 0)] = owner


def _by_groups(columns: Columns) -> int | None:
    """Return the one rank that is in every process group of which this file has exchanges.

    A rank calls only collectives of groups that it belongs to; where groups cross, as those
    of data and tensor parallelism do, one rank is in all of them.
    """
    common: set[int] | None = None
    for members in {said[_RANKS] for said in columns.collectives.values()} - {None}:
        common = set(members) if common is None else common & set(members)
    return common.pop() if common is not None and len(common) == 1 else None
