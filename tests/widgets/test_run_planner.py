"""The run planner's Python side: the lesson's numbers, each unknown, refusals, plans given."""

from __future__ import annotations

import json

import pytest

import stepviz as sv

LLAMA = sv.ModelShape(
    layers=32, hidden=4096, heads=32, kv_heads=8, ffn=14336, gated=True, vocab=128256
)
#: The lesson's run in 5 days, each number left out in turn.
IN_FIVE = {
    "parameters": 7e9 * 5 / (546875 / 86400),
    "tokens": 100e9 * 5 / (546875 / 86400),
    "devices": 64 * (546875 / 86400) / 5,
    "peak": 300e12 * (546875 / 86400) / 5,
    "mfu": 0.4 * (546875 / 86400) / 5,
}


def figures(planner):
    return {one["name"]: one for one in planner._shown["picture"]["large"]}


def test_it_opens_with_the_lessons_run():
    planner = sv.RunPlanner()
    shown = figures(planner)
    assert shown["flops"]["value"] == 4.2e21
    assert shown["rate"]["value"] == 7.68e15
    assert shown["active"]["value"] == pytest.approx(546875 / 86400, rel=1e-12)
    assert (shown["active"]["text"], shown["active"]["unit"]) == ("6.33", "days")
    assert shown["active"]["convention"] == "6N_all, active"
    grid = planner._shown["picture"]["sensitivity"]
    (own,) = [line for line in grid["lines"] if line["own"]]
    days = dict(zip(grid["mfu"], own["texts"], strict=True))
    assert (days[0.2], days[0.4], days[0.5]) == ("12.66", "6.33", "5.06")


@pytest.mark.parametrize("unknown", IN_FIVE)
def test_any_one_number_is_solved_for(unknown):
    planner = sv.RunPlanner(unknown=unknown, days=5, days_are="active")
    assert float(planner.answer) == pytest.approx(IN_FIVE[unknown], rel=1e-12)
    assert float(planner.plan.days) == pytest.approx(5, rel=1e-12)
    assert planner._shown["picture"]["answer"]["value"] == float(planner.answer)


def test_elapsed_days_hold_what_comes_on_top():
    planner = sv.RunPlanner(
        unknown="devices",
        days=8,
        checkpoint_seconds=60,
        failures_per_device_day=0.001,
        restart_seconds=600,
        downtime_days=0.5,
    )
    plan = planner.plan
    assert float(plan.elapsed_days) == pytest.approx(8, rel=1e-9)
    parts = planner._shown["picture"]["parts"]
    assert [part["days"] for part in parts] == plan.breakdown()["days"].tolist()
    assert sum(part["days"] for part in parts) == pytest.approx(8, rel=1e-9)


def test_a_device_of_the_catalogue_brings_its_peak():
    planner = sv.RunPlanner(device="H100 SXM")
    assert planner.plan.peak_flops == sv.peak("H100 SXM", "bf16").flops
    with pytest.raises(sv.ThroughputError, match="device is 'H100': "):
        planner.value = {"device": "H100"}


def test_a_plan_keeps_its_shape_and_convention():
    plan = sv.TrainingPlan(
        shape=LLAMA,
        convention="causal",
        sequence=8192,
        tokens=1e12,
        devices=512,
        peak=sv.peak("H100 SXM", "bf16"),
        mfu=0.42,
        mfu_range=(0.35, 0.45),
        included=("checkpoints",),
        checkpoint_seconds=60,
        price_per_device_hour=2,
    )
    planner = sv.RunPlanner(plan)
    assert float(planner.answer) == pytest.approx(float(plan.elapsed_days), rel=1e-12)
    assert "parameters" not in planner.value
    shown = figures(planner)
    assert shown["cost"]["value"] == pytest.approx(float(plan.cost))
    assert [case["mfu"] for case in planner._shown["picture"]["band"]] == [0.45, 0.42, 0.35]
    assert "checkpoints" in planner._shown["picture"]["about"]


def test_what_a_plan_lacks_is_solved_for():
    planner = sv.RunPlanner(
        sv.TrainingPlan(parameters=7e9, tokens=1e11, devices=64, peak=3e14), days=5
    )
    assert planner.value["unknown"] == "mfu"
    with pytest.raises(sv.ThroughputError, match="lacks devices and mfu"):
        sv.RunPlanner(sv.TrainingPlan(parameters=7e9, tokens=1e11, peak=3e14))
    with pytest.raises(sv.ThroughputError, match="give a TrainingPlan"):
        sv.RunPlanner({"parameters": 7e9})


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"mfu": 40}, "mfu is 4000 %: give more than 0 % and at most 100 %"),
        ({"mfu": -0.05}, "mfu is -5 %: give more than 0 %"),
        ({"tokens": "many"}, "tokens is 'many': give a number"),
        ({"tokens": None}, "tokens is empty: give a number"),
        ({"unknown": "day"}, "did you mean 'days'"),
        ({"mfu_low": 0.3}, "the MFU's range has one end"),
        ({"unknown": "mfu", "days": 1}, "it would take an MFU of 253.18 %"),
        ({"failures_per_device_day": 1.0, "restart_seconds": 7200}, "the run would never end"),
        ({"tokenz": 1}, "did you mean 'tokens'"),
    ],
)
def test_what_has_no_meaning_is_said(settings, words):
    planner = sv.RunPlanner()
    before = dict(planner.value)
    with pytest.raises(sv.ThroughputError, match=words):
        planner.value = settings
    planner.set_state({"value": {**before, **settings}})
    assert words in planner._shown["problem"]
    assert planner.value == before


def test_days_are_written_as_the_lesson_does():
    for mfu, text in ((0.2, "12.66 days"), (0.4, "6.33 days"), (0.5, "5.06 days")):
        assert sv.RunPlanner(mfu=mfu)._shown["picture"]["answer"]["text"] == text


def test_the_form_speaks_of_its_own_fields():
    planner = sv.RunPlanner()
    assert "fill in the MFU at worst and at best" in planner._shown["picture"]["notes"][0]
    assert "mfu_range" not in json.dumps(planner._shown)
    planner.set_state({"value": {**planner.value, "mfu_low": 0.5, "mfu_high": 0.3}})
    assert "MFU at worst, 50.00 %, is above that at best, 30.00 %" in planner._shown["problem"]


def test_unknown_arguments_are_refused():
    with pytest.raises(TypeError, match="did you mean 'device"):
        sv.RunPlanner(devics=3)


def test_lines_that_never_end_are_left_out():
    planner = sv.RunPlanner(devices=4096, failures_per_device_day=0.005, restart_seconds=1800)
    lines = planner._shown["picture"]["sensitivity"]["lines"]
    assert 0 < len(lines) < 5
    json.dumps(planner._shown, allow_nan=False)


def test_it_says_what_it_is_without_a_page():
    planner = sv.RunPlanner()
    assert "6.33 days in all at 40.00 % MFU" in repr(planner)
    assert "4.2e21" in planner._repr_html_()
