"""What joins two points of the graph, how it is known, and when its lag counts as explained."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from stepviz.traces.graph.answers import THRESHOLDS, UNEXPLAINED, WAIT


class Link(IntEnum):
    """Kinds of edges. Where several hold a point equally, the first of these is named."""

    WORK = 0  # a row runs from its start to its finish
    THREAD = 1  # a thread does one thing after the other
    ARRIVAL = 2  # a member arrives at a collective
    OWN_END = 3  # a member is done, after the first one was
    SYNC = 4  # a host call returns because device work ended
    RELEASE = 5  # a thread goes on because an exchange ended
    HAND_OVER = 6  # a thread goes on because another one has finished its part
    RECORDED_WAIT = 7  # a stream waits for an event, as the file says
    INFERRED_WAIT = 8  # a stream waits for an event, as the calls suggest
    STREAM = 9  # a stream runs one row after the other
    OVERLAP = 10  # a row of a stream starts while the one before still runs
    QUEUE = 11  # a thread serves one exchange after the other
    LAUNCH = 12  # a call launches device work
    POSTED = 13  # a call launches an exchange of a host thread
    BY_TIME = 14  # nothing but times says so, and one side is a collective
    LAST = 15  # the step ends where its last work does
    START = 16  # nothing holds this but the start of the rank's step
    GAP = 17  # no edge: a stretch of a thread of which nothing tells


#: How each is known, where the edge itself does not say.
RECORDED, INFERRED, ASSUMED = range(3)
ORIGINS: Final = ("recorded", "inferred", "assumed", UNEXPLAINED)

#: Where a piece is.
ON_DEVICE, ON_HOST, ON_LINK, NOWHERE = range(4)
ON: Final = ("device", "host", "link", "")

#: When device work was launched.
LAUNCHED: Final = ("", "in the step", "before it", "by an earlier step", "not in the file")
NO_LAUNCH, IN_STEP, BEFORE_IT, EARLIER_STEP, NOT_IN_FILE = range(5)


@dataclass(frozen=True)
class Lag:
    """What the time between two pieces of work is, up to `limit` ns; beyond, unexplained."""

    name: str
    kind: str
    on: int
    limit: int | None = None


_GAP = THRESHOLDS.host_gap_ns
_LAG = THRESHOLDS.lag_ns
_STREAM = THRESHOLDS.stream_gap_ns

LAGS: Final[dict[int, Lag]] = {
    Link.WORK: Lag("", "other", NOWHERE),
    Link.THREAD: Lag("a call that waits", WAIT, ON_HOST, _LAG),
    Link.ARRIVAL: Lag("arriving", "exchange", ON_LINK),
    # What still runs is the collective itself, however long its members' ends are apart.
    Link.OWN_END: Lag("own end of a collective", "exchange", ON_DEVICE),
    Link.SYNC: Lag("return of a call that waits", "host", ON_HOST, _LAG),
    Link.RELEASE: Lag("going on after an exchange", "host", ON_HOST, _GAP),
    Link.HAND_OVER: Lag("hand-over between threads", "host", ON_HOST, _GAP),
    Link.RECORDED_WAIT: Lag("start after another stream", "other", ON_DEVICE, _LAG),
    Link.INFERRED_WAIT: Lag("start after another stream", "other", ON_DEVICE, _LAG),
    Link.STREAM: Lag("between rows of a stream", "other", ON_DEVICE, _STREAM),
    Link.OVERLAP: Lag("between rows of a stream", "other", ON_DEVICE, _STREAM),
    Link.QUEUE: Lag("between exchanges", "host", ON_HOST, _GAP),
    Link.LAUNCH: Lag("from launch to start", "host", ON_DEVICE, _LAG),
    Link.POSTED: Lag("from launch to start of an exchange", "host", ON_HOST, _GAP),
    Link.BY_TIME: Lag("start after another stream", "other", ON_DEVICE, _LAG),
    Link.LAST: Lag("end of the step", "other", NOWHERE, _STREAM),
    Link.START: Lag("from the start of the rank's step", "other", NOWHERE, _STREAM),
    Link.GAP: Lag("a thread without rows", "host", ON_HOST, 0),
}

#: Links that are known only by inference.
GUESSED: Final = frozenset(
    {
        Link.RELEASE,
        Link.HAND_OVER,
        Link.INFERRED_WAIT,
        Link.OVERLAP,
        Link.QUEUE,
        Link.BY_TIME,
    }
)


def usual_origin(link: Link) -> int:
    """Return how links of a kind are known where nothing else is said."""
    if link == Link.START:
        return ASSUMED
    return INFERRED if link in GUESSED else RECORDED
