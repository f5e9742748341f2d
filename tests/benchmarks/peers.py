"""Loading and the critical path together, beside HolisticTraceAnalysis, on the same files.

    python -m tests.benchmarks.peers                    the whole table, some minutes
    python -m tests.benchmarks.peers --rounds 3 --megabytes 25 --events

Every measurement is a process of its own; ours and theirs take turns; medians. The peer gets an
environment of its own, made once in the user's cache, with pandas below 3, without which its
critical path does not run. Memory is the growth above what the imports take: the peak of the
process itself, less the pages of program files that it read in meanwhile (imports map them, first
use reads them); or of it and the processes that it starts, shared pages counted once.

Ours finds one path over all ranks. Theirs is a path of one rank: the table compares with loading
all files and one rank's path, the least it can be asked, and names the ratio with every rank's.
Where its replay stops with an error, that is said. TraceLens's path is experimental and needs
execution traces, which none of these has beside it.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import venv
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.benchmarks.tiling import tile

HERE: Final = Path(__file__).resolve().parent
HANDED: Final = HERE.parents[2] / "shared" / "traces"
#: Its critical path fails on pandas 3.
REQUIREMENTS: Final = ("HolisticTraceAnalysis>=0.5,<1", "pandas<3")

ROUNDS: Final = 5
MEGABYTES: Final = (25.0, 100.0, 250.0)
EVENTS: Final = (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000)
#: Traces as they were handed; then those that are tiled.
AS_THEY_ARE: Final = (
    "small/a100-simple-add.json.gz",
    "small/a100-alexnet.json.gz",
    "dlrm-v100-nccl-8of8",
    "ddp-a100-nccl-1of2",
    "ddp-v100-nccl-1of1",
)
TILED: Final = ("ddp-v100-nccl-1of1", "ddp-a100-nccl-1of2", "dlrm-v100-nccl-8of8")
#: One step of this one, tiled, shows the cost per event.
WARM: Final = "small/a100-simple-add.json.gz"
FLAT: Final = ("ddp-v100-nccl-1of1", 103)
_POLL_S: Final = 0.01


@dataclass
class Measured:
    """What the rounds of one side on one trace gave."""

    seconds: list[float] = field(default_factory=list)
    growth: list[float] = field(default_factory=list)
    others: list[float] = field(default_factory=list)
    last: dict[str, Any] = field(default_factory=dict)
    failed: str = ""

    @property
    def median(self) -> float:
        """Seconds, loading and path."""
        return statistics.median(self.seconds) if self.seconds else math.nan

    @property
    def every_rank(self) -> float:
        """Seconds, loading and the paths of all ranks."""
        return self.median + (statistics.median(self.others) if self.others else 0.0)

    @property
    def megabytes(self) -> float:
        """Growth above the imports."""
        return statistics.median(self.growth) / 1e6 if self.growth else math.nan

    def add(self, answer: dict[str, Any]) -> None:
        """Keep one more measurement."""
        if "failed" in answer:
            self.failed = answer["failed"]
            return
        self.seconds.append(answer["load_s"] + answer["path_s"])
        self.growth.append(answer["growth"])
        self.others.append(answer.get("other_paths_s", 0.0))
        self.last = answer


def peer_python() -> Path | None:
    """Return the Python of the peer's environment, made where it is not there yet."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    home = cache / "stepviz" / f"peers-{sys.version_info.major}.{sys.version_info.minor}"
    python = home / "bin" / "python"
    works = [str(python), "-c", "import hta.trace_analysis"]
    if python.exists() and subprocess.run(works, capture_output=True, check=False).returncode == 0:
        return python
    say(f"making the peer's environment in {home} …")
    try:
        venv.create(home, with_pip=True, clear=True)
    except OSError as error:
        say(f"no environment for the peer ({error}): ours alone")
        return None
    done = subprocess.run(
        [str(python), "-m", "pip", "install", "--quiet", *REQUIREMENTS],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["pip says nothing"])[-1]
        say(f"{REQUIREMENTS[0]} cannot be installed ({last}): ours alone")
        return None
    return python


def measure(command: list[str]) -> dict[str, Any]:
    """Run one measurement; return what it says, its growth over all its processes."""
    env = {**os.environ, "PYTHONPATH": str(HERE.parents[1]), "MPLBACKEND": "Agg"}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=env,
    ) as child:  # fmt: skip
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stderr is not None
        complaints: list[str] = []
        # Read on the side, so that a talkative child does not stop at a full pipe.
        listener = threading.Thread(target=complaints.extend, args=(child.stderr,))
        listener.start()
        _first_json(child.stdout)
        with _peak_of_tree(child.pid) as peak:
            with contextlib.suppress(BrokenPipeError):
                child.stdin.write("\n")
                child.stdin.flush()
            answer = _first_json(child.stdout)
        child.wait()
        listener.join()
    if answer is None:
        said = [line for line in complaints if line.strip()] or ["no word"]
        return {"failed": said[-1].strip()[:100]}
    answer["growth"] = max(answer["growth"], peak["growth"]) - answer["code"]
    return answer


def _first_json(lines: Any) -> dict[str, Any] | None:
    for line in lines:
        with contextlib.suppress(ValueError):
            said = json.loads(line)
            if isinstance(said, dict):
                return said
    return None


@contextlib.contextmanager
def _peak_of_tree(pid: int) -> Iterator[dict[str, int]]:
    """Watch a process and its descendants: the largest growth while the context is open.

    Only where there are descendants is more watched than their number: reading the map of a
    large process stops it for a moment, and a lone one counts its own peak anyway.
    """
    found = {"growth": 0}
    base = _shares([pid])
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(_POLL_S):
            tree = _tree(pid)
            if len(tree) > 1:
                found["growth"] = max(found["growth"], _shares(tree) - base)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield found
    finally:
        ended.set()
        watcher.join()


def _tree(pid: int) -> list[int]:
    found, at = [pid], 0
    while at < len(found):
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{found[at]}/task").iterdir():
                with contextlib.suppress(OSError):
                    found += [int(word) for word in (task / "children").read_text().split()]
        at += 1
    return found


def _shares(pids: list[int]) -> int:
    """Sum the memory of processes, pages shared by n of them counting one n-th in each."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1]) * 1024
    return total


def compare(name: str, source: Path, python: Path | None, rounds: int) -> tuple[Measured, Measured]:
    """Measure one trace, both sides by turns, and print its row."""
    mine, theirs = Measured(), Measured()
    for at in range(rounds):
        turns = ["ours", "theirs"] if at % 2 == 0 else ["theirs", "ours"]
        for side in turns:
            if side == "ours":
                mine.add(measure([sys.executable, str(HERE / "peer_ours.py"), str(source)]))
            elif python is not None and not theirs.failed:
                # The whole trace where no step is marked.
                marked = mine.last.get("marked", True)
                step = f"ProfilerStep#{mine.last['step']}" if marked else ""
                theirs.add(measure([str(python), str(HERE / "peer_hta.py"), str(source), step]))
    say(_row(name, mine, theirs, peer=python is not None))
    return mine, theirs


def _row(name: str, mine: Measured, theirs: Measured, *, peer: bool) -> str:
    if mine.failed:
        return f"{name:34} ours fails: {mine.failed}"
    own = mine.last
    row = f"{name:34} {own['events']:>9,} {mine.median:8.3f}"
    if not peer:
        return f"{row} {mine.megabytes:>26.1f} {_percent(own['explained'])}"
    if theirs.failed or not theirs.seconds:
        return f"{row}   theirs fails: {theirs.failed}"
    share = theirs.last["path_us"] / own["step_us"][str(theirs.last["rank"])]
    return (
        f"{row} {theirs.median:8.3f} {theirs.median / mine.median:6.1f} ×"
        f" {theirs.every_rank / mine.median:6.1f} ×"
        f" {mine.megabytes:8.1f} {theirs.megabytes:8.1f} {theirs.megabytes / mine.megabytes:6.1f} ×"
        f"   {_percent(own['explained'])}  {_percent(share)}"
    )


def _percent(part: float) -> str:
    return "    –  " if math.isnan(part) else f"{100 * part:5.1f} %"


def flat(sizes: list[int], rounds: int, folder: Path) -> None:
    """Print our cost per event for one step tiled to several sizes, with the path of every step.

    A path of one step would be diluted where there are many. Each process first loads a small
    trace: what a first use costs, some ms, is no cost of an event.
    """
    name, step = FLAT
    say(f"\nOur cost per event: step {step} of {name}, tiled")
    say(f"{'events':>10} {'seconds':>9} {'load':>8} {'paths':>8} {'µs/event':>9} {'MB':>7}")
    costs = []
    for size in sizes:
        target = folder / f"flat-{size}"
        count, _ = tile(HANDED / name, target, events=size, cut=step)
        answers = [
            measure([sys.executable, str(HERE / "peer_ours.py"), str(target), str(HANDED / WARM)])
            for _ in range(rounds)
        ]
        failed = [answer["failed"] for answer in answers if "failed" in answer]
        if failed:
            say(f"{count:>10,} fails: {failed[0]}")
            continue
        seconds = statistics.median(a["load_s"] + a["paths_s"] for a in answers)
        load = statistics.median(a["load_s"] for a in answers)
        growth = statistics.median(a["growth"] for a in answers) / 1e6
        costs.append(1e6 * seconds / count)
        say(
            f"{count:>10,} {seconds:>9.3f} {load:>8.3f} {seconds - load:>8.3f} "
            f"{costs[-1]:>9.2f} {growth:>7.0f}"
        )
        for path in target.iterdir():
            path.unlink()
    if costs:
        say(f"largest {100 * (max(costs) / min(costs) - 1):.0f} % above smallest")


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m tests.benchmarks.peers")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--megabytes", type=float, nargs="*", default=list(MEGABYTES))
    parser.add_argument("--events", type=int, nargs="*", default=list(EVENTS))
    parser.add_argument("--traces", nargs="*", default=list(AS_THEY_ARE), help="as handed")
    parser.add_argument("--tiled", nargs="*", default=list(TILED))
    parser.add_argument("--ours-only", action="store_true", help="leave the peer out")
    options = parser.parse_args()
    if not HANDED.exists():
        sys.exit(f"the handed traces are not beside this checkout: no {HANDED.name}/ to measure")
    python = None if options.ours_only else peer_python()
    load = os.getloadavg()[0]
    say(f"{os.cpu_count()} cores, load {load:.1f}; medians of {options.rounds} rounds by turns")
    if options.traces or (options.tiled and options.megabytes):
        say(_HEAD if python else _HEAD_ALONE)
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="stepviz-peers-") as name:
        folder = Path(name)
        for trace in options.traces:
            compare(trace.removesuffix(".json.gz"), HANDED / trace, python, options.rounds)
        for megabytes in options.megabytes:
            for trace in options.tiled:
                target = folder / f"{trace}-{megabytes:g}"
                _, size = tile(HANDED / trace, target, megabytes=megabytes)
                label = f"{trace.split('-nccl')[0]}, {size / 1e6:.0f} MB raw"
                compare(label, target, python, options.rounds)
                for path in target.iterdir():
                    path.unlink()
        if options.events:
            flat(options.events, options.rounds, folder)
    say(f"\n{time.perf_counter() - begin:.0f} s in all")


_HEAD: Final = (
    f"{'trace':34} {'rows':>9} {'ours s':>8} {'HTA s':>8} {'faster':>8} {'all':>8} "
    f"{'ours MB':>8} {'HTA MB':>8} {'less':>8}   {'path explains':>16}"
)
_HEAD_ALONE: Final = f"{'trace':34} {'rows':>9} {'ours s':>8} {'ours MB':>26} {'explained':>9}"


if __name__ == "__main__":
    main()
