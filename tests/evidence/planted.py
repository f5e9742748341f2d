"""Runs of two ranks on one CPU, made by hand: known times of every part of every step."""

from __future__ import annotations

import json

import numpy as np
from synthetic import document, host, note

import stepviz as sv

DIMS = {"Input Dims": [[250_000]], "Input type": ["float"]}
#: Of one rank.
TOKENS = {"allocated": 2048, "executed": 2048, "scored": 1024}
#: Lengths in ms.
USUAL = {"input": 1.0, "forward": 40.0, "backward": 80.0, "tail": 30.0, "optimizer": 9.0}


def planted_run(
    folder,
    steps,
    *,
    ranks=2,
    noise=0.01,
    seed=0,
    passes=1,
    record=None,
    tokens=TOKENS,
    odd=(),
    begin=0.0,
    drift=1.0,
    **parts,
):
    """Return a run whose steps have the given parts, each with so much lognormal noise.

    `odd` steps are five times as long in their input; `drift` stretches all work; `record` is
    written into each file, with `tokens` of an update where it says none.
    """
    random = np.random.default_rng(seed)
    usual = USUAL | parts
    folder.mkdir(parents=True, exist_ok=True)
    events = {rank: [] for rank in range(ranks)}
    now = round(begin * 1e3)
    for number in range(1, steps + 1):
        lasts = {
            name: 4
            * round(250 * ms * (1 if name == "tail" else drift) * np.exp(noise * random.normal()))
            for name, ms in usual.items()
        }
        if number in odd:
            lasts["input"] += 5000 * round(sum(usual.values()))
        for rank in range(ranks):
            end = _step(events[rank], number, now, lasts, passes)
        now = end
    for rank in range(ranks):
        found = document(rank, events[rank], world=ranks)
        found["distributedInfo"]["backend"] = "gloo"
        said = {} if tokens is None else {"tokens": tokens}
        said |= record or {}
        if said:
            found["stepviz"] = said
        (folder / f"rank{rank}.json").write_text(json.dumps(found))
    return sv.load_run(folder)


def _step(events, number, start, lasts, passes):
    """Add a step; return its end. The exchange begins half way through the last backward."""
    place = len(events)
    now = start
    events.append(note("enumerate(DataLoader)#_SingleProcess.__next__", now, lasts["input"]))
    now += lasts["input"]
    for k in range(passes):
        forward, backward = lasts["forward"] // passes, lasts["backward"] // passes
        events.append(host("DistributedDataParallel.forward", now, forward, cat="user_annotation"))
        events.append(host("aten::mm", now + 1, forward - 2,
                           **{"Sequence number": 10 * number + k, "Fwd thread id": 0}))  # fmt: skip
        now += forward
        half = backward // 2
        name = "autograd::engine::evaluate_function: MmBackward0"
        mark = {"Sequence number": 10 * number + k, "Fwd thread id": 1}
        events.append(host(name, now, half, **mark))
        events.append(host("aten::mm", now + 1, half - 2))
        if k == passes - 1:
            events.append(host("c10d::allreduce_", now + half - 3, 1,
                               **{"Input Dims": [[[250_000]]]}))  # fmt: skip
            exchange = half + lasts["tail"]
            events.append(host("gloo:all_reduce", now + half, exchange - 5,
                               cat="user_annotation", tid=200, **DIMS))  # fmt: skip
        now += half
        events.append(host(name, now, half))
        events.append(host("aten::mm", now + 1, half - 2))
        now += half
    now += lasts["tail"]
    events.append(note("Optimizer.step#SGD.step", now, lasts["optimizer"]))
    events.append(host("aten::add_", now + 1, lasts["optimizer"] - 2))
    now += lasts["optimizer"]
    events.insert(place, note(f"ProfilerStep#{number}", start, now - start))
    return now


def recorded(step_ms, *, forward_ms=None, tokens=None, **more):
    """Return a record with step times without profiler."""
    forward_ms = [40.0] * len(step_ms) if forward_ms is None else forward_ms
    timings = [
        {"mode": "bare", "step_ns": int(step * 1e6), "forward_ns": int(forward * 1e6)}
        for step, forward in zip(step_ms, forward_ms, strict=True)
    ]
    found = {"timings": timings, **more}
    if tokens is not None:
        found["tokens"] = tokens
    return found
