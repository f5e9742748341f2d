"""Runs of several ranks, simulated: every rank waits for the last one, on a device or over gloo.

What is planted (a late start, a slow bucket, a clock that is off) is known, so answers can be
judged without asking the code that gives them.
"""

from __future__ import annotations

import random

from tests.traces.synthetic import (
    BASE_NS,
    MAIN,
    document,
    host,
    kernel,
    launch,
    note,
)

LINK, WORKER = 20, 200


def simulated(
    ranks,
    steps,
    buckets,
    *,
    compute=400,
    transfer=100,
    update=50,
    late=None,
    slow=None,
    blocking=False,
    end_skew=0,
    seed=0,
):
    """Return by rank and step the times of a DDP run, in µs: start, buckets, exchanges, update.

    `late` delays a rank's start of a step, by (rank, step); `slow` lengthens a bucket's backward,
    by (rank, step, bucket). Where `blocking`, a rank goes on only when an exchange is over; else
    only the update waits for the last one. Ends differ by up to `end_skew`.
    """  # fmt: skip
    late, slow = late or {}, slow or {}
    random_ = random.Random(seed)  # no secret
    now = dict.fromkeys(range(ranks), 0.0)
    found = {rank: [] for rank in range(ranks)}
    for step in range(steps):
        for rank in range(ranks):
            start = now[rank] + late.get((rank, step), 0)
            found[rank].append({"start": start, "work": [], "exchange": []})
            now[rank] = start
        free = dict.fromkeys(range(ranks), 0.0)
        for bucket in range(buckets):
            arrivals = {}
            for rank in range(ranks):
                length = compute + slow.get((rank, step, bucket), 0)
                found[rank][step]["work"].append((now[rank], now[rank] + length))
                now[rank] += length
                arrivals[rank] = max(now[rank] + 5, free[rank])
            done = max(arrivals.values()) + transfer
            for rank, at in arrivals.items():
                end = done + random_.randint(0, end_skew)
                found[rank][step]["exchange"].append((at, end))
                free[rank] = end
                if blocking:
                    now[rank] = end + 5
        for rank in range(ranks):
            begun = max(now[rank], free[rank] + 5)
            found[rank][step]["update"] = (begun, begun + update)
            now[rank] = begun + update
    return found


def on_device(times, *, elements=1000, names=None):
    """Return NCCL traces of simulated times; the host runs far ahead of the device."""
    documents = {}
    for rank, steps in times.items():
        events, c, at = [], 0, -100_000
        for number, step in enumerate(steps):
            # Of the first step the host's range begins when the step does.
            at = step["start"] - 20 if number == 0 else at
            work = len(step["work"])
            events.append(note(f"ProfilerStep#{number + 1}", at, 20 + 3 * work))
            for k, (low, high) in enumerate(step["work"]):
                c += 2
                name = "forward" if k == 0 else "backward"
                events.append(note(name, at + 1 + 3 * k, 2.5))
                events += [launch(at + 1.1 + 3 * k, c), kernel("gemm", low, high - low, c)]
                arrival, end = step["exchange"][k]
                said = {"Collective name": "allreduce", "In msg nelems": elements + k,
                        "dtype": "Float", "Group size": len(times),
                        "Process Group Name": (names or {}).get(rank, "0"),
                        "Process Group Description": "default_pg",
                        "Process Group Ranks": str(list(times))}  # fmt: skip
                events += [
                    launch(at + 1.4 + 3 * k, c + 1),
                    kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", arrival, end - arrival,
                           c + 1, stream=LINK, **said),
                ]  # fmt: skip
            c += 2
            low, high = step["update"]
            events += [
                note("Optimizer.step#SGD.step", at + 2 + 3 * work, 5),
                launch(at + 3 + 3 * work, c),
                kernel("multi_tensor_apply", low, high - low, c),
            ]
            at += 30 + 3 * work
        documents[rank] = document(rank, events, world=len(times))
    return documents


def over_gloo(times):
    """Return CPU traces of simulated times: a worker thread exchanges, the main one goes on."""
    documents = {}
    for rank, steps in times.items():
        events = []
        for number, step in enumerate(steps):
            low, high = step["start"], step["update"][1]
            events.append(note(f"ProfilerStep#{number + 1}", low, high - low))
            for k, (begun, done) in enumerate(step["work"]):
                dims = {"Input Dims": [[1000 + k]], "Input type": ["float"]}
                events.append(
                    host(f"autograd::engine::evaluate_function: Bucket{k}", begun, done - begun)
                )
                arrival, end = step["exchange"][k]
                events.append(host("c10d::allreduce_", done, 4, **{"Input Dims": [[[1000 + k]]]}))
                events.append(host("gloo:all_reduce", arrival, end - arrival,
                                   cat="user_annotation", tid=WORKER, **dims))  # fmt: skip
            begun, done = step["update"]
            events.append(note("Optimizer.step#SGD.step", begun, done - begun))
            events.append(host("aten::add_", begun, done - begun, tid=MAIN))
        documents[rank] = document(rank, events, world=len(times))
    return documents


def on_clocks(documents, ahead, drift=None):
    """Put ranks on clocks that are ahead by some ns, and drift by some ppm from the start on."""
    for rank, ns in ahead.items():
        documents[rank]["baseTimeNanoseconds"] = BASE_NS + ns
    for rank, ppm in (drift or {}).items():
        for event in documents[rank]["traceEvents"]:
            begin, end = event["ts"], event["ts"] + event["dur"]
            event["ts"] = round(begin * (1 + ppm * 1e-6), 3)
            event["dur"] = round(end * (1 + ppm * 1e-6) - event["ts"], 3)
    return documents
