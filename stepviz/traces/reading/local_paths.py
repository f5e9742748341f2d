"""Paths of this machine as people write them: file addresses, patterns, links, pipes."""

from __future__ import annotations

import glob
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final
from urllib.parse import unquote

_FILE: Final = "file://"
_DRIVE: Final = re.compile(r"/[A-Za-z]:/")
#: So deep, and in so many folders, traces are looked for, to name the folder that was meant.
_DEEPEST: Final = 6
_MOST_FOLDERS: Final = 2_000


def of_file_url(text: str) -> str:
    """Return the path that a file address means, any other text as it is.

    Both spellings are read: with signs escaped, as `Path.as_uri` and browsers write them, and as
    they are.
    """
    if not text.startswith(_FILE) or ("::" in text and not exists(Path(text[len(_FILE) :]))):
        return text
    path = text[len(_FILE) :]
    path = path.removeprefix("localhost") if path.startswith("localhost/") else path
    path = path.removeprefix("/") if _DRIVE.match(path) and os.name == "nt" else path
    plain = unquote(path)
    if exists(Path(path)) or not (exists(Path(plain)) or exists(Path(plain).parent)):
        return path
    known = not exists(Path(plain)) and exists(Path(path).parent)
    return path if known else plain


def exists(path: Path) -> bool:
    """Say whether something is there, be it a link that leads nowhere, or not ours to see."""
    try:
        return path.exists() or path.is_symlink()
    except PermissionError:
        return True
    except (OSError, ValueError):
        return False


def is_file(path: Path) -> bool:
    """Say whether this is a file; what nobody lets us see may be one, and is refused by name."""
    try:
        return path.is_file()
    except PermissionError:
        return True


def leads_nowhere(path: Path) -> bool:
    """Say whether this is a link to what is not there, or to itself."""
    try:
        return path.is_symlink() and not path.exists()
    except PermissionError:
        return False
    except OSError:
        return True


def is_folder(path: Path) -> bool:
    """Say whether this is a folder that we may see."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def matches(pattern: str) -> list[str]:
    """Return the files that a pattern matches, but for hidden ones.

    Folders that are there are taken by their name, whatever signs it has: only what follows them
    is a pattern.
    """
    there = Path()
    parts = Path(pattern).parts
    known = 0
    for part in parts[:-1]:
        if not exists(there / part):
            break
        there /= part
        known += 1
    rest = Path(*parts[known:])
    found = glob.glob(str(Path(glob.escape(str(there))) / rest), recursive=True)  # noqa: PTH207  # `**`
    return [Path(name).as_posix() for name in found if not Path(name).is_dir()]


def once(names: Iterable[str]) -> list[str]:
    """Return names of files without those that are the same file by the same name.

    Links that lead back to a folder above show its files again and again, and people list a file
    twice; of several the shortest path stays, in the place of the first.
    """
    found: dict[tuple[str, str], str] = {}
    for name in names:
        key = (os.path.realpath(name), Path(name).name)
        kept = found.setdefault(key, name)
        if len(Path(name).parts) < len(Path(kept).parts):
            found[key] = name
    return list(found.values())


def below(folder: Path, is_trace: Callable[[str], bool]) -> Path | None:
    """Return the first folder further below that holds traces, None where none soon does."""
    for seen, (path, names) in enumerate(_folders(folder)):
        if seen >= _MOST_FOLDERS:
            break
        if any(is_trace(name) for name in names):
            return path
    return None


def _folders(folder: Path) -> Iterator[tuple[Path, list[str]]]:
    """Yield folders with the names of their files, outer ones first; links are not followed."""
    level = [folder]
    for _ in range(_DEEPEST):
        inner: list[Path] = []
        for path in level:
            try:
                with os.scandir(path) as listed:
                    entries = sorted(listed, key=lambda entry: entry.name)
            except OSError:
                continue
            inner += [Path(e.path) for e in entries if e.is_dir(follow_symlinks=False)]
            yield path, [e.name for e in entries if e.is_file(follow_symlinks=False)]
        level = inner


def opened(path: Path) -> BinaryIO:
    """Open a file; a pipe that nobody writes to is empty, not waited for.

    Raises
    ------
    OSError, ValueError
        Where it cannot be opened.
    """
    if not stat.S_ISFIFO(path.stat().st_mode):
        return path.open("rb")
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    os.set_blocking(number, True)
    return os.fdopen(number, "rb")
