"""Whether the ranks' clocks agree, as far as exchanges can tell.

No collective ends anywhere before its last member has arrived. Where one seems to, clocks are
apart by at least that much, and who came late cannot be told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from stepviz.traces.classifying.windows import Window

#: Less than this is the rounding of old profilers.
ROUNDING_NS: Final = 2_000

_MS: Final = 1_000_000


@dataclass(frozen=True)
class Clash:
    """Two ranks whose clocks are apart by at least `apart_ns`, and what shows it."""

    apart_ns: int
    ranks: tuple[int, int]
    shown_by: str
    what: str = "the clocks"

    def within(self, windows: Mapping[int, Window]) -> Clash:
        """Return the same clash, told with care where ranks may only count steps differently."""
        if not self.large(windows):
            return self
        return replace(self, what="the clocks, or the step numbers,")

    def large(self, windows: Mapping[int, Window]) -> bool:
        """Say whether clocks are so far apart that ranks tell of other times altogether."""
        return 2 * self.apart_ns >= max(window.duration_ns for window in windows.values())

    def __str__(self) -> str:
        first, second = self.ranks
        return (
            f"{self.what} of ranks {first} and {second} disagree by at least "
            f"{_length(self.apart_ns)} ({self.shown_by}): no rank is called late, and lengths "
            "across ranks are off by as much"
        )


def ended_early(
    collective: str, arrivals: Mapping[int, list[int]], ends: Mapping[int, list[int]]
) -> Clash | None:
    """Return the worst end of a collective on one rank before another had arrived.

    Parameters
    ----------
    collective
        Its name.
    arrivals, ends
        By rank, in ns: those of the same collectives in the same order.
    """
    worst: Clash | None = None
    ranks = list(arrivals)
    for k in range(len(arrivals[ranks[0]])):
        late = max(ranks, key=lambda rank: arrivals[rank][k])
        early = min(ranks, key=lambda rank: ends[rank][k])
        apart = arrivals[late][k] - ends[early][k]
        if apart > ROUNDING_NS and (worst is None or apart > worst.apart_ns):
            shown = f"{collective} {k} ends on rank {early} before rank {late} arrives"
            worst = Clash(apart, (min(early, late), max(early, late)), shown)
    return worst


def never_together(step: int, windows: Mapping[int, Window]) -> Clash | None:
    """Return the two ranks whose windows of one step are farthest from overlapping."""
    if len(windows) < 2:
        return None
    first = min(windows, key=lambda rank: windows[rank].finish_ns)
    last = max(windows, key=lambda rank: windows[rank].start_ns)
    apart = windows[last].start_ns - windows[first].finish_ns
    if apart <= ROUNDING_NS:
        return None
    shown = f"step {step} ends on rank {first} before it starts on rank {last}"
    return Clash(apart, (min(first, last), max(first, last)), shown)


def worst_of(clashes: Iterable[Clash | None]) -> Clash | None:
    """Return the clash that shows clocks farthest apart, None where there is none."""
    found = [clash for clash in clashes if clash is not None]
    return max(found, key=lambda clash: clash.apart_ns, default=None)


def _length(ns: int) -> str:
    return f"{ns / 1e9:.4g} s" if ns >= 1000 * _MS else f"{ns / _MS:.3g} ms"
