"""Run a command ahead of everything else on a Linux machine that is busy with other things.

    python -m tools.undisturbed python -m tools.make_sample_runs

As root. Main threads take turns with each other (`SCHED_RR`); all other threads, which carry
exchange, come before them, since a network's own processor would not wait for compute either. With
one priority for all, each of the many messages of a gloo exchange waits for a turn of compute, and
exchange beside backward lasts several times as long.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_WATCHER: Final = 80
_EXCHANGE: Final = 60
_COMPUTE: Final = 50


def main() -> int:
    """Run the command that is given, and return its exit status."""
    _prefer(0, _WATCHER)
    with subprocess.Popen(["chrt", "--rr", str(_COMPUTE), *sys.argv[1:]]) as process:
        seen: set[int] = set()
        while process.poll() is None:
            time.sleep(0.05)
            for pid in (process.pid, *_descendants(process.pid)):
                for thread in set(_threads(pid)) - seen - {pid}:
                    seen.add(thread)
                    _prefer(thread, _EXCHANGE)
    return process.returncode


def _prefer(thread: int, priority: int) -> None:
    try:
        os.sched_setscheduler(thread, os.SCHED_RR, os.sched_param(priority))
    except ProcessLookupError:
        return  # it has ended meanwhile


def _threads(pid: int) -> list[int]:
    try:
        return [int(path.name) for path in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        return []


def _descendants(pid: int) -> Iterator[int]:
    for thread in _threads(pid):
        try:
            children = Path(f"/proc/{pid}/task/{thread}/children").read_text().split()
        except OSError:
            continue
        for child in children:
            yield int(child)
            yield from _descendants(int(child))


if __name__ == "__main__":
    sys.exit(main())
