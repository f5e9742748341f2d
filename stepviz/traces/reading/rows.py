"""From JSON events to compact frames of one rank: intervals, threads, flows, collectives.

Old and new category names are made one here, so that nothing further down needs to know
which version of the profiler wrote a file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd

from stepviz.errors import TraceError
from stepviz.traces.reading.collectives import collectives, syncs
from stepviz.traces.reading.document import RawTrace
from stepviz.traces.reading.exact import LARGEST_NS, nanosecond_array
from stepviz.traces.reading.flows import flows
from stepviz.traces.reading.outliers import recording, without_impossible
from stepviz.traces.reading.words import whole, whole_or_missing

#: Older profilers and other back ends call the same things by other names.
CATEGORY: Final = {
    "Kernel": "kernel",
    "Memcpy": "gpu_memcpy",
    "Memset": "gpu_memset",
    "Runtime": "cuda_runtime",
    "Operator": "cpu_op",
    "UserAnnotation": "user_annotation",
    "concurrent_kernel": "kernel",
    "mtia_ccp_events": "kernel",
}

#: What some back ends call exchange on a device.
COLLECTIVE: Final = "collective_comm"
#: Work on a device. `cuda_sync`, `gpu_user_annotation`, `overhead` … are not work.
DEVICE: Final = frozenset({"kernel", "gpu_memcpy", "gpu_memset", COLLECTIVE})
#: Host calls into a driver or runtime: what launches device work and what waits for it.
CALLS: Final = frozenset(
    {
        "cuda_runtime",
        "cuda_driver",
        "hip_runtime",
        "xpu_runtime",
        "mtia_runtime",
        "privateuse1_runtime",
        "privateuse1_driver",
    }
)
#: Host rows that are work of a thread.
HOST: Final = CALLS | {"cpu_op", "user_annotation", "python_function"}

#: No step lasts a day; a longer event is a profiler fault (some claim 236 years).
LONGEST_EVENT_NS: Final = 24 * 3600 * 10**9

#: More ranks than this no job has.
LARGEST_WORLD: Final = 10_000_000


@dataclass(frozen=True)
class RankRows:
    """What one file says about one rank, in exact whole nanoseconds.

    `events` has a row per interval: name, cat, track, start_ns, finish_ns, correlation,
    external, sequence, fwd_thread (−1 where missing). `tracks` names threads and streams.
    `flows` joins forward operators to backward ones (forward_ns, backward_ns), `launch_flows`
    launches to device rows (host_ns, host_track, device_ns, device_track). `collectives` holds
    what the profiler said about single collectives, `syncs` what recorded waits wait for
    (stream, record_correlation), both indexed by event. `recorded` is what stepviz's own
    recorder wrote into the file, {} elsewhere.
    """

    path: Path
    rank: int
    rank_source: str
    world_size: int | None
    backend: str | None
    groups: dict[str, tuple[str, tuple[int, ...]]]
    events: pd.DataFrame
    tracks: pd.DataFrame
    flows: pd.DataFrame
    launch_flows: pd.DataFrame
    collectives: pd.DataFrame
    syncs: pd.DataFrame
    recorded: dict[str, Any]
    repairs: list[str]


def rows_of(raw: RawTrace, rank: int, rank_source: str) -> RankRows:
    """Build the frames of one file.

    Raises
    ------
    TraceError
        Where not one interval is left.
    """
    repairs = list(raw.repairs)
    base = _base_ns(raw.metadata, repairs)
    spans = [event for event in raw.events if event.get("ph") == "X"]
    events, kept = _intervals(spans, base, repairs)
    if events.empty:
        msg = f"{raw.path} holds no events with a usable time; record it again, or leave it out"
        raise TraceError(msg)
    info = raw.metadata.get("distributedInfo")
    info = info if isinstance(info, dict) else {}
    tracks, codes = _tracks(kept, raw.events, repairs)
    events.insert(2, "track", codes)
    calls = events["cat"].isin([*CALLS, "cpu_op"]).to_numpy()
    said = recording(raw.events, base)
    possible, finish = without_impossible(events, said, calls, repairs)
    events = events.assign(finish_ns=finish)[possible].reset_index(drop=True)
    kept = [event for event, stays in zip(kept, possible, strict=True) if stays]
    ids = {(str(pid), str(tid)): at for at, pid, tid in tracks[["pid", "tid"]].itertuples()}
    autograd, launched = flows(raw.events, base, ids)
    recorded = raw.metadata.get("stepviz")
    return RankRows(
        path=raw.path,
        rank=rank,
        rank_source=rank_source,
        world_size=_world_size(info, rank, repairs),
        backend=str(info["backend"]) if "backend" in info else None,
        groups=_groups(info),
        events=events,
        tracks=tracks,
        flows=autograd,
        launch_flows=launched,
        collectives=collectives(kept),
        syncs=syncs(kept),
        recorded=recorded if isinstance(recorded, dict) else {},
        repairs=repairs,
    )


def rank_of(raw: RawTrace) -> tuple[int | None, str]:
    """Return the rank of a file and where it was found (None where nothing says)."""
    info = raw.metadata.get("distributedInfo")
    if isinstance(info, dict):
        rank = whole(info.get("rank"))
        if rank is not None and 0 <= rank < LARGEST_WORLD:
            return rank, "distributedInfo"
    found = re.findall(r"rank[\s_\-.=]*(\d{1,6})(?!\d)", raw.path.name, flags=re.IGNORECASE)
    if found:
        return int(found[-1]), "file name"
    rank = _rank_by_groups(raw)
    return (None, "not said") if rank is None else (rank, "process groups")


def _rank_by_groups(raw: RawTrace) -> int | None:
    """Return the one rank that is in every process group of which this file has exchanges.

    A rank calls only collectives of groups that it belongs to; where groups cross, as those
    of data and tensor parallelism do, one rank is in all of them.
    """
    common: set[int] | None = None
    for said in {
        event["args"]["Process Group Ranks"]
        for event in raw.events
        if isinstance(event.get("args"), dict)
        and isinstance(event["args"].get("Process Group Ranks"), str)
    }:
        members = {int(word) for word in re.findall(r"\d{1,9}", said)}
        # Long lists are cut off with "..." by the profiler.
        if members and "..." not in said:
            common = members if common is None else common & members
    return common.pop() if common is not None and len(common) == 1 else None


def _world_size(info: Mapping[str, Any], rank: int, repairs: list[str]) -> int | None:
    said = info.get("world_size")
    size = whole(said)
    if said is not None and (size is None or not rank < size <= LARGEST_WORLD):
        repairs.append(f"world_size {str(said)[:40]!r} with rank {rank} is no world and left out")
        return None
    return size


def _base_ns(metadata: Mapping[str, Any], repairs: list[str]) -> int:
    base = metadata.get("baseTimeNanoseconds", 0)
    number = whole(base)
    if number is None or not 0 <= number < LARGEST_NS:
        repairs.append(f"baseTimeNanoseconds {base!r} is no time and was left out")
        return 0
    return number


def _intervals(
    spans: list[dict[str, Any]], base: int, repairs: list[str]
) -> tuple[pd.DataFrame, list[dict[str, Any]]]:
    start, start_ok = nanosecond_array([event.get("ts") for event in spans])
    duration, duration_ok = nanosecond_array([event.get("dur") for event in spans])
    negative = duration_ok & (duration < 0)
    endless = duration_ok & (duration > LONGEST_EVENT_NS)
    keep = start_ok & duration_ok & ~negative & ~endless
    for count, what in (
        (int((~start_ok).sum()), "whose start is no finite time"),
        (int((start_ok & ~duration_ok).sum()), "whose duration is no finite time"),
        (int(negative.sum()), "with a negative duration"),
        (int(endless.sum()), "lasting longer than a day"),
    ):
        if count:
            repairs.append(f"{count} {'event' if count == 1 else 'events'} {what}: dropped")
    index = np.flatnonzero(keep)
    kept = [spans[i] for i in index]
    arguments = [event["args"] if isinstance(event.get("args"), dict) else {} for event in kept]
    names = [str(event.get("name", "")) for event in kept]
    cats = [str(event.get("cat", "")) for event in kept]
    frame = pd.DataFrame(
        {
            "name": pd.Categorical(names),
            "cat": pd.Categorical([_category(cat) for cat in cats]),
            "start_ns": start[index] + base,
            "finish_ns": start[index] + duration[index] + base,
            "correlation": _column(arguments, "correlation"),
            "external": _column(arguments, "External id", "external id"),
            "sequence": _column(arguments, "Sequence number"),
            "fwd_thread": _column(arguments, "Fwd thread id"),
        }
    )
    return frame, kept


def _category(cat: str) -> str:
    # Each new back end brings its own runtime and driver.
    if cat not in CALLS and cat.endswith(("_runtime", "_driver")):
        return "cuda_runtime"
    return CATEGORY.get(cat, cat)


def _column(arguments: list[dict[str, Any]], *keys: str) -> np.ndarray[Any, np.dtype[np.int64]]:
    values = np.full(len(arguments), -1, dtype=np.int64)
    for i, args in enumerate(arguments):
        for key in keys:
            if key in args:
                values[i] = whole_or_missing(args[key])
                break
    return values


def _tracks(
    kept: list[dict[str, Any]], events: list[dict[str, Any]], repairs: list[str]
) -> tuple[pd.DataFrame, np.ndarray[Any, np.dtype[np.int64]]]:
    # pid and tid may be numbers or words ("Spans"), so the pair of texts is the key.
    codes: dict[tuple[str, str], int] = {}
    column = np.empty(len(kept), dtype=np.int64)
    odd = 0
    for i, event in enumerate(kept):
        pid, tid = event.get("pid", ""), event.get("tid", "")
        odd += not (_names_track(pid) and _names_track(tid))
        key = (str(pid), str(tid))
        column[i] = codes.setdefault(key, len(codes))
    if odd:
        noun = "event has" if odd == 1 else "events have"
        repairs.append(f"{odd} {noun} a pid or tid that is no number and no word")
    names: dict[tuple[str, str], list[str]] = {}
    for event in events:
        if event.get("ph") == "M" and event.get("name") == "thread_name":
            key = (str(event.get("pid", "")), str(event.get("tid", "")))
            args = event.get("args")
            name = str(args.get("name", "")) if isinstance(args, dict) else ""
            names.setdefault(key, []).append(name.strip())
    frame = pd.DataFrame(
        {
            "pid": [pid for pid, _ in codes],
            "tid": [tid for _, tid in codes],
            "name": [_thread_name(names.get(key, [])) for key in codes],
        }
    )
    return frame, column


def _names_track(value: object) -> bool:
    return isinstance(value, (int, str)) and not isinstance(value, bool)


def _thread_name(names: list[str]) -> str:
    # One thread may be named twice; the process's own name says the least.
    telling = [name for name in names if "(pt_" in name and "pt_main_thread" not in name]
    return (telling or names or [""])[0]


def _groups(info: Mapping[str, Any]) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Return process groups by name: their description and their ranks."""
    config = info.get("pg_config")
    groups: dict[str, tuple[str, tuple[int, ...]]] = {}
    for entry in config if isinstance(config, list) else []:
        if not isinstance(entry, dict) or "pg_name" not in entry:
            continue
        ranks = entry.get("ranks")
        members = tuple(r for r in (ranks if isinstance(ranks, list) else []) if isinstance(r, int))
        groups[str(entry["pg_name"])] = (str(entry.get("pg_desc", "")), members)
    return groups
