"""Charts as Altair specs: their data are the numbers, and nothing is fetched from a network."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import stepviz as sv
from stepviz.builders import AlphaBeta, Ring, bucket_sweep, ddp
from stepviz.charts.svg import fitted

alt = pytest.importorskip("altair")

PLAN = sv.TrainingPlan(parameters=7e9, tokens=100e9, devices=64, peak=300e12, mfu=0.4)


def every_chart():
    step = sv.lesson()
    return {
        "timeline": sv.charts.timeline_chart(step),
        "sensitivity": sv.charts.sensitivity_chart(step, "exchange"),
        "before and after": sv.charts.before_after_chart(
            {"before": step, "after": step.with_duration("optimizer", 50)}
        ),
        "sweep": sv.charts.sweep_chart(
            bucket_sweep([1e6] * 40, backward=20, cost=AlphaBeta(0.4, 5))
        ),
        "roofline": sv.charts.roofline_chart(AlphaBeta(0.5, 10)),
        "plan": sv.charts.plan_chart(PLAN),
    }


def frames(chart):
    spec = chart.to_dict()
    return [pd.DataFrame(rows) for rows in spec["datasets"].values()]


def frame_with(chart, *columns):
    (found,) = [f for f in frames(chart) if set(columns) <= set(f.columns)]
    return found


@pytest.mark.parametrize("name", every_chart())
def test_a_chart_is_a_plain_valid_altair_object_that_asks_nothing_of_a_network(name):
    chart = every_chart()[name]
    assert isinstance(chart, alt.TopLevelMixin)
    spec = chart.to_dict(validate=True)
    urls = set(re.findall(r"https?://[^\"]+", json.dumps(spec)))
    assert urls <= {spec["$schema"]}  # a name of the format, which nothing fetches
    assert '"url"' not in json.dumps(spec)


@pytest.mark.parametrize("name", every_chart())
def test_a_chart_is_drawn_without_a_network(name):
    pytest.importorskip("vl_convert")
    with sv.charts.offline():
        bundle = every_chart()[name]._repr_mimebundle_()
    content = bundle[0] if isinstance(bundle, tuple) else bundle
    (picture,) = [text for kind, text in content.items() if kind == "image/svg+xml"]
    assert picture.startswith("<svg")
    assert "cdn" not in picture


def test_offline_is_left_again_and_may_stay_interactive():
    before = alt.renderers.active
    with sv.charts.offline():
        assert alt.renderers.active == "svg"
    assert alt.renderers.active == before
    with sv.charts.offline(interactive=True):
        assert (alt.renderers.active, alt.renderers.options) == ("jupyter", {"offline": True})


def test_the_timelines_bars_are_its_schedule():
    step = sv.lesson()
    chart = sv.charts.timeline_chart(step)
    bars = frame_with(chart, "phase", "start").set_index("phase")
    table = step.schedule().table
    for column in ("start", "finish", "total_float", "critical"):
        assert bars[column].tolist() == table[column].tolist()
    encoding = chart.to_dict()["layer"][0]["encoding"]
    assert (encoding["x"]["field"], encoding["x2"]["field"]) == ("start", "finish")
    assert encoding["color"]["field"] == "kind"
    assert frame_with(chart, "completion")["completion"].tolist() == [750]


def test_a_groups_phase_is_on_every_members_row():
    step = ddp([1e6] * 4, backward=10, bucket_cap_mb=1, cost=1, ranks=3)
    bars = frame_with(sv.charts.timeline_chart(step), "phase", "start")
    exchanges = bars[bars["kind"] == "exchange"]
    assert set(exchanges["row"]) == {f"rank {rank} link" for rank in range(3)}
    assert len(exchanges) == 3 * sum(step.phases["kind"] == "exchange")


def test_the_sensitivity_is_the_exact_curve():
    step = sv.lesson()
    chart = sv.charts.sensitivity_chart(step, "exchange")
    curve = frame_with(chart, "gain")
    expected = step.sensitivity("exchange")
    assert curve["duration"].tolist() == expected["duration"].tolist()
    assert curve["completion"].tolist() == expected["completion"].tolist()


def test_the_parts_of_a_step_add_up_to_its_completion():
    late = sv.lesson().apply(sv.delay_input(80))
    chart = sv.charts.before_after_chart({"before": sv.lesson(), "late input": late})
    sums = chart.data.groupby("step")["ms"].sum()
    assert sums.to_dict() == pytest.approx({"before": 750, "late input": 830})


def test_of_many_ranks_the_last_one_is_shown():
    slow = ddp([1e6] * 4, backward=10, optimizer=1, bucket_cap_mb=1, cost=1, ranks=2)
    slow = slow.with_duration("r1 optimizer", 5)
    chart = sv.charts.before_after_chart({"step": slow})
    assert set(chart.data["rank"]) == {1}
    assert chart.data["ms"].sum() == pytest.approx(slow.completion)


def test_the_sweep_shows_both_costs_and_what_is_near_the_best():
    caps = [500e6 / k / 2**20 for k in (1, 50, 100, 200)]
    sweep = bucket_sweep([2.5e6] * 200, caps, backward=100, cost=AlphaBeta(0.5, 10))
    chart = sv.charts.sweep_chart(sweep)
    costs = frame_with(chart, "cost")
    total = costs.groupby("cap_mb")["ms"].sum()
    assert total.tolist() == pytest.approx(sweep["exposed"].tolist())
    near = frame_with(chart, "to")
    assert near[["cap_mb", "to"]].to_numpy().tolist() == [[caps[2], caps[1]]]


def test_the_roofline_stays_under_its_roofs():
    chart = sv.charts.roofline_chart(Ring(8, 0.01, 100), [1e3, 1e5, 1e7, 1e9])
    lines = frame_with(chart, "roof").pivot_table("algorithm_bandwidth", "bytes", "roof")
    model = Ring(8, 0.01, 100).table([1e3, 1e5, 1e7, 1e9])["algorithm_bandwidth"]
    assert lines["model"].tolist() == pytest.approx(model.tolist())
    assert lines["bandwidth"].tolist() == pytest.approx([100 / 1.75] * 4, rel=1e-6)
    assert lines["latency"].iloc[0] == pytest.approx(1e3 / 0.14 / 1e6)
    assert (lines["model"] < lines["bandwidth"]).all()
    assert (lines["model"] < lines["latency"]).all()


def test_measured_points_stand_on_the_roofline():
    run = sv.sample_run()
    points = run.step().collectives
    chart = sv.charts.roofline_chart(sv.fit_cost(run), points=points)
    seen = frame_with(chart, "ms")
    expected = points["bytes"] / points["transfer_ns"]
    assert seen["algorithm_bandwidth"].tolist() == pytest.approx(expected.tolist())


def test_the_plan_is_its_sensitivity():
    chart = sv.charts.plan_chart(PLAN)
    grid = frame_with(chart, "elapsed_days", "days")
    own = grid[grid["devices"] == 64].set_index("mfu")["elapsed_days"]
    assert np.round(own[[0.2, 0.4, 0.5]].tolist(), 2).tolist() == [12.66, 6.33, 5.06]
    low, high = frame_with(chart, "low").iloc[0]
    assert (low, high) == pytest.approx((0.32, 0.48))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: sv.charts.timeline_chart(sv.sample_run()), "a chart shows a Timeline, not Run"),
        (lambda: sv.charts.before_after_chart({}), "give the timelines by name"),
        (lambda: sv.charts.sweep_chart(pd.DataFrame({"a": [1]})), "builders.bucket_sweep"),
        (lambda: sv.charts.roofline_chart(5), "give a cost model"),
        (lambda: sv.charts.plan_chart({"mfu": 1}), "give a TrainingPlan"),
        (
            lambda: sv.charts.roofline_chart(AlphaBeta(1, 1), points=pd.DataFrame({"bytes": [1]})),
            "points needs the columns",
        ),
    ],
)
def test_what_can_not_be_drawn_is_said(call, words):
    with pytest.raises(sv.StepvizError, match=words):
        call()


def test_altair_is_loaded_late_and_missed_in_a_sentence():
    code = """
import sys
import stepviz as sv
from stepviz import charts
assert "altair" not in sys.modules
sys.modules["altair"] = None
try:
    charts.timeline_chart(sv.lesson())
except sv.StepvizError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert "pip install 'stepviz[charts]'" in done.stdout


def test_an_endless_name_is_cut_at_once_as_a_short_one_is():
    cut = fitted("x" * 200_000, 100, 10)
    assert cut == fitted("x" * 100, 100, 10) == "x" * 16 + "…"  # 17 signs of 5.7 are 96.9
    assert fitted("字" * 200_000, 100, 10) == "字" * 9 + "…"
    assert not fitted("x" * 200_000, -5, 10)
