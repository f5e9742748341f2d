"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from stepviz.errors import StepvizError


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write text as UTF-8; a file that is there is replaced once the new one is whole.

    Raises
    ------
    StepvizError
        Where it cannot be written.
    """
    write_bytes(path, text.encode("utf-8", "replace"))


def write_bytes(path: str | os.PathLike[str], content: bytes) -> None:
    """Write bytes; a file that is there is replaced once the new one is whole.

    Raises
    ------
    StepvizError
        Where it cannot be written.
    """
    target = target_of(path)
    try:
        with whole_file(target) as file:
            file.write(content)
    except (OSError, ValueError) as error:  # a name may hold what no file system takes
        why = getattr(error, "strerror", None) or error
        msg = f"{str(path)!r} cannot be written: {why}"
        raise StepvizError(msg) from error


def target_of(
    path: str | os.PathLike[str],
    *,
    sources: Iterable[str | os.PathLike[str]] = (),
    error: type[StepvizError] = StepvizError,
    example: str = "step.html",
) -> Path:
    """Return where a file would be written, unless that can be told now to be impossible.

    Parameters
    ----------
    path
        What the user gave.
    sources
        A run's own traces, which are never written over.
    error
        What is raised.
    example
        A path of the kind that is meant.

    Raises
    ------
    StepvizError
        Where it is no path, a folder, a device, read-only, in a folder that is not there, or one
        of the sources.
    """
    if not isinstance(path, str | os.PathLike) or not str(path).strip():
        msg = f"a file is saved under a path, such as {example!r}, not {path!r}"
        raise error(msg)
    try:
        target = Path(path).expanduser()
        folder, inside = target.is_dir(), target.parent.is_dir()
        mode = target.stat().st_mode if target.exists() else None
    except (OSError, RuntimeError, ValueError) as failure:
        msg = f"{str(path)!r} cannot be written: {failure}"
        raise error(msg) from failure
    if folder:
        msg = f"{str(path)!r} is a folder: give the name of a file in it"
        raise error(msg)
    if mode is not None and not stat.S_ISREG(mode):
        msg = f"{str(path)!r} is no ordinary file: give the name of one"
        raise error(msg)
    if mode is not None and not mode & 0o222:
        msg = f"{str(path)!r} is read-only: give another name, or make it writable"
        raise error(msg)
    if not inside:
        msg = f"there is no folder {str(target.parent)!r} to save {target.name!r} in: make it first"
        raise error(msg)
    if mode is not None and any(_same(target, source) for source in sources):
        msg = f"{str(path)!r} is one of the run's own traces: give the name of another file"
        raise error(msg)
    return target


def _same(target: Path, source: str | os.PathLike[str]) -> bool:
    try:
        return target.samefile(source)
    except (OSError, ValueError):
        # A source may be a part of an archive, gone, or on another machine.
        return False


@contextmanager
def whole_file(target: Path) -> Iterator[BinaryIO]:
    """Open a file under a name of its own that takes `target`'s place once it is whole.

    It has the rights of the one it replaces, else those of a new file.

    Raises
    ------
    OSError
        Where it cannot be written; what was there is as it was.
    """
    if target.is_symlink():
        target = target.resolve()  # the link stays, and leads to what is new
    temporary = target.with_name(f".{target.name[:40]}.{secrets.token_hex(4)}.part")
    try:
        with temporary.open("xb") as file:
            yield file
        if target.exists():
            temporary.chmod(target.stat().st_mode & 0o777)
        temporary.replace(target)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
