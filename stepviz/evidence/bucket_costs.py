"""What a bucket costs on a run's link, and what exchange costs compute: fitted, or refused."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from stepviz.builders.cost_fits import ExtrapolationWarning, FittedCost
from stepviz.builders.cost_fits import fit_cost as fit_points
from stepviz.errors import CostError
from stepviz.evidence.backward_passes import CapturedStep, exchanges_beside
from stepviz.evidence.fits import fit_contention
from stepviz.evidence.records import sweep_of
from stepviz.traces import Run

_MS: Final = 1e6
#: Compute is never taken to be slower than this beside exchange, nor exchange beside compute: what
#: says so is noise.
SLOWEST: Final = 0.5
#: Sizes beyond the fitted ones by more than this factor are an extrapolation.
_FAR: Final = 1.5


@dataclass(frozen=True, eq=False)
class LinkFit:
    """The cost of an exchange, between two lines that hold its uncertainty.

    The line is that of most exchanges. A queue adds up all of them, also those that had to wait
    for a core: `extra`, ms, is what one took beyond the line on average, in the middle step, and
    `slowed` by which part exchange was slower while a rank computed beside it.
    """

    cost: FittedCost
    extra: float
    slowed: float
    error: float
    low: float
    high: float
    servers: int
    note: str

    def ms(self, nbytes: float, outside: float = 1.0) -> float:
        """Return how long an exchange takes.

        Parameters
        ----------
        nbytes : float
        outside : float
            What to multiply the part of the line with that lies outside the fitted sizes.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ExtrapolationWarning)  # said by `beyond`
            line = self.cost.ms(nbytes)
            if outside != 1.0:
                edge = self.cost.ms(float(np.clip(nbytes, *self.known)))
                line = max(edge + outside * (line - edge), 0.0)
            return line + self.extra

    @property
    def known(self) -> tuple[float, float]:
        """The smallest and the largest size that the line was fitted to, bytes."""
        row = self.cost.fits.iloc[0]
        return float(row["smallest"]), float(row["largest"])

    def beyond(self, sizes: Sequence[float]) -> bool:
        """Say whether sizes lie far outside what was measured."""
        smallest, largest = self.known
        return bool(min(sizes) * _FAR < smallest or max(sizes) > largest * _FAR)


def fit_link(run: Run, captured: Sequence[CapturedStep]) -> LinkFit:
    """Fit latency and bandwidth to the exchanges of a run's steps and of its sweep.

    Raises
    ------
    CostError
        Where all have one size: any cap would be a guess.
    """
    frames = [
        run.step(step.number).collectives.assign(step=step.number, beside=exchanges_beside(step))
        for step in captured
    ]
    calls = pd.concat([f for f in frames if len(f)] or frames[:1])
    if len(calls):
        calls = calls[(calls["collective"] == "all-reduce") & (calls["ranks"] > 1)]
    steps = pd.DataFrame(
        {
            "bytes": calls["bytes"].astype("float64") if len(calls) else [],
            "ms": calls["transfer_ns"].astype("float64") / _MS if len(calls) else [],
            "step": calls["step"] if len(calls) else [],
            "beside": calls["beside"] if len(calls) else [],
        }
    ).dropna()
    steps = steps[(steps["bytes"] > 0) & (steps["ms"] > 0)]
    if steps.empty:
        msg = (
            f"{run.name} shows no exchange of known size between its ranks, so the cost of another "
            "bucket can't be fitted"
        )
        raise CostError(msg)
    swept = sweep_of(run)[["bytes", "ms"]]
    points, note = steps[["bytes", "ms"]], "the exchanges of its steps"
    if len(swept) and len(swept["bytes"].unique()) > 1:
        alone = fit_points(swept)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ExtrapolationWarning)
            usual = np.array([alone.ms(size) for size in steps["bytes"]])
        # In a step an exchange has company; the sweep had none.
        slower = float(np.median(steps["ms"].to_numpy() / usual))
        points = pd.concat([points, swept.assign(ms=swept["ms"] * slower)])
        note += f" and of the sweep before them, which were {slower:.2f} times as fast"
    cost = fit_points(points)
    line = _costs(cost, steps["bytes"])
    extra, slowed = told_beyond(steps.assign(ms=steps["ms"] - line))
    error = np.log(steps["ms"].to_numpy() / line)
    # A fit of n points is sure of its middle to the n-th root of their scatter.
    scatter = 1.4826 * float(np.median(np.abs(error - np.median(error))))
    half = 2 * scatter / np.sqrt(len(error))
    whole = line + extra + slowed * steps["beside"].to_numpy()
    middle = float(np.median(np.log(steps["ms"].to_numpy() / whole)))
    return LinkFit(
        cost,
        extra,
        slowed,
        float(np.median(np.abs(np.expm1(error)))),
        float(np.exp(min(middle, 0.0) - half)),
        float(np.exp(max(middle, 0.0) + half)),
        _servers(run, [step.number for step in captured]),
        note,
    )


def told_beyond(rest: pd.DataFrame) -> tuple[float, float]:
    """Return what exchanges take beyond the line: each, ms, and for each ms of compute beside it.

    In the middle step, so that one in which the machine did something else does not decide.
    """
    alone = rest[rest["beside"] <= 0]
    extra = max(float(alone.groupby("step")["ms"].mean().median()), 0.0) if len(alone) else 0.0
    hidden = rest[rest["beside"] > 0]
    if hidden.empty:
        return extra, 0.0
    sums = hidden.assign(ms=hidden["ms"] - extra).groupby("step")[["ms", "beside"]].sum()
    slowed = float((sums["ms"] / sums["beside"]).median())
    return extra, float(np.clip(slowed, 0.0, 1 - SLOWEST))


def _costs(cost: FittedCost, sizes: pd.Series) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExtrapolationWarning)
        return np.array([cost.ms(size) for size in sizes])


def _servers(run: Run, numbers: Sequence[int]) -> int:
    """Return how many exchanges the link carries at a time: as many as are seen to run at once.

    An exchange runs from its last member's arrival to its end; a moment does not count.
    """
    most = 1.0
    for number in numbers:
        table = run.step(number).collectives
        took = table["transfer_ns"].fillna(0).to_numpy(dtype=np.int64)
        ends = table["finish_ns"].to_numpy(dtype=np.int64)
        begun = ends - took
        edges = np.concatenate((begun, ends))
        change = np.concatenate((np.ones(len(begun)), -np.ones(len(ends))))
        order = np.lexsort((change, edges))
        depth = np.cumsum(change[order])[:-1]
        lasts = np.diff(edges[order])
        for level in (2, 3, 4):
            # For a tenth of the time that anything ran.
            if lasts[depth >= level].sum() > 0.1 * lasts[depth >= 1].sum():
                most = max(most, level)
    return int(most)


def fit_rate(run: Run) -> tuple[float, str]:
    """Return the speed of compute beside exchange, as part of its full one, and how it was told.

    From operators that ran both ways; 1 where there are none.
    """
    try:
        found = fit_contention(run)
    except CostError:
        return 1.0, "no pass without exchange shows what it costs compute: taken to be nothing"
    rate = max(found.contention.compute, SLOWEST)
    return rate, (
        f"the same operators with and without it: compute runs at {rate:.2f} beside it, "
        f"{found.trust}"
    )
