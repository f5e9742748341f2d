"""The exchanges of one rank: when each was ready, arrived and ended, and what it was.

An exchange is ready when the work that fills its buffer has run, arrives when this rank
starts taking part, and ends when this rank is done with it. Waiting for the other ranks is
inside; only the join over ranks (see `joins`) tells wait from transfer.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Hashable, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stepviz.traces.classifying.name_traits import Trait, traits
from stepviz.traces.classifying.patterns import (
    BUCKET,
    EXCHANGE_EMULATED,
    EXCHANGE_HOST,
    LAUNCH,
    NCCL_REGION,
    collective_name,
    kernel_collective,
)
from stepviz.traces.reading.masks import among, of_codes
from stepviz.traces.reading.rows import DEVICE, RankRows
from stepviz.traces.table import Table, Words

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

COLUMNS: Final = (
    "row",  # of the rank's events
    "collective",  # all-reduce, all-to-all, …
    "group",  # name of the process group, "" where nothing says
    "label",  # its description, for people
    "emulated",
    "elements",  # of the tensor sent, −1 where missing
    "bytes",  # −1 where missing
    "place",  # of the step that launched it
    "queue",  # the stream or thread that serves it
    "ready_ns",
    "launched_ns",  # by the host, −1 where its launch is not in the file
    "arrival_ns",
    "finish_ns",
    "origin",  # how `ready_ns` is known: recorded, inferred
    "during",  # the kind of work it was launched from
    "on_device",
    "sequence",  # its number as the library counts, −1 where missing
    "members",  # ranks of its group as the file says, None where it does not
    "group_size",  # −1 where missing
    "peer",  # of a send or receive: the other rank, −1 where missing
    "out_bytes",  # of the tensor received, −1 where missing
)

_ITEM_BYTES: Final = {
    "float": 4,
    "c10::half": 2,
    "c10::bfloat16": 2,
    "half": 2,
    "bfloat16": 2,
    "double": 8,
    "long": 8,
    "long int": 8,
    "int": 4,
    "short": 2,
    "char": 1,
    "signed char": 1,
    "byte": 1,
    "unsigned char": 1,
    "bool": 1,
    "complexfloat": 8,
    "complexdouble": 16,
}
#: All kinds of them are one byte: float8_e4m3fn, float8_e5m2, …
_EIGHT_BITS: Final = "float8"

#: Values by column, one for each exchange.
Values = dict[str, Any]


def exchanges_of(rows: RankRows, events: Table) -> Table:
    """Return the exchanges of a rank in order of arrival (columns: see `COLUMNS`).

    Parameters
    ----------
    rows
        The rank as read.
    events
        Its rows with kind, parent, launcher and place.
    """
    chosen = np.flatnonzero(among(events["kind"], ("exchange",)))
    start = events["start_ns"]
    chosen = chosen[np.argsort(start[chosen], kind="stable")]
    device = among(events["cat"], DEVICE)
    on_device = chosen[device[chosen]]
    on_host = chosen[~device[chosen]]
    parts = []
    if len(on_device) or not len(on_host):
        said = rows.collectives.for_rows(on_device)
        values = _device_values(events, on_device, device, said["collective"])
        parts.append(_columns(rows, events, on_device, said, values))
    if len(on_host):
        said = rows.collectives.for_rows(on_host)
        parts.append(_columns(rows, events, on_host, said, _host_values(rows, events, on_host)))
    columns = parts[0]
    if len(parts) > 1:
        columns = {name: np.concatenate([part[name] for part in parts]) for name in COLUMNS}
    order = np.lexsort((columns["row"], columns["arrival_ns"]))
    return Table({name: columns[name][order] for name in COLUMNS})


def _columns(
    rows: RankRows, events: Table, chosen: IntArray, said: Values, values: Values
) -> Values:
    """Join what rows and arguments say into the columns of exchanges."""
    group = said["group"]
    if len(rows.groups) == 1:
        group = np.where(group == "", next(iter(rows.groups)), group)
    members = said["ranks"]
    known = {name: ranks for name, (_, ranks) in rows.groups.items() if ranks}
    for at, listed in enumerate(members.tolist()):
        if listed is None:
            members[at] = known.get(group[at])
    words = {name: desc for name, (desc, _) in rows.groups.items()}
    label = [
        desc or words.get(name, "") or name
        for desc, name in zip(said["description"], group, strict=True)
    ]
    item = np.array([_item_bytes(word) for word in said["dtype"]], dtype=np.int64)
    size = _bytes(said["elements"], item)
    emulated: BoolArray = values["emulated"]
    sends = np.asarray(values["collective"] == "send", dtype=bool)
    peer: IntArray = said["src_rank"].copy()
    peer[sends] = said["dst_rank"][sends]
    pairs = sends | np.asarray(values["collective"] == "recv", dtype=bool)
    columns: Values = {
        "row": chosen,
        "group": group,
        "label": np.array(label, dtype=object),
        "elements": said["elements"],
        "queue": events["track"][chosen],
        "arrival_ns": events["start_ns"][chosen],
        "finish_ns": events["finish_ns"][chosen],
        "sequence": said["sequence"],
        "members": members,
        "group_size": said["group_size"],
        "peer": np.where(pairs & (peer != rows.rank), peer, -1),
        "out_bytes": _bytes(said["out_elements"], item),
        **values,
        "bytes": np.where(emulated & (values["bytes"] >= 0), values["bytes"], size),
    }
    return columns


def _words(column: Words, chosen: IntArray) -> npt.NDArray[Any]:
    """Return the words of some rows of a column of categories."""
    found: npt.NDArray[Any] = np.array(column.categories, dtype=object)[column.codes[chosen]]
    return found


def _item_bytes(dtype: str) -> int:
    word = str(dtype).lower()
    return 1 if word.startswith(_EIGHT_BITS) else _ITEM_BYTES.get(word, -1)


def _bytes(elements: IntArray, item: IntArray) -> IntArray:
    known = (elements >= 0) & (item > 0)
    # A file may claim more elements than any memory has.
    fits = known & (elements <= np.iinfo(np.int64).max // np.maximum(item, 1))
    return np.where(fits, np.where(fits, elements, 0) * item, -1)


def _device_values(
    events: Table, chosen: IntArray, device: BoolArray, said: npt.NDArray[Any]
) -> Values:
    start = events["start_ns"]
    finish = events["finish_ns"]
    launcher = events["launcher"]
    compute = np.flatnonzero(device & ~among(events["kind"], ("exchange",)))
    launched = compute[launcher[compute] >= 0]
    launched = launched[np.argsort(start[launcher[launched]], kind="stable")]
    arrival, call = start[chosen], launcher[chosen]
    given = call >= 0
    launch = np.where(given, start[np.maximum(call, 0)], -1)
    # The communication stream waits for what the compute stream had been given before this
    # launch: the last such row is what filled the buffer.
    at = np.searchsorted(start[launcher[launched]], launch, side="left") - 1
    filled = finish[launched[at]] if len(launched) else np.zeros(len(chosen), dtype=np.int64)
    recorded = given & (at >= 0) & (filled <= arrival)
    ends = np.sort(finish[compute])
    last = np.searchsorted(ends, arrival, side="right") - 1
    ended = np.where(last >= 0, ends[last], arrival) if len(ends) else arrival
    during = np.full(len(chosen), "other", dtype=object)
    during[given] = _words(events["kind"], call[given])
    names = _words(events["name"], chosen)
    by_kernel = {name: kernel_collective(str(name)) for name in dict.fromkeys(names)}
    by_word = {word: collective_name(str(word)) for word in dict.fromkeys(said) if word}
    region = _Regions(events)
    collective = np.empty(len(chosen), dtype=object)
    for k, (word, name, row) in enumerate(zip(said, names, call.tolist(), strict=True)):
        found = word or region.collective(row)
        collective[k] = (
            by_kernel[name] if not found else by_word.get(found) or collective_name(found)
        )
    return {
        "collective": collective,
        "emulated": np.zeros(len(chosen), dtype=bool),
        "bytes": np.full(len(chosen), -1),
        "place": events["place"][chosen],
        "ready_ns": np.where(recorded, filled, ended),
        "launched_ns": launch,
        "origin": np.where(recorded, "recorded", "inferred").astype(object),
        "during": during,
        "on_device": np.ones(len(chosen), dtype=bool),
    }


def _host_values(rows: RankRows, events: Table, chosen: IntArray) -> Values:
    start = events["start_ns"]
    names = _words(events["name"], chosen)
    said = rows.collectives
    elements = dict(zip(said.row.tolist(), said.columns["elements"].tolist(), strict=True))
    waiting = _launches(events)
    words, sizes = np.empty(len(chosen), dtype=object), np.full(len(chosen), -1)
    emulated = np.zeros(len(chosen), dtype=bool)
    calls = np.full(len(chosen), -1)
    for k, (row, name) in enumerate(zip(chosen.tolist(), names, strict=True)):
        fabric = EXCHANGE_EMULATED.match(str(name))
        if fabric:
            key = f"bucket {fabric['bucket']}"
            word, sizes[k], emulated[k] = "all_reduce", int(fabric["bytes"] or -1), True
        else:
            found = EXCHANGE_HOST.match(str(name))
            word = found["collective"] if found else str(name)
            key = collective_name(word)
        words[k] = collective_name(word)
        calls[k] = _take(waiting[key], start, row, elements, parts=key == "all-gather")
        if calls[k] < 0 and key == "all-reduce":
            # Gloo scatters what it has reduced by an all-reduce.
            calls[k] = _take(waiting["reduce-scatter"], start, row, elements, parts=True)
            word = word if calls[k] < 0 else "reduce_scatter"
            words[k] = collective_name(word)
    given = calls >= 0
    launch = np.where(given, start[np.maximum(calls, 0)], -1)
    during = np.full(len(chosen), "other", dtype=object)
    during[given] = _words(events["kind"], calls[given])
    return {
        "collective": words,
        "emulated": emulated,
        "bytes": sizes,
        "place": events["place"][np.where(given, calls, chosen)],
        "ready_ns": np.where(given, launch, start[chosen]),
        "launched_ns": launch,
        "origin": np.where(given, "recorded", "inferred").astype(object),
        "during": during,
        "on_device": np.zeros(len(chosen), dtype=bool),
    }


def _launches(events: Table) -> dict[str, deque[int]]:
    """Return the host rows that launch exchanges, in order, by what they launch."""
    waiting: dict[str, deque[int]] = defaultdict(deque)
    names = events["name"]
    words_of = names.categories
    told = traits(words_of)
    start = events["start_ns"]
    for pattern, trait in ((LAUNCH, Trait.LAUNCH), (BUCKET, Trait.BUCKET)):
        found = np.flatnonzero(of_codes(told & trait > 0, names.codes))
        found = found[np.argsort(start[found], kind="stable")]
        for row, code in zip(found.tolist(), names.codes[found].tolist(), strict=True):
            match = pattern.match(words_of[code])
            if match is None:
                continue
            words = match.groupdict()
            key = f"bucket {words['bucket']}" if "bucket" in words else None
            waiting[key or collective_name(words["collective"])].append(row)
    return waiting


def _take(
    queue: deque[int],
    start: IntArray,
    row: int,
    elements: Mapping[Hashable, int],
    *,
    parts: bool,
) -> int:
    """Take the launch of one exchange: the first that fits in size and was not later.

    No id joins the two rows; the k-th by launch is the k-th by start with equal sizes. With
    `parts` one may say the whole and the other a rank's part of it.
    """
    mine = elements.get(row, -1)
    for at, launch in enumerate(queue):
        if start[launch] > start[row]:
            break
        there = elements.get(launch, -1)
        shared = parts and min(mine, there) > 0 and not max(mine, there) % min(mine, there)
        if mine < 0 or there < 0 or there == mine or shared:
            del queue[at]
            return launch
    return -1


class _Regions:
    """Annotations around launches, which may name the collective that was launched."""

    def __init__(self, events: Table) -> None:
        names = events["name"]
        self._parent = events["parent"]
        self._codes = names.codes
        self._named: dict[int, str | None] = {}
        self._names = names.categories

    def collective(self, row: int) -> str | None:
        """Return the collective that the innermost telling region around a row names."""
        while row >= 0:
            code = int(self._codes[row])
            if code not in self._named:
                name = str(self._names[code])
                found = NCCL_REGION.match(name) or LAUNCH.match(name)
                self._named[code] = str(found["collective"]) if found else None
            if self._named[code]:
                return self._named[code]
            row = int(self._parent[row])
        return None
