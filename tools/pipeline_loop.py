"""A pipeline of four stages on one machine's CPU, recorded by `sv.Recorder`.

`tools/make_sample_runs.py` starts one process for each stage. Exchange is real, over gloo. So is
compute, but each pass then sleeps: four stages that compute on two cores would wait for cores
rather than for each other. Rows of that sleep are named `emulated compute`.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any, Final

import torch
import torch.distributed as dist
from torch import nn
from torch.profiler import record_function

import stepviz as sv

_SKIP: Final = 3
_STEPS: Final = 3
_WIDTH: Final = 128
#: A stage's pass of one microbatch, s; backward takes twice as long.
_PASS: Final = 0.003
_MICROBATCHES: Final = 6


def _pause(seconds: float) -> None:
    with record_function("emulated compute"):
        time.sleep(seconds)


class _Paced(torch.autograd.Function):
    """Sleep for as long as a stage's pass is to take, forward and backward."""

    @staticmethod
    def forward(_: Any, values: torch.Tensor) -> torch.Tensor:
        _pause(_PASS)
        return values.clone()  # no view, which FSDP warns of

    @staticmethod
    def backward(_: Any, slopes: torch.Tensor) -> torch.Tensor:
        _pause(2 * _PASS)
        return slopes


def emulated(values: torch.Tensor) -> torch.Tensor:
    """Return values after a pass's time; their gradients take twice as long."""
    return torch.as_tensor(_Paced.apply(values))  # type: ignore[no-untyped-call]


class _Block(nn.Module):
    def __init__(self, width: int = _WIDTH) -> None:
        super().__init__()
        self.norm, self.up = nn.LayerNorm(width), nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        inner = nn.functional.gelu(self.up(self.norm(values)))
        return torch.as_tensor(values + self.down(inner))


class Stage(nn.Module):
    """A block, and the time that its passes take."""

    def __init__(self) -> None:
        super().__init__()
        self.block = _Block()

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        """Return what the next stage gets."""
        return emulated(self.block(values))


def pipeline(folder: Path) -> None:
    """Train four stages on six microbatches: all forward passes, then all backward ones."""
    rank, last = dist.get_rank(), dist.get_world_size() - 1
    module = Stage()
    optimizer = torch.optim.AdamW(module.parameters(), fused=True)
    values = torch.randn(16, _WIDTH)
    with sv.Recorder(folder, model=module, optimizer=optimizer, skip=_SKIP, steps=_STEPS) as rec:
        while not rec.done:
            loss = torch.zeros(())
            got, made = [], []
            for _ in range(_MICROBATCHES):
                got.append(_received(rank - 1).requires_grad_() if rank else values)
                made.append(module(got[-1]))
                if rank < last:
                    dist.send(made[-1].detach(), rank + 1)
            for before, after in zip(got, made, strict=True):
                if rank < last:
                    after.backward(_received(rank + 1))
                else:
                    error = after.square().mean()
                    error.backward()
                    loss += error.detach()
                if rank:
                    dist.send(torch.as_tensor(before.grad), rank - 1)
            dist.all_reduce(loss)  # for the log, so that all ranks end a step together
            with record_function("optimizer"):
                optimizer.step()
                emulated(loss)
            optimizer.zero_grad()
            rec.step()


def _received(source: int) -> torch.Tensor:
    values = torch.empty(16, _WIDTH)
    dist.recv(values, source)
    return values


def main() -> None:
    """Be one stage."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    dist.init_process_group("gloo")
    pipeline(parser.parse_args().folder)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
