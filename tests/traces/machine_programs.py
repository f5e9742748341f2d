"""Training steps as programs for the machine: DDP, FSDP, a pipeline, tensor parallel, experts.

Lengths come from `pick`, by default random for each rank; `slow` makes a rank's kernels longer and
`host_slow` its operators. Transfers are the same on all members.
"""

from __future__ import annotations

import random

from tests.traces.machine import AUTOGRAD, COMPUTE, LINK, OTHER_LINK, Machine

GRADIENT = "autograd::engine::evaluate_function: MmBackward0"


class Lengths:
    """Lengths of one rank's work, µs; of all ranks the same where `alike`."""

    def __init__(self, seed, rank, *, alike=False, slow=None, host_slow=None):
        self._own = random.Random(f"{seed} own" if alike else f"{seed} {rank}")  # no secret
        self._seed, self._shared = seed, {}
        self._slow, self._host_slow = (slow or {}).get(rank, 1), (host_slow or {}).get(rank, 1)

    def device(self, low, high):
        """How long a kernel takes."""
        return self._own.uniform(low, high) * self._slow

    def host(self, low=5, high=15):
        """How long an operator takes."""
        return self._own.uniform(low, high) * self._host_slow

    def shared(self, low, high, group="0"):
        """How long a transfer takes, the same for the members of its group."""
        made = self._shared.setdefault(group, random.Random(f"{self._seed} group {group}"))
        return made.uniform(low, high)


def _steps(rank, count):
    rank.op("aten::empty", 1)
    for step in range(1, count + 1):
        rank.step = step
        with rank.region(f"ProfilerStep#{step}"):
            yield step


def _update(rank, lengths):
    with rank.region("Optimizer.step#SGD.step", kind="optimizer"):
        rank.op("aten::_foreach_add_", lengths.host(9, 11))
        rank.kernel("multi_tensor_apply", lengths.device(50, 100))


def _exchanged(rank, kind, us, *, stream=LINK, **said):
    """Exchange what was computed, on a stream of its own; return the event of its end."""
    rank.wait(stream, rank.record(COMPUTE))
    rank.collective(kind, us, stream=stream, **said)
    return rank.record(stream)


def ddp(
    seed, ranks=3, buckets=4, steps=4, *, microbatches=1, item=False, loader=0, graph=False,
    buffers=False, **lengths,
):  # fmt: skip
    """Gradients in buckets, exchanged beside backward by the autograd thread."""
    machine = Machine(ranks)
    for rank in machine.ranks:
        length = Lengths(seed, rank.number, **lengths)
        for _ in _steps(rank, steps):
            for micro in range(microbatches):
                if loader:
                    name = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
                    with rank.region(name, kind="input"):
                        rank.op("aten::stack", length.host(0.5 * loader, 1.5 * loader))
                with rank.region("DistributedDataParallel.forward", kind="forward"):
                    if buffers:
                        done = _exchanged(rank, "broadcast", length.shared(20, 60), elements=7)
                        rank.wait(COMPUTE, done)
                    if graph:
                        times = [length.device(100, 400) for _ in range(3)]
                        rank.graph(["gemm_a", "gemm_b", "gemm_c"], times)
                    else:
                        for _ in range(4):
                            rank.op("aten::mm", length.host())
                            rank.kernel("gemm", length.device(100, 400))
                if item:
                    rank.op("aten::item", 2)
                    rank.sync(stream=COMPUTE)
                with rank.on(AUTOGRAD):
                    _gradients(rank, length, buckets, exchange=micro == microbatches - 1)
            _update(rank, length)
    return machine.run()


def _gradients(rank, length, buckets, *, exchange):
    for bucket in range(buckets):
        with rank.region(GRADIENT, cat="cpu_op", kind="backward"):
            rank.op("aten::mm", length.host())
            rank.kernel("gemm", length.device(100, 700))
            if exchange:
                transfer = length.shared(50, 600)
                done = _exchanged(rank, "allreduce", transfer, elements=1000 + bucket)
    if exchange:
        rank.wait(COMPUTE, done)


def fsdp(seed, ranks=4, layers=6, steps=4, *, syncs=False, **lengths):
    """Layers gathered one ahead, at most two at a time, and gradients scattered."""
    machine = Machine(ranks, syncs=syncs)
    for rank in machine.ranks:
        length = Lengths(seed, rank.number, **lengths)
        for _ in _steps(rank, steps):
            with rank.region("FullyShardedDataParallel.forward", kind="forward"):
                used = []
                gathered = [_exchanged(rank, "_allgather_base", length.shared(50, 300))]
                for layer in range(layers):
                    if layer + 1 < layers:
                        if layer >= 2:
                            rank.sync(event=used[layer - 2])
                        rank.collective("_allgather_base", length.shared(50, 300))
                        gathered.append(rank.record(LINK))
                    rank.wait(COMPUTE, gathered[layer])
                    rank.op("aten::mm", length.host())
                    rank.kernel("gemm_forward", length.device(100, 500))
                    used.append(rank.record(COMPUTE))
            with rank.on(AUTOGRAD):
                _scattered(rank, length, layers)
            _update(rank, length)
    return machine.run()


def _scattered(rank, length, layers):
    gathered = []
    for layer in range(layers):
        with rank.region(GRADIENT, cat="cpu_op", kind="backward"):
            while len(gathered) < min(layer + 2, layers):
                rank.collective("_allgather_base", length.shared(50, 300))
                gathered.append(rank.record(LINK))
            rank.wait(COMPUTE, gathered[layer])
            rank.op("aten::mm", length.host())
            rank.kernel("gemm_backward", length.device(200, 900))
            transfer = length.shared(50, 400)
            done = _exchanged(rank, "_reduce_scatter_base", transfer, stream=OTHER_LINK)
    rank.wait(COMPUTE, done)


def pipeline(seed, stages=3, microbatches=4, steps=4, **lengths):
    """Stages that send activations on and gradients back, all forward before all backward."""
    machine = Machine(stages)
    for rank in machine.ranks:
        length = Lengths(seed, rank.number, **lengths)
        before, after = rank.number - 1, rank.number + 1
        for _ in _steps(rank, steps):
            for name, source, target, low, link in (
                ("forward", before, after, 200, LINK),
                ("backward", after, before, 400, LINK + 2),
            ):
                for _ in range(microbatches):
                    with rank.region(name, kind=name):
                        if 0 <= source < stages:
                            rank.receive(source, length.shared(20, 80, (source, rank.number)),
                                         stream=link)  # fmt: skip
                            rank.wait(COMPUTE, rank.record(link))
                        rank.op("aten::mm", length.host())
                        rank.kernel(f"gemm_{name}", length.device(low, 1.5 * low))
                        if 0 <= target < stages:
                            rank.wait(link + 1, rank.record(COMPUTE))
                            rank.send(target, length.shared(20, 80, (rank.number, target)),
                                      stream=link + 1)  # fmt: skip
            _update(rank, length)
    return machine.run()


def tensor_parallel(seed, tensor=2, data=2, layers=3, steps=4, **lengths):
    """Every layer's result reduced in one group, gradients beside it in another one."""
    groups = {f"t{d}": [tensor * d + t for t in range(tensor)] for d in range(data)}
    groups |= {f"d{t}": [tensor * d + t for d in range(data)] for t in range(tensor)}
    machine = Machine(tensor * data, groups)
    for rank in machine.ranks:
        length = Lengths(seed, rank.number, **lengths)
        inner, outer = f"t{rank.number // tensor}", f"d{rank.number % tensor}"
        for _ in _steps(rank, steps):
            with rank.region("forward", kind="forward"):
                for _ in range(layers):
                    rank.op("aten::mm", length.host())
                    rank.kernel("gemm_forward", length.device(100, 300))
                    transfer = length.shared(30, 60, inner)
                    rank.wait(COMPUTE, _exchanged(rank, "allreduce", transfer, group=inner))
            with rank.on(AUTOGRAD):
                for layer in range(layers):
                    with rank.region(GRADIENT, cat="cpu_op", kind="backward"):
                        rank.op("aten::mm", length.host())
                        rank.kernel("gemm_backward", length.device(200, 600))
                        transfer = length.shared(30, 60, inner)
                        rank.wait(COMPUTE, _exchanged(rank, "allreduce", transfer, group=inner))
                        rank.kernel("add", length.device(5, 10))
                        transfer = length.shared(100, 400, outer)
                        done = _exchanged(rank, "allreduce", transfer, group=outer,
                                          stream=OTHER_LINK, elements=5000 + layer)  # fmt: skip
                rank.wait(COMPUTE, done)
            _update(rank, length)
    return machine.run()


def experts(seed, ranks=4, layers=3, steps=4, **lengths):
    """Tokens sent to experts and back by uneven all-to-alls, which nothing hides."""
    machine = Machine(ranks)
    for rank in machine.ranks:
        length = Lengths(seed, rank.number, **lengths)
        for _ in _steps(rank, steps):
            for name, times in (("forward", 1), ("backward", 2)):
                with rank.region(name, kind=name):
                    for _ in range(layers):
                        rank.op("aten::mm", length.host())
                        rank.kernel("attention", times * length.device(100, 200))
                        for kernel, most in (("expert", 400), ("unpermute", 60)):
                            size = round(length.device(500, 1500))
                            done = _exchanged(rank, "all_to_allv", length.shared(40, 120),
                                              elements=size)  # fmt: skip
                            rank.wait(COMPUTE, done)
                            rank.kernel(kernel, times * length.device(50, most))
            _update(rank, length)
    return machine.run()


def gloo(seed, ranks=3, buckets=4, steps=4, **lengths):
    """Gradients exchanged by a thread of the library beside backward, on processors only."""
    machine = Machine(ranks)
    for rank in machine.ranks:
        length = Lengths(seed, rank.number, **lengths)
        for _ in _steps(rank, steps):
            with rank.region("DistributedDataParallel.forward", kind="forward"):
                for _ in range(3):
                    rank.op("aten::mm", length.device(500, 1500))
            done = []
            for bucket in range(buckets):
                with rank.region(GRADIENT, cat="cpu_op", kind="backward"):
                    rank.op("aten::mm", length.device(1000, 4000))
                    done.append(rank.gloo(length.shared(500, 3000), elements=1000 + bucket))
            for each in done:
                rank.until(each)
            with rank.region("torch.distributed.ddp.reducer::copy_bucket_to_grad", cat="cpu_op",
                             kind="backward"):  # fmt: skip
                rank.op("aten::copy_", length.host(50, 100))
            with rank.region("Optimizer.step#SGD.step", kind="optimizer"):
                rank.op("aten::_foreach_add_", length.device(500, 1000))
    return machine.run()


def one_forward_one_backward(seed, stages=4, microbatches=8, steps=4, **lengths):
    """A pipeline whose stages turn to backward as soon as they can."""
    machine = Machine(stages)
    for rank in machine.ranks:
        length = Lengths(seed, rank.number, **lengths)
        ahead = min(stages - rank.number - 1, microbatches)
        turns = "F" * ahead + "FB" * (microbatches - ahead) + "B" * ahead
        for _ in _steps(rank, steps):
            for turn in turns:
                name, way, link, low = (
                    ("forward", 1, LINK, 200) if turn == "F" else ("backward", -1, LINK + 2, 400)
                )
                source, target = rank.number - way, rank.number + way
                with rank.region(name, kind=name):
                    if 0 <= source < stages:
                        transfer = length.shared(20, 80, (source, rank.number))
                        rank.receive(source, transfer, stream=link)
                        rank.wait(COMPUTE, rank.record(link))
                    rank.op("aten::mm", length.host())
                    rank.kernel(f"gemm_{name}", length.device(low, 1.5 * low))
                    if 0 <= target < stages:
                        rank.wait(link + 1, rank.record(COMPUTE))
                        transfer = length.shared(20, 80, (rank.number, target))
                        rank.send(target, transfer, stream=link + 1)
            _update(rank, length)
    return machine.run()


def experts_in_groups(seed, layers=3, steps=4, **lengths):
    """Experts shared by pairs, gradients by other pairs; a barrier first, a loss read last."""
    pairs = {"e0": [0, 1], "e1": [2, 3], "d0": [0, 2], "d1": [1, 3]}
    machine = Machine(4, pairs)
    for rank in machine.ranks:
        length = Lengths(seed, rank.number, **lengths)
        inner, outer = f"e{rank.number // 2}", f"d{rank.number % 2}"

        def to_experts(rank=rank, length=length, inner=inner):
            size = round(length.device(500, 1500))
            transfer = length.shared(40, 120, inner)
            done = _exchanged(rank, "all_to_allv", transfer, group=inner, elements=size)
            rank.wait(COMPUTE, done)

        for _ in _steps(rank, steps):
            _exchanged(rank, "allreduce", length.shared(10, 20), elements=1)
            rank.sync(stream=LINK)
            with rank.region("forward", kind="forward"):
                for _ in range(layers):
                    rank.op("aten::mm", length.host())
                    rank.kernel("attention", length.device(100, 200))
                    to_experts()
                    rank.kernel("expert", length.device(100, 400))
            with rank.on(AUTOGRAD):
                for layer in range(layers):
                    with rank.region(GRADIENT, cat="cpu_op", kind="backward"):
                        rank.op("aten::mm", length.host())
                        rank.kernel("expert_backward", length.device(200, 600))
                        to_experts()
                        rank.kernel("attention_backward", length.device(100, 300))
                        transfer = length.shared(100, 500, outer)
                        done = _exchanged(rank, "allreduce", transfer, group=outer,
                                          stream=OTHER_LINK, elements=9000 + layer)  # fmt: skip
                rank.wait(COMPUTE, done)
            _update(rank, length)
            rank.op("aten::item", 2)
            rank.sync()
    return machine.run()
