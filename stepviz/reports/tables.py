"""Tables of a report: a caption, headers with scope, numbers that keep their exact value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd

from stepviz.core.vocabulary import KINDS
from stepviz.reports.elements import Content, Element, element

#: What a cell says that has nothing to say.
NOTHING: Final = "–"
#: Names in cells are cut here.
LONGEST: Final = 160

#: What the editor has a colour for.
COLOURED: Final = (*KINDS, "wait", "idle")

_MS: Final = 1_000_000
_US: Final = 1_000


@dataclass(frozen=True)
class Cell:
    """What stands in a cell: its text, and the whole ns that it shows, if it is a time."""

    content: Content
    exact: int | None = None
    number: bool = True


def in_ms(ns: Any, digits: int = 3) -> Cell:
    """Return a length or a moment in ms; the cell keeps its ns, and a bare 0 is exactly none."""
    if ns is None or pd.isna(ns):
        return Cell(NOTHING)
    if ns == 0:
        return Cell("0", 0)
    return Cell(f"{int(ns) / _MS:,.{digits}f}", int(ns))


def in_us(ns: Any) -> Cell:
    """Return a length in µs; the cell keeps its ns."""
    if ns is None or pd.isna(ns):
        return Cell(NOTHING)
    return Cell(f"{int(ns) / _US:,.1f}", int(ns))


def number(value: Any, digits: int = 0) -> Cell:
    """Return a number; nothing where it is missing."""
    return Cell(NOTHING if value is None or pd.isna(value) else f"{value:,.{digits}f}")


def words(value: Any, longest: int = LONGEST) -> Cell:
    """Return text, cut where it is too long for a cell."""
    text = "" if value is None or value is pd.NA else str(value)
    return Cell((text if len(text) <= longest else f"{text[:longest]}…") or NOTHING, number=False)


def each_row(frame: pd.DataFrame) -> Iterable[Any]:
    """Return a frame's rows, with a column's cell under its name."""
    return frame.itertuples()


def table(
    name: str,
    caption: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[Cell]],
    *,
    chosen: int | None = None,
    foot: Sequence[Cell] | None = None,
    optional: Sequence[str] = (),
) -> Element:
    """Return a table; the first cell of each row is the row's header.

    Parameters
    ----------
    name : str
        Of the table in the page.
    caption : str
    heads : sequence of str
    rows : iterable of sequences of Cell
    chosen : int, optional
        The place of a row that stands out.
    foot : sequence of Cell, optional
        A last row that sums up.
    optional : sequence of str
        Columns that are left out where no row has anything to say.
    """
    given = list(rows)
    kept = [
        at
        for at, head in enumerate(heads)
        if head not in optional or any(row[at].content != NOTHING for row in given)
    ]
    heads, listed = [heads[at] for at in kept], [[row[at] for at in kept] for row in given]
    numeric = [cell.number for cell in (listed[0] if listed else [])]
    numeric += [False] * (len(heads) - len(numeric))
    head = element(
        "tr",
        *(
            element("th", text, scope="col", class_="n" if right else None)
            for text, right in zip(heads, numeric, strict=True)
        ),
    )
    body = [_row(row, class_="chosen" if at == chosen else None) for at, row in enumerate(listed)]
    parts = [
        element("caption", caption, id=f"{name}-caption"),
        element("thead", head),
        element("tbody", *body),
    ]
    if foot is not None:
        parts.append(element("tfoot", _row(foot)))
    return element(
        "div",
        element("table", *parts, id=name),
        class_="scroll",
        role="region",
        tabindex=0,
        aria_labelledby=f"{name}-caption",
    )


def _row(cells: Sequence[Cell], class_: str | None = None) -> Element:
    first, *others = cells
    return element(
        "tr",
        element("th", first.content, scope="row", data_ns=first.exact, class_=_kind(first)),
        *(element("td", cell.content, data_ns=cell.exact, class_=_kind(cell)) for cell in others),
        class_=class_,
    )


def _kind(cell: Cell) -> str | None:
    return "n" if cell.number else None


def facts(name: str, pairs: Iterable[tuple[str, Content]]) -> Element:
    """Return named values, one below the other."""
    inside: list[Content] = []
    for term, value in pairs:
        inside += [element("dt", term), element("dd", value)]
    return element("dl", *inside, id=name, class_="facts")


def strip(parts: Iterable[tuple[str, int]], rest_ns: int = 0) -> Element:
    """Return a strip whose pieces are as long as their ns; for the eye only, a table says it too.

    Parameters
    ----------
    parts : iterable of (str, int)
        Kinds and their ns.
    rest_ns : int
        How much of the strip stays empty.
    """
    pieces = [
        element(
            "span",
            title=f"{kind}: {ns / _MS:,.3f} ms",
            style=f"flex-grow:{ns};background:{_colour(kind)}",
        )
        for kind, ns in parts
        if ns > 0
    ]
    if rest_ns > 0:
        pieces.append(element("span", style=f"flex-grow:{rest_ns}"))
    return element("span", *pieces, class_="strip", aria_hidden="true")


def _colour(kind: str) -> str:
    return f"var(--sv-{kind})" if kind in COLOURED else "var(--sv-unexplained)"


def key(kinds: Iterable[str]) -> Element:
    """Return which colour is which kind."""
    entries = [
        element(
            "span",
            element("i", style=f"background:{_colour(kind)}"),
            kind,
        )
        for kind in kinds
    ]
    return element("p", *entries, class_="key", aria_hidden="true")
