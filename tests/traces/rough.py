"""Runs nobody would record, with everything that the graph knows a rule for, at clashing times."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.traces.synthetic import document, host, kernel, launch, note

THREADS = (100, 101, 102)
STREAMS = (7, 8, 20)
CALLS = (
    "cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventQuery", "cudaStreamWaitEvent",
    "cudaEventRecord", "cudaMalloc", "hipStreamWaitEvent", "cuStreamSynchronize",
)  # fmt: skip
OPERATORS = (
    "aten::mm", "autograd::engine::evaluate_function: X", "c10d::allreduce_",
    "enumerate(DataLoader)#x", "DistributedDataParallel.forward", "Optimizer.step#SGD.step",
)  # fmt: skip
REGIONS = ("forward", "backward", "input", "whatever", "nccl:all_reduce", "save_checkpoint")


@st.composite
def device_rows(draw, at, length, ids, scale):
    """Rows of streams, launched before, later, by a graph launch, by nothing; some of no length."""
    moment = st.integers(at, at + length)
    events = []
    for _ in range(draw(st.integers(0, 5))):
        correlation = next(ids)
        call = draw(moment)
        if draw(st.integers(0, 4)):
            name = draw(st.sampled_from(["cudaLaunchKernel", "cudaGraphLaunch", "cudaMemcpyAsync"]))
            row = launch(call, correlation, tid=draw(st.sampled_from(THREADS)), name=name)
            row["dur"] = draw(st.integers(0, 20 * scale))
            events.append(row)
        cat = draw(st.sampled_from(["kernel", "kernel", "gpu_memcpy"]))
        for _ in range(draw(st.sampled_from([1, 1, 1, 3]))):
            late = draw(st.integers(-3, 30 * scale))
            events.append(
                kernel(draw(st.sampled_from(["gemm", "relu"])), max(call + late, 0),
                       draw(st.integers(0, 20 * scale)), correlation,
                       stream=draw(st.sampled_from(STREAMS)), cat=cat)
            )  # fmt: skip
    return events


@st.composite
def host_rows(draw, at, length, ids, scale):
    """Operators, calls, regions and Python functions on a few threads, nested or crossing."""
    moment = st.integers(at, at + length)
    lasts = st.integers(0, 25 * scale)
    events = []
    for _ in range(draw(st.integers(0, 6))):
        tid = draw(st.sampled_from(THREADS))
        sort = draw(st.integers(0, 3))
        if sort == 0:
            events.append(host(draw(st.sampled_from(CALLS)), draw(moment), draw(lasts), tid=tid,
                               cat="cuda_runtime", correlation=next(ids)))  # fmt: skip
        elif sort == 1:
            events.append(
                host(draw(st.sampled_from(OPERATORS)), draw(moment), draw(lasts), tid=tid)
            )
        elif sort == 2:
            events.append(host(draw(st.sampled_from(REGIONS)), draw(moment), draw(lasts), tid=tid,
                               cat="user_annotation"))  # fmt: skip
        else:
            events.append(host("train.py(3): f", draw(moment), draw(lasts), tid=tid,
                               cat="python_function"))  # fmt: skip
    return events


@st.composite
def syncs(draw, at, length, ids):
    """Recorded waits, which may name what isn't there."""
    events = []
    for _ in range(draw(st.integers(0, 2))):
        first, second = next(ids), next(ids)
        moment = st.integers(at, at + length)
        events += [
            host("cudaEventRecord", draw(moment), 1, cat="cuda_runtime", correlation=first),
            host("cudaStreamWaitEvent", draw(moment), 1, cat="cuda_runtime", correlation=second),
            kernel(draw(st.sampled_from(["Stream Wait Event", "Event Sync", "Stream Sync"])),
                   draw(moment), 1, second, stream=draw(st.sampled_from(STREAMS)), cat="cuda_sync",
                   wait_on_stream=draw(st.sampled_from([7, 20, 99, -1])),
                   wait_on_cuda_event_record_corr_id=draw(st.sampled_from([first, second, -1]))),
        ]  # fmt: skip
    return events


@st.composite
def rank_rows(draw, steps, exchanges, scale):
    """All rows of one rank; exchanges on a stream or on threads."""
    ids = iter(range(1, 10_000))
    events = []
    at = draw(st.integers(0, 40 * scale))
    on_device = draw(st.booleans())
    said = {"Collective name": "allreduce", "In msg nelems": 8, "Process Group Name": "0"}
    for step in range(steps):
        length = draw(st.integers(20, 60)) * scale
        if steps > 1 or draw(st.booleans()):
            events.append(note(f"ProfilerStep#{step + 1}", at, length))
        events += draw(host_rows(at, length, ids, scale))
        if on_device or draw(st.booleans()):
            events += draw(device_rows(at, length, ids, scale)) + draw(syncs(at, length, ids))
        for _ in range(exchanges):
            moment, lasts = draw(st.integers(at, at + length)), draw(st.integers(0, 30 * scale))
            late = draw(st.integers(0, 10 * scale))
            if on_device:
                correlation = next(ids)
                events += [launch(moment, correlation),
                           kernel("ncclDevKernel_AllReduce", moment + late, lasts, correlation,
                                  stream=20, **said)]  # fmt: skip
            else:
                events += [host("c10d::allreduce_", moment, 5, **{"Input Dims": [[[8]]]}),
                           host("gloo:all_reduce", moment + late, lasts, cat="user_annotation",
                                tid=draw(st.sampled_from([100, 200, 201])),
                                **{"Input Dims": [[8]]})]  # fmt: skip
        at += length
    return events or [host("aten::mm", at, 5)]


@st.composite
def rough_runs(draw):
    """A few ranks; times of tens of µs, so that they clash, or of ms, so that gaps are long."""
    ranks, steps = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    scale = draw(st.sampled_from([1, 100]))
    alike = draw(st.booleans())
    exchanges = draw(st.integers(0, 3))
    return [
        document(
            rank,
            draw(rank_rows(steps, exchanges if alike else draw(st.integers(0, 3)), scale)),
            world=ranks,
        )
        for rank in range(ranks)
    ]
