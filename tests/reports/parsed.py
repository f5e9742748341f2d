"""A report as a reader without eyes meets it: headings, tables by name, their cells."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser


@dataclass
class Cell:
    """What stands in a cell, and the exact ns behind it."""

    tag: str
    attributes: dict[str, str]
    text: str = ""

    @property
    def ns(self) -> int | None:
        return int(self.attributes["data-ns"]) if "data-ns" in self.attributes else None


@dataclass
class Table:
    caption: str = ""
    rows: list[list[Cell]] = field(default_factory=list)

    @property
    def heads(self) -> list[str]:
        return [cell.text for cell in self.rows[0]]

    @property
    def body(self) -> list[list[Cell]]:
        return self.rows[1:]

    def ns(self, head: str) -> list[int | None]:
        """The exact values of a column."""
        at = self.heads.index(head)
        return [row[at].ns for row in self.body]

    def texts(self, head: str) -> list[str]:
        at = self.heads.index(head)
        return [row[at].text for row in self.body]


class Report(HTMLParser):
    """Reads the text of a report; scripts, styles and drawings are skipped."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: dict[str, Table] = {}
        self.headings: list[tuple[str, str]] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.figures: dict[str, list[Cell]] = {}
        self._words: list[str] = []
        self._skipped = 0
        self._open: list[tuple[str, dict[str, str]]] = []
        self._table: Table | None = None
        self._cell: Cell | None = None
        self._figure = ""
        self.feed(text)
        self.text = " ".join("".join(self._words).split())

    def handle_starttag(self, tag, attrs):
        given = {name: value or "" for name, value in attrs}
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in given.items()]
        if tag in ("script", "style", "svg", "title"):
            self._skipped += 1
        if tag in ("h1", "h2", "h3", "p", "li", "td", "th", "dt", "dd", "caption"):
            self._words.append(" ")
        if tag in ("h1", "h2", "h3"):
            self.headings.append((tag, ""))
        if given.get("id", "").startswith("figure-"):
            self._figure = given["id"].removeprefix("figure-")
        if tag == "table":
            self._table = self.tables.setdefault(given["id"], Table())
        elif tag == "tr" and self._table is not None:
            self._table.rows.append([])
        elif tag in ("td", "th") and self._table is not None:
            self._cell = Cell(tag, given)
            self._table.rows[-1].append(self._cell)
        elif tag == "p" and self._figure and given.get("class") == "value":
            self._cell = Cell(tag, given)
            self.figures[self._figure] = [self._cell]
        self._open.append((tag, given))

    def handle_endtag(self, tag):
        if tag in ("script", "style", "svg", "title"):
            self._skipped -= 1
        if tag in ("td", "th", "p"):
            self._cell = None
        if tag == "table":
            self._table = None
        if any(name == tag for name, _ in self._open):
            while self._open and self._open.pop()[0] != tag:
                pass

    def handle_data(self, data):
        if self._skipped:
            return
        self._words.append(data)
        if self._cell is not None:
            self._cell.text += data
        tags = [tag for tag, _ in self._open]
        if self._table is not None and "caption" in tags:
            self._table.caption += data
        if self.headings and self.headings[-1][0] in tags:
            level, text = self.headings[-1]
            self.headings[-1] = (level, text + data)
