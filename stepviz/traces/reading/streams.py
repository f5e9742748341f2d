"""Bytes of one document out of a file, unpacked on the way, as far as they can be.

A file that was cut off, or that a disk damaged, is read up to the fault; `fault` then says so.
"""

from __future__ import annotations

import bz2
import codecs
import io
import lzma
import zlib
from collections.abc import Callable
from contextlib import suppress
from typing import Any, BinaryIO, Final

from stepviz.traces.reading.limits import Budget

GZIP: Final = b"\x1f\x8b"
BZIP2: Final = b"BZh"
XZ: Final = b"\xfd7zXZ\x00"

#: Packed bytes that are read at once, and what they may unpack to at once.
_PACKED: Final = 2**17
_UNPACKED: Final = 2**20

#: The longest of the first bytes above.
_MAGIC: Final = 6


def _damage() -> tuple[type[Exception], ...]:
    """Return what unpackers raise on damaged data."""
    known: tuple[type[Exception], ...] = (
        OSError,
        EOFError,
        ValueError,
        zlib.error,
        lzma.LZMAError,
    )
    try:
        from isal import isal_zlib
    except ImportError:
        return known
    return (*known, isal_zlib.error)  # type: ignore[arg-type]  # its stub calls a class an error


def unpacker_of(first: bytes) -> Callable[[], Any] | None:
    """Return what makes an unpacker for data that begins like this, None where it is plain."""
    if first.startswith(GZIP):
        return _gzip_unpacker
    if first.startswith(BZIP2) and first[3:4].isdigit():
        return bz2.BZ2Decompressor
    return lzma.LZMADecompressor if first.startswith(XZ) else None


def _gzip_unpacker() -> Any:
    try:
        from isal import igzip_lib
    except ImportError:
        return zlib.decompressobj(31)
    # isal is two to three times faster than zlib.
    return igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)


#: How a text begins that is written in more than a byte a character, the longest first.
_WIDE: Final = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (b"{\0", "utf-16-le"),
    (b"[\0", "utf-16-le"),
    (b"\0{", "utf-16-be"),
    (b"\0[", "utf-16-be"),
)


def wide_encoding(first: bytes) -> str | None:
    """Return how a text that begins like this is written, None where it may be UTF-8."""
    return next((encoding for sign, encoding in _WIDE if first.startswith(sign)), None)


class Narrowed(io.RawIOBase):
    """A stream in UTF-16 or UTF-32, as editors of Windows write them, read as UTF-8."""

    def __init__(self, stream: Any, encoding: str) -> None:
        super().__init__()
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
        self._waiting = b""
        self._ended = False

    @property
    def fault(self) -> str:
        """What was wrong with the data below."""
        return str(getattr(self._stream, "fault", ""))

    def readable(self) -> bool:
        """Say that this can be read."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return at most `size` bytes, fewer only at the end."""
        parts = [self._waiting]
        left = (size if size >= 0 else 2**62) - len(self._waiting)
        while left > 0 and not self._ended:
            data = self._stream.read(_PACKED)
            self._ended = not data
            # Halves of characters, which UTF-8 has no bytes for, are replaced as bad bytes are.
            text = self._decoder.decode(data, final=not data)
            parts.append(text.encode(errors="replace"))
            left -= len(parts[-1])
        given = b"".join(parts)
        self._waiting = given[size:] if size >= 0 else b""
        return given[:size] if size >= 0 else given


class Unpacked(io.RawIOBase):
    """A packed stream, unpacked while it is read.

    Parameters
    ----------
    packed
        The stream as it lies there.
    make
        Makes an unpacker (see `unpacker_of`); one file may hold several packed parts.
    budget
        Counts what comes out.
    """

    def __init__(self, packed: BinaryIO, make: Callable[[], Any], budget: Budget) -> None:
        super().__init__()
        self.fault = ""
        self._packed = packed
        self._make = make
        self._budget = budget
        self._unpacker: Any = make()
        self._waiting = b""
        self._given = 0
        self._done = False

    def readable(self) -> bool:
        """Say that this can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer; 0 at the end, or where nothing further can be unpacked."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def read(self, size: int = -1) -> bytes:
        """Return at most `size` bytes, fewer only at the end."""
        parts: list[bytes] = []
        left = size if size >= 0 else 2**62
        while left > 0 and not self._done:
            part = self._some(min(left, _UNPACKED))
            parts.append(part)
            left -= len(part)
        return b"".join(parts)

    def _some(self, most: int) -> bytes:
        """Return some bytes, b"" where more packed data is needed or nothing is left."""
        if self._unpacker.eof:
            self._next_part()
            return b""
        unpacker = self._unpacker
        data, ended = self._waiting, False
        try:
            # What makes zlib's own has no `needs_input`, but keeps what it did not use.
            if not data and getattr(unpacker, "needs_input", True):
                data = self._packed.read(_PACKED)
                ended = not data
            part: bytes = unpacker.decompress(data, most)
        except _damage() as error:
            self.fault = f"the packed data is damaged ({error})"
            self._done = True
            part = self._rescued(most)
        else:
            self._waiting = getattr(unpacker, "unconsumed_tail", b"")
            if ended and not part and not unpacker.eof:
                self.fault = "the packed data ends too early"
                self._done = True
        self._given += len(part)
        self._budget.take(len(part))
        return part

    def _next_part(self) -> None:
        """Go on with another packed part, as files glued together have them."""
        rest = (self._unpacker.unused_data or self._waiting).lstrip(b"\0")
        while len(rest) < _MAGIC and (more := self._packed.read(_PACKED)):
            rest = (rest + more).lstrip(b"\0")
        self._waiting = b""
        if unpacker_of(rest) is None:
            self.fault = "something else follows the packed data" if rest else ""
            self._done = True
            return
        self._unpacker = self._make()
        self._waiting = rest

    def _rescued(self, most: int) -> bytes:
        """Return what can still be unpacked before the damage, found byte by byte with zlib."""
        if self._make is not _gzip_unpacker:
            return b""
        with suppress(*_damage()):
            self._packed.seek(0)
            return _before_damage(self._packed, self._given, most)
        return b""


def _before_damage(packed: BinaryIO, skip: int, most: int) -> bytes:
    unpacker = zlib.decompressobj(31)
    kept: list[bytes] = []
    length = 0
    step = _PACKED
    while length < skip + most:
        before = unpacker.copy()
        data = packed.read(step)
        if not data:
            break
        try:
            part = unpacker.decompress(data)
            if unpacker.eof:
                break
        except zlib.error:
            if step == 1:
                break
            # Again from before this piece, in smaller ones.
            packed.seek(-len(data), io.SEEK_CUR)
            unpacker, step = before, max(1, step // 64)
            continue
        start = max(0, skip - length)
        length += len(part)
        kept.append(part[start:])
    return b"".join(kept)[:most]
