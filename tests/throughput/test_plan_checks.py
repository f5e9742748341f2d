"""A plan says what does not fit, and shows itself whatever is in it."""

from __future__ import annotations

import math

import pytest

import stepviz as sv

LESSON = {"parameters": 7e9, "tokens": 100e9, "devices": 64, "peak": 300e12, "mfu": 0.4}
MIXTRAL = sv.ModelShape(
    layers=32,
    hidden=4096,
    heads=32,
    kv_heads=8,
    ffn=14336,
    gated=True,
    vocab=32000,
    experts=8,
    top_k=2,
)
SHAPED = {**LESSON, "parameters": None, "shape": MIXTRAL}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"mfu_range": 0.4}, "mfu_range is 0.4: give a list"),
        ({"mfu_range": (0.3,)}, r"mfu_range is \(0.3,\): give the lowest and the highest"),
        ({"mfu_range": (0.3, 0.4, 0.5)}, "give the lowest and the highest"),
        ({"mfu_range": (0.5, 0.6)}, "mfu is 0.4, and its range is from 0.5 to 0.6"),
        ({"included": "checkpoints"}, r"such as \['checkpoints'\]"),
        ({"included": 5}, "included is 5: give a list"),
        ({"included": [["x"]]}, r"no measured rate includes \['x'\]"),
        ({"tokens": 10**400}, "tokens is beyond any float"),
        ({"parameters": None, "shape": 7e9}, "give a ModelShape, or the number as parameters="),
        ({**SHAPED, "convention": "causal"}, "give sequence="),
    ],
)
def test_what_has_no_meaning_is_refused_at_once(given, message):
    with pytest.raises(sv.ThroughputError, match=message):
        sv.TrainingPlan(**LESSON | given)


def test_an_mfu_above_one_is_none():
    step = {"tokens_per_second": 1e6, "peak": 1e12, "convention": "6N_all"}
    above = sv.mfu(7e9, **step)
    assert above.value > 1
    with pytest.raises(sv.ThroughputError, match="a fraction is at most 1"):
        sv.TrainingPlan(**LESSON | {"mfu": above})


def test_only_what_can_be_solved_for_is_offered():
    plan = sv.TrainingPlan(**LESSON)
    with pytest.raises(sv.ThroughputError, match=r"no watts_per_device: give it$"):
        _ = plan.energy
    with pytest.raises(sv.ThroughputError, match=r"plan\.solve_for\('mfu', days="):
        sv.TrainingPlan(**LESSON | {"mfu": None}).sensitivity()


def test_all_experts_of_a_mixture_are_warned_of():
    shown = sv.TrainingPlan(**SHAPED)._repr_html_()
    assert "6N_all counts all 8 experts of a layer, and a token runs through 2" in shown
    assert "3.63 times the active ones" in shown
    active = sv.TrainingPlan(**SHAPED | {"convention": "moe", "sequence": 4096})
    assert "experts of a layer" not in active._repr_html_()


def test_a_sparse_peak_is_warned_of():
    shown = sv.TrainingPlan(**LESSON | {"peak": 1979e12})._repr_html_()
    assert "the sparse bf16 figure of H100 SXM" in shown
    known = sv.TrainingPlan(**LESSON | {"peak": sv.peak("H100 SXM", "fp8")})
    assert "sparse" not in known._repr_html_()


def test_a_run_that_never_ends_is_shown_with_the_reason():
    plan = sv.TrainingPlan(**LESSON, failures_per_device_day=10, restart_seconds=3600)
    assert plan.endless
    assert "the run would never end" in repr(plan)
    assert "the run would never end" in plan._repr_html_()
    with pytest.raises(sv.ThroughputError, match="never end"):
        _ = plan.elapsed_days


def test_the_sensitivity_goes_on_where_many_devices_never_end():
    # 64 devices fail each 5,400 s, and a failure costs 2,400 s; four times as many never end
    plan = sv.TrainingPlan(**LESSON, failures_per_device_day=0.25, restart_seconds=600)
    table = plan.sensitivity(mfu=[0.2, 0.4])
    assert table["days"].map(math.isfinite).all()
    assert table.groupby("devices")["elapsed_days"].max().map(math.isfinite).tolist() == [
        True,
        True,
        True,
        True,
        False,
    ]
    with pytest.raises(sv.ThroughputError, match=r"mfu is 0\.4: give a list"):
        plan.sensitivity(mfu=0.4)


def test_a_range_stays_that_of_the_plan_over_a_grid():
    plan = sv.TrainingPlan(**LESSON, mfu_range=(0.3, 0.5))
    assert plan.band()["mfu"].tolist() == [0.5, 0.4, 0.3]
    assert sorted(set(plan.sensitivity()["mfu"])) == pytest.approx([0.2, 0.3, 0.4, 0.5, 0.6])


def test_a_planner_that_solves_for_the_mfu_has_no_use_for_its_range():
    planner = sv.RunPlanner(unknown="mfu", days=5, mfu_low=0.3, mfu_high=0.45)
    assert float(planner.answer) == pytest.approx(0.50637, abs=1e-5)
    assert planner.plan.mfu_range is None
