"""What calls of the host that wait are waiting for: the end of device work."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stepviz.traces.classifying.name_traits import Trait
from stepviz.traces.graph.arrays import IntArray
from stepviz.traces.graph.draft import Draft
from stepviz.traces.graph.events import source_tracks
from stepviz.traces.graph.links import INFERRED, RECORDED, Link
from stepviz.traces.graph.streams import Streams
from stepviz.traces.graph.view import NEVER, View


@dataclass(frozen=True, eq=False)
class Waits:
    """Stretches of threads that wait for a device: from when to when, in which call.

    `call` is the last call of a loop of questions; `points` is where the thread goes on.
    """

    call: IntArray
    start: IntArray
    finish: IntArray
    points: IntArray


class _Ended:
    """Rows of a device in the order in which they ended."""

    def __init__(self, streams: Streams, rows: IntArray) -> None:
        self.rows = rows[np.argsort(streams.finish[rows], kind="stable")]
        self.finish = streams.finish[self.rows]
        self.launch = streams.launch[self.rows]

    def last(self, launched_before: IntArray, ended_by: IntArray) -> IntArray:
        """Return the row that ended last by a time, of those launched before another; −1: none."""
        at = np.searchsorted(self.finish, ended_by, side="right") - 1
        found = np.full(len(at), -1, dtype=np.int64)
        open_ = np.flatnonzero(at >= 0)
        # Rarely has what was launched during a wait ended before it.
        while len(open_):
            right = self.launch[at[open_]] < launched_before[open_]
            found[open_[right]] = self.rows[at[open_[right]]]
            open_ = open_[~right]
            at[open_] -= 1
            open_ = open_[at[open_] >= 0]
        return found


def draw_syncs(waits: Waits, streams: Streams, draft: Draft) -> None:
    """Let each wait return when the device work that it waits for has ended."""
    view = streams.view
    if len(waits.call) == 0 or len(streams.row) == 0:
        return
    own = _own_copies(waits, view)
    copies = streams.rows_of(own)
    known = copies >= 0
    _link(draft, streams, copies[known], waits.points[known], RECORDED)
    named = view.are(waits.call, Trait.WHOLE_DEVICE)
    stream, record = _said(waits, streams)
    rest = ~known
    whole = rest & named
    for track in np.unique(streams.track):
        ended = _Ended(streams, np.flatnonzero(streams.track == track))
        asked = np.flatnonzero(whole | (rest & (stream == track)))
        if len(asked) == 0:
            continue
        before = np.where(record[asked] > NEVER, record[asked], waits.start[asked])
        found = ended.last(before, waits.finish[asked])
        some = found >= 0
        _link(draft, streams, found[some], waits.points[asked[some]], RECORDED)
    # Nothing says which stream: it was what ended last.
    guess = np.flatnonzero(rest & ~named & (stream < 0))
    found = _Ended(streams, np.arange(len(streams.row))).last(
        waits.start[guess], waits.finish[guess]
    )
    some = found >= 0
    _link(draft, streams, found[some], waits.points[guess[some]], INFERRED)


def _link(draft: Draft, streams: Streams, rows: IntArray, points: IntArray, origin: int) -> None:
    draft.link(Link.SYNC, streams.ends[rows], points, origin=origin)


def _own_copies(waits: Waits, view: View) -> IntArray:
    """Return the copy that a call made and waited for itself, −1 where it made none."""
    calls, copies = view.blocking
    if len(calls) == 0:
        return np.full(len(waits.call), -1, dtype=np.int64)
    at = np.minimum(np.searchsorted(calls, waits.call), len(calls) - 1)
    return np.where(calls[at] == waits.call, copies[at], -1)


def _said(waits: Waits, streams: Streams) -> tuple[IntArray, IntArray]:
    """Return which stream the file says a call waits for, and when its event was recorded."""
    view = streams.view
    stream = np.full(len(waits.call), -1, dtype=np.int64)
    record = np.full(len(waits.call), NEVER, dtype=np.int64)
    syncs = view.syncs
    if len(syncs) == 0:
        return stream, record
    correlation = view.columns.correlation
    rows = syncs.row
    tracks = source_tracks(view, np.unique(streams.track), view.track[rows], syncs.stream)
    place = {int(correlation[row]): at for at, row in enumerate(rows.tolist())}
    ids, calls = view.columns.calls_by_correlation
    events = syncs.record_correlation
    for at, call in enumerate(waits.call.tolist()):
        said = place.get(int(correlation[call])) if correlation[call] >= 0 else None
        if said is None or tracks[said] < 0:
            continue
        stream[at] = tracks[said]
        event = np.searchsorted(ids, events[said])
        if event < len(ids) and ids[event] == events[said] >= 0:
            moment = int(view.start[calls[event]])
            record[at] = moment if moment < waits.start[at] else NEVER
    return stream, record
