"""How the completion answers to one duration: the exact curve, and drag, its best saving.

A path through phase p enters at p's start or at its finish and leaves from either. Only p's own
duration x changes, so the completion is the largest of a constant, a falling and a rising line:

    T(x) = max(A0, Rs + Ls, Rf + Lf,   Rf + Ls - x,   Rs + Lf + x)

Rs, Rf: earliest time its incoming dependencies (and release) allow for its start, its finish.
Ls, Lf: longest way from its start, its finish, to the completion. A0: completion without p.
With FS links only, Rf and Ls are minus infinity and the curve is the familiar hinge; the falling
line is what makes shortening a phase lengthen the project (reverse criticality).

A0 needs no new solve per phase. Number the phases topologically: a path that avoids p has exactly
one edge that jumps over p's place, and the longest path through an edge is the completion less
the edge's slack against latest times. So A0 is a range maximum, found for all p at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from stepviz.core.graph import Floats, Ints, Solution


@dataclass(frozen=True, eq=False, repr=False)
class Response:
    """The completion as max(level, fall - x, rise + x) of each phase's own duration x, all ms."""

    level: Floats
    fall: Floats
    rise: Floats

    def at(self, duration: Floats) -> Floats:
        """Completion, ms, if a phase lasted `duration` ms and all others what they do."""
        return np.maximum(self.level, np.maximum(self.fall - duration, self.rise + duration))

    def lowest(self, upto: Floats) -> Floats:
        """Least completion, ms, over durations from 0 to `upto` ms."""
        crossing = np.zeros(len(self.level))  # no falling line: the shorter the better
        falls = self.fall > -np.inf
        crossing[falls] = upto[falls]
        both = falls & (self.rise > -np.inf)
        crossing[both] = (self.fall[both] - self.rise[both]) / 2
        return self.at(np.clip(crossing, 0.0, upto))

    def corners(self, phase: int) -> tuple[float, float]:
        """Durations, ms, where one phase's curve stops falling and where it starts to rise."""
        level, fall, rise = (float(x[phase]) for x in (self.level, self.fall, self.rise))
        if fall - level > level - rise:  # the level never shows between the two lines
            return (fall - rise) / 2, (fall - rise) / 2
        return fall - level, level - rise


def response(solution: Solution) -> Response:
    """Return the exact answer of the completion to each phase's duration."""
    reach_start, reach_finish = _reaches(solution)
    tail_start, tail_finish = _tails(solution)
    through = np.maximum(reach_start + tail_start, reach_finish + tail_finish)
    return Response(
        level=np.maximum(_avoiding(solution), through),
        fall=reach_finish + tail_start,
        rise=reach_start + tail_finish,
    )


def drags(solution: Solution) -> Floats:
    """Return each phase's drag, ms: the most that shortening it alone can save.

    Dependencies are kept. 0 for a phase that is not critical (Devaux's drag, extended to all four
    link types by the exact curve).
    """
    saved = solution.completion - response(solution).lowest(solution.graph.duration)
    return np.where(solution.critical, np.maximum(solution.snap(saved), 0.0), 0.0)


def curve(solution: Solution, phase: int) -> pd.DataFrame:
    """Return the answer of the completion to one duration as a table of its corners."""
    duration = float(solution.graph.duration[phase])
    answer = response(solution)
    falls_to, rises_from = answer.corners(phase)
    corners = [x for x in (falls_to, rises_from) if 0.0 < x < np.inf]
    # A corner that differs from the duration by rounding is the duration.
    corners = [duration if math.isclose(x, duration, rel_tol=1e-12) else x for x in corners]
    end = max(2 * max([duration, *corners]), solution.completion) or 1.0
    at = np.array(sorted({0.0, duration, *corners, end}))
    one = Response(answer.level[[phase]], answer.fall[[phase]], answer.rise[[phase]])
    completion = one.at(at)
    return pd.DataFrame(
        {
            "duration": at,
            "change": at - duration,
            "completion": completion,
            "gain": solution.completion - completion,
            "slope": _slopes(at, falls_to, rises_from),
        }
    )


def _slopes(at: Floats, falls_to: float, rises_from: float) -> NDArray[np.int64]:
    """Slope to the right of each duration, given where falling ends and rising begins."""
    beyond = at * (1 + 1e-12)
    return np.where(beyond < falls_to, -1, np.where(beyond >= rises_from, 1, 0))


def _reaches(s: Solution) -> tuple[Floats, Floats]:
    """Earliest start and finish of each phase that its incoming edges ask for."""
    g = s.graph
    reach = s.head() + g.lag
    at_start = np.maximum(g.release, 0.0)
    at_finish = np.full(g.n, -np.inf)
    on_finish = g.to_finish
    np.maximum.at(at_start, g.target[~on_finish], reach[~on_finish])
    np.maximum.at(at_finish, g.target[on_finish], reach[on_finish])
    return at_start, at_finish


def _tails(s: Solution) -> tuple[Floats, Floats]:
    """Longest way from each phase's start and from its finish to the completion."""
    g = s.graph
    late = np.where(g.to_finish, s.latest_finish[g.target], s.latest_start[g.target]) - g.lag
    from_start = np.full(g.n, np.inf)
    from_finish = s.sink.copy()
    leaves_finish = g.from_finish
    np.minimum.at(from_start, g.source[~leaves_finish], late[~leaves_finish])
    np.minimum.at(from_finish, g.source[leaves_finish], late[leaves_finish])
    return s.completion - from_start, s.completion - from_finish


def _avoiding(s: Solution) -> Floats:
    """Completion without each phase: the longest path over edges that jump over its place."""
    g, order = s.graph, s.graph.order
    place = np.empty(g.n, np.int64)
    place[order.phases] = np.arange(g.n)
    late = np.where(g.to_finish, s.latest_finish[g.target], s.latest_start[g.target])
    # Every phase may begin at its release, and end the timeline where it has the sink's bound.
    first = np.concatenate((place[g.source] + 1, np.zeros(g.n, np.int64), place + 1))
    last = np.concatenate((place[g.target] - 1, place - 1, np.full(g.n, g.n - 1)))
    slack = np.concatenate(
        (
            (late - g.lag) - s.head(),
            s.latest_start - np.maximum(g.release, 0.0),
            s.sink - s.finish,
        )
    )
    return s.completion - _least_over(first, last, slack, g.n)[place]


def _least_over(first: Ints, last: Ints, value: Floats, n: int) -> Floats:
    """For each point of 0..n-1, the least value over the ranges first..last that cover it."""
    covers = last >= first
    first, last, value = first[covers], last[covers], value[covers]
    # A range is covered by two of the longest power of two that fits; long ones hand down.
    power = np.frexp((last - first + 1).astype(np.float64))[1] - 1
    least = np.full(n, np.inf)
    for k in range(int(power.max(initial=0)), -1, -1):
        width = 1 << k
        here = power == k
        np.minimum.at(least, first[here], value[here])
        np.minimum.at(least, last[here] - width + 1, value[here])
        if k:
            half = width >> 1
            least[half:] = np.minimum(least[half:], least[:-half].copy())
    return least
