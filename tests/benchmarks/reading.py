"""What reading costs by the size of a trace: µs an event and bytes of memory an event.

    python -m tests.benchmarks.reading shared/traces/ddp-v100-nccl-1of1/rank0.json.gz

The trace is tiled to each size (see `tests.benchmarks.tiling`) and read in a fresh process:
file to rows (`read`), rows to kinds, steps and exchanges (`classify`), and the largest growth of
memory above what the imports need. An event is any row of the file, flows included.
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.peer_ours import memory
from tests.benchmarks.tiling import tile

SIZES = (10_000, 100_000, 1_000_000, 3_000_000)


def measure(path: str) -> dict[str, float]:
    """Read one file in this process."""
    from stepviz.traces.rank_trace import RankTrace
    from stepviz.traces.reading.files import rows_in

    gc.collect()
    imported = memory("VmRSS")
    begin = time.process_time()
    rows = rows_in(path)
    read = time.process_time()
    growth = memory("VmHWM") - imported
    trace = RankTrace.of(rows)
    done = time.process_time()
    return {
        "read_s": read - begin,
        "classify_s": done - read,
        "read_bytes": growth,
        "all_bytes": memory("VmHWM") - imported,
        "frame_bytes": int(trace.events.memory_usage(deep=True).sum()),
    }


def main() -> None:
    """Measure every size, three times each in turn, and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("trace", type=Path, help="one trace file")
    parser.add_argument("--measure", action="store_true", help="read the file once, here")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(str(options.trace))))  # noqa: T201 - the parent reads it
        return
    print("events      MB     read µs  classify µs  read B/event  in all B/event  frame B/event")  # noqa: T201
    for size in options.sizes:
        with tempfile.TemporaryDirectory() as folder:
            events, raw = tile(options.trace, Path(folder), events=size)
            path = next(Path(folder).iterdir())
            found = [measured(path) for _ in range(options.rounds)]
        middle = {key: sorted(each[key] for each in found)[len(found) // 2] for key in found[0]}
        print(  # noqa: T201 - a benchmark prints
            f"{events:<10,}{raw / 1e6:>7.0f}{middle['read_s'] / events * 1e6:>10.2f}"
            f"{middle['classify_s'] / events * 1e6:>13.2f}{middle['read_bytes'] / events:>14.0f}"
            f"{middle['all_bytes'] / events:>16.0f}{middle['frame_bytes'] / events:>15.0f}",
            flush=True,
        )


def measured(path: Path) -> dict[str, float]:
    """Read one file in a fresh process."""
    command = [sys.executable, "-m", "tests.benchmarks.reading", str(path), "--measure"]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(answer.stdout)
    return found


if __name__ == "__main__":
    main()
