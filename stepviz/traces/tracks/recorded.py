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
from stepviz.traces.tracks.arrows import Arrows
from stepviz.traces.tracks.naming import process_of
from stepviz.traces.tracks.writer import EventWriter, IntArray, Told, head

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
    columns = _Columns(part, rows)
    arrows = Arrows()
    _launches(writer, rows, start, arrows)
    _autograd(writer, part, rows, start, arrows)
    device = rows["cat"].isin(list(DEVICE)).to_numpy()
    work = device | rows["cat"].isin(list(HOST)).to_numpy()
    track = rows["track"].to_numpy()
    for name, chosen in _tracks(part, track, device, work):
        at = np.flatnonzero(chosen)

        def told(places: IntArray, at: IntArray = at) -> Told:
            here = at[places]
            return columns.heads(here), columns.args(here), arrows.of(here)

        writer.slices(process_of(rank), name, start[at], finish[at], told)


class _Columns:
    """What is said of rows, as JSON for some of them at a time."""

    def __init__(self, part: RankStep, rows: pd.DataFrame) -> None:
        self._names, self._cats = rows["name"].cat, rows["cat"].cat
        self._name, self._cat = self._names.codes.to_numpy(), self._cats.codes.to_numpy()
        self._kind, words = pd.factorize(rows["kind"])
        self._kinds = [f'"kind":"{word}"' for word in words.astype(str)]
        self._numbers = {key: rows[column].to_numpy() for column, key in _ARGS.items()}
        self._further = _further(part, rows)

    def heads(self, places: IntArray) -> list[str]:
        """Return names and categories."""
        written: dict[tuple[int, int], str] = {}
        found = []
        for pair in zip(self._name[places].tolist(), self._cat[places].tolist(), strict=True):
            if pair not in written:
                name, cat = self._names.categories[pair[0]], self._cats.categories[pair[1]]
                written[pair] = head(str(name), str(cat))
            found.append(written[pair])
        return found

    def args(self, places: IntArray) -> list[str]:
        """Return arguments, under the profiler's own names."""
        texts = [self._kinds[code] for code in self._kind[places].tolist()]
        for key, column in self._numbers.items():
            for at, value in enumerate(column[places].tolist()):
                if value >= 0:
                    texts[at] += f',"{key}":{value}'
        if self._further:
            for at, place in enumerate(places.tolist()):
                if place in self._further:
                    texts[at] += self._further[place]
        return texts


def _further(part: RankStep, rows: pd.DataFrame) -> dict[int, str]:
    """Return by place what only exchanges and waits say."""
    index = rows.index.to_numpy()
    found: dict[int, str] = {}
    calls, syncs = part.rows.collectives, part.rows.syncs
    for row, columns, keys in (
        (calls.row, calls.columns, _COLLECTIVE_ARGS),
        (syncs.row, vars(syncs), _SYNC_ARGS),
    ):
        here = np.flatnonzero(np.isin(row, index))
        places = np.searchsorted(index, row[here]).tolist()
        values = [[_plain(value) for value in columns[name][here].tolist()] for name in keys]
        for place, *said in zip(places, *values, strict=True):
            pairs = zip(keys.values(), said, strict=True)
            known = {key: value for key, value in pairs if value is not None}
            if known:
                found[place] = f"{found.get(place, '')},{json.dumps(known)[1:-1]}"
    return found


def _plain(value: Any) -> Any:
    """Return what JSON can say of an argument, None where it is missing."""
    if isinstance(value, tuple):
        return str(list(value))
    if isinstance(value, (int, np.integer)):
        return int(value) if value >= 0 else None
    return value or None


def _launches(writer: EventWriter, rows: pd.DataFrame, start: IntArray, arrows: Arrows) -> None:
    """Add arrows from calls to the device rows they launched, of a graph to many."""
    index = rows.index.to_numpy()
    launchers = rows["launcher"].to_numpy()
    launched = np.flatnonzero((launchers >= 0) & np.isin(launchers, index))
    calls = np.searchsorted(index, launchers[launched])
    # An arrow cannot end before it starts; where a row does, a clock was wrong.
    fits = start[launched] >= start[calls]
    launched, calls = launched[fits], calls[fits]
    each, first, which = np.unique(calls, return_index=True, return_inverse=True)
    # Numbered as their first rows come.
    numbers = np.empty(len(each), dtype=np.int64)
    numbers[np.argsort(first, kind="stable")] = writer.flows(len(each))
    arrows.add("s", each, numbers, _LAUNCH)
    arrows.add("f", launched, numbers[which.reshape(-1)], _LAUNCH)


def _autograd(
    writer: EventWriter, part: RankStep, rows: pd.DataFrame, start: IntArray, arrows: Arrows
) -> None:
    """Add arrows from forward operators to their backward ones: to the innermost at each end."""
    host = np.flatnonzero(rows["cat"].isin(list(HOST)).to_numpy())
    order = host[np.lexsort((-rows["finish_ns"].to_numpy()[host], start[host]))]
    flows = part.rows.flows
    forward, backward = (
        np.asarray(ends, dtype=np.int64) for ends in (flows.forward_ns, flows.backward_ns)
    )
    known = (forward < backward) & np.isin(forward, start[order]) & np.isin(backward, start[order])
    begins, ends = (
        order[np.searchsorted(start[order], moments[known], side="right") - 1]
        for moments in (forward, backward)
    )
    numbers = writer.flows(len(begins))
    arrows.add("s", begins, numbers, _AUTOGRAD)
    arrows.add("f", ends, numbers, _AUTOGRAD)


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
