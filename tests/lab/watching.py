"""What a process and all it started hold in memory, watched, and stopped where it is too much.

A limit on address space would stop programs that reserve much and use little, and a cgroup of
one's own is not to be had everywhere. So the tree is looked at twenty times a second: the memory of
each process, a page that n of them share counting one n-th, added up. A container is charged
for that, and for files in the system's cache, which are dropped before anything is killed.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Self

import pytest

if TYPE_CHECKING:
    from types import TracebackType

POLL_SECONDS = 0.05

needs_proc = pytest.mark.skipif(
    not Path("/proc/self/smaps_rollup").exists(),
    reason="reads a process's memory from Linux's /proc",
)


class MemoryWatch:
    """Watch a process tree while the context is open; `peak` is the most it held, in bytes.

    A tree that holds more than `limit` bytes is killed, and the end of the context raises.
    """

    def __init__(self, pid: int, limit: int) -> None:
        self.pid = pid
        self.limit = limit
        self.peak = 0
        self._ended = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._watcher.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._watcher.join()
        assert self.peak <= self.limit, (
            f"killed: it held {self.peak / 2**20:.0f} MiB of the {self.limit / 2**20:.0f} allowed"
        )

    def _watch(self) -> None:
        while not self._ended.wait(POLL_SECONDS):
            tree = descendants(self.pid)
            self.peak = max(self.peak, sum(share_of(pid) for pid in tree))
            if self.peak > self.limit:
                for pid in tree:
                    with contextlib.suppress(OSError):
                        os.kill(pid, signal.SIGKILL)
                return


def descendants(pid: int) -> list[int]:
    """Return a process and all that it started, directly or not."""
    found, at = [pid], 0
    while at < len(found):
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{found[at]}/task").iterdir():
                with contextlib.suppress(OSError):
                    found += [int(word) for word in (task / "children").read_text().split()]
        at += 1
    return found


def share_of(pid: int) -> int:
    """Return what a process holds, in bytes; 0 once it is gone."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8").splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0
