"""Costs and contention fitted to what a run measured."""

from __future__ import annotations

from typing import Any, Final

import pandas as pd

from stepviz.builders.contention_fits import ContentionFit
from stepviz.builders.contention_fits import fit_contention as fit_work
from stepviz.builders.cost_fits import FittedCost
from stepviz.builders.cost_fits import fit_cost as fit_points
from stepviz.core.vocabulary import COMPUTE
from stepviz.errors import CostError
from stepviz.evidence.device_work import doing
from stepviz.traces import Run, Step

#: Kernels that are less of compute than this say nothing about the rest.
_LEAST_SHARE: Final = 0.02


def fit_cost(run: Run | Step | pd.DataFrame) -> FittedCost:
    """Fit α and β to a run's own collectives.

    Parameters
    ----------
    run : Run, Step, or DataFrame
        A run (all its steps), one step, or a frame as `Step.collectives` gives it. Transfers are
        used, from the last member's arrival to the end, so waiting does not count.

    Returns
    -------
    FittedCost
        A cost for `stepviz.builders`, with the sizes it was fitted to; outside them it warns.

    Raises
    ------
    CostError
        Where no collective of the run tells: sizes unknown, or all alike.

    Examples
    --------
    >>> fit = fit_cost(sv.sample_run())
    >>> fit.fits[["collective", "ranks", "points"]].values.tolist()
    [['all-reduce', 2, 18]]
    """
    return fit_points(_collectives(run))


def fit_contention(run: Run | pd.DataFrame) -> ContentionFit:
    """Fit how much exchange slows compute, from the same kernels with and without it beside them.

    Parameters
    ----------
    run : Run or DataFrame
        A run, or a frame of device work (see `stepviz.builders.fit_contention`). Of a run, the
        kernels are taken, or where it has none the operators on the host that do the work.

    Returns
    -------
    ContentionFit
        Its `contention` is a change for `Timeline.apply`; its `trust` says how much of compute
        tells it.

    Raises
    ------
    CostError
        Where no kernel ran both with and without exchange beside it, or those that did are less
        than 2 % of compute.

    Examples
    --------
    >>> import stepviz as sv
    >>> fitted = fit_contention(sv.sample_run("contention"))
    >>> round(fitted.contention.compute, 2)  # compute keeps so much of its speed
    0.91
    """
    if isinstance(run, pd.DataFrame):
        return fit_work(run)
    if not isinstance(run, Run):
        msg = f"run is {type(run).__name__}: give a run or a frame of device work"
        raise CostError(msg)
    fit = fit_work(pd.concat([_work(rank, part) for rank, part in run._ranks.items()]))
    if fit.share < _LEAST_SHARE:
        msg = (
            f"the kernels of one shape that ran both alone and beside exchange are {fit.share:.1%} "
            "of compute, too little to tell its speed: take a run whose microbatches do not all "
            "exchange, or larger buckets"
        )
        raise CostError(msg)
    return fit


def _collectives(run: Any) -> pd.DataFrame:
    if isinstance(run, pd.DataFrame):
        return run
    if isinstance(run, Step):
        return run.collectives
    if isinstance(run, Run):
        frames = [run.step(number).collectives for number in run.steps.index]
        frames = [frame for frame in frames if len(frame)]
        if frames:
            return pd.concat(frames, ignore_index=True)
        msg = f"{run.name} has no collective in its steps, so there is no cost to fit"
        raise CostError(msg)
    msg = f"run is {type(run).__name__}: give a run, a step, or a step's collectives"
    raise CostError(msg)


def _work(rank: int, part: Any) -> pd.DataFrame:
    events = part.events
    compute = events[doing(events) & events["kind"].isin(COMPUTE)]
    rows = compute[["name", "start_ns", "finish_ns"]].astype({"name": object})
    rows = rows.assign(kind=compute["kind"].astype(object))
    exchanges = part.exchanges
    spans = pd.DataFrame({"start_ns": exchanges["arrival_ns"], "finish_ns": exchanges["finish_ns"]})
    both = [rows, spans.assign(name="exchange", kind="exchange")]
    work: pd.DataFrame = pd.concat(both, ignore_index=True)
    return work.assign(rank=rank)
