"""How far each rank is, in a few bytes that it writes and its launcher reads.

A rank stamps its place into a small mapped file: cheap enough to do in every phase of every
step, and still readable when the rank has hung or died. What is said rarely (where it runs, what
failed, that its file is done) goes as lines of JSON into a second file.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

#: Where a rank finds its launcher's folder; absent under a user's own torchrun.
FOLDER: Final = "STEPVIZ_CAPTURE"
#: By what number it knows the agent that started it.
AGENT: Final = "STEPVIZ_CAPTURE_AGENT"

#: What a rank does, in the order of a step; a rank that is behind is earlier in it.
PLACES: Final = (
    "starting",
    "input",
    "forward",
    "backward",
    "waiting for gradients",
    "optimizer",
    "between steps",
    "writing its trace",
    "done",
)
_LAYOUT: Final = struct.Struct("<qqqqqq")  # pid, passes done, of, place, launched, stamp in ns


@dataclass(frozen=True)
class Standing:
    """Where a rank stood when it last said so.

    `passes` of `total` are done; in the current one it is at `place` and has launched so many
    exchanges.
    """

    pid: int
    passes: int
    total: int
    place: int
    launched: int
    stamp_ns: int

    @property
    def progress(self) -> tuple[int, int, int]:
        """What to compare ranks by: the least is behind."""
        return self.passes, self.launched, self.place

    @property
    def words(self) -> str:
        """Say where it stands, for people."""
        at = PLACES[self.place] if 0 <= self.place < len(PLACES) else "somewhere"
        if not self.total:
            return at
        noun = "exchange" if self.launched == 1 else "exchanges"
        after = f", after launching {self.launched} {noun}" if self.launched else ""
        return f"in {at} of pass {self.passes + 1} of {self.total}{after}"


class Stamps:
    """A rank's side: it stamps where it is.

    Without a folder (no launcher listens) stamps go nowhere.
    """

    def __init__(self, folder: Path | None, rank: int) -> None:
        self._memory: mmap.mmap | bytearray = bytearray(_LAYOUT.size)
        self._lines: Path | None = None
        self.passes = self.total = self.place = self.launched = 0
        if folder is not None:
            path = folder / f"rank{rank}.stamp"
            path.write_bytes(bytes(_LAYOUT.size))
            with path.open("r+b") as file:
                self._memory = mmap.mmap(file.fileno(), _LAYOUT.size)
            self._lines = folder / f"rank{rank}.said"
        self._pid = os.getpid()
        self.at("starting")

    def at(self, place: str) -> None:
        """Say what this rank does now."""
        self.place = PLACES.index(place)
        self._put()

    def launch(self) -> None:
        """Say that one more exchange of this pass was launched."""
        self.launched += 1
        self._put()

    def passed(self) -> None:
        """Say that a pass through the model is over."""
        self.passes += 1
        self.launched = 0
        self.at("between steps")

    def _put(self) -> None:
        _LAYOUT.pack_into(
            self._memory, 0, self._pid, self.passes, self.total, self.place, self.launched,
            time.time_ns(),
        )  # fmt: skip

    def say(self, **words: Any) -> None:
        """Write one line for the launcher."""
        if self._lines is not None:
            say(self._lines, words)


def say(path: Path, words: dict[str, Any]) -> None:
    """Append one line of JSON in one write, so that a reader never sees half of it."""
    line = (json.dumps({**words, "at_ns": time.time_ns()}) + "\n").encode()
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(handle, line)
    finally:
        os.close(handle)


def standing(folder: Path, rank: int) -> Standing | None:
    """Return where a rank stands, None before it has said so."""
    try:
        data = (folder / f"rank{rank}.stamp").read_bytes()
    except OSError:
        return None
    if len(data) != _LAYOUT.size:
        return None
    found = Standing(*_LAYOUT.unpack(data))
    return found if found.pid else None


def lines_said(path: Path) -> list[dict[str, Any]]:
    """Return what was said so far."""
    try:
        text = path.read_text()
    except OSError:
        return []
    return [json.loads(line) for line in text.split("\n")[:-1]]
