"""Effects of changes, from records whose parts are known."""

from __future__ import annotations

import pytest
from planted import planted_run

import stepviz as sv
from stepviz.evidence.bucket_models import bucket_model
from stepviz.evidence.change_predictions import ChangePredictor


@pytest.fixture
def predictor(tmp_path):
    parts = {"input_ns": 10_000_000, "forward_ns": 40_000_000, "backward_ns": 80_000_000,
             "optimizer_ns": 9_000_000, "step_ns": 160_000_000}  # fmt: skip
    alone = {**parts, "backward_ns": 70_000_000}
    record = {
        "config": {"input_delay_ms": 8.0, "accumulation": 1, "no_sync": True, "fused": False},
        "timings": [{"mode": "bare", **parts}] * 4 + [{"mode": "alone", **alone}] * 4,
    }
    run = planted_run(tmp_path / "run", 3, record=record)
    return ChangePredictor(run, {"fused": 4.0})


def test_less_delay_is_less_waiting_but_never_less_than_nothing(predictor):
    assert predictor.effect("x", {"input_delay_ms": 0.0}).ms == -8
    assert predictor.effect("x", {"input_delay_ms": 28.0}).ms == 20
    assert predictor.effect("x", {"input_delay_ms": 8.0}).ms == 0


def test_a_pass_without_exchange_is_added(predictor):
    assert predictor.effect("x", {"accumulation": 3}).ms == pytest.approx(2 * (10 + 40 + 70))


def test_another_optimizer_is_put_in_the_place_of_this_one(predictor):
    assert predictor.effect("fused", {"fused": True}).ms == pytest.approx(4 - 9)
    with pytest.raises(sv.CostError, match="was not timed"):
        predictor.effect("other", {"fused": True})


def test_what_one_capture_cannot_say_is_refused(predictor):
    with pytest.raises(sv.CostError, match="width: one capture"):
        predictor.effect("x", {"width": 512})
    with pytest.raises(sv.CostError, match="which parameters"):
        predictor.effect("x", {"bucket_cap_mb": 1})


def test_rows_that_never_happened_make_what_follows_sooner(handed):
    run = sv.load_run(handed("gloo-2rank-slowfabric-b1"))
    whole, without = bucket_model(run), bucket_model(run, without="Optimizer.step#AdamW.step")
    for one, other in zip(whole.steps, without.steps, strict=True):
        for rank, less in zip(one.passes, other.passes, strict=True):
            assert (rank.ready == less.ready).all()
            assert 7 < rank.rest - less.rest < 10  # the optimizer took 7.6 to 9.5 ms
