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
        # Values of a type that has no meaning here, and numbers too large for a float or a rank.
        ([{"phase": "a", "duration": 10**400}], [], ["duration", "inf"]),
        ([{"phase": "a", "duration": np.timedelta64(1, "s")}], [], ["duration", "'a'"]),
        ([{"phase": "a", "duration": 1 + 2j}], [], ["duration", "'a'"]),
        ([{"phase": "a", "duration": 1, "rank": 2**63}], [], ["rank", "'a'"]),
        ([{"phase": "a", "duration": 1, "rank": 1e300}], [], ["rank", "'a'"]),
        ([{"phase": "a", "duration": 1, "members": [2**70]}], [], ["member", "'a'"]),
        ([{"phase": "a", "duration": 1, "members": b"01"}], [], ["members", "'a'"]),
        ([{"phase": "a", "duration": 1, "members": np.array(5)}], [], ["members", "'a'"]),
        ([{"phase": "a", "duration": 1, "kind": []}], [], ["kind", "'a'"]),
        ([{"phase": "\ud800", "duration": 1}], [], ["names are"]),
        (AB, [{"source": {}, "target": "b"}], ["source", "{}"]),
        (AB, [("a", "b", ["FS"])], ["type", "'a' → 'b'"]),
        (AB, [("a", "b", "FS", 10**400)], ["lag", "'a' → 'b'"]),
        ({"phase": "a", "duration": 5}, [], ["column 'phase'", "list"]),
        (sv.lesson().to_dict(), [], ["from_dict"]),
        (
            pd.DataFrame([["a", "b", 1]], columns=["phase", "phase", "duration"]),
            [],
            ["two columns"],
        ),
        (AB, pd.DataFrame({"source": ["a"], "target": ["b"], "lag": [np.nan]}), ["lag", "NaN"]),
        (pd.DataFrame({"phase": ["a"], "duration": [1], "release": [np.nan]}), [], ["release"]),
        (
            [{"phase": "a", "duration": 1e308}, {"phase": "b", "duration": 1e308}],
            [("a", "b")],
            ["more than a float"],
        ),
    ],
)
def test_bad_input_says_what_and_where(phases: object, links: object, words: list[str]) -> None:
    with pytest.raises(TimelineError) as error:
        Timeline(phases, links).schedule()
    for word in words:
        assert word in str(error.value)


def test_a_lane_in_a_cycle_is_named() -> None:
    lane = [{**p, "lane": "compute"} for p in AB]
    with pytest.raises(TimelineError, match="order of lane 'compute' takes part"):
        Timeline([*lane, {"phase": "c", "duration": 1}], [("b", "c"), ("c", "a")])


@pytest.mark.parametrize(
    "text", ["{", "", "[1]", "null", '{"phases": []}', '{"phases": [{"phase": "a"}]}',
             '{"schema": "stepviz.timeline/9", "phases": []}', '{"phases": 3}',
             '{"phases": [{"phase": "a", "duration": NaN}]}', '{"phases": [], "colour": 1}',
             '{"phases": [], "phases": []}', "[" * 100_000, "9" * 5000, '{"phases": {"phase": 5}}',
             None, 5]
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


def test_what_is_handed_out_can_be_changed_without_harm() -> None:
    step = sv.lesson()
    edited = step.with_duration("optimizer", 50)
    expected = step.to_json(), edited.to_json(), step.schedule().exposed("exchange")[0]
    phases, links, table = step.phases, step.dependencies, step.schedule().table
    for column in phases.columns:
        phases.isetitem(phases.columns.get_loc(column), phases[column])
    phases.loc["exchange", "kind"] = "other"
    phases.loc["exchange", "duration"] = 1.0
    links.loc[0, "origin"] = "recorded"
    links.loc[0, "lag"] = 99.0
    table.loc["exchange", "start"] = 7.0
    table.loc["exchange", "binding_dependency"] = 0
    assert (step.to_json(), edited.to_json(), step.schedule().exposed("exchange")[0]) == expected
    assert step.schedule().table.loc["exchange", "start"] == 300.0
    with pytest.raises(ValueError, match="read-only"):
        step.schedule().solution.start[:] = 99


def test_a_frame_may_have_any_index() -> None:
    """Filtered and sorted frames keep their labels; messages must still name the right row."""
    three = [{"phase": x, "duration": 1} for x in "abc"]
    links = pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"], "type": ["FS", "XX"]})
    with pytest.raises(TimelineError, match="'b' → 'c' is 'XX'"):
        Timeline(three, links.query("source == 'b'"))
    swapped = pd.DataFrame(
        {"source": ["a", "b"], "target": ["b", "c"], "lag": [np.inf, 1]}, index=[1, 0]
    )
    with pytest.raises(TimelineError, match="lag of dependency 'a' → 'b'"):
        Timeline(three, swapped)
    assert Timeline(three, links.query("source == 'a'")).completion == 2.0


def test_missing_values_of_nullable_columns_take_the_default() -> None:
    frame = pd.DataFrame({"phase": ["a", "b"], "duration": [1, 2]}).convert_dtypes()
    frame["release"] = pd.array([pd.NA, 5], dtype="Float64")
    assert Timeline(frame).phases["release"].tolist() == [0.0, 5.0]


def test_a_lane_belongs_to_a_rank_or_to_a_group() -> None:
    def two(first: dict[str, object], second: dict[str, object]) -> float:
        rows = [{"phase": "x", **first}, {"phase": "y", **second}]
        return Timeline([{**row, "lane": "link", "duration": 10} for row in rows]).completion

    assert two({"members": [0, 1]}, {"members": [1, 0]}) == 20.0
    assert two({"members": [0, 1]}, {"members": [2, 3]}) == 10.0
    assert two({"members": [0]}, {"rank": 0}) == 10.0


def test_an_edit_that_overflows_is_refused() -> None:
    huge = Timeline([{"phase": "a", "duration": 1e308}])
    with pytest.raises(TimelineError, match="duration of phase 'a' became inf"):
        huge.scale("a", 10)


@pytest.mark.parametrize(
    "edit",
    [
        lambda t: t.apply("x"),
        lambda t: t.apply(None),
        lambda t: t.without(5),
        lambda t: t.without([["a"]]),
        lambda t: t.with_phase(["a"], duration=1),
        lambda t: t.connect("forward", "optimizer", type=None),
        lambda t: t.with_duration(["forward"], 1),
        lambda t: t.scale("forward", 10**400),
        lambda t: sv.lesson([]),
        lambda t: sv.lesson("release", {}),
    ],
)
def test_odd_arguments_are_refused_in_words(edit: object) -> None:
    with pytest.raises(sv.StepvizError):
        edit(sv.lesson())  # type: ignore[operator]  # a lambda per case


def test_a_tie_by_lane_order_is_explained() -> None:
    lane = Timeline([{**p, "lane": "compute"} for p in AB])
    with pytest.raises(TimelineError, match="order of lane 'compute' ties them"):
        lane.with_lag("a", "b", 1)


def test_html_says_what_holds_each_phase_and_shows_no_exponents() -> None:
    text = sv.lesson().schedule()._repr_html_()
    assert "forward (FS + 100)" in text
    big = Timeline([{"phase": "a", "duration": 1234567.875}])
    assert "1,234,567.875 ms" in repr(big)
    assert "None" not in big._repr_html_()
