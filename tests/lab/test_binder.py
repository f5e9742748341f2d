"""The classroom: an environment from the files in ``binder/``, 2 GB, and a slow line to it.

Docker is not needed: what repo2docker would install and run is installed and run here.
"""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import environments
from tests.lab import start_notebook, watching
from tools import jupyter_lab

pytestmark = watching.needs_proc

#: What a class gets from a public Binder.
LIMIT = 2 * 10**9
COURSE = sorted(path.name for path in (environments.ROOT / "notebooks").glob("*.ipynb"))

EXECUTE = """
import importlib.util, sys
import nbclient, nbformat

assert importlib.util.find_spec("torch") is None
notebook = nbformat.read(sys.argv[1], as_version=4)
nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
"""


@dataclass(frozen=True)
class Classroom:
    """A checkout, and the environment made from it as repo2docker makes it."""

    checkout: Path
    python: Path

    def variables(self) -> dict[str, str]:
        """Return what a program there finds in its environment."""
        inside = environments.outside()
        return inside | {"PATH": os.pathsep.join([str(self.python.parent), inside["PATH"]])}


@pytest.fixture(scope="module")
def classroom(tmp_path_factory: pytest.TempPathFactory) -> Classroom:
    """Make it: the requirements, installed in the checkout's root, then postBuild."""
    checkout = environments.clone(tmp_path_factory.mktemp("checkout"))
    home = tmp_path_factory.mktemp("classroom") / "environment"
    python = environments.fresh(home, "-r", "binder/requirements.txt", cwd=checkout)
    room = Classroom(checkout, python)
    subprocess.run(["binder/postBuild"], cwd=checkout, env=room.variables(), check=True)
    return room


@pytest.mark.parametrize("name", COURSE)
def test_every_notebook_runs_in_two_gigabytes_and_without_torch(
    classroom, name, record_testsuite_property, tmp_path
):
    command = [classroom.python, "-c", EXECUTE, name]
    said = tmp_path / "said"
    with said.open("w") as out:
        runner = subprocess.Popen(
            command,
            cwd=classroom.checkout / "notebooks",
            env=classroom.variables(),
            stdout=out,
            stderr=out,
        )
        with watching.MemoryWatch(runner.pid, LIMIT) as watch:
            assert runner.wait(300) == 0, said.read_text()[-3000:]
    record_testsuite_property(f"peak_mb of {name}", round(watch.peak / 1e6))
    assert watch.peak > 50e6  # it did look


def test_no_pop_up_lies_over_the_widgets(classroom):
    listed = subprocess.run(
        ["jupyter", "labextension", "list", "--verbose"],
        env=classroom.variables(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert "@jupyterlab/apputils-extension:announcements" in listed.stdout + listed.stderr


@pytest.fixture(scope="module")
def lab(classroom, tmp_path_factory, record_testsuite_property):
    """Take the place of the tests' own JupyterLab, and keep an eye on all it holds."""
    scratch = tmp_path_factory.mktemp("lab")
    serving = jupyter_lab.serve(classroom.checkout, scratch, python=str(classroom.python))
    with serving as url:
        (about,) = (scratch / "run").glob("jpserver-*.json")
        with watching.MemoryWatch(json.loads(about.read_text())["pid"], LIMIT) as watch:
            yield url
        record_testsuite_property("peak_mb_of_server_and_kernels", round(watch.peak / 1e6))


@pytest.mark.parametrize("latency", [75, 150])
def test_the_start_notebook_drags_from_far_away(open_notebook, latency):
    start_notebook.drag_the_optimizer_to_50_ms(open_notebook(start_notebook.START, latency=latency))
