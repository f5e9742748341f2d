"""Which change would shorten the step: each phase or kind alone and in pairs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from stepviz.core.changes.base import as_number
from stepviz.core.checks import as_real
from stepviz.core.timeline import Timeline
from stepviz.errors import ChangeError
from stepviz.evidence.feasibility import Feasible, read_feasible

Floats = NDArray[np.float64]
#: A slope is measured over this part of a duration, and of the completion at least this.
_STEP: Final = 1e-5
_ABOVE_ROUNDING: Final = 1e-8
_NO_SLOPE: Final = 1e-6

COLUMNS: Final = (
    "of",
    "duration",
    "cut",
    "completion",
    "gain",
    "removed",
    "gain_per_ms",
    "takes_over_after",
    "extra",
    "feasible",
    "cost",
    "gain_per_cost",
)


@dataclass(frozen=True)
class _Candidate:
    """Phases that are shortened together, pro rata."""

    name: str
    rows: NDArray[np.int64]
    lasts: float
    cut: float
    mark: Feasible | None


class _Cutter:
    """Completions of one timeline with some durations cut."""

    def __init__(self, timeline: Timeline) -> None:
        self.solution = timeline.schedule().solution
        self.graph = self.solution.graph
        self.duration = self.graph.duration
        self.tolerance = self.solution.tolerance

    def completion(self, *cuts: tuple[_Candidate, float]) -> float:
        """Return the completion with each candidate shortened by so many ms."""
        lasts = self.duration.copy()
        for candidate, ms in cuts:
            if candidate.lasts > 0:
                lasts[candidate.rows] *= max(1 - ms / candidate.lasts, 0.0)
        changed = replace(self.graph, duration=lasts)
        changed.__dict__["order"] = self.graph.order  # durations do not change it
        return changed.solve().completion

    def slope(self, line: _Line) -> float:
        """Return what one more ms off gains at the start of a line."""
        step = self.step(line)
        return (self.solution.completion - line.at(step)) / step

    def step(self, line: _Line) -> float:
        """Return over how many ms to measure a slope: above rounding, below most corners."""
        least = _ABOVE_ROUNDING * self.solution.completion
        return min(max(line.most * _STEP, least), line.most)

    def takes_over_after(self, line: _Line, slope: float) -> float:
        """Return the cut at which another path takes over; NaN if none does before all is gone.

        The completion is the largest of many straight lines in the cut, so it is convex: from the
        right, where a line crosses the first one is the next point to try, and no corner is
        jumped over.
        """
        start, at = self.solution.completion, line.most
        value = line.at(at)
        rounding = 10 * self.tolerance
        if value - (start - slope * at) <= rounding:
            return math.nan
        for _ in range(60):
            step = min(self.step(line), at)
            steep = (line.at(at - step) - value) / step  # gain per ms just left of here
            if slope - steep <= 1e-6:
                return at
            # The line through this point meets the first one here.
            nearer = max(at - (value - (start - slope * at)) / (slope - steep), 0.0)
            value, at = line.at(nearer), nearer
            if value - (start - slope * at) <= rounding:
                return at
        return at


class _Line:
    """Completions along one way to shorten: candidates cut together, in proportion to `shares`.

    `most` is the cut, ms of all of them together, at which the first of them is gone.
    """

    def __init__(
        self, cutter: _Cutter, candidates: Sequence[_Candidate], shares: Sequence[float]
    ) -> None:
        self.cutter = cutter
        total = math.fsum(shares)
        self.cut = [(c, share / total) for c, share in zip(candidates, shares, strict=True)]
        self.most = min(c.lasts / part for c, part in self.cut if part > 0)

    def at(self, ms: float) -> float:
        return self.cutter.completion(*((c, ms * part) for c, part in self.cut))


def rank_changes(
    timeline: Timeline,
    *,
    ms: float | None = None,
    by: Literal["phase", "kind"] = "phase",
    feasible: Mapping[str, Any] | Iterable[str] | None = None,
    pairs: int = 8,
) -> pd.DataFrame:
    """Return what shortening each phase would gain: alone, then in pairs, the best first.

    Gains do not add: two phases on parallel paths may gain only together, and two on one path
    may save the same ms.

    Parameters
    ----------
    timeline : Timeline
        The step to shorten. Its dependencies and all other durations stay.
    ms : float, optional
        How much to take off each, at most all of it. Without it, all of it.
    by : {"phase", "kind"}
        What is shortened as one; a kind's phases are shortened pro rata.
    feasible : names, or dict by name, optional
        What you can do: ms, or (ms, cost), or ``{"ms": …, "cost": …}``; True for all of it. Its ms
        go before `ms`; they come first, and pairs are made of them alone.
    pairs : int
        How many of the most promising to try in pairs; 0 for none.

    Returns
    -------
    DataFrame
        Indexed by what is shortened (a pair is ``a + b``): `of`, one or two; `duration`, now;
        `cut`; `completion` and `gain` after that cut; `removed`, the completion without the work
        at all; `gain_per_ms`, of the first ms (0: not critical; −1: shortening lengthens);
        `takes_over_after`, the cut at which another path takes over, NaN where none does; of a pair
        both count ms of the two together, cut in proportion to their cuts; `extra`, a pair's gain
        beyond the sum of both alone; `feasible`, `cost` as you gave it, and
        `gain_per_cost` where that is a number. Times in ms.

    Examples
    --------
    >>> from stepviz.builders.lesson_models import lesson
    >>> table = rank_changes(lesson(), ms=100)
    >>> table.loc[["optimizer", "exchange", "backward"], ["gain", "takes_over_after"]]
               gain  takes_over_after
    change
    optimizer  100.0               NaN
    exchange    50.0              50.0
    backward     0.0               0.0
    >>> table.loc["backward + exchange", ["gain", "extra"]].tolist()
    [100.0, 50.0]
    """
    if not isinstance(timeline, Timeline):
        msg = f"timeline is {type(timeline).__name__}: give a Timeline"
        raise ChangeError(msg)
    if not isinstance(by, str) or by not in ("phase", "kind"):
        msg = f"by is {by!r}: it must be 'phase' or 'kind'"
        raise ChangeError(msg)
    most = as_number(pairs, "pairs")
    cut = None if ms is None else as_number(ms, "ms")
    cutter = _Cutter(timeline)
    candidates = _candidates(timeline, by, cut, feasible)
    rows = [_alone(cutter, c) for c in candidates] if by == "kind" else _phases(cutter, candidates)
    marked = [c for c in candidates if c.mark is not None]
    tried = marked if feasible is not None else _promising(cutter, candidates, rows, int(most))
    gains = {row["change"]: row["gain"] for row in rows}
    if most:
        rows += [_pair(cutter, a, b, gains) for a, b in itertools.combinations(tried, 2)]
    table = pd.DataFrame(rows, columns=["change", *COLUMNS]).set_index("change")
    marked_first = ~table["feasible"].to_numpy(dtype=bool)
    order = np.lexsort((-table["gain"].to_numpy(), marked_first, table["of"].to_numpy()))
    return table.iloc[order]


def _candidates(timeline: Timeline, by: str, cut: float | None, feasible: Any) -> list[_Candidate]:
    tables = timeline._tables
    names = tables.phase if by == "phase" else tables.kind
    rows: dict[str, list[int]] = {}
    for row, name in enumerate(names.tolist()):
        rows.setdefault(name, []).append(row)
    lasts = {name: math.fsum(tables.duration[here].tolist()) for name, here in rows.items()}
    marks = read_feasible(feasible, lasts)
    found = []
    for name, here in rows.items():
        mark = marks.get(name)
        if lasts[name] == 0 and mark is None:
            continue  # nothing to shorten
        wanted = cut if mark is None or mark.ms is None else mark.ms
        most = lasts[name] if wanted is None else min(wanted, lasts[name])
        found.append(_Candidate(name, np.array(here, dtype=np.int64), lasts[name], most, mark))
    if not found:
        msg = (
            "no phase of this timeline lasts any time, so there is nothing to shorten: give "
            "durations"
        )
        raise ChangeError(msg)
    return found


def _phases(cutter: _Cutter, candidates: Sequence[_Candidate]) -> list[dict[str, Any]]:
    """Return the rows of single phases from the exact curve of each, all at once."""
    from stepviz.core.sensitivity import response

    curve = response(cutter.solution)
    now = cutter.duration
    cuts = np.zeros(len(now))
    for c in candidates:
        cuts[c.rows] = c.cut
    after, removed = curve.at(now - cuts), curve.at(np.zeros(len(now)))
    found = []
    for c in candidates:
        row = int(c.rows[0])
        lasts = float(now[row])
        falls_to, rises_from = curve.corners(row)
        rounding = cutter.tolerance
        if lasts - rises_from > rounding:
            slope, over = 1.0, lasts - rises_from
        elif lasts <= falls_to + rounding and falls_to > rounding:
            slope, over = -1.0, math.nan
        else:
            slope, over = 0.0, 0.0
        over = math.nan if slope == 1.0 and over >= lasts - rounding else over
        found.append(_row(cutter, c, float(after[row]), float(removed[row]), slope, over))
    return found


def _alone(cutter: _Cutter, c: _Candidate) -> dict[str, Any]:
    """Return the row of several phases that are shortened together."""
    slope, over = _along(cutter, [c], [c.lasts])
    after = cutter.completion((c, c.cut))
    removed = cutter.completion((c, c.lasts))
    return _row(cutter, c, after, removed, slope, over)


def _along(
    cutter: _Cutter, candidates: Sequence[_Candidate], shares: Sequence[float]
) -> tuple[float, float]:
    """Return the gain of the first ms along a way to shorten, and when another path takes over."""
    if not any(shares):
        return 0.0, 0.0
    line = _Line(cutter, candidates, shares)
    slope = cutter.slope(line)
    over = 0.0 if slope <= _NO_SLOPE else cutter.takes_over_after(line, slope)
    # A difference of floats: nothing beyond this is told.
    return round(slope, 6) + 0.0, over


def _row(
    cutter: _Cutter, c: _Candidate, after: float, removed: float, slope: float, over: float
) -> dict[str, Any]:
    gain = _snapped(cutter, after)
    return {
        "change": c.name,
        "of": 1,
        "duration": c.lasts,
        "cut": c.cut,
        "completion": after,
        "gain": gain,
        "removed": removed,
        "gain_per_ms": slope,
        "takes_over_after": over,
        "extra": math.nan,
        "feasible": c.mark is not None,
        "cost": None if c.mark is None else c.mark.cost,
        "gain_per_cost": _per_cost(gain, None if c.mark is None else c.mark.cost),
    }


def _pair(
    cutter: _Cutter, a: _Candidate, b: _Candidate, gains: Mapping[str, float]
) -> dict[str, Any]:
    after = cutter.completion((a, a.cut), (b, b.cut))
    gain = _snapped(cutter, after)
    slope, over = _along(cutter, [a, b], [a.cut, b.cut])
    extra = gain - (gains[a.name] + gains[b.name])
    costs = [c.mark.cost for c in (a, b) if c.mark is not None and c.mark.cost is not None]
    numbers = [as_real(cost) for cost in costs]
    cost: Any = None
    if costs:
        told = [n for n in numbers if n is not None]
        cost = math.fsum(told) if len(told) == len(costs) == 2 else " + ".join(map(str, costs))
    return {
        "change": f"{a.name} + {b.name}",
        "of": 2,
        "duration": a.lasts + b.lasts,
        "cut": a.cut + b.cut,
        "completion": after,
        "gain": gain,
        "removed": cutter.completion((a, a.lasts), (b, b.lasts)),
        "gain_per_ms": slope,
        "takes_over_after": over,
        "extra": 0.0 if abs(extra) <= 2 * cutter.tolerance else extra,
        "feasible": a.mark is not None and b.mark is not None,
        "cost": cost,
        "gain_per_cost": _per_cost(gain, cost),
    }


def _promising(
    cutter: _Cutter, candidates: Sequence[_Candidate], rows: Sequence[dict[str, Any]], most: int
) -> list[_Candidate]:
    """Choose what may gain in a pair: half by what each saves alone, half by what float hides."""
    floats = cutter.solution.total_float
    saves = [cutter.solution.completion - row["removed"] for row in rows]
    hidden = [c.lasts - float(floats[c.rows].min()) for c in candidates]
    by_gain = sorted(range(len(candidates)), key=lambda k: (-saves[k], -hidden[k], k))
    chosen = by_gain[: (most + 1) // 2]
    by_size = sorted(by_gain[len(chosen) :], key=lambda k: (-hidden[k], k))
    return [candidates[k] for k in sorted([*chosen, *by_size[: most - len(chosen)]])]


def _snapped(cutter: _Cutter, after: float) -> float:
    gain = cutter.solution.completion - after
    return 0.0 if abs(gain) <= cutter.tolerance else gain


def _per_cost(gain: float, cost: Any) -> float:
    number = as_real(cost)
    return gain / number if number is not None and number > 0 else math.nan
