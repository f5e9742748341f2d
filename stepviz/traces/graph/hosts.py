"""A rank's host: threads as chains of own work, and what lets them go on.

A thread's own time is what its rows and short gaps take. It has none while it waits: in a call
that waits, while another thread has the work, until an exchange has ended.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from stepviz.traces.classifying.name_traits import Trait
from stepviz.traces.graph.answers import THRESHOLDS
from stepviz.traces.graph.arrays import Flags, IntArray, distinct
from stepviz.traces.graph.draft import ARRIVES, DEPARTS, GIVES, KIND_CODE, TAKES, Draft
from stepviz.traces.graph.links import ON_HOST, Link
from stepviz.traces.graph.streams import Streams
from stepviz.traces.graph.syncs import Waits, draw_syncs
from stepviz.traces.graph.threads import (
    BARE,
    EXCHANGES,
    NAMED,
    WAITS,
    WORKS,
    Flat,
    Rows,
    flatten,
)
from stepviz.traces.graph.view import NEVER, View

#: A thread that stands still for less than this is not waiting for another one.
HELD_NS: Final = 20_000
#: Between two questions whether the device is done a thread waits, up to this.
BETWEEN_POLLS_NS: Final = THRESHOLDS.host_gap_ns

#: What a stretch of a thread is called that no row and no region has.
BETWEEN: Final = "between rows"

#: Regions that are work of their kind even where no operator runs inside.
_WORK_BY_NATURE: Final = ("input", "checkpoint")


@dataclass(frozen=True, eq=False)
class HostCalls:
    """A rank's exchanges that run on threads: rows, queues, times, points of start and end.

    `posted` is when it was launched, `NEVER` where nothing says.
    """

    row: IntArray
    queue: IntArray
    posted: IntArray
    start: IntArray
    finish: IntArray
    starts: IntArray
    ends: IntArray


@dataclass(eq=False)
class _Thread:
    """A thread while it is drawn. `moments` are its points by what they are for, by time."""

    track: int
    rows: Rows
    flat: Flat
    waits: list[tuple[int, int, int]]
    departs: list[IntArray]
    held: list[tuple[int, int]] = field(default_factory=list)
    gives: list[int] = field(default_factory=list)
    moments: dict[int, tuple[IntArray, IntArray]] = field(default_factory=dict)

    def at(self, tie: int, times: IntArray) -> IntArray:
        """Return its points of one sort at some times."""
        known, points = self.moments[tie]
        return points[np.searchsorted(known, times)]

    @property
    def idle(self) -> Flags:
        return np.asarray((self.flat.what == NAMED) | (self.flat.what == BARE))


def draw_host(
    view: View, streams: Streams, calls: HostCalls, draft: Draft, names: IntArray, start: int
) -> dict[int, int]:
    """Add the threads of a rank; return by thread the point at the end of its part of the step."""
    posted = _posted(view, calls)
    threads = _threads(view, streams, calls, posted)
    releases = _release(view, threads, calls)
    last = {track: _last(view, track) for track in threads}
    for thread in threads.values():
        thread.departs.append(np.array([view.low, last[thread.track]]))
        _chain(view, thread, calls, draft, names, start)
    for track, moment, source, at in releases:
        target = threads[track].at(TAKES, np.array([moment]))
        if source is None:
            draft.link(Link.RELEASE, calls.ends[at : at + 1], target)
        else:
            draft.link(Link.HAND_OVER, threads[source].at(GIVES, np.array([at])), target)
    _launch(view, streams, threads, draft)
    _post(calls, posted, threads, draft)
    for thread in threads.values():
        if thread.waits:
            call, begins, ends = np.array(thread.waits, dtype=np.int64).T
            points = thread.at(ARRIVES, ends)
            draw_syncs(Waits(call, begins, ends, points), streams, draft)
    return {
        track: int(threads[track].at(DEPARTS, np.array([moment]))[0])
        for track, moment in last.items()
    }


def _last(view: View, track: int) -> int:
    """Return when a thread's part of the step ends."""
    if view.whole:
        # No marker says how long the thread took part: after its last row it holds nothing.
        rows = view.host[view.track[view.host] == track]
        return int(min(view.finish[rows].max(initial=view.low), view.high))
    if track != view.main or view.window.measured == "host":
        return view.high
    return min(max(view.window.host_finish_ns - view.origin, view.low), view.high)


def _threads(
    view: View, streams: Streams, calls: HostCalls, posted: IntArray
) -> dict[int, _Thread]:
    rows = view.host
    start, finish = view.clipped(rows)
    track = view.track[rows]
    launchers = view.launcher[streams.row[streams.launch >= view.low]]
    gradients = view.are(rows, Trait.EVALUATE)
    wanted = {view.main, *np.unique(view.track[launchers]).tolist()}
    wanted |= {*np.unique(track[gradients]).tolist(), *posted[posted >= 0].tolist()}
    departs: dict[int, list[IntArray]] = defaultdict(list)
    departed = streams.launch[streams.launch >= view.low]
    for each in np.unique(view.track[launchers]).tolist():
        departs[each].append(distinct(departed[view.track[launchers] == each]))
    for each in np.unique(posted[posted >= 0]).tolist():
        departs[each].append(calls.posted[posted == each])
    launching = set(departs)
    exchanges = np.isin(rows, calls.row)
    by_nature = np.isin(view.kind[rows], [KIND_CODE[kind] for kind in _WORK_BY_NATURE])
    named = view.of_cat(rows, {"python_function"}) | (by_nature & ~view.works)
    asks = view.are(rows, Trait.POLL)
    found: dict[int, _Thread] = {}
    for each in sorted(wanted):
        low, high = np.searchsorted(track, [each, each + 1])
        part = slice(int(low), int(high))
        mine = Rows(
            rows[part], start[part], finish[part], view.works[part] & ~exchanges[part],
            view.waits[part], exchanges[part], named[part],
        )  # fmt: skip
        own = calls.queue == each
        departs[each] += [calls.start[own]]
        times = [times for times in departs[each] if len(times)]
        times = [np.clip(t, view.low, view.high) for t in times]
        cuts = np.concatenate([*times, [_last(view, each)], calls.finish[own]])
        flat = flatten(mine, view.low, view.high, cuts.astype(np.int64))
        flat = _without_polls(flat, asks[part])
        silent = not np.isin(flat.what, (WORKS, WAITS)).any()
        if silent and each != view.main and each not in launching:
            continue
        found[each] = _Thread(each, mine, flat, _waiting(mine, flat, asks[part]), times)
    return found


def _without_polls(flat: Flat, asks: Flags) -> Flat:
    """Count the time between two questions whether the device is done as waiting."""
    asking = (flat.what == WAITS) & (flat.owner >= 0)
    asking[asking] = asks[flat.owner[asking]]
    first, beyond = flat.runs((flat.what == NAMED) | (flat.what == BARE))
    inner = (first > 0) & (beyond < len(flat.what))
    first, beyond = first[inner], beyond[inner]
    between = asking[first - 1] & asking[beyond]
    between &= flat.edges[beyond] - flat.edges[first] <= BETWEEN_POLLS_NS
    what = flat.what.copy()
    for low, high in zip(first[between].tolist(), beyond[between].tolist(), strict=True):
        what[low:high] = WAITS
    return replace(flat, what=what)


def _waiting(rows: Rows, flat: Flat, asks: Flags) -> list[tuple[int, int, int]]:
    """Return the waits of a thread: call, start, end. A loop of questions is one wait."""
    calls = np.flatnonzero(rows.waits & ~asks & (rows.finish > rows.start))
    # A call may be made of others: the outer one waits.
    reach = np.maximum.accumulate(rows.finish[calls]) if len(calls) else calls
    outer = np.append(True, rows.finish[calls][1:] > reach[:-1])[: len(calls)]
    calls = calls[outer]
    found = {
        int(rows.finish[at]): (int(rows.row[at]), int(rows.start[at]), int(rows.finish[at]))
        for at in calls.tolist()
    }
    first, beyond = flat.runs(flat.what == WAITS)
    for low, high in zip(first.tolist(), beyond.tolist(), strict=True):
        end, owner = int(flat.edges[high]), int(flat.owner[high - 1])
        if end not in found and owner >= 0:
            found[end] = (int(rows.row[owner]), int(flat.edges[low]), end)
    return list(found.values())


def _release(
    view: View, threads: dict[int, _Thread], calls: HostCalls
) -> list[tuple[int, int, int | None, int]]:
    """Find what ends the stretches in which a thread stands still, and mark them as held.

    Returns links: the thread, the moment it goes on, the thread that handed over or None, and
    that one's moment or the exchange's place among the calls.
    """
    group = [track for track in threads if track in view.taking_turns]
    busy = {t: _busy(threads[t]) for t in group}
    ended = np.argsort(calls.finish, kind="stable")
    links: list[tuple[int, int, int | None, int]] = []
    for track in group:
        thread = threads[track]
        first, beyond = thread.flat.runs(thread.idle)
        begins, ends = thread.flat.edges[first], thread.flat.edges[beyond]
        long = ends - begins >= HELD_NS
        begins, ends = begins[long], ends[long]
        moment = np.full(len(begins), NEVER)
        for other in group:
            if other == track:
                continue
            starts, stops = busy[other]
            at = np.searchsorted(stops, ends, side="right") - 1
            known = at >= 0
            stop = np.append(NEVER, stops)[at + 1]
            following = np.append(starts, np.iinfo(np.int64).max)[at + 1]
            gave = known & (stop > begins) & (following >= ends)
            # Where the other one works on, the last thing it did may be what it handed over.
            edges = threads[other].flat.edges
            latest = edges[np.searchsorted(edges, ends, side="right") - 1]
            works_on = (following < ends) & (latest > begins)
            works_on &= ends - begins > THRESHOLDS.host_gap_ns
            stop = np.where(works_on, latest, stop)
            gave |= works_on
            moment = np.maximum(moment, np.where(gave, stop, NEVER))
            places = np.flatnonzero(gave)
            links += [
                (track, place, other, moment_given)
                for place, moment_given in zip(places.tolist(), stop[places].tolist(), strict=True)
            ]
        low = np.searchsorted(calls.finish[ended], begins, side="right")
        high = np.searchsorted(calls.finish[ended], ends, side="right")
        for place in np.flatnonzero((high > low) & (calls.queue.size > 0)).tolist():
            for at in ended[low[place] : high[place]].tolist():
                if calls.queue[at] != track:
                    moment[place] = max(moment[place], calls.finish[at])
                    links.append((track, place, None, at))
        held = moment > NEVER
        thread.held = list(zip(begins[held].tolist(), moment[held].tolist(), strict=True))
        thread.flat = thread.flat.cut(moment[held])
        links = [
            (t, int(moment[place]), source, at) if t == track else (t, place, source, at)
            for t, place, source, at in links
        ]
    for _, _, giver, gave_at in links:
        if giver is not None:
            threads[giver].gives.append(gave_at)
    return links


def _busy(thread: _Thread) -> tuple[IntArray, IntArray]:
    first, beyond = thread.flat.runs(~thread.idle)
    return thread.flat.edges[first], thread.flat.edges[beyond]


def _chain(
    view: View, thread: _Thread, calls: HostCalls, draft: Draft, names: IntArray, start: int
) -> None:
    """Add a thread's own work, and its points in order."""
    flat, own = thread.flat, thread.flat.length.copy()
    own[(flat.what == WAITS) | (flat.what == EXCHANGES)] = 0
    held = np.zeros(len(own), dtype=bool)
    for begins, ends in thread.held:
        low, high = np.searchsorted(flat.edges, [begins, ends])
        held[low:high] = True
    first, beyond = flat.runs((flat.what == BARE) & ~held)
    long = flat.edges[beyond] - flat.edges[first] > THRESHOLDS.host_gap_ns
    for low, high in zip(first[long].tolist(), beyond[long].tolist(), strict=True):
        held[low:high] = True
    own[held] = 0
    gaps = flat.edges[beyond[long]]
    numbers = draft.elements(
        flat.start, own, rank=view.rank, on=ON_HOST, track=thread.track,
        **_labels(view, thread, draft, names),
    )  # fmt: skip
    mine = calls.queue == thread.track
    wanted = {
        ARRIVES: [[end for _, _, end in thread.waits], calls.finish[mine], gaps],
        GIVES: [thread.gives],
        TAKES: [[end for _, end in thread.held]],
        DEPARTS: thread.departs,
    }
    for tie, given in wanted.items():
        moments = distinct(np.concatenate([np.asarray(t, dtype=np.int64) for t in given]))
        silent = np.isin(moments, gaps) if tie == ARRIVES else None
        thread.moments[tie] = (moments, draft.points(moments, tie, view.rank, silent))
    times = np.concatenate([moments for moments, _ in thread.moments.values()])
    points = np.concatenate([points for _, points in thread.moments.values()])
    order = np.lexsort((points, times))
    times, points = times[order], points[order]
    offset = int(numbers[0]) if len(numbers) else 0
    at = offset + np.searchsorted(flat.edges, times)
    draft.link(Link.START, [start], points[:1])
    draft.link(Link.THREAD, points[:-1], points[1:], low=at[:-1], high=at[1:])
    draft.link(Link.THREAD, thread.at(DEPARTS, calls.start[mine]), calls.starts[mine])
    draft.link(Link.RELEASE, calls.ends[mine], thread.at(ARRIVES, calls.finish[mine]))


def _labels(view: View, thread: _Thread, draft: Draft, names: IntArray) -> dict[str, IntArray]:
    """Return kind, name and row of each stretch."""
    flat = thread.flat
    owned = flat.owner >= 0
    row = np.full(len(flat.what), -1, dtype=np.int64)
    row[owned] = thread.rows.row[flat.owner[owned]]
    kind = np.full(len(flat.what), KIND_CODE["host"], dtype=np.int64)
    kind[owned] = view.kind[row[owned]]
    kind[kind == KIND_CODE["other"]] = KIND_CODE["host"]
    name = np.full(len(flat.what), draft.name(BETWEEN), dtype=np.int64)
    # A gap has the name of the region it lies in, but for the step's own marker.
    said = owned.copy()
    said[owned] = ~view.are(row[owned], Trait.STEP)
    name[said] = names[view.name[row[said]]]
    row[flat.what == BARE] = -1
    return {"kind": kind, "name": name, "row": row}


def _launch(view: View, streams: Streams, threads: dict[int, _Thread], draft: Draft) -> None:
    """Let each launch release its device rows at its start."""
    launched = np.flatnonzero(streams.launch >= view.low)
    track = view.track[view.launcher[streams.row[launched]]]
    for each in np.unique(track).tolist():
        if each in threads:
            rows = launched[track == each]
            rows = rows[streams.launch[rows] <= view.high]
            points = threads[each].at(DEPARTS, streams.launch[rows])
            draft.link(Link.LAUNCH, points, streams.starts[rows], base=streams.usual_lag)


def _posted(view: View, calls: HostCalls) -> IntArray:
    """Return by exchange of a thread which thread posted it in the window, −1 for none."""
    track = np.full(len(calls.row), -1, dtype=np.int64)
    inside = np.flatnonzero((calls.posted >= view.low) & (calls.posted <= view.high))
    if len(inside) == 0:
        return track
    rows = view.host[view.are(view.host, Trait.LAUNCH | Trait.BUCKET)]
    rows = rows[np.argsort(view.start[rows], kind="stable")]
    at = np.searchsorted(view.start[rows], calls.posted[inside])
    at = np.minimum(at, max(len(rows) - 1, 0))
    if len(rows):
        same = view.start[rows[at]] == calls.posted[inside]
        track[inside[same]] = view.track[rows[at[same]]]
    return track


def _post(calls: HostCalls, posted: IntArray, threads: dict[int, _Thread], draft: Draft) -> None:
    """Let each exchange of a thread follow on its launch and on the one before in its queue."""
    for each in np.unique(posted[posted >= 0]).tolist():
        mine = np.flatnonzero(posted == each)
        if each in threads:
            points = threads[each].at(DEPARTS, calls.posted[mine])
            draft.link(Link.POSTED, points, calls.starts[mine])
    order = np.lexsort((calls.finish, calls.start, calls.queue))
    one, other = order[:-1], order[1:]
    follows = (calls.queue[one] == calls.queue[other]) & (calls.finish[one] <= calls.start[other])
    draft.link(Link.QUEUE, calls.ends[one[follows]], calls.starts[other[follows]])
