"""The questions at the end of a lesson, answered as a student does: wrong first, then right."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Locator

# What the quizzes of a notebook that has run know.
ASKED = """import json
print(json.dumps([[k, v._quiz] for k, v in sorted(Out.items()) if type(v).__name__ == "Quiz"]))"""

# Their cells are folded, so they are found in the notebook's model and not on the page.
SHOW = """async (nth) => {
    const { content } = window.jupyterapp.shell.currentWidget;
    const cells = content.model.sharedModel.cells;
    const quizzes = cells.flatMap((cell, k) => cell.source.startsWith('sv.Quiz(') ? [k] : []);
    await content.scrollToItem(quizzes[nth], 'center');
}"""


def answer_all(notebook: Any) -> int:
    """Answer each quiz with a mistake, see it named, and with the answer; returns how many."""
    asked = json.loads(notebook.kernel(ASKED))
    for nth, (_, doc) in enumerate(asked):
        notebook.page.evaluate(SHOW, nth)
        quiz = notebook.page.locator(".stepviz.qz", has_text=doc["question"].split("`")[0])
        verdict = quiz.locator('[data-role="verdict"]')
        expect(quiz).to_be_visible()
        assert "answer=" not in notebook.page.locator(".jp-CodeCell", has=quiz).inner_text()
        expect(verdict).to_be_empty()
        mistake = doc["wrong"][0]
        give(quiz, doc, mistake)
        expect(verdict).to_contain_text(mistake["words"].replace("`", ""))
        expect(quiz.locator('[data-role="why"]')).to_have_count(0)
        give(quiz, doc, doc)
        expect(verdict).to_contain_text("Right")
        expect(quiz.locator('[data-role="why"]')).to_have_text(doc["why"].replace("`", ""))
    right = "print(sum(v.correct is True for v in Out.values() if type(v).__name__ == 'Quiz'))"
    for _ in range(100):  # what the page sent is on its way
        if notebook.kernel(right) == str(len(asked)):
            return len(asked)
        notebook.page.wait_for_timeout(100)
    return int(notebook.kernel(right))


def give(quiz: Locator, doc: dict[str, Any], answer: dict[str, Any]) -> None:
    """Type or choose an answer, and have it checked."""
    if doc["kind"] == "choice":
        quiz.get_by_role("radio", name=answer["text"].replace("`", ""), exact=True).check()
        quiz.get_by_role("button", name="Check").click()
    else:
        quiz.get_by_role("textbox").fill(answer["text"])
        quiz.get_by_role("textbox").press("Enter")
