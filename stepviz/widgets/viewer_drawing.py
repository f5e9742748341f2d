"""A step's lanes as a drawing, as the viewer shows them at first: every rank, the path on top."""

from __future__ import annotations

from typing import Final

import numpy as np

from stepviz.charts.drawing import COLORS
from stepviz.charts.svg import LIGHT, Svg, fitted, ink_on, text_width, ticks
from stepviz.core.checks import count_text
from stepviz.traces.lanes.blocks import merged
from stepviz.traces.lanes.packing import Lane
from stepviz.traces.lanes.scene import SHOWN_KINDS, Scene
from stepviz.widgets.viewer_answers import Answers

_WIDTH: Final = 1120.0
_LEFT: Final = 170.0
_BAR: Final = 18.0
#: With more rows a drawing grows too large to be opened.
_MOST_ROWS: Final = 160
_MORE_COLORS: Final = {"before the step": "#b8c0c8"}


def step_svg(answers: Answers) -> str:
    """Return a step as SVG: a row per rank and track, what is narrower than a pixel merged."""
    scene = answers.scene
    svg = Svg(_WIDTH, LIGHT)
    title = f"step {scene.step.number} of {scene.step._run_name}"
    svg.write(fitted(title, _WIDTH - 32, 15), 16, 26, size=15, weight=600)
    counts = count_text(scene.intervals, "interval"), count_text(len(scene.ranks), "rank")
    about = " · ".join((_ms(scene.span_ns), *counts))
    svg.write(about, 16, 46, size=12.5, fill=LIGHT.dim)
    every = _rows(answers)
    rows = every if len(every) <= _MOST_ROWS else _summaries(every)
    top = 84.0
    bottom = top + sum(22.0 + 12 * opens for _, _, opens in rows)
    for tick in ticks(scene.span_ns / 1e6, _WIDTH - _LEFT - 18):
        x = _x(scene, tick * 1e6)
        svg.line(x, 72, x, bottom, LIGHT.line)
        svg.write(f"{tick:,.6g}{' ms' * (tick == 0)}", x, 66, size=11, fill=LIGHT.dim,
                  anchor="middle")  # fmt: skip
    y = top
    used: set[str] = set()
    for label, lane, opens in rows:
        y += 12 * opens
        svg.write(fitted(label, _LEFT - 26, 12), 16, y + 13, size=12, fill=LIGHT.dim,
                  weight=600 if opens else 400)  # fmt: skip
        used |= _lane(svg, scene, lane, y)
        y += 22
    if len(rows) < len(every):
        left = f"{len(every) - len(rows):,} of {len(every):,} rows are left out: what"
        svg.write(f"{left} each rank does on the whole is shown.", 16, y + 14, size=11.5,
                  fill=LIGHT.dim)  # fmt: skip
        y += 22
    return svg.text(_legend(svg, used, y + 18) + 14, f"{title}, {about}")


def _rows(answers: Answers) -> list[tuple[str, Lane, bool]]:
    """Return label and lane of each row, and whether something new begins with it."""
    scene = answers.scene
    rows: list[tuple[str, Lane, bool]] = []
    if len(answers.path.lane):
        rows.append(("critical path", answers.path.lane, False))
    for rank in scene.ranks:
        rows.append((f"rank {rank.rank}", scene.lane(rank.summary), True))
        rows += [(track.name, scene.lane(track.flat), False) for track in rank.tracks]
    return rows


def _summaries(rows: list[tuple[str, Lane, bool]]) -> list[tuple[str, Lane, bool]]:
    """Return the path and the ranks' own rows, as many as fit."""
    return [row for k, row in enumerate(rows) if k == 0 or row[2]][:_MOST_ROWS]


def _lane(svg: Svg, scene: Scene, lane: Lane, y: float) -> set[str]:
    """Draw one row, and return the kinds in it."""
    pixel = max(1, int(scene.span_ns / (_WIDTH - _LEFT - 18)))
    blocks = merged([lane], 0, scene.span_ns, pixel)
    used = set()
    for k in range(len(blocks)):
        kind = SHOWN_KINDS[int(blocks.kind[k])]
        used.add(kind)
        x = _x(scene, max(int(blocks.start[k]), 0))
        width = _x(scene, min(int(blocks.finish[k]), scene.span_ns)) - x
        name = scene.names[int(blocks.name[k])]
        count = int(blocks.count[k])
        said = name if count == 1 else f"{count:,} intervals, the longest {name}"
        length = _ms(int(blocks.finish[k] - blocks.start[k]))
        fill = _fill(kind)
        svg.rect(x, y, max(width, 0.6), _BAR, fill, title=f"{said[:300]}: {length}")
        label = fitted(name[:200], width - 6, 10.5) if width > 24 else ""
        if label:
            svg.write(label, x + 3, y + 13, size=10.5, fill=ink_on(fill))
    return used


def _legend(svg: Svg, used: set[str], y: float) -> float:
    x = 16.0
    for kind in (kind for kind in SHOWN_KINDS if kind in used):
        svg.rect(x, y - 9, 12, 12, _fill(kind), radius=2)
        svg.write(kind, x + 17, y + 1, size=11.5, fill=LIGHT.dim)
        x += 17 + text_width(kind, 11.5) + 16
    return y


def _fill(kind: str) -> str:
    return COLORS.get(kind) or _MORE_COLORS.get(kind, COLORS["other"])


def _x(scene: Scene, ns: float) -> float:
    return _LEFT + (_WIDTH - _LEFT - 18) * float(np.clip(ns / scene.span_ns, 0, 1))


def _ms(ns: int) -> str:
    return f"{ns / 1e6:,.6g} ms"
