"""The lesson's numbers, from its text."""

from __future__ import annotations

import pytest

import stepviz as sv

SPANS = {
    "forward": (0, 200),
    "backward": (200, 600),
    "exchange": (300, 650),
    "optimizer": (650, 750),
}


@pytest.mark.parametrize("model", ["release", "ss-ff", "buckets"])
def test_every_model_draws_the_same_picture(model: str) -> None:
    step = sv.lesson(model)
    table = step.schedule().table
    for kind, (start, finish) in SPANS.items():
        rows = table[step.phases["kind"] == kind]
        assert (rows["start"].min(), rows["finish"].max()) == (start, finish)
    assert step.completion == 750
    assert set(step.dependencies["origin"]) == {"assumed"}


def test_release_model_floats_and_drags() -> None:
    table = sv.lesson().schedule().table
    assert table["total_float"].to_dict() == {
        "input": 0, "forward": 0, "backward": 50, "optimizer": 0, "exchange": 0
    }  # fmt: skip
    assert table["drag"].to_dict() == {
        "input": 0, "forward": 200, "backward": 0, "optimizer": 100, "exchange": 50
    }  # fmt: skip


def test_ss_ff_model_has_everything_critical_and_two_drags_of_zero() -> None:
    table = sv.lesson("ss-ff").schedule().table
    assert table["critical"].all()
    assert table.loc["exchange", "drag"] == 0
    assert table.loc["backward", "drag"] == 0


def test_late_input_is_830_with_floats_unchanged() -> None:
    late = sv.lesson(scenario="late-input").schedule()
    assert late.completion == 830
    assert late.table["total_float"].equals(sv.lesson().schedule().table["total_float"])


def test_contended_is_780_without_exposed_exchange() -> None:
    """4 % slower although the tail is gone; now backward is critical with drag 50."""
    schedule = sv.lesson(scenario="contended").schedule()
    assert schedule.completion == 780
    assert schedule.exposed("exchange").tolist() == [0.0]
    assert schedule.table.loc["exchange", ["finish", "total_float"]].tolist() == [630, 50]
    assert schedule.table.loc["backward", "drag"] == 50


def test_unknown_model_and_scenario_name_near_ones() -> None:
    with pytest.raises(sv.TimelineError, match="'buckets'"):
        sv.lesson("bucket")
    with pytest.raises(sv.TimelineError, match="'late-input'"):
        sv.lesson(scenario="late input")
