"""What traces of odd shapes cost: each at two sizes a factor of four apart, and how that grows.

    python -m tests.benchmarks.shapes            # a minute; --scale 16 for what takes long

A shape is what real traces have much of at once: exchanges in one step, steps, streams, threads,
functions nested deeply, rows that cross, names. Each is written, loaded and asked everything in a
process of its own. What takes more than five times as long for four times as much is marked.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from tests.benchmarks.peer_ours import memory
from tests.traces.synthetic import collective, document, host, kernel, launch, note

Rows = Iterator[dict[str, Any]]

#: Growth from one size to four times as much that is called more than linear.
_STEEP: Final = 5.0
#: Shorter times grow by chance.
_LEAST_S: Final = 0.1


def exchanges(count: int) -> Rows:
    """Return one step of so many all-reduces, each beside the next kernel."""
    yield note("ProfilerStep#1", 0, 12 * count + 50)
    for k in range(count):
        yield from (launch(12 * k + 1, 2 * k + 1), kernel("gemm", 20 * k + 30, 9, 2 * k + 1))
        yield from collective("allreduce", 12 * k + 5, 20 * k + 40, 9, 2 * k + 2)


def steps(count: int) -> Rows:
    """Return so many steps of a kernel and an all-reduce."""
    for k in range(count):
        at = 100 * k
        yield from (note(f"ProfilerStep#{k}", at, 95), launch(at + 5, 2 * k + 1))
        yield kernel("gemm", at + 10, 40, 2 * k + 1)
        yield from collective("allreduce", at + 20, at + 55, 20, 2 * k + 2)


def streams(count: int) -> Rows:
    """Return one step of five kernels on each of so many streams."""
    yield note("ProfilerStep#1", 0, 50 * count)
    for k in range(5 * count):
        yield from (launch(10 * k, k + 1), kernel("gemm", 10 * k + 5, 9, k + 1, stream=k % count))


def threads(count: int) -> Rows:
    """Return one step of five operators on each of so many threads."""
    yield note("ProfilerStep#1", 0, 50 * count)
    for k in range(5 * count):
        yield host("aten::mm", 10 * k, 9, tid=100 + k % count)


def levels(count: int) -> Rows:
    """Return functions nested so deeply, and a kernel launched from the innermost."""
    yield note("ProfilerStep#1", 0, 2 * count + 200)
    for k in range(count):
        yield host(f"f.py({k % 50}): f", k, 2 * (count - k) + 100, cat="python_function")
    yield from (launch(count + 10, 1), kernel("gemm", count + 20, 20, 1))


def crossing(count: int) -> Rows:
    """Return kernels of one stream of which each runs on beside all that follow."""
    yield note("ProfilerStep#1", 0, 4 * count)
    for k in range(count):
        yield from (launch(3 * k, k + 1), kernel("gemm", 3 * k + 3, count, k + 1))


def rows(count: int) -> Rows:
    """Return one step of operators that launch one kernel each."""
    yield note("ProfilerStep#1", 0, 12 * count + 50)
    for k in range(count):
        yield from (host("aten::linear", 12 * k, 11), host("aten::addmm", 12 * k + 1, 9))
        yield from (launch(12 * k + 2, k + 1), kernel(f"gemm_{k % 200}", 12 * k + 6, 9, k + 1))


def names(count: int) -> Rows:
    """Return operators and kernels of which each has a long name of its own."""
    yield note("ProfilerStep#1", 0, 12 * count + 50)
    for k in range(count):
        yield from (host(f"aten::{k:0200d}", 12 * k, 11), launch(12 * k + 2, k + 1))
        yield kernel(f"kernel_{k:0200d}", 12 * k + 6, 9, k + 1)


#: By name: the shape, and how many of it the smaller trace has.
SHAPES: Final[dict[str, tuple[Callable[[int], Rows], int]]] = {
    "exchanges": (exchanges, 2_000),
    "steps": (steps, 500),
    "streams": (streams, 500),
    "threads": (threads, 1_000),
    "levels": (levels, 5_000),
    "crossing": (crossing, 2_000),
    "rows": (rows, 5_000),
    "names": (names, 5_000),
}


def measure(folder: Path) -> dict[str, float]:
    """Load what is in a folder, ask for everything, and return seconds by question, and MiB."""
    import stepviz as sv
    from stepviz.traces.story import explain

    warnings.simplefilter("ignore")
    imported = memory("VmRSS")
    begun = time.process_time()
    run = sv.load_run(folder)
    found = {"load": time.process_time() - begun}
    questions: dict[str, Callable[[sv.Step], object]] = {
        "steps": lambda _: (run.steps, run.spread, run.clock),
        "fold": lambda step: step.notes,
        "path": lambda step: step.critical_path,
        "coarse": lambda step: step.what_if(own_time=0.5, rank=0, level="coarse"),
        "idle": lambda step: (step.idle(), step.breakdown()),
        "explain": lambda _: explain(run),
        "viewer": sv.TraceViewer,
        "perfetto": lambda step: step.to_perfetto(folder / "out.json.gz"),
    }
    step = run.step()
    for name, ask in questions.items():
        begun = time.process_time()
        ask(step)
        found[name] = time.process_time() - begun
    return {**found, "MiB": (memory("VmHWM") - imported) / 2**20}


def measured(shape: str, count: int) -> dict[str, float]:
    """Write a run of two ranks of one shape, and measure it in a fresh process."""
    with tempfile.TemporaryDirectory() as folder:
        for rank in (0, 1):
            text = json.dumps(document(rank, list(SHAPES[shape][0](count))))
            (Path(folder) / f"rank{rank}.json").write_text(text)
        command = [sys.executable, "-m", "tests.benchmarks.shapes", "--measure", folder]
        answer = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(answer.stdout)
    return found


def main() -> None:
    """Measure every shape at two sizes, and print seconds, memory and growth."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("shapes", nargs="*", help=f"of {', '.join(SHAPES)}; all without")
    parser.add_argument("--scale", type=int, default=1, help="so many times as much")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        sys.stdout.write(json.dumps(measure(options.measure)))
        return
    for shape in options.shapes or SHAPES:
        count = SHAPES[shape][1] * options.scale
        small, large = measured(shape, count), measured(shape, 4 * count)
        told = []
        for name, value in large.items():
            steep = name != "MiB" and value > max(_STEEP * small[name], _LEAST_S)
            growth = f" ({value / small[name]:.1f} ×!)" if steep else ""
            told.append(f"{name} {value:.{0 if name == 'MiB' else 2}f}{growth}")
        sys.stdout.write(f"{4 * count:>9,} {shape:<10} {'  '.join(told)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
