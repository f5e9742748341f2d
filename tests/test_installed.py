"""The wheel in an environment that holds nothing else, used far from any checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import archives, environments

pytestmark = pytest.mark.slow

USERS_CODE = Path(__file__).parent / "users_code"


@dataclass(frozen=True)
class Installed:
    """An environment with the wheel, and a folder far from the checkout."""

    python: Path
    wheel: Path
    sdist: Path
    folder: Path

    def run(self, *command: str) -> str:
        """Run one of its programs there; returns what it printed."""
        program, *rest = command
        done = subprocess.run(
            [self.python.parent / program, *rest],
            cwd=self.folder,
            env=environments.outside(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def answer(self, code: str) -> object:
        """Run code that leaves ``answer``; returns it."""
        code = f"import json\n{code}\nprint(json.dumps(answer))"
        return json.loads(self.run("python", "-c", code))


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    wheel, sdist = archives.build(tmp_path_factory.mktemp("dist"))
    folder = tmp_path_factory.mktemp("elsewhere")
    home = tmp_path_factory.mktemp("installed") / "environment"
    return Installed(environments.fresh(home, str(wheel), cwd=folder), wheel, sdist, folder)


def test_it_is_the_wheel_and_nothing_is_amiss(installed):
    assert "No broken requirements" in installed.run("python", "-m", "pip", "check")
    home = installed.answer("import stepviz\nanswer = stepviz.__file__")
    assert Path(home).is_relative_to(installed.python.parents[1])
    missing = "import importlib.util as u\nanswer = [n for n in {} if u.find_spec(n)]"
    assert installed.answer(missing.format(["torch", "altair", "jupyterlab", "scipy"])) == []


def test_every_public_name_is_there_but_for_what_an_extra_brings(installed):
    code = "import stepviz as sv\nanswer = [n for n in sv.__all__ if getattr(sv, n) is None]"
    assert installed.answer(code) == []


def test_the_sample_run_answers(installed):
    code = """
import stepviz as sv

step = sv.sample_run().step()
answer = [step.replay().completion_ns == step.completion_ns, sv.lesson().completion]
"""
    assert installed.answer(code) == [True, 750.0]


def test_the_command_line_tells_the_sample(installed):
    told = json.loads(installed.run("stepviz", "explain", "--sample", "--json"))
    assert [rank["rank"] for rank in told["step"]["ranks"]] == [0, 1]
    said = installed.run("stepviz", "explain", "--sample").splitlines()
    assert 10 < len(said) < 60


def test_every_widget_hands_over_its_front_end(installed):
    code = """
import anywidget, ipywidgets
import stepviz as sv

made = {}
for name in sv.__all__:
    kind = getattr(sv, name)
    if isinstance(kind, type) and issubclass(kind, ipywidgets.DOMWidget):
        parts = [k for k in kind.__mro__ if k.__module__.startswith("stepviz")]
        made[name] = any("_esm" in vars(k) for k in parts) or issubclass(kind, ipywidgets.Box)
editor = sv.TimelineEditor(sv.lesson())
answer = [made, len(editor._esm), len(editor._css), editor.schedule.completion]
"""
    made, module, style, completion = installed.answer(code)
    assert {"TimelineEditor", "TraceViewer"} <= set(made)
    assert all(made.values()), made
    assert 10_000 < module < 200_000
    assert style > 1_000
    assert completion == 750.0


def test_the_sdist_makes_the_same_wheel(installed, tmp_path):
    build = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--quiet"]
    subprocess.run([*build, "-w", str(tmp_path), str(installed.sdist)], check=True)
    (again,) = tmp_path.glob("*.whl")
    assert contents(again) == contents(installed.wheel)


def contents(wheel: Path) -> dict[str, int]:
    return {info.filename: info.CRC for info in zipfile.ZipFile(wheel).infolist()}


# What a type checker sees of it.
def mypy(python: Path, *files: Path, folder: Path) -> None:
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", os.devnull]
    command += ["--python-executable", str(python), "--cache-dir", str(folder / "cache")]
    done = subprocess.run(
        [*command, *map(str, files)], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_strict_type_checker_knows_what_the_wheel_returns(installed, tmp_path):
    mypy(installed.python, USERS_CODE / "main_names.py", folder=tmp_path)


def test_a_strict_type_checker_knows_the_frames_too(tmp_path):
    """pandas has its types in a package of their own, which is in the tests' environment."""
    assert (Path(sysconfig.get_paths()["purelib"]) / "pandas-stubs").exists()
    files = sorted(USERS_CODE.glob("*.py"))
    mypy(Path(sys.executable), *files, folder=tmp_path)
    for path in files:
        subprocess.run([sys.executable, str(path)], cwd=tmp_path, check=True, capture_output=True)
