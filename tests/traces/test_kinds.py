"""What each row is, by its name, its place and what launched it (facts/capture.md §2)."""

from __future__ import annotations

import pytest

from stepviz.traces.classifying.kinds import with_kinds
from stepviz.traces.classifying.patterns import (
    annotation_kind,
    collective_name,
    is_exchange_kernel,
    kernel_collective,
)
from stepviz.traces.reading.files import rows_in
from tests.traces.synthetic import AUTOGRAD, document, host, kernel, launch, note


@pytest.fixture
def kinds_of(write_trace):
    """Return the kind of each named row of a trace."""

    def classify(rows):
        path = write_trace("rank0.json", document(0, rows))
        events = with_kinds(rows_in(path))
        return dict(zip(events["name"], events["kind"], strict=True))

    return classify


EVALUATE = "autograd::engine::evaluate_function: "


def test_nested_rows_have_the_kind_of_what_holds_them(kinds_of):
    kinds = kinds_of(
        [
            note("ProfilerStep#1", 0, 100),
            note("DistributedDataParallel.forward", 0, 20),
            host("aten::linear", 1, 5),
            host(EVALUATE + "AddmmBackward0", 30, 9),
            host("aten::mm", 31, 2),
            note("Optimizer.step#AdamW.step", 50, 9),
            host("aten::_fused_adamw_", 51, 2),
            note("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 70, 9),
            host("aten::stack", 71, 2),
            host("aten::nothing", 90, 2),
        ]
    )
    assert kinds["aten::linear"] == "forward"
    assert kinds["aten::mm"] == "backward"
    assert kinds["aten::_fused_adamw_"] == "optimizer"
    assert kinds["aten::stack"] == "input"
    assert kinds["aten::nothing"] == "other"
    assert kinds["ProfilerStep#1"] == "other"


def test_an_annotation_holds_the_row_with_the_same_times_whatever_the_order(kinds_of):
    kinds = kinds_of(
        [
            launch(50, 1, name="cudaLaunchKernel"),
            host("aten::_foreach_add_", 50, 2),
            note("Optimizer.step#SGD.step", 50, 2),
            kernel("multi_tensor_apply", 60, 5, 1),
        ]
    )
    assert kinds == dict.fromkeys(kinds, "optimizer")


def test_forward_without_annotations_by_sequence_numbers(kinds_of):
    kinds = kinds_of(
        [
            host("aten::linear", 0, 5, **{"Sequence number": 7, "Fwd thread id": 0}),
            host("aten::addmm", 1, 2),
            host("aten::eval_only", 6, 2, **{"Sequence number": 9, "Fwd thread id": 0}),
            host(EVALUATE + "AddmmBackward0", 30, 9, tid=AUTOGRAD,
                 **{"Sequence number": 7, "Fwd thread id": 1}),
        ]
    )  # fmt: skip
    assert kinds["aten::linear"] == "forward"
    assert kinds["aten::addmm"] == "forward"
    assert kinds["aten::eval_only"] == "other"


def test_forward_again_inside_backward_is_recompute(kinds_of):
    kinds = kinds_of(
        [
            host(EVALUATE + "CheckpointFunctionBackward", 30, 60,
                 **{"Sequence number": 7, "Fwd thread id": 1}),
            host("aten::again", 31, 9, **{"Sequence number": 90, "Fwd thread id": 0}),
            host("aten::inner", 32, 2),
            host(EVALUATE + "MmBackward0", 50, 9, **{"Sequence number": 90, "Fwd thread id": 1}),
            host("aten::gradient", 51, 2),
        ]
    )  # fmt: skip
    assert kinds["aten::again"] == kinds["aten::inner"] == "recompute"
    assert kinds["aten::gradient"] == "backward"


def test_a_kernel_has_the_kind_of_its_launch_not_of_its_time(kinds_of):
    kinds = kinds_of(
        [
            note("forward", 0, 20),
            launch(5, 1),
            note("optimizer", 30, 20),
            launch(35, 2),
            kernel("late forward kernel", 40, 5, 1),
            kernel("update kernel", 60, 5, 2),
            kernel("no launch", 70, 5, 99),
            kernel("Memcpy HtoD (Pageable -> Device)", 80, 5, 98, cat="gpu_memcpy"),
            kernel("Stream Wait Event", 0, 90, 1, cat="cuda_sync"),
        ]
    )
    assert kinds["late forward kernel"] == "forward"
    assert kinds["update kernel"] == "optimizer"
    assert kinds["no launch"] == "other"
    assert kinds["Memcpy HtoD (Pageable -> Device)"] == "input"


def test_one_launch_of_a_graph_has_many_kernels(kinds_of):
    kinds = kinds_of(
        [
            note("forward", 0, 20),
            launch(5, 1, name="cudaGraphLaunch"),
            kernel("node a", 40, 5, 1),
            kernel("node b", 50, 5, 1),
        ]
    )
    assert kinds["node a"] == kinds["node b"] == "forward"


@pytest.mark.parametrize(
    "name",
    [
        "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)",
        "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long)",
        "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)",
        "rcclGenericKernel",
        "void ncclDevFunc_AllGather_RING_SIMPLE()",
    ],
)
def test_names_of_exchange_kernels(name):
    assert is_exchange_kernel(name)


@pytest.mark.parametrize(
    "name", ["gemm", "void reduce_kernel<512>", "Memcpy DtoD", "nccl_like"[4:]]
)
def test_other_kernels_are_no_exchange(name):
    assert not is_exchange_kernel(name)


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("allreduce", "all-reduce"),
        ("allreduce_", "all-reduce"),
        ("all_reduce", "all-reduce"),
        ("_allgather_base", "all-gather"),
        ("alltoall_base_", "all-to-all"),
        ("broadcast", "broadcast"),
        ("barrier", "barrier"),
    ],
)
def test_one_spelling_for_collectives(word, said):
    assert collective_name(word) == said


def test_a_kernel_name_tells_its_collective():
    assert kernel_collective("ncclDevKernel_ReduceScatter_Sum_f32") == "reduce-scatter"
    assert kernel_collective("ncclDevKernel_Generic") == "exchange"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("## forward ##", "forward"),
        ("forward#micro=0", "forward"),
        ("backward#micro=0#sync=1", "backward"),
        ("## backward ##", "backward"),
        ("optimizer", "optimizer"),
        ("zero_grad", "optimizer"),
        ("## wait_for_batch ##", "input"),
        ("## copy_batch_to_gpu ##", "input"),
        ("recompute", "recompute"),
        ("save_checkpoint", "checkpoint"),
        ("forward_hook_timing", None),
        ("my step", None),
    ],
)
def test_words_people_write(name, kind):
    assert annotation_kind(name) == kind


def test_gloo_inside_an_emulated_exchange_is_not_the_exchange(kinds_of):
    kinds = kinds_of(
        [
            host("ddp_exchange#0#bytes=8#emulated=1", 0, 50, cat="user_annotation", tid=5),
            host("gloo:all_reduce", 5, 9, cat="user_annotation", tid=6),
            host("gloo:barrier", 70, 9, cat="user_annotation", tid=6),
        ]
    )
    assert kinds["ddp_exchange#0#bytes=8#emulated=1"] == "exchange"
    assert kinds["gloo:all_reduce"] == "other"
    assert kinds["gloo:barrier"] == "exchange"
