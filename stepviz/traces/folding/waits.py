"""What each exchange waited for on a rank, and which of the rank's gaps an exchange ends.

A gap is a wait only if its end was an exchange's doing. A device that resumes because the
host had only just launched the work was waiting for the host: that gap is a bar of kind host,
whatever ended beside it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from stepviz.traces.classifying.launches import Launches
from stepviz.traces.classifying.windows import Window
from stepviz.traces.folding.pieces import UNEXPLAINED, Piece
from stepviz.traces.joining.joins import Call

#: A device resumes after the exchange it waited for within this time.
DEVICE_RESUME_NS: Final = 50_000
#: A thread resumes after the exchange it waited for within this time; later it is a host gap.
HOST_RESUME_NS: Final = 1_000_000

#: Stretches (start, finish), sorted and apart.
Gaps = list[tuple[int, int]]


@dataclass(frozen=True)
class Hold:
    """What an exchange waited for: this rank's line up to `cut`, and an exchange before it.

    `before` is the one its queue served before, None where that was over earlier.
    """

    cut: int
    before: Call | None


@dataclass(frozen=True)
class Wait:
    """A gap that ends because an exchange did: no bar, `resumed` is when work went on."""

    start: int
    finish: int
    resumed: int
    row: int


def gaps(window: Window, pieces: Sequence[Piece]) -> Gaps:
    """Return runs of pieces in which this rank's own work stands still."""
    device = window.measured == "device"
    found: Gaps = []
    for piece in pieces:
        if not (piece.region == "host" if device else piece.kind == UNEXPLAINED):
            continue
        if found and found[-1][1] == piece.start:
            found[-1] = (found[-1][0], piece.finish)
        else:
            found.append((piece.start, piece.finish))
    return found


def holds(calls: Sequence[Call], still: Gaps, launches: Launches) -> dict[int, Hold]:
    """Return by row what each exchange of a rank waited for, given all in the fold's order.

    The later of the two, buffer full or queue free, is what it waited for. A device that stood
    idle until the host launched the exchange waited for neither: the gap led up to it.
    """
    served: dict[int, list[tuple[int, int]]] = defaultdict(list)
    by_row: dict[int, Call] = {}
    found = {}
    opens = [low for low, _ in still]
    for call in calls:
        queue = served[call.queue]
        at = bisect_right(queue, (call.arrival, call.row)) - 1
        while at + 1 < len(queue) and queue[at + 1][0] <= call.arrival:
            at += 1
        before = by_row[queue[at][1]] if at >= 0 else None
        if before is not None and before.finish <= call.ready:
            before = None
        known = call.ready if before is None else before.finish
        late = launches.late(call.arrival, call.launched)
        if call.on_device and (late or call.arrival - known > DEVICE_RESUME_NS):
            gap = bisect_left(opens, call.arrival) - 1
            if gap >= 0 and call.arrival <= still[gap][1]:
                found[call.row] = Hold(call.arrival, None)
        found.setdefault(call.row, Hold(call.ready, before))
        insort(queue, (call.finish, call.row))
        by_row[call.row] = call
    return found


def waits(
    window: Window,
    still: Gaps,
    calls: Sequence[Call],
    held: Mapping[int, Hold],
    launches: Launches,
) -> list[Wait]:
    """Return the gaps of a rank that an exchange ends, in order.

    A thread's gap is a wait wherever an exchange ends inside it. A device's is one only where
    work resumes at once and was not launched only then, or where the host itself stood in a
    call that the exchange's end let go.
    """
    own = sorted(calls, key=lambda call: (call.finish, call.row))
    ends = [call.finish for call in own]
    earliest = _earliest_from(own)
    device = window.measured == "device"
    resume = DEVICE_RESUME_NS if device else HOST_RESUME_NS
    found = []
    for low, high in still:
        ending = own[bisect_right(ends, low) : bisect_right(ends, high)]
        if not ending:
            continue
        last = ending[-1]
        resumed = high if high - last.finish <= resume else last.finish
        if device and high < window.finish_ns:
            launched = launches.launch_of(high)
            if launched >= 0 and launches.late(high, launched):
                if not launches.let_go(last.finish, launched, DEVICE_RESUME_NS):
                    continue
                resumed = last.finish
            elif resumed != high:
                continue
        elif device and resumed != high:
            continue
        start = _reach(low, last, ends, earliest, held)
        if start < last.finish:
            found.append(Wait(start, last.finish, resumed, last.row))
    return found


def _earliest_from(own: Sequence[Call]) -> list[Call]:
    """Return by place the first to arrive of the calls from there on."""
    found = list(own)
    for at in range(len(own) - 2, -1, -1):
        if found[at + 1].arrival < found[at].arrival:
            found[at] = found[at + 1]
    return found


def _reach(
    low: int,
    last: Call,
    ends: Sequence[int],
    earliest: Sequence[Call],
    held: Mapping[int, Hold],
) -> int:
    """Return from when on a gap is waiting for the exchange that ends it.

    Exchanges that its queue served one after the other in the gap are one wait; what the host
    launched late ends it. `ends` are those of the rank's exchanges in order, `earliest` who of
    them from each on arrived first.
    """
    call, start = last, last.arrival
    while start > low:
        at = bisect_left(ends, start)
        if at < len(ends) and earliest[at].arrival < start:
            # It runs across the start.
            call = earliest[at]
            start = call.arrival
            continue
        hold = held[call.row]
        if hold.before is None:
            start = min(start, max(low, hold.cut))
            break
        if hold.before.finish <= low:
            start = low
            break
        call, start = hold.before, hold.before.arrival
    return max(low, start)
