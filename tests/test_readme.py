"""The README's Python runs from top to bottom and says what its comments say."""

from __future__ import annotations

import re
from pathlib import Path

import stepviz as sv

README = Path(__file__).resolve().parents[1] / "README.md"


def test_the_tour_runs():
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) >= 4
    names = {}
    for block in blocks:
        # The reader's folder is not there; the sample that its comment names is.
        code = block.replace('sv.load_run("traces/")', "sv.sample_run()")
        exec(compile(code, str(README), "exec"), names)  # noqa: S102 - our own text
    assert names["editor"].schedule.completion == 750.0
    assert names["run"].ranks == [0, 1]


def test_the_numbers_of_the_tour():
    step = sv.lesson()
    changes = {"e": sv.shorten("exchange", 100), "b": sv.shorten("backward", 100)}
    assert sv.compare(step, changes)["gain"].tolist() == [50.0, 0.0, 100.0]
    assert step.apply(sv.set_duration("optimizer", 50)).completion == 700.0
    found = [
        sv.lesson(model).apply(sv.shorten(kind="exchange", ms=25)).completion
        for model in ("release", "ss-ff", "buckets")
    ]
    assert [round(ms, 2) for ms in found] == [725.0, 750.0, 746.43]


def test_every_file_the_readme_names_is_there():
    text = README.read_text(encoding="utf-8")
    linked = re.findall(r"\]\(([^)#:]+)\)", text)
    assert linked
    assert [path for path in linked if not (README.parent / path).exists()] == []
