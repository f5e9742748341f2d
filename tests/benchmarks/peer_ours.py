"""One measurement of stepviz in a fresh process, started by `tests.benchmarks.peers`."""

from __future__ import annotations

import json
import sys
import time
import warnings

import isal.igzip_lib  # noqa: F401  # else loaded at first use: the peer loads all

import stepviz.traces.graph.fine  # noqa: F401  # as above
from stepviz.traces import load_run


def memory(field: str) -> int:
    """Return a size of this process in bytes, as the kernel counts it (VmRSS, VmHWM, RssFile)."""
    with open("/proc/self/status", encoding="ascii") as lines:  # noqa: PTH123 - as light as may be
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))


def main() -> None:
    """Load, find the path, and say how long it took; a line on stdin starts it."""
    warnings.simplefilter("ignore")
    for known in sys.argv[2:]:
        load_run(known).step().critical_path  # noqa: B018 - what a first use costs is paid here
    imported, paged = memory("VmRSS"), memory("RssFile")
    print(json.dumps({"ready": True}), flush=True)  # noqa: T201 - the parent reads it
    sys.stdin.readline()
    begin = time.perf_counter()
    run = load_run(sys.argv[1])
    loaded = time.perf_counter()
    step = run.step()
    path = step.critical_path
    found = time.perf_counter()
    grown = memory("VmHWM") - imported
    code = memory("RssFile") - paged
    again = time.perf_counter()
    for number in run.steps.index:
        if number != step.number:
            run.step(number).critical_path  # noqa: B018 - a property that is worked out when asked
    every = time.perf_counter()
    unexplained = int(path.loc[path["kind"] == "unexplained", "duration_ns"].sum())
    answer = {
        "load_s": loaded - begin,
        "path_s": found - loaded,
        "paths_s": found - loaded + every - again,
        "growth": grown,
        "code": code,
        "explained": 1 - unexplained / step.completion_ns,
        "step": step.number,
        "marked": bool((run.steps["start_from"] != "whole trace").all()),
        "step_us": {rank: float(ns) / 1e3 for rank, ns in step.windows["duration_ns"].items()},
        "events": int(run.files["events"].sum()),
    }
    print(json.dumps(answer), flush=True)  # noqa: T201 - the parent reads it


if __name__ == "__main__":
    main()
