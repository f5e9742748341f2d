"""One measurement of HolisticTraceAnalysis, in its own environment, started by `peers`.

Its critical path is one rank's. The first rank's is asked for, which is the least it can be asked;
then those of the other ranks, which together are what one path over all ranks stands beside.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import time
from pathlib import Path

from hta.trace_analysis import TraceAnalysis


def memory(field: str) -> int:
    """Return a size of this process in bytes, as the kernel counts it (VmRSS, VmHWM, RssFile)."""
    with open("/proc/self/status", encoding="ascii") as lines:  # noqa: PTH123 - as light as may be
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))


def trace_files(source: Path) -> dict[int, str]:
    """Return files by rank, which it cannot find itself in every file."""
    paths = sorted(source.glob("*.json*")) if source.is_dir() else [source]
    found = {}
    for at, path in enumerate(paths):
        said = re.search(r"rank(\d+)", path.name)
        found[int(said.group(1)) if said else at] = str(path)
    return found


def main() -> None:
    """Load, find the path, and say how long it took; a line on stdin starts it."""
    logging.disable(logging.CRITICAL)
    files = trace_files(Path(sys.argv[1]))
    annotation = sys.argv[2]
    imported, paged = memory("VmRSS"), memory("RssFile")
    print(json.dumps({"ready": True}), flush=True)  # noqa: T201 - the parent reads it
    sys.stdin.readline()
    begin = time.perf_counter()
    analysis = TraceAnalysis(trace_files=files, include_last_profiler_step=True)
    loaded = time.perf_counter()
    graph, _ = analysis.critical_path_analysis(min(files), annotation, 0)
    found = time.perf_counter()
    growth = memory("VmHWM") - imported
    code = memory("RssFile") - paged
    for rank in sorted(files)[1:]:
        analysis.critical_path_analysis(rank, annotation, 0)
    answer = {
        "load_s": loaded - begin,
        "path_s": found - loaded,
        "other_paths_s": time.perf_counter() - found,
        "growth": growth,
        "code": code,
        "path_us": float(sum(edge.weight for edge in graph.critical_path_edges_set)),
        "rank": min(files),
    }
    print(json.dumps(answer), flush=True)  # noqa: T201 - the parent reads it


if __name__ == "__main__":
    main()
