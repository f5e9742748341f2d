"""Predictions from the shipped bucket sweep beside what was measured when it was recorded."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import stepviz as sv
from tools import make_sample_runs

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def told(monkeypatch):
    """Return what is shipped, and the same with today's predictions."""
    monkeypatch.chdir(ROOT)
    path = make_sample_runs.FOUND / "bucket_sweep.json"
    return json.loads(path.read_text()), make_sample_runs.predicted_again("bucket sweep")


def test_what_is_shipped_is_what_is_predicted_today(told):
    shipped, again = told
    for change, row in again["rows"].items():
        for column, value in row.items():
            there = shipped["rows"][change][column]
            same = there == (value if isinstance(value, str) else pytest.approx(value, abs=1e-3))
            assert same, "run python -m tools.make_sample_runs --predictions"


def test_they_came_true(told):
    rows = told[1]["rows"].values()
    errors = np.array([row["error"] for row in rows])
    assert np.median(np.abs(errors)) < 0.03
    assert np.abs(errors).max() < 0.05
    # An error of one sign would be something that the model leaves out.
    assert errors.min() < 0 < errors.max()
    for row in rows:
        assert row["low_ms"] < row["measured_ms"] < row["high_ms"]
        # And the direction was right wherever the measurement decided.
        sign = {"keep": -1, "revert": 1}[row["verdict"]]
        assert sign * (row["predicted_ms"] - row["base_ms"]) > 0


def test_where_input_is_waited_for_other_buckets_may_do_nothing():
    late = sv.sample_run("late input")
    found = sv.predict_buckets(late, caps=[0.25, 25])
    measured = found["step_ms"] - found["change_ms"]
    assert ((found["low_ms"] < measured) & (measured < found["high_ms"])).all()
    assert "loader processes are waited for" in " ".join(found.attrs["notes"])
    other = sv.predict_buckets(sv.sample_run("bucket sweep"), caps=[0.25])
    assert "loader" not in " ".join(other.attrs["notes"])
