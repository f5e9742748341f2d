"""The join of many ranks: how long it takes and what memory it needs, from 64 to 1,024 ranks.

``python -m tests.benchmarks.join_ranks`` makes summaries of ranks (no files: what is left of one
once it is read), 10 steps of 200 collectives each, on clocks that are milliseconds apart, and
joins them: match, clocks, then of one step its collectives, own times, coarse path and a what-if.
Each size runs in a process of its own, so that its peak memory is its own.

``--ranks 64 128`` chooses sizes, ``--json FILE`` writes the figures.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

SIZES = (64, 128, 256, 512, 1024)
STEPS, COLLECTIVES = 10, 200
STEP_NS = 400_000_000
#: Ranks of one host share a clock, and a group of their own beside the world's.
PER_HOST = 8


def summaries(ranks, *, steps=STEPS, collectives=COLLECTIVES, seed=0):
    """Return calls and windows by rank, and how far each rank's clock is ahead, ns.

    Four of five collectives are all-reduces of the world, the rest all-gathers of a host's
    eight ranks. All ranks arrive within 1 ms, one in each step 5 ms late at half of them.
    """
    import numpy as np

    from stepviz.traces.joining.exchanges import COLUMNS
    from stepviz.traces.joining.matching import RankCalls
    from stepviz.traces.table import Table

    random = np.random.default_rng(seed)
    count = steps * collectives
    # Most hosts agree; each tenth one is off by up to 10 ms.
    hosts = -(-ranks // PER_HOST)
    off = np.where(random.random(hosts) < 0.1, random.integers(-10_000_000, 10_000_000, hosts), 0)
    off[0] = 0
    begin = np.arange(count) * (STEP_NS // collectives) + 10**18
    place = np.repeat(np.arange(steps), collectives)
    world = np.arange(count) % 5 != 4
    late = random.integers(ranks, size=steps)
    members = {True: tuple(range(ranks))}
    arrivals = np.zeros((count, ranks), dtype=np.int64)
    for rank in range(ranks):
        arrivals[:, rank] = begin + random.integers(0, 400_000, count)
    second = np.arange(count) % collectives >= collectives // 2
    arrivals[np.flatnonzero(second), late[place[second]]] += 500_000
    ends = np.empty((count, ranks), dtype=np.int64)
    ends[world] = arrivals[world].max(axis=1)[:, None] + 50_000
    for host in range(hosts):
        mine = slice(host * PER_HOST, min(ranks, (host + 1) * PER_HOST))
        ends[~world, mine] = arrivals[~world, mine].max(axis=1)[:, None] + 20_000
    ends += random.integers(0, 4_000, ends.shape)
    calls, windows, ahead = {}, {}, {}
    word = np.where(world, "all-reduce", "all-gather").astype(object)
    label = np.where(world, "default_pg", "host").astype(object)
    group = np.where(world, "0", "1").astype(object)
    inferred = np.full(count, "inferred", dtype=object)
    during = np.full(count, "backward", dtype=object)
    minus, yes, no = np.full(count, -1), np.ones(count, dtype=bool), np.zeros(count, dtype=bool)
    elements = np.where(world, 1_000_000, 250_000)
    for rank in range(ranks):
        host = rank // PER_HOST
        ahead[rank] = int(off[host])
        low = host * PER_HOST
        inside = tuple(range(low, min(ranks, low + PER_HOST)))
        who = np.empty(count, dtype=object)
        for k, joint in enumerate(world.tolist()):
            who[k] = members[True] if joint else inside
        frame = {
            "row": np.arange(count), "collective": word, "group": group, "label": label,
            "emulated": no, "elements": elements, "bytes": 4 * elements, "place": place,
            "queue": np.zeros(count, dtype=np.int64), "ready_ns": arrivals[:, rank] + ahead[rank],
            "launched_ns": minus, "arrival_ns": arrivals[:, rank] + ahead[rank],
            "finish_ns": ends[:, rank] + ahead[rank], "origin": inferred, "during": during,
            "on_device": yes, "sequence": minus, "members": who, "group_size": minus,
            "peer": minus, "out_bytes": minus,
        }  # fmt: skip
        calls[rank] = RankCalls(Table({name: frame[name] for name in COLUMNS}),
                                list(range(steps)), ranks)  # fmt: skip
        starts = 10**18 + STEP_NS * np.arange(steps) + ahead[rank]
        windows[rank] = [(int(s), int(s) + STEP_NS) for s in starts]
    return calls, windows, ahead


def joined(ranks):
    """Join so many ranks once; return seconds by part and the peak of memory in MiB."""
    import numpy as np

    calls, windows, ahead = summaries(ranks)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    from stepviz.traces.graph.coarse import path_of
    from stepviz.traces.graph.coarse_model import coarse_model
    from stepviz.traces.joining.alignment import judged
    from stepviz.traces.joining.collectives import collectives_frame
    from stepviz.traces.joining.matching import match
    from stepviz.traces.joining.own_times import own_time_frame
    from stepviz.traces.joining.step_exchanges import Part, step_exchanges

    seconds = {}

    def timed(name, run):
        start = time.perf_counter()
        value = run()
        seconds[name] = time.perf_counter() - start
        return value

    timed("match", lambda: match(calls))
    aligned = timed("match and clocks", lambda: judged(calls, STEP_NS))
    wrong = [r for r, clock in aligned.clocks.items() if abs(clock.offset_ns - ahead[r]) > 4_000]
    if wrong or aligned.doubt:
        msg = f"clocks of ranks {wrong[:5]} were not found: {aligned.doubt}"
        raise SystemExit(msg)
    step = 5

    def parts():
        found = {}
        for rank, call in calls.items():
            own, clock = call.exchanges, aligned.clocks[rank]
            rows = np.flatnonzero(own["place"] == step)
            moved = own.assign(
                arrival_ns=clock.moved(own["arrival_ns"]),
                finish_ns=clock.moved(own["finish_ns"]),
            )
            low, high = clock.moved(np.array(windows[rank][step], dtype=np.int64)).tolist()
            found[rank] = Part(moved, rows, low, high)
        return step_exchanges(aligned.match, found), {r: part[2:] for r, part in found.items()}

    columns, spans = timed("gather a step", parts)
    table = timed("collectives", lambda: collectives_frame(columns, aligned, told=True))
    own = timed("own time", lambda: own_time_frame(columns, spans, told=True))
    model = timed("coarse model", lambda: coarse_model(spans, columns))
    path = timed("coarse path", lambda: path_of(model, model.lengths))
    timed("coarse replay", lambda: model.solve(model.lengths))
    if path["duration_ns"].sum() != model.ends.max() or len(own) != ranks:
        msg = "the coarse path does not partition the step"
        raise SystemExit(msg)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rows = ranks * STEPS * COLLECTIVES
    return {
        "ranks": ranks, "rows": rows, "collectives": len(table), "seconds": seconds,
        "us_per_row": 1e6 * seconds["match and clocks"] / rows, "peak_mib": peak,
        "inputs_mib": before,
    }  # fmt: skip


def main():
    """Print the curve."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--ranks", type=int, nargs="+", default=SIZES)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    if wanted.one:
        sys.stdout.write(json.dumps(joined(wanted.one)))
        return
    found = []
    for ranks in wanted.ranks:
        command = [sys.executable, "-m", "tests.benchmarks.join_ranks", "--one", str(ranks)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        found.append(json.loads(done.stdout))
        one = found[-1]
        if len(found) == 1:
            parts = "  ".join(one["seconds"])
            sys.stdout.write(f"{STEPS} steps x {COLLECTIVES} collectives; seconds, MiB\n")
            sys.stdout.write(f"ranks      rows  {parts}  µs/row   peak  (inputs)\n")
        shown = "  ".join(f"{s:>{len(name)}.2f}" for name, s in one["seconds"].items())
        sys.stdout.write(
            f"{ranks:5} {one['rows']:9,}  {shown}  {one['us_per_row']:6.2f}  "
            f"{one['peak_mib']:5.0f}  ({one['inputs_mib']:.0f})\n"
        )
    if wanted.json:
        wanted.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
