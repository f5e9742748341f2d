"""Arrows of a file: from forward operators to backward ones, from launches to device rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

#: How arrows of autograd, and those from launches to device rows, are called; old names too.
_DIFFERENTIATED: Final = "fwdbwd"
_LAUNCH: Final = ("ac2g", "async")

IntArray = npt.NDArray[np.int64]
Arrows = Mapping[str, npt.NDArray[Any]]
_Ends = dict[str, IntArray]


@dataclass(frozen=True, eq=False)
class AutogradFlows:
    """Where autograd's arrows begin and end: at a forward operator and at its backward one, ns."""

    forward_ns: IntArray
    backward_ns: IntArray

    def moved(self, to: Callable[[IntArray], IntArray]) -> AutogradFlows:
        """Return the same on another clock."""
        return AutogradFlows(to(self.forward_ns), to(self.backward_ns))


@dataclass(frozen=True, eq=False)
class LaunchFlows:
    """Where arrows from launches begin on the host and end on a device, ns.

    A track is −1 where no row lies on it.
    """

    host_ns: IntArray
    host_track: IntArray
    device_ns: IntArray
    device_track: IntArray

    def __len__(self) -> int:
        return len(self.host_ns)

    def moved(self, to: Callable[[IntArray], IntArray]) -> LaunchFlows:
        """Return the same on another clock."""
        return replace(self, host_ns=to(self.host_ns), device_ns=to(self.device_ns))


def autograd_flows(arrows: Arrows, cats: Mapping[str, int], base: int) -> AutogradFlows:
    """Return autograd's arrows, in order of their ids.

    Parameters
    ----------
    arrows
        Columns at, at_ok, ends, id, cat, track of the file's arrows.
    cats
        Numbers of the categories in `cat`.
    base
        What to add to the file's times, ns.
    """
    starts, ends = _both_ends(arrows, cats, (_DIFFERENTIATED,))
    starts, ends = _one_of_each(starts, last=True), _one_of_each(ends, last=True)
    began, ended = _joined(starts, ends)
    return AutogradFlows(began["at"] + base, ended["at"] + base)


def launch_flows(arrows: Arrows, cats: Mapping[str, int], base: int) -> LaunchFlows:
    """Return the arrows from launches. Parameters as for `autograd_flows`."""
    starts, ends = _both_ends(arrows, cats, _LAUNCH)
    # One launch of a graph starts many rows; calls that launch nothing have an end only.
    began, ended = _joined(_one_of_each(starts, last=False), ends)
    keep = (began["track"] != ended["track"]) | (ended["track"] < 0)
    return LaunchFlows(
        host_ns=began["at"][keep] + base,
        host_track=began["track"][keep],
        device_ns=ended["at"][keep] + base,
        device_track=ended["track"][keep],
    )


def _both_ends(
    arrows: Arrows, cats: Mapping[str, int], words: Iterable[str]
) -> tuple[_Ends, _Ends]:
    """Return id, at and track of the arrows' starts and of their ends, by id."""
    if not arrows:
        none: _Ends = {name: np.empty(0, dtype=np.int64) for name in ("id", "at", "track")}
        return none, none
    known = [code for name, code in cats.items() if name.startswith(tuple(words))]
    chosen = arrows["at_ok"] & (arrows["id"] >= 0) & np.isin(arrows["cat"], known)

    def ordered(rows: npt.NDArray[np.int64]) -> _Ends:
        rows = rows[np.argsort(arrows["id"][rows], kind="stable")]
        return {name: arrows[name][rows].astype(np.int64) for name in ("id", "at", "track")}

    starts = np.flatnonzero(chosen & ~arrows["ends"])
    return ordered(starts), ordered(np.flatnonzero(chosen & arrows["ends"]))


def _one_of_each(ends: _Ends, *, last: bool) -> _Ends:
    """Return one end of each id: the last that the file holds, or the first."""
    ids = ends["id"]
    differs = ids[1:] != ids[:-1]
    one = np.ones(min(1, len(ids)), dtype=np.bool_)
    keep = np.concatenate((differs, one) if last else (one, differs))
    return {name: column[keep] for name, column in ends.items()}


def _joined(starts: _Ends, ends: _Ends) -> tuple[_Ends, _Ends]:
    """Return each end that has a start, beside it; of the starts each id is there once."""
    if not len(starts["id"]):
        return starts, starts
    at = np.searchsorted(starts["id"], ends["id"])
    at = np.minimum(at, len(starts["id"]) - 1)
    found = starts["id"][at] == ends["id"]
    began = {name: column[at[found]] for name, column in starts.items()}
    return began, {name: column[found] for name, column in ends.items()}
