"""Edits made on the elements of a graph: what matches, its new durations, and words for both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from stepviz.core.checks import ms_text
from stepviz.core.vocabulary import KINDS
from stepviz.errors import ChangeError
from stepviz.indices import as_index
from stepviz.traces.graph.arrays import Flags, IntArray
from stepviz.traces.graph.draft import KIND_CODE
from stepviz.traces.graph.edits import Edit, matching
from stepviz.traces.graph.links import ON_DEVICE
from stepviz.traces.graph.network import Network
from stepviz.traces.graph.programs import first_of_class, left_said
from stepviz.traces.graph.sections import Sections

FloatArray = npt.NDArray[np.float64]

_MS: Final = 1_000_000
_EXCHANGE: Final = KIND_CODE["exchange"]


@dataclass(frozen=True, eq=False)
class Edited:
    """Durations of the elements, starts of the ranks, delays of the points, ns; what was done."""

    duration: IntArray
    release: IntArray
    delay: IntArray
    did: tuple[str, ...] = ()

    def then(self, did: str, **changed: IntArray) -> Edited:
        """Return the same with more changed."""
        return replace(self, did=(*self.did, did), **changed)


def apply(network: Network, also: Mapping[str, list[int]], edits: Iterable[Edit]) -> Edited:
    """Make edits one after the other.

    Parameters
    ----------
    network
        The graph.
    also
        Other names of transfers: collectives and the rows of their members.
    edits
        What to change.

    Raises
    ------
    ChangeError
        Where an edit matches nothing.
    """
    state = Edited(network.elements.duration, network.release, network.delay)
    for edit in edits:
        if edit.start_together:
            state = _together(network, state, edit)
        elif edit.delay_input_ns is not None:
            state = _delayed(network, state, edit, edit.delay_input_ns)
        else:
            state = _lasting(network, state, edit, _chosen(network, also, state, edit))
            if edit.own_time and edit.factor is not None:
                state = _silent(network, state, edit, edit.factor)
    return state


def _silent(network: Network, state: Edited, edit: Edit, factor: float) -> Edited:
    """Scale what threads stood still with no row to say why: own time, whatever it was."""
    mine = network.rank >= 0 if edit.rank is None else network.rank == edit.rank
    silence = np.where(mine, network.silence, 0)
    return replace(state, delay=state.delay + np.rint(silence * (factor - 1)).astype(np.int64))


def _together(network: Network, state: Edited, edit: Edit) -> Edited:
    late = state.release - int(state.release.min())
    if edit.rank is None:
        did = f"all ranks start together (the last one {ms_text(late.max() / _MS)} ms sooner)"
        return state.then(did, release=state.release - late)
    at = network.ranks.index(edit.rank)
    release = state.release.copy()
    release[at] -= late[at]
    did = f"rank {edit.rank} starts with the first rank ({ms_text(late[at] / _MS)} ms sooner)"
    return state.then(did, release=release)


def _delayed(network: Network, state: Edited, edit: Edit, late_ns: int) -> Edited:
    known = network.elements
    duration = state.duration.copy()
    moved = []
    for rank in network.ranks if edit.rank is None else (edit.rank,):
        inputs = np.flatnonzero(
            (known.rank == rank) & (known.kind == KIND_CODE["input"]) & (known.duration > 0)
        )
        if len(inputs):
            first = inputs[np.argmin(known.start[inputs])]
            duration[first] += late_ns
            moved.append(str(rank))
    if not moved:
        msg = f"no work of kind 'input'{_whose(edit)} here, so none can be late: {_kinds(network)}"
        raise ChangeError(msg)
    noun = "rank" if len(moved) == 1 else "ranks"
    did = f"the first input of {noun} {', '.join(moved)} ready {ms_text(late_ns / _MS)} ms later"
    return state.then(did, duration=duration)


def _whose(edit: Edit) -> str:
    return "" if edit.rank is None else f" of rank {edit.rank}"


def _kinds(network: Network) -> str:
    known = network.elements
    codes = np.unique(known.kind[known.duration > 0])
    return "the kinds here are " + ", ".join(KINDS[code] for code in codes.tolist())


def _chosen(network: Network, also: Mapping[str, list[int]], state: Edited, edit: Edit) -> IntArray:
    """Return the elements that an edit means; those that wait have no time of their own."""
    known = network.elements
    wanted: Flags
    if edit.names:
        wanted = _by_name(network, also, edit.names)
    elif edit.kinds:
        wanted = np.isin(known.kind, [KIND_CODE[kind] for kind in edit.kinds])
    else:
        wanted = known.kind != _EXCHANGE
    if edit.names and edit.kinds:
        wanted &= np.isin(known.kind, [KIND_CODE[kind] for kind in edit.kinds])
    lasting = wanted & (known.duration > 0)
    if not lasting.any():
        if edit.names and wanted.any():
            msg = (
                f"{edit.said()} has no time of its own here: a call that waits lasts as long as "
                "what it waits for, so change that"
            )
        else:
            msg = f"no work here is {edit.said()}: {_kinds(network)}"
        raise ChangeError(msg)
    if edit.rank is not None:
        mine = lasting & (known.rank == edit.rank)
        if not mine.any():
            joint = (known.rank[lasting] < 0).any()
            hint = (
                "a collective's transfer belongs to all of its members, so leave rank= out"
                if joint
                else f"other ranks have some, such as {int(known.rank[lasting][0])}"
            )
            what = replace(edit, rank=None).said()
            msg = f"rank {edit.rank} has no work of its own that is {what}: {hint}"
            raise ChangeError(msg)
        lasting = mine
    return np.flatnonzero(lasting & (state.duration >= 0))


def _by_name(network: Network, also: Mapping[str, list[int]], names: tuple[str, ...]) -> Flags:
    known = network.elements
    used = np.unique(known.name[known.name >= 0])
    there = {network.names[code]: code for code in used.tolist()}
    meant = matching(names, [*there, *also])
    wanted = np.isin(known.name, [there[name] for name in meant if name in there])
    transfers = [number for name in meant for number in also.get(name, ())]
    wanted[np.array(transfers, dtype=np.int64)] = True
    return wanted


def _lasting(network: Network, state: Edited, edit: Edit, chosen: IntArray) -> Edited:
    known = network.elements
    before = state.duration[chosen]
    lasts = int(before.sum())
    if edit.factor is not None:
        after = np.rint(before * edit.factor)
        did = f"scaled {edit.said()} by {edit.factor:g}"
    elif edit.shorten_ns is not None:
        if edit.shorten_ns > lasts:
            msg = (
                f"can't shorten {edit.said()} by {ms_text(edit.shorten_ns / _MS)} ms: it lasts "
                f"{ms_text(lasts / _MS)} ms in all"
            )
            raise ChangeError(msg)
        after = np.rint(before * (1 - edit.shorten_ns / max(lasts, 1)))
        did = f"shortened {edit.said()} by {ms_text(edit.shorten_ns / _MS)} ms in all, pro rata"
    else:
        after = _set(network, chosen, before, edit.set_ns or 0)
        did = f"set {edit.said()} to {ms_text((edit.set_ns or 0) / _MS)} ms each"
    alone = np.unique(
        known.row[chosen][(known.kind[chosen] == _EXCHANGE) & (known.rank[chosen] >= 0)]
    )
    if len(alone):
        noun = "exchange stays with its" if len(alone) == 1 else "exchanges stay with their"
        did += f" ({len(alone)} {noun} rank, so what it waits is changed with it)"
    duration = state.duration.copy()
    duration[chosen] = after.astype(np.int64)
    return state.then(did, duration=duration)


def _set(network: Network, chosen: IntArray, before: IntArray, each_ns: int) -> IntArray:
    """Let each row, or transfer, last so long; parts of one row keep their proportion."""
    known = network.elements
    row, rank = known.row[chosen], known.rank[chosen]
    gaps = (row < 0) & (rank >= 0)
    if gaps.any():
        msg = "stretches of a thread between rows have no one duration to set; scale them"
        raise ChangeError(msg)
    # A transfer is no row: each is one of its own.
    key = np.column_stack((rank, np.where(row < 0, -1 - chosen, row)))
    _, group = np.unique(key, axis=0, return_inverse=True)
    group = group.ravel()
    whole = np.bincount(as_index(group), weights=before)[group]
    return np.asarray(np.rint(before * (each_ns / whole)))


def at_median(
    network: Network, sections: Mapping[int, Sections], classes: Mapping[int, int]
) -> Edited:
    """Let no rank take longer than the median of its like for its own work before a collective.

    Parameters
    ----------
    network
        The graph.
    sections
        By rank: what cuts its host's and its device's work.
    classes
        By rank: the number of its program. Only ranks of one program are held to each other.
    """
    known = network.elements
    duration, delay = known.duration.copy(), network.delay.copy()
    silent = np.flatnonzero(network.silence > 0)
    own = (known.kind != _EXCHANGE) & (known.rank >= 0)
    section = np.zeros(len(known), dtype=np.int64)
    place = np.full(len(known), -1, dtype=np.int64)
    still = np.zeros(len(silent), dtype=np.int64)
    at_rank = np.zeros(len(silent), dtype=np.int64)
    for at, rank in enumerate(network.ranks):
        mine = np.flatnonzero(known.rank == rank)
        place[mine] = at
        section[mine] = sections[rank].of_elements(known, mine)
        mine = np.flatnonzero(network.rank[silent] == rank)
        at_rank[mine] = at
        still[mine] = sections[rank].of_points(network.time[silent[mine]])
    count = max(len(sections[rank].before) for rank in network.ranks)
    number = np.array([classes[rank] for rank in network.ranks], dtype=np.int64)
    before = np.zeros((len(network.ranks), count))
    for at, rank in enumerate(network.ranks):
        before[at, : len(sections[rank].before)] = sections[rank].before
    for device in (True, False):
        mine = np.flatnonzero(own & ((known.on == ON_DEVICE) == device))
        cell = place[mine] * count + section[mine]
        here = _table(cell, duration[mine], count, len(network.ranks))
        # What a host did for it before the step began, another one may have still to do.
        done = np.zeros_like(here) if device else before
        table = here + done
        usual = _usual(table, number)
        with np.errstate(divide="ignore", invalid="ignore"):
            left = np.maximum(usual - done, 0) / here
        factor = np.where((table > usual) & (here > 0), left, 1.0)
        duration[mine] = np.rint(duration[mine] * factor.ravel()[cell]).astype(np.int64)
    if len(silent):
        # The table is the host's now. What a thread stood still beyond what the median rank's
        # host took in all, standing still or not, it stood still alone.
        cell = at_rank * count + still
        quiet = _table(cell, network.silence[silent], count, len(network.ranks))
        room = np.maximum(_usual(table + quiet, number) - np.minimum(table, usual), 0)
        part = np.minimum(quiet, room) / np.where(quiet > 0, quiet, 1)
        delay[silent] -= network.silence[silent]
        delay[silent] += np.rint(network.silence[silent] * part.ravel()[cell]).astype(np.int64)
    release = first_of_class(network.release, number)
    sooner = ms_text(float((network.release - release).max()) / _MS)
    did = (
        "no rank takes longer than the median rank for its own work before each collective, and "
        f"none starts late (the last one {sooner} ms sooner){left_said(classes)}"
    )
    return Edited(duration, network.release, delay).then(did, release=release)


def _table(cell: IntArray, values: IntArray, count: int, ranks: int) -> FloatArray:
    """Sum values by rank and section."""
    sums = np.bincount(as_index(cell), weights=values, minlength=count * ranks)
    return np.asarray(sums, dtype=np.float64).reshape(ranks, count)


def _usual(table: FloatArray, number: IntArray) -> FloatArray:
    """Return by rank and section the median over the ranks of its program."""
    usual = np.empty_like(table)
    for each in range(int(number.max(initial=-1)) + 1):
        usual[number == each] = np.median(table[number == each], axis=0)
    return usual
