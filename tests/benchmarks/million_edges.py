"""A million edges: build, completion, floats and critical set, against networkx in one run.

    python -m tests.benchmarks.million_edges

networkx builds a DiGraph of the same FS network (weight = duration of the source + lag) and asks
for its longest path, which is only the completion. Times are the median of interleaved rounds.
"""

from __future__ import annotations

import gc
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

import stepviz as sv

EDGES, ROUNDS = 1_000_000, 3
SHAPES = {"wide (100,000 phases)": (100_000, False), "deep (100,000 in a chain)": (100_000, True)}


def network(n: int, *, chain: bool) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Make a random FS network; with `chain`, one path runs through every phase."""
    rng = np.random.default_rng(1)
    names = np.array([f"phase {i}" for i in range(n)], dtype=object)
    source = rng.integers(0, n - 1, EDGES)
    target = np.minimum(source + 1 + (rng.random(EDGES) * 1000).astype(np.int64), n - 1)
    if chain:
        source[: n - 1], target[: n - 1] = np.arange(n - 1), np.arange(1, n)
    shuffled = rng.permutation(n)  # row order is no topological order
    phases = pd.DataFrame({"phase": names, "duration": rng.random(n)})
    links = pd.DataFrame(
        {
            "source": names[shuffled[source]],
            "target": names[shuffled[target]],
            "lag": rng.random(EDGES),
        }
    )
    return phases, links.drop_duplicates(["source", "target"], ignore_index=True)


def ours(phases: pd.DataFrame, links: pd.DataFrame) -> float:
    """Build, solve, floats and critical set."""
    schedule = sv.Timeline(phases, links).schedule()
    _ = schedule.solution.total_float, schedule.solution.free_float
    _ = schedule.critical_dependencies
    return schedule.completion


def theirs(phases: pd.DataFrame, links: pd.DataFrame) -> float:
    """Build networkx's graph and ask for the longest path."""
    duration = dict(zip(phases["phase"], phases["duration"], strict=True))
    graph: nx.DiGraph[Any] = nx.DiGraph()
    graph.add_weighted_edges_from(
        (s, t, duration[s] + lag)
        for s, t, lag in zip(links["source"], links["target"], links["lag"], strict=True)
    )
    graph.add_weighted_edges_from((p, "end", d) for p, d in duration.items())
    return float(nx.dag_longest_path_length(graph))


def timed(work: Callable[[], float]) -> tuple[float, float]:
    """Return seconds and the answer."""
    gc.collect()
    begin = time.perf_counter()
    answer = work()
    return time.perf_counter() - begin, answer


def main() -> None:
    """Print seconds and the ratio for each shape."""
    for shape, (n, chain) in SHAPES.items():
        phases, links = network(n, chain=chain)
        mine, other = [], []
        for _ in range(ROUNDS):
            seconds, a = timed(lambda p=phases, d=links: ours(p, d))  # type: ignore[misc]  # defaults bind the loop's values
            mine.append(seconds)
            seconds, b = timed(lambda p=phases, d=links: theirs(p, d))  # type: ignore[misc]  # as above
            other.append(seconds)
            if abs(a - b) > 1e-6 * b:
                msg = f"{shape}: completion {a} against {b}"
                raise SystemExit(msg)
        fast, slow = statistics.median(mine), statistics.median(other)
        sys.stdout.write(
            f"{shape}, {len(links):,} edges: stepviz {fast:.2f} s, networkx {slow:.2f} s, "
            f"{slow / fast:.1f} times\n"
        )


if __name__ == "__main__":
    main()
