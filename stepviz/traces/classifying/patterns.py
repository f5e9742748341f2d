"""Names that real libraries give to their work, as data: what each one means.

The first pattern that matches decides, users' own before these (see `added_patterns`). A
kernel is known by the name of its function alone: what stands in its template arguments or
parameters says what it works on, not what it is.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from stepviz.traces.classifying.function_names import function_name

Table = tuple[tuple[re.Pattern[str], str], ...]

#: Operators and annotations that frameworks write themselves.
OPERATORS: Final[Table] = (
    (re.compile(r"^autograd::engine::evaluate_function"), "backward"),
    (re.compile(r"^Optimizer\.(step|zero_grad)#"), "optimizer"),
    (re.compile(r"^aten::(_fused_(adamw?|sgd|adagrad|lamb)|_amp_foreach_non_finite_check"
                r"|_amp_update_scale)"), "optimizer"),
    (re.compile(r"^enumerate\(DataLoader\)#|^enumerate\(DataPipe\)#"), "input"),
    (re.compile(r"^(DistributedDataParallel|DataParallel|FullyShardedDataParallel)\.forward$"),
     "forward"),
    (re.compile(r"^FullyShardedDataParallel\._(pre|post)_forward|^FSDP::(root_)?(pre|post)_forward"
                r"|^FSDP::unshard_pre_forward"), "forward"),
    (re.compile(r"^FullyShardedDataParallel\._(pre|post)_backward"
                r"|^FSDP::(root_)?(pre|post)_backward"), "backward"),
    # Copying averaged gradients back is no gradient work: exchange that only copying runs
    # beside is exposed.
    (re.compile(r"^torch\.distributed\.ddp\.reducer::copy_bucket_to_grad"), "other"),
    (re.compile(r"^torch\.save\b"), "checkpoint"),
    # Lightning's profiler says `[pl][profile]`, the class, a dot and what it does.
    (re.compile(r"^\[pl\]\[profile\].*\.optimizer_(step|zero_grad)|"
                r"^\[pl\]\[profile\].*optimizer_step_with_closure"), "optimizer"),
    (re.compile(r"^\[pl\]\[profile\].*\.(backward|(on_)?(before|after)_backward)$"), "backward"),
    (re.compile(r"^\[pl\]\[profile\].*\.(training|validation|test|predict)_step$"), "forward"),
    (re.compile(r"^\[pl\]\[profile\].*(dataloader_next|\.batch_to_device|"
                r"\.transfer_batch_to_device|fetch_next_\w+_batch)$"), "input"),
    (re.compile(r"^\[pl\]\[profile\].*save_checkpoint"), "checkpoint"),
    # PARAM's benchmarks.
    (re.compile(r"^\[param\|.*\|forward\]$"), "forward"),
    (re.compile(r"^\[param\|.*\|backward\]$"), "backward"),
)  # fmt: skip

#: How most operators' names begin, and how those do among them that one of these patterns finds.
ATEN: Final = "aten::"
_TELLING_ATEN: Final = "aten::_"

#: Words people write into `record_function`, with or without the customary ## around them.
ANNOTATIONS: Final[Table] = (
    (re.compile(r"^[#\s]*(recompute|recomputation)\b", re.IGNORECASE), "recompute"),
    (re.compile(r"^[#\s]*(forward|fwd)([-_ ](pass|step))?\b", re.IGNORECASE), "forward"),
    (re.compile(r"^[#\s]*(backward|bwd)([-_ ](pass|step))?\b", re.IGNORECASE), "backward"),
    (re.compile(r"^[#\s]*((optimizer|optim|opt)([-._ ](step|update))?|zero_grad)\b",
                re.IGNORECASE), "optimizer"),
    (re.compile(r"^[#\s]*(input|data|data_?load(ing|er)?|(load|get|next|fetch|wait_for)_"
                r"(next_)?(batch|data)|copy_batch_to_gpu|batch[-_ ]generator|h2d)\b",
                re.IGNORECASE), "input"),
    (re.compile(r"^[#\s]*((save|write)[-_ ]?checkpoint|checkpoint[#._ ]?(save|saving|write))",
                re.IGNORECASE), "checkpoint"),
)  # fmt: skip

#: Python functions, as `with_stack` writes them: "path/to/file.py(line): function".
FUNCTIONS: Final[Table] = (
    (re.compile(r"torch/utils/data/dataloader\.py\(\d+\): __next__$"), "input"),
    (re.compile(r"torch/autograd/__init__\.py\(\d+\): backward$"), "backward"),
    (re.compile(r"torch/optim/\w+\.py\(\d+\): (step|zero_grad)$"), "optimizer"),
    (re.compile(r"torch/serialization\.py\(\d+\): save$"
                r"|torch/distributed/checkpoint/\w+\.py\(\d+\): (async_)?save$"), "checkpoint"),
)  # fmt: skip

#: Functions that run on a device and move data between ranks, with what they do where their
#: name does not tell. NCCL old and new, RCCL, MSCCL and MSCCL++, oneCCL, HCCL, NVSHMEM;
#: DeepEP and its kin (their `layout` kernels move nothing); user buffers of Transformer
#: Engine; all-reduce of vLLM, SGLang, FlashInfer, TensorRT-LLM, AITER; symmetric memory.
EXCHANGES: Final[tuple[tuple[re.Pattern[str], str | None], ...]] = tuple(
    (re.compile(pattern, re.IGNORECASE), collective)
    for pattern, collective in (
        (r"^_*(nccl|rccl|msccl)|ncclDev(Kernel|Func)", None),
        (r"^(hcom|hccl)_?|(allreduce|allgather|reducescatter|alltoallv?|broadcast)aicpukernel",
         None),
        (r"(^|::)(oneapi_)?(one)?ccl(_|::)|^xccl|^sycl_(all|reduce_scatter|broadcast)", None),
        (r"^nvshmem", None),
        (r"^(deep_ep|uccl|uccl_ep|mori)::(?!.*layout).*(notify|dispatch|combine)", "all-to-all"),
        (r"^deep_ep::(?!layout)", "all-to-all"),
        (r"(^|::)moe_?a2a_?(dispatch|combine|prepare|sanitize)", "all-to-all"),
        (r"(^|::)ep(dispatch|combine)(intra|inter)node", "all-to-all"),
        (r"^k?userbuffers_.*(push|pull|proxy)sendrecv", "send-recv"),
        (r"^k?userbuffers_.*(push|pull|proxy)send", "send"),
        (r"^k?userbuffers_.*(push|pull|proxy)recv", "recv"),
        (r"^k?userbuffers_.*_rs(_|$)", "reduce-scatter"),
        (r"^k?userbuffers_.*_ag(_|$)", "all-gather"),
        (r"^k?userbuffers_.*_sum_", "all-reduce"),
        (r"^k?userbuffers_", None),
        (r"(^|::)cross_device_reduce", "all-reduce"),
        (r"(^|::)symmetric_memory::.*barrier", "barrier"),
        (r"(^|::)(symmetric_memory|intra_node_comm|nvshmem_extension)::", None),
    )
)  # fmt: skip
#: One of these is in every name that one of these patterns, or of those below, finds.
_EXCHANGE_WORDS: Final = (
    "ccl", "hcom", "aicpu", "sycl", "nvshmem", "_ep", "mori", "a2a", "node", "userbuffers",
    "cross_device", "symmetric", "reduce", "gather", "scatter", "toall", "to_all",
)  # fmt: skip
#: Anything else whose function is a collective by name …
_COLLECTIVE_WORD: Final = re.compile(
    r"all_?reduce|all_?gather|reduce_?scatter|all_?to_?all", re.IGNORECASE
)
#: … but functions that only sound so: the framework's own, what Inductor names after all that it
#: fused, reductions inside one device, and products fused with a collective, which are the
#: model's work.
_NO_EXCHANGE: Final = re.compile(
    r"^(at|cub|thrust|cutlass|cute|ck|ck_tile|rocprim)::|^triton_(poi|red|per|tem|for|unk|mm)"
    r"|(warp|block|thread|lane|cta|wave|subgroup|local)_?(all_?)?(reduce|gather)"
    r"|gemm|matmul|_mm_|_bmm|conv\d?d|attention|attn",
    re.IGNORECASE,
)

#: An update's kernel by its own name, whatever launched it.
OPTIMIZER_KERNEL: Final = re.compile(
    r"fused_?(adam|sgd|lamb|adagrad|novograd)|multi_tensor_(adam|sgd|lamb|novograd|adagrad)"
    r"|foreach_(adam|sgd)|(^|::)kOptimizer|adam_?(w_)?cuda_kernel",
    re.IGNORECASE,
)
#: The same, but for functions that others call too: only where no launch tells more.
LIKELY_OPTIMIZER_KERNEL: Final = re.compile(r"multi_tensor_apply|^triton_for_fused", re.IGNORECASE)
#: Copies from the host to a device.
COPY_IN: Final = re.compile(r"HtoD|HostToDevice|H2D|\bM2D\b", re.IGNORECASE)
#: Copies between two devices.
COPY_BETWEEN: Final = re.compile(r"PtoP|PeerToPeer|P2P", re.IGNORECASE)
#: Copies on one device.
COPY_WITHIN: Final = re.compile(r"DtoD|DeviceToDevice|D2D", re.IGNORECASE)

#: Host rows from inside which a copy between devices is a collective's: copy engines do the
#: work of collectives without a kernel.
EXCHANGE_REGION: Final = re.compile(
    r"^(nccl|rccl|xccl|hccl|ucc):|^c10d::|^record_param_comms$|^symm_mem::|^_c10d_functional::"
)
#: Exchange that runs on a thread of the host.
EXCHANGE_HOST: Final = re.compile(r"^(gloo|mpi):(?P<collective>\w+)")
#: An emulated fabric: the sleep is the exchange, the real transport inside it is not.
EXCHANGE_EMULATED: Final = re.compile(r"^ddp_exchange#(?P<bucket>\d+)(#bytes=(?P<bytes>\d+))?")
#: The annotation of a communication hook, around the launch of one bucket.
BUCKET: Final = re.compile(r"^ddp_bucket#(?P<bucket>\d+)(#bytes=(?P<bytes>\d+))?")
#: The host operator that launches a collective.
LAUNCH: Final = re.compile(r"^c10d::(?P<collective>\w+)")
#: The annotation around a launch of NCCL or kin, which names the collective where its kernel
#: does not.
NCCL_REGION: Final = re.compile(r"^(nccl|rccl|xccl|hccl|ucc):(?P<collective>\w+)")
#: Calls that launch a whole graph: what its nodes do, the call's place cannot tell.
GRAPH_LAUNCH: Final = re.compile(r"GraphLaunch", re.IGNORECASE)
#: Calls that wait for a device; their time is nobody's work.
WAITING_CALL: Final = re.compile(r"(Synchronize|EventQuery|StreamQuery)", re.IGNORECASE)
#: A step's marker.
STEP: Final = re.compile(r"^ProfilerStep\s*#?\s*(?P<step>\d{1,18})$")
#: The engine's row around all work for one gradient.
EVALUATE: Final = "autograd::engine::evaluate_function"
#: A row of a Python module's call, as `with_modules` and `with_stack` write it.
MODULE: Final = "nn.Module: "

_SPELLING: Final = {
    "allreduce": "all-reduce",
    "alltoall": "all-to-all",
    "alltoallbase": "all-to-all",
    "alltoallv": "all-to-all",
    "alltoallvc": "all-to-all",
    "alltoallsingle": "all-to-all",
    "allgather": "all-gather",
    "allgatherv": "all-gather",
    "allgatherbase": "all-gather",
    "allgatherintotensor": "all-gather",
    "allgathercoalesced": "all-gather",
    "allgatherintotensorcoalesced": "all-gather",
    "reducescatter": "reduce-scatter",
    "reducescatterv": "reduce-scatter",
    "reducescatterbase": "reduce-scatter",
    "reducescattertensor": "reduce-scatter",
    "reducescattertensorcoalesced": "reduce-scatter",
    "allreducecoalesced": "all-reduce",
    "allreducebarrier": "barrier",
    "sendrecv": "send-recv",
}
#: The collectives there are, in the one spelling of `collective_name`.
COLLECTIVES: Final = (
    "all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast", "reduce", "gather",
    "scatter", "send", "recv", "send-recv", "barrier",
)  # fmt: skip
_NO_LETTER: Final = re.compile(r"[^a-z0-9]")
_RARER_WORD: Final = re.compile(r"send_?recv|broadcast|reduce", re.IGNORECASE)


# All ranks, and all steps, have the same names.
_remembered: Final = lru_cache(maxsize=1 << 14)


@_remembered
def operator_kind(name: str) -> str | None:
    """Return the kind of a framework operator or annotation by its name, None if no pattern."""
    plain = name.startswith(ATEN) and not name.startswith(_TELLING_ATEN)
    return None if plain else _said_at_start(OPERATORS, name)


@_remembered
def annotation_kind(name: str) -> str | None:
    """Return the kind that a user's annotation names, None if it names none."""
    return _said_at_start(ANNOTATIONS, name)


@_remembered
def function_kind(name: str) -> str | None:
    """Return the kind of a Python function, None if no pattern."""
    return next((kind for pattern, kind in FUNCTIONS if pattern.search(name)), None)


def _said_at_start(table: Table, name: str) -> str | None:
    # To search a name for what may only stand at its start takes three times as long.
    for pattern, kind in table:
        if pattern.match(name):
            return kind
    return None


def is_exchange_kernel(name: str) -> bool:
    """Say whether a device row moves data between ranks, by the name of its function."""
    return exchange_of(name) is not None


@_remembered
def exchange_of(name: str) -> str | None:
    """Return the collective of a device row, "exchange" where only that is known, else None."""
    function = function_name(name)
    plain = function.casefold()
    if not any(word in plain for word in _EXCHANGE_WORDS):
        return None
    for pattern, collective in EXCHANGES:
        if pattern.search(function):
            return collective or _told(function)
    if _COLLECTIVE_WORD.search(function) and not _NO_EXCHANGE.search(function):
        return _told(function)
    return None


def collective_name(word: str) -> str:
    """Return one spelling for a collective: ``all_reduce``, ``allreduce_`` → ``all-reduce``."""
    plain = _NO_LETTER.sub("", word.lower())
    return _SPELLING.get(plain, plain or "exchange")


def kernel_collective(name: str) -> str:
    """Return the collective that an exchange kernel's own name tells."""
    return exchange_of(name) or _told(name)


def _told(name: str) -> str:
    found = _COLLECTIVE_WORD.search(name) or _RARER_WORD.search(name)
    return collective_name(found[0]) if found else "exchange"
