"""A cost model fitted to measured collectives, with the range of sizes it knows."""

from __future__ import annotations

import html
import itertools
import math
import warnings
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from stepviz.builders.costs import (
    BYTES_PER_MS,
    CostModel,
    Ring,
    as_ranks,
    bus_factor,
    collective_name,
)
from stepviz.core.checks import as_real, is_missing
from stepviz.errors import CostError

_NS_PER_MS: Final = 1e6
#: Beyond this many sizes, near ones are taken together to find the line; all points judge it.
_MOST_SIZES: Final = 60
#: Sizes of which the largest is not this many times the smallest count as one.
_APART: Final = 1.25
FIT_COLUMNS: Final = (
    "collective",
    "ranks",
    "latency",
    "bandwidth",
    "smallest",
    "largest",
    "sizes",
    "points",
    "error",
)


class ExtrapolationWarning(UserWarning):
    """A cost was asked outside the sizes or ranks that it was fitted to."""


@dataclass(frozen=True, eq=False)
class FittedCost(CostModel):
    """What a run's own collectives cost, and over which sizes that is known.

    Made by `fit_cost`. Asked outside its range it answers with an `ExtrapolationWarning`.

    Attributes
    ----------
    fits : DataFrame
        A row per collective and number of ranks: `latency` (ms) and `bandwidth` (GB/s of
        algorithm bandwidth) of t = α + n/B; `smallest` and `largest`, the bytes it was fitted to;
        `sizes` and `points`, how many; `error`, the median relative error of the points.
    ranks : int or None
        The number of ranks most points have; other numbers need `ring`.
    skipped : int
        Points left out: no size, no transfer, or an unknown collective.
    """

    fits: pd.DataFrame
    ranks: int | None
    skipped: int = 0

    def _ms(self, nbytes: float, collective: str) -> float:
        row = self._row(collective)
        if not row["smallest"] <= nbytes <= row["largest"]:
            msg = (
                f"{nbytes:,.0f} bytes of {collective} lie outside what was measured, "
                f"{row['smallest']:,.0f} to {row['largest']:,.0f}: this is an extrapolation"
            )
            warnings.warn(msg, ExtrapolationWarning, stacklevel=3)
        return float(row["latency"] + nbytes / (row["bandwidth"] * BYTES_PER_MS))

    def ring(self, ranks: int | None = None, collective: str = "all-reduce") -> Ring:
        """Return the ring whose hop latency and link bandwidth give this fit.

        Parameters
        ----------
        ranks : int, optional
            Another number of ranks to predict for, an `ExtrapolationWarning`; None keeps it.
        collective : str
            Which fit to take it from: all-reduce, all-gather, reduce-scatter or all-to-all.
        """
        name = collective_name(collective)
        hops = {"all-reduce": 2, "all-gather": 1, "reduce-scatter": 1, "all-to-all": 1}.get(name)
        row = self._row(name)
        p = 0 if pd.isna(row["ranks"]) else int(row["ranks"])
        if hops is None or p < 2:
            msg = (
                f"a ring can't be told from {name} over {p or 'unknown'} ranks: take a collective "
                "of two ranks or more that goes round a ring, such as all-reduce"
            )
            raise CostError(msg)
        if ranks is not None and as_ranks(ranks) != p:
            msg = f"{ranks} ranks were not measured, only {p}: this is an extrapolation"
            warnings.warn(msg, ExtrapolationWarning, stacklevel=2)
        return Ring(
            p if ranks is None else ranks,
            float(row["latency"]) / (hops * (p - 1)),
            float(row["bandwidth"]) * bus_factor(name, p),
        )

    def _row(self, collective: str) -> Any:
        here = self.fits[self.fits["collective"] == collective]
        if here.empty:
            known = ", ".join(dict.fromkeys(self.fits["collective"]))
            msg = f"{collective} was not measured, only {known}: take a model for it, such as Ring"
            raise CostError(msg)
        same = here[here["ranks"] == self.ranks] if self.ranks is not None else here
        return (here if same.empty else same).sort_values("points").iloc[-1]

    def __str__(self) -> str:
        said = [
            f"{row['collective']} {row['latency']:.4g} ms + n/({row['bandwidth']:.4g} GB/s), "
            f"{row['smallest']:,.0f} to {row['largest']:,.0f} bytes, {row['points']} points, "
            f"error {row['error']:.1%}"
            for row in self.fits.to_dict("records")
        ]
        return "; ".join(said)

    def __repr__(self) -> str:
        return f"<FittedCost: {self}>"

    def _repr_html_(self) -> str:
        shown = self.fits.astype({"smallest": "int64", "largest": "int64"})
        whole = dict.fromkeys(("smallest", "largest"), "{:,}".format)
        table = shown.to_html(index=False, formatters=whole, float_format="{:,.5g}".format)
        left = f"<p>{self.skipped} points left out</p>" if self.skipped else ""
        return f"<p>{html.escape('t = α + n/B; latency in ms, bandwidth in GB/s')}</p>{table}{left}"


def fit_cost(points: pd.DataFrame) -> FittedCost:
    """Fit t = α + n/B to measured collectives, each kind and number of ranks on its own.

    The line has the least sum of errors on a logarithmic scale, so outliers count little, and small
    messages as much as large ones; neither latency nor time per byte is below 0.

    Parameters
    ----------
    points : DataFrame
        `bytes` and `transfer_ns` (or `ms`), and where known `collective` (else all-reduce) and
        `ranks`; a step's `collectives` is one.

    Returns
    -------
    FittedCost

    Raises
    ------
    CostError
        A missing column, no usable point, or points of one size only: latency and bandwidth can't
        be told apart then.

    Examples
    --------
    >>> points = pd.DataFrame({"bytes": [1e6, 2e6, 4e6], "ms": [1.5, 2.5, 4.5]})
    >>> fit_cost(points).ms(3e6)
    3.5
    """
    if not isinstance(points, pd.DataFrame):
        msg = f"points is {type(points).__name__}: give a frame with 'bytes' and 'transfer_ns'"
        raise CostError(msg)
    time_column = next((c for c in ("transfer_ns", "ms") if c in points.columns), None)
    if "bytes" not in points.columns or time_column is None:
        have = ", ".join(map(str, points.columns)) or "none"
        msg = f"points needs the columns 'bytes' and 'transfer_ns' or 'ms'; it has {have}"
        raise CostError(msg)
    scale = _NS_PER_MS if time_column == "transfer_ns" else 1.0
    frame = pd.DataFrame(
        {
            "bytes": _numbers(points["bytes"]),
            "ms": _numbers(points[time_column]) / scale,
            "collective": _names(points),
            "ranks": _ranks(points),
        }
    )
    good = (frame["bytes"] > 0) & (frame["ms"] > 0) & frame["collective"].notna()
    good &= np.isfinite(frame["bytes"]) & np.isfinite(frame["ms"])
    used = frame[good]
    if used.empty:
        msg = (
            f"none of {len(frame)} points has a size, a time and a known collective: give 'bytes' "
            "and 'transfer_ns' or 'ms' above 0, and collectives such as all-reduce"
        )
        raise CostError(msg)
    rows, alone = [], []
    for (collective, ranks), group in used.groupby(["collective", "ranks"], dropna=False):
        least, most_bytes = group["bytes"].min(), group["bytes"].max()
        if most_bytes < _APART * least:
            alone.append(f"{len(group)} of {collective} of about {most_bytes:,.0f} bytes")
            continue
        rows.append(_fit(str(collective), ranks, group))
    if not rows:
        msg = (
            f"each collective has one size only ({'; '.join(alone)}), so latency and bandwidth "
            "can't be told apart: measure sizes that differ, for example with DDP's "
            "bucket_cap_mb_list"
        )
        raise CostError(msg)
    table = pd.DataFrame(rows, columns=list(FIT_COLUMNS)).astype({"ranks": "Int64"})
    known = table.dropna(subset="ranks")
    most = None
    if len(known):
        sums = known.groupby("ranks")["points"].sum()
        most = int(sums.index.to_numpy(dtype=np.int64)[int(sums.to_numpy().argmax())])
    left = len(frame) - int(table["points"].sum())
    return FittedCost(table, most, left)


def _names(points: pd.DataFrame) -> list[str | None]:
    if "collective" not in points.columns:
        return ["all-reduce"] * len(points)
    known: dict[str, str | None] = {}
    words = [str(given) for given in points["collective"]]
    for given in dict.fromkeys(words):
        try:
            known[given] = collective_name(given)
        except CostError:
            known[given] = None
    return [known[given] for given in words]


def _ranks(points: pd.DataFrame) -> Any:
    if "ranks" not in points.columns:
        return np.full(len(points), np.nan)
    return _numbers(points["ranks"])


def _numbers(column: pd.Series) -> NDArray[np.float64]:
    """Return a column as floats, NaN where a cell is missing."""
    try:
        numbers = pd.to_numeric(column).astype("Float64")
        return np.asarray(numbers.to_numpy(dtype=np.float64, na_value=np.nan), dtype=np.float64)
    except (TypeError, ValueError):
        bad = next((cell for cell in column if not is_missing(cell) and as_real(cell) is None), "")
        msg = f"the column {column.name!r} holds {bad!r}: give numbers"
        raise CostError(msg) from None


def _fit(collective: str, ranks: float, group: pd.DataFrame) -> tuple[object, ...]:
    nbytes, ms = group["bytes"].to_numpy(), group["ms"].to_numpy()
    latency, per_byte = _line(nbytes, ms)
    error = np.abs(latency + per_byte * nbytes - ms) / ms
    return (
        collective,
        pd.NA if math.isnan(ranks) else int(ranks),
        latency,
        math.inf if per_byte == 0 else 1 / per_byte / BYTES_PER_MS,
        float(nbytes.min()),
        float(nbytes.max()),
        len(np.unique(nbytes)),
        len(group),
        float(np.median(error)),
    )


def _line(nbytes: NDArray[np.float64], ms: NDArray[np.float64]) -> tuple[float, float]:
    """Return latency and ms per byte with the least sum of errors on a logarithmic scale.

    Tried are the lines through every two sizes, each with the median of its times, and those
    without latency or without time per byte.
    """
    sizes, place = np.unique(nbytes, return_inverse=True)
    if len(sizes) > _MOST_SIZES:
        place = (np.arange(len(sizes)) * _MOST_SIZES // len(sizes))[place]
    spots = [
        (float(np.median(nbytes[place == k])), float(np.median(ms[place == k])))
        for k in range(int(place.max()) + 1)
    ]
    lines = [(0.0, t / n) for n, t in spots] + [(t, 0.0) for _, t in spots]
    for (n1, t1), (n2, t2) in itertools.combinations(spots, 2):
        slope = (t2 - t1) / (n2 - n1)
        latency = t1 - slope * n1
        if slope >= 0 and latency >= -1e-12 * t1:  # 0 to rounding is 0
            lines.append((max(latency, 0.0), slope))

    def off(line: tuple[float, float]) -> float:
        return float(np.abs(np.log((line[0] + line[1] * nbytes) / ms)).sum())

    return min(lines, key=off)
