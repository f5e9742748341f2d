"""The step's timeline: to drag where scripts run, as a drawing on paper."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pandas as pd

from stepviz.charts.step_drawings import timeline_svg
from stepviz.core.timeline import Timeline
from stepviz.reports.cleaning import Cleaner
from stepviz.reports.elements import Content, Trusted, element, listed
from stepviz.reports.subject import Subject
from stepviz.traces import told
from stepviz.widgets.editor import TimelineEditor
from stepviz.widgets.pages import Part, fragment

#: With more bars a page is slow to drag.
MOST_BARS: Final = 400
#: With more bars than this, even of one rank, a page shows none of them.
MOST_SHOWN: Final = 5_000
#: So many lines say what bars gather.
MOST_LINES: Final = 40


def picture(subject: Subject, clean: Cleaner) -> tuple[list[Content], Part]:
    """Return the timeline as elements, and what the page needs to run the editor in it."""
    timeline, ranks = _timeline(subject)
    count = len(timeline.phases)
    if count > MOST_SHOWN:
        subject.cuts.append(f"the timeline is left out: {count:,} bars are too many for a page")
        left = element(
            "p",
            f"The step folds into {count:,} bars, too many to draw or drag in a page: "
            "sv.TraceViewer shows all of it in a notebook, step.timeline() holds the bars.",
        )
        return [left], Part("")
    shown = clean.timeline(timeline)
    editor = TimelineEditor(shown)
    try:
        part = fragment(editor)
    finally:
        editor.close()
    drawing = timeline_svg(shown, width=1080)
    return list(_around(subject, ranks, part, drawing)), part


def _timeline(subject: Subject) -> tuple[Timeline, list[int]]:
    """Return as much of the folded step as can be dragged, and its ranks."""
    whole = subject.asked.timeline()
    ranks = list(subject.asked.ranks)
    if len(whole.phases) <= MOST_BARS or len(ranks) == 1:
        return whole, ranks
    bars = whole.phases["rank"].value_counts()
    path = [int(rank) for rank in subject.replayed.owners["rank"].dropna().unique()]
    longest = subject.asked.windows["duration_ns"].sort_values(ascending=False).index
    order = list(dict.fromkeys([*path, *(int(rank) for rank in longest)]))
    counts = pd.Series([int(bars.get(rank, 0)) for rank in order], index=order).cumsum()
    chosen = sorted(int(rank) for rank in counts[counts <= MOST_BARS].index) or order[:1]
    subject.cuts.append(
        f"the timeline shows {len(chosen)} of {len(ranks)} ranks, those of the critical path "
        f"first: {', '.join(map(str, chosen))}; their exchanges end as if they were alone"
    )
    return subject.asked.timeline(chosen), chosen


def _around(subject: Subject, ranks: list[int], part: Part, drawing: str) -> Iterator[Content]:
    which = "" if len(ranks) == len(subject.step.ranks) else f" of {_few(ranks)}"
    yield element(
        "p",
        f"The step{which} folded into bars. Drag a bar's end to ask what if; Ctrl+Z takes it "
        "back. It computes in this page, on the bars alone: the gains above are replayed on the "
        "graph of all rows, and are the ones to trust.",
        class_="live",
    )
    yield element("div", Trusted(part.html), class_="live")
    yield element("div", Trusted(drawing), class_="still")
    _, bars = told.step_notes(subject.asked)
    if bars:
        shown = subject.first(bars, MOST_LINES, "what bars gather")
        yield element("details", element("summary", "What these bars gather"), listed(shown))


def _few(ranks: list[int]) -> str:
    noun = "rank " if len(ranks) == 1 else "ranks "
    return noun + ", ".join(map(str, ranks[:12])) + (" …" if len(ranks) > 12 else "")
