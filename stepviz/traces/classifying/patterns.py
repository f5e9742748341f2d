"""Names that real libraries give to their work, as data: what each one means.

The first pattern that matches decides. Regions are annotations and operators of the host;
kernels are device rows, matched before what launched them is asked.
"""

from __future__ import annotations

import re
from typing import Final

#: Operators that the framework itself names.
OPERATORS: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (re.compile(r"^autograd::engine::evaluate_function"), "backward"),
    (re.compile(r"^Optimizer\.(step|zero_grad)#"), "optimizer"),
    (re.compile(r"^enumerate\(DataLoader\)#"), "input"),
    (re.compile(r"^(DistributedDataParallel|DataParallel|FullyShardedDataParallel)\.forward$"),
     "forward"),
    # Copying averaged gradients back is no gradient work: exchange that only copying runs
    # beside is exposed.
    (re.compile(r"^torch\.distributed\.ddp\.reducer::copy_bucket_to_grad"), "other"),
    (re.compile(r"^torch\.save\b"), "checkpoint"),
)  # fmt: skip

#: Words people write into `record_function`, with or without the customary ## around them.
ANNOTATIONS: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (re.compile(r"^[#\s]*(recompute|recomputation)\b", re.IGNORECASE), "recompute"),
    (re.compile(r"^[#\s]*(forward|fwd)\b", re.IGNORECASE), "forward"),
    (re.compile(r"^[#\s]*(backward|bwd)\b", re.IGNORECASE), "backward"),
    (re.compile(r"^[#\s]*(optimizer|optimizer[._ ]step|optim|zero_grad)\b", re.IGNORECASE),
     "optimizer"),
    (re.compile(r"^[#\s]*(input|data|data_?load(ing|er)?|(load|get|next|wait_for)_batch|"
                r"copy_batch_to_gpu|h2d)\b", re.IGNORECASE), "input"),
    (re.compile(r"^[#\s]*((save|write)_?checkpoint|checkpoint[#._ ]?(save|write))",
                re.IGNORECASE), "checkpoint"),
)  # fmt: skip

#: Device rows that move data between ranks, by the names of NCCL (old and new), RCCL and kin.
EXCHANGE_KERNEL: Final = re.compile(
    r"^(nccl|rccl|msccl|oneccl|hccl|hcom_|xccl)|ncclDev(Kernel|Func)|ncclKernel", re.IGNORECASE
)
#: An update's kernel by its own name, for where its launch is not in the file.
OPTIMIZER_KERNEL: Final = re.compile(
    r"multi_tensor_apply|fused_?(adam|sgd|lamb|adagrad)|foreach_(adam|sgd)", re.IGNORECASE
)
#: Exchange that runs on a thread of the host.
EXCHANGE_HOST: Final = re.compile(r"^gloo:(?P<collective>\w+)")
#: An emulated fabric: the sleep is the exchange, the real transport inside it is not.
EXCHANGE_EMULATED: Final = re.compile(r"^ddp_exchange#(?P<bucket>\d+)(#bytes=(?P<bytes>\d+))?")
#: The annotation of a communication hook, around the launch of one bucket.
BUCKET: Final = re.compile(r"^ddp_bucket#(?P<bucket>\d+)(#bytes=(?P<bytes>\d+))?")
#: The host operator that launches a collective.
LAUNCH: Final = re.compile(r"^c10d::(?P<collective>\w+)")
#: The annotation around an NCCL launch, which names the collective where its kernel does not.
NCCL_REGION: Final = re.compile(r"^nccl:(?P<collective>\w+)")
#: Calls that wait for a device; their time is nobody's work.
WAITING_CALL: Final = re.compile(r"(Synchronize|EventQuery|StreamQuery)", re.IGNORECASE)
#: A step's marker.
STEP: Final = re.compile(r"^ProfilerStep\s*#?\s*(?P<step>\d{1,18})$")

_SPELLING: Final = {
    "allreduce": "all-reduce",
    "alltoall": "all-to-all",
    "alltoallbase": "all-to-all",
    "alltoallv": "all-to-all",
    "allgather": "all-gather",
    "allgatherbase": "all-gather",
    "allgatherintotensor": "all-gather",
    "allgathercoalesced": "all-gather",
    "allgatherintotensorcoalesced": "all-gather",
    "reducescatter": "reduce-scatter",
    "reducescatterbase": "reduce-scatter",
    "reducescattertensor": "reduce-scatter",
    "reducescattertensorcoalesced": "reduce-scatter",
    "allreducecoalesced": "all-reduce",
    "sendrecv": "send-recv",
}
_KERNEL_WORDS: Final = re.compile(
    r"(AllReduce|AllGather|ReduceScatter|Broadcast|SendRecv|AllToAll|Reduce)", re.IGNORECASE
)


def operator_kind(name: str) -> str | None:
    """Return the kind of a framework operator or annotation by its name, None if no pattern."""
    return next((kind for pattern, kind in OPERATORS if pattern.search(name)), None)


def annotation_kind(name: str) -> str | None:
    """Return the kind that a user's annotation names, None if it names none."""
    return next((kind for pattern, kind in ANNOTATIONS if pattern.search(name)), None)


def collective_name(word: str) -> str:
    """Return one spelling for a collective: ``all_reduce``, ``allreduce_`` → ``all-reduce``."""
    plain = re.sub(r"[^a-z0-9]", "", word.lower())
    return _SPELLING.get(plain, plain or "exchange")


def kernel_collective(name: str) -> str:
    """Return the collective that an exchange kernel's own name tells."""
    found = _KERNEL_WORDS.search(name)
    return collective_name(found.group(1)) if found else "exchange"
