"""Writing slices on tracks in the Trace Event Format, as Perfetto and chrome://tracing read it.

What Perfetto does with such a file decides how it is written here:

- times are µs with three decimals, so whole nanoseconds; none may be negative;
- slices of one track must nest: one that begins inside another and ends after it is dropped, so
  slices that cross go to a further lane, which is a track of its own;
- at equal times the order in the file counts: an outer slice comes before what it holds;
- an arrow's end binds to the innermost slice open on its track, so it follows its slice at once;
- thread numbers are looked up without their process, so that no two tracks share one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import heappop, heappush
from operator import itemgetter
from typing import Any, BinaryIO, Final

import numpy as np
import numpy.typing as npt

from stepviz.indices import as_index
from stepviz.traces.first_free import EVER, FirstFree

IntArray = npt.NDArray[np.int64]

#: By slice: its name and category as JSON (see `head`), its arguments as JSON without braces, and
#: the ends of arrows there (see `arrow`).
Told = tuple[Sequence[str], Sequence[str], Sequence[Sequence[str]]]

#: So many slices become text at once.
_AT_ONCE: Final = 10_000
#: Text is gathered up to so many characters before it is written.
_BLOCK: Final = 1 << 20


class EventWriter:
    """Writes one trace: processes, their tracks, slices and arrows.

    Parameters
    ----------
    stream : binary file
        Where to write.
    origin_ns : int
        What times are counted from; no slice may begin before it.
    """

    def __init__(self, stream: BinaryIO, origin_ns: int) -> None:
        self._stream = stream
        self._origin = origin_ns
        self._tracks = 0
        self._flows = 0
        self._parts: list[str] = []
        self._held = 0
        self._first = True
        self._raw('{"displayTimeUnit": "ns", "traceEvents": [')

    def process(self, pid: int, name: str, order: int) -> None:
        """Name a process and say where it is shown, the lowest on top."""
        self._metadata("process_name", pid, 0, "name", name)
        self._metadata("process_sort_index", pid, 0, "sort_index", order)

    def track(self, pid: int, name: str) -> int:
        """Begin a track of a process, shown below those before it; return its number."""
        self._tracks += 1
        self._metadata("thread_name", pid, self._tracks, "name", name)
        self._metadata("thread_sort_index", pid, self._tracks, "sort_index", self._tracks)
        return self._tracks

    def flow(self) -> int:
        """Return the number of a new arrow."""
        self._flows += 1
        return self._flows

    def flows(self, count: int) -> IntArray:
        """Return the numbers of new arrows."""
        self._flows += count
        return np.arange(self._flows - count + 1, self._flows + 1)

    def slices(
        self,
        pid: int,
        name: str,
        start: IntArray,
        finish: IntArray,
        told: Callable[[IntArray], Told],
    ) -> None:
        """Write slices of one thread or stream, on as many lanes as they need to nest.

        Parameters
        ----------
        pid, name
            The process and the track's name; further lanes are numbered.
        start, finish
            Absolute ns.
        told
            Says of some slices, by their places, what they are: asked for few at a time, since
            the text of all of them may be larger than all else.
        """
        if len(start) == 0:
            return
        order = np.lexsort((-finish, start))
        lanes = nesting_lanes(start[order], finish[order])
        by_lane = order[np.argsort(lanes, kind="stable")]
        bounds = np.cumsum(np.bincount(as_index(lanes)))[:-1]
        for lane, rows in enumerate(np.split(by_lane, bounds)):
            tid = self.track(pid, lane_name(name, lane))
            place = f'"pid":{pid},"tid":{tid},"ts":'
            for low in range(0, len(rows), _AT_ONCE):
                some = rows[low : low + _AT_ONCE]
                self._slices(start[some], finish[some], told(some), place)

    def _slices(self, start: IntArray, finish: IntArray, told: Told, place: str) -> None:
        begins, lengths = _microseconds(start - self._origin), _microseconds(finish - start)
        texts = []
        for at, length, head_, args, ends in zip(begins, lengths, *told, strict=True):
            texts.append(f'{{"ph":"X",{head_},{place}{at},"dur":{length},"args":{{{args}}}}}')
            texts += [f"{{{end},{place}{at}}}" for end in ends]
        self._event(",\n".join(texts))

    def together(self, events: Iterable[tuple[int, int, str]]) -> None:
        """Write events of several tracks: ns, order among equal times, JSON up to the time."""
        for at, _, text in sorted(events, key=itemgetter(0, 1)):
            self._event(f'{text},"ts":{microseconds(at - self._origin)}}}')

    def close(self, said: Mapping[str, Any]) -> None:
        """End the list of events; then top-level keys."""
        self._raw("\n]")
        for key, value in said.items():
            self._raw(f",\n{json.dumps(key)}: {json.dumps(value)}")
        self._raw("}\n")
        self._flush()

    def _metadata(self, what: str, pid: int, tid: int, key: str, value: object) -> None:
        self._event(
            f'{{"ph":"M","name":"{what}","pid":{pid},"tid":{tid},'
            f'"args":{{"{key}":{json.dumps(value)}}}}}'
        )

    def _event(self, text: str) -> None:
        self._raw(("\n" if self._first else ",\n") + text)
        self._first = False

    def _raw(self, text: str) -> None:
        self._parts.append(text)
        self._held += len(text)
        if self._held > _BLOCK:
            self._flush()

    def _flush(self) -> None:
        self._stream.write("".join(self._parts).encode())
        self._parts.clear()
        self._held = 0


def lane_name(name: str, lane: int) -> str:
    """Name the tracks of what crosses on one thread or stream."""
    return name if lane == 0 else f"{name} · {lane + 1}"


def head(name: str, category: str, colour: str = "") -> str:
    """Return a slice's name and category as JSON; the colour's name is for chrome://tracing."""
    coloured = f',"cname":"{colour}"' if colour else ""
    return f'"cat":{json.dumps(category)},"name":{json.dumps(name)}{coloured}'


def arrow(phase: str, number: int, name: str) -> str:
    """Return one end of an arrow as JSON up to its place; `phase` is s at its start, f after."""
    bound = ',"bp":"e"' if phase == "f" else ""
    return f'"ph":"{phase}","id":{number},"cat":"{name}","name":"{name}"{bound}'


def microseconds(ns: int) -> str:
    """Return whole ns as µs with three decimals, exact.

    >>> microseconds(1234567), microseconds(5)
    ('1234.567', '0.005')
    """
    return f"{ns // 1000}.{ns % 1000:03d}"


def _microseconds(ns: IntArray) -> list[str]:
    whole, part = np.divmod(ns, 1000)
    return [f"{a}.{b:03d}" for a, b in zip(whole.tolist(), part.tolist(), strict=True)]


def nesting_lanes(start: IntArray, finish: IntArray) -> IntArray:
    """Return for each interval the first lane where it nests with those before it.

    Parameters
    ----------
    start, finish
        Sorted by start, of equal starts the longest first.
    """
    if (start[1:] >= np.maximum.accumulate(finish)[:-1]).all():
        # One after the other, as most streams and every path.
        return np.zeros(len(start), dtype=np.int64)
    found = []
    stacks: list[list[int]] = []
    free = FirstFree()
    ending: list[tuple[int, int]] = []
    for begin, end in zip(start.tolist(), finish.tolist(), strict=True):
        while ending and ending[0][0] <= begin:
            _, lane = heappop(ending)
            stacks[lane].pop()
            free.set(lane, stacks[lane][-1] if stacks[lane] else EVER)
        lane = free.first(end)
        if lane == len(stacks):
            stacks.append([])
        stacks[lane].append(end)
        heappush(ending, (end, lane))
        free.set(lane, end)
        found.append(lane)
    return np.array(found, dtype=np.int64)
