"""How lengths of steps spread over a run and over its ranks, and which step is an odd one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from stepviz.traces.classifying.windows import PREVIOUS
from stepviz.traces.joining.clocks import length_said
from stepviz.traces.table import Table

BoolArray = npt.NDArray[np.bool_]

#: Fewer steps have no usual length.
_FEWEST: Final = 3
#: A step is odd if it is this many usual deviations from the median …
_DEVIATIONS: Final = 5.0
#: … of at least this part of it.
_LEAST_PART: Final = 0.02

_COLUMNS: Final = (
    "count",
    "least",
    "quartile_1",
    "median",
    "quartile_3",
    "most",
    "ratio",
    "sentence",
)


def cut_alike(steps: pd.DataFrame | Table) -> BoolArray:
    """Say which steps can be compared: all ranks have them, and they start the same way.

    Those that follow another one, else those measured on a device, else all that are whole.
    """
    counts = np.asarray(steps["ranks"])
    whole = counts == counts.max()
    following = whole & _are(steps["start_from"], PREVIOUS)
    on_device = whole & _are(steps["window"], "device")
    return next(part for part in (following, on_device, whole) if part.any())


def _are(column: Iterable[str], word: str) -> BoolArray:
    return np.array([each == word for each in column], dtype=np.bool_)


def compared_lengths(
    lengths: npt.NDArray[np.int64], alike: BoolArray
) -> tuple[npt.NDArray[np.float64], BoolArray]:
    """Return each step's length over the median of those cut alike, and which of these are odd."""
    usual = lengths[alike].astype(np.float64)
    middle = float(np.median(usual))
    ratio = lengths / middle if middle else np.ones(len(lengths))
    away = float(np.median(np.abs(usual - middle)))
    room = _DEVIATIONS * max(away, _LEAST_PART * middle)
    odd = alike & (np.abs(lengths - middle) > room) & (len(usual) >= _FEWEST)
    return ratio, odd


def spread_frame(
    steps: pd.Series[int], odd: list[int], ranks: Mapping[int, Mapping[int, int]]
) -> pd.DataFrame:
    """Return how lengths spread over steps, and in each step over ranks (see `Run.spread`).

    Parameters
    ----------
    steps
        Lengths of the steps that can be compared, by number, ns.
    odd
        Those that are far from the others.
    ranks
        By step: lengths by rank, ns.
    """
    rows: dict[object, dict[str, Any]] = {"steps": _spread(steps)}
    rows["steps"]["sentence"] = _about_steps(steps, odd)
    for number, lengths in ranks.items():
        series = pd.Series(dict(lengths))
        rows[number] = _spread(series)
        most = series.idxmax()
        rows[number]["sentence"] = (
            f"one rank, {most}"
            if len(series) == 1
            else f"from {length_said(int(series.min()))} on rank {series.idxmin()} to "
            f"{length_said(int(series.max()))} on rank {most}"
        )
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=list(_COLUMNS))
    return frame.rename_axis("over")


def _spread(lengths: pd.Series[int]) -> dict[str, Any]:
    values = np.sort(lengths.to_numpy(dtype=np.int64))
    least = int(values[0])
    # Quartiles between two values, kept exact for absolute lengths of any size.
    low, middle, high = (
        least + round(float(q)) for q in np.quantile(values - least, [0.25, 0.5, 0.75])
    )
    return {
        "count": len(values),
        "least": least,
        "quartile_1": low,
        "median": middle,
        "quartile_3": high,
        "most": int(values[-1]),
        "ratio": float(values[-1] / middle) if middle else 1.0,
    }


def _about_steps(steps: pd.Series[int], odd: list[int]) -> str:
    if len(steps) < _FEWEST:
        noun = "step" if len(steps) == 1 else "steps"
        return f"{len(steps)} {noun} to compare: too few to tell an odd one"
    if not odd:
        return f"no odd step among {len(steps)}"
    middle = float(steps.median())
    if not middle:
        # Most steps have no length at all: how many times none is nothing tells.
        few = [f"{number} ({length_said(int(steps[number]))})" for number in odd[:5]]
    else:
        few = [f"{number} ({steps[number] / middle:.3g} times the median)" for number in odd[:5]]
    more = f" and {len(odd) - 5} more" if len(odd) > 5 else ""
    noun = "step" if len(odd) == 1 else "steps"
    return f"odd {noun} among {len(steps)}: {', '.join(few)}{more}"
