"""Costs and contention of real runs."""

from __future__ import annotations

import pytest

import stepviz as sv


def test_a_runs_own_collectives_are_fitted_with_their_range():
    run = sv.sample_run()
    fit = sv.fit_cost(run)
    sizes = run.step().collectives["bytes"]
    row = fit.fits.iloc[0]
    assert (row["ranks"], row["points"]) == (2, 18)
    assert (row["smallest"], row["largest"]) == (sizes.min(), sizes.max())
    with pytest.warns(sv.builders.ExtrapolationWarning):
        fit.ms(100e6)
    step = run.step()
    assert sv.fit_cost(step).fits["points"].iloc[0] == 6
    assert sv.fit_cost(step.collectives).fits.equals(sv.fit_cost(step).fits)
    built = sv.builders.ddp(step.collectives, backward=100, cost=fit)
    assert (built.phases["kind"] == "exchange").sum() == 6


def test_what_tells_nothing_is_said():
    with pytest.raises(sv.CostError, match="run is int"):
        sv.fit_cost(5)
    with pytest.raises(sv.CostError, match="run is int"):
        sv.fit_contention(5)
    with pytest.raises(sv.CostError, match="of one shape"):
        sv.fit_contention(sv.sample_run())
