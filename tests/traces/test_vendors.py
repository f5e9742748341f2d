"""Other back ends, old profilers and lost launches: kinds, exchange and steps are found alike."""

from __future__ import annotations

import pytest

import stepviz as sv
from stepviz.traces.rank_trace import RankTrace
from stepviz.traces.reading.files import rows_in
from tests.traces.synthetic import document, host, kernel, launch, note


@pytest.fixture
def classified(write_trace):
    """Return a rank's rows with their kinds."""

    def classify(rows, **extra):
        path = write_trace("rank0.json", {**document(0, rows), **extra})
        return RankTrace.of(rows_in(path))

    return classify


def kinds(trace):
    events = trace.events
    return dict(zip(events["name"], events["kind"].astype(str), strict=True))


def arrow(number, host_ts, device_ts, stream, *, cat="ac2g", host_tid=100):
    """Return the two ends of an arrow from a call to its device row."""
    start = {"ph": "s", "cat": cat, "name": cat, "id": number, "pid": 1, "tid": host_tid}
    return [
        {**start, "ts": host_ts},
        {**start, "ph": "f", "pid": 0, "tid": stream, "ts": device_ts, "bp": "e"},
    ]


#: Category and launch call, device category, exchange of each back end.
BACK_ENDS = {
    "cuda": ("cuda_runtime", "cudaLaunchKernel", "kernel", "ncclDevKernel_AllReduce_Sum_f32"),
    "cuda, launched by the driver": ("cuda_driver", "cuLaunchKernelEx", "kernel", "ncclDevKernel"),
    "hip": ("hip_runtime", "hipExtModuleLaunchKernel", "kernel", "ncclDevKernel_Generic_4"),
    "hip as cuda": ("cuda_runtime", "hipLaunchKernel", "kernel", "rcclGenericKernel"),
    "hip graph": ("cuda_runtime", "hipGraphLaunch", "kernel", "ncclDevKernel_Generic_4"),
    "xpu": ("xpu_runtime", "urEnqueueKernelLaunch", "kernel", "oneccl_allreduce_pcie<Ring>"),
    "mtia": ("mtia_runtime", "runFunction", "mtia_ccp_events", "mscclKernel_Sum"),
    "npu": ("privateuse1_runtime", "Node@launch", "kernel", "hcom_allReduce__503_0_1"),
    "privateuse1": ("privateuse1_driver", "launch", "kernel", "hcclAllreduce"),
    "the next one": ("novel_runtime", "launchNovel", "kernel", "ncclKernel_AllReduce"),
    "old names": ("Runtime", "cudaLaunchKernel", "Kernel", "ncclAllReduceRingLLKernel_sum_f32"),
}


@pytest.mark.parametrize("back_end", BACK_ENDS)
@pytest.mark.parametrize("stream", [0, 7])
def test_each_back_end(back_end, stream, classified):
    runtime, call, device, exchange = BACK_ENDS[back_end]
    trace = classified(
        [
            note("ProfilerStep#3", 0, 100),
            note("forward", 5, 20),
            host(call, 8, 2, cat=runtime, correlation=1),
            host(call, 12, 2, cat=runtime, correlation=2),
            kernel("gemm", 30, 40, 1, stream=stream, cat=device),
            kernel(exchange, 70, 50, 2, stream=stream + 1, cat=device),
        ]
    )
    said = kinds(trace)
    assert said["gemm"] == "forward"
    assert said[exchange] == "exchange"
    assert trace.exchanges["during"].tolist() == ["forward"]
    # From the host's start to the end of the exchange.
    assert [(w.step, w.measured, w.duration_ns) for w in trace.windows] == [(3, "device", 120_000)]


def test_what_a_back_end_calls_a_collective_is_exchange(classified):
    trace = classified([launch(0, 1), kernel("opaque", 5, 9, 1, cat="collective_comm")])
    assert kinds(trace)["opaque"] == "exchange"


def test_cpu_and_gloo_alone(classified):
    trace = classified(
        [
            note("ProfilerStep#1", 0, 100),
            host("autograd::engine::evaluate_function: X", 10, 30),
            host("c10d::allreduce_", 15, 2),
            host("gloo:all_reduce", 18, 60, cat="user_annotation", tid=200),
            host("mpi:all_gather", 20, 50, cat="user_annotation", tid=201),
        ]
    )
    said = kinds(trace)
    assert said["gloo:all_reduce"] == said["mpi:all_gather"] == "exchange"
    assert said["c10d::allreduce_"] == "backward"
    assert trace.windows[0].measured == "host"


@pytest.mark.parametrize("call", ["cudaGraphLaunch", "hipGraphLaunch"])
def test_all_rows_of_a_graph_come_from_its_one_launch(call, classified):
    trace = classified(
        [
            note("ProfilerStep#1", 0, 100),
            note("forward", 1, 30),
            launch(5, 1, name=call),
            *(kernel(f"node {k}", 40 + 10 * k, 9, 1) for k in range(5)),
            kernel("void multi_tensor_apply_kernel<FusedAdamMathFunctor>", 95, 9, 1),
        ]
    )
    said = kinds(trace)
    assert {said[f"node {k}"] for k in range(5)} == {"forward"}
    # A graph may hold a whole step: what is an update by its own name is one.
    assert said["void multi_tensor_apply_kernel<FusedAdamMathFunctor>"] == "optimizer"
    events = trace.events
    device = events[events["cat"] == "kernel"]
    assert device["launcher"].nunique() == 1 and (device["launcher"] >= 0).all()
    assert (device["place"] == 0).all()


@pytest.mark.parametrize("cat", ["ac2g", "async", "async_cpu_to_gpu", "async_gpu"])
def test_arrows_join_what_has_no_correlation(cat, classified):
    """The kernel runs in the second step, and belongs to the first, whose call launched it."""
    rows = [
        note("ProfilerStep#1", 0, 100),
        note("forward", 5, 20),
        host("cudaLaunchKernel", 8, 2, cat="cuda_runtime"),
        note("ProfilerStep#2", 100, 100),
        {**kernel("gemm", 130, 40, 1), "args": {"stream": 7}},
    ]
    lost = classified(rows)
    assert kinds(lost)["gemm"] == "other"
    trace = classified([*rows, *arrow(9, 8, 130, 7, cat=cat)])
    row = trace.events[trace.events["name"] == "gemm"].iloc[0]
    assert (row["kind"], row["place"]) == ("forward", 0)
    assert trace.events["name"][row["launcher"]] == "cudaLaunchKernel"
    assert trace.windows[0].finish_ns - trace.windows[0].start_ns == 170_000


def test_one_arrows_start_with_many_ends_is_a_graph(classified):
    rows = [note("forward", 5, 20), host("cudaGraphLaunch", 8, 2, cat="cuda_runtime")]
    rows += [{**kernel(f"node {k}", 40 + 10 * k, 5, 1), "args": {"stream": 7}} for k in range(3)]
    arrows = arrow(1, 8, 40, 7) + [arrow(1, 8, 40 + 10 * k, 7)[1] for k in (1, 2)]
    said = kinds(classified(rows + arrows))
    assert {said[f"node {k}"] for k in range(3)} == {"forward"}


def test_an_operators_number_tells_where_the_launch_is_lost(classified):
    """Not who launched it and when, but in which pass and in which step."""
    trace = classified(
        [
            note("ProfilerStep#1", 0, 100),
            note("backward", 5, 50),
            host("aten::mm", 8, 20, **{"External id": 77}),
            note("ProfilerStep#2", 100, 100),
            kernel("gemm", 130, 40, 1234, **{"External id": 77}),
        ]
    )
    row = trace.events[trace.events["name"] == "gemm"].iloc[0]
    assert (row["kind"], row["place"], row["launcher"]) == ("backward", 0, -1)
    assert trace.events["name"][row["source"]] == "aten::mm"


def test_correlations_that_come_again_join_the_last_call_before(classified):
    trace = classified(
        [
            note("forward", 0, 20), launch(5, 1),
            kernel("first", 10, 5, 1),
            note("backward", 50, 20), launch(55, 1),
            kernel("second", 60, 5, 1),
        ]
    )  # fmt: skip
    said = kinds(trace)
    assert (said["first"], said["second"]) == ("forward", "backward")


def test_a_correlation_of_nought_on_all_calls_joins_nothing(classified):
    trace = classified(
        [note("forward", 0, 20), launch(5, 0), launch(8, 0), kernel("gemm", 10, 5, 0)]
    )
    assert kinds(trace)["gemm"] == "other"


def test_annotations_on_the_device_are_no_truth(classified):
    """kineto 1022: they may be wrong in backward; kinds come from the launch."""
    trace = classified(
        [
            note("ProfilerStep#1", 0, 100),
            note("backward", 5, 20),
            launch(8, 1),
            kernel("gemm", 30, 40, 1),
            kernel("forward", 29, 60, 2, cat="gpu_user_annotation"),
            kernel("ProfilerStep#1", 0, 900, 3, cat="gpu_user_annotation"),
        ]
    )
    assert kinds(trace)["gemm"] == "backward"
    assert [w.duration_ns for w in trace.windows] == [100_000]


def test_old_categories_and_annotations_as_operators(classified):
    """Before annotations had a category of their own, they stood among the operators."""
    trace = classified(
        [
            host("ProfilerStep#1", 0, 100, cat="Operator"),
            host("forward", 2, 20, cat="Operator"),
            host("aten::mm", 4, 5, cat="Operator"),
            host("cudaLaunchKernel", 5, 2, cat="Runtime", correlation=1),
            host("AddmmBackward", 40, 9, cat="Operator",
                 **{"Sequence number": 3, "Fwd thread id": 1}),
            kernel("gemm", 30, 40, 1, cat="Kernel"),
            kernel("Memcpy HtoD (Pageable -> Device)", 20, 5, 9, cat="Memcpy"),
        ]
    )  # fmt: skip
    said = kinds(trace)
    assert said["gemm"] == said["aten::mm"] == "forward"
    assert said["AddmmBackward"] == "backward"
    assert said["Memcpy HtoD (Pageable -> Device)"] == "input"
    assert [(w.step, w.measured) for w in trace.windows] == [(1, "device")]


def process(pid, name):
    return {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}}


def test_ascend_says_by_processes_what_rows_are(classified):
    """No categories on the hardware, times as text, arrows from the operator to its task."""

    def task(pid, tid, name, ts, dur, **args):
        return {"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": f"{ts}.000", "dur": dur,
                "args": args}  # fmt: skip

    rows = [
        process(5, "CANN"), process(6, "Ascend Hardware"), process(7, "Communication(HCCL)"),
        process(8, "Overlap Analysis"),
        note("ProfilerStep#1", 0, 100),
        note("forward", 1, 30),
        host("aten::mm", 5, 10, **{"Sequence number": 1, "Fwd thread id": 0}),
        task(5, 1, "Node@launch", 7, 2),
        task(6, 3, "aclnnMatmul_MatMulV2", 40, 30, **{"Task Type": "AI_CORE"}),
        task(6, 3, "EVENT_WAIT", 30, 10, **{"Task Type": "EVENT_WAIT"}),
        task(6, 3, "MEMCPY_ASYNC", 70, 5, **{"Task Type": "MEMCPY_ASYNC"}),
        task(7, 0, "hcom_allReduce__503_0_1", 80, 90),
        task(7, 1, "Notify_Wait", 80, 60),
        task(8, 0, "Computing", 40, 30),
        *arrow(1, 5, 40, 3, cat="async_npu"),
    ]  # fmt: skip
    for row in rows:
        # The arrow's end lies in the hardware's process.
        if row["ph"] == "f":
            row["pid"] = 6
    trace = classified(rows)
    events = trace.events.set_index("name")
    assert events.at["aclnnMatmul_MatMulV2", "kind"] == "forward"
    assert events.at["aclnnMatmul_MatMulV2", "place"] == 0
    assert events.at["hcom_allReduce__503_0_1", "kind"] == "exchange"
    assert events["cat"].astype(str).to_dict() | {"aten::mm": ""} == {
        "ProfilerStep#1": "user_annotation", "forward": "user_annotation", "aten::mm": "",
        "Node@launch": "privateuse1_runtime", "aclnnMatmul_MatMulV2": "kernel",
        "EVENT_WAIT": "npu_sync", "MEMCPY_ASYNC": "gpu_memcpy",
        "hcom_allReduce__503_0_1": "collective_comm", "Notify_Wait": "", "Computing": "",
    }  # fmt: skip


def test_two_ranks_of_xpu_exchange_together(write_trace):
    """No arguments name the collective or its group: the name of the kernel does."""
    for rank in (0, 1):
        events = []
        for k in (1, 2):
            at, c = 100 * k, 10 * k
            events += [
                note(f"ProfilerStep#{k}", at, 90),
                host("urEnqueueKernelLaunch", at + 5, 2, cat="xpu_runtime", correlation=c),
                kernel("gemm", at + 10, 40 + 10 * rank, c),
                host("urEnqueueKernelLaunch", at + 8, 2, cat="xpu_runtime", correlation=c + 1),
                kernel("oneccl_allreduce_pcie<Ring>", at + 50 + 10 * rank, 45 - 10 * rank, c + 1,
                       stream=8),
            ]  # fmt: skip
        folder = write_trace(f"rank{rank}.json", document(rank, events)).parent
    table = sv.load_run(folder).step(2).collectives
    assert table["collective"].tolist() == ["all-reduce"]
    assert (table["ranks"].iloc[0], table["last_rank"].iloc[0]) == (2, 1)
    assert table["skew_ns"].iloc[0] == 10_000
