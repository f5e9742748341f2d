"""Predict, then check, for real: changes too large for any machine's noise."""

from __future__ import annotations

import math

import numpy as np
import pytest

import stepviz as sv
from stepviz.recording.experiments import BASE, alike_speed, compared, experiment
from tests.recording.helpers import require_torch

#: A quick model, mostly delays.
SMALL = {"layers": 2, "width": 64, "heads": 2, "vocabulary": 256, "sequence": 16, "warmup": 2,
         "timed": 4, "steps": 3, "progress": False}  # fmt: skip


@pytest.mark.slow
@pytest.mark.alone  # it measures steps of two processes on two cores
def test_changes_are_predicted_made_and_compared(tmp_path):
    require_torch()
    found = experiment(
        {
            "no delay": {"input_delay_ms": 0.0},
            "no slow rank": {"slow_rank": None, "slow_ms": 0.0},
            "two passes": {"accumulation": 2},
            "wider": {"sequence": 32},
        },
        caps=[0.1],
        rounds=4,
        block=2,
        out=tmp_path / "captured",
        input_delay_ms=80.0,
        slow_rank=1,
        slow_ms=150.0,
        latency_ms=20.0,
        ms_per_mib=10.0,
        **SMALL,
    )
    assert found.index.tolist() == ["cap 0.1", "no delay", "no slow rank", "two passes", "wider"]
    told = found.drop(index="wider")
    assert told["predicted_ms"].notna().all()
    # On a machine that does other things the noise says so, and decides nothing.
    decided = told["verdict"] != "can't tell"
    assert (told["inside"].astype(bool) | (told["error"].abs() < 0.35) | ~decided).all()
    assert (told["low_ms"] < told["predicted_ms"]).all()
    assert (told["low_ms"] >= 0).all()
    base = found["base_ms"].iloc[0]
    assert base > 250
    for name, ms in (("no delay", -80), ("no slow rank", -150)):
        row = found.loc[name]
        assert row["predicted_ms"] - base == pytest.approx(ms, abs=60 + row["noise_ms"])
        assert row["verdict"] in ("keep", "can't tell")
    assert found.loc["two passes", "verdict"] in ("revert", "can't tell")
    assert found.loc["wider", "how"].startswith("sequence: one capture")
    assert set(found["verdict"]) <= {"keep", "revert", "can't tell"}
    assert len(sv.load_run(tmp_path / "captured").steps) == 3
    assert not list(tmp_path.glob(".captured*"))


def test_what_cannot_be_tried_is_said():
    for changes, said in (
        (None, "nothing to try"),
        ({"a": {"ranks": 4}}, "'a' changes ranks"),
        ({"a": {"input_delay": 4}}, "'input_delay', which is no option"),
        ({"a": 5}, r"changes\['a'\] is 5"),
        ([1], "changes is list"),
        ({"as captured": {}}, "another name"),
    ):
        with pytest.raises(sv.CaptureError, match=said):
            experiment(changes)
    with pytest.raises(sv.CaptureError, match="at least 3 rounds"):
        experiment(caps=[1], rounds=2)


def test_the_machines_speed_is_taken_out_by_forward():
    random = np.random.default_rng(0)
    forward, steps = {}, {}
    for name, length in ((BASE, 100.0), ("change", 80.0)):
        # A ms more of forward is 2 ms more of step, and the change met a slower machine.
        forward[name] = 30 + 5 * random.random(8) + (6 if name == "change" else 0)
        steps[name] = [np.full(3, length + 2 * (one - 30)) for one in forward[name]]
    found = alike_speed(steps, forward)
    before, after = (np.concatenate(found[name]) for name in (BASE, "change"))
    assert np.ptp(before) < 3
    assert np.median(before) - np.median(after) == pytest.approx(20, abs=2)


def test_what_forward_says_is_left_alone_where_rounds_then_agree_less():
    # Two blocks were slow, in which forward noticed nothing; in two others only forward was.
    forward = {
        BASE: np.array([12.0, 12, 12, 12, 18, 12, 12, 12]),
        "change": np.array([12.0, 12, 12, 12, 12, 18, 12, 12]),
    }
    steps = {
        BASE: [np.full(3, ms) for ms in (50.0, 50, 120, 50, 50, 50, 50, 50)],
        "change": [np.full(3, ms) for ms in (40.0, 40, 40, 110, 40, 40, 40, 40)],
    }
    found = alike_speed(steps, forward)
    ratios = [np.median(c) / np.median(b) for b, c in zip(*found.values(), strict=True)]
    assert np.median(ratios) == pytest.approx(0.8)


def test_a_slower_machine_stretches_no_step_more_than_forward():
    # By chance the longest steps met a forward that was 1 % longer: 60 ms are not 0.1 ms' doing.
    forward = {BASE: 12 + 0.1 * np.arange(8), "change": 12 + 0.1 * np.arange(8)[::-1]}
    steps = {
        BASE: [np.full(3, 50.0 + 8 * k) for k in range(8)],
        "change": [np.full(3, 40.0 + 8 * k) for k in range(8)[::-1]],
    }
    found = alike_speed(steps, forward)
    least = min(float(block.min()) for block in found["change"])
    # At most by 78 ÷ 12.35 for each ms of forward, or by what is compute.
    assert least > 40 - (78 / 12.35) * 0.36
    assert min(float(block.min()) for block in alike_speed(steps, forward, 2.0)["change"]) > 39.2


def test_what_the_machines_speed_moved_is_noise_too():
    blocks = lambda ms: [np.array([ms, ms + 0.1])] * 6
    plain = compared(blocks(100), blocks(80), blocks(100), blocks(80))
    assert plain["change_ms"] == pytest.approx(-20, abs=0.1)
    assert plain["verdict"] == "keep"
    # As it was, the change took 90: of what was taken out half is doubt.
    moved = compared(blocks(100), blocks(80), blocks(100), blocks(90))
    assert moved["change_ms"] == plain["change_ms"]
    assert moved["noise_ms"] == pytest.approx(math.hypot(plain["noise_ms"], 5), abs=0.1)
    assert moved["verdict"] == "keep"
    # More than the change itself: nothing is decided.
    assert compared(blocks(100), blocks(98), blocks(100), blocks(105))["verdict"] == "can't tell"
    assert compared(blocks(100), blocks(120), blocks(100), blocks(121))["verdict"] == "revert"


def test_without_moods_nothing_is_taken_out():
    steps = {BASE: [np.array([100.0, 101.0])] * 4, "change": [np.array([80.0, 81.0])] * 4}
    found = alike_speed(steps, {BASE: np.full(4, 30.0), "change": np.full(4, 30.0)})
    assert np.array_equal(found["change"][0], steps["change"][0])
