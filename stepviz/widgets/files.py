"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

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
        _write(target, content)
    except (OSError, ValueError) as error:  # a name may hold what no file system takes
        why = getattr(error, "strerror", None) or error
        msg = f"{str(path)!r} cannot be written: {why}"
        raise StepvizError(msg) from error


def target_of(path: str | os.PathLike[str]) -> Path:
    """Return where a file would be written, unless that can be told now to be impossible.

    Raises
    ------
    StepvizError
        Where it is no path, a folder, a device, read-only, or in a folder that is not there.
    """
    if not isinstance(path, str | os.PathLike) or not str(path).strip():
        msg = f"a file is saved under a path, such as 'step.html', not {path!r}"
        raise StepvizError(msg)
    try:
        target = Path(path).expanduser()
        folder, inside = target.is_dir(), target.parent.is_dir()
        mode = target.stat().st_mode if target.exists() else None
    except (OSError, RuntimeError, ValueError) as error:
        msg = f"{str(path)!r} cannot be written: {error}"
        raise StepvizError(msg) from error
    if folder:
        msg = f"{str(path)!r} is a folder: give the name of a file in it"
        raise StepvizError(msg)
    if mode is not None and not stat.S_ISREG(mode):
        msg = f"{str(path)!r} is no ordinary file: give the name of one"
        raise StepvizError(msg)
    if mode is not None and not mode & 0o222:
        msg = f"{str(path)!r} is read-only: give another name, or make it writable"
        raise StepvizError(msg)
    if not inside:
        msg = f"there is no folder {str(target.parent)!r} to save {target.name!r} in: make it first"
        raise StepvizError(msg)
    return target


def _write(target: Path, content: bytes) -> None:
    if target.is_symlink():
        target = target.resolve()  # the link stays, and leads to what is new
    handle, name = tempfile.mkstemp(
        dir=target.parent, prefix=f".{target.name[:40]}.", suffix=".part"
    )
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~mask)
        Path(name).replace(target)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise
