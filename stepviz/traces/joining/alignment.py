"""Ranks put on one clock, where the ends of their collectives tell how."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from stepviz.indices import as_index
from stepviz.traces.joining.clocks import (
    ROUNDING_NS,
    Clash,
    RankClock,
    length_said,
    worst_of,
)
from stepviz.traces.joining.ends import tables_of_ends
from stepviz.traces.joining.estimating import FEWEST, NATURAL_NS, Estimates, estimate
from stepviz.traces.joining.matching import NO_STEP, Match, RankCalls, match, steps_of

if TYPE_CHECKING:
    from stepviz.traces.rank_trace import RankTrace

#: Ends as far apart as this part of a step tell nothing about who is late in it.
_LARGE_PART: Final = 0.25
#: With too few collectives, ends may lie this part of a step apart before clocks are doubted.
_SMALL_PART: Final = 0.01
#: A move by a whole number of steps, to within this part of one, may be steps counted otherwise.
_WHOLE_STEPS: Final = 0.1

_COLUMNS: Final = ("offset_ns", "drift_ppm", "residual_ns", "collectives", "moved", "why")


@dataclass(frozen=True)
class Aligned:
    """The match of a run, its ranks' clocks, and how well these are known.

    `seen` has a row of `frame` for each rank. `unsure` is, by rank, how far its times may still
    be off, ns. `doubt` says why no straggler may be named, None where one may. `islands` says which
    ranks no collective connects with others, so that only their own clocks agree; "" for none;
    `sets` numbers those by rank.
    """

    match: Match
    clocks: dict[int, RankClock]
    seen: list[dict[str, Any]]
    unsure: dict[int, int]
    doubt: Clash | None
    islands: str = ""
    sets: Mapping[int, int] = field(default_factory=dict)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """What `run.clock` shows."""
        index = pd.Index(list(self.clocks), name="rank")
        frame = pd.DataFrame(self.seen, index=index, columns=list(_COLUMNS))
        return frame.astype({"offset_ns": "Int64", "residual_ns": "Int64", "drift_ppm": "Float64"})

    def told(self, ranks: Iterable[int], skew_ns: int) -> bool:
        """Say whether clocks tell who of these ranks was first, and who last, of such a skew."""
        worst = sorted((self.unsure.get(int(rank), 0) for rank in ranks), reverse=True)
        return skew_ns > max(ROUNDING_NS, sum(worst[:2]))


def calls_of(trace: RankTrace) -> RankCalls:
    """Return what the match needs of one rank."""
    steps = [window.step for window in trace.windows]
    return RankCalls(trace.exchanges, steps, trace.rows.world_size)


def aligned(
    ranks: Mapping[int, RankTrace], *, move: bool = True
) -> tuple[dict[int, RankTrace], Aligned]:
    """Match the exchanges of all ranks and put the ranks on one clock.

    A rank moves only where the ends of its collectives tell that its clock is off by more than
    collectives end apart by nature; else it is left exactly as it is.

    Parameters
    ----------
    ranks
        By rank.
    move
        Whether clocks may be moved; if not, they are only judged.
    """
    calls = {rank: calls_of(trace) for rank, trace in ranks.items()}
    lengths = [w.duration_ns for trace in ranks.values() for w in trace.windows]
    found = judged(calls, int(np.median(lengths)) if lengths else 0, move=move)
    moved = {
        rank: trace if found.clocks[rank].still else trace.on_clock(found.clocks[rank])
        for rank, trace in ranks.items()
    }
    return moved, found


def judged(calls: Mapping[int, RankCalls], step_ns: int, *, move: bool = True) -> Aligned:
    """Match exchanges and judge clocks.

    Parameters
    ----------
    calls
        By rank.
    step_ns
        The length of a typical step.
    move
        Whether clocks may be moved.
    """
    matched = match(calls)
    ranks = matched.ranks.tolist()
    # Who was last among members of which some are missing is not known, but that all ended.
    known = match(calls, among_those_here=True) if matched.absent else matched
    found = estimate(tables_of_ends(known, calls), len(ranks))
    clocks: dict[int, RankClock] = {}
    unsure: dict[int, int] = {}
    rows: list[dict[str, Any]] = []
    doubts: list[Clash] = []
    for at, rank in enumerate(ranks):
        clock, why = _clock(at, found, move=move)
        clocks[rank] = clock
        unsure[rank] = _unsure(at, found, moved=not clock.still)
        rows.append(_row(at, found, moved=not clock.still, why=why))
        other = _compared_with(at, found, ranks)
        shown = _doubtful(at, found, unsure[rank], step_ns)
        if shown is None and not clock.still:
            shown = _other_steps(calls[rank], calls[other], clock, step_ns)
        if shown is not None:
            apart = max(abs(round(found.offset[at])), unsure[rank])
            pair = (min(rank, other), max(rank, other))
            doubts.append(Clash(apart, pair, shown, sure=False))
    doubt = worst_of(
        [*doubts, _counted_otherwise(known, calls, step_ns), _uncompared(found, calls, step_ns)]
    )
    return Aligned(
        matched, clocks, rows, unsure, doubt, _islands(found, ranks), _sets(found, ranks)
    )


def _sets(found: Estimates, ranks: list[int]) -> dict[int, int]:
    """Return by rank the set that collectives connect it with; one that shares none is its own."""
    group = np.where(found.count > 0, found.group, -1 - np.arange(len(ranks)))
    return dict(zip(ranks, group.tolist(), strict=True))


def _islands(found: Estimates, ranks: list[int]) -> str:
    """Say which ranks no collective connects with the others, "" where all are connected."""
    if not (found.count > 0).any():
        return ""
    group = np.array(list(_sets(found, ranks).values()), dtype=np.int64)
    numbers, first = np.unique(group, return_index=True)
    if len(numbers) < 2:
        return ""
    shown = [
        ", ".join(str(ranks[at]) for at in np.flatnonzero(group == group[place])[:3].tolist())
        for place in np.sort(first)[:2].tolist()
    ]
    return (
        f"{len(numbers)} sets of ranks share no collective with each other (one has {shown[0]}, "
        f"one {shown[1]}): nothing compares their clocks, nor tells which of them is late; how "
        "late a rank starts, and how long all take together, rests on their clocks alone"
    )


def _clock(at: int, found: Estimates, *, move: bool) -> tuple[RankClock, str]:
    """Return the clock by which a rank's times are moved, and why so."""
    count, offset = int(found.count[at]), round(found.offset[at])
    still = RankClock()
    if count == 0:
        return still, "it shares no matched collective with another rank, so nothing compares it"
    noun = "collective" if count == 1 else "collectives"
    seen = f"{count} {noun}"
    apart = length_said(abs(offset))
    if count < FEWEST and abs(offset) > NATURAL_NS:
        return still, (
            f"only {seen}, whose ends are {apart} apart: too few to tell a clock from ends that "
            "are late, so it is left as it is"
        )
    room = max(NATURAL_NS, found.precision[at])
    if not found.peaked[at]:
        room = max(room, found.residual[at])
    drifts = abs(found.slope[at]) * found.span > NATURAL_NS
    if found.reference[at] or (abs(offset) <= room and not drifts):
        told = length_said(round(max(room, abs(offset))))
        return still, (
            f"its ends of {seen} agree with the others' to {told}, which is what they can tell"
        )
    way = "ahead" if offset > 0 else "behind"
    drift = f", drifting by {found.slope[at] * 1e6:.3g} ppm" if found.slope[at] else ""
    told = f"{apart} {way}{drift} by the ends of {seen}"
    if not move:
        return still, f"{told}; left as it is, as asked"
    slope = float(found.slope[at])
    clock = RankClock(offset, slope / (1 + slope) * 1e6, found.reference_ns + offset)
    return clock, f"{told}; moved"


def _unsure(at: int, found: Estimates, *, moved: bool) -> int:
    left = 0.0 if moved else abs(found.offset[at]) + abs(found.slope[at]) * found.span / 2
    whole = found.precision[at] + left
    # Two ends can agree by chance; three are the least that tell.
    return round(float(whole if found.count[at] >= FEWEST else FEWEST * whole))


def _row(at: int, found: Estimates, *, moved: bool, why: str) -> dict[str, Any]:
    known = found.count[at] > 0
    return {
        "offset_ns": round(found.offset[at]) if known else pd.NA,
        "drift_ppm": float(found.slope[at] * 1e6) if known else pd.NA,
        "residual_ns": round(found.residual[at]) if known else pd.NA,
        "collectives": int(found.count[at]),
        "moved": moved,
        "why": why,
    }


def _compared_with(at: int, found: Estimates, ranks: list[int]) -> int:
    """Return a rank of the reference that a rank is compared with."""
    others = np.flatnonzero(found.reference & (found.group == found.group[at]))
    others = others[others != at]
    if not len(others):
        others = np.flatnonzero((found.group == found.group[at]) & (np.arange(len(ranks)) != at))
    return ranks[int(others[0])] if len(others) else ranks[at]


def _doubtful(at: int, found: Estimates, unsure: int, step_ns: int) -> str | None:
    """Say why a rank's clock is not to be trusted, None where it is."""
    count = int(found.count[at])
    if count == 0:
        return None
    noun = "collective" if count == 1 else "collectives"
    if count < FEWEST:
        offset = abs(round(found.offset[at]))
        if offset > max(NATURAL_NS, _SMALL_PART * step_ns):
            return f"only {count} {noun} to tell, whose ends are {length_said(offset)} apart"
        return None
    scatter = 0.0 if found.peaked[at] else found.residual[at]
    if max(unsure, scatter) > max(NATURAL_NS, _LARGE_PART * step_ns):
        apart = length_said(round(max(scatter, unsure)))
        return f"ends of its {count} {noun} differ by {apart}, in steps of {length_said(step_ns)}"
    return None


def _other_steps(mine: RankCalls, other: RankCalls, clock: RankClock, step_ns: int) -> str | None:
    """Say so where a clock seems off because two ranks number their steps differently."""
    if not step_ns or set(mine.steps) == set(other.steps):
        return None
    steps = clock.offset_ns / step_ns
    most = max(len(mine.steps), len(other.steps))
    if round(steps) and abs(steps) <= most and abs(steps - round(steps)) <= _WHOLE_STEPS:
        return (
            f"one seems {abs(round(steps))} steps away, and they number their steps differently: "
            f"{min(mine.steps)} to {max(mine.steps)} and {min(other.steps)} to {max(other.steps)}"
        )
    return None


def _uncompared(found: Estimates, calls: Mapping[int, RankCalls], step_ns: int) -> Clash | None:
    """Doubt all clocks where ranks exchange, and yet no two have a collective in common."""
    ranks = list(calls)
    several = len(ranks) > 1 and any(len(call.exchanges) for call in calls.values())
    if not several or found.count.any():
        return None
    shown = "no exchange of one rank is matched with another's"
    return Clash(step_ns, (min(ranks), max(ranks)), shown, sure=False, compared=False)


def _counted_otherwise(
    matched: Match, calls: Mapping[int, RankCalls], step_ns: int
) -> Clash | None:
    """Return the two ranks that give most of their common exchanges to steps of other numbers.

    Sequence numbers may tell that exchanges are one though the profiler of one rank began to
    count its steps later: then a step of one number is two updates.
    """
    ranks = matched.ranks.tolist()
    step = np.concatenate([np.zeros(0, dtype=np.int64), *(steps_of(calls[r]) for r in ranks)])
    place = np.repeat(np.arange(len(ranks)), as_index(np.diff(matched.bounds)))
    rows = np.flatnonzero((matched.exchange >= 0) & (step != NO_STEP))
    rows = rows[np.lexsort((place[rows], matched.exchange[rows]))]
    if not len(rows):
        return None
    fresh = np.append(True, np.diff(matched.exchange[rows]) != 0)
    first = rows[np.maximum.accumulate(np.where(fresh, np.arange(len(rows)), 0))]
    apart = step[rows] - step[first]
    other = rows != first
    counts = np.bincount(as_index(place[rows[other]]), minlength=len(ranks))
    wrong = np.bincount(as_index(place[rows[other & (apart != 0)]]), minlength=len(ranks))
    odd = np.flatnonzero(2 * wrong > counts)
    if not len(odd):
        return None
    at = int(np.flatnonzero((place[rows] == odd[0]) & (apart != 0))[0])
    mine, theirs = ranks[int(odd[0])], ranks[int(place[first[at]])]
    shown = f"rank {mine} calls step {step[rows[at]]} what is {step[first[at]]} on rank {theirs}"
    pair = (min(mine, theirs), max(mine, theirs))
    return Clash(abs(int(apart[at])) * step_ns, pair, shown, what="the step numbers")
