"""A question at the end of a lesson: answer first, then see why."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import anywidget
import traitlets

from stepviz.core.checks import as_real
from stepviz.errors import StepvizError, near
from stepviz.throughput.figures import number_text
from stepviz.widgets.bundle import bundle_text, packed_module
from stepviz.widgets.drawings import question_svg
from stepviz.widgets.pages import Piece, Saved, model_of
from stepviz.widgets.quiz_answers import Judgement, judge, judge_number, units_of

#: How far off a number may be, as a share of the answer: three digits are enough.
_TOLERANCE = 0.005


class _AnswerTrait(traitlets.TraitType[Any, Any]):
    """What was answered: a number in the quiz's unit, one of its choices, or None."""

    default_value = None
    allow_none = True
    info_text = "a number, or one of the choices"

    def validate(self, obj: Quiz, value: Any) -> Any:
        """Refuse what is no answer to this question."""
        return obj._answered(value)


class Quiz(Saved, anywidget.AnyWidget):
    """A question that is answered before it is explained.

    A wrong answer whose source is known names the mistake; the explanation comes with the right
    answer, or when it is asked for. The page judges by itself, so it does in a saved page too.

    Parameters
    ----------
    question : str
        What is asked. Text between backticks is shown as code, here and in the other texts.
    answer : float or str
        The right answer: a number in `unit`, or one of `choices`.
    unit : str
        The answer's unit, such as ``"ms"``. A number may be typed without it, or in another unit
        of its kind: 725, 725 ms and 0.725 s are the same. With `choices` it is written after
        those that are numbers.
    choices : sequence of str or float, optional
        What to choose from, in this order. Without it a number is typed.
    wrong : mapping, optional
        Wrong answers, each with the mistake that it comes from, in a sentence.
    why : str
        Why the right answer is right.
    tolerance : float
        How far off a typed number may be, as a share of the answer.
    layout : ipywidgets.Layout or dict, optional
        As for any widget.

    Raises
    ------
    StepvizError
        A question without an answer, an answer that is not among the choices, a mistake that is
        the answer.

    Examples
    --------
    >>> import stepviz as sv
    >>> quiz = sv.Quiz(
    ...     "The exposed tail gets 25 ms shorter. When does the step end?",
    ...     answer=725,
    ...     unit="ms",
    ...     wrong={775: "That is 25 ms more: shorter work ends sooner."},
    ...     why="The tail is on the path that ends the step, so all of the 25 ms count.",
    ... )
    >>> quiz.judge("775 ms").words
    'That is 25 ms more: shorter work ends sooner.'
    >>> quiz.judge("0.725 s").outcome
    'right'
    >>> quiz
    <Quiz 'The exposed tail gets 25 ms shorter. When does the step end?', not answered>
    """

    _esm = traitlets.Unicode().tag(sync=True)
    _css = traitlets.Unicode().tag(sync=True)

    value = _AnswerTrait().tag(sync=True)
    """What was answered last: a number in the quiz's unit or a choice; None before, and to start
    over. Name the trait when observing: ``quiz.observe(f, names="value")``."""

    revealed = traitlets.Bool(default_value=False).tag(sync=True)
    """Whether the answer and its reason are shown though it was not found. Type: bool."""

    _quiz: traitlets.Dict[str, Any] = traitlets.Dict().tag(sync=True)

    _own_layout = False

    def __init__(
        self,
        question: str,
        *,
        answer: float | str,
        unit: str = "",
        choices: Sequence[float | str] | None = None,
        wrong: Mapping[Any, str] | None = None,
        why: str = "",
        tolerance: float = _TOLERANCE,
        layout: Any = None,
    ) -> None:
        for name, text in (("question", question), ("unit", unit), ("why", why)):
            if not isinstance(text, str):
                msg = f"{name} is {text!r}: give a text"
                raise StepvizError(msg)
        if not question.strip():
            msg = "the question is empty: give what is asked, in a sentence"
            raise StepvizError(msg)
        mistakes = _mistakes(wrong)
        self._own_layout = layout is None
        common = {"question": question, "unit": unit, "why": why}
        if choices is None:
            described = _typed(answer, unit, mistakes, tolerance)
        else:
            described = _chosen(answer, unit, mistakes, choices)
        super().__init__(
            _quiz={**common, **described}, **({} if layout is None else {"layout": layout})
        )

    @traitlets.default("_esm")
    def _default_esm(self) -> str:
        return packed_module("quiz.js")

    @traitlets.default("_css")
    def _default_css(self) -> str:
        return bundle_text("quiz.css")

    @property
    def correct(self) -> bool | None:
        """Whether the last answer is right; None before there is one."""
        if self.value is None:
            return None
        return self._judged(self.value).outcome == "right"

    def judge(self, given: float | str) -> Judgement:
        """Judge an answer as the page does, without giving it.

        Parameters
        ----------
        given : float or str
            What somebody may type, such as ``"0.725 s"``, or choose.

        Returns
        -------
        Judgement
            Its `outcome` ("right", "mistake", "wrong", or "unread" for what is no answer), its
            `value` and its `words`.
        """
        return self._judged(given)

    def reset(self) -> None:
        """Start over: no answer, and no reason shown."""
        with self.hold_sync():
            self.value = None
            self.revealed = False

    def _judged(self, given: Any) -> Judgement:
        if isinstance(given, str):
            return judge(self._quiz, given)
        if self._quiz["kind"] == "choice":
            return judge(self._quiz, _text_of(given, self._quiz["unit"]))
        return judge_number(self._quiz, _number(given, "an answer"))

    def _answered(self, value: Any) -> float | str:
        found = self._judged(value)
        if found.outcome == "unread" or found.value is None:
            if self._quiz["kind"] == "choice":
                words = f"there is no choice {value!r}: {near(value, self._quiz['choices'])}"
                raise StepvizError(words)
            raise StepvizError(found.words)
        return found.value

    def _piece(self) -> Piece:
        return Piece((model_of(self, "quiz"),))

    _titled = True

    def _title(self) -> str:
        return "Check yourself"

    def _picture_svg(self) -> str:
        return question_svg(self._quiz["question"], self._quiz["choices"])

    def __repr__(self) -> str:
        if self.value is None:
            state = "the answer is shown" if self.revealed else "not answered"
        else:
            state = f"answered {_text_of(self.value, self._quiz['unit'])}: "
            state += "right" if self.correct else "not right"
        return f"<Quiz {self._quiz['question']!r}, {state}>"

    def close(self) -> None:
        """Close the widget and free it, here and in the page."""
        layout = self.layout if self._own_layout and self.comm is not None else None
        super().close()
        if layout is not None:
            layout.close()  # ipywidgets leaves it open, since users may share theirs


def _mistakes(wrong: Mapping[Any, str] | None) -> dict[Any, str]:
    if wrong is None:
        return {}
    if not isinstance(wrong, Mapping):
        msg = f"wrong is {wrong!r}: give a mapping from wrong answers to their mistakes"
        raise StepvizError(msg)
    for given, words in wrong.items():
        if not isinstance(words, str) or not words.strip():
            msg = f"the mistake behind {given!r} is {words!r}: say it in a sentence"
            raise StepvizError(msg)
    return dict(wrong)


def _typed(answer: Any, unit: str, mistakes: dict[Any, str], tolerance: Any) -> dict[str, Any]:
    """Describe a question whose answer is a number that somebody types."""
    if isinstance(answer, str):
        msg = f"the answer is {answer!r}, and only numbers are typed: give choices as well"
        raise StepvizError(msg)
    right = _number(answer, "the answer")
    share = _number(tolerance, "tolerance")
    if not 0 <= share < 1:
        msg = f"tolerance is {tolerance!r}: give a share of the answer, 0 or more and below 1"
        raise StepvizError(msg)
    wrong = []
    for given, words in mistakes.items():
        number = _number(given, "a wrong answer")
        if math.isclose(number, right):
            msg = f"{_text_of(number, unit)} is the answer, and stands among the wrong ones too"
            raise StepvizError(msg)
        wrong.append({"answer": number, "text": _text_of(number, unit), "words": words})
    return {
        "kind": "number",
        "answer": right,
        "text": _text_of(right, unit),
        "choices": [],
        "wrong": wrong,
        "tolerance": share,
        "units": units_of(unit),
    }


def _chosen(answer: Any, unit: str, mistakes: dict[Any, str], choices: Any) -> dict[str, Any]:
    """Describe a question with choices."""
    if isinstance(choices, str) or not isinstance(choices, Sequence) or len(choices) < 2:
        msg = f"choices is {choices!r}: give a list of two or more"
        raise StepvizError(msg)
    texts = [_text_of(choice, unit) for choice in choices]
    for text in texts:
        if texts.count(text) > 1:
            msg = f"the choice {text!r} is there twice: leave one out"
            raise StepvizError(msg)
    right = _text_of(answer, unit)
    if right not in texts:
        msg = f"the answer {right!r} is not among the choices: {near(right, texts)}"
        raise StepvizError(msg)
    wrong = []
    for given, words in mistakes.items():
        text = _text_of(given, unit)
        if text == right:
            msg = f"{text!r} is the answer, and stands among the wrong ones too"
            raise StepvizError(msg)
        if text not in texts:
            msg = f"there is no choice {text!r} to be wrong: {near(text, texts)}"
            raise StepvizError(msg)
        wrong.append({"answer": text, "text": text, "words": words})
    return {
        "kind": "choice",
        "answer": right,
        "text": right,
        "choices": texts,
        "wrong": wrong,
        "tolerance": 0.0,
        "units": {},
    }


def _number(given: Any, what: str) -> float:
    number = as_real(given)
    if number is not None and math.isfinite(number):
        return number
    msg = f"{what} is {given!r}: give a finite number"
    raise StepvizError(msg)


def _text_of(given: Any, unit: str) -> str:
    """Write an answer as it is shown."""
    if isinstance(given, str) and given.strip():
        return given
    if isinstance(given, str):
        msg = "a choice is empty: give it a text"
        raise StepvizError(msg)
    number = _number(given, "an answer")
    text = ("−" if number < 0 else "") + number_text(abs(number), 5)
    if not unit:
        return text
    return f"{text}{unit}" if unit in ("×", "x") else f"{text} {unit}"
