"""Processes that end with the one that started them, whatever kills it."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

#: How often a process looks whether its parent is still there, s.
LOOK: Final = 0.25
_PR_SET_PDEATHSIG: Final = 1
#: For so long it is tried to take a folder away, s.
_CLEANING_S: Final = 5.0


def end_with_parent(then: Callable[[], None] | None = None, parent: int | None = None) -> None:
    """End this process, and its group where it leads one, as soon as its parent is gone.

    Linux's kernel does it at once; a thread that looks at the parent's id does it everywhere,
    and runs `then` before.

    Parameters
    ----------
    then
        What to do before.
    parent
        Who started this process: it may be gone already. By default whoever is its parent now.
    """
    parent = os.getppid() if parent is None else parent

    def look() -> None:
        while os.getppid() == parent:
            time.sleep(LOOK)
        if then is not None:
            with suppress(Exception):
                then()
        end_own_group()

    threading.Thread(target=look, name="stepviz tether", daemon=True).start()
    if then is None and sys.platform.startswith("linux"):
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it went while this was set up
        end_own_group()


def end_own_group() -> None:
    """End this process now, with its children where it leads their group."""
    if os.getpgid(0) == os.getpid():
        with suppress(OSError):
            os.killpg(0, signal.SIGKILL)
    os._exit(1)


def end_group(leader: int) -> None:
    """Kill a process that leads a group, with all of it; leave any other process alone."""
    with suppress(OSError):
        if os.getpgid(leader) == leader:
            os.killpg(leader, signal.SIGKILL)


def remove(folder: Path) -> None:
    """Take a folder away with all in it; what is being killed may still make a file meanwhile."""
    until = time.monotonic() + _CLEANING_S
    while True:
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists() or time.monotonic() > until:
            return
        time.sleep(0.02)
