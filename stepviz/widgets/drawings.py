"""Widgets with knobs as drawings: their numbers, and their curves, made in Python."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from stepviz.charts.drawing import ACCENT, COLORS, NEAR
from stepviz.charts.svg import LIGHT, Svg, fitted, text_width, ticks
from stepviz.throughput.figures import number_text

_WIDTH: Final = 900.0
#: As the widgets have them on a light page; what is pale has an edge that stands out.
_ROLES: Final = {
    "prompt": "#b9c7d6",
    "target": "#0068a6",
    "completion": "#7fb3d9",
    "padding": "#f1f3f5",
}
_EDGE: Final = "#76828f"
_PARTS: Final = {
    "active": COLORS["forward"],
    "checkpoints": COLORS["checkpoint"],
    "evaluation": COLORS["recompute"],
    "restarts": COLORS["exchange"],
    "downtime": COLORS["other"],
}


@dataclass(frozen=True)
class Curve:
    """A line of a chart, its label at its end."""

    points: Sequence[tuple[float, float]]
    label: str
    stroke: str
    width: float = 1.5


@dataclass(frozen=True)
class Axes:
    """What a chart's axes are called; those named in `logs` are spaced by ratios."""

    across: str
    up: str
    logs: str = ""
    percent: bool = False


def plan_svg(picture: Mapping[str, Any]) -> str:
    """Return a run plan: the answer, its figures, and the days over the MFU."""
    svg = Svg(_WIDTH)
    y = _heading(svg, "How long will the run take?", picture["answer"]["text"], picture["headline"])
    y = _figures(
        svg, y, [(one["label"], f"{one['text']} {one['unit']}") for one in picture["large"]]
    )
    y = _strip(
        svg,
        y,
        [
            (p["label"], p["share"], p["text"], _PARTS[p["name"]])
            for p in picture["parts"]
            if p["share"]
        ],
    )
    grid = picture["sensitivity"]
    curves = [
        Curve(
            list(zip(grid["mfu"], line["days"], strict=True)),
            line["label"],
            ACCENT if line["own"] else LIGHT.dim,
            2.4 if line["own"] else 1.2,
        )
        for line in grid["lines"]
    ]
    y = chart(
        svg, y, curves, Axes("MFU", "elapsed days", "up", percent=True), bands=[grid["range"]]
    )
    return svg.text(_notes(svg, y, [*picture["notes"], picture["about"]]), picture["spoken"])


def sweep_svg(picture: Mapping[str, Any]) -> str:
    """Return a sweep over bucket caps: the completion, and what is within 1 % of the best."""
    svg = Svg(_WIDTH)
    y = _heading(svg, "Which bucket cap?", "", picture["headline"])
    y = _figures(svg, y, [(one["label"], one["text"]) for one in picture["large"]])
    caps = picture["caps"]
    whole = Curve(list(zip(caps, picture["completion"], strict=True)), "completion", ACCENT, 2.2)
    axes = Axes("bucket cap, MiB", "completion, ms", "across")
    near = _stretches(caps, picture["near_best"])
    mark = (caps[picture["chosen"]], picture["completion"][picture["chosen"]])
    y = chart(svg, y, [whole], axes, bands=near, mark=mark)
    return svg.text(_notes(svg, y, [*picture["words"], *picture["notes"]]), picture["spoken"])


def tokens_svg(picture: Mapping[str, Any]) -> str:
    """Return a token comparison: its numbers before and after, and both layouts' masks."""
    svg = Svg(_WIDTH)
    y = _heading(svg, "Did throughput improve? Name the token.", "", picture["headline"])
    shown = [
        (one["label"], f"{one['beforeText']} → {one['afterText']} ({one['change']})")
        for one in picture["large"]
    ]
    y = _figures(svg, y, shown, across=3)
    widest = max((side["width"] for side in picture["sides"]), default=1) or 1
    cell = min(22.0, (_WIDTH - 32) / widest)
    for side in picture["sides"]:
        svg.write(f"{side['name']}: {side['title']}, {side['time']}", 16, y + 14, weight=600)
        y += 22
        tall = max(3.0, min(16.0, cell))
        for runs in side["rows"]:
            for start, length, what, _ in runs:
                width = length * cell - (1 if cell > 4 else 0)
                left, said = 16 + start * cell, f"{length} {what}"
                svg.rect(left, y, width, tall, _ROLES[what], stroke=_EDGE, title=said)
            y += tall + 2
        more = f", and {side['hidden']} more rows" if side["hidden"] else ""
        svg.write(f"{side['held']}{more}", 16, y + 14, size=11.5, fill=LIGHT.dim)
        y += 36
    x = 16.0
    for what, fill in _ROLES.items():
        svg.rect(x, y - 4, 12, 12, fill, stroke=_EDGE, radius=2)
        svg.write(what, x + 17, y + 6, size=11.5, fill=LIGHT.dim)
        x += 33 + text_width(what, 11.5)
    facts = [fact["text"] for fact in picture["facts"]]
    trap = [picture["trap"]] if picture["trap"] else []
    return svg.text(_notes(svg, y + 22, [*facts, *trap, *picture["about"]]), picture["headline"])


def runs_svg(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the runs of a capture panel side by side, as a table."""
    svg = Svg(_WIDTH)
    y = _heading(svg, "Runs side by side", "", "")
    columns = {
        "label": ("run", 16.0),
        "ranks": ("ranks", 300.0),
        "caps": ("cap, MiB", 360.0),
        "step": ("step, ms", 470.0),
        "quartiles": ("quartiles", 560.0),
        "exposed": ("exposed, ms", 680.0),
        "verdict": ("verdict", 780.0),
    }
    edges = [*(x for _, x in columns.values()), _WIDTH]
    for head, x in columns.values():
        svg.write(head, x, y + 12, size=11.5, fill=LIGHT.dim)
    y += 20
    for row in rows:
        svg.line(16, y, _WIDTH - 16, y, LIGHT.line)
        for k, (name, (_, x)) in enumerate(columns.items()):
            svg.write(fitted(str(row[name]), edges[k + 1] - x - 8, 12.5), x, y + 17, size=12.5)
        y += 25
    return svg.text(y + 12, f"{len(rows)} runs side by side")


def question_svg(question: str, choices: Sequence[str]) -> str:
    """Return a question with its choices, without the answer."""
    svg = Svg(640)
    y = _lines(svg, question, 24, 15)
    for choice in choices:
        svg.rect(16, y - 10, 12, 12, LIGHT.paper, stroke=LIGHT.dim, radius=6)
        y = _lines(svg, choice, y, 13, left=36) + 4
    return svg.text(y + 4, question)


def stacked(drawings: Sequence[str], label: str) -> str:
    """Return several drawings of this module, or of charts, one below the other."""
    sizes = [_size(one) for one in drawings]
    svg = Svg(max(width for width, _ in sizes))
    y = 0.0
    for drawing, (_, height) in zip(drawings, sizes, strict=True):
        svg.add(drawing.replace("<svg ", f'<svg y="{y:g}" ', 1).strip())
        y += height
    return svg.text(y, label)


def chart(
    svg: Svg,
    top: float,
    curves: Sequence[Curve],
    axes: Axes,
    *,
    bands: Sequence[Sequence[float]] = (),
    mark: tuple[float, float] | None = None,
) -> float:
    """Draw curves over two axes and return where the drawing goes on below.

    Parameters
    ----------
    svg : Svg
    top : float
        Where the chart begins.
    curves : sequence of Curve
    axes : Axes
    bands : sequence of (low, high)
        Ranges across that are shaded.
    mark : (float, float), optional
        A point.
    """
    points = [point for curve in curves for point in curve.points]
    room = _Room(70.0, svg.width - 130, top + 14, 240.0)
    across = _Scale([x for x, _ in points], log="across" in axes.logs)
    up = _Scale([y for _, y in points], log="up" in axes.logs, margin=0.15)

    def place(point: tuple[float, float]) -> tuple[float, float]:
        x = room.left + (room.right - room.left) * across.share(point[0])
        return x, room.top + room.height * (1 - up.share(point[1]))

    for low, high in bands:
        a, b = (min(max(place((end, up.low))[0], room.left), room.right) for end in (low, high))
        svg.rect(a - 1, room.top, b - a + 2, room.height, NEAR)
    for tick in up.ticks(room.height / 44):
        y = place((across.low, tick))[1]
        svg.line(room.left, y, room.right, y, LIGHT.line)
        svg.write(number_text(tick, 4), room.left - 8, y + 4, size=11, fill=LIGHT.dim, anchor="end")
    svg.write(axes.up, 16, top + 6, size=11, fill=LIGHT.dim)
    bottom = room.top + room.height
    for tick in across.ticks(8):
        text = f"{number_text(tick * 100)} %" if axes.percent else number_text(tick)
        x = place((tick, up.low))[0]
        svg.write(text, x, bottom + 16, size=11, fill=LIGHT.dim, anchor="middle")
    svg.write(axes.across, room.right, bottom + 32, size=11, fill=LIGHT.dim, anchor="end")
    for curve in curves:
        placed = [place(point) for point in curve.points]
        svg.curve(placed, curve.stroke, width=curve.width)
        x, y = placed[-1]
        svg.write(fitted(curve.label, 120, 11), x + 6, y + 4, size=11, fill=curve.stroke)
    if mark is not None:
        x, y = place(mark)
        svg.path(f"M{x - 6:.1f} {y:.1f}l6 -6l6 6l-6 6z", fill=ACCENT, stroke=LIGHT.paper)
    return bottom + 52


@dataclass(frozen=True)
class _Room:
    left: float
    right: float
    top: float
    height: float


class _Scale:
    """From values to shares of an axis."""

    def __init__(self, values: Sequence[float], *, log: bool, margin: float = 0.0) -> None:
        self._spread = math.log10 if log else float
        self._log = log
        low, high = (self._spread(end) for end in (min(values), max(values)))
        wide = (high - low) or abs(low) * 0.05 or 1.0
        self._low = low - margin * wide
        self._span = (high - low) + 2 * margin * wide or wide
        self.low = 10**self._low if log else self._low

    def share(self, value: float) -> float:
        return (self._spread(value) - self._low) / self._span

    def ticks(self, count: float) -> list[float]:
        """Return round values inside, about so many."""
        high = self._low + self._span
        if self._log and self._span > 0.7:
            powers = range(math.floor(self._low), math.ceil(high) + 1)
            steps = (1, 2, 5) if self._span < 2.5 else (1, 3) if self._span < 5 else (1,)
            found = [k * 10.0**power for power in powers for k in steps]
        else:
            low, high = (10**end if self._log else end for end in (self._low, high))
            step = ticks(high - low, count, apart=1)[1:2] or [(high - low) or 1.0]
            first = math.ceil(low / step[0])
            found = [k * step[0] for k in range(first, math.floor(high / step[0]) + 1)]
        return [tick for tick in found if 0 <= self.share(tick) <= 1]


def _stretches(caps: Sequence[float], near: Sequence[bool]) -> list[tuple[float, float]]:
    """Return the stretches of caps that are near the best."""
    found: list[tuple[float, float]] = []
    for k, cap in enumerate(caps):
        if near[k] and k and near[k - 1]:
            found[-1] = (found[-1][0], cap)
        elif near[k]:
            found.append((cap, cap))
    return found


def _heading(svg: Svg, title: str, large: str, below: str) -> float:
    svg.write(title, 16, 28, size=16, weight=700)
    y = 46.0
    if large:
        svg.write(large, 16, y + 26, size=30, weight=700)
        y += 40
    return _lines(svg, below, y + 6, 13.5) + 6 if below else y


def _figures(svg: Svg, top: float, figures: Sequence[tuple[str, str]], *, across: int = 4) -> float:
    room = (svg.width - 32) / across
    for k, (label, text) in enumerate(figures):
        x, y = 16 + room * (k % across), top + 44 * (k // across)
        svg.write(fitted(label, room - 10, 11.5), x, y + 10, size=11.5, fill=LIGHT.dim)
        svg.write(fitted(text, room - 10, 15), x, y + 29, size=15, weight=600)
    return top + 44 * math.ceil(len(figures) / across) + 8


def _strip(svg: Svg, top: float, parts: Sequence[tuple[str, float, str, str]]) -> float:
    x, room, said = 16.0, svg.width - 32, 16.0
    for label, share, text, fill in parts:
        svg.rect(x, top, share * room, 16, fill, title=f"{label}: {text}")
        x += share * room
        words = f"{label} {text}"
        svg.rect(said, top + 25, 10, 10, fill, radius=2)
        svg.write(words, said + 15, top + 34, size=11.5, fill=LIGHT.dim)
        said += 34 + text_width(words, 11.5)
    return top + 58


def _notes(svg: Svg, top: float, notes: Sequence[str]) -> float:
    y = top
    for note in notes:
        y = _lines(svg, note, y + 4, 11.5, fill=LIGHT.dim)
    return y + 8


def _lines(
    svg: Svg, text: str, top: float, size: float, *, fill: str = "", left: float = 16
) -> float:
    """Write a text in as many lines as it needs, and return where the next begins."""
    room, line, y = svg.width - left - 16, "", top
    for word in text.split():
        longer = f"{line} {word}".strip()
        if line and text_width(longer, size) > room:
            svg.write(line, left, y, size=size, fill=fill)
            y, line = y + size * 1.45, word
        else:
            line = longer
    svg.write(line, left, y, size=size, fill=fill)
    return y + size * 1.45


def _size(drawing: str) -> tuple[float, float]:
    """Return width and height of a drawing of ours."""
    head = drawing[: drawing.index(">")]
    found = {name: head.split(f' {name}="', 1)[1].split('"', 1)[0] for name in ("width", "height")}
    return float(found["width"]), float(found["height"])
