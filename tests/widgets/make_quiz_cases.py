"""Quizzes and what answers to them are worth, by hand; written for the front end's tests.

    python -m tests.widgets.make_quiz_cases

Python and TypeScript judge by the same rule, and this is what both must say.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import stepviz as sv

CASES = Path(__file__).with_name("quiz_cases.json")

QUIZZES: dict[str, dict[str, Any]] = {
    "step": {
        "question": "The exchange gets 25 ms faster. When does the step end?",
        "answer": 725,
        "unit": "ms",
        "wrong": {750: "nothing moved", 746.43: "a seventh of it", 775: "the wrong way"},
        "why": "All of it is exposed.",
    },
    "near": {"question": "?", "answer": 746.43, "unit": "ms", "wrong": {750: "none of it"}},
    "speedup": {"question": "?", "answer": 1.034, "unit": "×", "wrong": {0.967: "upside down"}},
    "tokens": {"question": "?", "answer": 131072, "unit": "tokens", "wrong": {16384: "one pass"}},
    "days": {"question": "?", "answer": 6.33, "unit": "days", "wrong": {546875: "seconds"}},
    "percent": {"question": "?", "answer": 4, "unit": "%", "wrong": {-4: "quicker"}},
    "rate": {"question": "?", "answer": 2000, "unit": "positions/s"},
    "size": {"question": "?", "answer": 1, "unit": "MiB"},
    "work": {"question": "?", "answer": 4.2e21, "unit": "FLOP"},
    "gain": {"question": "?", "answer": 0, "unit": "ms", "wrong": {50: "it has float"}},
    "plain": {"question": "?", "answer": 11, "tolerance": 0},
    "choice": {
        "question": "When does the step end?",
        "choices": [1050, 600, 650, 750],
        "unit": "ms",
        "answer": 750,
        "wrong": {1050: "the sum", 600: "the largest"},
    },
    "words": {"question": "Does it?", "choices": ["yes", "no"], "answer": "no"},
}

_UNIT = "Give it in ms: “{}” is another unit."
_NUMBER = "“{}” can't be read as a number. Write it like 12.5 ms."

#: Quiz, what is typed or chosen, outcome, value, words.
JUDGED: list[tuple[str, str, str, float | str | None, str]] = [
    ("step", "725", "right", 725, ""),
    ("step", " 725 ms ", "right", 725, ""),
    ("step", "725ms.", "right", 725, ""),
    ("step", "0.725 s", "right", 725, ""),
    ("step", "0,725 s", "right", 725, ""),
    ("step", ".725 seconds", "right", 725, ""),
    ("step", "725000 µs", "right", 725, ""),
    ("step", "725,000 us", "right", 725, ""),
    ("step", "725 000 us", "right", 725, ""),
    ("step", "+7.25e2 MS", "right", 725, ""),
    ("step", "2900/4", "right", 725, ""),
    ("step", "≈ 725 ms", "right", 725, ""),
    ("step", "~725", "right", 725, ""),
    ("step", "about 725", "right", 725, ""),
    ("step", "= −725", "wrong", -725, ""),
    ("step", "about", "unread", None, _NUMBER.format("about")),
    ("step", "725k", "unread", None, _UNIT.format("k")),
    ("step", "722", "right", 722, ""),
    ("step", "721", "wrong", 721, ""),
    ("step", "750", "mistake", 750, "nothing moved"),
    ("step", "0.75 s", "mistake", 750, "nothing moved"),
    # within half a percent of both mistakes: the nearer one is meant
    ("step", "746", "mistake", 746, "a seventh of it"),
    ("step", "749", "mistake", 749, "nothing moved"),
    ("step", "-725", "wrong", -725, ""),
    ("step", "−725", "wrong", -725, ""),
    ("step", "700", "wrong", 700, ""),
    ("step", "", "unread", None, "Write a number first."),
    ("step", "  ", "unread", None, "Write a number first."),
    ("step", "soon", "unread", None, _NUMBER.format("soon")),
    ("step", "7.2.5", "unread", None, _NUMBER.format("7.2.5")),
    ("step", "725/0", "unread", None, _NUMBER.format("725/0")),
    ("step", "1e999", "unread", None, _NUMBER.format("1e999")),
    ("step", "<b>725</b>", "unread", None, _NUMBER.format("<b>725</b>")),
    ("step", "725 MiB", "unread", None, _UNIT.format("MiB")),
    ("step", "725 constructor", "unread", None, _UNIT.format("constructor")),
    ("step", "725 to 730 ms", "unread", None, _UNIT.format("to 730 ms")),
    ("near", "750", "mistake", 750, "none of it"),
    ("near", "746.4", "right", 746.4, ""),
    ("speedup", "1.034", "right", 1.034, ""),
    ("speedup", "1.03x", "right", 1.03, ""),
    ("speedup", "1.034 ×", "right", 1.034, ""),
    ("speedup", "1,034 times", "right", 1.034, ""),
    ("speedup", "1.04", "wrong", 1.04, ""),
    ("speedup", "750/725", "right", 750 / 725, ""),
    ("speedup", "725 / 750", "mistake", 725 / 750, "upside down"),
    ("tokens", "131072", "right", 131072, ""),
    ("tokens", "131,072", "right", 131072, ""),
    ("tokens", "131.072", "right", 131072, ""),
    ("tokens", "131 072 tokens", "right", 131072, ""),
    ("tokens", "131_072 token", "right", 131072, ""),
    ("tokens", "131k", "right", 131000, ""),
    ("tokens", "0.131 M tokens", "right", 131000, ""),
    ("tokens", "131 b", "unread", None, "Give it in tokens: “b” is another unit."),
    ("tokens", "16'384", "mistake", 16384, "one pass"),
    ("days", "6.3", "right", 6.3, ""),
    ("days", "6", "wrong", 6, ""),
    ("days", "152 h", "right", 152 * (3.6e12 / 8.64e13), ""),
    ("days", "546,875", "mistake", 546875, "seconds"),
    ("days", "546,875 s", "right", 546875 * (1e9 / 8.64e13), ""),
    ("percent", "4 %", "right", 4, ""),
    ("percent", "4", "right", 4, ""),
    ("percent", "0.04", "right", 4, ""),
    ("percent", "4 percent", "right", 4, ""),
    ("percent", "4 per cent", "right", 4, ""),
    ("percent", "0.04 %", "wrong", 0.04, ""),
    ("percent", "-4", "mistake", -4, "quicker"),
    ("rate", "2,000", "right", 2000, ""),
    ("rate", "2000 positions per second", "right", 2000, ""),
    ("rate", "2000 positions / s", "right", 2000, ""),
    ("rate", "2000 position/sec", "right", 2000, ""),
    ("rate", "2k positions/s", "right", 2000, ""),
    ("rate", "2000/s", "unread", None, "Give it in positions/s: “/s” is another unit."),
    ("size", "1024 KiB", "right", 1, ""),
    ("size", "1048576 bytes", "right", 1, ""),
    ("size", "1.05 MB", "right", 1.05 * (1e6 / 2**20), ""),
    ("work", "4.2e21", "right", 4.2e21, ""),
    ("work", "4.2E+21 FLOPs", "right", 4.2e21, ""),
    ("gain", "0", "right", 0, ""),
    ("gain", "0 s", "right", 0, ""),
    ("gain", "0.1", "wrong", 0.1, ""),
    ("gain", "50", "mistake", 50, "it has float"),
    ("plain", "11", "right", 11, ""),
    ("plain", "11.01", "wrong", 11.01, ""),
    ("plain", "11 ms", "unread", None, "Give a plain number: “ms” is another unit."),
    ("plain", "eleven", "unread", None, "“eleven” can't be read as a number. Write it like 12.5."),
    ("choice", "750 ms", "right", "750 ms", ""),
    ("choice", "1,050 ms", "mistake", "1,050 ms", "the sum"),
    ("choice", "650 ms", "wrong", "650 ms", ""),
    ("choice", "", "unread", None, "Choose one first."),
    ("words", "no", "right", "no", ""),
    ("words", "yes", "wrong", "yes", ""),
]


def all_cases() -> dict[str, Any]:
    """Return the quizzes as plain data and the judgements."""
    names = ("quiz", "given", "outcome", "value", "words")
    return {
        "quizzes": {name: sv.Quiz(**given)._quiz for name, given in QUIZZES.items()},
        "cases": [dict(zip(names, row, strict=True)) for row in JUDGED],
    }


if __name__ == "__main__":
    CASES.write_text(json.dumps(all_cases(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
