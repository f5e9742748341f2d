"""A run planner in a page solves, ranges and refuses as Python does."""

from __future__ import annotations

import random
from typing import Any

import stepviz as sv
from tests.widgets.page_pictures import assert_alike, in_page

LLAMA = {"layers": 32, "hidden": 4096, "heads": 32, "kv_heads": 8, "ffn": 14336, "gated": True}


def some_settings(rng: random.Random, count: int) -> list[dict[str, Any]]:
    """Return settings as people type them, most of them with a meaning."""
    found: list[dict[str, Any]] = []
    for _ in range(count):
        one: dict[str, Any] = {
            "unknown": rng.choice(["days", "devices", "mfu", "tokens", "parameters", "peak"]),
            "parameters": rng.choice([7e9, 13e9, 7.25e9, 1e8]),
            "tokens": rng.choice([100e9, 1.4e12, 3e9]),
            "devices": rng.choice([64, 1, 512, 4096, 10.5]),
            "peak": rng.choice([300e12, 989.4e12, 1979e12, 624e12]),
            "device": rng.choice(["", "", "H100 SXM", "A100 80GB SXM"]),
            "mfu": rng.choice([0.4, 0.05, 0.9, 1, round(rng.random(), 3) or 0.5]),
            "days": rng.choice([7, 0.3, 100, 2.5]),
            "days_are": rng.choice(["elapsed", "active"]),
        }
        if rng.random() < 0.3:
            one |= {"mfu_low": rng.choice([0.1, 0.3, 0.5]), "mfu_high": rng.choice([0.45, 0.6, 1])}
        if rng.random() < 0.5:
            one |= {
                "checkpoint_seconds": rng.choice([0, 30, 240.5]),
                "checkpoint_every": rng.choice([600, 3600]),
                "evaluation_seconds": rng.choice([0, 60]),
                "failures_per_device_day": rng.choice([0, 0.0005, 0.02]),
                "restart_seconds": rng.choice([0, 600]),
                "downtime_days": rng.choice([0, 0.5, 8]),
                "price_per_device_hour": rng.choice([None, 2.5]),
                "watts_per_device": rng.choice([None, 1400]),
                "price_per_kwh": rng.choice([None, 0.21]),
                "power_usage_effectiveness": rng.choice([1, 1.2, 0.9]),
            }
        if rng.random() < 0.15:
            name = rng.choice(["tokens", "mfu", "devices", "peak", "checkpoint_every", "mfu_low"])
            one[name] = rng.choice([None, 0, -1, "many", 40, 250, 1e-7])
        found.append(one)
    return found


def known(settings: list[dict[str, Any]], planner: sv.RunPlanner) -> list[dict[str, Any]]:
    """Keep what this planner has: devices of the catalogue, and its own knobs."""
    devices = [
        value for value, _ in next(k for k in planner._form if k["name"] == "device")["choices"]
    ]
    kept = [{name: v for name, v in one.items() if name in planner.value} for one in settings]
    return [one | {"device": one["device"] if one["device"] in devices else ""} for one in kept]


def test_each_setting_is_answered_as_python_does():
    planner = sv.RunPlanner()
    rng = random.Random(random.SystemRandom().randrange(2**32))
    settings = known(some_settings(rng, 400), planner)
    meant = assert_alike(planner, settings)
    assert 120 < meant < 400


def test_the_lesson_takes_as_many_days_in_a_page():
    (said,) = in_page(sv.RunPlanner(), [{}])
    assert said["picture"]["answer"]["text"] == "6.33 days"
    assert abs(said["picture"]["answer"]["value"] - 546875 / 86400) < 1e-12


def test_a_plan_with_a_shape_and_what_its_mfu_includes_is_answered_so_too():
    shape = sv.ModelShape(**LLAMA, vocab=128256, name="a model")
    plan = sv.TrainingPlan(
        shape=shape, convention="causal", sequence=8192, tokens=1e12, devices=256,
        peak=989.4e12, mfu=0.4, included=("checkpoints",), checkpoint_seconds=30,
    )  # fmt: skip
    planner = sv.RunPlanner(plan)
    rng = random.Random(random.SystemRandom().randrange(2**32))
    settings = [
        one for one in known(some_settings(rng, 150), planner) if one["unknown"] != "parameters"
    ]
    assert assert_alike(planner, settings) > 30
