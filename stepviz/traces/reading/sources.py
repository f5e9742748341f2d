"""Which files a source means: a folder, a pattern, a list, or any of them behind a URL."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from reprlib import Repr
from typing import Any, BinaryIO, Final, cast

from stepviz.core.checks import holds_several
from stepviz.errors import TraceError
from stepviz.traces.reading.local_paths import (
    below,
    exists,
    is_file,
    is_folder,
    leads_nowhere,
    matches,
    of_file_url,
    once,
    opened,
)

Source = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]

_PLAIN: Final = (".json", ".json.gz", ".json.bz2", ".json.xz")
_ARCHIVES: Final = (
    *(".zip", ".tar"),
    *(".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz"),
)
#: What is meant to be read and cannot be: it is refused by name, not passed over.
_UNREAD: Final = (".json.zst", ".tar.zst", ".json.lz4", ".tar.lz4")
#: What a folder is searched for; once a file is open its content decides, not its name.
SUFFIXES: Final = (*_PLAIN, *_ARCHIVES, *_UNREAD)

#: Values in errors, no longer than a line.
_SHORT: Final = Repr()
_SHORT.maxother = _SHORT.maxstring = 80
_SHORT.maxlevel = 2

_USAGE: Final = "pass a folder of traces, a trace file, or a list of files"
#: File systems inside a file: their members may unpack to far more than lies there.
INSIDE: Final = ("zip://", "tar://", "libarchive://")
#: Takes the numbers out of a name.
DIGITS: Final = re.compile(r"(\d+)")
#: A folder for one rank's files.
RANK_FOLDER: Final = re.compile(r"rank[\s_\-.=]*(\d{1,7})", re.IGNORECASE)


@dataclass(frozen=True)
class TraceFile:
    """One file that a source means: what people call it, and how to open it."""

    label: str
    url: bool = False

    def open(self) -> BinaryIO:
        """Open it to read its bytes.

        Raises
        ------
        TraceError
            Saying why it cannot be opened.
        """
        if self.url:
            return _open_url(self.label)
        path = Path(self.label)
        if is_folder(path):
            msg = (
                f"{path} is a folder, not a file; pass it alone, as one capture, or pass its files"
            )
            raise TraceError(msg)
        try:
            return opened(path)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            if leads_nowhere(path):
                reason = f"it is a link that leads nowhere: {reason}"
            msg = f"{path} cannot be opened ({reason}); check the path and its permissions"
            raise TraceError(msg) from error

    @property
    def size(self) -> int:
        """Its size as it lies there, in bytes; 0 where nothing tells without opening it."""
        if self.url:
            with suppress(Exception):
                fs, path = _file_system(self.label)
                return int(fs.size(path) or 0)
            return 0
        try:
            return Path(self.label).stat().st_size
        except (OSError, ValueError):
            return 0

    @property
    def only_here(self) -> bool:
        """Say whether no other process can open it."""
        return self.url and "memory://" in self.label


def trace_files(source: Source) -> tuple[list[TraceFile], str]:
    """Return the files a source means, rank10 after rank9, and a name for them all.

    Raises
    ------
    TraceError
        Where it means none: it does not exist, holds no traces, or is no path at all.
    """
    if isinstance(source, (str, os.PathLike)):
        return _meant_by(_text(source))
    if not holds_several(source) or isinstance(source, Mapping) or hasattr(source, "read"):
        raise _no_path(source)
    items = [_text(item) for item in source]
    if not items:
        msg = "the list of files is empty; pass at least one trace file"
        raise TraceError(msg)
    if all(_is_folder(item) for item in items):
        if len(items) > 1 and all(RANK_FOLDER.fullmatch(Path(item).name) for item in items):
            ordered = sorted(items, key=_natural)
            name = _folder_name(ordered[0])
            return [file for item in ordered for file in _in_folder(Path(item))], name
        if len(items) > 1:
            msg = (
                f"{len(items)} folders are too many: one is one capture; load each by itself, or "
                "pass the files of one capture"
            )
            raise TraceError(msg)
        return _meant_by(items[0])
    found: list[TraceFile] = []
    for item in items:
        # A file that is not there is refused by name; it costs its own row, not the run.
        found += _meant_by(item)[0] if _is_pattern(item) else [TraceFile(item, _is_url(item))]
    kept = set(once(file.label for file in found if not file.url))
    unique = {file.label: file for file in found if file.url or file.label in kept}
    parents = {_folder_name(label) for label in unique}
    return list(unique.values()), ", ".join(sorted(parents))


def _text(item: object) -> str:
    if isinstance(item, (str, os.PathLike)):
        text = os.fspath(item)
        if isinstance(text, str):
            if text.lstrip()[:1] in ("{", "[") and '"' in text and not exists(Path(text)):
                raise _no_path(text)
            if text:
                text = of_file_url(text)
                return os.path.expanduser(text) if text.startswith("~") else text  # noqa: PTH111
            msg = f"the path is empty; {_USAGE}"
            raise TraceError(msg)
    raise _no_path(item)


def _no_path(value: object) -> TraceError:
    """Say that this is no path, without all that it holds: it may be a whole trace."""
    name = getattr(value, "name", None)
    if hasattr(value, "read") and isinstance(name, str):
        return TraceError(f"an open file is no path; pass its name, {name!r}")
    if isinstance(value, Mapping):
        return TraceError(f"a {type(value).__name__} is no path; {_USAGE}")
    return TraceError(f"{_SHORT.repr(value)} is no path; {_USAGE}")


def _is_url(text: str) -> bool:
    return "://" in text


def _is_pattern(text: str) -> bool:
    """Say whether a text has wildcards, and names no file that is there."""
    if not any(sign in text for sign in "*?["):
        return False
    return _is_url(text) or not exists(Path(text))


def _is_folder(text: str) -> bool:
    return not _is_url(text) and is_folder(Path(text))


def _folder_name(label: str) -> str:
    if _is_url(label):
        return label.rpartition("/")[0].rpartition("/")[2] or label
    return Path(label).absolute().parent.name


def _meant_by(text: str) -> tuple[list[TraceFile], str]:
    if _is_url(text):
        return _behind_url(text)
    path = Path(text)
    if _is_folder(text):
        return _in_folder(path), path.resolve().name
    if _is_pattern(text):
        return _chosen(once(matches(text)), text)
    if not exists(path):
        msg = f"{path} does not exist; pass a folder of traces, a trace file, or a list of them"
        raise TraceError(msg)
    return [TraceFile(str(path))], path.name


def _chosen(names: list[str], pattern: str, *, url: bool = False) -> tuple[list[TraceFile], str]:
    """Return the traces among what a pattern matches."""
    traces = [name for name in names if _is_trace(name)] or names
    if not traces:
        msg = f"{pattern} matches no file; {_USAGE}"
        raise TraceError(msg)
    ordered = sorted(traces, key=_natural)
    return [TraceFile(name, url) for name in ordered], pattern


def _in_folder(folder: Path) -> list[TraceFile]:
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        msg = f"{folder} cannot be listed ({error.strerror}); check its permissions"
        raise TraceError(msg) from error
    # A link that leads nowhere is a file somebody meant: it is refused by name, not passed over.
    found = [p for p in entries if _is_trace(p.name) and (is_file(p) or leads_nowhere(p))]
    if found:
        return [TraceFile(str(p)) for p in sorted(found, key=lambda p: _natural(p.name))]
    inner = {
        p: [q for q in _listed(p) if _is_trace(q.name) and is_file(q)]
        for p in entries
        if is_folder(p)
    }
    inner = {p: traces for p, traces in inner.items() if traces}
    if inner and all(RANK_FOLDER.fullmatch(p.name) for p in inner):
        # One folder for each rank is one capture.
        ordered = sorted(inner, key=lambda p: _natural(p.name))
        return [
            TraceFile(str(q))
            for p in ordered
            for q in sorted(inner[p], key=lambda q: _natural(q.name))
        ]
    if len(inner) > 1:
        names = [p.name for p in inner]
        shown = ", ".join(names[:4]) + (", …" if len(names) > 4 else "")
        msg = (
            f"{folder} holds no traces itself, but its folders do: {shown}; pass one of them, or "
            f"{str(folder / '*' / '*.json*')!r} where all are of one capture"
        )
        raise TraceError(msg)
    deeper = below(folder, _is_trace)
    if deeper is not None:
        msg = f"{folder} holds no traces itself, but {deeper} does; pass that"
        raise TraceError(msg)
    msg = (
        f"{folder} holds no traces: no file in it ends in {', '.join(SUFFIXES[:2])}, .zip or "
        ".tar; pass the folder the profiler wrote to"
    )
    raise TraceError(msg)


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _is_trace(name: str) -> bool:
    base = name.rpartition("/")[2]
    return base.lower().endswith(SUFFIXES) and not base.startswith(".")


def _natural(name: str) -> list[tuple[int, str]]:
    """Order rank10 after rank9."""
    parts = DIGITS.split(name)
    return [(int(p), "") if p.isascii() and p.isdigit() else (-1, p) for p in parts if p]


# Behind a URL.
def _file_system(url: str) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs

        fs, path = url_to_fs(url)
    except ImportError as error:
        msg = f"{url} needs a package that is not installed ({error}); install it, or copy the file"
        raise TraceError(msg) from error
    except Exception as error:
        # What a file system raises is its own affair; that it failed is what matters here.
        msg = f"{url} cannot be opened ({error}); check the address"
        raise TraceError(msg) from error
    return fs, str(path)


class Remote(io.RawIOBase):
    """A file of a file system, which an archive's closes once nobody holds it.

    `packed` is how large a member of an archive is there, −1 where nothing tells; None for any
    other file, whose own size tells.
    """

    def __init__(self, system: Any, path: str) -> None:
        super().__init__()
        self._system = system
        self._stream = system.open(path, "rb")
        self.packed: int | None = None
        if _inside(system):
            self.packed = int(system.info(path).get("compress_size") or -1)

    def readable(self) -> bool:
        """Say that this can be read."""
        return True

    def seekable(self) -> bool:
        """Say whether `seek` works."""
        return bool(self._stream.seekable())

    def read(self, size: int = -1) -> bytes:
        """Return at most `size` bytes."""
        return bytes(self._stream.read(size))

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to another place."""
        return int(self._stream.seek(offset, whence))

    def tell(self) -> int:
        """Return the place."""
        return int(self._stream.tell())

    def close(self) -> None:
        """Close the file, then let the file system go."""
        if not self.closed:
            self._stream.close()
        super().close()


def _open_url(url: str) -> BinaryIO:
    fs, path = _file_system(url)
    try:
        stream = Remote(fs, path)
    except Exception as error:
        msg = f"{url} cannot be opened ({_reason(error)}); check the address and your permissions"
        raise TraceError(msg) from error
    return cast("BinaryIO", stream)


def _behind_url(url: str) -> tuple[list[TraceFile], str]:
    fs, path = _file_system(url)
    head, chained, chain = url.partition("::")
    # Behind the question mark of a web address come its own words, such as a signature.
    named = head.partition("?")[0] if head.startswith(("http://", "https://")) else head
    pattern = any(sign in named for sign in "*?[")

    def full(name: str) -> str:
        return str(fs.unstrip_protocol(name)) + chained + chain

    try:
        matched = [name for name in fs.glob(path) if not fs.isdir(name)] if pattern else []
        folder = bool(fs.isdir(path))
        there = folder or bool(fs.exists(path))
        names = _within(fs, path) if folder else []
    except Exception as error:
        msg = f"{url} cannot be listed ({_reason(error)}); check the address and your permissions"
        raise TraceError(msg) from error
    if pattern:
        return _chosen([full(name) for name in matched], url, url=True)
    if not there:
        msg = f"{url} does not exist; {_USAGE}"
        raise TraceError(msg)
    if not folder:
        # A run is not called by what only opens its file.
        called = named if named != head else url
        return [TraceFile(url, url=True)], called.rpartition("/")[2]
    traces = [full(name) for name in names]
    if not traces:
        msg = (
            f"{url} holds no traces: no file in it ends in {', '.join(SUFFIXES[:2])}, .zip or .tar"
        )
        raise TraceError(msg)
    return _chosen(traces, url.rstrip("/").rpartition("/")[2], url=True)


def _inside(fs: Any) -> bool:
    """Say whether a file system is inside a file."""
    return f"{fs.protocol}://" in INSIDE


def _within(fs: Any, path: str) -> list[str]:
    """Return the traces in a folder; in one inside an archive, those in its folders too."""
    if _inside(fs):
        return [str(name) for name in fs.find(path) if _is_trace(name) and "__MACOSX/" not in name]
    entries = [str(name) for name in fs.ls(path, detail=False)]
    found = [name for name in entries if _is_trace(name)]
    if found:
        return found
    inner = [name for name in entries if RANK_FOLDER.fullmatch(name.rstrip("/").rpartition("/")[2])]
    listed = [str(name) for folder in inner for name in fs.ls(folder, detail=False)]
    return [name for name in listed if _is_trace(name)]


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or str(error) or type(error).__name__)
