"""Events out of broken JSON: those that can be decoded, and where the others are.

A name with a quote in it, as profilers wrote for years, breaks the JSON of its event and of
nothing else: reading goes on where the next event begins.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeVar

import msgspec
import numpy as np

from stepviz.traces.reading.events import Event
from stepviz.traces.reading.tidying import Tidied, tidied_utf8

Decode = Callable[[bytes], list[Event]]
_T = TypeVar("_T")

#: Where one event ends and another begins, as far as can be told without reading both.
_BETWEEN: Final = re.compile(rb'\}\s*(?:,\s*)*(?=\{\s*"(?:ph|name|cat|pid|tid|ts|dur|args)"\s*:)')
_ANY_BETWEEN: Final = re.compile(rb"\}\s*,\s*\{")
#: The end of the list, as far as can be told where its last event is broken.
_CLOSED: Final = re.compile(
    rb'\]\s*(?=,\s*"(?:distributedInfo|baseTimeNanoseconds|displayTimeUnit|traceName|'
    rb"deviceProperties|schemaVersion|record_shapes|with_stack|profile_memory|host_name|trace_id|"
    rb'stepviz|systemTraceEvents|otherData|metadata)"\s*:)'
)
_CLOSED_AT_LAST: Final = re.compile(rb"\]\s*(?=\}?\s*\Z)")
_PLACE: Final = re.compile(r"\(byte (\d+)\)")
_NEW_LINE: Final = ord("\n")
#: What may stand beside a whole event: a comma too many costs none.
_LOOSE: Final = b", \t\r\n"
#: So many events are decoded together.
_GROUP: Final = 256
#: An event may hold things that look like events themselves: at most so many are joined.
_JOINED: Final = 4


def value_of(text: bytes, decode: Callable[[bytes], _T]) -> tuple[_T | None, int]:
    """Return a JSON value at the start of a text and where it ends.

    Where it is broken, return None and where that shows: at the text's end where it was cut off.
    """
    try:
        return decode(text), len(text)
    except RecursionError:
        return None, 0
    except msgspec.DecodeError as error:
        after = place_of(error)
        if "trailing characters" not in str(error):
            return None, after or len(text)
    # The place told is that of what follows, counted from one; from zero would be as right.
    for end in (after - 1, after):
        try:
            return decode(text[:end]), end
        except (msgspec.DecodeError, RecursionError):
            continue
    return None, after


def place_of(error: Exception) -> int:
    """Return the byte at which decoding failed, 0 where nothing tells."""
    found = _PLACE.search(str(error))
    return int(found[1]) if found else 0


@dataclass(frozen=True)
class _Pieces:
    """A text, where each of its events starts and ends, and whether it is the document's end."""

    text: bytes
    starts: list[int]
    ends: list[int]
    last: bool

    @classmethod
    def of(cls, text: bytes, *, last: bool) -> _Pieces:
        between = list(_BETWEEN.finditer(text))
        starts = [0, *(match.end() for match in between)]
        end = len(text.rstrip(_LOOSE)) if last else len(text)
        return cls(text, starts, [*(match.start() + 1 for match in between), end], last)


@dataclass
class Salvage:
    """Decodes broken text event by event, and remembers where what is lost was.

    Attributes
    ----------
    bad
        Lines and bytes of the events that could not be decoded.
    partial
        Whether the document ends in the middle of an event.
    rest
        What follows the list of events; None while it has not ended.
    used
        Whether there was anything to rescue.
    """

    decode: Decode
    tidied: Tidied
    bad: list[str] = field(default_factory=list)
    partial: bool = False
    rest: bytes | None = None
    used: bool = False
    _offset: int = 0
    _lines: int = 1
    _counted: int = 0
    _new_lines: int = 0

    def passed(self, text: bytes | memoryview) -> None:
        """Count text that is behind, so that places can be told."""
        self._offset += len(text)
        # Ten times as fast as the method `count` of bytes.
        self._lines += int(np.count_nonzero(np.frombuffer(text, dtype=np.uint8) == _NEW_LINE))

    def rescue(self, text: bytes, *, last: bool) -> list[Event]:
        """Return the events that can be decoded, and set `rest` where their list ends.

        Parameters
        ----------
        text
            From the start of an event to the end of one, or of the document where `last`.
        """
        pieces = _Pieces.of(text, last=last)
        self.used = True
        self._counted = self._new_lines = 0
        found: list[Event] = []
        at = 0
        while at < len(pieces.starts) and self.rest is None:
            at = self._range(pieces, at, min(at + _GROUP, len(pieces.starts)), found)
        return found

    def _range(self, pieces: _Pieces, at: int, reach: int, found: list[Event]) -> int:
        """Decode the pieces from `at` to `reach`; return the first that was not used."""
        while at < reach and self.rest is None:
            broken = self._decoded(pieces, at, reach, found)
            if broken is None:
                return reach
            # What is before the place at which it shows is whole, but for a text that goes on.
            at = self._range(pieces, at, broken, found)
            if at <= broken and self.rest is None:
                at = self._single(pieces, at, found)
        return at

    def _decoded(self, pieces: _Pieces, at: int, reach: int, found: list[Event]) -> int | None:
        """Take the events from `at` to `reach`; if that fails, return the piece that shows it."""
        start = pieces.starts[at]
        block = b"[" + pieces.text[start : pieces.ends[reach - 1]] + b"]"
        events, end = value_of(block, self.decode)
        if events is None:
            piece = bisect_right(pieces.starts, start + end - 1) - 1
            return min(max(piece, at), reach - 1)
        found.extend(events)
        if end < len(block):
            self.rest = pieces.text[start + end - 1 :]
        return None

    def _single(self, pieces: _Pieces, at: int, found: list[Event]) -> int:
        """Decode one piece, tidied or joined with those after it, else give it up."""
        text, start, end = pieces.text, pieces.starts[at], pieces.ends[at]
        if self._whole(text[start:end], found):
            return at + 1
        final = at + 1 == len(pieces.starts)
        for reach in range(at + 2, min(at + _JOINED, len(pieces.starts)) + 1):
            if self._decoded(pieces, at, reach, found) is None:
                return reach
        closing = _CLOSED.search(text, start, end)
        if closing is None and final and pieces.last:
            closing = _CLOSED_AT_LAST.search(text, start, end)
        if closing is not None:
            self.rest = text[closing.end() :]
            if self._whole(text[start : closing.start()], found):
                return at + 1
        if closing is None and final and pieces.last:
            self.partial = start < end
            self._cut_short(text[start:end], found)
        elif start < end:
            start += len(text[start:end]) - len(text[start:end].lstrip())
            self._new_lines += text.count(b"\n", self._counted, start)
            self._counted = start
            line = self._lines + self._new_lines
            self.bad.append(f"line {line} (byte {self._offset + start})")
        return at + 1

    def _whole(self, text: bytes, found: list[Event]) -> bool:
        """Take the events of a text once it is tidied, and say whether it is nothing else."""
        tidied = Tidied()
        block = b"[" + tidied_utf8(text.strip(_LOOSE), tidied) + b"]"
        events, closed = value_of(block, self.decode)
        if events is None or closed != len(block):
            return False
        self.tidied.add(tidied)
        found.extend(events)
        return True

    def _cut_short(self, text: bytes, found: list[Event]) -> None:
        """Decode what is whole of a text that ends in an event of which too little is left."""
        ends = [match.start() + 1 for match in _ANY_BETWEEN.finditer(text)]
        for end in ends[: -_JOINED - 1 : -1]:
            events, _ = value_of(b"[" + text[:end] + b"]", self.decode)
            if events is not None:
                found.extend(events)
                return
