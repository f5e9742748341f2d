"""Fresh environments, as somebody has who just met the project."""

from __future__ import annotations

import os
import shutil
import subprocess
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

#: What pip says where no package index can be reached.
NO_INDEX = (
    "Could not fetch URL",
    "Failed to establish a new connection",
    "No matching distribution",
)


def tracked(*folders: str) -> set[str]:
    """Files that git knows, which is what a fresh clone holds."""
    listed = subprocess.run(
        ["git", "ls-files", "--", *folders], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return {name for name in listed.stdout.splitlines() if (ROOT / name).exists()}


def clone(to: Path) -> Path:
    """Copy the files that git knows, as they are now."""
    for name in tracked():
        target = to / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target)
    return to


def outside() -> dict[str, str]:
    """Return this process's variables without those that lead back into its environment."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    kept.pop("VIRTUAL_ENV", None)
    return kept | {"PYTHONNOUSERSITE": "1"}


def fresh(home: Path, *what: str, cwd: Path) -> Path:
    """Make an environment with nothing but what pip installs for ``what``; returns its Python.

    Skips the test where no package index can be reached, except in CI.
    """
    venv.create(home, with_pip=True)
    python = home / "bin" / "python"
    done = subprocess.run(
        [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *what],
        cwd=cwd,
        env=outside(),
        capture_output=True,
        text=True,
        check=False,
    )
    unreachable = any(sign in done.stderr for sign in NO_INDEX)
    if done.returncode and unreachable and not os.environ.get("CI"):
        pytest.skip(f"no package index: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    return python
