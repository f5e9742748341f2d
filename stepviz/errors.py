"""What stepviz raises: one tree, each message says what, where and what to do.

StepvizError (a ValueError)
├── TimelineError   a timeline that has no meaning, or an edit that would make one
├── ChangeError     a change that matches nothing or cannot be made
├── CostError       a cost model that has no meaning, or measurements that fit none
├── TraceError      a profiler trace that cannot be read
├── CaptureError    a capture that cannot start, or that failed
└── ThroughputError a count, rate, FLOP count, peak or plan that has no meaning
"""

from __future__ import annotations

import difflib
import html
from collections.abc import Iterable


class StepvizError(ValueError):
    """Base of every error that stepviz raises on purpose.

    A notebook shows one that was caught as a paragraph, which breaks between words.
    """

    def _repr_html_(self) -> str:
        return f"<p><b>{type(self).__name__}</b>: {html.escape(str(self))}</p>"


class TimelineError(StepvizError):
    """A timeline, or an edit of one, that has no meaning."""


class ChangeError(StepvizError):
    """A change that matches nothing, or cannot be made on this timeline."""


class CostError(StepvizError):
    """A cost model that has no meaning, or measurements that fit none."""


class TraceError(StepvizError):
    """A trace, or a folder of traces, that cannot be read."""


class CaptureError(StepvizError):
    """A capture that cannot start as asked, or that failed; earlier captures are as they were."""


class ThroughputError(StepvizError):
    """A count, a rate, a FLOP count, a peak or a plan that has no meaning.

    Parameters
    ----------
    message : str
    factor : float, optional
        How many times too high the refused number would have been, where that is known; below 1
        where it would have been too low.
    """

    def __init__(self, message: str, *, factor: float | None = None) -> None:
        super().__init__(message)
        self.factor = factor


def near(name: object, known: Iterable[object], *, most: int = 5) -> str:
    """Say which known names are close to `name`, or which there are.

    Parameters
    ----------
    name : object
        What was asked for.
    known : iterable
        What there is.
    most : int
        The longest list to show.

    Returns
    -------
    str
        A clause such as ``did you mean 'backward'?`` or ``there are 'a', 'b'``.
    """
    names = list(dict.fromkeys(str(k) for k in known))
    if not names:
        return "there are none"
    lowered = {n.lower(): n for n in reversed(names)}
    asked = str(name).lower()
    close = difflib.get_close_matches(asked, lowered, n=3, cutoff=0.5) if asked else []
    if asked:
        close += [low for low in lowered if asked in low and low not in close][:3]
    if close:
        return "did you mean " + " or ".join(repr(lowered[c]) for c in close[:3]) + "?"
    shown = ", ".join(repr(n) for n in names[:most])
    return f"there are {shown}" + (f" and {len(names) - most} more" if len(names) > most else "")
