"""Buckets of steps in which every microbatch exchanges: told apart, and not predicted."""

from __future__ import annotations

import json

import pytest

import stepviz as sv
from stepviz.evidence.bucket_models import bucket_model

MAIN, LINK = 10, 20
SIZED = {"Input Dims": [[1000]], "Input type": ["float"]}


def row(name, ts, dur, tid=MAIN, cat="cpu_op", **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid, "ts": ts, "dur": dur,
            "args": args}  # fmt: skip


def step(number, start, passes):
    """Return a step of 1 ms a pass, each with two buckets of 4000 bytes."""
    found = [row(f"ProfilerStep#{number}", start, 1000 * passes + 50, cat="user_annotation")]
    for k in range(passes):
        at = start + 1000 * k
        forward = "DistributedDataParallel.forward"
        found += [
            row(forward, at, 300, cat="user_annotation"),
            row("aten::mm", at + 1, 298, **{"Sequence number": k, "Fwd thread id": 0}),
            row("autograd::engine::evaluate_function: MmBackward0", at + 310, 500,
                **{"Sequence number": k, "Fwd thread id": 1}),
        ]  # fmt: skip
        for launch in (at + 400, at + 600):
            found += [
                row("c10d::allreduce_", launch, 5, **{"Input Dims": [[[1000]]]}),
                row("gloo:all_reduce", launch + 10, 100, tid=LINK, cat="user_annotation", **SIZED),
            ]
    found.append(row("Optimizer.step#SGD.step", start + 1000 * passes, 40, cat="user_annotation"))
    return found


def noted(number, start, passes):
    return [
        {"step": number, "index": index, "bytes": 4000, "parameters": [],
         "ready_ns": 1000 * (start + 1000 * k + at), "launch_ns": 1000 * (start + 1000 * k + at),
         "done_ns": 1000 * (start + 1000 * k + at + 100)}
        for k in range(passes)
        for index, at in enumerate((400, 600))
    ]  # fmt: skip


@pytest.fixture(params=["rows", "recorded"])
def run_of(request, tmp_path):
    def made(passes):
        starts = {number: 10_000 * number for number in (1, 2)}
        for rank in (0, 1):
            document = {
                "distributedInfo": {"backend": "gloo", "rank": rank, "world_size": 2},
                "baseTimeNanoseconds": 0,
                "traceEvents": [e for n, at in starts.items() for e in step(n, at, passes)],
            }
            if request.param == "recorded":
                buckets = [one for n, at in starts.items() for one in noted(n, at, passes)]
                document["stepviz"] = {
                    "record": 1, "buckets": buckets, "parameters": [{"name": "w", "bytes": 8000}],
                }  # fmt: skip
            (tmp_path / f"rank{rank}.json").write_text(json.dumps(document))
        run = sv.load_run(tmp_path)
        assert set(run.buckets["origin"]) == {request.param}
        return run

    return made


def test_passes_of_a_step_are_told_apart_although_their_buckets_are_alike(run_of):
    buckets = run_of(2).buckets
    for _, mine in buckets.groupby(["step", "rank"]):
        assert mine["microbatch"].tolist() == [0, 0, 1, 1]
        assert mine["index"].tolist() == [0, 1, 0, 1]
    key = ["step", "rank", "microbatch", "index"]
    assert not buckets.duplicated(key).any()


def test_one_pass_is_the_first(run_of):
    buckets = run_of(1).buckets
    assert set(buckets["microbatch"]) == {0}
    assert buckets["index"].tolist() == [0, 1] * 4


def test_other_buckets_are_not_predicted_where_every_pass_exchanges(run_of):
    run = run_of(2)
    for part in run._ranks.values():
        part.rows.recorded.setdefault("parameters", [{"name": "w", "bytes": 8000}])
    with pytest.raises(sv.CostError, match=r"each of several microbatches.*no_sync=True"):
        bucket_model(run)
