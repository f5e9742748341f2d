"""A small writer of SVG: shapes and escaped text, light or dark, with no browser and no Altair."""

from __future__ import annotations

import html
import math
import unicodedata
from dataclasses import dataclass
from typing import Final

FONT: Final = "system-ui, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"
#: How wide a sign is at least, as a share of its size.
_NARROWEST: Final = 0.57


@dataclass(frozen=True)
class Theme:
    """Colours of paper, ink and lines."""

    paper: str
    ink: str
    dim: str
    line: str
    band: str
    better: str
    worse: str


LIGHT: Final = Theme("#ffffff", "#14181d", "#5c6670", "#e1e5ea", "#f7f8fa", "#00694b", "#a33a00")
DARK: Final = Theme("#111417", "#f2f4f6", "#a2abb4", "#2c333a", "#171b20", "#5fdcae", "#ffab7d")


class Svg:
    """Shapes one after the other; `text` returns them as a document.

    Parameters
    ----------
    width : float
        In units that a browser shows as pixels.
    theme : Theme
    """

    def __init__(self, width: float, theme: Theme = LIGHT) -> None:
        self.width = width
        self.theme = theme
        self._parts: list[str] = []

    def rect(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        fill: str,
        *,
        stroke: str = "",
        stroke_width: float = 1,
        opacity: float = 1,
        radius: float = 0,
        title: str = "",
    ) -> None:
        """Draw a rectangle; `title` is shown where the pointer rests."""
        more = f' stroke="{stroke}" stroke-width="{_n(stroke_width)}"' if stroke else ""
        more += f' opacity="{_n(opacity)}"' if opacity != 1 else ""
        more += f' rx="{_n(radius)}"' if radius else ""
        shape = (
            f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(max(width, 0))}" '
            f'height="{_n(max(height, 0))}" fill="{fill}"{more}'
        )
        named = f"><title>{_told(title)}</title></rect>" if title else "/>"
        self._parts.append(shape + named)

    def line(
        self, x1: float, y1: float, x2: float, y2: float, stroke: str, *, dash: str = "",
        width: float = 1,
    ) -> None:  # fmt: skip
        """Draw a straight line."""
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self._parts.append(
            f'<line x1="{_n(x1)}" y1="{_n(y1)}" x2="{_n(x2)}" y2="{_n(y2)}" stroke="{stroke}" '
            f'stroke-width="{_n(width)}"{dashed}/>'
        )

    def path(
        self, d: str, *, fill: str = "none", stroke: str = "none", width: float = 1,
        opacity: float = 1,
    ) -> None:  # fmt: skip
        """Draw a path; `d` is ours, numbers and letters only."""
        faint = f' opacity="{_n(opacity)}"' if opacity != 1 else ""
        self._parts.append(
            f'<path d="{d}" fill="{fill}" stroke="{stroke}" stroke-width="{_n(width)}"{faint}/>'
        )

    def curve(
        self, points: list[tuple[float, float]], stroke: str, *, width: float = 1.6,
        opacity: float = 1,
    ) -> None:  # fmt: skip
        """Draw straight pieces from point to point."""
        d = "".join(
            f"{'L' if k else 'M'}{_n(x)} {_n(y)}"
            for k, (x, y) in enumerate(points)
            if math.isfinite(x) and math.isfinite(y)
        )
        self.path(d, stroke=stroke, width=width, opacity=opacity)

    def write(
        self,
        text: str,
        x: float,
        y: float,
        *,
        size: float = 12,
        fill: str = "",
        weight: int = 400,
        anchor: str = "start",
        strike: bool = False,
    ) -> None:
        """Write a line of text, whatever is in it; `y` is its baseline."""
        more = f' font-weight="{weight}"' if weight != 400 else ""
        more += f' text-anchor="{anchor}"' if anchor != "start" else ""
        more += ' text-decoration="line-through"' if strike else ""
        self._parts.append(
            f'<text x="{_n(x)}" y="{_n(y)}" font-size="{_n(size)}" '
            f'fill="{fill or self.theme.ink}"{more}>{_told(text)}</text>'
        )

    def inner(self, height: float) -> str:
        """Return the shapes as a nested element, to stand in another drawing."""
        return f'<svg width="{_n(self.width)}" height="{_n(height)}">{"".join(self._parts)}</svg>'

    def add(self, other: str) -> None:
        """Add an element that another drawing made."""
        self._parts.append(other)

    def text(self, height: float, label: str) -> str:
        """Return the whole drawing; `label` is what a screen reader says of it."""
        size = f'width="{_n(self.width)}" height="{_n(height)}"'
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} '
            f'viewBox="0 0 {_n(self.width)} {_n(height)}" font-family="{FONT}" role="img" '
            f'aria-label="{_told(label)}">'
            f'<rect width="{_n(self.width)}" height="{_n(height)}" fill="{self.theme.paper}"/>'
            f"{''.join(self._parts)}</svg>\n"
        )


def text_width(text: str, size: float) -> float:
    """Return about how wide a text is, in units; its real font is not known here."""
    wide = sum(1.0 if unicodedata.east_asian_width(sign) in "WF" else _NARROWEST for sign in text)
    return wide * size


def fitted(text: str, room: float, size: float) -> str:
    """Return a text as far as it fits; "" where not even its beginning does."""
    if text_width(text, size) <= room:
        return text
    most = int(max(room, 0) / (_NARROWEST * size)) + 3
    text = text[:most]  # of an endless name, what can fit at all
    while len(text) > 3 and text_width(f"{text}…", size) > room:
        text = text[:-1]
    return f"{text.rstrip()}…" if text_width(f"{text}…", size) <= room else ""


def ticks(span: float, room: float, *, apart: float = 80) -> list[float]:
    """Return round numbers from 0 up to `span`, so far apart that their labels fit."""
    if not span > 0:
        return [0.0]
    step = span * apart / max(room, apart)
    power = 10 ** math.floor(math.log10(step))
    step = next(k * power for k in (1, 2, 5, 10) if k * power >= step * (1 - 1e-9))
    return [k * step for k in range(math.floor(span / step * (1 + 1e-9)) + 1)]


def ink_on(fill: str) -> str:
    """Return black or white, whichever is read better on a colour."""
    red, green, blue = (int(fill[k : k + 2], 16) / 255 for k in (1, 3, 5))
    return (
        "#ffffff"
        if 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2 < 0.18
        else "#14181d"
    )


def _n(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _legal(text: str) -> str:
    """Return text that XML can hold: no control signs, no halves of a pair."""
    return "".join(
        sign if sign >= " " and not "\ud800" <= sign <= "\udfff" and sign not in "\ufffe\uffff"
        else "\ufffd" if sign not in "\t\n\r" else " "
        for sign in text
    )  # fmt: skip


def _told(text: str) -> str:
    return html.escape(_legal(text))
