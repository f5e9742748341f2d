"""Find a Chromium that tests and screenshots can drive.

Used by the set-up (``tools/setup_browser.py``), by the tests and by ``tools/screenshot.py``, so
that one list of places serves all of them.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

# Written by tools/setup_browser.py: where Playwright put its own browser, when it had to.
RECORD = Path(__file__).resolve().parents[1] / ".venv" / "chromium-path"

COMMANDS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MAC_APPS = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)

# Keeps Chromium from talking to anyone but the page under test.
FLAGS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

HOW_TO_GET_ONE = (
    "no Chromium was found. Run `make test` once, which installs one; or install Chromium or "
    "Google Chrome yourself; or set CHROMIUM to the path of one."
)


class ChromiumNotFoundError(RuntimeError):
    """No usable Chromium; the message says what to do."""


def find_chromium() -> Path | None:
    """Return the path of a Chromium: $CHROMIUM, the system's, then the one Playwright installed.

    Raises
    ------
    ChromiumNotFoundError
        When $CHROMIUM is set and names nothing that exists.
    """
    named = os.environ.get("CHROMIUM")
    if named:
        path = shutil.which(named)
        if path is None:
            msg = f"CHROMIUM is set to {named!r}, but no such program exists. Mend it or unset it."
            raise ChromiumNotFoundError(msg)
        return Path(path)
    for command in COMMANDS:
        path = shutil.which(command)
        if path is not None:
            return Path(path)
    for app in MAC_APPS:
        if Path(app).exists():
            return Path(app)
    if RECORD.exists():
        recorded = Path(RECORD.read_text(encoding="utf-8").strip())
        if recorded.exists():
            return recorded
    return None


def require_chromium() -> Path:
    """Return the path of a Chromium, or raise ``ChromiumNotFoundError`` saying how to get one."""
    path = find_chromium()
    if path is None:
        raise ChromiumNotFoundError(HOW_TO_GET_ONE)
    return path
