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


def collective(kind, host_ts, ts, dur, correlation, *, elements=1000, tid=MAIN):
    """Return launch and kernel of one NCCL collective on the link's stream."""
    said = {"Collective name": kind, "In msg nelems": elements, "dtype": "Float", "Group size": 2,
            "Process Group Name": "0", "Process Group Description": "default_pg"}  # fmt: skip
    word = {"all_gather": "AllGather", "reduce_scatter": "ReduceScatter",
            "allreduce": "AllReduce"}[kind]  # fmt: skip
    return [
        launch(host_ts, correlation, tid=tid, name="cudaLaunchKernelExC"),
        kernel(f"ncclDevKernel_{word}_RING_LL", ts, dur, correlation, stream=LINK_STREAM, **said),
    ]


class _Device:
    """Writes rows one after the other; the host runs far ahead of the device."""

    def __init__(self, start):
        self.events, self.correlation, self.now = [], 0, start

    def run(self, host_ts, name, dur):
        """Run a kernel now."""
        self.correlation += 1
        self.events += [launch(host_ts, self.correlation),
                        kernel(name, self.now, dur, self.correlation)]  # fmt: skip
        self.now += dur

    def exchange(self, host_ts, kind, dur, *, at=None):
        """Exchange now, or beside what follows; return the end."""
        self.correlation += 1
        at = self.now if at is None else at
        self.events += collective(kind, host_ts, at, dur, self.correlation)
        return at + dur


def sharded(rank, layers, *, gather=100, forward=200, backward=400, scatter=100):
    """Return two steps of a model whose layers are gathered, used and scattered in turn.

    Nothing overlaps; 5 µs lie before and after each exchange. The optimizer takes 50 µs.
    """
    device = _Device(1000)
    at = 0
    for step in (1, 2):
        device.events.append(note(f"ProfilerStep#{step}", at, 60 * layers + 100))
        now = at + 5
        device.events.append(note("forward", now, 20 * layers))
        for _ in range(layers):
            device.now = device.exchange(now + 2, "all_gather", gather) + 5
            device.run(now + 8, "gemm", forward)
            device.now += 5
            now += 20
        device.events.append(note("backward", now, 40 * layers))
        for _ in range(layers):
            device.now = device.exchange(now + 2, "all_gather", gather) + 5
            device.run(now + 8, "gemm", backward)
            device.now += 5
            device.now = device.exchange(now + 15, "reduce_scatter", scatter) + 5
            now += 40
        device.events.append(note("Optimizer.step#SGD.step", now, 30))
        device.run(now + 5, "multi_tensor_apply", 50)
        at = now + 60
    return document(rank, device.events)


def many_small(rank, count):
    """Return two steps of `count` backward kernels of 1 ms, an all-reduce of 10 µs after each.

    Each runs beside the next kernel; the last one holds the optimizer (50 µs) for 20 µs.
    """
    device = _Device(1000)
    at = 0
    for step in (1, 2):
        device.events += [note(f"ProfilerStep#{step}", at, 10 * count + 60),
                          note("backward", at + 1, 10 * count)]  # fmt: skip
        now = at + 2
        for _ in range(count):
            device.run(now + 1, "gemm", 1000)
            device.exchange(now + 5, "allreduce", 10)
            now += 10
        device.events.append(note("Optimizer.step#SGD.step", now, 30))
        device.now += 20
        device.run(now + 5, "multi_tensor_apply", 50)
        at = now + 60
    return document(rank, device.events)


def gloo_step(rank, *, stop=0, wrapper=None, world=2):
    """Return one step over gloo, 14 ms and what `stop` adds, in µs.

    Forward 2 ms, two gradients of 2 ms with `stop` between them, an all-reduce launched at the
    end of the first one, which ends 6 ms after the second; then 2 ms to copy back and update.
    `wrapper` is an annotation around it all.
    """
    grad, done = 4000 + stop, 12000 + stop
    dims = {"Input Dims": [[8]], "Input type": ["float"]}
    events = [
        note("ProfilerStep#1", 0, done + 2000),
        host("DistributedDataParallel.forward", 0, 2000),
        host("autograd::engine::evaluate_function: A", 2000, 2000),
        host("c10d::allreduce_", 3900, 50, **{"Input Dims": [[[8]]]}),
        host("gloo:all_reduce", 3950, done - 3950, cat="user_annotation", tid=200, **dims),
        host("autograd::engine::evaluate_function: B", grad, 2000),
        host("torch.distributed.ddp.reducer::copy_bucket_to_grad", done + 10, 90),
        note("Optimizer.step#SGD.step", done + 100, 1900),
        host("aten::add_", done + 100, 1900),
    ]  # fmt: skip
    if wrapper is not None:
        events.insert(1, note(wrapper, 1, done + 1998))
    return document(rank, events, world=world)
