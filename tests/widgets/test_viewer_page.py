"""A step in a page answers as Python does: the same questions, the same answers, to the byte."""

from __future__ import annotations

import base64
import json
import random
from typing import Any

import pytest

import stepviz as sv
from stepviz.traces.lanes.scene import SHOWN_KINDS
from stepviz.widgets import viewer_drawing
from stepviz.widgets.viewer_answers import PATH, Answers
from stepviz.widgets.viewer_drawing import step_svg
from stepviz.widgets.viewer_page import viewer_given
from tests.widgets import frontend


@pytest.fixture(scope="module", params=["base", "slow rank"])
def answers(request: pytest.FixtureRequest) -> Answers:
    return Answers(sv.sample_run(request.param).step())


def in_page(
    given: str, questions: list[dict[str, Any]]
) -> list[tuple[dict[str, Any], list[bytes]]]:
    """Ask the page's own code, in Node."""
    asked = {"given": given, "kinds": list(SHOWN_KINDS), "questions": questions}
    said = frontend.build("--run", "page/viewer/crosscheck.ts", text=json.dumps(asked))
    return [
        (content, [base64.b64decode(one) for one in buffers])
        for content, buffers in json.loads(said)
    ]


def questions_about(answers: Answers, seed: int) -> list[dict[str, Any]]:
    """Return every kind of question, at random places."""
    rng = random.Random(seed)
    scene = answers.scene
    lanes = [*range(len(scene)), PATH]
    span = scene.span_ns
    found: list[dict[str, Any]] = []
    for k in range(60):
        start = rng.randrange(scene.begin_ns, span)
        finish = min(span, start + rng.choice([2_000, 300_000, span]))
        hidden = rng.sample(range(len(SHOWN_KINDS)), rng.choice([0, 0, 2]))
        text = rng.choice(["", "", "mm", "ALL_REDUCE", "aten::"])
        some = rng.sample(lanes, min(len(lanes), 7))
        at = {"start": start, "finish": finish}
        found += [
            {"ask": "blocks", "page": f"p{k}", "lanes": some, "hidden": hidden, "find": text, **at,
             "pixel": rng.choice([1, 700, 50_000])},
            {"ask": "explain", "lane": rng.choice(lanes), **at},
            {"ask": "piece", "at": start, "by": rng.choice([-1, 0, 1])},
            {"ask": "find", "text": text, "hidden": hidden, "lane": rng.choice(lanes[:-1]),
             "start": start, "go": rng.choice(["next", "back", None])},
            {"ask": "path", "from": rng.choice([0, 3, 200])},
        ]  # fmt: skip
    # One interval alone, with all that is known of it.
    for number in scene.recorded.tolist():
        lane = scene.lane(number)
        for k in rng.sample(range(len(lane)), min(len(lane), 5)):
            at = {"start": int(lane.start[k]), "finish": int(lane.finish[k])}
            found.append({"ask": "explain", "lane": number, **at})
    return [{"id": f"q{k}", **question} for k, question in enumerate(found)]


def test_each_question_is_answered_as_python_does(answers: Answers) -> None:
    given, left_out = viewer_given(answers)
    assert left_out == []
    questions = questions_about(answers, random.SystemRandom().randrange(2**32))
    alike = in_page(given, questions)
    told = 0
    for question, (content, buffers) in zip(questions, alike, strict=True):
        expected, packed = answers.answer(question)
        assert content == json.loads(json.dumps(expected)), question
        assert buffers == packed, question
        told += len(content.get("more", []))
    assert told > 50


def test_a_question_without_meaning_is_answered_with_the_reason(answers: Answers) -> None:
    given, _ = viewer_given(answers)
    (first, _), (second, _) = in_page(
        given,
        [
            {"id": "a", "ask": "explain", "lane": 10_000, "start": 0, "finish": 1},
            {"id": "b", "ask": "everything"},
        ],
    )
    assert first == {"id": "a", "error": "there is no lane 10000"}
    assert second["id"] == "b"
    assert "everything" in second["error"]


def test_of_a_huge_step_short_neighbours_are_one_and_it_is_said(answers):
    scene = answers.scene
    given, (said,) = viewer_given(answers, most=500)
    assert said.startswith(f"Of {scene.intervals:,} intervals this page holds ")
    assert int(said.split("holds ")[1].split(":")[0].replace(",", "")) <= 500
    whole = {"start": scene.begin_ns, "finish": scene.span_ns}
    questions = [
        {"id": str(number), "ask": "explain", "lane": number, **whole}
        for number in range(len(scene))
    ]
    for question, (content, _) in zip(questions, in_page(given, questions), strict=True):
        expected, _ = answers.answer(question)
        assert content["count"] == expected["count"]
        if content["count"] > 1:
            assert content["busy_ns"] == expected["busy_ns"]
            assert content["duration_ns"] == expected["duration_ns"]
    assert len(given) < len(viewer_given(answers)[0])


def test_as_far_as_it_goes_the_huge_step_is_drawn_as_in_python(answers):
    scene = answers.scene
    given, _ = viewer_given(answers, most=500)
    pixel = scene.span_ns // 50
    question = {
        "id": "a", "ask": "blocks", "page": "p", "lanes": list(range(len(scene))),
        "start": scene.begin_ns, "finish": scene.span_ns, "pixel": pixel,
    }  # fmt: skip
    ((content, _),) = in_page(given, [question])
    assert content["lanes"] == question["lanes"]
    assert set(content["names"].values()) <= set(scene.names)


def test_a_drawing_of_many_ranks_keeps_to_what_each_does_on_the_whole(answers, monkeypatch):
    whole = step_svg(answers)
    assert "left out" not in whole
    monkeypatch.setattr(viewer_drawing, "_MOST_ROWS", 4)
    short = step_svg(answers)
    rows = sum(1 + len(rank.tracks) for rank in answers.scene.ranks) + 1
    assert f"{rows - 3} of {rows} rows are left out" in short
    assert len(short) < len(whole)
