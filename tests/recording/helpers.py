"""What tests of captures share: the smallest capture, and who still works on one."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
#: The smallest run that still has every part.
QUICK = {
    "layers": 1, "width": 32, "heads": 2, "vocabulary": 64, "sequence": 8, "warmup": 2, "timed": 0,
    "steps": 1, "sweep": False, "progress": False,
}  # fmt: skip


def require_torch() -> None:
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed, and captures need it")


def capture_processes(folder: Path) -> list[int]:
    """Return the processes that work on a capture into a folder of tests."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().decode(errors="replace")
        except OSError:
            continue
        if "stepviz.recording" in words and str(folder) in words:
            found.append(int(path.parent.name))
    return found
