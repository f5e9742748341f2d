"""Four blocks sharded over four ranks by FSDP, on one machine's CPU, recorded by `sv.Recorder`.

`tools/make_sample_runs.py` starts one process for each rank. Exchange is real, over gloo. Compute
is emulated as in `tools/pipeline_loop.py`, for the same reason.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.profiler import record_function

import stepviz as sv
from tools.pipeline_loop import Stage, emulated

_BLOCKS: Final = 4


def train(folder: Path) -> None:
    """Train with each block gathered for its passes, and its gradients scattered."""
    model = nn.Sequential(*(Stage() for _ in range(_BLOCKS)))
    for block in model:
        fully_shard(block)
    fully_shard(model)
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    values = torch.randn(16, 128)
    with sv.Recorder(folder, model=model, optimizer=optimizer, skip=3, steps=2) as rec:
        while not rec.done:
            model(values).square().mean().backward()
            with record_function("optimizer"):
                optimizer.step()
                emulated(values)
            optimizer.zero_grad()
            rec.step()


def main() -> None:
    """Be one rank."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    dist.init_process_group("gloo")
    train(parser.parse_args().folder)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
