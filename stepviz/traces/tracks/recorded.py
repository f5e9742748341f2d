"""Tracks of what was recorded: the rows of one rank that a step shows, as they were."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from stepviz.traces.rank_trace import RankStep
from stepviz.traces.reading.rows import DEVICE, HOST
from stepviz.traces.reading.track_names import Tracks
from stepviz.traces.tracks.naming import process_of
from stepviz.traces.tracks.writer import EventWriter, IntArray, arrow, head

BoolArray = npt.NDArray[np.bool_]

#: What the profiler calls what `RankRows.events` calls otherwise, as args of a row.
_ARGS: Final = {
    "correlation": "correlation",
    "external": "External id",
    "sequence": "Sequence number",
    "fwd_thread": "Fwd thread id",
}
_COLLECTIVE_ARGS: Final = {
    "collective": "Collective name",
    "group": "Process Group Name",
    "description": "Process Group Description",
    "elements": "In msg nelems",
    "out_elements": "Out msg nelems",
    "dtype": "dtype",
    "group_size": "Group size",
    "sequence": "Seq",
    "src_rank": "Src Rank",
    "dst_rank": "Dst Rank",
    "ranks": "Process Group Ranks",
}
_SYNC_ARGS: Final = {
    "stream": "wait_on_stream",
    "record_correlation": "wait_on_cuda_event_record_corr_id",
}


#: Names of arrows as the profiler writes them.
_LAUNCH: Final = "ac2g"
_AUTOGRAD: Final = "fwdbwd"


def selected(part: RankStep, low: int, high: int) -> pd.DataFrame:
    """Return the rows that overlap the step's window, and this step's host rows before it.

    A host that runs ahead of its device launched what the window shows.
    """
    events = part.events
    start, finish = events["start_ns"].to_numpy(), events["finish_ns"].to_numpy()
    shown = (start < high) & (finish > low) | (start == finish) & (low <= start) & (start <= high)
    host = events["cat"].isin(list(HOST)).to_numpy()
    shown |= host & (events["place"].to_numpy() == part.place)
    # The profiler's own span says nothing of the step, and would stretch the trace to its start.
    shown &= (events["cat"] != "Trace").to_numpy()
    rows: pd.DataFrame = events[shown]
    return rows


def write_rows(writer: EventWriter, rank: int, part: RankStep, rows: pd.DataFrame) -> None:
    """Write rows on their threads and streams, with arrows from launches and of autograd."""
    start = rows["start_ns"].to_numpy(dtype=np.int64)
    finish = rows["finish_ns"].to_numpy(dtype=np.int64)
    heads, args = _heads(rows), _args(part, rows)
    arrows: dict[int, list[str]] = {}
    _launches(writer, rows, start, arrows)
    _autograd(writer, part, rows, start, arrows)
    device = rows["cat"].isin(list(DEVICE)).to_numpy()
    work = device | rows["cat"].isin(list(HOST)).to_numpy()
    track = rows["track"].to_numpy()
    for name, chosen in _tracks(part, track, device, work):
        at = np.flatnonzero(chosen)
        writer.slices(
            process_of(rank),
            name,
            start[at],
            finish[at],
            [heads[k] for k in at],
            [args[k] for k in at],
            {place: arrows[k] for place, k in enumerate(at.tolist()) if k in arrows},
        )


def _heads(rows: pd.DataFrame) -> list[str]:
    names, cats = rows["name"].cat, rows["cat"].cat
    written: dict[tuple[int, int], str] = {}
    found = []
    for pair in zip(names.codes.tolist(), cats.codes.tolist(), strict=True):
        if pair not in written:
            name, cat = str(names.categories[pair[0]]), str(cats.categories[pair[1]])
            written[pair] = head(name, cat)
        found.append(written[pair])
    return found


def _args(part: RankStep, rows: pd.DataFrame) -> list[str]:
    """Return each row's arguments as JSON, under the profiler's own names."""
    texts = [f'"kind":"{kind}"' for kind in rows["kind"].astype(str)]
    for column, key in _ARGS.items():
        for at, value in enumerate(rows[column].tolist()):
            if value >= 0:
                texts[at] += f',"{key}":{value}'
    places = {row: at for at, row in enumerate(rows.index.tolist())}
    calls, syncs = part.rows.collectives, part.rows.syncs
    for row, columns, keys in (
        (calls.row, calls.columns, _COLLECTIVE_ARGS),
        (syncs.row, vars(syncs), _SYNC_ARGS),
    ):
        here = np.flatnonzero(np.isin(row, rows.index.to_numpy()))
        values = [[_plain(value) for value in columns[name][here].tolist()] for name in keys]
        for one, *said in zip(row[here].tolist(), *values, strict=True):
            pairs = zip(keys.values(), said, strict=True)
            known = {key: value for key, value in pairs if value is not None}
            if known:
                texts[places[one]] += f",{json.dumps(known)[1:-1]}"
    return texts


def _plain(value: Any) -> Any:
    """Return what JSON can say of an argument, None where it is missing."""
    if isinstance(value, tuple):
        return str(list(value))
    if isinstance(value, (int, np.integer)):
        return int(value) if value >= 0 else None
    return value or None


def _launches(
    writer: EventWriter, rows: pd.DataFrame, start: IntArray, arrows: dict[int, list[str]]
) -> None:
    """Add arrows from calls to the device rows they launched, of a graph to many."""
    places = {row: at for at, row in enumerate(rows.index.tolist())}
    flows: dict[int, int] = {}
    launchers = rows["launcher"].to_numpy()
    for at in np.flatnonzero(launchers >= 0).tolist():
        call = places.get(int(launchers[at]))
        # An arrow cannot end before it starts; where a row does, a clock was wrong.
        if call is None or start[at] < start[call]:
            continue
        if call not in flows:
            flows[call] = writer.flow()
            arrows.setdefault(call, []).append(arrow("s", flows[call], _LAUNCH))
        arrows.setdefault(at, []).append(arrow("f", flows[call], _LAUNCH))


def _autograd(
    writer: EventWriter,
    part: RankStep,
    rows: pd.DataFrame,
    start: IntArray,
    arrows: dict[int, list[str]],
) -> None:
    """Add arrows from forward operators to their backward ones: to the innermost at each end."""
    host = np.flatnonzero(rows["cat"].isin(list(HOST)).to_numpy())
    order = host[np.lexsort((-rows["finish_ns"].to_numpy()[host], start[host]))]
    innermost = dict(zip(start[order].tolist(), order.tolist(), strict=True))
    flows = part.rows.flows
    for forward, backward in zip(
        flows.forward_ns.tolist(), flows.backward_ns.tolist(), strict=True
    ):
        ends = innermost.get(forward), innermost.get(backward)
        if ends[0] is not None and ends[1] is not None and forward < backward:
            number = writer.flow()
            arrows.setdefault(ends[0], []).append(arrow("s", number, _AUTOGRAD))
            arrows.setdefault(ends[1], []).append(arrow("f", number, _AUTOGRAD))


def _tracks(
    part: RankStep, track: IntArray, device: BoolArray, work: BoolArray
) -> Iterator[tuple[str, BoolArray]]:
    """Yield each track's name and rows: threads, the main one first, then streams.

    Rows that are no work (annotations of a stream, waits) cross what they lie beside; they get a
    track of their own below it. Threads come first so that arrows start before they end.
    """
    names = part.rows.tracks
    streams = set(np.unique(track[device]).tolist())
    order = sorted(
        np.unique(track).tolist(), key=lambda each: (each in streams, each != part.main, each)
    )
    words = {each: _track_name(names, each, stream=each in streams) for each in order}
    double = pd.Series(list(words.values())).duplicated(keep=False)
    for each, twice in zip(order, double, strict=True):
        process = names.pid[each]
        name = f"{words[each]} of process {process}" if twice else words[each]
        here = track == each
        for suffix, chosen in (("", here & work), (" · notes", here & ~work)):
            if chosen.any():
                yield name + suffix, chosen


def _track_name(names: Tracks, track: int, *, stream: bool) -> str:
    said = names.name[track].strip()
    return said or f"{'stream' if stream else 'thread'} {names.tid[track]}"
