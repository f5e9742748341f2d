"""A timeline as a drawing that stands alone, without Altair: for reports and for saving."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

from stepviz.charts.drawing import COLORS
from stepviz.charts.svg import DARK, LIGHT, Svg, Theme, fitted, ink_on, text_width, ticks
from stepviz.core.checks import ms_text
from stepviz.core.timeline import Timeline
from stepviz.core.vocabulary import KINDS
from stepviz.errors import TimelineError

#: More bars make a file that nothing opens.
_MOST: Final = 20_000
#: More arrows hide the bars: then only the critical ones are drawn.
_MOST_ARROWS: Final = 16
_LEFT: Final = 150.0
_RIGHT: Final = 18.0


@dataclass(frozen=True)
class _Bar:
    phase: int
    row: int


@dataclass(frozen=True)
class _Row:
    rank: int
    label: str
    y: float


def timeline_svg(
    timeline: Timeline,
    *,
    baseline: Timeline | None = None,
    width: float = 960,
    dark: bool = False,
    headline: bool = True,
) -> str:
    """Return a timeline as SVG: bars by rank and lane, the critical ones outlined, float as tails.

    Parameters
    ----------
    timeline : Timeline
        Of at most 20,000 bars; a group's phase is drawn on every member's rank.
    baseline : Timeline, optional
        What the completion is compared with.
    width : float
        Of the drawing, px.
    dark : bool
        Light lines on dark paper.
    headline : bool
        Whether name and completion stand on top.

    Returns
    -------
    str
        A document with nothing to load; names are escaped.

    Raises
    ------
    TimelineError
        Something else than a timeline, or too many bars.

    Examples
    --------
    >>> drawing = timeline_svg(sv.lesson())
    >>> drawing.startswith("<svg"), ">750 ms<" in drawing
    (True, True)
    """
    if not isinstance(timeline, Timeline):
        msg = f"a drawing shows a Timeline, not {type(timeline).__name__}; of a step, step.timeline"
        raise TimelineError(msg)
    return _Drawing(timeline, baseline, max(width, 320), DARK if dark else LIGHT).text(
        headline=headline
    )


class _Drawing:
    def __init__(
        self, timeline: Timeline, baseline: Timeline | None, width: float, theme: Theme
    ) -> None:
        self.timeline, self.baseline, self.theme = timeline, baseline, theme
        self.solution = timeline.schedule().solution
        self.svg = Svg(width, theme)
        self.tables = timeline._tables
        ends = self.solution.finish
        self.span = max(timeline.completion, float(ends.max()) if len(ends) else 0.0) or 1.0
        self.room = width - _LEFT - _RIGHT

    def x(self, ms: float) -> float:
        return _LEFT + self.room * ms / self.span

    def text(self, *, headline: bool) -> str:
        y = self._headline() if headline else 8.0
        rows, bars, bottom, bar = self._layout(y + 22)
        self._axis(y, bottom)
        self._rows(rows, bar)
        self._bars(rows, bars, bar)
        self._arrows(rows, bars, bar)
        self._labels(rows, bars, bar)
        end = self.x(self.timeline.completion)
        self.svg.line(end, y + 16, end, bottom, self.theme.ink, dash="4 3", width=1.2)
        height = self._legend(bottom + 18) + 12
        name = self.timeline.name or "step"
        return self.svg.text(height, f"{name}: {ms_text(self.timeline.completion)} ms")

    def _headline(self) -> float:
        svg, theme, now = self.svg, self.theme, self.timeline.completion
        said = f"{ms_text(now)} ms"
        svg.write(fitted(self.timeline.name or "A step", svg.width - 32, 13), 16, 24, size=13,
                  fill=theme.dim)  # fmt: skip
        svg.write(said, 16, 60, size=32, weight=700)
        if self.baseline is not None and self.baseline != self.timeline:
            was = self.baseline.completion
            change = now - was
            ratio = f" · {was / now:,.3f}×" if now > 0 else ""
            sign = "−" if change < 0 else "+" if change > 0 else "±"
            fill = theme.better if change < 0 else theme.worse if change > 0 else theme.dim
            text = f"{sign}{ms_text(abs(change))} ms{ratio}, was {ms_text(was)} ms"
            svg.write(text, 32 + text_width(said, 32) * 1.03, 57, size=14, weight=600, fill=fill)
        return 76.0

    def _layout(self, top: float) -> tuple[list[_Row], list[_Bar], float, float]:
        """Return the rows, each bar's row, the lower end, and a bar's height."""
        tables, solution = self.tables, self.solution
        lanes: dict[tuple[int, str], list[int]] = {}
        count = 0
        for phase in range(len(tables.phase)):
            lane = tables.lane[phase]
            lane_name = str(lane) if isinstance(lane, str) and lane else "no lane"
            for rank in tables.ranks_of(phase):
                lanes.setdefault((int(rank), lane_name), []).append(phase)
                count += 1
        if count > _MOST:
            msg = (
                f"{count:,} bars are too many for a drawing, which holds {_MOST:,}: take the "
                "TimelineEditor, or the TraceViewer for a trace"
            )
            raise TimelineError(msg)
        packed: list[tuple[int, str, list[int]]] = []
        order = sorted(lanes, key=lambda lane: lane[0])
        for rank, lane_name in order:
            free: list[tuple[float, list[int]]] = []
            held = sorted(lanes[rank, lane_name], key=lambda p: (solution.start[p], p))
            for phase in held:
                start, finish = float(solution.start[phase]), float(solution.finish[phase])
                at = next((k for k, (end, _) in enumerate(free) if end <= start + 1e-9), len(free))
                if at == len(free):
                    free.append((finish, [phase]))
                else:
                    free[at] = (finish, [*free[at][1], phase])
            for k, (_, phases) in enumerate(free):
                packed.append((rank, "" if k else lane_name, phases))
        bar = 26.0 if len(packed) <= 12 else 18.0 if len(packed) <= 40 else 10.0
        rows: list[_Row] = []
        bars: list[_Bar] = []
        before: int | None = None
        y = top
        for rank, label, phases in packed:
            y += 12 if before not in (None, rank) else 0
            before = rank
            bars += [_Bar(phase, len(rows)) for phase in phases]
            rows.append(_Row(rank, label, y))
            y += bar + (8 if bar > 20 else 4)
        return rows, bars, y + 4, bar

    def _axis(self, top: float, bottom: float) -> None:
        for tick in ticks(self.span, self.room):
            x = self.x(tick)
            self.svg.line(x, top + 16, x, bottom, self.theme.line)
            label = f"{tick:,.6g}" + (" ms" if tick == 0 else "")
            self.svg.write(label, x, top + 10, size=11, fill=self.theme.dim, anchor="middle")

    def _rows(self, rows: list[_Row], bar: float) -> None:
        several = len({row.rank for row in rows}) > 1
        before: int | None = None
        for row in rows:
            rank = f"rank {row.rank} · " if several and row.rank != before else ""
            if not row.label:
                continue
            text = fitted(f"{rank}{row.label}", _LEFT - 24, 12)
            weight = 600 if rank else 400
            self.svg.write(text, 16, row.y + bar / 2 + 4, size=12, fill=self.theme.dim,
                           weight=weight)  # fmt: skip
            before = row.rank

    def _bars(self, rows: list[_Row], bars: list[_Bar], height: float) -> None:
        s, tables = self.solution, self.tables
        for one in bars:
            p, y = one.phase, rows[one.row].y
            start, finish = float(s.start[p]), float(s.finish[p])
            x, right = self.x(start), self.x(finish)
            fill = COLORS[str(tables.kind[p])]
            spare = float(s.total_float[p])
            if math.isfinite(spare) and spare > 0:
                tail = self.x(min(finish + spare, self.span)) - right
                self.svg.rect(right, y + height * 0.3, tail, height * 0.4, fill, opacity=0.25)
            name = str(tables.phase[p])
            title = f"{name}: {ms_text(start)} to {ms_text(finish)} ms"
            critical = bool(s.critical[p])
            stroke = self.theme.ink if critical else ""
            if finish == start:
                self._milestone(x, y + height / 2, fill)
                continue
            radius = 3 if height > 14 else 1
            self.svg.rect(
                x,
                y,
                max(right - x, 0.75),
                height,
                fill,
                stroke=stroke,
                stroke_width=1.6,
                radius=radius,
                title=title,
            )

    def _labels(self, rows: list[_Row], bars: list[_Bar], height: float) -> None:
        s, size = self.solution, 12.0 if height > 20 else 10.5
        for one in bars if height > 14 else []:
            p, y = one.phase, rows[one.row].y
            x, right = self.x(float(s.start[p])), self.x(float(s.finish[p]))
            label = fitted(str(self.tables.phase[p]), right - x - 10, size)
            if label:
                ink = ink_on(COLORS[str(self.tables.kind[p])])
                self.svg.write(label, x + 5, y + height / 2 + 4, size=size, fill=ink)

    def _milestone(self, x: float, y: float, fill: str) -> None:
        self.svg.path(f"M{x - 5:.2f} {y:.2f}l5 -5l5 5l-5 5z", fill=fill, stroke=self.theme.ink)

    def _arrows(self, rows: list[_Row], bars: list[_Bar], height: float) -> None:
        """Draw what is stored; of a group's phase from and to its nearest bar."""
        s = self.solution
        at: dict[int, list[float]] = {}
        for one in bars:
            at.setdefault(one.phase, []).append(rows[one.row].y + height / 2)
        graph, stored = s.graph, len(self.tables.source)
        for k in range(stored):
            if stored > _MOST_ARROWS and not s.critical_edges[k]:
                continue
            source, target = int(graph.source[k]), int(graph.target[k])
            code = int(graph.code[k])  # FS, SS, FF, SF
            from_end, to_start = code in (0, 2), code in (0, 1)
            x1 = self.x(float((s.finish if from_end else s.start)[source]))
            x2 = self.x(float((s.start if to_start else s.finish)[target]))
            y1, y2 = min(
                ((a, b) for a in at[source] for b in at[target]), key=lambda ys: abs(ys[0] - ys[1])
            )
            if y1 == y2 and abs(x2 - x1) < 8:
                continue  # neighbours touch: an arrow would say no more
            self._arrow((x1, y1), (x2, y2), critical=bool(s.critical_edges[k]), from_left=to_start)

    def _arrow(
        self, start: tuple[float, float], end: tuple[float, float], *, critical: bool,
        from_left: bool,
    ) -> None:  # fmt: skip
        (x1, y1), (x2, y2) = start, end
        stroke = self.theme.ink if critical else self.theme.dim
        reach = max(14.0, min(40.0, abs(x2 - x1) / 2))
        side = -1 if from_left else 1
        d = (
            f"M{x1:.2f} {y1:.2f}C{x1 + reach:.2f} {y1:.2f} {x2 + side * reach:.2f} {y2:.2f} "
            f"{x2:.2f} {y2:.2f}"
        )
        self.svg.path(d, stroke=stroke, width=1.5 if critical else 1, opacity=0.8)
        tip = f"M{x2:.2f} {y2:.2f}l{side * 6} -3.2v6.4z"
        self.svg.path(tip, fill=stroke, opacity=0.9)

    def _legend(self, y: float) -> float:
        svg, theme = self.svg, self.theme
        present = set(map(str, self.tables.kind))
        x = 16.0
        entries: list[tuple[str, Any]] = [(kind, COLORS[kind]) for kind in KINDS if kind in present]
        for kind, fill in entries:
            svg.rect(x, y - 9, 12, 12, fill, radius=2)
            svg.write(kind, x + 17, y + 1, size=11.5, fill=theme.dim)
            x += 17 + text_width(kind, 11.5) + 16
        svg.write(
            "outlined: critical · pale tail: float · dashed: completion", 16, y + 20, size=11.5,
            fill=theme.dim,
        )  # fmt: skip
        return y + 24
