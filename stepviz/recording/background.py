"""A capture beside a notebook's kernel, which stays free: told how far it is, and stopped."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from stepviz.errors import CaptureError
from stepviz.recording.captures import _captured, _needs_torch, _target, cannot_write
from stepviz.recording.options import Options
from stepviz.traces import Run

#: Interrupting a kernel interrupts its whole group, so this child ends although the kernel, which
#: is idle, takes no notice. It ends with us as well: its input closes.
_SENTRY: Final = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); sys.stdin.buffer.read()"
)


class Stopped(CaptureError):  # noqa: N818  # what somebody wanted, not what went wrong
    """The capture was stopped, and every process of it ended."""


class BackgroundCapture:
    """One capture in a thread; begins when made.

    Parameters
    ----------
    options : Options
        What to capture.
    target : Path
        Where its files go, as `place_for` returns it.
    told : callable
        Called in the thread with a share from 0 to 1 and what is being done.
    ended : callable
        Called in the thread, last, with the run, or with what went wrong.
    """

    def __init__(
        self,
        options: Options,
        target: Path,
        told: Callable[[float, str], None],
        ended: Callable[[Run | None, BaseException | None], None],
    ) -> None:
        self._told, self._ended = told, ended
        self._why = ""
        try:
            self._sentry = subprocess.Popen(  # noqa: S603  # our own line of Python
                [sys.executable, "-I", "-S", "-c", _SENTRY],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:  # in a page, say
            msg = (
                f"no process can be started here ({error}), and a capture is several; capture "
                "where one can, and read the traces here"
            )
            raise CaptureError(msg) from error
        # A daemon: whoever leaves Python does not wait for it, and the agent takes the ranks along.
        self._thread = threading.Thread(
            target=self._run, args=(options, target), name="stepviz capture", daemon=True
        )
        self._thread.start()

    @property
    def running(self) -> bool:
        """Whether it is still at work."""
        return self._thread.is_alive()

    def stop(self) -> None:
        """Let it end every process and clear up; `wait` waits until it has."""
        self._why = self._why or "stopped"

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it has ended; say whether it has."""
        self._thread.join(timeout)
        return not self.running

    # As the launcher's bar

    def show(self, share: float, words: str) -> None:
        """Tell how far it is; end the capture where it is to stop."""
        if self._sentry.poll() is not None:
            self._why = self._why or "interrupted"
        if self._why:
            msg = f"the capture was {self._why}; every process of it has ended, and nothing is kept"
            raise Stopped(msg)
        self._told(share, words)

    def line(self, text: str) -> None:
        """Show nothing: ranks' output was not asked for."""

    def close(self, words: str) -> None:
        """Show nothing: how it ended is told as a run or an error."""

    def _run(self, options: Options, target: Path) -> None:
        found: Run | None = None
        problem: BaseException | None = None
        try:
            found = _captured(options, target, self, output=False)
        except BaseException as error:  # noqa: BLE001  # told to whoever waits
            problem = error
        finally:
            self._dismiss()
        self._ended(found, problem)

    def _dismiss(self) -> None:
        if self._sentry.stdin is not None:
            with suppress(OSError):
                self._sentry.stdin.close()
        try:
            self._sentry.wait(2)
        except subprocess.TimeoutExpired:
            self._sentry.send_signal(signal.SIGKILL)
            self._sentry.wait()


def place_for(folder: Path | None, number: int) -> Path:
    """Return where the files of one of several captures go: a new folder below `folder`.

    Raises
    ------
    CaptureError
        Where none can be there.
    """
    if folder is None:
        return _target(None, overwrite=False)
    try:
        # What another panel is at work on shows by the folder it works in.
        names = {path.name for path in folder.iterdir()} if folder.exists() else set()
    except OSError as error:
        raise CaptureError(cannot_write(folder, error)) from None
    at_work = tuple(name[1:] for name in names if name.startswith(".run-"))
    while f"run-{number}" in names or any(n.startswith(f"run-{number}-") for n in at_work):
        number += 1
    return _target(folder / f"run-{number}", overwrite=False)


def kept_folder(given: str | os.PathLike[str] | None) -> Path | None:
    """Return the folder in which a panel keeps its runs, None for where `capture` keeps them.

    Raises
    ------
    CaptureError
        Where that is no folder, and can't become one.
    """
    if given is None:
        return None
    try:
        folder = Path(os.path.abspath(Path(given).expanduser()))  # noqa: PTH100  # keeps links as given
        there = next(one for one in (folder, *folder.parents) if one.exists())
        if not there.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        if not os.access(there, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except TypeError:
        msg = f"folder is {given!r}: give a path, or nothing for where sv.capture keeps its runs"
        raise CaptureError(msg) from None
    except (ValueError, RuntimeError) as error:
        msg = f"folder is {given!r}, which is no path ({error}); give another"
        raise CaptureError(msg) from None
    except OSError as error:
        raise CaptureError(cannot_write(Path(given).absolute(), error)) from None
    return folder


def why_none_here() -> str:
    """Return why nothing can be captured on this machine, "" where it can."""
    try:
        _needs_torch()
    except CaptureError as error:
        return str(error)
    return ""
