"""Whether a gap comes again: in every step, in every k-th, or at a constant period."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]

#: Gaps are alike whose lengths differ by this factor at most.
ALIKE: Final = 1.5
#: So often a gap must come before a rhythm is called one.
FEWEST: Final = 3
#: Periods may differ by this part of their median.
EVEN: Final = 0.1
#: How a rhythm is told that is not the step's own: of every k-th step, or over the run.
EVERY: Final = "every "
IN_RUN: Final = "alike in the run"


def repeats(
    gaps: IntArray, by_step: Sequence[IntArray], numbers: Sequence[int], step: int
) -> list[str]:
    """Return, per gap of a step, how it comes again; "" where no rhythm shows.

    Parameters
    ----------
    gaps
        Starts and ends, shape (n, 2), of the gaps in question.
    by_step, numbers
        The gaps of every step of the same rank, in order of time, and the steps' numbers.
    step
        The number of the gaps' own step.
    """
    return [_repeat(start, finish, by_step, numbers, step) for start, finish in gaps.tolist()]


def _repeat(
    start: int, finish: int, by_step: Sequence[IntArray], numbers: Sequence[int], step: int
) -> str:
    alike = [_alike(gaps, finish - start) for gaps in by_step]
    within = alike[list(numbers).index(step)]
    period = _period(within[:, 0])
    if period is not None:
        return f"{len(within)} alike in this step, every {period / 1e6:.3g} ms"
    having = [at for at, gaps in enumerate(alike) if len(gaps)]
    if len(having) < FEWEST:
        return ""
    if len(having) == len(by_step):
        return f"alike in each of {len(by_step)} steps"
    apart = np.diff(having)
    if (apart == apart[0]).all() and apart[0] > 1:
        shown = ", ".join(str(numbers[at]) for at in having[:4])
        more = ", …" if len(having) > 4 else ""
        return f"{EVERY}{_th(int(apart[0]))} step: {shown}{more}"
    every = np.concatenate([gaps[:, 0] for gaps in alike])
    period = _period(np.sort(every))
    return "" if period is None else f"{len(every)} {IN_RUN}, every {period / 1e6:.3g} ms"


def _alike(gaps: IntArray, length: int) -> IntArray:
    lengths = gaps[:, 1] - gaps[:, 0]
    return gaps[(lengths * ALIKE >= length) & (lengths <= length * ALIKE)]


def _period(starts: IntArray) -> float | None:
    """Return the period of moments that come evenly, None where they don't."""
    if len(starts) <= FEWEST:
        return None
    apart = np.diff(starts)
    middle = float(np.median(apart))
    even = np.abs(apart - middle) <= EVEN * middle
    return middle if middle > 0 and bool(even.all()) else None


def _th(number: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if 10 <= number % 100 <= 20 else ending}"
