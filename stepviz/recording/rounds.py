"""A rank's side of an experiment: several configurations take turns in one process.

Runs of their own would differ by what the machine does meanwhile, more than most changes do.
"""

from __future__ import annotations

import json
import random
import statistics
from pathlib import Path
from typing import Any, Final

from stepviz.recording.device_clocks import Clock
from stepviz.recording.fabric import Fabric
from stepviz.recording.options import Options
from stepviz.recording.standing import Stamps
from stepviz.recording.token_batches import batches
from stepviz.recording.training import Training

#: How often an optimizer is timed by itself.
_ALONE: Final = 7


class Rounds:
    """Blocks of steps of each configuration, in an order shuffled anew every round."""

    def __init__(
        self, plan: Path, rank: int, device: Any, stamps: Stamps, clock: Clock, *, pinned: bool
    ) -> None:
        asked = json.loads(plan.read_text())
        self.rounds, self.block, self.seed = asked["rounds"], asked["block"], asked["seed"]
        self.target = plan.with_name(f"rounds-rank{rank}.json")
        self.trainings: dict[str, Training] = {}
        self._fabrics: list[Fabric] = []
        self._clock, self._stamps = clock, stamps
        for name, config in asked["options"].items():
            options = Options.of(config)
            feed = batches(options, rank, pinned=pinned)
            training = Training(options, rank, device, feed, stamps, clock)
            if options.emulated:
                fabric = Fabric(options.latency_ms, options.ms_per_mib)
                self._fabrics.append(fabric)
                training.ddp.register_comm_hook(None, _exchanging(fabric))
            self.trainings[name] = training
        passes = (one.options.accumulation for one in self.trainings.values())
        each = self.rounds * (self.block + 1)
        stamps.total += sum(
            (each + one.options.warmup) * n
            for one, n in zip(self.trainings.values(), passes, strict=True)
        )

    def run(self) -> None:
        """Do all rounds and write what each step took."""
        alone = {}
        for name, training in self.trainings.items():
            for _ in range(training.options.warmup):
                training.update()
            alone[name] = self._optimizer(training)
        order = random.Random(self.seed)  # noqa: S311  # the same order on every rank
        rows = []
        for number in range(self.rounds):
            names = list(self.trainings)
            order.shuffle(names)
            for name in names:
                self._clock.anchor()
                training = self.trainings[name]
                done = [training.update() for _ in range(self.block + 1)]
                # The first step of a block follows another configuration.
                rows += [
                    {"name": name, "round": number, **one.timing(self._clock)} for one in done[1:]
                ]
        self.target.write_text(json.dumps({"rows": rows, "optimizer_ns": alone}))
        for fabric in self._fabrics:
            fabric.close()

    def _optimizer(self, training: Training) -> float:
        """Return what the update of the parameters takes by itself, ns."""
        import torch

        lengths = []
        for _ in range(_ALONE):
            for parameter in training.bare.parameters():
                parameter.grad = torch.zeros_like(parameter)
            start = self._clock.moment()
            training.optimizer.step()
            training.optimizer.zero_grad(set_to_none=True)
            lengths.append(self._clock.ns(self._clock.moment()) - self._clock.ns(start))
        return statistics.median(lengths)


def _exchanging(fabric: Fabric) -> Any:
    # DDP looks at the annotations of a named function; a lambda has none.
    return lambda _state, bucket: fabric.exchange(bucket)
