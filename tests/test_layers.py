"""The floors of the house: who may import whom, checked, and the check itself checked."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    # a fresh interpreter in that folder, so that the package found is the one lying there
    code = "import sys; sys.path.insert(0, '.'); from importlinter.cli import lint_imports_command"
    return subprocess.run(
        [sys.executable, "-c", f"{code}; lint_imports_command(['--no-cache'])"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_floor_imports_only_from_below():
    answer = lint_imports(ROOT)
    assert answer.returncode == 0, answer.stdout + answer.stderr


@pytest.mark.parametrize(
    ("room", "statement", "contract"),
    [
        ("core", "import stepviz.traces", "each floor imports only from the floors below it"),
        ("core", "import stepviz.builders", "each floor imports only from the floors below it"),
        ("builders", "import stepviz.traces", "each floor imports only from the floors below it"),
        ("traces", "import stepviz.widgets", "each floor imports only from the floors below it"),
        ("traces", "import torch", "only recording imports torch"),
        ("widgets", "import torch.profiler", "only recording imports torch"),
        ("throughput", "import stepviz.core", "each floor imports only from the floors below it"),
        ("throughput", "import torch", "only recording imports torch"),
        ("core", "import anywidget", "what computes knows no face"),
        ("core", "import networkx", "what only tests need is not imported"),
    ],
)
def test_a_forbidden_import_is_found(tmp_path, room, statement, contract):
    shutil.copytree(
        ROOT / "stepviz",
        tmp_path / "stepviz",
        ignore=shutil.ignore_patterns("frontend", "static", "data", "__pycache__"),
    )
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "stepviz" / room / "intruder.py").write_text(f"def f():\n    {statement}\n")
    answer = lint_imports(tmp_path)
    assert answer.returncode == 1, answer.stderr
    assert f"{contract} BROKEN" in answer.stdout
    assert f"stepviz.{room}.intruder" in answer.stdout


def test_a_room_without_a_floor_is_found(tmp_path):
    shutil.copytree(
        ROOT / "stepviz",
        tmp_path / "stepviz",
        ignore=shutil.ignore_patterns("frontend", "static", "data", "__pycache__"),
    )
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "stepviz" / "attic.py").write_text("")
    answer = lint_imports(tmp_path)
    assert answer.returncode == 1
    assert "attic" in answer.stdout
