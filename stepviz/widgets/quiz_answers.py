"""What counts as right in a quiz: numbers with their units, choices, and mistakes that have a name.

The page judges by itself, so that a saved page without a kernel does too. This is the same rule for
Python; `tests/widgets/quiz_cases.json` holds what both must say (`frontend/quiz/answers.ts`).
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, Final

#: How many of the first each unit is. A number may be given in any unit of its family.
_FAMILIES: Final[tuple[dict[str, float], ...]] = (
    {
        "ns": 1.0,
        "us": 1e3,
        "ms": 1e6,
        "s": 1e9,
        "sec": 1e9,
        "second": 1e9,
        "seconds": 1e9,
        "min": 6e10,
        "minute": 6e10,
        "minutes": 6e10,
        "h": 3.6e12,
        "hour": 3.6e12,
        "hours": 3.6e12,
        "d": 8.64e13,
        "day": 8.64e13,
        "days": 8.64e13,
    },
    {
        "b": 1.0,
        "byte": 1.0,
        "bytes": 1.0,
        "kb": 1e3,
        "mb": 1e6,
        "gb": 1e9,
        "kib": 2.0**10,
        "mib": 2.0**20,
        "gib": 2.0**30,
    },
    {"flop/s": 1.0, "gflop/s": 1e9, "tflop/s": 1e12, "pflop/s": 1e15},
    {"%": 1.0, "percent": 1.0, "per cent": 1.0},
    {"×": 1.0, "x": 1.0, "times": 1.0, "-fold": 1.0},
)

_DIGITS: Final = (
    r"(?:[0-9]{1,3}(?:[ \u00a0\u2009\u202f'’_][0-9]{3})+(?:[.,][0-9]+)?"
    r"|[0-9][0-9.,]*|[.,][0-9]+)(?:e[+-]?[0-9]+)?"
)
_ABOUT: Final = re.compile(r"^(?:[≈~=]|(?:about|approx\.?|ca\.?)\s)\s*", re.IGNORECASE)
_TYPED: Final = re.compile(
    rf"([+-]?)({_DIGITS})(?:\s*[/÷]\s*({_DIGITS}))?\s*(.*)", re.IGNORECASE | re.DOTALL
)


@dataclass(frozen=True)
class Judgement:
    """What an answer is worth.

    Parameters
    ----------
    outcome : {"right", "mistake", "wrong", "unread"}
        A mistake is a wrong answer whose source is known; unread is what is no answer at all.
    value : float, str or None
        The answer as it was understood: a number in the quiz's unit, or a choice.
    words : str
        The mistake, or why it can't be read.
    """

    outcome: str
    value: float | str | None
    words: str = ""


def units_of(unit: str) -> dict[str, float]:
    """Return the units in which a number may be given, each with its factor to `unit`."""
    plain = _plain_unit(unit)
    for family in _FAMILIES:
        if plain in family:
            return {name: size / family[plain] for name, size in family.items()}
    if not plain:
        return {}
    head, slash, per = plain.partition("/")
    singular = head.removesuffix("s")
    names = {f"{name}{slash}{per}" for name in (singular, f"{singular}s")} | {plain}
    counted = {"k": 1e3, "m": 1e6}  # 131k tokens
    return dict.fromkeys(sorted(names), 1.0) | {
        text: size
        for sign, size in counted.items()
        for text in (sign, *(f"{sign} {name}" for name in sorted(names)))
    }


def judge(quiz: dict[str, Any], given: str) -> Judgement:
    """Judge what was typed or chosen, given the quiz as plain data (`Quiz._quiz`)."""
    if quiz["kind"] == "choice":
        return _judge_choice(quiz, given)
    typed = given.strip()
    if not typed:
        return Judgement("unread", None, "Write a number first.")
    found = _TYPED.fullmatch(re.sub("^[−–]", "-", _ABOUT.sub("", typed)))
    readings = _readings(found) if found else []
    if found is None or not readings:
        unit = f" {quiz['unit']}" if quiz["unit"] else ""
        words = f"“{typed}” can't be read as a number. Write it like 12.5{unit}."
        return Judgement("unread", None, words)
    unit = _plain_unit(found[4])
    factor = 1.0 if not unit else quiz["units"].get(unit)
    if factor is None:
        asked = f"Give it in {quiz['unit']}" if quiz["unit"] else "Give a plain number"
        return Judgement("unread", None, f"{asked}: “{found[4].strip()}” is another unit.")
    if not unit and quiz["unit"] == "%":
        readings += [100 * reading for reading in readings]
    return _judge_numbers(quiz, [reading * factor for reading in readings])


def judge_number(quiz: dict[str, Any], value: float) -> Judgement:
    """Judge a number in the quiz's own unit."""
    return _judge_numbers(quiz, [value])


def _judge_choice(quiz: dict[str, Any], given: str) -> Judgement:
    if given not in quiz["choices"]:
        return Judgement("unread", None, "Choose one first.")
    if given == quiz["answer"]:
        return Judgement("right", given)
    for one in quiz["wrong"]:
        if given == one["answer"]:
            return Judgement("mistake", given, one["words"])
    return Judgement("wrong", given)


def _judge_numbers(quiz: dict[str, Any], values: list[float]) -> Judgement:
    """Take the first reading that is the answer or a mistake; of these, the nearest."""
    targets = [{"answer": quiz["answer"], "words": None}, *quiz["wrong"]]
    for value in values:
        near = [
            (abs(value - target["answer"]), k)
            for k, target in enumerate(targets)
            if abs(value - target["answer"]) <= quiz["tolerance"] * abs(target["answer"])
        ]
        if near:
            words = targets[min(near)[1]]["words"]
            return (
                Judgement("right", value) if words is None else Judgement("mistake", value, words)
            )
    return Judgement("wrong", values[0])


def _readings(found: re.Match[str]) -> list[float]:
    """Read 1,050 as 1050 or 1.05: both are written so somewhere. The likelier comes first."""
    sign = -1.0 if found[1] == "-" else 1.0
    above = _read(found[2])
    below = [1.0] if found[3] is None else [other for other in _read(found[3]) if other != 0]
    values = [sign * value / other for value in above for other in below]
    return [value for value in values if math.isfinite(value)]


def _read(digits: str) -> list[float]:
    body, mark, exponent = re.sub(r"[ \u00a0\u2009\u202f'’_]", "", digits.lower()).partition("e")
    body = body.rstrip(".,")
    tail = mark + exponent
    both = "." in body and "," in body
    decimal = max(".,", key=body.rfind)
    if both:
        other = "," if decimal == "." else "."
        plain = body.replace(other, "")
        return [float(plain.replace(decimal, ".") + tail)] if plain.count(decimal) == 1 else []
    count = body.count(decimal)
    if count == 0:
        return [float(body + tail)]
    grouped = re.fullmatch(rf"[1-9][0-9]{{0,2}}(?:[{decimal}][0-9]{{3}})+", body) is not None
    whole = [float(body.replace(decimal, "") + tail)] if grouped else []
    if count > 1:
        return whole
    fraction = [float(body.replace(decimal, ".") + tail)]
    return whole + fraction if decimal == "," else fraction + whole


def _plain_unit(unit: str) -> str:
    """Write a unit in the one way in which units are compared."""
    plain = unit.strip().lower().replace("µ", "u").replace("μ", "u").rstrip(".")
    plain = re.sub(r"\s*\bper\s+(?!cent\b)", "/", plain)
    return re.sub(r"/(?:seconds?|sec)$", "/s", re.sub(r"\s*/\s*", "/", plain))
