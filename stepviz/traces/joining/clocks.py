"""Clocks of ranks: how one is moved, and when they disagree so far that nobody can be called late.

No collective ends anywhere before its last member has arrived. Where one seems to, clocks are
apart by at least that much, and who came late cannot be told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from stepviz.traces.classifying.windows import Window

#: Less than this is the rounding of old profilers.
ROUNDING_NS: Final = 2_000

_MS: Final = 1_000_000


@dataclass(frozen=True)
class RankClock:
    """How far one rank's clock is ahead of the others: at `reference_ns`, and how that grows."""

    offset_ns: int = 0
    drift_ppm: float = 0.0
    reference_ns: int = 0

    @property
    def still(self) -> bool:
        """Say whether this clock needs no move."""
        return self.offset_ns == 0 and self.drift_ppm == 0

    def moved(self, ns: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the same times on the others' clock; their order is kept.

        Only the distance to `reference_ns` goes through floats: absolute ns would lose 256 ns.
        """
        straight = ns - np.int64(self.offset_ns)
        if not self.drift_ppm:
            return straight
        ahead = np.rint((ns - np.int64(self.reference_ns)) * (self.drift_ppm * 1e-6))
        moved: npt.NDArray[np.int64] = straight - ahead.astype(np.int64)
        return moved


@dataclass(frozen=True)
class Clash:
    """Two ranks whose clocks are apart by at least `apart_ns`, and what shows it.

    Where it is not `sure`, they may be: the exchanges cannot tell. Where nothing was compared at
    all, `compared` is False and `apart_ns` only stands for a length that is large.
    """

    apart_ns: int
    ranks: tuple[int, int]
    shown_by: str
    what: str = "the clocks"
    sure: bool = True
    compared: bool = True

    def within(self, windows: Mapping[int, Window]) -> Clash:
        """Return the same clash, told with care where ranks may only count steps differently."""
        if not self.large(windows):
            return self
        return replace(self, what="the clocks, or the step numbers,")

    def large(self, windows: Mapping[int, Window]) -> bool:
        """Say whether clocks are so far apart that ranks tell of other times altogether."""
        return 2 * self.apart_ns >= max(window.duration_ns for window in windows.values())

    def __str__(self) -> str:
        if not self.compared:
            return (
                f"nothing compares the ranks' clocks ({self.shown_by}): no rank is called late, "
                "and lengths across ranks may be off by any time"
            )
        first, second = self.ranks
        who = f"{self.what} of ranks {first} and {second}"
        length = length_said(self.apart_ns)
        if self.sure:
            return (
                f"{who} disagree by at least {length} ({self.shown_by}): no rank is called late, "
                "and lengths across ranks are off by as much"
            )
        return (
            f"{who} may be {length} apart ({self.shown_by}): no rank is called late, and lengths "
            "across ranks may be off by as much"
        )


def never_together(
    step: int, windows: Mapping[int, Window], sets: Mapping[int, int]
) -> Clash | None:
    """Return the two ranks whose windows of one step are farthest from overlapping.

    Only of ranks in different sets, since nothing else compares their clocks. Those of one set
    may really be a step apart, where none of its collectives holds both.
    """
    early: dict[int, int] = {}
    late: dict[int, int] = {}
    for rank in sorted(windows, key=lambda rank: windows[rank].finish_ns):
        early.setdefault(sets.get(rank, rank), rank)
    for rank in sorted(windows, key=lambda rank: -windows[rank].start_ns):
        late.setdefault(sets.get(rank, rank), rank)
    # The farthest pair of two sets is among the two first and the two last ones.
    pairs = [
        (windows[last].start_ns - windows[first].finish_ns, first, last)
        for one, first in list(early.items())[:2]
        for other, last in list(late.items())[:2]
        if one != other
    ]
    if not pairs or max(pairs)[0] <= ROUNDING_NS:
        return None
    apart, first, last = max(pairs)
    shown = f"step {step} ends on rank {first} before it starts on rank {last}"
    return Clash(apart, (min(first, last), max(first, last)), shown, sure=False)


def worst_of(clashes: Iterable[Clash | None]) -> Clash | None:
    """Return the clash that shows clocks farthest apart, a sure one first; None where none is."""
    found = [clash for clash in clashes if clash is not None]
    return max(found, key=lambda clash: (clash.sure, clash.apart_ns), default=None)


def length_said(ns: int) -> str:
    """Return a length of time for people."""
    # What would round to a thousand of one unit is said in the next one.
    if abs(ns) >= 999.5e9:
        return f"{ns / 1e9:,.0f} s"
    if abs(ns) >= 999.5 * _MS:
        return f"{ns / 1e9:.4g} s"
    return f"{ns / _MS:.3g} ms" if abs(ns) >= _MS // 10 else f"{ns / 1000:.3g} µs"
