"""Make sure that there is a Chromium for the browser tests; safe to repeat.

Uses $CHROMIUM or the system's where there is one; else installs the distribution's package when
root and apt is there; else lets Playwright fetch its own. Run it as
``.venv/bin/python -m tools.setup_browser``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tools.find_chromium import RECORD, ChromiumNotFoundError, find_chromium


def say(text: str) -> None:
    """Tell the person what is being done."""
    print(f"-- {text}", flush=True)


def install_with_apt() -> bool:
    """Install the distribution's Chromium; only as root, and only where apt is."""
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return False
    say("installing Chromium from the distribution's packages: this takes a minute")
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for command in (["apt-get", "update"], ["apt-get", "install", "-y", "chromium"]):
        subprocess.run(command, check=False, stdout=subprocess.DEVNULL, env=environment)
    # On Ubuntu the package `chromium` may be a stub for a snap; a browser that starts is the test.
    return starts(find_chromium())


def install_with_playwright() -> bool:
    """Let Playwright download its own Chromium and write down where it is."""
    say("letting Playwright download its own Chromium: this takes minutes")
    install = [sys.executable, "-m", "playwright", "install", "chromium"]
    if subprocess.run(install, check=False).returncode != 0:
        return False
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = Path(playwright.chromium.executable_path)
    RECORD.write_text(str(path), encoding="utf-8")
    return starts(path)


def starts(path: Path | None) -> bool:
    """Whether this browser runs at all."""
    if path is None:
        return False
    answer = subprocess.run([path, "--version"], check=False, capture_output=True)
    return answer.returncode == 0


def main() -> None:
    """Find or install a Chromium, or say what to do."""
    try:
        path = find_chromium()
    except ChromiumNotFoundError as error:
        sys.exit(f"stepviz set-up: {error}")
    if starts(path):
        return
    if path is not None:
        say(f"{path} does not start; looking for another")
    if install_with_apt() or install_with_playwright():
        say(f"Chromium: {find_chromium()}")
        return
    sys.exit(
        "stepviz set-up: there is no Chromium and none could be installed. Install Chromium or "
        "Google Chrome yourself, or set CHROMIUM to the path of one, and run make again."
    )


if __name__ == "__main__":
    main()
