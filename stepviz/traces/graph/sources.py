"""What a call that made a stream wait was about, where it names neither stream nor event.

Where a row started as soon as something of another stream ended, it waited for that. Where its own
stream held it for longer it may be anything given to another stream before: what rows of its name
waited for elsewhere in the step tells, and how far ahead of them things are given (who fetches
ahead waits for the one before the last); else it is taken to be the latest.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from stepviz.indices import as_index
from stepviz.traces.graph.answers import THRESHOLDS
from stepviz.traces.graph.arrays import Flags, IntArray
from stepviz.traces.graph.streams import Streams
from stepviz.traces.graph.view import NEVER

#: How many of those given last may be fetched ahead.
_DEEPEST: Final = 4
#: A row is no source if it ended this long after the start of what would wait for it, ns.
_AFTER_NS: Final = 2_000
#: Stamps of so large a part of the rows may be that far off.
_MOST_OFF: Final = 0.05


class InOrder:
    """The rows of one stream whose launch is known, in the order in which they were launched."""

    def __init__(self, streams: Streams, track: int) -> None:
        rows = np.flatnonzero((streams.track == track) & (streams.launch > NEVER))
        rows = rows[np.argsort(streams.launch[rows], kind="stable")]
        self.rows = rows
        self.launch = streams.launch[rows]
        self.reach = np.maximum.accumulate(streams.finish[rows]) if len(rows) else rows

    def given(self, before: IntArray) -> IntArray:
        """Return how many rows were launched before some times."""
        return np.searchsorted(self.launch, before, side="left")

    def last(self, launched_before: IntArray, ended_by: IntArray) -> IntArray:
        """Return the last row launched before one time and ended by another, −1 for none."""
        ended = np.searchsorted(self.reach, ended_by, side="right")
        return self.row(np.minimum(self.given(launched_before), ended) - 1)

    def row(self, at: IntArray) -> IntArray:
        """Return the rows at some places, −1 for places before the first."""
        if len(self.rows) == 0:
            return np.full(len(at), -1, dtype=np.int64)
        return np.where(at >= 0, self.rows[np.maximum(at, 0)], -1)


def awaited(streams: Streams, held: IntArray, moment: IntArray, explained: Flags) -> IntArray:
    """Return the row that each held one waited for, −1 where nothing may be it.

    Parameters
    ----------
    streams
        The device.
    held
        Rows that a call made wait.
    moment
        When it did.
    explained
        Which of them start when their own stream or their launch lets them, so that their
        start does not tell what else they waited for.
    """
    if len(held) == 0:
        return held
    tracks = np.unique(streams.track)
    start = streams.start[held]
    key = np.column_stack((streams.track[held], streams.view.name[streams.row[held]]))
    _, group = np.unique(key, axis=0, return_inverse=True)
    group = group.reshape(-1)
    groups = int(group.max()) + 1
    _, whole = np.unique(streams.track[held], return_inverse=True)
    source = np.full((len(tracks), len(held)), -1, dtype=np.int64)
    latest = source.copy()
    tells = np.zeros((len(tracks), groups), dtype=np.int64)
    for at, track in enumerate(tracks.tolist()):
        rows = InOrder(streams, track)
        other = streams.track[held] != track
        latest[at] = np.where(other, rows.last(moment, start), -1)
        ended = np.where(latest[at] >= 0, streams.finish[latest[at]], NEVER)
        close = ~explained & (start - ended <= THRESHOLDS.lag_ns)
        tells[at] = np.bincount(as_index(group[close]), minlength=groups)
        ahead = _ahead(rows, moment, start, group)
        # Where rows of its name tell nothing, what its stream waits for otherwise may.
        unsaid = (tells[at][group] == 0) & (ahead == 0)
        ahead = np.where(unsaid, _ahead(rows, moment, start, whole), ahead)
        behind = rows.row(rows.given(moment) - 1 - ahead)
        ended = np.where(behind >= 0, streams.finish[behind], NEVER)
        source[at] = np.where(other & (behind >= 0) & (ended <= start), behind, latest[at])
    # Where rows of this name never start as something of a stream ends, it is none of theirs.
    silent = (tells == 0) & (tells > 0).any(axis=0)
    source[silent[:, group]] = -1
    ended = np.where(latest >= 0, streams.finish[latest], 2 * NEVER)
    # Of several that ended at about the time, the one that others of its name wait for as well.
    score = np.where(ended >= ended.max(axis=0) - THRESHOLDS.stream_gap_ns, tells[:, group], -1)
    latest[score < score.max(axis=0)] = -1
    return np.where(explained, _last(source, streams.launch), _last(latest, streams.finish))


def _ahead(rows: InOrder, moment: IntArray, start: IntArray, group: IntArray) -> IntArray:
    """Return by held row how many of a stream's last rows those of its group do not wait for."""
    groups = int(group.max()) + 1
    count = np.maximum(np.bincount(as_index(group), minlength=groups), 1)
    ahead = np.zeros(groups, dtype=np.int64)
    open_ = np.ones(groups, dtype=bool)
    given = rows.given(moment)
    for depth in range(_DEEPEST):
        at = given - 1 - depth
        known = at >= 0
        after = known.copy()
        after[known] = rows.reach[at[known]] > start[known] + _AFTER_NS
        off = np.bincount(as_index(group[after]), minlength=groups)
        open_ &= off > _MOST_OFF * count
        ahead[open_] = depth + 1
    ahead[open_] = 0
    return ahead[group]


def _last(sources: IntArray, time: IntArray) -> IntArray:
    """Return by column which of several rows is the last by some time, −1 where there is none."""
    at = np.where(sources >= 0, time[sources], 2 * NEVER)
    return np.asarray(sources[np.argmax(at, axis=0), np.arange(sources.shape[1])])
