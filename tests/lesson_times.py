"""How long a lesson takes an honest reader: who reads all of it, predicts, drags and answers.

The paces are those of the course: 200 words a minute; half a minute to answer a question once it is
read; a minute at a widget; a quarter of a minute to run a cell and look at what it shows; twenty
seconds to write a prediction down; a second for a line of code.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

WORDS_A_MINUTE = 200
QUESTION, WIDGET, TABLE, PREDICTION, LINE = 30 / 60, 1.0, 15 / 60, 20 / 60, 1 / 60

#: What a cell makes that is dragged, turned or typed into.
WIDGETS = re.compile(
    r"sv\.(TimelineEditor|TraceViewer|BucketExplorer|RunPlanner|TokenComparison)\("
)
PREDICT = re.compile(r"\*\*[^*]*\b[Pp]redict|[Ww]rite down|\bguess:|\*\*Rank them\*\*|\bDecide\b")
ONLY_IMPORTS = re.compile(r"(import .*|from .* import .*)(\n(import .*|from .* import .*))*")


@dataclass(frozen=True)
class Pace:
    """What a lesson asks of its reader."""

    words: int
    questions: int
    widgets: int
    tables: int
    predictions: int
    lines: int

    @property
    def minutes(self) -> float:
        """The whole of it."""
        return (
            self.words / WORDS_A_MINUTE
            + self.questions * QUESTION
            + self.widgets * WIDGET
            + self.tables * TABLE
            + self.predictions * PREDICTION
            + self.lines * LINE
        )


def words_in(text: str) -> int:
    """Count the words of Markdown, without addresses and code blocks."""
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    return len(re.findall(r"\S*\w\S*", re.sub(r"\]\([^)]*\)", "]", prose)))


def pace_of(cells: Iterable[Any], quizzes: Iterable[dict[str, Any]]) -> Pace:
    """Count what a notebook's cells ask of a reader, with its questions as the page has them."""
    cells, asked = list(cells), list(quizzes)
    prose = [cell.source for cell in cells if cell.cell_type == "markdown"]
    code = [
        cell.source for cell in cells if cell.cell_type == "code" and "sv.Quiz(" not in cell.source
    ]
    code = [source for source in code if not ONLY_IMPORTS.fullmatch(source.strip())]
    moved = sum(WIDGETS.search(source) is not None for source in code)
    read = sum(words_in(" ".join([doc["question"], *doc["choices"], doc["why"]])) for doc in asked)
    return Pace(
        words=sum(map(words_in, prose)) + read,
        questions=len(asked),
        widgets=moved,
        tables=len(code) - moved,
        predictions=sum(len(PREDICT.findall(text)) for text in prose),
        lines=sum(len(source.splitlines()) for source in code),
    )
