"""The documents of one file: itself, or the members of the archive that it is.

Members are read where they lie: nothing is written, whatever their names say.
"""

from __future__ import annotations

import io
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO, Final, cast

from stepviz.errors import TraceError
from stepviz.traces.reading.limits import MOST_MEMBERS, Budget
from stepviz.traces.reading.sources import TraceFile
from stepviz.traces.reading.streams import Narrowed, Unpacked, unpacker_of, wide_encoding

_ZIP: Final = (b"PK\x03\x04", b"PK\x05\x06")
_TAR_MAGIC: Final = b"ustar"
_TAR_PLACE: Final = 257
_PEEK: Final = 512
_PIECE: Final = 2**14
#: So often a file may have been packed.
_MOST_LAYERS: Final = 3
_MEMBER_SUFFIXES: Final = (".json", ".json.gz", ".json.bz2", ".json.xz")


class Rewound(io.RawIOBase):
    """A stream whose first bytes were looked at and are given again."""

    def __init__(self, first: bytes, stream: Any) -> None:
        super().__init__()
        self._first = first
        self._stream = stream

    @property
    def fault(self) -> str:
        """What was wrong with the data below."""
        return str(getattr(self._stream, "fault", ""))

    def readable(self) -> bool:
        """Say that this can be read."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return at most `size` bytes."""
        if not self._first:
            return bytes(self._stream.read(size))
        given = self._first if size < 0 else self._first[:size]
        self._first = self._first[len(given) :]
        if size < 0:
            return given + bytes(self._stream.read())
        return given + (bytes(self._stream.read(size - len(given))) if size > len(given) else b"")


def documents(file: TraceFile) -> Iterator[tuple[str, Any]]:
    """Return the label and the unpacked bytes of each document in a file.

    A document must be read before the next one is asked for. Its stream may have an attribute
    `fault`, which says after reading why it ends too early.

    Raises
    ------
    TraceError
        Where the file cannot be opened, is empty, or holds no traces.
    """
    with file.open() as raw:
        first = raw.read(_PEEK)
        if not first:
            msg = (
                f"{file.label} is empty (0 bytes): the run ended before it was written; leave it "
                "out"
            )
            raise TraceError(msg)
        # A member that a file system takes out of an archive is unpacked already, unseen.
        inside = getattr(raw, "packed", None)
        packed = _length(raw) if inside is None else inside
        budget = Budget(file.label, packed)
        # A pipe, or a server that sends no parts, gives its bytes only once.
        whole = raw if _sought(raw) else cast("BinaryIO", Rewound(first, raw))
        yield from _inside(file.label, first, whole, budget, count=inside is not None)


def _sought(raw: BinaryIO) -> bool:
    """Go back to the start, where that can be done."""
    try:
        raw.seek(0)
    except (OSError, ValueError):
        # What says that it is seekable need not be.
        return False
    return True


def _length(raw: BinaryIO) -> int:
    try:
        return raw.seek(0, io.SEEK_END)
    except (OSError, ValueError):
        return -1


def _inside(
    label: str, first: bytes, raw: BinaryIO, budget: Budget, *, count: bool
) -> Iterator[tuple[str, Any]]:
    if first.startswith(_ZIP):
        yield from _zip_members(label, raw, budget)
        return
    first, stream = _unpacked(first, raw, budget)
    if first[_TAR_PLACE : _TAR_PLACE + len(_TAR_MAGIC)] == _TAR_MAGIC:
        yield from _tar_members(label, stream, budget)
    elif first.startswith(_ZIP):
        msg = f"{label} holds an archive inside an archive; unpack it and pass the folder"
        raise TraceError(msg)
    else:
        plain = _Guarded(stream, budget if count else None)
        yield label, plain if stream is raw else stream


def _member(label: str, name: str, raw: Any, budget: Budget) -> Iterator[tuple[str, Any]]:
    """Return one member of an archive, unpacked where it is packed itself."""
    shown = f"{label}::{name}"
    first = raw.read(_PEEK)
    _, stream = _unpacked(first, Rewound(first, raw), budget)
    yield shown, stream


def _unpacked(first: bytes, stream: Any, budget: Budget) -> tuple[bytes, Any]:
    """Return a stream as it was before it was packed, and its first bytes.

    Some are packed twice: once by the profiler, and once more on their way.
    """
    for _ in range(_MOST_LAYERS):
        make = unpacker_of(first)
        if make is None:
            break
        stream = Unpacked(stream, make, budget)
        first = stream.read(_PEEK)
        stream = Rewound(first, stream)
    wide = wide_encoding(first)
    if wide is not None:
        stream = Narrowed(stream if isinstance(stream, Rewound) else _Guarded(stream), wide)
    return first, stream


def _is_member(name: str) -> bool:
    base = name.replace("\\", "/").rpartition("/")[2]
    hidden = base.startswith(".") or name.startswith("__MACOSX/")
    return base.lower().endswith(_MEMBER_SUFFIXES) and not hidden


def _no_members(label: str) -> TraceError:
    return TraceError(
        f"{label} is an archive without traces: no file in it ends in .json or .json.gz; leave "
        "it out, or unpack it where it holds archives"
    )


class _Guarded(io.RawIOBase):
    """A stream that is counted while it is read, and ends where its data is damaged."""

    def __init__(self, stream: Any, budget: Budget | None = None) -> None:
        super().__init__()
        self.fault = ""
        self._stream = stream
        self._budget = budget

    def readable(self) -> bool:
        """Say that this can be read."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return at most `size` bytes, none after a fault."""
        if self.fault:
            return b""
        parts: list[bytes] = []
        left = size if size >= 0 else 2**62
        try:
            # In small pieces, since a piece that cannot be read whole is lost.
            while left > 0 and (part := self._stream.read(min(left, _PIECE))):
                parts.append(part)
                left -= len(part)
        except (OSError, EOFError, zipfile.BadZipFile, tarfile.TarError, zlib.error) as error:
            self.fault = f"its data cannot be read any further ({error})"
        data = b"".join(parts)
        if self._budget is not None:
            self._budget.take(len(data))
        return data


def _zip_members(label: str, raw: BinaryIO, budget: Budget) -> Iterator[tuple[str, Any]]:
    if not raw.seekable():
        msg = f"{label} is a zip archive, and can be read only from start to end; copy it to a file"
        raise TraceError(msg)
    try:
        archive = zipfile.ZipFile(raw)
        members = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        msg = f"{label} is damaged: the zip archive cannot be opened ({error}); copy it again"
        raise TraceError(msg) from error
    _check_count(label, len(members))
    chosen = [member for member in members if not member.is_dir() and _is_member(member.filename)]
    if not chosen:
        raise _no_members(label)
    for member in chosen:
        try:
            stream = archive.open(member)
        except (zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError) as error:
            # A password, a method that this Python lacks, a header that is damaged.
            yield f"{label}::{member.filename}", _unreadable(str(error))
            continue
        with stream:
            yield from _member(label, member.filename, _Guarded(stream, budget), budget)


def _tar_members(label: str, stream: Any, budget: Budget) -> Iterator[tuple[str, Any]]:
    count = read = 0
    last = _Guarded(io.BytesIO())
    try:
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            for member in archive:
                count += 1
                _check_count(label, count)
                inside = archive.extractfile(member) if member.isfile() else None
                if inside is None or not _is_member(member.name):
                    continue
                read += 1
                last = _Guarded(inside, budget)
                yield from _member(label, member.name, last, budget)
    except TraceError:
        raise
    except (tarfile.TarError, OSError, EOFError, ValueError) as error:
        if not read:
            msg = f"{label} is damaged: the tar archive cannot be read ({error}); copy it again"
            raise TraceError(msg) from error
        if not last.fault:
            yield f"{label}::…", _unreadable(f"the archive ends too early: {error}")
    if not read:
        raise _no_members(label)


def _check_count(label: str, count: int) -> None:
    if count > MOST_MEMBERS:
        msg = f"{label} has over {MOST_MEMBERS} members, the limit; unpack it and pass the folder"
        raise TraceError(msg)


def _unreadable(reason: str) -> Any:
    stream = _Guarded(io.BytesIO())
    stream.fault = reason
    return stream
