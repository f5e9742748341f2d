"""Training loops that are not ours, one process per rank, recorded; `python loops.py FOLDER`."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel

import stepviz as sv

FOLDER = Path(sys.argv[1])
SKIP, STEPS = 3, 3


class Watch:
    """A stopwatch beside the recorder: when each update began and ended, and its counts."""

    def __init__(self, name: str) -> None:
        self.name, self.laps = name, []

    def lap(self, start: int) -> None:
        self.laps.append((start, time.time_ns()))

    def write(self) -> None:
        path = FOLDER / f"{self.name}.rank{dist.get_rank()}.laps"
        path.write_text(json.dumps(self.laps))


def cnn() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 16, 3), nn.ReLU(), nn.Conv2d(16, 32, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(4),
        nn.Flatten(), nn.Linear(512, 600), nn.ReLU(), nn.Linear(600, 10),
    )  # fmt: skip


def images(count: int):
    generator = torch.Generator().manual_seed(dist.get_rank())
    data = torch.utils.data.TensorDataset(
        torch.randn(8 * count, 3, 24, 24, generator=generator),
        torch.randint(0, 10, (8 * count,), generator=generator),
    )
    return torch.utils.data.DataLoader(data, batch_size=8)


def plain_loop() -> None:
    """DDP as in every tutorial."""
    model = DistributedDataParallel(cnn(), bucket_cap_mb=0.5)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    watch, loader = Watch("cnn"), images(SKIP + 1 + STEPS + 2)
    with sv.Recorder(
        FOLDER / "cnn", model=model, optimizer=optimizer, loader=loader, skip=SKIP, steps=STEPS
    ) as rec:
        for x, y in loader:
            start = time.time_ns()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            watch.lap(start)
            rec.step()
    watch.write()


class Wrapped(torch.optim.Optimizer):
    """An optimizer inside another, as Accelerate has them: it steps in every second microbatch."""

    def __init__(self, optimizer: torch.optim.Optimizer) -> None:
        self.optimizer, self.calls = optimizer, 0
        self.param_groups = optimizer.param_groups

    def step(self) -> None:
        self.calls += 1
        if self.calls % 2 == 0:
            self.optimizer.step()

    def zero_grad(self) -> None:
        if self.calls % 2 == 0:
            self.optimizer.zero_grad()


class Trainer:
    """A loop that is turned inside out: the user hands over parts and callbacks."""

    def __init__(self, model, optimizer, batches, after_batch) -> None:
        self.model, self.optimizer, self.batches = model, optimizer, batches
        self.after_batch = after_batch

    def fit(self) -> None:
        self.model.train()
        for number, batch in enumerate(self.batches):
            with contextlib.nullcontext() if number % 2 else self.model.no_sync():
                loss = self.model(**batch).mean()
                loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
            self.after_batch()


class Scorer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words, self.head = nn.Embedding(50, 64), nn.Linear(64, 50)

    def forward(self, input_ids, attention_mask, labels):
        logits = self.head(self.words(input_ids) * attention_mask[..., None])
        return nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten())


def trainer_loop() -> None:
    """Accumulation, a wrapped optimizer, a hook of the user's own, step() after every batch."""
    model = DistributedDataParallel(Scorer())
    model.register_comm_hook(None, sv.Recorder.around(allreduce_hook))
    inner = torch.optim.AdamW(model.parameters())
    ids = torch.arange(32).reshape(4, 8)
    mask = torch.ones(4, 8, dtype=torch.long)
    mask[:, 6:] = 0
    labels = torch.where(mask == 1, ids, -100)
    batch = {"input_ids": ids, "attention_mask": mask, "labels": labels}
    rec = sv.Recorder(FOLDER / "trainer", model=model, optimizer=Wrapped(inner), skip=2, steps=2)
    rec.start()
    trainer = Trainer(model, Wrapped(inner), [batch] * 14, rec.step)
    rec._parts.optimizer.zero_grad()
    trainer.fit()
    rec.stop()
    assert rec.updates == 5, rec.updates


def hooked_loop() -> None:
    """A hook that is there already."""
    model = DistributedDataParallel(nn.Linear(20, 20))
    model.register_comm_hook(None, allreduce_hook)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with sv.Recorder(FOLDER / "hooked", model=model, optimizer=optimizer, skip=2, steps=1) as rec:
        for _ in range(4):
            model(torch.ones(3, 20)).sum().backward()
            optimizer.step()
            rec.step()


def sharded_loop() -> None:
    """FSDP."""
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64))
    for part in model:
        if isinstance(part, nn.Linear):
            fully_shard(part)
    fully_shard(model)
    optimizer = torch.optim.AdamW(model.parameters())
    with sv.Recorder(FOLDER / "fsdp", model=model, optimizer=optimizer, skip=2, steps=2) as rec:
        for _ in range(6):
            model(torch.ones(16, 64)).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
            rec.step()


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    dist.init_process_group("gloo")
    for loop in (plain_loop, trainer_loop, hooked_loop, sharded_loop):
        loop()
    dist.barrier()
    dist.destroy_process_group()
