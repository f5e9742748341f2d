"""Where scattered values lie, in spite of outliers: medians, and peaks where there is one.

Differences of two ranks' ends are not normal. Over NCCL they lie within microseconds; over gloo
many lie at zero and the rest anywhere within milliseconds, so that a median is a hundred times
worse than the peak.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

#: So many values are the least to look for a peak, or a slope, among.
LEAST_FOR_PEAK: Final = 10
LEAST_FOR_SLOPE: Final = 12

#: A peak is a quarter of the values within a tenth of what half of them need.
_PEAK_PART: Final = 4
_PEAK_LEAST: Final = 5
_PEAK_SHARPNESS: Final = 10.0

#: Median absolute deviation → three standard errors of a median, for normal values.
_THREE_ERRORS: Final = 3 * 1.4826 * 1.2533


@dataclass(frozen=True)
class Place:
    """Where values lie, how well that is known, and how far they typically lie from it."""

    at: float
    precision: float
    residual: float
    peaked: bool = False


@dataclass(frozen=True)
class Line:
    """A line through values over time: its place at time 0, its slope (0 if not significant)."""

    place: Place
    slope: float
    count: int


def weighted_median(values: FloatArray, weights: FloatArray) -> float:
    """Return the value with half of the weight on either side."""
    order = np.argsort(values, kind="stable")
    values, reached = values[order], np.cumsum(weights[order])
    half = reached[-1] / 2
    at = int(np.searchsorted(reached, half))
    at = min(at, len(values) - 1)
    if reached[at] == half and at + 1 < len(values):
        return float((values[at] + values[at + 1]) / 2)
    return float(values[at])


def place_of(values: FloatArray, weights: FloatArray) -> Place:
    """Return where values lie: at a peak if they have a sharp one, else at the weighted median."""
    at = weighted_median(values, weights)
    residual = weighted_median(np.abs(values - at), weights)
    peak = _peak(np.sort(values))
    if peak is not None:
        away = weighted_median(np.abs(values - peak[0]), weights)
        return Place(peak[0], peak[1], away, peaked=True)
    return Place(at, _error(residual, weights), residual)


def line_of(times: FloatArray, values: FloatArray, weights: FloatArray) -> Line:
    """Return a line through values, with a slope only if it is beyond doubt.

    The slope is the median of those between each value and the one half of them later
    (Theil and Sen's, with long distances only).
    """
    flat = Line(place_of(values, weights), 0.0, len(values))
    if len(values) < LEAST_FOR_SLOPE or flat.place.peaked:
        return flat
    order = np.argsort(times, kind="stable")
    half = len(order) // 2
    early, late = order[: len(order) - half], order[half:]
    apart = times[late] - times[early]
    early, late, apart = early[apart > 0], late[apart > 0], apart[apart > 0]
    if len(apart) < LEAST_FOR_SLOPE // 2:
        return flat
    slopes = (values[late] - values[early]) / apart
    both = np.sqrt(weights[late] * weights[early]) * apart
    slope = weighted_median(slopes, both)
    scatter = weighted_median(np.abs(slopes - slope), both)
    if abs(slope) <= _error(scatter, both):
        return flat
    place = place_of(values - slope * times, weights)
    if place.residual >= flat.place.residual:
        return flat
    return Line(place, slope, len(values))


def _error(residual: float, weights: FloatArray) -> float:
    """Return three standard errors of a median, wider where there are few values."""
    count = float(weights.sum()) ** 2 / float((weights**2).sum())
    return float(_THREE_ERRORS * residual / np.sqrt(count) * (1 + 4 / count))


def _peak(values: FloatArray) -> tuple[float, float] | None:
    """Return the middle and the width of a sharp peak of sorted values, None if there is none."""
    count = len(values)
    if count < LEAST_FOR_PEAK:
        return None
    few = max(_PEAK_LEAST, -(-count // _PEAK_PART))
    half = -(-count // 2)
    widths = values[few - 1 :] - values[: count - few + 1]
    at = int(np.argmin(widths))
    wide = float((values[half - 1 :] - values[: count - half + 1]).min())
    if float(widths[at]) * _PEAK_SHARPNESS >= wide:
        return None
    return float(np.median(values[at : at + few])), float(widths[at])
