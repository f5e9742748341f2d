"""How much exchange slows compute, from the same kernels with and without exchange beside them."""

from __future__ import annotations

import html
from dataclasses import dataclass

import numpy as np
import pandas as pd

from stepviz.builders.contention import Contention
from stepviz.core.intervals import union
from stepviz.core.vocabulary import COMPUTE
from stepviz.errors import CostError

_NEEDED = ("name", "kind", "start_ns", "finish_ns")
#: A kernel with less of its time beside exchange than this counts as alone, with more as beside.
_ALONE, _BESIDE = 0.0, 0.5
#: From these parts of all compute on, kernels stand for most of it, or for a part of it.
_MOST, _PART = 0.5, 0.1
#: Between these parts of the time beside exchange the rates of kernels are told as a range.
_SPREAD = (0.1, 0.9)
#: Where a name's durations alone differ more than this (nine tenths of them), it mixes shapes.
_ONE_SHAPE = 1.3


@dataclass(frozen=True, eq=False)
class ContentionFit:
    """What exchange costs compute, measured.

    Attributes
    ----------
    contention : Contention
        The rates, to be applied to a timeline.
    kernels : DataFrame
        Indexed by kernel name: `alone` and `beside`, how many ran so; `alone_ns`, the median
        duration alone; `beside_ns`, the median duration beside exchange; `slowdown`, beside over
        alone; `rate`, of compute while exchange runs; the heaviest first.
    share : float
        The part of all compute time that these kernels make up.
    low, high : float
        Between which rates kernels lay for eight tenths of their time beside exchange; from 0, and
        above 1 where some were quicker beside it.
    """

    contention: Contention
    kernels: pd.DataFrame
    share: float
    low: float
    high: float

    @property
    def trust(self) -> str:
        """How far the rate may be trusted, in a sentence: which part of compute it rests on."""
        said = f"told by kernels that are {self.share:.0%} of compute"
        if self.share >= _MOST:
            return f"{said}, most of it"
        if self.share >= _PART:
            return f"{said}: the rest is taken to slow down as they do"
        return (
            f"{said}, little of it: a guess for the rest, which never ran both alone and beside "
            "exchange in one shape"
        )

    @property
    def _said(self) -> str:
        speed = f"compute runs at {self.contention.compute:.3g} of its speed beside exchange"
        return f"{speed} (kernels at {self.low:.3g} to {self.high:.3g}); {self.trust}"

    def __repr__(self) -> str:
        return f"<ContentionFit: {self._said}>"

    def _repr_html_(self) -> str:
        shown = self.kernels.head(30).to_html(float_format=lambda x: f"{x:,.4g}", escape=True)
        return f"<p>{html.escape(self._said)}</p>{shown}"


def fit_contention(work: pd.DataFrame) -> ContentionFit:
    """Fit the rate of compute beside exchange from what ran on the device.

    A kernel that ran for d ns, a share s of it beside exchange, did d(1 − s) + d·s·rate of work;
    alone it takes its median duration. The rate of a name is that of the sums over its rows of
    which half or more lies beside exchange; the rate of all is the median of names, weighted by
    their time beside exchange. A name whose durations alone differ by more than 1.3 mixes shapes
    and is left out. How much of compute the names are, and so how far the rate may be trusted, is
    the result's `trust`.

    Parameters
    ----------
    work : DataFrame
        A row per piece of device work: `name`, `kind` (see `Timeline`), `start_ns`, `finish_ns`,
        and `rank` where there are several.

    Returns
    -------
    ContentionFit

    Raises
    ------
    CostError
        A missing column, or no kernel that ran both alone and beside exchange.

    Examples
    --------
    A product that takes 10 ms alone and 12.5 ms beside an exchange keeps 80 % of its speed:

    >>> work = pd.DataFrame(
    ...     {
    ...         "name": ["mm", "mm", "all_reduce"],
    ...         "kind": ["backward", "backward", "exchange"],
    ...         "start_ns": [0, 20_000_000, 20_000_000],
    ...         "finish_ns": [10_000_000, 32_500_000, 32_500_000],
    ...     }
    ... )
    >>> round(fit_contention(work).contention.compute, 3)
    0.8
    """
    if not isinstance(work, pd.DataFrame) or any(c not in work.columns for c in _NEEDED):
        have = ", ".join(map(str, getattr(work, "columns", ()))) or "none"
        msg = f"work needs the columns {', '.join(map(repr, _NEEDED))}; it has {have}"
        raise CostError(msg)
    ranks = work["rank"] if "rank" in work.columns else pd.Series(0, index=work.index)
    parts = [_with_share(rows) for _, rows in work.groupby(ranks.to_numpy())]
    compute = pd.concat(parts) if parts else pd.DataFrame(columns=["name", "ns", "both"])
    share = compute["both"] / compute["ns"]
    by_name = compute[share <= _ALONE].groupby("name")["ns"]
    alone = by_name.agg(["median", "size"])
    alone = alone[by_name.quantile(0.95) <= _ONE_SHAPE * by_name.quantile(0.05)]
    near = compute[share >= _BESIDE]
    near = near[near["name"].isin(alone.index)]
    if near.empty:
        msg = (
            f"none of {compute['name'].nunique()} kernels of one shape ran both alone and beside "
            "exchange: take a run whose microbatches do not all exchange, or larger buckets"
        )
        raise CostError(msg)
    near = near.assign(
        full=near["name"].map(alone["median"]),
        at_rate=lambda d: d["full"] - (d["ns"] - d["both"]),  # work left for the time beside
    )
    sums = near.groupby("name").agg(
        beside=("ns", "size"), beside_ns=("ns", "median"), both=("both", "sum"),
        at_rate=("at_rate", "sum"),
    )  # fmt: skip
    kernels = pd.DataFrame(
        {
            "alone": alone["size"].reindex(sums.index),
            "beside": sums["beside"],
            "alone_ns": alone["median"].reindex(sums.index),
            "beside_ns": sums["beside_ns"],
            "slowdown": sums["beside_ns"] / alone["median"].reindex(sums.index),
            "rate": sums["at_rate"] / sums["both"],
        }
    )
    rate = _quantile(kernels["rate"], sums["both"], 0.5)
    if rate <= 0:
        msg = (
            "kernels beside exchange are slower than any rate explains, as where one name is of "
            "several shapes: leave such names out of work"
        )
        raise CostError(msg)
    told = compute[compute["name"].isin(kernels.index)]["ns"].sum()
    heaviest = sums["both"].sort_values(ascending=False, kind="stable").index
    return ContentionFit(
        Contention(compute=min(rate, 1.0)),
        kernels.loc[heaviest],
        float(told / compute["ns"].sum()),
        *(max(_quantile(kernels["rate"], sums["both"], part), 0.0) for part in _SPREAD),
    )


def _quantile(values: pd.Series, weights: pd.Series, part: float) -> float:
    """Return the value that a part of the weights does not exceed."""
    order = np.argsort(values.to_numpy(), kind="stable")
    reached = np.cumsum(weights.to_numpy()[order])
    return float(values.to_numpy()[order][np.searchsorted(reached, reached[-1] * part)])


def _with_share(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one rank's compute: name, ns, and how many of these beside exchange."""
    spans = rows[["start_ns", "finish_ns"]].to_numpy(dtype=np.int64)
    is_compute = rows["kind"].isin(COMPUTE).to_numpy() & (spans[:, 1] > spans[:, 0])
    exchange = union(spans[(rows["kind"] == "exchange").to_numpy()])
    both = np.zeros(int(is_compute.sum()), dtype=np.int64)
    compute = spans[is_compute]
    if len(exchange):
        # Time covered up to each moment, so that kernels may overlap one another.
        edges = exchange.ravel()
        steps = np.diff(edges)
        steps[1::2] = 0  # between two exchanges nothing is covered
        covered = np.concatenate(([0], np.cumsum(steps)))
        both = _covered(compute[:, 1], edges, covered) - _covered(compute[:, 0], edges, covered)
    return pd.DataFrame(
        {
            "name": rows["name"].to_numpy()[is_compute],
            "ns": compute[:, 1] - compute[:, 0],
            "both": both,
        }
    )


def _covered(moments: np.ndarray, edges: np.ndarray, covered: np.ndarray) -> np.ndarray:
    """Return how much of a set of intervals lies before each moment."""
    at = np.searchsorted(edges, moments, side="right") - 1
    inside = np.where(at % 2 == 0, moments - edges[np.maximum(at, 0)], 0)
    return np.where(at < 0, 0, covered[np.maximum(at, 0)] + inside)
