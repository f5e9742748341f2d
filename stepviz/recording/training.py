"""One model under DDP, with its optimizer: passes, updates, and how long their parts take."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import record_function

from stepviz.errors import CaptureError
from stepviz.recording.device_clocks import Clock
from stepviz.recording.gpt import Model
from stepviz.recording.options import Options
from stepviz.recording.standing import Stamps

_DTYPES: dict[str, Any] = {"float32": torch.float32, "bfloat16": torch.bfloat16}


@dataclass
class Update:
    """Moments of one update: its parts in order, each with its first and last moment."""

    parts: list[tuple[str, Any, Any]] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    def timing(self, clock: Clock) -> dict[str, int]:
        """Return how long it took and its kinds of parts, ns."""
        found: dict[str, int] = {}
        for name, start, finish in self.parts:
            key = f"{name}_ns"
            found[key] = found.get(key, 0) + clock.ns(finish) - clock.ns(start)
        found["step_ns"] = clock.ns(self.parts[-1][2]) - clock.ns(self.parts[0][1])
        return found


def cap_arguments(options: Options) -> dict[str, Any]:
    """Return how DDP is told the caps."""
    known = inspect.signature(DistributedDataParallel.__init__).parameters
    if options.bucket_cap_mb is None:
        return {}  # older torch writes its own default otherwise
    if options.cap_list is None:
        return {"bucket_cap_mb": options.bucket_cap_mb}
    if "bucket_cap_mb_list" not in known:
        msg = (
            f"bucket_cap_mb={list(options.cap_list)}: torch {torch.__version__} knows one cap for "
            "all buckets; give one, or use a newer torch"
        )
        raise CaptureError(msg)
    return {"bucket_cap_mb_list": list(options.cap_list)}


class Training:
    """A model of its own under DDP.

    Parameters
    ----------
    options
        How it is built.
    rank, device
        Whose it is and where it lives.
    batches
        Endless.
    stamps
        Where it says how far it is.
    clock
        Moments of its device.
    """

    def __init__(
        self,
        options: Options,
        rank: int,
        device: Any,
        batches: Iterator[dict[str, Any]],
        stamps: Stamps,
        clock: Clock,
    ) -> None:
        self.options, self.rank, self.device = options, rank, device
        self.batches, self.stamps, self.clock = batches, stamps, clock
        self.step = -1  # the number that the profiler gives the update
        torch.manual_seed(options.seed)
        self.bare = Model(options).to(device=device, dtype=_DTYPES[options.dtype])
        if options.slow_rank == rank and options.slow_phase in ("forward", "backward"):
            self.bare.slow_down(options.slow_phase, self._sleep)
        self.ddp: Any = DistributedDataParallel(
            self.bare,
            device_ids=[device.index] if device.type == "cuda" else None,
            find_unused_parameters=options.find_unused_parameters,
            gradient_as_bucket_view=options.gradient_as_bucket_view,
            static_graph=options.static_graph,
            **cap_arguments(options),
        )
        chosen: Any = torch.optim.AdamW if options.optimizer == "adamw" else torch.optim.SGD
        self.optimizer = chosen(self.ddp.parameters(), lr=1e-3, fused=options.fused)
        self._began = False
        self.planted: Callable[[int], None] = lambda _: None

    def _sleep(self) -> None:
        # Once an update, however many microbatches it has.
        with record_function("planted delay"):
            time.sleep(self.options.slow_ms / 1e3 / self.options.accumulation)

    def _slow(self, phase: str) -> None:
        if self.options.slow_rank == self.rank and self.options.slow_phase == phase:
            self._sleep()

    def update(self, *, exchange: bool = True) -> Update:
        """Train on one update's microbatches.

        Without `exchange` gradients stay with their rank and parameters stay as they are: only
        the passes are run.
        """
        options, done = self.options, Update()
        for micro in range(options.accumulation):
            last = micro == options.accumulation - 1
            # DDP learns a static graph in its first pass, which therefore has to exchange.
            learns = options.static_graph and not self._began
            sync = exchange and (last or learns or not options.no_sync)
            self._began = True
            with self._part("input", "input", done):
                self._slow("input")
                batch = next(self.batches)
                for name, count in batch.pop("counts").items():
                    done.counts[name] = done.counts.get(name, 0) + count
                batch = {k: v.to(self.device, non_blocking=True) for k, v in batch.items()}
            self.planted(self.stamps.passes)
            with nullcontext() if sync else self.ddp.no_sync():
                with self._part("forward", f"forward#micro={micro}", done):
                    loss = self.ddp(**batch)
                with self._part("backward", f"backward#micro={micro}#sync={int(sync)}", done):
                    loss.backward()
            if micro < options.accumulation - 1:
                self.stamps.passed()
        with self._part("optimizer", "optimizer", done):
            self._slow("optimizer")
            if exchange:
                self.optimizer.step()
            with record_function("zero_grad"):
                self.optimizer.zero_grad(set_to_none=True)
        self.stamps.passed()
        return done

    def _part(self, place: str, name: str, update: Update) -> Any:
        return _Part(self, place, name, update)


class _Part:
    """A part of an update: stamped, named in the trace, and timed."""

    def __init__(self, training: Training, place: str, name: str, update: Update) -> None:
        self._training, self._place, self._update = training, place, update
        self._region: Any = record_function(name)
        self._start: Any = None

    def __enter__(self) -> None:
        self._training.stamps.at(self._place)
        self._start = self._training.clock.moment()
        self._region.__enter__()

    def __exit__(self, *problem: object) -> None:
        self._region.__exit__(*problem)
        moment = self._training.clock.moment()
        self._update.parts.append((self._place, self._start, moment))
