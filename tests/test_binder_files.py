"""What repo2docker finds; `tests/lab/test_binder.py` makes an environment of it and uses it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BINDER = ROOT / "binder"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def lines(name):
    text = (BINDER / name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def test_the_image_gets_this_checkout_and_no_torch():
    assert lines("requirements.txt") == [".[lab]"]
    asked = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["lab"]]
    assert [name for name in asked if re.match(r"torch|altair|vl-convert|scipy", name)] == []


def test_its_python_is_one_that_stepviz_runs_on():
    (runtime,) = lines("runtime.txt")
    found = re.fullmatch(r"python-3\.(\d+)", runtime)
    least = re.fullmatch(r">=3\.(\d+)", PROJECT["requires-python"])
    assert int(found[1]) >= int(least[1])


def test_the_last_script_stops_at_an_error():
    script = (BINDER / "postBuild").read_text(encoding="utf-8")
    assert script.startswith("#!/usr/bin/env bash\n")
    assert "set -euo pipefail" in script


def test_links_open_the_notebook_that_make_lab_opens():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    start = re.search(r"^START_NOTEBOOK := (\S+)$", makefile, re.MULTILINE)[1]
    assert (ROOT / start).exists()
    guide = (ROOT / "docs" / "binder.md").read_text(encoding="utf-8")
    assert set(re.findall(r"lab/tree/(\S+\.ipynb)", guide)) == {start}
