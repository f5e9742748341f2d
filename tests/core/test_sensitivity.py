"""Drag and the sensitivity curve against solving again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stepviz as sv
from tests.core.cases import CASES
from tests.core.strategies import timelines


def test_reverse_criticality_shows() -> None:
    """Wiest: with A at 8 the project takes 10, at 4 it takes 11."""
    timeline = CASES["reverse criticality"].timeline()
    curve = timeline.sensitivity("A")
    assert timeline.with_duration("A", 4).completion == 11
    assert np.interp(4, curve["duration"], curve["completion"]) == 11
    assert curve["duration"].tolist() == [0.0, 5.0, 8.0, 10.0, 20.0]
    assert curve["completion"].tolist() == [15.0, 10.0, 10.0, 10.0, 20.0]
    assert curve["slope"].tolist() == [-1, 0, 0, 1, 1]


@pytest.mark.parametrize(
    ("phase", "cut", "completion"),
    [
        *[("exchange", c, t) for c, t in ((10, 740), (25, 725), (50, 700), (75, 700), (100, 700))],
        *[("backward", c, 750) for c in (10, 25, 50, 75, 100)],
        *[("optimizer", c, t) for c, t in ((10, 740), (25, 725), (50, 700), (75, 675), (100, 650))],
        *[("forward", c, t) for c, t in ((10, 740), (25, 725), (50, 700), (75, 675), (100, 650))],
    ],
)
def test_lesson_curve(phase: str, cut: float, completion: float) -> None:
    timeline = sv.lesson()
    duration = timeline.phases.loc[phase, "duration"] - cut
    curve = timeline.sensitivity(phase)
    assert np.interp(duration, curve["duration"], curve["completion"]) == completion
    assert timeline.with_duration(phase, duration).completion == completion


@given(timelines(), st.data())
def test_curve_is_exact_everywhere(timeline: sv.Timeline, data: st.DataObject) -> None:
    phase = data.draw(st.sampled_from(list(timeline.phases.index)))
    curve = timeline.sensitivity(phase)
    end = float(curve["duration"].iloc[-1])
    for x in [*curve["duration"], data.draw(st.floats(0, end)), data.draw(st.floats(0, end))]:
        expected = timeline.with_duration(phase, x).completion
        assert np.interp(x, curve["duration"], curve["completion"]) == pytest.approx(
            expected, abs=1e-6
        )
    beyond = timeline.with_duration(phase, end + 7).completion
    last = curve.iloc[-1]
    assert last["completion"] + 7 * last["slope"] == pytest.approx(beyond, abs=1e-6)


@given(timelines(), st.data())
def test_drag_is_the_best_saving(timeline: sv.Timeline, data: st.DataObject) -> None:
    table = timeline.schedule().table
    phase = data.draw(st.sampled_from(list(table.index)))
    duration = float(timeline.phases.loc[phase, "duration"])
    corners = timeline.sensitivity(phase)["duration"]
    tries = [*corners[corners <= duration], duration * data.draw(st.floats(0, 1))]
    best = min(timeline.with_duration(phase, x).completion for x in tries)
    drag = float(table.loc[phase, "drag"])
    assert drag == pytest.approx(max(timeline.completion - best, 0.0), abs=1e-6)


@given(timelines(types=("FS",), targets=False))
def test_with_fs_links_only_drag_is_devaux(timeline: sv.Timeline) -> None:
    """0 <= drag <= duration, and drag is what removing the work saves."""
    table = timeline.schedule().table
    for phase in table.index[table["critical"]]:
        duration = timeline.phases.loc[phase, "duration"]
        assert 0 <= table.loc[phase, "drag"] <= duration + 1e-9
        without = timeline.with_duration(phase, 0).completion
        assert table.loc[phase, "drag"] == pytest.approx(timeline.completion - without, abs=1e-6)


def test_the_curve_keeps_its_shape_at_any_scale() -> None:
    for scale in (1e-6, 1e-3, 1.0, 1e6):
        step = sv.lesson()
        phases, links = step.phases, step.dependencies
        phases["duration"] *= scale
        links["lag"] *= scale
        curve = sv.Timeline(phases, links).sensitivity("exchange")
        np.testing.assert_allclose(curve["duration"], np.array([0, 300, 350, 750]) * scale)
        assert curve["slope"].tolist() == [0, 1, 1, 1]
