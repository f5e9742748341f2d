"""The exchanges of one rank: when each was ready, arrived and ended, and what it was.

An exchange is ready when the work that fills its buffer has run, arrives when this rank
starts taking part, and ends when this rank is done with it. Waiting for the other ranks is
inside; only the join over ranks (see `joins`) tells wait from transfer.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from stepviz.traces.classifying.patterns import (
    BUCKET,
    EXCHANGE_EMULATED,
    EXCHANGE_HOST,
    LAUNCH,
    NCCL_REGION,
    collective_name,
    kernel_collective,
)
from stepviz.traces.reading.rows import DEVICE, RankRows

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
)

#: What the profiler said about single collectives, by row.
Arguments = dict[int, dict[str, Any]]

_ITEM_BYTES: Final = {
    "float": 4,
    "c10::half": 2,
    "c10::bfloat16": 2,
    "half": 2,
    "bfloat16": 2,
    "double": 8,
    "long": 8,
    "int": 4,
    "char": 1,
    "byte": 1,
}


def exchanges_of(rows: RankRows, events: pd.DataFrame) -> pd.DataFrame:
    """Return the exchanges of a rank in order of arrival (columns: see `COLUMNS`).

    Parameters
    ----------
    rows
        The rank as read.
    events
        Its rows with kind, parent, launcher and place.
    """
    chosen = np.flatnonzero((events["kind"] == "exchange").to_numpy())
    start = events["start_ns"].to_numpy()
    chosen = chosen[np.argsort(start[chosen], kind="stable")]
    device = events["cat"].isin(list(DEVICE)).to_numpy()
    on_device = chosen[device[chosen]]
    on_host = chosen[~device[chosen]]
    arguments: Arguments = rows.collectives.to_dict("index")  # type: ignore[assignment]  # rows
    records = _device_records(rows, events, on_device, arguments)
    records += _host_records(rows, events, on_host, arguments)
    frame = pd.DataFrame(records, columns=list(COLUMNS))
    return frame.sort_values(["arrival_ns", "row"], kind="stable").reset_index(drop=True)


def _device_records(
    rows: RankRows, events: pd.DataFrame, chosen: npt.NDArray[np.int64], arguments: Arguments
) -> list[dict[str, Any]]:
    start = events["start_ns"].to_numpy()
    finish = events["finish_ns"].to_numpy()
    launcher = events["launcher"].to_numpy()
    place, track = events["place"].to_numpy(), events["track"].to_numpy()
    kind = events["kind"].astype(object).to_numpy()
    device = events["cat"].isin(list(DEVICE)).to_numpy()
    compute = np.flatnonzero(device & (events["kind"] != "exchange").to_numpy())
    launched = compute[launcher[compute] >= 0]
    launched = launched[np.argsort(start[launcher[launched]], kind="stable")]
    launch_times = start[launcher[launched]]
    ends = np.sort(finish[compute])
    records = []
    for row in chosen.tolist():
        arrival = int(start[row])
        ready, origin = None, "inferred"
        call = int(launcher[row])
        if call >= 0:
            # The communication stream waits for what the compute stream had been given
            # before this launch: the last such row is what filled the buffer.
            at = int(np.searchsorted(launch_times, start[call], side="left")) - 1
            if at >= 0 and finish[launched[at]] <= arrival:
                ready, origin = int(finish[launched[at]]), "recorded"
        if ready is None:
            at = int(np.searchsorted(ends, arrival, side="right")) - 1
            ready = int(ends[at]) if at >= 0 else arrival
        said = arguments.get(row)
        name = str(events["name"].iat[row])
        word = said["collective"] if said is not None else _region_collective(events, call)
        records.append(
            _record(
                rows,
                said,
                row=row,
                collective=collective_name(word) if word else kernel_collective(name),
                emulated=False,
                place=int(place[row]),
                queue=int(track[row]),
                ready_ns=ready,
                launched_ns=int(start[call]) if call >= 0 else -1,
                arrival_ns=arrival,
                finish_ns=int(finish[row]),
                origin=origin,
                during=str(kind[call]) if call >= 0 else "other",
                on_device=True,
            )
        )
    return records


def _host_records(
    rows: RankRows, events: pd.DataFrame, chosen: npt.NDArray[np.int64], arguments: Arguments
) -> list[dict[str, Any]]:
    if len(chosen) == 0:
        return []
    start, finish = events["start_ns"].to_numpy(), events["finish_ns"].to_numpy()
    place, track = events["place"].to_numpy(), events["track"].to_numpy()
    kind = events["kind"].astype(object).to_numpy()
    names = events["name"].astype(object).to_numpy()
    waiting = _launches(events)
    records = []
    for row in chosen.tolist():
        name = str(names[row])
        said = arguments.get(row)
        emulated = EXCHANGE_EMULATED.match(name)
        if emulated:
            key = f"bucket {emulated['bucket']}"
            word, size = "all_reduce", int(emulated["bytes"] or -1)
        else:
            found = EXCHANGE_HOST.match(name)
            word, size = (found["collective"] if found else name), -1
            key = collective_name(word)
        launch = _take(waiting[key], start, row, _elements(said), arguments)
        during = str(kind[launch]) if launch >= 0 else "other"
        record = _record(
            rows,
            said,
            row=row,
            collective=collective_name(word),
            emulated=bool(emulated),
            place=int(place[launch if launch >= 0 else row]),
            queue=int(track[row]),
            ready_ns=int(start[launch]) if launch >= 0 else int(start[row]),
            launched_ns=int(start[launch]) if launch >= 0 else -1,
            arrival_ns=int(start[row]),
            finish_ns=int(finish[row]),
            origin="recorded" if launch >= 0 else "inferred",
            during=during,
            on_device=False,
        )
        if size >= 0:
            record["bytes"] = size
        records.append(record)
    return records


def _launches(events: pd.DataFrame) -> dict[str, deque[int]]:
    """Return the host rows that launch exchanges, in order, by what they launch."""
    waiting: dict[str, deque[int]] = defaultdict(deque)
    names = events["name"]
    for pattern in (LAUNCH, BUCKET):
        known = [str(c) for c in names.cat.categories if pattern.match(str(c))]
        found = events.index[names.isin(known)]
        for row in found[np.argsort(events["start_ns"].to_numpy()[found], kind="stable")]:
            match = pattern.match(str(names.iat[row]))
            if match is None:
                continue
            words = match.groupdict()
            key = f"bucket {words['bucket']}" if "bucket" in words else None
            waiting[key or collective_name(words["collective"])].append(int(row))
    return waiting


def _take(
    queue: deque[int],
    start: npt.NDArray[np.int64],
    row: int,
    elements: int,
    arguments: Arguments,
) -> int:
    """Take the launch of one exchange: the first that fits in size and was not later.

    No id joins the two rows; the k-th by launch is the k-th by start with equal sizes.
    """
    for at, launch in enumerate(queue):
        if start[launch] > start[row]:
            break
        there = _elements(arguments.get(launch))
        if elements < 0 or there < 0 or there == elements:
            del queue[at]
            return launch
    return -1


def _region_collective(events: pd.DataFrame, call: int) -> str | None:
    """Return the collective that an annotation around the launch names."""
    parent = events["parent"].to_numpy()
    names = events["name"]
    row = call
    while row >= 0:
        name = str(names.iat[row])
        found = NCCL_REGION.match(name) or LAUNCH.match(name)
        if found:
            return str(found["collective"])
        row = int(parent[row])
    return None


def _record(rows: RankRows, said: Mapping[str, Any] | None, **values: Any) -> dict[str, Any]:
    group = str(said["group"]) if said is not None else ""
    if not group and len(rows.groups) == 1:
        group = next(iter(rows.groups))
    label = str(said["description"]) if said is not None else ""
    label = label or rows.groups.get(group, ("", ()))[0] or group
    elements = _elements(said)
    item = _ITEM_BYTES.get(str(said["dtype"]).lower(), -1) if said is not None else -1
    size = elements * item if elements >= 0 and item > 0 else -1
    return {"group": group, "label": label, "elements": elements, "bytes": size, **values}


def _elements(said: Mapping[str, Any] | None) -> int:
    return int(said["elements"]) if said is not None else -1
