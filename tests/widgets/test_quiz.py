"""The quiz's Python side: what it refuses, what it tells the page, how it judges."""

from __future__ import annotations

import gc
import json
import math
import weakref

import pytest

import stepviz as sv
from tests.widgets import frontend, make_quiz_cases

COMMITTED = json.loads(make_quiz_cases.CASES.read_text(encoding="utf-8"))
STEP = make_quiz_cases.QUIZZES["step"]


def same(found, expected):
    both_numbers = isinstance(found, float) and isinstance(expected, int | float)
    return math.isclose(found, expected, rel_tol=1e-12) if both_numbers else found == expected


def test_the_committed_cases_are_those_written_by_hand():
    assert json.loads(json.dumps(make_quiz_cases.all_cases())) == COMMITTED, (
        "run python -m tests.widgets.make_quiz_cases"
    )


@pytest.mark.parametrize(
    "case", COMMITTED["cases"], ids=lambda case: f"{case['quiz']}: {case['given']}"
)
def test_an_answer_is_worth_what_the_case_says(case):
    quiz = sv.Quiz(**make_quiz_cases.QUIZZES[case["quiz"]])
    found = quiz.judge(case["given"])
    assert (found.outcome, found.words) == (case["outcome"], case["words"])
    assert same(found.value, case["value"])


def test_the_page_judges_alike():
    frontend.build("--test", "quiz/answers")


def test_what_is_sent_is_plain_and_small():
    quiz = sv.Quiz(**STEP)
    state = {name: quiz.get_state()[name] for name in ("value", "revealed", "_quiz")}
    assert json.loads(json.dumps(state, allow_nan=False)) == state
    assert state["value"] is None
    assert state["revealed"] is False


def test_an_answer_is_kept_in_the_quizs_unit_and_judged():
    quiz = sv.Quiz(**STEP)
    assert (quiz.value, quiz.correct) == (None, None)
    seen = []
    quiz.observe(lambda change: seen.append(change["new"]), names="value")
    quiz.value = "0.75 s"
    assert (quiz.value, quiz.correct) == (750.0, False)
    quiz.set_state({"value": 725})  # as the page sends it
    assert (quiz.value, quiz.correct) == (725.0, True)
    assert seen == [750.0, 725.0]
    quiz.revealed = True
    quiz.reset()
    assert (quiz.value, quiz.revealed, quiz.correct) == (None, False, None)


def test_a_choice_may_be_given_as_the_number_that_it_is():
    quiz = sv.Quiz(**make_quiz_cases.QUIZZES["choice"])
    quiz.value = 1050
    assert (quiz.value, quiz.correct) == ("1,050 ms", False)
    assert quiz.judge(600).words == "the largest"
    with pytest.raises(sv.StepvizError, match="there is no choice 700"):
        quiz.value = 700
    assert quiz.value == "1,050 ms"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"answer": "725"}, "only numbers are typed: give choices as well"),
        ({"answer": float("nan")}, "the answer is nan: give a finite number"),
        ({"answer": True}, "the answer is True: give a finite number"),
        ({"answer": 1, "tolerance": 2}, "tolerance is 2: give a share of the answer"),
        ({"answer": 1, "wrong": {1.0: "the same"}}, "1 is the answer, and stands among the wrong"),
        ({"answer": 1, "wrong": {"2": "a text"}}, "a wrong answer is '2': give a finite number"),
        ({"answer": 1, "wrong": {2: ""}}, "the mistake behind 2 is '': say it in a sentence"),
        ({"answer": 1, "wrong": [2]}, "give a mapping from wrong answers to their mistakes"),
        ({"answer": 1, "unit": 3}, "unit is 3: give a text"),
        ({"answer": 1, "why": None}, "why is None: give a text"),
        ({"question": " ", "answer": 1}, "the question is empty"),
        ({"answer": "yes", "choices": "yes"}, "choices is 'yes': give a list of two or more"),
        ({"answer": "yes", "choices": ["yes"]}, "give a list of two or more"),
        ({"answer": "yes", "choices": ["yes", ""]}, "a choice is empty"),
        ({"answer": "y", "choices": ["yes", "no"]}, "not among the choices: did you mean 'yes'"),
        ({"answer": "a", "choices": ["a", "b", "a"]}, "the choice 'a' is there twice"),
        (
            {"answer": "no", "choices": ["yes", "no"], "wrong": {"yse": "hm"}},
            "there is no choice 'yse' to be wrong: did you mean 'yes'",
        ),
        (
            {"answer": "no", "choices": ["yes", "no"], "wrong": {"no": "hm"}},
            "'no' is the answer, and stands among the wrong ones too",
        ),
    ],
)
def test_a_question_that_has_no_meaning_is_refused(given, words):
    with pytest.raises(sv.StepvizError, match=words):
        sv.Quiz(**{"question": "How many?", **given})


def test_an_answer_that_has_no_meaning_is_refused_and_the_old_one_stays():
    quiz = sv.Quiz(**STEP)
    quiz.value = 750
    for given, words in (("soon", "can't be read"), (float("inf"), "finite"), ([1], "finite")):
        with pytest.raises(sv.StepvizError, match=words):
            quiz.value = given
    assert quiz.value == 750


def test_it_says_what_it_is_without_a_page_and_without_the_answer():
    quiz = sv.Quiz(**STEP)
    assert "725" not in repr(quiz)
    assert "not answered" in repr(quiz)
    quiz.value = 750
    assert repr(quiz).endswith("answered 750 ms: not right>")


def test_it_is_freed_when_closed():
    quiz = sv.Quiz(**STEP)
    ref = weakref.ref(quiz)
    quiz.close()
    del quiz
    gc.collect()
    assert ref() is None
