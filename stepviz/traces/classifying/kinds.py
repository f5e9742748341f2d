"""What each interval is: input, forward, backward, exchange, optimizer, …

A host row has the kind its name or autograd says, else that of the row it is nested in, else
that of the pass it lies in. A device row has the kind of the call that launched it, unless it
moves data between ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from stepviz.core.vocabulary import KINDS
from stepviz.traces.classifying.added_patterns import Names, Pattern
from stepviz.traces.classifying.autograd import ENGINE_THREAD, HostRows, Recorded, recorded
from stepviz.traces.classifying.device_kinds import EXCHANGE, OTHER, DeviceNames, device_kinds
from stepviz.traces.classifying.launchers import launchers
from stepviz.traces.classifying.name_traits import Trait, traits
from stepviz.traces.classifying.nesting import nearest, parents
from stepviz.traces.reading.masks import among, of_codes
from stepviz.traces.reading.rows import CALLS, DEVICE, HOST, RankRows
from stepviz.traces.reading.track_names import Tracks
from stepviz.traces.table import Table, Words

IntArray = npt.NDArray[np.int64]
CodeArray = npt.NDArray[np.int8]
BoolArray = npt.NDArray[np.bool_]

_CODE: Final = {kind: code for code, kind in enumerate(KINDS)}
_FORWARD: Final = _CODE["forward"]
_BACKWARD: Final = _CODE["backward"]
_RECOMPUTE: Final = _CODE["recompute"]
#: No kind of its own.
_NONE: Final = -1
#: What a row may be that has the same times as an annotation and lies in it; as a function, too.
_IN_ANNOTATIONS: Final = HOST - {"user_annotation"}
_IN_FUNCTIONS: Final = _IN_ANNOTATIONS - {"python_function"}


def with_kinds(rows: RankRows, added: Sequence[Pattern] | None = None) -> Table:
    """Return the events with four more columns: kind, parent, launcher and source.

    `parent` is the row a host row is nested in, `launcher` the host call that launched a
    device row, `source` that call, or the operator that the row belongs to where the call is
    not in the file; −1 where there is none.

    Parameters
    ----------
    rows
        One file.
    added
        Users' patterns, by default those in force.
    """
    events = rows.events
    names = Names(added)
    by_name = _ByName(events)
    cat = events["cat"]
    host, device, calls = among(cat, HOST), among(cat, DEVICE), among(cat, CALLS)
    start, finish = events["start_ns"], events["finish_ns"]
    # Of rows with the same times the outer one: annotation, Python function, operator, call.
    depth = np.zeros(len(events), dtype=np.int8)
    for inner in (_IN_ANNOTATIONS, _IN_FUNCTIONS, CALLS):
        depth += among(cat, inner)
    parent = parents(start, finish, events["track"], np.flatnonzero(host), depth)

    own = _named(names, by_name, cat)
    # Exchange said of a host row is what it launches; the row itself is where it waits.
    exchanging = host & (own == EXCHANGE)
    own[exchanging] = _NONE
    note = recorded(
        _host_rows(events, by_name, parent),
        rows.flows.forward_ns,
        rows.flows.backward_ns,
    )
    kind = _host_kinds(events, rows.tracks, own, note, parent, host)

    launcher, source = launchers(rows)
    around = nearest(parent, exchanging) if exchanging.any() else np.full(len(parent), -1)
    _mark_host_exchange(by_name, start, finish, host, kind)
    launching = np.zeros(len(events), dtype=np.bool_)
    launching[around[source[device & (source >= 0)]]] = True
    kind[exchanging & ~launching] = EXCHANGE
    device_kinds(
        events,
        DeviceNames(names, by_name),
        kind,
        launcher=launcher,
        source=source,
        parent=parent,
        region=by_name.are(Trait.EXCHANGE_REGION) & host,
        graph=by_name.are(Trait.GRAPH_LAUNCH) & calls,
        said=rows.collectives.row,
        exchanging=around >= 0,
    )
    return events.assign(
        kind=Words(kind, KINDS),
        parent=parent,
        launcher=launcher,
        source=source,
    )


class _ByName:
    """Answers about names, each asked once however often it occurs."""

    def __init__(self, events: Table) -> None:
        names = events["name"]
        self.categories = names.categories
        self.codes = names.codes

    @cached_property
    def _traits(self) -> IntArray:
        return traits(self.categories)

    def are(self, trait: Trait) -> BoolArray:
        """Return which rows have a name of some trait."""
        return of_codes(self._traits & trait > 0, self.codes)

    def coded(self, code: Callable[[str], int], chosen: BoolArray) -> CodeArray:
        """Return a code per row by its name, and −1 for rows that are not chosen."""
        known = np.full(len(self.categories), _NONE, dtype=np.int8)
        there = np.zeros(len(self.categories), dtype=np.bool_)
        there[self.codes[chosen]] = True
        for at in np.flatnonzero(there).tolist():
            known[at] = code(self.categories[at])
        return np.where(chosen, known[self.codes], np.int8(_NONE))


def _named(names: Names, by_name: _ByName, cat: Words) -> CodeArray:
    """Return the kind that each host row's own name says."""

    def operator(name: str) -> int:
        kind = names.host_kind("operator", name)
        if kind is None and "::" not in name:
            # Old profilers write annotations as operators; operators have namespaces.
            return annotation(name)
        return _CODE.get(kind or "", _NONE)

    def annotation(name: str) -> int:
        return _CODE.get(names.host_kind("annotation", name) or "", _NONE)

    def function(name: str) -> int:
        return _CODE.get(names.host_kind("function", name) or "", _NONE)

    own = by_name.coded(operator, among(cat, ("cpu_op",)))
    for code, category in ((annotation, "user_annotation"), (function, "python_function")):
        said = by_name.coded(code, among(cat, (category,)))
        own = np.where(said >= 0, said, own)
    return own


def _host_rows(events: Table, by_name: _ByName, parent: IntArray) -> HostRows:
    cat = events["cat"]
    operator = among(cat, ("cpu_op",))
    return HostRows(
        start=events["start_ns"],
        finish=events["finish_ns"],
        track=events["track"],
        parent=parent,
        sequence=events["sequence"],
        fwd_thread=events["fwd_thread"],
        operator=operator,
        module=by_name.are(Trait.MODULE) & among(cat, ("python_function",)),
        evaluate=by_name.are(Trait.EVALUATE) & operator,
    )


def _host_kinds(
    events: Table,
    tracks: Tracks,
    own: CodeArray,
    note: Recorded,
    parent: IntArray,
    host: BoolArray,
) -> CodeArray:
    own = np.where(note.engine & (own == _NONE), np.int8(_BACKWARD), own)
    # A forward inside the engine is one that was thrown away and runs again.
    own[(own == _FORWARD) & note.inside] = _RECOMPUTE
    kind = _inherited(own, parent)
    # Only the engine's own time turns to recompute: an update inside backward stays one.
    held = nearest(parent, own != _NONE, itself=False)
    by_engine = (held >= 0) & note.engine[held]
    own[note.recompute & (own == _NONE) & by_engine] = _RECOMPUTE
    own[note.forward & (own == _NONE) & ((kind == _NONE) | (kind == OTHER))] = _FORWARD
    kind = _inherited(own, parent)
    engines = [ENGINE_THREAD in name for name in tracks.name]
    on_engine = of_codes(engines, events["track"])
    kind[host & (kind == _NONE) & on_engine] = _BACKWARD
    _fill_passes(events, own, kind, host)
    return np.where(kind == _NONE, np.int8(OTHER), kind)


def _inherited(own: CodeArray, parent: IntArray) -> CodeArray:
    link = nearest(parent, own != _NONE)
    return np.where(link >= 0, own[link], np.int8(_NONE))


def _fill_passes(events: Table, own: CodeArray, kind: CodeArray, host: BoolArray) -> None:
    """Give rows that nothing explains to the pass in which they lie.

    Between two operators of forward on one thread, with no other work known on any thread
    from the one to the other, work is forward; so it is with backward.
    """
    start, finish = events["start_ns"], events["finish_ns"]
    track = events["track"]
    marks = np.flatnonzero(host & (own != _NONE))
    rows = np.flatnonzero(host & (kind == _NONE))
    if len(marks) == 0 or len(rows) == 0:
        return
    marks = marks[np.argsort(start[marks], kind="stable")]
    before = np.searchsorted(start[marks], start[rows], side="right") - 1
    rows, before = rows[before >= 0], before[before >= 0]
    rows, before = rows[before + 1 < len(marks)], before[before + 1 < len(marks)]
    first, second = marks[before], marks[before + 1]
    alike = (own[first] == own[second]) & np.isin(own[first], (_FORWARD, _BACKWARD))
    here = (track[first] == track[rows]) & (track[second] == track[rows])
    between = finish[rows] <= start[second]
    chosen = alike & here & between
    kind[rows[chosen]] = own[first[chosen]]


def _mark_host_exchange(
    by_name: _ByName, start: IntArray, finish: IntArray, host: BoolArray, kind: CodeArray
) -> None:
    """Mark exchange on host threads; transport inside an emulated exchange is not it."""
    emulated = np.flatnonzero(by_name.are(Trait.EXCHANGE_EMULATED) & host)
    emulated = emulated[np.argsort(start[emulated], kind="stable")]
    kind[emulated] = EXCHANGE
    real = np.flatnonzero(by_name.are(Trait.EXCHANGE_HOST) & host)
    at = np.searchsorted(start[emulated], start[real], side="right") - 1
    inside = at >= 0
    inside[inside] = start[real[inside]] < finish[emulated[at[inside]]]
    kind[real] = np.where(inside, OTHER, EXCHANGE)
