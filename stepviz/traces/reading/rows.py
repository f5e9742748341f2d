"""From a file's columns to compact frames of one rank: intervals, threads, flows, collectives.

Old and new category names are made one here, so that nothing further down needs to know
which version of the profiler wrote a file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stepviz.errors import TraceError
from stepviz.traces.reading.collectives import CollectiveArgs, Syncs
from stepviz.traces.reading.columns import Columns
from stepviz.traces.reading.flows import (
    AutogradFlows,
    LaunchFlows,
    autograd_flows,
    launch_flows,
)
from stepviz.traces.reading.masks import among, of_codes
from stepviz.traces.reading.metadata import (
    base_ns,
    devices_of,
    groups_of,
    info_of,
    versions_of,
    world_size,
)
from stepviz.traces.reading.outliers import recording, without_impossible
from stepviz.traces.reading.ranks import Part, parts_of
from stepviz.traces.reading.repairs import Repairs
from stepviz.traces.reading.repairs import events as counted
from stepviz.traces.reading.track_names import Tracks, tracks_of
from stepviz.traces.reading.uncategorised import with_categories
from stepviz.traces.table import Table, Words

Int64Array = npt.NDArray[np.int64]

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

#: Categories that begin so are of rows that an exported trace adds; they were not recorded.
FOUND: Final = "stepviz:"

#: No step lasts a day; a longer event is a profiler fault (some claim 236 years).
LONGEST_EVENT_NS: Final = 24 * 3600 * 10**9


@dataclass(frozen=True)
class RankRows:
    """What one file says about one rank, in exact whole nanoseconds.

    `path` names the file, or the member of an archive. `events` has a row per interval: name,
    cat, track, start_ns, finish_ns, correlation, external, sequence, fwd_thread (−1 where
    missing). `tracks` names threads and streams.
    `flows` joins forward operators to backward ones, `launch_flows` launches to device rows.
    `collectives` holds what the profiler said about single collectives, `syncs` what recorded
    waits wait for. `recorded` is what stepviz's own recorder wrote into
    the file, {} elsewhere.
    """

    path: str
    rank: int
    rank_source: str
    world_size: int | None
    backend: str | None
    groups: dict[str, tuple[str, tuple[int, ...]]]
    devices: tuple[str, ...]
    versions: dict[str, str]
    events: Table
    tracks: Tracks
    flows: AutogradFlows
    launch_flows: LaunchFlows
    collectives: CollectiveArgs
    syncs: Syncs
    recorded: dict[str, Any]
    repairs: Repairs


def rows_of(
    columns: Columns, metadata: Mapping[str, Any], path: str, repairs: Repairs
) -> list[RankRows]:
    """Build the frames of each rank in one file; a file that names none has rank −1.

    Raises
    ------
    TraceError
        Where not one interval is left.
    """
    spans, arrows = columns.spans.take(), columns.arrows.take()
    if not spans:
        msg = (
            f"{path} holds no events with a start and a length (ph X), as the profiler writes all "
            "work; export it with torch.profiler's export_chrome_trace, or leave it out"
        )
        raise TraceError(msg)
    base = base_ns(metadata, repairs)
    parts = parts_of(columns, spans, arrows, metadata, path)
    added = of_codes([cat.startswith(FOUND) for cat in columns.cats], spans["cat"])
    if added.any():
        parts = [
            replace(part, spans=~added if part.spans is None else part.spans & ~added)
            for part in parts
        ]
    if parts[0].spans is not None:
        found = [part.spans.sum() for part in parts if part.spans is not None]
        lost = int((~added).sum() - np.sum(found))
        if lost:
            repairs.drop(lost, f"{counted(lost)} of no rank in a merged file: dropped")
    own = [repairs, *(repairs.copy() for _ in parts[1:])]
    return [
        _rank_rows(columns, spans, arrows, metadata, path, base, part, mine)
        for part, mine in zip(parts, own, strict=True)
    ]


def _rank_rows(
    columns: Columns,
    spans: dict[str, npt.NDArray[Any]],
    arrows: dict[str, npt.NDArray[Any]],
    metadata: Mapping[str, Any],
    path: str,
    base: int,
    part: Part,
    repairs: Repairs,
) -> RankRows:
    keep = _usable(spans, part, repairs)
    chosen = np.flatnonzero(keep)
    if len(chosen) == 0:
        because = f" ({'; '.join(repairs)})" if repairs else ""
        msg = (
            f"{path} holds no events with a usable time{because}; record it again, or leave it out"
        )
        raise TraceError(msg)

    def taken(name: str) -> npt.NDArray[Any]:
        # The only rank of a file needs no copy of what is left as it is.
        if part.spans is None:
            column = spans.pop(name)
            return column if keep.all() else column[chosen]
        return spans[name][chosen]

    track = taken("track")
    tracks, new_code = tracks_of(columns, track)
    start, finish = taken("start"), taken("duration")
    start += base
    finish += start
    events = Table(
        {
            "name": _words(columns.names, taken("name")),
            "cat": _words(columns.cats, taken("cat"), category),
            "track": new_code[track],
            "start_ns": start,
            "finish_ns": finish,
            "correlation": taken("correlation"),
            "external": taken("external"),
            "sequence": taken("sequence"),
            "fwd_thread": taken("fwd_thread"),
        }
    )
    categories = with_categories(events, tracks, columns.process_names)
    if categories is not None:
        events = events.assign(cat=categories)
    calls = among(events["cat"], {*CALLS, "cpu_op"})
    said = recording(events, columns.marks, base, part.rank)
    possible, ends = without_impossible(events, said, calls, repairs)
    if ends is not None:
        events = events.assign(finish_ns=ends)
    if not possible.all():
        events = events.take(possible)
        chosen = chosen[possible]
    place = np.full(len(keep), -1, dtype=np.int64)
    place[chosen] = np.arange(len(chosen))
    mine = {
        name: column if part.arrows is None else column[part.arrows]
        for name, column in arrows.items()
    }
    if mine:
        mine["track"] = new_code[mine["track"]]
    rank = -1 if part.rank is None else part.rank
    info = info_of(metadata, rank)
    recorded = metadata.get("stepviz")
    return RankRows(
        path=path,
        rank=rank,
        rank_source=part.source,
        world_size=world_size(info, max(rank, 0), repairs),
        backend=str(info["backend"]) if "backend" in info else None,
        groups=groups_of(info),
        devices=devices_of(metadata),
        versions=versions_of(metadata, info),
        events=events,
        tracks=tracks,
        flows=autograd_flows(mine, columns.cats, base),
        launch_flows=launch_flows(mine, columns.cats, base),
        collectives=CollectiveArgs.of(_at(columns.collectives, place)),
        syncs=Syncs.of(_at(columns.syncs, place)),
        recorded=recorded if isinstance(recorded, dict) else {},
        repairs=repairs,
    )


def _usable(
    spans: Mapping[str, npt.NDArray[Any]], part: Part, repairs: Repairs
) -> npt.NDArray[np.bool_]:
    """Return which intervals of a rank have times that can be, and note the others."""
    start_ok, duration_ok, duration = spans["start_ok"], spans["duration_ok"], spans["duration"]
    own = np.ones(len(start_ok), dtype=np.bool_) if part.spans is None else part.spans
    negative = duration_ok & (duration < 0)
    endless = duration_ok & (duration > LONGEST_EVENT_NS)
    for bad, what in (
        (~start_ok, "whose start is no finite time"),
        (start_ok & ~duration_ok, "whose duration is no finite time"),
        (negative, "with a negative duration"),
        (endless, "lasting longer than a day"),
    ):
        count = int((own & bad).sum())
        if count:
            repairs.drop(count, f"{counted(count)} {what}: dropped")
    usable: npt.NDArray[np.bool_] = own & start_ok & duration_ok & ~negative & ~endless
    return usable


def category(cat: str) -> str:
    """Return the newest name of a category."""
    # Each new back end brings its own runtime and driver.
    if cat not in CALLS and cat.endswith(("_runtime", "_driver")):
        return "cuda_runtime"
    return CATEGORY.get(cat, cat)


def _words(
    codes: Mapping[str, int],
    column: npt.NDArray[Any],
    rename: Callable[[str], str] | None = None,
) -> Words:
    """Return a column of numbered words, those that occur in order."""
    used = np.zeros(len(codes), dtype=np.bool_)
    used[column] = True
    words = list(codes) if rename is None else [rename(word) for word in codes]
    known = sorted(set(compress(words, used.tolist())))
    place = {word: at for at, word in enumerate(known)}
    recoded = np.array(
        [place.get(word, -1) for word in words], dtype=np.min_scalar_type(-1 - len(known))
    )
    return Words(recoded[column], known)


def _at(said: Mapping[int, Any], place: Int64Array) -> dict[int, Any]:
    """Return what was said of rows that stayed, by their new place."""
    return {int(place[row]): value for row, value in said.items() if place[row] >= 0}
