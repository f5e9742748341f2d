"""One step as a chart: its bars, the answer to one duration, and several steps side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from stepviz.charts.drawing import ACCENT, COLORS, MOST, WIDTH, colors, load_altair
from stepviz.core.timeline import Timeline
from stepviz.core.vocabulary import KINDS
from stepviz.errors import TimelineError

if TYPE_CHECKING:
    import altair as alt


def timeline_chart(timeline: Timeline) -> alt.LayerChart:
    """Return a timeline as bars over time, a row per rank and lane; critical bars are outlined.

    Parameters
    ----------
    timeline : Timeline
        Of at most 5,000 bars; a group's phase is drawn on every member's rank.

    Raises
    ------
    TimelineError
        Something else than a timeline, or too many bars.

    Examples
    --------
    >>> timeline_chart(sv.lesson()).to_dict()["layer"][0]["encoding"]["x"]["title"]
    'ms'
    """
    altair = load_altair()
    bars = _bars(_as_timeline(timeline))
    if len(bars) > MOST:
        msg = (
            f"{len(bars):,} bars are too many for a chart, which holds {MOST:,}: take the "
            "TimelineEditor, or the TraceViewer for a trace"
        )
        raise TimelineError(msg)
    kinds = [kind for kind in KINDS if kind in set(bars["kind"])]
    base = altair.Chart(bars, width=WIDTH)
    rows = list(dict.fromkeys(bars["row"]))
    y = altair.Y("row:N", title=None, sort=rows)
    drawn = base.mark_bar(cornerRadius=2).encode(
        x=altair.X("start:Q", title="ms"),
        x2="finish:Q",
        y=y,
        color=altair.Color("kind:N", sort=kinds, scale=colors(kinds)),
        stroke=altair.condition("datum.critical", altair.value("black"), altair.value(None)),
        tooltip=["phase", "kind", "row", "start", "finish", "duration", "total_float"],
    )
    end = (
        altair.Chart(pd.DataFrame({"completion": [timeline.completion]}))
        .mark_rule(strokeDash=[4, 3])
        .encode(x="completion:Q", tooltip=["completion"])
    )
    name = timeline.name or "step"
    chart: alt.LayerChart = altair.layer(drawn, end).properties(
        title=f"{name}: {timeline.completion:,.6g} ms"
    )
    return chart


def sensitivity_chart(timeline: Timeline, phase: str) -> alt.LayerChart:
    """Return how the completion answers to the duration of one phase, with where it is now.

    Parameters
    ----------
    timeline : Timeline
    phase : str
        See `Timeline.sensitivity`.

    Returns
    -------
    altair.LayerChart

    Examples
    --------
    >>> import stepviz as sv
    >>> chart = sensitivity_chart(sv.lesson(), "exchange")
    """
    altair = load_altair()
    curve = _as_timeline(timeline).sensitivity(phase)
    now = pd.DataFrame(
        {
            "duration": [timeline.phases["duration"][phase]],
            "completion": [timeline.completion],
        }
    )
    x = altair.X("duration:Q", title=f"{phase}, ms")
    y = altair.Y("completion:Q", title="completion, ms", scale=altair.Scale(zero=False))
    tooltip = ["duration", "completion"]
    line = altair.Chart(curve, width=WIDTH).mark_line(color=ACCENT)
    point = altair.Chart(now).mark_point(filled=True, size=90, color=ACCENT)
    chart: alt.LayerChart = altair.layer(
        line.encode(x=x, y=y, tooltip=[*tooltip, "gain"]), point.encode(x=x, y=y, tooltip=tooltip)
    )
    return chart


def before_after_chart(timelines: Mapping[str, Timeline]) -> alt.Chart:
    """Return timelines side by side, each step split into parts that add up to its completion.

    Parameters
    ----------
    timelines : mapping of str to Timeline
        Such as ``{"before": one, "after": other}``; of each, the rank whose work ends last.

    Raises
    ------
    TimelineError
        Where there is none, or something else among them.

    Examples
    --------
    >>> step = sv.lesson()
    >>> chart = before_after_chart({"before": step, "after": step.with_duration("optimizer", 50)})
    >>> chart.data.groupby("step")["ms"].sum().to_dict()
    {'after': 700.0, 'before': 750.0}
    """
    altair = load_altair()
    if not isinstance(timelines, Mapping) or not timelines:
        msg = "give the timelines by name, such as {'before': one, 'after': other}"
        raise TimelineError(msg)
    parts = []
    for name, timeline in timelines.items():
        schedule = _as_timeline(timeline).schedule()
        split = schedule.breakdown()
        rank = _last_rank(timeline)
        split = split[rank]
        parts.append(pd.DataFrame({"step": name, "rank": rank, "part": split.index, "ms": split}))
    data = pd.concat(parts, ignore_index=True)
    order = [part for part in COLORS if data.loc[data["part"] == part, "ms"].sum() > 0]
    data = data[data["part"].isin(order)].reset_index(drop=True)
    data["order"] = [order.index(part) for part in data["part"]]
    chart: alt.Chart = (
        altair.Chart(data, width=WIDTH)
        .mark_bar()
        .encode(
            x=altair.X("ms:Q", title="ms, up to the completion"),
            y=altair.Y("step:N", title=None, sort=list(timelines)),
            color=altair.Color("part:N", sort=order, scale=colors(order)),
            order=altair.Order("order:Q"),
            tooltip=["step", "part", "ms", "rank"],
        )
    )
    return chart


def _as_timeline(given: object) -> Timeline:
    if not isinstance(given, Timeline):
        msg = f"a chart shows a Timeline, not {type(given).__name__}; of a step, step.timeline"
        raise TimelineError(msg)
    return given


def _bars(timeline: Timeline) -> pd.DataFrame:
    """Return a row per bar: a group's phase on every member's rank."""
    tables = timeline._tables
    table = timeline.phases.join(
        timeline.schedule().table[["start", "finish", "total_float", "critical"]]
    ).reset_index()
    at = [(row, rank) for row in range(len(table)) for rank in tables.ranks_of(row)]
    bars = table.iloc[[row for row, _ in at]].copy()
    several = len({rank for _, rank in at}) > 1
    bars["row"] = [
        f"{f'rank {rank} ' if several else ''}{table['lane'].iloc[row] or table['phase'].iloc[row]}"
        for row, rank in at
    ]
    columns = ["phase", "kind", "row", "start", "finish", "duration", "total_float", "critical"]
    order = pd.Series([rank for _, rank in at]).argsort(kind="stable")
    return bars[columns].astype({"total_float": "float64"}).iloc[order].reset_index(drop=True)


def _last_rank(timeline: Timeline) -> Any:
    """Return the rank whose work ends last; the first of those that end together."""
    finish = timeline.schedule().table["finish"].to_numpy()
    tables = timeline._tables
    ends = {rank: finish[rows].max() for rank, rows in tables.rows_by_rank.items()}
    return max(ends, key=lambda rank: ends[rank])
