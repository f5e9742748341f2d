"""Traces shaped like those of the profiler with NCCL, small enough to work out by hand."""

from __future__ import annotations

MAIN, AUTOGRAD, COMPUTE_STREAM, LINK_STREAM = 100, 101, 7, 20
BASE_NS = 1_711_964_646_000_000_000


def host(name, ts, dur, *, cat="cpu_op", tid=MAIN, **args):
    """Return a row of a host thread; times in µs."""
    return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid, "ts": ts, "dur": dur,
            "args": args}  # fmt: skip


def note(name, ts, dur, **args):
    """Return an annotation on the main thread."""
    return host(name, ts, dur, cat="user_annotation", **args)


def launch(ts, correlation, *, tid=MAIN, name="cudaLaunchKernel"):
    """Return a runtime call of 2 µs."""
    return host(name, ts, 2, cat="cuda_runtime", tid=tid, correlation=correlation)


def kernel(name, ts, dur, correlation, *, stream=COMPUTE_STREAM, cat="kernel", **args):
    """Return a device row."""
    return {"ph": "X", "cat": cat, "name": name, "pid": 0, "tid": stream, "ts": ts, "dur": dur,
            "args": {"stream": stream, "correlation": correlation, **args}}  # fmt: skip


def all_reduce(host_ts, ts, dur, correlation, elements=1000):
    """Return the rows of one all-reduce launched from the autograd thread."""
    said = {"Collective name": "allreduce", "In msg nelems": elements, "dtype": "Float",
            "Group size": 2, "Process Group Name": "0",
            "Process Group Description": "default_pg"}  # fmt: skip
    return [
        host("c10d::allreduce_", host_ts, 8, tid=AUTOGRAD),
        host("record_param_comms", host_ts + 1, 6, tid=AUTOGRAD, **said),
        host("nccl:all_reduce", host_ts + 2, 5, cat="user_annotation", tid=AUTOGRAD),
        launch(host_ts + 3, correlation, tid=AUTOGRAD, name="cudaLaunchKernelExC"),
        kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", ts, dur, correlation,
               stream=LINK_STREAM, **said),
    ]  # fmt: skip


def document(rank, events, *, world=2, base=BASE_NS):
    """Return a whole trace."""
    info = {
        "backend": "nccl",
        "rank": rank,
        "world_size": world,
        "pg_config": [
            {"pg_name": "0", "pg_desc": "default_pg", "pg_size": world,
             "ranks": list(range(world))}
        ],
    }  # fmt: skip
    return {
        "schemaVersion": 1,
        "distributedInfo": info,
        "baseTimeNanoseconds": base,
        "traceEvents": events,
    }


def ddp_step(step, host_at, device_at, first, second, link, update, correlation):
    """Return one DDP step.

    `host_at` is the step marker's start; `device_at` the forward kernel's start. `first` and
    `second` are the lengths of the two backward kernels, `link` the (start, end) of the
    all-reduce after `device_at`, `update` the (start, end) of the optimizer's kernel, in µs.
    """
    c = correlation
    forward = 200
    return [
        note(f"ProfilerStep#{step}", host_at, 500),
        note("DistributedDataParallel.forward", host_at + 10, 90),
        host("aten::mm", host_at + 20, 20, **{"Sequence number": c, "Fwd thread id": 0}),
        launch(host_at + 25, c),
        kernel("gemm", device_at, forward, c),
        host("autograd::engine::evaluate_function: MmBackward0", host_at + 110, 40, tid=AUTOGRAD,
             **{"Sequence number": c, "Fwd thread id": 1}),
        launch(host_at + 120, c + 1, tid=AUTOGRAD),
        kernel("gemm", device_at + forward, first, c + 1),
        *all_reduce(host_at + 152, device_at + link[0], link[1] - link[0], c + 2),
        host("autograd::engine::evaluate_function: AddBackward0", host_at + 170, 30, tid=AUTOGRAD),
        launch(host_at + 180, c + 3, tid=AUTOGRAD),
        kernel("gemm", device_at + forward + first, second, c + 3),
        note("Optimizer.step#SGD.step", host_at + 210, 90),
        launch(host_at + 220, c + 4),
        kernel("multi_tensor_apply", device_at + update[0], update[1] - update[0], c + 4),
    ]  # fmt: skip


def two_ranks():
    """Return two ranks of two DDP steps; the device runs behind the host.

    On rank 0 the buffer is full 400 µs after the forward kernel began, on rank 1 100 µs later,
    so rank 0 waits 100 µs for rank 1. Steps are 900 µs from update to update.
    """
    by_rank = {0: (200, 200, (405, 700), (710, 800)), 1: (300, 150, (505, 700), (712, 800))}
    documents = {}
    for rank, (first, second, link, update) in by_rank.items():
        events = []
        for k in range(2):
            events += ddp_step(
                k + 1, 500 * k, 100 + 900 * k, first, second, link, update, 10 * (k + 1)
            )
        documents[rank] = document(rank, events)
    return documents
