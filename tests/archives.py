"""Wheel and sdist, built with what is installed: no build environment is downloaded."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.environments import ROOT


def build(out: Path) -> tuple[Path, Path]:
    """Build the sdist from the checkout and the wheel from the sdist; returns wheel, sdist."""
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (wheel,) = out.glob("*.whl")
    (sdist,) = out.glob("*.tar.gz")
    return wheel, sdist
