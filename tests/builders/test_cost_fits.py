"""Fitted costs: planted lines come back, ranges are shown, extrapolating warns."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stepviz as sv

B = sv.builders


def points(model, sizes, collective="all-reduce") -> pd.DataFrame:
    return pd.DataFrame(
        {
            "bytes": sizes,
            "transfer_ns": [round(model.ms(n, collective) * 1e6) for n in sizes],
            "collective": collective,
            "ranks": 8,
        }
    )


@given(st.floats(0.001, 1), st.floats(1, 400), st.integers(2, 30))
def test_points_of_a_ring_give_the_ring_back(latency, bandwidth, n):
    ring = B.Ring(8, latency, bandwidth)
    sizes = np.geomspace(1e4, 1e9, n)
    frame = points(ring, sizes).drop(columns="transfer_ns")
    frame["ms"] = [ring.ms(size) for size in sizes]
    fit = B.fit_cost(frame)
    back = fit.ring()
    assert (back.ranks, back.latency, back.bandwidth) == (
        8, pytest.approx(latency, rel=1e-6), pytest.approx(bandwidth, rel=1e-6)
    )  # fmt: skip
    assert fit.ms(1e6) == pytest.approx(ring.ms(1e6), rel=1e-9)


def test_outliers_and_noise_move_the_line_little():
    rng = np.random.default_rng(3)
    sizes = rng.uniform(1e5, 1e8, 400)
    model = B.AlphaBeta(latency=0.3, bandwidth=20)
    frame = points(model, sizes)
    noise = rng.lognormal(0, 0.1, 400) * np.where(rng.random(400) < 0.1, 5, 1)
    frame["transfer_ns"] = (frame["transfer_ns"] * noise).astype("int64")
    fit = B.fit_cost(frame).fits.iloc[0]
    assert fit["latency"] == pytest.approx(0.3, rel=0.1)
    assert fit["bandwidth"] == pytest.approx(20, rel=0.05)


def test_the_range_is_shown_and_going_beyond_it_warns():
    model = B.AlphaBeta(0.1, 10)
    fit = B.fit_cost(points(model, [1e6, 5e6, 25e6]))
    row = fit.fits.iloc[0]
    assert row[["collective", "smallest", "largest", "sizes", "points"]].tolist() == [
        "all-reduce", 1e6, 25e6, 3, 3
    ]  # fmt: skip
    assert "1,000,000 to 25,000,000 bytes" in repr(fit)
    assert repr(fit) == f"<FittedCost: {fit}>"  # notes say it without the brackets
    assert "25,000,000" in fit._repr_html_()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit.ms(1e6)
    for outside in (999_999, 26e6):
        with pytest.warns(B.ExtrapolationWarning, match="1,000,000 to 25,000,000"):
            assert fit.ms(outside) == pytest.approx(model.ms(outside), rel=1e-6)
    with pytest.warns(B.ExtrapolationWarning, match="16 ranks were not measured, only 8"):
        assert fit.ring(16).ranks == 16


def test_each_collective_is_a_fit_of_its_own():
    ring = B.Ring(8, 0.01, 50)
    frame = pd.concat(
        [points(ring, [1e6, 4e6, 9e6]), points(ring, [1e6, 4e6], "all-gather")], ignore_index=True
    )
    frame.loc[len(frame)] = [5e6, 1, "barrier", 8]
    fit = B.fit_cost(frame)
    assert fit.skipped == 1
    assert fit.ms(4e6, "all-gather") == pytest.approx(ring.ms(4e6, "all-gather"), rel=1e-5)
    assert fit.ring(collective="all-gather").bandwidth == pytest.approx(50, rel=1e-4)
    with pytest.raises(sv.CostError, match="broadcast was not measured"):
        fit.ms(4e6, "broadcast")


def test_a_fit_prices_a_step():
    fit = B.fit_cost(points(B.AlphaBeta(1, 1), [1e6, 2e6, 4e6]))
    step = B.ddp([2e6] * 3, backward=30, bucket_cap_mb=0, cost=fit)
    assert step.completion == pytest.approx(33)


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        ("x", "points is str"),
        (pd.DataFrame({"bytes": [1]}), "it has bytes"),
        (pd.DataFrame({"bytes": [1e6] * 3, "ms": [1, 2, 3]}), "one size only"),
        (pd.DataFrame({"bytes": [1e6, 1.1e6], "ms": [1, 2]}), "one size only"),
        (pd.DataFrame({"bytes": [0, None], "ms": [1, 2]}), "none of 2 points"),
    ],
)
def test_bad_points_say_why(frame, said):
    with pytest.raises(sv.CostError, match=said):
        B.fit_cost(frame)
