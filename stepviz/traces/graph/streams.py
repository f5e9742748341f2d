"""A rank's device: rows in the order of their streams, what launched them, what held them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from stepviz.indices import as_index
from stepviz.traces.graph.answers import THRESHOLDS
from stepviz.traces.graph.arrays import Flags, IntArray
from stepviz.traces.graph.draft import (
    AT_ONCE,
    DEPARTS,
    ENDS,
    KIND_CODE,
    OWN_ENDS,
    STARTS,
    Draft,
)
from stepviz.traces.graph.links import (
    BEFORE_IT,
    EARLIER_STEP,
    IN_STEP,
    NOT_IN_FILE,
    ON_DEVICE,
    Link,
)
from stepviz.traces.graph.view import NEVER, View

#: So many rows must tell how long a launch usually takes.
FEWEST: Final = 8


@dataclass(frozen=True, eq=False)
class Streams:
    """The device rows of a window, by stream in order of time, and their points.

    `row` is the event, `launch` when it was launched (`NEVER` where nothing says), `joint`
    whether it is a member's part of a collective over ranks; `starts` and `ends` are points.
    """

    view: View
    row: IntArray
    start: IntArray
    finish: IntArray
    track: IntArray
    launch: IntArray
    joint: Flags
    starts: IntArray
    ends: IntArray

    @classmethod
    def of(cls, view: View, draft: Draft, joint: IntArray) -> Streams:
        """Add the points of a rank's device; `joint` are the events that are joint exchanges."""
        rows = view.device
        start, finish = view.clipped(rows)
        track = view.track[rows]
        # What starts at one instant on one stream keeps its order there.
        same = np.zeros(len(rows), dtype=np.int64)
        if len(rows):
            fresh = np.append(True, (np.diff(track) != 0) | (np.diff(start) != 0))
            same = np.arange(len(rows)) - np.maximum.accumulate(
                np.where(fresh, np.arange(len(rows)), 0)
            )
        tie = STARTS + AT_ONCE * same
        is_joint = np.isin(rows, joint)
        ended = np.where(finish > start, np.where(is_joint, OWN_ENDS, ENDS), tie + AT_ONCE // 2)
        return cls(
            view,
            rows,
            start,
            finish,
            track,
            view.launches(rows),
            is_joint,
            draft.points(start, tie, view.rank),
            draft.points(finish, ended, view.rank),
        )

    @cached_property
    def exchange(self) -> Flags:
        """Which rows move data between ranks."""
        return np.asarray(self.view.kind[self.row] == KIND_CODE["exchange"])

    @cached_property
    def reach(self) -> tuple[IntArray, IntArray]:
        """By row, how far the earlier rows of its stream reach, and which one; −1 for none."""
        count = len(self.row)
        if count == 0:
            return self.row, self.row
        fresh = np.append(True, np.diff(self.track) != 0)
        lift = np.cumsum(fresh, dtype=np.int64) * (int(self.finish.max()) + 1)
        lifted = self.finish + lift
        high = np.maximum.accumulate(lifted)
        which = np.maximum.accumulate(np.where(lifted == high, np.arange(count), 0))
        before = np.append(0, which[:-1])
        reach = np.where(fresh, NEVER, self.finish[before])
        return reach, np.where(fresh, -1, before)

    @cached_property
    def usual_lag(self) -> int:
        """How long a launch takes to start its row on a stream that is idle."""
        reach, _ = self.reach
        idle = (self.launch >= self.view.low) & (self.launch > reach) & (self.launch <= self.start)
        lags = (self.start - self.launch)[idle]
        usual = np.median(lags) if len(lags) >= FEWEST else self.view.usual_lag
        return int(min(usual, THRESHOLDS.lag_ns))

    @cached_property
    def launched(self) -> IntArray:
        """By row, whether it was launched in the step, before it, by an earlier one."""
        known = self.launch > NEVER
        own = self.view.step_of[self.row] >= self.view.place
        earlier = np.where(own, BEFORE_IT, EARLIER_STEP)
        said = np.where(self.launch >= self.view.low, IN_STEP, earlier)
        return np.where(known, said, NOT_IN_FILE)

    def rows_of(self, events: IntArray) -> IntArray:
        """Return the places here of some events, −1 for those that aren't here."""
        order = np.argsort(self.row)
        at = np.searchsorted(self.row[order], events)
        at = np.minimum(at, max(len(order) - 1, 0))
        if len(order) == 0:
            return np.full(len(events), -1, dtype=np.int64)
        found = order[at]
        return np.where(self.row[found] == events, found, -1)


def draw_work(streams: Streams, draft: Draft, names: IntArray) -> None:
    """Add the rows' own work, and the order of each stream.

    Rows of a stream may overlap (a dependent launch, an inexact clock): the later one then
    starts when the earlier one has come as far as it had.
    """
    view, count = streams.view, len(streams.row)
    if count == 0:
        return
    start, finish = streams.start, streams.finish
    follows = np.append(False, np.diff(streams.track) == 0)
    before = np.arange(count) - 1
    overlaps = follows & (finish[before] > start)
    cut = np.full(count, -1, dtype=np.int64)
    inner = overlaps & (start > start[before]) & ~streams.joint[before]
    cut[before[inner]] = start[inner]
    works = ~streams.joint
    parts = np.where(works, np.where(cut >= 0, 2, 1), 0)
    owner = np.repeat(np.arange(count), as_index(parts))
    first = np.cumsum(parts) - parts
    second = np.arange(len(owner)) > first[owner]
    begins = np.where(second, cut[owner], start[owner])
    stops = np.where(second | (cut[owner] < 0), finish[owner], cut[owner])
    numbers = draft.elements(
        begins,
        stops - begins,
        rank=view.rank,
        kind=view.kind[streams.row][owner],
        name=names[view.name[streams.row]][owner],
        on=ON_DEVICE,
        track=streams.track[owner],
        row=streams.row[owner],
        launched=streams.launched[owner],
    )
    offset = int(numbers[0]) if len(numbers) else 0
    first = first + offset
    whole = np.flatnonzero(works & (cut < 0))
    draft.link(
        Link.WORK,
        streams.starts[whole],
        streams.ends[whole],
        low=first[whole],
        high=first[whole] + 1,
    )
    parted = np.flatnonzero(cut >= 0)
    points = draft.points(cut[parted], DEPARTS, view.rank)
    draft.link(Link.WORK, streams.starts[parted], points, low=first[parted], high=first[parted] + 1)
    draft.link(
        Link.WORK, points, streams.ends[parted], low=first[parted] + 1, high=first[parted] + 2
    )
    draft.link(Link.OVERLAP, points, streams.starts[parted + 1])
    beside = np.flatnonzero(overlaps & ~inner)
    draft.link(Link.OVERLAP, streams.starts[before[beside]], streams.starts[beside])
    both = np.flatnonzero(overlaps & (finish >= finish[before]) & ~streams.joint)
    draft.link(Link.OVERLAP, streams.ends[before[both]], streams.ends[both])
    reach, last = streams.reach
    free = np.flatnonzero((last >= 0) & (reach <= start))
    draft.link(Link.STREAM, streams.ends[last[free]], streams.starts[free])
    near = np.flatnonzero(follows & ~overlaps & (last != before))
    draft.link(Link.STREAM, streams.ends[before[near]], streams.starts[near])
