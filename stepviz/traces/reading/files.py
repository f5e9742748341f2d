"""Which files a source means, and one file's rows or one clear error that names it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

from stepviz.errors import TraceError
from stepviz.traces.reading.document import SUFFIXES, RawTrace, read_trace
from stepviz.traces.reading.rows import RankRows, rank_of, rows_of

Source = str | PathLike[str] | Iterable[str | PathLike[str]]


def trace_paths(source: Source) -> tuple[list[Path], str]:
    """Return the files a source means, rank10 after rank9, and a name for them all.

    Raises
    ------
    TraceError
        Where it means none: it does not exist, holds no traces, or is no path at all.
    """
    if isinstance(source, (str, PathLike)):
        path = _path(source)
        if not str(source):
            msg = "the path is empty; pass a folder of traces, a trace file, or a list of files"
            raise TraceError(msg)
        if path.is_dir():
            return _in_folder(path), path.resolve().name
        if not path.exists() and not path.is_symlink():
            msg = f"{path} does not exist; pass a folder of traces, a trace file, or a list of them"
            raise TraceError(msg)
        return [path], path.name
    if isinstance(source, (bytes, bytearray)) or not isinstance(source, Iterable):
        msg = f"{source!r} is no path; pass a folder of traces, a trace file, or a list of files"
        raise TraceError(msg)
    paths = [_path(item) for item in source]
    if not paths:
        msg = "the list of files is empty; pass at least one trace file"
        raise TraceError(msg)
    if all(path.is_dir() for path in paths):
        msg = (
            f"{len(paths)} folders are too many: one is one capture; load each by itself, or pass "
            "the files of one capture"
        )
        if len(paths) > 1:
            raise TraceError(msg)
        return trace_paths(paths[0])
    return paths, ", ".join(sorted({path.absolute().parent.name for path in paths}))


def _path(item: object) -> Path:
    if not isinstance(item, (str, PathLike)) or isinstance(item, bytes):
        msg = f"{item!r} is no path; pass a folder of traces, a trace file, or a list of files"
        raise TraceError(msg)
    return Path(item)


def _in_folder(folder: Path) -> list[Path]:
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        msg = f"{folder} cannot be listed ({error.strerror}); check its permissions"
        raise TraceError(msg) from error
    # A link that leads nowhere is a file somebody meant: it is refused by name, not passed over.
    found = [p for p in entries if _is_trace(p) and (p.is_file() or not p.exists())]
    if found:
        return sorted(found, key=_natural)
    inner = [p.name for p in entries if p.is_dir() and any(map(_is_trace, _listed(p)))]
    if inner:
        shown = ", ".join(inner[:4]) + (", …" if len(inner) > 4 else "")
        msg = f"{folder} holds no traces itself, but its folders do: {shown}; pass one of them"
        raise TraceError(msg)
    msg = (
        f"{folder} holds no traces: no file in it ends in {' or '.join(SUFFIXES)}; pass the "
        "folder the profiler wrote to"
    )
    raise TraceError(msg)


def _listed(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _is_trace(path: Path) -> bool:
    return path.name.lower().endswith(SUFFIXES) and not path.name.startswith(".")


def _natural(path: Path) -> list[tuple[int, str]]:
    """Order rank10 after rank9."""
    parts: list[tuple[int, str]] = []
    digits = ""
    for letter in path.name + "\0":
        if letter.isdigit():
            digits += letter
            continue
        if digits:
            parts.append((int(digits), ""))
            digits = ""
        parts.append((-1, letter))
    return parts


def rows_of_file(path: Path, *, ranks_free: bool) -> RankRows:
    """Read one file; without a rank it is refused, unless it is the only one (`ranks_free`)."""
    with told(path):
        raw: RawTrace = read_trace(path)
        rank, rank_source = rank_of(raw)
        if rank is None:
            if not ranks_free:
                msg = (
                    f"{path} does not say its rank, neither in distributedInfo nor in its name "
                    "nor by its process groups; rename it to rank0.json, rank1.json, …"
                )
                raise TraceError(msg)
            rank, rank_source = 0, "assumed, the only file"
        return rows_of(raw, rank, rank_source)


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Turn what no check foresaw into one clear error that names the file."""
    try:
        yield
    except TraceError:
        raise
    except (ValueError, TypeError, KeyError, IndexError, OverflowError, AttributeError) as error:
        msg = (
            f"{path} is not built like a profiler trace ({type(error).__name__}: {error}); "
            "leave it out, and report it with the file if the profiler wrote it"
        )
        raise TraceError(msg) from error


def refuse_second(path: Path, rank: int, first: Path) -> None:
    """Refuse a second file of one rank."""
    msg = (
        f"{path} says it is rank {rank}, and so does {first}: the first is used and this one "
        "left out; pass a list with the files of one capture to choose yourself"
    )
    raise TraceError(msg)


def nothing_read(name: str, reasons: list[str]) -> str:
    """Say why a run has no rank at all."""
    if len(reasons) == 1:
        return reasons[0]
    shown = "; ".join(reasons[:3])
    more = f"; and {len(reasons) - 3} more" if len(reasons) > 3 else ""
    return f"{name}: none of {len(reasons)} files could be read: {shown}{more}"
