"""Patterns of names that users add, and what stepviz's own say and don't say."""

from __future__ import annotations

import pickle
import re
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stepviz as sv
from stepviz.traces.classifying import name_traits, patterns
from stepviz.traces.classifying.added_patterns import patterns_in_force
from stepviz.traces.classifying.function_names import function_name
from stepviz.traces.classifying.patterns import exchange_of
from stepviz.traces.rank_trace import RankTrace
from stepviz.traces.reading.files import rows_in
from tests.traces.synthetic import AUTOGRAD, document, host, kernel, launch, note, two_ranks


@pytest.fixture(autouse=True)
def none_left():
    """No test leaves a pattern behind for the next."""
    assert patterns_in_force() == ()
    yield
    left = patterns_in_force()
    for pattern in left:
        pattern.remove()
    assert left == ()


@pytest.fixture
def kinds_of(write_trace):
    def classify(rows):
        path = write_trace("rank0.json", document(0, rows))
        events = RankTrace.of(rows_in(path)).events
        return dict(zip(events["name"], events["kind"], strict=True))

    return classify


ROWS = [
    note("forward", 0, 30),
    launch(5, 1),
    kernel("my_all2all<8>(int)", 10, 20, 1),
    launch(12, 2),
    kernel("gemm", 40, 5, 2),
    note("my trainer: update", 50, 30),
    host("mylib::adam_step", 52, 20),
    launch(55, 3),
    kernel("elementwise", 60, 5, 3),
]


def test_a_kernel_of_ones_own_is_exchange(kinds_of):
    assert kinds_of(ROWS)["my_all2all<8>(int)"] == "forward"
    with sv.add_pattern("exchange", r"^my_all2all", collective="all_to_all"):
        assert kinds_of(ROWS)["my_all2all<8>(int)"] == "exchange"
    assert kinds_of(ROWS)["my_all2all<8>(int)"] == "forward"


def test_an_annotation_of_ones_own_names_all_it_holds_and_launches(kinds_of):
    with sv.add_pattern("optimizer", r"^my trainer: update$", where="annotation"):
        kinds = kinds_of(ROWS)
    assert kinds["mylib::adam_step"] == kinds["elementwise"] == "optimizer"
    assert kinds["gemm"] == "forward"
    with sv.add_pattern("checkpoint", "adam_step", where="operator"):
        kinds = kinds_of(ROWS)
    assert kinds["my trainer: update"] == "other"
    assert kinds["elementwise"] == "checkpoint"


def test_a_users_pattern_goes_before_stepvizs_and_the_last_added_first(kinds_of):
    with sv.add_pattern("input", "^forward$", where="annotation"):
        assert kinds_of(ROWS)["gemm"] == "input"
        with sv.add_pattern("checkpoint", "^forward", where="annotation"):
            assert kinds_of(ROWS)["gemm"] == "checkpoint"
    nccl = [launch(0, 1), kernel("ncclDevKernel_AllReduce", 5, 5, 1)]
    with sv.add_pattern("other", "^ncclDevKernel"):
        assert kinds_of(nccl)["ncclDevKernel_AllReduce"] == "other"


def test_exchange_said_of_an_operator_is_what_it_launches(kinds_of):
    """The row itself has the kind of what holds it; without launches it is the exchange."""
    with sv.add_pattern("exchange", r"^mylib::adam", where="operator"):
        kinds = kinds_of(ROWS)
        assert kinds["elementwise"] == "exchange"
        assert kinds["mylib::adam_step"] == "other"
        assert kinds_of([host("mylib::adam_step", 0, 9)])["mylib::adam_step"] == "exchange"


def test_the_collective_is_as_the_user_says(write_trace):
    for rank, trace in two_ranks().items():
        for row in trace["traceEvents"]:
            row["name"] = row["name"].replace("ncclDevKernel_AllReduce", "ncclDevKernel_Generic")
            row.get("args", {}).pop("Collective name", None)
        folder = write_trace(f"rank{rank}.json", trace).parent
    with sv.add_pattern("exchange", "Generic", collective="all_to_all"):
        step = sv.load_run(folder).step(2)
    assert step.collectives["collective"].tolist() == ["all-to-all"]
    assert step.collectives["ranks"].tolist() == [2]


def test_patterns_are_listed_removed_and_gone():
    built_in = len(sv.list_patterns())
    first = sv.add_pattern("exchange", "one", collective="broadcast")
    sv.add_pattern("input", "two", where="annotation")
    sv.add_pattern("input", "two", where="operator")
    top = sv.list_patterns().head(3)
    assert top["pattern"].tolist() == ["two", "two", "one"]
    assert top["of"].tolist() == ["you"] * 3
    assert top["collective"].tolist() == ["", "", "broadcast"]
    assert sv.remove_pattern("two", where="operator") == 1
    assert sv.remove_pattern("two") == 1
    first.remove()
    first.remove()
    assert len(sv.list_patterns()) == built_in
    assert (sv.list_patterns()["of"] == "stepviz").all()
    with pytest.raises(sv.TraceError, match="no pattern of yours reads 'two'"):
        sv.remove_pattern("two")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"kind": "exchang", "pattern": "x"}, "did you mean 'exchange'"),
        ({"kind": "input", "pattern": "x", "where": "kernels"}, "did you mean 'kernel'"),
        ({"kind": "input", "pattern": "("}, "no regular expression"),
        ({"kind": "input", "pattern": "a(?P<"}, "re.escape"),
        ({"kind": "input", "pattern": ""}, "matches every name"),
        ({"kind": "input", "pattern": ".*"}, "matches every name"),
        ({"kind": "input", "pattern": 3}, "is text, not int"),
        ({"kind": "input", "pattern": re.compile("x")}, "pass its .pattern"),
        ({"kind": "input", "pattern": "x", "collective": "all-reduce"}, "belongs to exchange"),
        ({"kind": "exchange", "pattern": "x", "collective": "allredux"}, "did you mean"),
        ({"kind": "step", "pattern": "x"}, "a kernel marks no step"),
    ],
)
def test_what_cannot_be_meant_is_refused(arguments, said):
    with pytest.raises(sv.TraceError, match=re.escape(said)):
        sv.add_pattern(**arguments)


def _kinds_there(path, added):
    rows = rows_in(path)
    return RankTrace.of(rows, added).events["kind"].astype(str).tolist()


def test_patterns_travel_to_worker_processes(write_trace):
    path = write_trace("rank0.json", document(0, ROWS))
    with sv.add_pattern("exchange", "^my_all2all"):
        added = patterns_in_force()
        assert pickle.loads(pickle.dumps(added)) == added  # noqa: S301  # our own bytes
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            there = pool.submit(_kinds_there, path, added).result()
        assert there == _kinds_there(path, added)
    assert "exchange" in there
    assert "exchange" not in _kinds_there(path, ())


EXCHANGES = {
    "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)": "all-reduce",
    "ncclAllReduceRingLLKernel_sum_f32(ncclColl)": "all-reduce",
    "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)":
        "reduce-scatter",
    "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)": "all-gather",
    "ncclDevKernel_AllReduce_Sum_f16_NVLS_SIMPLE(ncclDevComm*)": "all-reduce",
    "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)": "send-recv",
    "ncclSymkDevKernel_AllReduce_AGxLL_R_sum_f8e5m2(ncclSymkDevWorkArgs4K)": "all-reduce",
    "_Z23ncclDevKernel_Generic_124ncclDevKernelArgsStorageILm4096EE": "exchange",
    "rcclGenericKernel": "exchange",
    "mscclKernel_Sum_half_SimpleLL": "exchange",
    "void mscclpp::allreduceKernel<int>(int)": "all-reduce",
    "oneccl_allreduce_pcie<RingTransmit>": "all-reduce",
    "hcom_allReduce__503_0_1": "all-reduce",
    "hcom_alltoallv_": "all-to-all",
    "hcom_reduceScatter__417_2_1": "reduce-scatter",
    "allreduceAicpuKernel": "all-reduce",
    "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*)":
        "all-reduce",
    "void two_shot_all_reduce_kernel_inplace<c10::BFloat16, 16, 2>(c10::BFloat16**)": "all-reduce",
    "one_shot_all_reduce_kernel": "all-reduce",
    "void c10d::symmetric_memory::barrier_kernel(unsigned int**)": "barrier",
    "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*)": "all-reduce",
    "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<"
    "(flashinfer::trtllm_allreduce_fusion::AllReduceFusionPattern)1, __nv_bfloat16, 8>(int)":
        "all-reduce",
    "void tensorrt_llm::kernels::oneShotAllReduceKernel<half>(int)": "all-reduce",
    "void deep_ep::intranode::dispatch<8, 768, 8192>(int4*)": "all-to-all",
    "void deep_ep::internode_ll::combine<true, 9>(void*)": "all-to-all",
    "_ZN7deep_ep9intranode15notify_dispatchILi8EEEvPKiPi": "all-to-all",
    "void userbuffers_fp16_sum_inplace_gpu_rw_ag<2>(int)": "all-gather",
    "void userbuffers_fp16_sum_inplace_gpu_rr_rs_oop<8>(int)": "reduce-scatter",
    "kuserbuffers_pushrecv(int, int)": "recv",
    "kuserbuffers_pushsend(int, int)": "send",
    "nvshmemi_transfer_rma": "exchange",
}  # fmt: skip

#: They sound like exchange, or carry such a word in what they are made for.
COMPUTE = [
    "gemm",
    "ampere_sgemm_128x64_tn",
    "void reduce_kernel<512>",
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::all_reduce> >",
    "void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl<all_reduce> >(i)",
    "void at::native::vectorized_elementwise_kernel<4, deep_ep::dispatch>(int)",
    "void at::native::(anonymous namespace)::dispatch_index_kernel<long>",
    "void at::native::(anonymous namespace)::all_gather_scale<long>",
    "triton_poi_fused_all_reduce_mul_3",
    "triton_red_fused__to_copy_all_gather_into_tensor_2",
    "void deep_ep::layout::get_dispatch_layout<256, 8>(long const*)",
    "void moe::dispatch_tokens<float>",
    "void block_all_reduce_sum<256>(float*)",
    "void warpAllReduce<float>(float*)",
    "gemm_all_reduce_fused_kernel",
    "void cutlass::Kernel2<all_gather_gemm>(int)",
    "broadcast_kernel",
    "void cub::DeviceReduceKernel<x>",
    "Memcpy DtoD (Device -> Device)",
    "Memcpy PtoP (Device -> Device)",
]


@pytest.mark.parametrize(("name", "collective"), EXCHANGES.items())
def test_names_of_exchange_in_real_libraries(name, collective):
    assert exchange_of(name) == collective


@pytest.mark.parametrize("name", COMPUTE)
def test_false_friends(name):
    assert exchange_of(name) is None


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("void f<int>(int)", "f"),
        ("void a::(anonymous namespace)::f<b::c>(d)", "a::f"),
        ("(odd)", "(odd)"),
        ("<odd>", "<odd>"),
        ("", ""),
        ("_Z", "_Z"),
        ("_ZN99x", "x"),
        ("_ZN12_GLOBAL__N_13foo3barEv", "foo::bar"),
        ("Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD"),
    ],
)
def test_the_function_of_a_kernel(name, function):
    assert function_name(name) == function


@pytest.mark.parametrize(
    "copy", ["Memcpy PtoP (Device -> Device)", "Memcpy DtoD (Device -> Device)"]
)
@pytest.mark.parametrize("around", ["nccl:all_gather", "c10d::allgather_", "record_param_comms"])
def test_copy_engines_do_a_collectives_work_without_a_kernel(copy, around, kinds_of):
    rows = [
        note("forward", 0, 50),
        host(around, 5, 20, cat="user_annotation" if ":" in around else "cpu_op"),
        launch(8, 1, name="cudaMemcpyAsync"),
        kernel(copy, 30, 10, 1, cat="gpu_memcpy"),
    ]
    assert kinds_of(rows)[copy] == "exchange"


def test_copies_that_are_no_exchange(kinds_of):
    """Between devices of one process; or gathered by an operator inside a collective's call."""
    rows = [
        note("forward", 0, 50),
        host("nccl:all_gather", 5, 20, cat="user_annotation"),
        host("aten::copy_", 6, 10),
        launch(8, 1, name="cudaMemcpyAsync"),
        kernel("Memcpy DtoD (Device -> Device)", 30, 10, 1, cat="gpu_memcpy"),
        host("aten::copy_", 40, 9),
        launch(42, 2, name="cudaMemcpyPeerAsync"),
        kernel("Memcpy PtoP (Device -> Device)", 60, 10, 2, cat="gpu_memcpy"),
    ]
    kinds = kinds_of(rows)
    assert kinds["Memcpy DtoD (Device -> Device)"] == "forward"
    assert kinds["Memcpy PtoP (Device -> Device)"] == "forward"


def test_a_graphs_copies_beside_exchange_alone_are_exchange(kinds_of):
    """A graph's launch tells nothing; a stream on which only collectives run does."""
    rows = [
        launch(0, 1, name="cudaGraphLaunch"),
        kernel("ncclDevKernel_AllReduce", 10, 5, 1, stream=20),
        kernel("Memcpy PtoP (Device -> Device)", 16, 5, 1, stream=20, cat="gpu_memcpy"),
        kernel("gemm", 10, 5, 1, stream=7),
        kernel("Memcpy PtoP (peer)", 16, 5, 1, stream=7, cat="gpu_memcpy"),
    ]
    kinds = kinds_of(rows)
    assert kinds["Memcpy PtoP (Device -> Device)"] == "exchange"
    assert kinds["Memcpy PtoP (peer)"] == "other"


def test_arguments_name_a_collective_whatever_the_kernel_is_called(kinds_of):
    said = {"Collective name": "allreduce", "In msg nelems": 8, "Process Group Name": "0"}
    assert kinds_of([launch(0, 1), kernel("custom_thing", 5, 5, 1, **said)])["custom_thing"] == (
        "exchange"
    )


@pytest.mark.parametrize(
    ("name", "category", "kind"),
    [
        ("[pl][profile][Strategy]SingleDeviceStrategy.backward", "user_annotation", "backward"),
        ("[pl][profile][Strategy]DDPStrategy.training_step", "user_annotation", "forward"),
        ("[pl][profile][LightningModule]Net.optimizer_step", "user_annotation", "optimizer"),
        ("[pl][profile][_TrainingEpochLoop].train_dataloader_next", "user_annotation", "input"),
        ("FSDP::pre_forward", "user_annotation", "forward"),
        ("FSDP::post_backward (layers.0)", "user_annotation", "backward"),
        ("Forward 3", "user_annotation", "forward"),
        ("optimizer_step", "user_annotation", "optimizer"),
        ("forward", "cpu_op", "forward"),
        ("aten::_fused_adamw_", "cpu_op", "optimizer"),
        ("site/torch/utils/data/dataloader.py(708): __next__", "python_function", "input"),
        ("torch/serialization.py(940): save", "python_function", "checkpoint"),
        ("forward_hook_timing", "user_annotation", "other"),
        ("aten::forward_thing", "cpu_op", "other"),
    ],
)
def test_names_that_frameworks_and_trainers_write(name, category, kind, kinds_of):
    assert kinds_of([host(name, 0, 9, cat=category)])[name] == kind


def test_an_updates_kernel_without_a_launch_and_one_that_others_use_too(kinds_of):
    rows = [
        note("backward", 0, 20),
        launch(5, 1),
        kernel("void multi_tensor_apply_kernel<Norm>", 10, 5, 1),
        kernel("void multi_tensor_apply_kernel<Adam>", 30, 5, 99),
        host("step", 50, 20, tid=AUTOGRAD),
        launch(55, 2, tid=AUTOGRAD),
        kernel("void at::native::multi_tensor_apply_kernel<at::FusedAdamMathFunctor>", 60, 5, 2),
    ]
    kinds = kinds_of(rows)
    assert kinds["void multi_tensor_apply_kernel<Norm>"] == "backward"
    assert kinds["void multi_tensor_apply_kernel<Adam>"] == "optimizer"
    assert kinds["void at::native::multi_tensor_apply_kernel<at::FusedAdamMathFunctor>"] == (
        "optimizer"
    )


def test_names_show_where_a_pattern_is_missing(write_trace):
    path = write_trace("rank0.json", document(0, ROWS, world=1))
    frame = sv.load_run(path).names()
    assert frame["name"].tolist()[:2] == ["forward", "my trainer: update"]
    row = frame[frame["name"] == "my_all2all<8>(int)"].iloc[0]
    assert row.drop("name").to_dict() == {
        "where": "kernel", "kind": "forward", "rows": 1, "total_ns": 20_000, "ranks": 1,
    }  # fmt: skip
    with sv.add_pattern("exchange", "^my_all2all"):
        run = sv.load_run(path)
    assert run.names("exchange")["name"].tolist() == ["my_all2all<8>(int)"]
    with pytest.raises(sv.TraceError, match="did you mean 'exchange'"):
        run.names("exchang")


@given(
    data=st.data(),
    pattern=st.sampled_from([*patterns.EXCHANGES, (patterns._COLLECTIVE_WORD, None)]),
)
def test_every_exchange_has_one_of_the_words_looked_for_first(data, pattern):
    """To test names for a few words first must not lose any that a pattern finds."""
    name = data.draw(st.from_regex(pattern[0]))
    assert any(word in name.casefold() for word in patterns._EXCHANGE_WORDS)


@given(name=st.text().map("aten::{}".format), told=st.sampled_from([*patterns.OPERATORS]))
def test_what_is_not_asked_of_operators_is_true_of_none(name, told):
    assert not any(test(name) for _, test in name_traits._TESTS)
    assert name.startswith("aten::_") or not told[0].match(name)


@given(data=st.data(), pattern=st.sampled_from([*patterns.OPERATORS, *patterns.ANNOTATIONS]))
def test_what_names_begin_with_is_found_at_their_start_alone(data, pattern):
    assert pattern[0].match(data.draw(st.from_regex(pattern[0])))
