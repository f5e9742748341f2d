"""The timeline as a value: what it takes, what it refuses, what edits leave alone."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

import stepviz as sv
from stepviz import Timeline, TimelineError
from tests.core.strategies import timelines

AB = [{"phase": "a", "duration": 1}, {"phase": "b", "duration": 2}]


def test_defaults_are_those_of_the_documentation() -> None:
    timeline = Timeline(AB, [("a", "b")])
    row = timeline.phases.loc["b"]
    assert (row["kind"], row["rank"], row["lane"], row["release"]) == ("other", 0, None, 0.0)
    link = timeline.dependencies.iloc[0]
    assert (link["type"], link["lag"], link["origin"]) == ("FS", 0.0, "assumed")
    assert timeline.completion == 3.0


@given(timelines())
def test_frames_records_columns_and_json_hold_the_same_timeline(timeline: sv.Timeline) -> None:
    phases, links = timeline.phases, timeline.dependencies
    records = [
        {"phase": n, **r} for n, r in zip(phases.index, phases.to_dict("records"), strict=True)
    ]
    for given_phases in (phases, phases.reset_index(), records):
        for given_links in (links, links.to_dict("records"), links.to_dict("list")):
            assert Timeline(given_phases, given_links, timeline.target) == timeline
    text = timeline.to_json()
    assert Timeline.from_json(text) == timeline
    assert Timeline.from_dict(json.loads(text)) == timeline
    assert Timeline.from_json(timeline.to_json(indent=2)).to_json() == text


def test_json_is_standard_and_keeps_every_bit() -> None:
    odd = [
        {"phase": 'quote " \\ \n é', "duration": 0.1 + 0.2, "release": 1e-300},
        {"phase": "all-reduce", "kind": "exchange", "members": [1, 0], "duration": 5e300},
    ]
    timeline = Timeline(odd[:1], name="ü").with_phase("x", members=[3, 1], duration=1 / 3)
    back = Timeline.from_json(timeline.to_json())
    assert back == timeline
    assert back.phases["duration"].tolist() == [0.1 + 0.2, 1 / 3]
    assert back.phases.loc["x", "members"] == (1, 3)

    def refuse(constant: str) -> None:
        pytest.fail(f"{constant} is not JSON")

    json.loads(timeline.to_json(), parse_constant=refuse)


@pytest.mark.parametrize(
    ("phases", "links", "words"),
    [
        (AB, [("a", "b"), ("b", "a")], ["cycle", "'a'", "'b'"]),
        (AB, [("a", "c")], ["'c'", "no phase"]),
        ([*AB, AB[0]], [], ["'a'", "unique"]),
        ([{"phase": "a", "duration": float("nan")}], [], ["duration", "'a'", "NaN"]),
        ([{"phase": "a", "duration": -1}], [], ["duration", "'a'", "-1", "0 or more"]),
        ([{"phase": "a", "duration": float("inf")}], [], ["duration", "'a'", "inf"]),
        ([{"phase": "a", "duration": "200"}], [], ["duration", "'a'", "'200'", "str"]),
        ([{"phase": "a", "duration": True}], [], ["duration", "bool"]),
        (pd.DataFrame({"phase": ["a"], "duration": ["x"]}), [], ["duration", "'a'", "'x'"]),
        ([{"phase": "a", "duration": 1, "kind": "foward"}], [], ["kind", "'forward'"]),
        ([{"phase": "a", "kind": "input"}], [], ["no column 'duration'"]),
        ([{"duration": 1}], [], ["no column 'phase'"]),
        ([{"phase": "a", "duration": 1, "durration": 2}], [], ["'durration'", "'duration'"]),
        ([{"phase": "a", "duration": 1, "release": -3}], [], ["release", "'a'"]),
        ([{"phase": "a", "duration": 1, "rank": 0.5}], [], ["rank", "'a'", "0.5"]),
        ([{"phase": "a", "duration": 1, "rank": 0, "members": [0]}], [], ["'a'", "both"]),
        ([{"phase": "a", "duration": 1, "members": []}], [], ["members", "'a'", "empty"]),
        ([{"phase": "a", "duration": 1, "rank": 1}, AB[1]], [], ["'b'", "neither"]),
        ([{"phase": "a", "duration": 1, "lane": 3}], [], ["lane", "'a'"]),
        ([{"phase": 7, "duration": 1}], [], ["7", "strings"]),
        ([], [], ["at least one phase"]),
        (None, [], ["at least one phase"]),
        ("nonsense", [], ["data frame or a list"]),
        ([("a", 1)], [], ["record 0"]),
        ({"phase": ["a"], "duration": [1, 2]}, [], ["length"]),
        (AB, [("a", "b", "XX")], ["type", "'a' → 'b'", "'XX'"]),
        (AB, [("a", "b", "FS", float("nan"))], ["lag", "'a' → 'b'"]),
        (AB, [("a", "b", "FS", 0, "guessed")], ["origin", "'guessed'"]),
        (AB, [("a", "a", "SS")], ["itself"]),
        (AB, [{"source": "a"}], ["no column 'target'"]),
    ],
)
def test_bad_input_says_what_and_where(phases: object, links: object, words: list[str]) -> None:
    with pytest.raises(TimelineError) as error:
        Timeline(phases, links)
    for word in words:
        assert word in str(error.value)


def test_a_lane_in_a_cycle_is_named() -> None:
    lane = [{**p, "lane": "compute"} for p in AB]
    with pytest.raises(TimelineError, match="order of lane 'compute' takes part"):
        Timeline([*lane, {"phase": "c", "duration": 1}], [("b", "c"), ("c", "a")])


@pytest.mark.parametrize(
    "text", ["{", "", "[1]", "null", '{"phases": []}', '{"phases": [{"phase": "a"}]}',
             '{"schema": "stepviz.timeline/9", "phases": []}', '{"phases": 3}',
             '{"phases": [{"phase": "a", "duration": NaN}]}', '{"phases": [], "colour": 1}']
)  # fmt: skip
def test_broken_json_is_a_timeline_error(text: str) -> None:
    with pytest.raises(TimelineError):
        Timeline.from_json(text)


def test_unknown_target_names_near_ones() -> None:
    with pytest.raises(TimelineError, match="did you mean 'optimizer'"):
        Timeline([{"phase": "optimizer", "duration": 1}], target="optimiser")


def test_lane_order_is_part_of_the_schedule_and_not_stored() -> None:
    lane = [{**p, "lane": "compute"} for p in AB]
    timeline = Timeline(lane)
    assert timeline.schedule().table["start"].tolist() == [0.0, 1.0]
    assert len(timeline.dependencies) == 0
    assert timeline.schedule().dependencies["origin"].tolist() == ["lane"]
    # An explicit dependency replaces it, in either direction; another rank's lane is another lane.
    assert Timeline(lane, [("a", "b", "SS")]).completion == 2.0
    assert Timeline(lane, [("b", "a", "FS")]).schedule().table["start"].tolist() == [2.0, 0.0]
    assert Timeline([{**lane[0], "rank": 0}, {**lane[1], "rank": 1}]).completion == 2.0


def test_target_decides_the_completion() -> None:
    timeline = Timeline([*AB, {"phase": "log", "duration": 50}], [("a", "b"), ("a", "log")], "b")
    table = timeline.schedule().table
    assert timeline.completion == 3.0
    assert table.loc["log", "total_float"] == np.inf
    assert not table.loc["log", "critical"]
    assert timeline.with_target(None).completion == 51.0
    assert timeline.schedule().breakdown().sum().tolist() == [3.0]


def test_edits_return_new_timelines_and_leave_the_old_one() -> None:
    step = sv.lesson()
    before = step.to_json()
    assert step.with_duration("optimizer", 50).completion == 700.0
    assert step.with_release("backward", 300).completion == 800.0
    assert step.with_release("backward", 300).with_release("backward", 0) == step
    assert step.scale("optimizer", 0.5).completion == 700.0
    assert step.scale(kind="exchange", factor=0).completion == 700.0
    assert step.scale(rank=0, factor=2).completion == 1400.0  # the lag of 100 stays
    assert step.disconnect("exchange", "optimizer").completion == 700.0
    assert step.with_lag("forward", "exchange", 150).completion == 800.0
    assert step.connect("exchange", "backward").completion == 1150.0
    assert step.without("exchange").completion == 700.0
    more = step.with_phase("clip", kind="other", lane="compute", duration=5, after="backward")
    assert list(more.phases.index)[2:4] == ["backward", "clip"]
    assert more.connect("clip", "optimizer").with_duration("clip", 60).completion == 760.0
    renamed = step.with_phase("exchange", rename="all-reduce")
    assert renamed.completion == 750.0
    assert "all-reduce" in renamed.dependencies["source"].tolist()
    assert step.to_json() == before
    frame = step.phases
    frame.loc["forward", "duration"] = 1.0
    assert step.phases.loc["forward", "duration"] == 200.0


def test_a_renamed_target_stays_the_target() -> None:
    timeline = Timeline(AB, [("a", "b")], "b").with_phase("b", rename="end")
    assert timeline.target == "end"


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda t: t.with_duration("exchnge", 1), ["'exchnge'", "'exchange'"]),
        (lambda t: t.with_duration("exchange", -1), ["duration", "'exchange'", "-1"]),
        (lambda t: t.with_duration("exchange", "1"), ["'1'"]),
        (lambda t: t.connect("optimizer", "forward"), ["cycle", "'optimizer'", "'forward'"]),
        (lambda t: t.connect("forward", "backward"), ["already"]),
        (lambda t: t.disconnect("forward", "optimizer"), ["no dependency", "'backward'"]),
        (lambda t: t.with_lag("forward", "exchange", float("inf")), ["lag", "inf"]),
        (lambda t: t.with_phase("new"), ["duration", "'new'"]),
        (lambda t: t.with_phase("new", duration=1, color="red"), ["'color'"]),
        (lambda t: t.without("nothing"), ["'nothing'"]),
        (lambda t: t.with_target("optimizer").without("optimizer"), ["target"]),
        (lambda t: t.sensitivity("backwards"), ["'backward'"]),
        (lambda t: t.schedule().exposed("echange"), ["'exchange'"]),
    ],
)
def test_bad_edits_say_what_and_lose_nothing(edit: object, words: list[str]) -> None:
    step = sv.lesson()
    before = step.to_json()
    with pytest.raises(TimelineError) as error:
        edit(step)  # type: ignore[operator]  # a lambda per case
    for word in words:
        assert word in str(error.value)
    assert step.to_json() == before


def test_several_types_between_two_phases_need_a_choice() -> None:
    step = sv.lesson("ss-ff")
    with pytest.raises(TimelineError, match="FF and SS"):
        step.with_lag("backward", "exchange", 1)
    assert step.with_lag("backward", "exchange", 0, "FF").completion == 750.0
    assert step.disconnect("backward", "exchange", "SS").completion == 750.0


def test_equality_and_hash_are_by_value() -> None:
    assert sv.lesson() == sv.lesson()
    assert hash(sv.lesson()) == hash(sv.lesson())
    assert sv.lesson() != sv.lesson("ss-ff")
    assert sv.lesson() != sv.lesson().with_duration("forward", 1)
    assert sv.lesson() != sv.lesson().with_target("optimizer")
    assert (sv.lesson() == "lesson") is False


def test_html_escapes_names() -> None:
    text = Timeline([{"phase": "<script>x</script>", "duration": 1}], name="<b>")._repr_html_()
    assert "<script>" not in text
    assert "&lt;b&gt;" in text
    assert "1 ms" in text


def test_one_phase_and_milestones() -> None:
    assert Timeline([{"phase": "only", "duration": 5}]).schedule().table.loc["only", "drag"] == 5
    nothing = Timeline([{"phase": "mark", "duration": 0}])
    assert nothing.completion == 0.0
    assert nothing.schedule().breakdown().to_numpy().sum() == 0.0
    assert nothing.sensitivity("mark")["slope"].tolist() == [1, 1]
