"""The package as a whole: what importing it costs, what it exports, what its archives hold."""

from __future__ import annotations

import doctest
import importlib
import inspect
import json
import pkgutil
import statistics
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import stepviz as sv
from tests import archives as archives_of
from tests.environments import tracked

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "stepviz"

# recording is the only room that needs torch, which may be absent
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages([str(PACKAGE)], "stepviz.")
    if not module.name.startswith("stepviz.recording") and ".frontend" not in module.name
)

HEAVY = {
    "IPython",
    "altair",
    "anywidget",
    "ipywidgets",
    "jupyter_core",
    "jupyterlab",
    "matplotlib",
    "networkx",
    "scipy",
    "torch",
    "traitlets",
}


def run_python(code: str) -> str:
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return answer.stdout


# What importing it costs.
def test_import_is_light():
    loaded = json.loads(
        run_python("import stepviz, sys, json; print(json.dumps(sorted(sys.modules)))")
    )
    assert HEAVY & {name.partition(".")[0] for name in loaded} == set()


@pytest.mark.alone
def test_import_takes_at_most_a_fifth_longer_than_pandas():
    timing = "import time; t = time.perf_counter(); import {}; print(time.perf_counter() - t)"
    ratios = []
    # Turn about, so that a busy moment hits both of a pair; the median forgets odd pairs.
    for turn in range(25):
        pandas = float(run_python(timing.format("pandas")))
        ratios.append(float(run_python(timing.format("stepviz"))) / pandas)
        if turn >= 6 and statistics.median(ratios) <= 1.2:
            break
    assert statistics.median(ratios) <= 1.2


# What it calls things.
def public_functions() -> set[str]:
    names = {name for name in sv.__all__ if inspect.isroutine(getattr(sv, name))}
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        for name in getattr(module, "__all__", ()):
            if inspect.isroutine(getattr(module, name)):
                names.add(name)
    return names


def test_no_module_bears_the_name_of_a_public_function():
    module_names = {part for name in MODULES for part in name.split(".")}
    assert module_names & public_functions() == set()


def test_every_exported_name_exists_and_is_listed_once():
    for module_name in ["stepviz", *MODULES]:
        module = importlib.import_module(module_name)
        exported = list(getattr(module, "__all__", ()))
        assert len(exported) == len(set(exported)), module_name
        for name in exported:
            assert hasattr(module, name), f"{module_name}.__all__ names {name}, which is not there"


def test_everything_public_is_exported():
    public = {
        name
        for name in dir(sv)
        if not name.startswith("_") and not inspect.ismodule(getattr(sv, name))
    }
    # `from __future__ import annotations` leaves a name of its own
    assert public - {"annotations", "TYPE_CHECKING"} == {
        name for name in sv.__all__ if not name.startswith("_")
    }


def test_lazy_names_are_in_dir_before_they_load():
    shown = json.loads(
        run_python("import stepviz, json; print(json.dumps([stepviz.__all__, dir(stepviz)]))")
    )
    assert set(shown[0]) <= set(shown[1])


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_thing"):
        _ = sv.no_such_thing


def test_everything_exported_is_documented():
    bare = [
        name
        for name in sv.__all__
        if callable(getattr(sv, name)) and not inspect.getdoc(getattr(sv, name))
    ]
    assert bare == []


@pytest.mark.parametrize("name", ["stepviz", *MODULES])
def test_examples_in_docstrings_are_true(name):
    answer = doctest.testmod(
        importlib.import_module(name),
        extraglobs={"sv": sv},
        optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS,
    )
    assert answer.failed == 0


# What its archives hold.
@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    return archives_of.build(tmp_path_factory.mktemp("dist"))


def test_the_wheel_holds_the_package_and_its_bundle_but_not_the_sources_of_the_front_end(archives):
    wheel, _ = archives
    inside = set(zipfile.ZipFile(wheel).namelist())
    package = {name for name in inside if name.startswith("stepviz/")}
    expected = {n for n in tracked("stepviz") if not n.startswith("stepviz/widgets/frontend/")}
    assert package == expected
    assert {"stepviz/py.typed", "stepviz/widgets/static/editor.js"} <= package
    assert any(name.startswith("stepviz/data/") for name in package)
    rest = {name.split("/", 1)[1] for name in inside - package}
    assert rest == {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"}


def test_the_sdist_holds_the_sources_of_the_front_end_but_nothing_installed(archives):
    _, sdist = archives
    with tarfile.open(sdist) as archive:
        inside = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    assert {"pyproject.toml", "LICENSE", "README.md", "CHANGELOG.md"} <= inside
    assert tracked("stepviz", "tests", "tools") <= inside
    assert {"stepviz/widgets/frontend/package.json"} <= inside
    assert not [name for name in inside if "node_modules" in name or "__pycache__" in name]


def test_the_wheel_asks_for_neither_torch_nor_jupyterlab_by_default(archives):
    wheel, _ = archives
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = [n for n in archive.namelist() if n.endswith(".dist-info/METADATA")]
        lines = archive.read(metadata).decode().splitlines()
    required = [line for line in lines if line.startswith("Requires-Dist:")]
    always = {line.split()[1].split(">")[0] for line in required if "extra ==" not in line}
    reading = {"msgspec", "isal", "fsspec", "loky"}
    assert always == {"numpy", "pandas", "anywidget", "ipywidgets"} | reading


def test_an_error_that_is_shown_is_a_paragraph_and_no_markup():
    error = sv.ThroughputError("give peak=<FLOP/s> & a device")
    assert error._repr_html_() == (
        "<p><b>ThroughputError</b>: give peak=&lt;FLOP/s&gt; &amp; a device</p>"
    )
