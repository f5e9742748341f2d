"""Every notebook of the course runs from top to bottom where torch is not installed, and asks."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

import stepviz as sv
from tests.lesson_times import pace_of

nbformat = pytest.importorskip("nbformat", reason="reads notebooks")
nbclient = pytest.importorskip("nbclient", reason="runs notebooks")

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "notebooks"
COURSE = sorted(FOLDER.glob("*.ipynb"))
#: As where it is not installed: an import of it fails.
WITHOUT_TORCH = "import sys\n\nsys.modules['torch'] = None"
#: Characters that fit into an output on a projector's 1,280 pixels, beside the list of files.
PRINTED = 96
IN_WORDS = {"ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15}
#: How a cell is folded: what it holds would give the answer away.
FOLDED = {"jupyter": {"source_hidden": True}}

#: The lesson's four questions, its exercises and its numbers, and where the course asks for them.
ASKED = {
    "01": ["750 ms", 725, 1.034, 700, 1.071],
    "04": ["step time and exposed communication in representative traces, contention included"],
    "07": ["processed positions per second no, scored targets per second yes", 131072],
    "08": ["no", 12.66],
    "09": [675, 80],
}


def name_of(path):
    return path.stem


def read(path):
    return nbformat.read(path, as_version=4)


def quizzes(path):
    """Make the notebook's quizzes: their cells need nothing but stepviz."""
    cells = [cell for cell in read(path).cells if "sv.Quiz(" in cell.source]
    return [(cell, eval(cell.source, {"sv": sv})) for cell in cells]  # noqa: S307 - our own cells


def prose(path):
    return "\n".join(cell.source for cell in read(path).cells if cell.cell_type == "markdown")


@pytest.mark.slow
@pytest.mark.parametrize("path", COURSE, ids=name_of)
def test_it_runs_without_torch(path):
    notebook = read(path)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(WITHOUT_TORCH))
    client = nbclient.NotebookClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        resources={"metadata": {"path": str(FOLDER)}},
    )
    client.execute()  # a cell that fails raises
    assert too_long(notebook) == []


def too_long(notebook):
    """Return the printed lines that JupyterLab would break inside a word, on a projector's screen.

    What is shown as HTML or Markdown breaks between words at any width.
    """
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    texts = [output.text for output in outputs if output.output_type == "stream"]
    shown = [output.data for output in outputs if "data" in output]
    wrapped = ("text/html", "text/markdown", "application/vnd.jupyter.widget-view+json")
    texts += [data["text/plain"] for data in shown if not any(kind in data for kind in wrapped)]
    return [line for text in texts for line in text.splitlines() if len(line) > PRINTED]


@pytest.mark.parametrize("path", COURSE, ids=name_of)
def test_it_takes_ten_to_fifteen_minutes_and_says_how_long(path):
    minutes = pace_of(read(path).cells, [quiz._quiz for _, quiz in quizzes(path)]).minutes
    assert 10 <= minutes <= 15
    (said,) = re.findall(rf"\b[Aa]bout ({'|'.join(IN_WORDS)}) minutes\b", prose(path))
    assert abs(IN_WORDS[said] - minutes) <= 1


def test_a_readers_pace_is_counted():
    cells = [
        nbformat.v4.new_markdown_cell("**Predict** two [words](of/no.md).\n```python\nx = 1\n```"),
        nbformat.v4.new_code_cell("import stepviz as sv"),
        nbformat.v4.new_code_cell("editor = sv.TimelineEditor(sv.lesson())\neditor"),
        nbformat.v4.new_code_cell("editor.schedule.table"),
        nbformat.v4.new_code_cell("sv.Quiz()"),
    ]
    quiz = {"question": "Is this so?", "choices": ["yes", "no"], "why": "It is."}
    # 3 + 3 + 2 + 2 words; a question, a widget, a table, a prediction, three lines
    assert pace_of(cells, [quiz]).minutes == pytest.approx(0.05 + 0.5 + 1 + 0.25 + 1 / 3 + 0.05)


@pytest.mark.parametrize("path", COURSE, ids=name_of)
def test_it_stores_no_output_and_asks_for_a_prediction(path):
    code = [cell for cell in read(path).cells if cell.cell_type == "code"]
    assert [cell.outputs for cell in code] == [[]] * len(code)
    assert [cell.execution_count for cell in code] == [None] * len(code)
    assert "predict" in prose(path).lower()
    assert "Check yourself" in prose(path)


@pytest.mark.parametrize("path", COURSE, ids=name_of)
def test_its_questions_give_nothing_away_and_know_the_mistakes(path):
    asked = quizzes(path)
    assert len(asked) >= 3
    for cell, quiz in asked:
        assert cell.metadata == FOLDED, f"the answer to {quiz!r} is in plain sight: fold its cell"
        doc = quiz._quiz
        assert doc["why"]
        assert doc["wrong"]
        assert quiz.judge(doc["answer"]).outcome == "right"
        for mistake in doc["wrong"]:
            assert quiz.judge(mistake["answer"]).words == mistake["words"]


def test_the_lessons_questions_and_exercises_are_asked():
    found = {path.stem[:2]: [quiz._quiz["answer"] for _, quiz in quizzes(path)] for path in COURSE}
    for lesson, answers in ASKED.items():
        assert set(answers) <= set(found[lesson]), lesson


def test_each_lesson_leads_to_the_next_and_no_link_is_broken():
    for path, after in zip(COURSE, [*COURSE[1:], None], strict=True):
        text = prose(path)
        for link in re.findall(r"\]\(([^)#]+)\)", text):
            assert (FOLDER / link).is_file(), f"{path.name} links to {link}"
        following = re.search(r"\*\*Next\*\*: \[[^]]+\]\(([^)]+)\)", text)
        assert (following and following[1]) == (after and after.name), path.name


def cells_of(notebook):
    return [(cell.cell_type, cell.source, dict(cell.metadata)) for cell in notebook.cells]


@pytest.mark.parametrize("path", COURSE, ids=name_of)
def test_its_text_says_the_same(path):
    jupytext = pytest.importorskip("jupytext", reason="reads the texts")
    text = jupytext.read(FOLDER / "text" / f"{path.stem}.md")
    assert cells_of(text) == cells_of(read(path)), "run make notebooks"


def test_every_text_has_its_notebook():
    assert sorted(path.stem for path in (FOLDER / "text").glob("*.md")) == [p.stem for p in COURSE]


def test_an_edited_text_changes_its_notebook_which_loses_its_outputs(tmp_path, monkeypatch, capsys):
    pytest.importorskip("jupytext", reason="writes the notebooks")
    from tools import sync_notebooks

    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    # Not what JupyterLab leaves beside a notebook that somebody opened.
    left = shutil.ignore_patterns(".ipynb_checkpoints")
    shutil.copytree(FOLDER, tmp_path / "notebooks", ignore=left)
    monkeypatch.setattr(sync_notebooks, "NOTEBOOKS", tmp_path / "notebooks")
    monkeypatch.setattr(sync_notebooks, "TEXTS", tmp_path / "notebooks" / "text")
    name = COURSE[0].stem
    for path in list((tmp_path / "notebooks").glob("**/*.*")):  # one pair is enough to see it
        if path.stem != name:
            path.unlink()
    notebook, text = tmp_path / f"notebooks/{name}.ipynb", tmp_path / f"notebooks/text/{name}.md"
    ran = read(notebook)
    ran.cells[1].outputs = [nbformat.v4.new_output("stream", text="ran")]
    nbformat.write(ran, notebook)
    os.utime(notebook, (1, 1))
    text.write_text(text.read_text(encoding="utf-8").replace("a graph", "a net"), encoding="utf-8")
    sync_notebooks.main()
    assert capsys.readouterr().out == f"notebooks/{name}.ipynb changed\n"
    changed = read(notebook)
    assert changed.cells[0].source == read(COURSE[0]).cells[0].source.replace("a graph", "a net")
    assert changed.cells[1].outputs == []
    assert changed.metadata == read(COURSE[0]).metadata
    sync_notebooks.main()
    assert capsys.readouterr().out == ""
