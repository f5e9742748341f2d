"""What Pyodide, and so JupyterLite, can do: everything but capturing, which needs processes.

Pyodide is CPython in WebAssembly, in a page. It has no threads, no processes and no sockets, some
modules of the standard library are missing, and of compiled packages it has only those that its
distribution carries. Its numbers here are those of Pyodide 314.0.7 (``pyodide-lock.json``, and
imports tried in it under Node), with Python 3.14.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

from packaging.markers import default_environment
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]

#: Packages of its distribution that we need, with their versions.
SHIPPED = {
    "fsspec": "2026.3.0",
    "ipython": "9.12.0",
    "msgspec": "0.20.0",
    "numpy": "2.4.6",
    "pandas": "3.0.2",
    "traitlets": "5.14.3",
    "typing-extensions": "4.15.0",
}
#: Compiled where a wheel fits, with a pure one beside it for everywhere else.
PURE_AS_WELL = {"psygnal"}
#: What cannot be imported there. vl_convert draws charts where no page does.
ABSENT = [
    *("distributed", "isal", "loky", "torch", "vl_convert"),
    *("_multiprocessing", "_posixshmem", "curses", "dbm", "grp", "pwd", "readline", "resource"),
    *("syslog", "test", "tkinter"),
]

ENVIRONMENT = default_environment() | {
    "os_name": "posix",
    "platform_machine": "wasm32",
    "platform_system": "Emscripten",
    "python_full_version": "3.14.2",
    "python_version": "3.14",
    "sys_platform": "emscripten",
    "extra": "",
}


def needs(requirements):
    """The requirements that count there."""
    parsed = [Requirement(text) for text in requirements]
    return [one for one in parsed if one.marker is None or one.marker.evaluate(ENVIRONMENT)]


def test_every_dependency_is_in_its_distribution_or_pure_python():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    waiting, seen = needs(project["dependencies"]), set()
    while waiting:
        requirement = waiting.pop()
        name = requirement.name.lower().replace("_", "-")
        if name in SHIPPED:
            assert requirement.specifier.contains(SHIPPED[name]), requirement
            continue
        if name in seen:
            continue
        seen.add(name)
        installed = metadata.distribution(name)
        wheel = installed.read_text("WHEEL") or ""
        assert re.search(r"^Tag: .*py3-none-any", wheel, re.MULTILINE) or name in PURE_AS_WELL, name
        waiting += needs(installed.requires or [])
    assert "ipywidgets" in seen  # something was looked at
    assert not seen & set(ABSENT)


AS_THERE = f"""
import importlib.abc, importlib.util, json, os, sys, sysconfig, threading

sysconfig.get_config_vars()  # read while this is still the machine that it is

class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {ABSENT!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

for name in {ABSENT!r}:
    assert name not in sys.modules, name
sys.meta_path.insert(0, Absent())
find_spec = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: (
    None if name.partition(".")[0] in {ABSENT!r} else find_spec(name, package)
)

def start(self):
    raise RuntimeError("can't start new thread")  # as Pyodide says

threading.Thread.start = start

REFUSED = {{
    *("os.fork", "os.forkpty", "os.posix_spawn", "os.exec", "os.system", "subprocess.Popen"),
    *("socket.connect", "socket.bind"),
}}

def refuse(event, arguments):
    if event in REFUSED:
        raise OSError(138, "emscripten does not support " + event)

sys.addaudithook(refuse)
os.cpu_count = lambda: 1
sys.platform = "emscripten"
"""


def run_as_there(code):
    """Run code in a Python that lacks what Pyodide lacks; returns what it printed last, decoded."""
    answer = subprocess.run(
        [sys.executable, "-c", AS_THERE + code],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout.splitlines()[-1])


def test_a_step_is_solved_edited_and_planned():
    said = run_as_there("""
import stepviz as sv

step = sv.lesson()
editor = sv.TimelineEditor(step)
shorter = editor.timeline.with_duration("exchange", 325).to_dict()
editor.set_state({"value": shorter, "_revision": {"page": "p", "number": 1}})
changes = {"e": sv.shorten("exchange", 100), "b": sv.shorten("backward", 100)}
plan = sv.TrainingPlan(parameters=7e9, tokens=100e9, devices=64, peak=300e12, mfu=0.4)
tokens = sv.TokenComparison().table.loc["scored targets per second"]
pipeline = sv.builders.pipeline(schedule="1f1b", stages=4, microbatches=8, forward=1, backward=2)
sv.RunPlanner(plan), sv.BucketExplorer([2.5e6] * 200, bandwidth=10, latency=0.5)
print(json.dumps({
    "solved": step.completion,
    "dragged": editor.schedule.completion,
    "alone, alone and together": sv.compare(step, changes)["gain"].tolist(),
    "ranked": sv.rank_changes(step, ms=100)["gain"].max(),
    "days": round(plan.days, 2),
    "targets": [round(tokens["before"], 2), round(tokens["after"], 2)],
    "pipeline": pipeline.completion,
}))
""")
    # What the lesson, the plan of 4.2e21 FLOP and 8 + 3 turns of 3 ms give by hand.
    assert said == {
        "solved": 750.0,
        "dragged": 725.0,
        "alone, alone and together": [50.0, 0.0, 100.0],
        "ranked": 200.0,
        "days": 6.33,
        "targets": [500.0, 666.67],
        "pipeline": 33.0,
    }


def test_traces_are_read_judged_and_looked_into():
    said = run_as_there("""
import stepviz as sv

run = sv.sample_run("long tail")
step = run.step()
sv.TraceViewer(step)
print(json.dumps([
    len(run.files),
    step.timeline().completion,
    int(step.critical_path["duration_ns"].sum()),
    sv.verdict(run, sv.sample_run("short tail")).decision,
]))
""")
    assert said == [2, 749.886, 749_886_000, "revert"]


def test_where_no_process_can_start_files_are_read_one_after_the_other():
    said = run_as_there("""
import warnings
from pathlib import Path
import stepviz as sv
from stepviz.traces.reading import workers

workers._WORTH_PROCESSES = 0
folder = Path(sv.__file__).parent / "data" / "long_tail"
with warnings.catch_warnings(record=True) as given:
    warnings.simplefilter("always")
    run = sv.load_run(folder)
print(json.dumps([len(run.files), [str(one.message) for one in given]]))
""")
    assert said[0] == 2
    assert len(said[1]) == 1
    assert "one after the other" in said[1][0]


def test_capturing_says_what_it_needs():
    said = run_as_there("""
import stepviz as sv

panel = sv.CapturePanel()
try:
    sv.capture(ranks=2)
except sv.CaptureError as error:
    said = str(error)
try:
    panel.start()
except sv.CaptureError as error:
    pressed = str(error)
print(json.dumps([said, pressed, panel.chosen]))
""")
    assert "needs torch" in said[0]
    assert "no process can be started here" in said[1]
    assert said[2].startswith("sample")  # recorded runs are there to look at


def test_what_is_compiled_among_the_loaded_is_in_its_distribution():
    said = run_as_there("""
import stepviz as sv

sv.TimelineEditor(sv.lesson()), sv.TraceViewer(sv.sample_run().step()), sv.CapturePanel()
site = sysconfig.get_path("platlib")
paths = [getattr(module, "__file__", None) or "" for module in list(sys.modules.values())]
compiled = [path for path in paths if path.endswith((".so", ".pyd")) and path.startswith(site)]
first = {os.path.relpath(path, site).split(os.sep)[0].partition(".")[0] for path in compiled}
print(json.dumps(sorted(first)))
""")
    assert "numpy" in said
    # what mypyc compiled is psygnal's, beside the package's folder
    assert {one for one in said if "mypyc" not in one} <= {*SHIPPED, *PURE_AS_WELL}


def bare_counts(source):
    """Calls that hand numpy counts or places in an array of whatever width."""
    found = []
    for call in ast.walk(ast.parse(source)):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            place = {"repeat": 1, "bincount": 0, "reduceat": 1}.get(call.func.attr)
            if place is not None and len(call.args) > place:
                given = ast.unparse(call.args[place])
                if not given.startswith(("as_index(", "len(", "list(", "[", "count", "together.")):
                    found.append(ast.unparse(call))
    return found


def test_numpy_is_handed_counts_as_wide_as_its_addresses():
    # Addresses have 32 bits there, and numpy refuses counts of 64.
    assert bare_counts("np.bincount(who)\nnp.repeat(a, 2 * n)") == [
        "np.bincount(who)",
        "np.repeat(a, 2 * n)",
    ]
    found = {
        path.name: calls
        for path in (ROOT / "stepviz").rglob("*.py")
        if "recording" not in path.parts and (calls := bare_counts(path.read_text("utf-8")))
    }
    assert found == {}
