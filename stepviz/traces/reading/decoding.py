"""One document from a stream of bytes to events, a block at a time, or one clear error.

A block is cut where an event seems to end and decoded as a list; that it can be decoded proves
the cut, and where it cannot the next block is appended. What a document says beside its events
may be before them, after them, or both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Final

import msgspec
from msgspec import Raw

from stepviz.errors import TraceError
from stepviz.traces.reading.events import Event, Oddities, decoded
from stepviz.traces.reading.limits import BLOCK, FIRST_BLOCK, LARGEST_PIECE
from stepviz.traces.reading.members import KEYS, members_of, wanted_members
from stepviz.traces.reading.other_formats import why_other
from stepviz.traces.reading.repairs import Repairs, events
from stepviz.traces.reading.salvage import Salvage, place_of, value_of
from stepviz.traces.reading.tidying import Tidied, tidied_utf8, versions
from stepviz.traces.reading.words import plain

_BOM: Final = b"\xef\xbb\xbf"
_SPACE: Final = b" \t\r\n"
_LIST: Final = re.compile(rb'"traceEvents"\s*:\s*\[')
_CLOSING: Final = re.compile(rb"\](?=\s*(?:,\s*\"|\}\s*\Z))")
#: So far from its end the list is looked for.
_NEAR: Final = 4096
_COMMA: Final = re.compile(rb"\s*,?\s*")
_SPACED_CUT: Final = re.compile(rb"\}\s*,\s*\{")


class Document:
    """The events of one document, and what it says beside them.

    Parameters
    ----------
    stream
        Its bytes, unpacked.
    label
        How errors name it.
    repairs
        Gets a sentence for everything that was mended.

    Attributes
    ----------
    metadata : dict
        What it says of `members.KEYS`, once all blocks were taken.
    count : int
        How many events were found.
    """

    def __init__(self, stream: BinaryIO, label: str, repairs: Repairs) -> None:
        self.label = label
        self.metadata: dict[str, Any] = {}
        self.count = 0
        self._stream = stream
        self._repairs = repairs
        self._odd = Oddities()
        self._tidied = Tidied()
        self._salvage = Salvage(self._decode, self._tidied)
        self._buffer = b""
        self._block = min(FIRST_BLOCK, BLOCK)
        self._dropped = 0
        self._ended = False
        self._bare = False
        self._rest: bytes | None = None
        self._cut_off = False
        self._broken = False

    def blocks(self) -> Iterator[list[Event]]:
        """Return events, block by block.

        Raises
        ------
        TraceError
            Where the document is no trace, or nothing of it can be read.
        """
        self._open()
        while self._rest is None:
            self._fill(self._block)
            ended, text = self._ended, self._buffer
            cut = len(text) if ended else _last_cut(text)
            found = self._attempt(text, cut, ended=ended) if cut else None
            if found is not None:
                self.count += len(found)
                yield found
            elif ended or (cut and self._broken):
                rescued = self._salvage.rescue(text[:cut], last=ended)
                self.count += len(rescued)
                yield rescued
                self._rest = self._salvage.rest
            else:
                # The cut is inside an event: what follows will tell.
                self._more_or_refuse()
                continue
            if self._rest is not None:
                self._rest += text[cut:]
            elif ended:
                break
            self._drop(cut)
            comma = _COMMA.match(self._buffer)
            self._drop(comma.end() if comma is not None else 0)
        self._close()
        self._tell()

    def _decode(self, block: bytes) -> list[Event]:
        return decoded(block, self._odd)

    def _attempt(self, text: bytes, cut: int, *, ended: bool) -> list[Event] | None:
        """Return the events of a block; None where it is broken, or cut inside an event."""
        closing = b"" if ended else b"]"
        whole = b"".join((b"[", memoryview(text)[:cut], closing))
        for block, tidied in versions(whole):
            found, end = _list_in(block, self._decode, keyed=ended and not self._bare)
            if found is not None:
                self._tidied.add(tidied)
                if ended or end < len(block):
                    self._rest = block[end : len(block) - len(closing)]
                return found
            # What is only cut inside an event shows it at the end, and nowhere before.
            self._broken = end < len(block) - len(closing)
        return None

    # Bytes.
    def _more_or_refuse(self) -> None:
        if len(self._buffer) > LARGEST_PIECE:
            msg = (
                f"{self.label} holds something of over {LARGEST_PIECE >> 20} MiB that is no "
                "event of a trace; leave the file out"
            )
            raise TraceError(msg)
        # As much again, so that what is long is not searched in many small steps.
        self._fill(2 * len(self._buffer))

    def _fill(self, size: int) -> None:
        if len(self._buffer) >= size or self._ended:
            return
        parts = [self._buffer]
        left = size - len(self._buffer)
        while left > 0 and not self._ended:
            data = self._stream.read(max(left, self._block))
            self._ended = not data
            parts.append(data)
            left -= len(data)
        self._buffer = b"".join(parts)

    def _drop(self, count: int) -> None:
        self._salvage.passed(memoryview(self._buffer)[:count])
        self._buffer = self._buffer[count:]
        self._dropped += count
        self._block = min(max(self._block, self._dropped // 2), BLOCK)

    # Before the events.
    def _open(self) -> None:
        """Read up to the list of events and keep what stands before it."""
        self._fill(self._block)
        if self._buffer.startswith(_BOM):
            self._drop(len(_BOM))
        while not self._ended and not self._buffer.strip(_SPACE):
            self._drop(len(self._buffer))
            self._fill(self._block)
        self._drop(len(self._buffer) - len(self._buffer.lstrip(_SPACE)))
        if self._buffer.startswith(b"["):
            self._bare = True
            self._drop(1)
            return
        if not self._buffer.startswith(b"{"):
            raise TraceError(self._why_no_trace())
        first = None
        seen = 0
        while True:
            for match in _LIST.finditer(self._buffer, seen):
                seen = match.end()
                first = seen if first is None else first
                # Also a text may hold the word: only a whole object before it proves it.
                before = self._buffer[: match.start()].rstrip(_SPACE)
                if before == b"{" or before.endswith(b","):
                    members, _ = members_of(before.removesuffix(b",") + b"}", self._tidied)
                    if members is not None:
                        self._keep(members)
                        self._drop(seen)
                        return
            if self._ended or len(self._buffer) > LARGEST_PIECE:
                break
            self._fill(2 * len(self._buffer))
        if first is None:
            raise TraceError(self._why_no_trace())
        self._keep(wanted_members(self._buffer[:first]))
        self._repairs.mend(1, "what the file says before its events is broken JSON")
        self._drop(first)

    def _keep(self, members: dict[str, Raw]) -> None:
        for key in KEYS:
            if key in members:
                self.metadata[key] = plain(members[key])

    def _why_no_trace(self) -> str:
        text = self._buffer.strip(_SPACE + b"\0")
        fault = self._fault()
        because = f" ({fault})" if fault else ""
        if not text:
            blank = "is truncated: nothing can be unpacked of it" if fault else "is blank"
            return f"{self.label} {blank}{because}; copy it again, or leave it out"
        what, remedy = why_other(self._buffer)
        if what:
            return f"{self.label} {what}, no profiler trace; {remedy}"
        if not text.startswith((b"{", b"[")):
            return f"{self.label} is no JSON, so no profiler trace{because}; leave it out"
        try:
            msgspec.json.decode(tidied_utf8(text, Tidied()))
        except RecursionError:
            return f"{self.label} is JSON that cannot be read (nested too deeply); leave it out"
        except msgspec.DecodeError as error:
            if fault or "truncated" in str(error):
                return (
                    f"{self.label} is truncated: it ends before its first event{because}; "
                    "copy it again, or leave it out"
                )
            at = place_of(error)
            line, column = text.count(b"\n", 0, at) + 1, at - text.rfind(b"\n", 0, at)
            return (
                f"{self.label} is broken JSON at line {line}, column {column}, and no list of "
                "traceEvents was found in it; mend that place, or leave the file out"
            )
        return (
            f"{self.label} is JSON but no profiler trace: it has no list of traceEvents; "
            "pass files written by torch.profiler's export_chrome_trace"
        )

    # After the events.
    def _close(self) -> None:
        """Keep what stands after the events, and see whether the document ends too early."""
        rest = self._rest
        if rest is None:
            self._cut_off = True
            return
        while not self._ended and len(rest) < LARGEST_PIECE:
            data = self._stream.read(BLOCK)
            self._ended = not data
            rest += data
        rest = rest.strip(_SPACE)
        if self._bare:
            self._left_over(rest)
        elif rest.startswith(b"}"):
            self._left_over(rest[1:])
        elif not rest.startswith(b","):
            self._cut_off = True
        else:
            members, left = members_of(b"{" + rest[1:], self._tidied)
            if members is not None:
                self._keep(members)
                self._left_over(left)
                return
            self._keep(wanted_members(rest))
            self._cut_off = not rest.endswith(b"}")
            if not self._cut_off:
                self._repairs.mend(1, "what the file says after its events is broken JSON")

    def _left_over(self, text: bytes) -> None:
        if text.strip(_SPACE + b"\0"):
            count = len(text)
            self._repairs.mend(1, f"text after the end of the trace was left out: {count} bytes")

    def _fault(self) -> str:
        return str(getattr(self._stream, "fault", ""))

    def _tell(self) -> None:
        """Note everything that was mended on the way."""
        for count, sentence in self._tidied.sentences():
            self._repairs.mend(count, sentence)
        bad = self._salvage.bad
        if bad:
            shown = ", ".join(bad[:5]) + (", …" if len(bad) > 5 else "")
            verb = "was" if len(bad) == 1 else "were"
            self._repairs.drop(
                len(bad), f"{events(len(bad))} {verb} skipped, broken JSON at {shown}"
            )
        elif self._salvage.used and not self._cut_off:
            self._repairs.mend(1, "broken JSON between events was passed over")
        if self._odd.no_events:
            count = self._odd.no_events
            self._repairs.drop(count, f"entries that are no events were dropped: {count}")
        if self._odd.odd_tracks:
            count = self._odd.odd_tracks
            verb = "has" if count == 1 else "have"
            sentence = f"{events(count)} {verb} a pid or tid that is no number and no word"
            self._repairs.mend(count, sentence)
        fault = self._fault()
        if not self._cut_off:
            if fault:
                self._repairs.mend(1, f"after the trace {fault}")
            return
        why = fault or "its JSON ends in the middle"
        if not self.count:
            msg = (
                f"{self.label} is truncated: it ends before its first whole event ({why}); copy "
                "it again, or leave it out"
            )
            raise TraceError(msg)
        self._repairs.drop(
            int(self._salvage.partial),
            f"the file is truncated ({why}): {events(self.count)} read, up to the last whole one",
        )


def _list_in(
    block: bytes, decode: Callable[[bytes], list[Event]], *, keyed: bool
) -> tuple[list[Event] | None, int]:
    """Return a list of events and where it ends (see `value_of`).

    `keyed` says that it is the last member of an object but for a few, at the object's end.
    """
    if keyed:
        # Most often its end is near the document's: found there, it need not be decoded twice.
        near = max(0, len(block) - _NEAR)
        for match in reversed(list(_CLOSING.finditer(block, near))):
            found, end = value_of(block[: match.start() + 1], decode)
            if found is not None:
                return found, end
            break
    return value_of(block, decode)


def _last_cut(text: bytes) -> int:
    """Return where the last event but one seems to end, 0 where none does."""
    end = len(text)
    while (end := text.rfind(b"},", 0, end)) >= 0:
        if text[end + 2 : end + 256].lstrip(_SPACE).startswith(b"{"):
            return end + 1
    spaced = [match.start() for match in _SPACED_CUT.finditer(text)]
    return spaced[-1] + 1 if spaced else 0
