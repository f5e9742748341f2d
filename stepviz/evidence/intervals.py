"""How sure is a difference of step times? A bootstrap of blocks, widened for few of them.

Step times have three habits that a plain t-test does not expect, and each has its answer here:

- A few steps are far longer than the rest (a checkpoint, a garbage collection, another job). The
  centre is the *trimmed mean* of the logarithms, without the fifth of the values at each end;
  and values more than five usual deviations from the median are first pulled in to there, since
  drawn again several times they would stand for a fifth. What is usual is told anew for each draw:
  where steps come in two lengths, it depends on how many of each were met.
- Neighbouring steps are alike: the machine is slow for a while. Not single steps but *blocks* of
  neighbours are drawn again (a circular block bootstrap; Politis and Romano 1992), as long as the
  series' own autocorrelation lasts. Blocks are at least the cube root of the count.
- Few blocks say little about their own spread. The bootstrap's interval is widened by Student's t
  over the normal quantile, and by √(k / (k − 1)), for the k blocks of each side.

Where a side is several runs, a whole run is the block: runs of one configuration differ by more
than their steps do (clocks, placement, neighbours). The interval is then Welch's over the runs'
centres, or over pairs where the runs of both sides took turns, and never narrower than what the
steps inside the runs say.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: The part of the values left out at each end.
TRIMMED: Final = 0.2
#: Far from the median, in median deviations: five standard deviations of a normal distribution.
_FAR: Final = 5 * 1.4826
#: Halves of a run that differ by more standard errors than this are no chance.
_TREND: Final = 3.5
#: How often steps are drawn again; the interval's ends then vary by 2 % of its width.
DRAWS: Final = 4000
#: Student's t beyond which 2.5 % and 0.5 % lie, by degrees of freedom; between them its logarithm
#: is taken as linear in 1/df.
_DF: Final = (1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 15, 30, math.inf)
_T: Final = {
    0.95: (
        12.706,
        8.028,
        6.017,
        4.303,
        3.575,
        3.182,
        2.776,
        2.571,
        2.447,
        2.306,
        2.228,
        2.131,
        2.042,
        1.960,
    ),
    0.99: (
        63.657,
        29.272,
        17.820,
        9.925,
        7.164,
        5.841,
        4.604,
        4.032,
        3.707,
        3.355,
        3.169,
        2.947,
        2.750,
        2.576,
    ),
}


@dataclass(frozen=True)
class Interval:
    """A ratio after ÷ before, where it lies with so much confidence, and how that was found."""

    ratio: float
    low: float
    high: float
    level: float
    how: str

    @property
    def decided(self) -> bool:
        """Whether the interval leaves out 1."""
        return self.low > 1 or self.high < 1


def t_quantile(df: float, level: float) -> float:
    """Return Student's t for a two-sided level (0.95 or 0.99), to 1 %."""
    inverse = [1 / d for d in reversed(_DF)]
    return math.exp(np.interp(1 / max(df, 1), inverse, np.log(_T[level][::-1])))


def centre(values: Floats) -> float:
    """Return the trimmed mean of values whose extremes are pulled in."""
    return float(_centres(np.asarray(values, dtype=np.float64)[None, :])[0])


def _centres(rows: Floats) -> Floats:
    """Return the centre of each row of a matrix."""
    cut = int(TRIMMED * rows.shape[1])
    ordered = _pulled_in(np.sort(rows, axis=1))  # which keeps the order
    kept = ordered[:, cut : rows.shape[1] - cut]
    found: Floats = kept.mean(axis=1)
    return found


def _medians(rows: Floats) -> Floats:
    """Return each row's median as a column; several times as fast as numpy's over many rows."""
    n = rows.shape[1]
    half = n // 2
    parted = np.partition(rows, half if n % 2 else (half - 1, half), axis=1)
    found: Floats = parted[:, half - 1 + n % 2 : half + 1].mean(axis=1, keepdims=True)
    return found


def _pulled_in(rows: Floats) -> Floats:
    """Return rows with values far from their median moved to where they are just far."""
    middle = _medians(rows)
    room = _FAR * _medians(np.abs(rows - middle))
    # Where most values are equal nothing is usual.
    room = np.where(room > 0, room, np.inf)
    found: Floats = np.clip(rows, middle - room, middle + room)
    return found


def drift_within(values: Floats) -> float:
    """Return by how much the later half lies above the earlier one, 0 where that is noise.

    Noise is less than `_TREND` standard errors of the difference, as if values were independent.
    """
    half = len(values) // 2
    if half < 2:
        return 0.0
    early, late = _pulled_in(np.stack((values[:half], values[len(values) - half :])))
    apart = centre(late) - centre(early)
    error = math.sqrt((float(early.var(ddof=1)) + float(late.var(ddof=1))) / half)
    return apart if abs(apart) > _TREND * error else 0.0


def block_length(values: Floats) -> int:
    """Return how many neighbours are drawn together: as long as the values resemble each other.

    Twice the integrated autocorrelation time (summed to its first value below 1/√n), at least the
    cube root of the count, at most a quarter of it.
    """
    n = len(values)
    least = max(round(math.cbrt(n)), 1)
    most = max(n // 4, 1)
    # Extremes say nothing about neighbours: they are pulled in before correlating.
    low, high = np.quantile(values, [0.1, 0.9])
    away = np.clip(values, low, high)
    away = away - away.mean()
    power = float(away @ away)
    if n < 8 or power <= 0:
        return min(least, most)
    time = 1.0
    for lag in range(1, n // 2):
        rho = float(away[:-lag] @ away[lag:]) / power
        if rho < 1 / math.sqrt(n):
            break
        time += 2 * rho
    return int(min(max(least, math.ceil(2 * time)), most)) if time > 1 else min(least, most)


def difference(
    before: Sequence[Floats], after: Sequence[Floats], *, level: float = 0.95, paired: bool = False
) -> Interval:
    """Return the ratio of step times after ÷ before, with its interval.

    Parameters
    ----------
    before, after : sequence of arrays
        Step times of each run of a side, in the order they were taken; above 0.
    level : {0.95, 0.99}
    paired : bool
        Whether the k-th runs of both sides were taken next to each other.
    """
    logs = [[np.log(run) for run in side] for side in (before, after)]
    # The same draws for the same data: an answer does not change when asked again.
    random = np.random.default_rng(20)
    drawn = [_draws(side, random, level) for side in logs]
    apart = drawn[1] - drawn[0]
    middle = np.mean([centre(run) for run in logs[1]]) - np.mean([centre(run) for run in logs[0]])
    tail = (1 - level) / 2
    low, high = np.quantile(apart, [tail, 1 - tail])
    low, high = min(low, middle), max(high, middle)
    how = "block bootstrap of the steps of one run a side"
    if min(len(before), len(after)) > 1:
        half, how = _between(logs, level, paired=paired)
        low, high = min(low, middle - half), max(high, middle + half)
    return Interval(math.exp(middle), math.exp(low), math.exp(high), level, how)


def _draws(side: Sequence[Floats], random: np.random.Generator, level: float) -> Floats:
    """Return centres of a side drawn again, its deviations widened for few blocks."""
    total = np.zeros(DRAWS)
    for run in side:
        n = len(run)
        if n == 1:
            total += run[0]
            continue
        length = block_length(run)
        blocks = math.ceil(n / length)
        starts = random.integers(0, n, size=(DRAWS, blocks))
        places = (starts[:, :, None] + np.arange(length)) % n
        drawn = _centres(run[places.reshape(DRAWS, -1)[:, :n]])
        wider = t_quantile(max(n / length - 1, 1), level) / _T[level][-1]
        wider *= math.sqrt(blocks / max(blocks - 1, 1))
        middle = centre(run)
        total += middle + wider * (drawn - middle)
    return total / len(side)


def _between(logs: Sequence[Sequence[Floats]], level: float, *, paired: bool) -> tuple[float, str]:
    """Return the half width that the runs' own centres say, and how."""
    first, second = ([centre(run) for run in side] for side in logs)
    if paired and len(first) == len(second):
        apart = np.subtract(second, first)
        half = t_quantile(len(apart) - 1, level) * float(apart.std(ddof=1)) / math.sqrt(len(apart))
        return half, f"Student's t over {len(apart)} pairs of runs that took turns"
    parts = [float(np.var(side, ddof=1)) / len(side) for side in (first, second)]
    spread = sum(parts)
    freedom = sum(p**2 / (len(s) - 1) for p, s in zip(parts, (first, second), strict=True))
    df = spread**2 / freedom if freedom > 0 else math.inf
    half = t_quantile(df, level) * math.sqrt(spread)
    return half, f"Welch's t over {len(first)} and {len(second)} runs"
