"""What a stream waits for on another one: as recorded, as calls suggest, or times; or assumed."""

from __future__ import annotations

from typing import Final

import numpy as np

from stepviz.traces.classifying.name_traits import Trait
from stepviz.traces.graph.answers import THRESHOLDS
from stepviz.traces.graph.arrays import Flags, IntArray
from stepviz.traces.graph.draft import Draft
from stepviz.traces.graph.links import ASSUMED, INFERRED, RECORDED, Link
from stepviz.traces.graph.sources import InOrder, awaited
from stepviz.traces.graph.streams import Streams
from stepviz.traces.graph.view import NEVER, View

#: By times alone, a row is held by a collective that ended at most this long before it.
JUST_BEFORE_NS: Final = 30_000


def draw_waits(streams: Streams, draft: Draft) -> None:
    """Add what holds rows of one stream until rows of another one have ended."""
    if len(np.unique(streams.track)) < 2:
        return
    explained = _explained(streams)
    recorded = _recorded(streams, draft)
    explained |= _inferred(streams, draft, explained) if recorded is None else recorded
    if recorded is None and len(streams.view.columns.wait_calls) == 0:
        _assumed(streams, draft)
    _by_time(streams, draft, explained)


def _explained(streams: Streams) -> Flags:
    """Return which rows start when their own stream or their launch lets them."""
    reach, _ = streams.reach
    by_stream = (streams.start - reach) <= THRESHOLDS.stream_gap_ns
    by_launch = (streams.start - streams.launch) <= THRESHOLDS.lag_ns
    return np.asarray(by_stream | by_launch)


def _recorded(streams: Streams, draft: Draft) -> Flags | None:
    """Add the waits that the file tells of; return whom they explain, None if there are none."""
    view = streams.view
    rows = view.syncs.row
    told = view.are(rows, Trait.WAIT_ROW)
    rows = rows[told]
    if len(rows) == 0:
        return None
    correlation = view.columns.correlation
    calls = view.columns.calls_by_correlation
    wait = _at(calls, correlation[rows])
    record = _at(calls, view.syncs.record_correlation[told])
    if (wait < 0).all():
        # Some versions lose the ids of these rows.
        return None
    found = np.zeros(len(streams.row), dtype=bool)
    target = view.track[rows]
    source = source_tracks(view, np.unique(streams.track), target, view.syncs.stream[told])
    moment = np.where(wait >= 0, view.start[wait], NEVER)
    # An event recorded after the wait is another one of the same name.
    valid = (record >= 0) & (view.start[record] < moment)
    recorded_at = np.where(valid, view.start[record], moment)
    here = {int(track): InOrder(streams, int(track)) for track in np.unique(streams.track)}
    usable = (wait >= 0) & (source >= 0) & (source != target) & np.isin(target, list(here))
    pairs = np.unique(np.column_stack((source, target))[usable], axis=0)
    for one, other in pairs.tolist():
        mine = np.flatnonzero(usable & (source == one) & (target == other))
        after = np.searchsorted(here[other].launch, moment[mine], side="left")
        mine, after = mine[after < len(here[other].rows)], after[after < len(here[other].rows)]
        held = here[other].rows[after]
        # In order on its stream: what was launched last before the record is what has to end.
        last = here[one].last(recorded_at[mine], streams.start[held])
        some = last >= 0
        draft.link(
            Link.RECORDED_WAIT,
            streams.ends[last[some]],
            streams.starts[held[some]],
            origin=np.where(valid[mine[some]], RECORDED, INFERRED),
        )
        held, last = held[some], last[some]
        found[held[streams.start[held] - streams.finish[last] <= THRESHOLDS.lag_ns]] = True
    return found


def _at(calls: tuple[IntArray, IntArray], wanted: IntArray) -> IntArray:
    known, rows = calls
    if len(known) == 0:
        return np.full(len(wanted), -1, dtype=np.int64)
    at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return np.where(known[at] == wanted, rows[at], -1)


def source_tracks(view: View, here: IntArray, beside: IntArray, stream: IntArray) -> IntArray:
    """Return the tracks of streams that sync rows name by number, −1 where there is none.

    Where several devices have a stream of that number it is that of the row's own device.
    """
    pid, tid = view.tracks.pid, view.tracks.tid
    numbered: dict[str, int] = {}
    exact: dict[tuple[str, str], int] = {}
    for track in here.tolist():
        numbered.setdefault(tid[track], track)
        exact[pid[track], tid[track]] = track
    found = [
        exact.get((pid[own], str(number)), numbered.get(str(number), -1))
        for own, number in zip(beside.tolist(), stream.tolist(), strict=True)
    ]
    return np.array(found, dtype=np.int64)


def _inferred(streams: Streams, draft: Draft, explained: Flags) -> Flags:
    """Add waits where a call made a stream wait between two launches on it.

    The call names neither the streams nor the event: `awaited` says what it was about. Right
    before the launch it speaks for that launch alone; else it may have been meant for another
    stream, and is believed only where nothing else explains when the row started.
    """
    view = streams.view
    found = np.zeros(len(streams.row), dtype=bool)
    waits = view.columns.wait_calls
    known = np.flatnonzero(streams.launch > NEVER)
    if len(waits) == 0 or len(known) == 0:
        return found
    thread = view.track[view.launcher[streams.row[known]]]
    moment = np.full(len(known), NEVER)
    alone = np.zeros(len(known), dtype=bool)
    for each in np.unique(thread):
        mine = np.flatnonzero(thread == each)
        launch = streams.launch[known[mine]]
        times = np.sort(view.start[waits[view.track[waits] == each]])
        if len(times) == 0:
            continue
        order = np.lexsort((launch, streams.track[known[mine]]))
        stream = streams.track[known[mine]][order]
        before = np.append(NEVER, launch[order][:-1])
        before[np.append(True, np.diff(stream) != 0)] = NEVER
        last = np.searchsorted(times, launch[order], side="right") - 1
        between = (last >= 0) & (times[last] >= before)
        moment[mine[order]] = np.where(between, times[last], NEVER)
        on_thread = np.sort(launch)
        previous = np.searchsorted(on_thread, launch[order], side="left") - 1
        nothing_since = (previous < 0) | (on_thread[previous] <= times[last])
        alone[mine[order]] = between & nothing_since
    other = _handed_over(streams, known, thread, waits)
    alone |= other > moment
    moment = np.maximum(moment, other)
    held = known[(moment > NEVER) & (alone | ~explained[known])]
    at = moment[(moment > NEVER) & (alone | ~explained[known])]
    source = awaited(streams, held, at, explained[held])
    some = source >= 0
    draft.link(Link.INFERRED_WAIT, streams.ends[source[some]], streams.starts[held[some]])
    close = some & (streams.start[held] - streams.finish[source] <= THRESHOLDS.lag_ns)
    found[held[close]] = True
    return found


def _handed_over(streams: Streams, known: IntArray, thread: IntArray, waits: IntArray) -> IntArray:
    """Return by launched row the wait that came right before its launch on the other thread.

    Backward ends on the autograd thread with waits for its collectives; what has to wait, the
    update, is launched by the main thread. These two take turns, so that their calls have one
    order: a wait speaks for the launch that is next in it.
    """
    view = streams.view
    turns = view.taking_turns
    found = np.full(len(known), NEVER)
    mine = np.flatnonzero(np.isin(thread, turns))
    waits = waits[np.isin(view.track[waits], turns)]
    if len(mine) == 0 or len(waits) == 0:
        return found
    waits = waits[np.argsort(view.start[waits], kind="stable")]
    times = view.start[waits]
    launch = streams.launch[known[mine]]
    everyone = np.sort(launch)
    previous = np.searchsorted(everyone, launch, side="left") - 1
    last = np.searchsorted(times, launch, side="right") - 1
    next_to = (last >= 0) & ((previous < 0) | (everyone[previous] <= times[last]))
    next_to &= view.track[waits[last]] != thread[mine]
    found[mine[next_to]] = times[last[next_to]]
    return found


def _assumed(streams: Streams, draft: Draft) -> None:
    """Hold each exchange by the work launched last before it, where the file tells of no waits.

    A process group makes its stream wait for what was launched so far; without that call in the
    file, an exchange that came late for another reason would seem to need nothing.
    """
    known = np.flatnonzero((streams.launch > NEVER) & ~streams.exchange)
    held = np.flatnonzero((streams.launch > NEVER) & streams.exchange)
    known = known[np.argsort(streams.launch[known], kind="stable")]
    at = np.searchsorted(streams.launch[known], streams.launch[held], side="left") - 1
    held, source = held[at >= 0], known[at[at >= 0]]
    fits = (streams.finish[source] <= streams.start[held]) & (
        streams.track[source] != streams.track[held]
    )
    draft.link(
        Link.INFERRED_WAIT,
        streams.ends[source[fits]],
        streams.starts[held[fits]],
        origin=np.full(int(fits.sum()), ASSUMED),
    )


def _by_time(streams: Streams, draft: Draft, explained: Flags) -> None:
    """Hold what nothing explains by a collective that ended just before, and the other way.

    Within one graph launch, whose nodes say nothing of their order, any row may hold another.
    """
    loose = np.flatnonzero(~explained)
    if len(loose) == 0:
        return
    every = np.argsort(streams.finish, kind="stable")
    for targets, sources in (
        (loose, every[streams.exchange[every]]),
        (loose[streams.exchange[loose]], every),
    ):
        _latest(streams, draft, targets, sources)
    call = streams.view.launcher[streams.row]
    _, group, counts = np.unique(call, return_inverse=True, return_counts=True)
    many = (call >= 0) & (counts[group] > 1)
    lift = int(streams.finish.max()) + 2 * JUST_BEFORE_NS
    _latest(streams, draft, loose[many[loose]], every[many[every]], group * lift)


def _latest(
    streams: Streams,
    draft: Draft,
    targets: IntArray,
    sources: IntArray,
    lift: IntArray | None = None,
) -> None:
    """Hold each target by the source that ended last before it, in its own group where lifted."""
    if len(targets) == 0 or len(sources) == 0:
        return
    finish, start = streams.finish, streams.start
    if lift is not None:
        finish, start = finish + lift, start + lift
        sources = sources[np.argsort(finish[sources], kind="stable")]
    ends = finish[sources]
    at = np.searchsorted(ends, start[targets], side="right") - 1
    near = (at >= 0) & (start[targets] - ends[at] <= JUST_BEFORE_NS)
    source, target = sources[at[near]], targets[near]
    apart = streams.track[source] != streams.track[target]
    draft.link(Link.BY_TIME, streams.ends[source[apart]], streams.starts[target[apart]])
