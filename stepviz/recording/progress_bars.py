"""A bar that moves: in a notebook, in a terminal, or nowhere."""

from __future__ import annotations

import html
import sys
import time
from importlib import import_module
from typing import Any, Final, Protocol

_WIDTH: Final = 28
#: A page or a terminal need not hear of more.
_AT_MOST_EVERY: Final = 0.1


class Bar(Protocol):
    """Shows how far a capture is."""

    def show(self, share: float, words: str) -> None:
        """Show a share from 0 to 1, and what is being done."""

    def line(self, text: str) -> None:
        """Show a line above it, to stay."""

    def close(self, words: str) -> None:
        """Show how it ended."""


class Quiet:
    """No bar: nobody looks, or nobody wants to."""

    def show(self, share: float, words: str) -> None:
        """Show nothing."""

    def line(self, text: str) -> None:
        """Print it: somebody asked for it."""
        print(text, flush=True)  # noqa: T201  # a rank's output, on demand

    def close(self, words: str) -> None:
        """Show nothing."""


class _Drawn:
    """What is on a screen already, and since when."""

    def __init__(self) -> None:
        self._shown: tuple[float, str] | None = None
        self._last = 0.0

    def _is_too_soon(self, share: float) -> bool:
        now = time.monotonic()
        if share < 1 and now - self._last < _AT_MOST_EVERY:
            return True
        self._last = now
        return False


class TerminalBar(_Drawn):
    """One line of a terminal, written over again."""

    def __init__(self, stream: Any) -> None:
        super().__init__()
        self._stream = stream

    def show(self, share: float, words: str) -> None:
        """Draw the bar."""
        if (share, words) == self._shown or self._is_too_soon(share):
            return
        self._shown = share, words
        full = round(share * _WIDTH)
        bar = "█" * full + "·" * (_WIDTH - full)
        self._write(f"\r\x1b[K{bar} {share:4.0%}  {words}")

    def line(self, text: str) -> None:
        """Print above the bar."""
        self._write(f"\r\x1b[K{text}\n")

    def close(self, words: str) -> None:
        """Leave one line."""
        self._write(f"\r\x1b[K{words}\n" if words else "\r\x1b[K")

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


class NotebookBar(_Drawn):
    """A cell's output, updated in place; what any front end can show."""

    def __init__(self) -> None:
        super().__init__()
        self._display: Any = import_module("IPython.display")
        self._handle: Any = None

    def show(self, share: float, words: str) -> None:
        """Draw the bar."""
        if (share, words) == self._shown or self._is_too_soon(share):
            return
        self._shown = share, words
        percent = f"{share:.0%}"
        self._put(
            f'<progress class="stepviz-capture" max="1" value="{share:.3f}" '
            f'aria-label="capture, {percent}" style="width:16em;vertical-align:middle"></progress> '
            f"<span>{percent} · {html.escape(words)}</span>",
            f"capture {percent}: {words}",
        )

    def line(self, text: str) -> None:
        """Print into the cell."""
        print(text, flush=True)  # noqa: T201  # a cell's output

    def close(self, words: str) -> None:
        """Leave words in place of the bar."""
        self._put(f'<span class="stepviz-capture">{html.escape(words)}</span>', words)

    def _put(self, markup: str, text: str) -> None:
        data = {"text/html": markup, "text/plain": text}
        if self._handle is None:
            self._handle = self._display.display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)


def bar_here(*, wanted: bool | None) -> Bar:
    """Return the bar for where this program runs; None: one wherever somebody would see it."""
    if wanted is False:
        return Quiet()
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is not None and getattr(shell, "kernel", None) is not None:
        return NotebookBar()
    if wanted or sys.stderr.isatty():
        return TerminalBar(sys.stderr)
    return Quiet()
