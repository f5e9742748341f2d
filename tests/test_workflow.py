"""Public CI runs the README's two commands, and its file is one that GitHub takes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml", reason="reads the workflow")

ROOT = Path(__file__).resolve().parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.y*ml"))


def commands(workflow):
    jobs = workflow["jobs"].values()
    return [step["run"] for job in jobs for step in job["steps"] if "run" in step]


def test_it_runs_the_two_commands():
    (path,) = WORKFLOWS
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert commands(workflow) == ["make test", "python tools/smoke_lab.py"]
    own = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "\nmake test\n" in own
    assert "tools/smoke_lab.py" in own
    smoke = (ROOT / "tools" / "smoke_lab.py").read_text(encoding="utf-8")
    assert '"make", "lab"' in smoke


def test_it_tries_the_oldest_python_that_is_supported():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (path,) = WORKFLOWS
    tried = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]["test"]["strategy"]["matrix"]
    assert project["requires-python"] == ">=" + min(
        tried["python"], key=lambda version: [int(part) for part in version.split(".")]
    )


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_it_is_what_github_takes(path):
    pytest.importorskip("check_jsonschema", reason="carries GitHub's schema of workflows")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema"]
    done = subprocess.run(
        [*command, "vendor.github-workflows", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
