"""One rank's capture: warm up, time steps without hook and profiler, then record some."""

from __future__ import annotations

import errno
import os
import random
import signal
import time
from pathlib import Path
from typing import Any, Final

import torch
import torch.distributed as dist

from stepviz.recording.bucket_hooks import BucketLog, Exchange, averaging, noting_hook
from stepviz.recording.device_clocks import clock_of
from stepviz.recording.fabric import Fabric
from stepviz.recording.options import Options
from stepviz.recording.placement import Placement
from stepviz.recording.profiles import Profile
from stepviz.recording.records import (
    VERSION,
    costs_of,
    ddp_said,
    device_of,
    made_with,
    parameters_of,
    peak_memory,
)
from stepviz.recording.standing import Stamps
from stepviz.recording.token_batches import batches
from stepviz.recording.training import Training

#: Timed steps come in so many rounds of blocks, so that a machine's drift hits every mode.
ROUNDS: Final = 2
#: Sizes of the sweep, bytes, and how often each is timed.
SWEEP: Final = (2**16, 2**18, 2**20, 2**22, 2**24)
SWEPT: Final = 4


class Session:
    """All that one rank does between joining the others and leaving them."""

    def __init__(
        self,
        options: Options,
        placement: Placement,
        device: Any,
        target: Path,
        stamps: Stamps,
        planted: str = "",
    ) -> None:
        self.options, self.placement, self.target = options, placement, target
        self.stamps, self.rank = stamps, dist.get_rank()
        self.clock = clock_of(placement.device)
        self.device = device
        self.fabric = Fabric(options.latency_ms, options.ms_per_mib) if options.emulated else None
        self.timings: list[dict[str, Any]] = []
        self.sweep: list[dict[str, int]] = []
        self._fails = planted.split(":") if planted else []
        feed = batches(options, self.rank, pinned=placement.device == "cuda")
        # Two models, since DDP can't take a hook off again: one as users run it, one noted.
        self.bare = Training(options, self.rank, device, feed, stamps, self.clock)
        self.hooked = Training(options, self.rank, device, feed, stamps, self.clock)
        self.log = BucketLog.of(self.hooked.bare, self.clock)
        self.log.launched = stamps.launch
        exchange: Exchange = averaging() if self.fabric is None else self.fabric.exchange
        if self.fabric is not None:
            self.bare.ddp.register_comm_hook(None, _plain_hook(exchange))
        self.hooked.ddp.register_comm_hook(
            None, noting_hook(lambda: self.log, _plain_hook(exchange))
        )
        for training in (self.bare, self.hooked):
            training.planted = self._fail

    def run(self) -> int:
        """Do it all and return the size of the file, bytes."""
        options, stamps = self.options, self.stamps
        block = -(-options.timed // ROUNDS) if options.timed else 0
        rounds = ROUNDS if block else 0
        updates = 2 * options.warmup + rounds * 3 * (block + 1) + 1 + options.steps
        stamps.total = updates * options.accumulation
        if options.sweep and dist.get_world_size() > 1:
            self._sweep()
        for training in (self.bare, self.hooked):
            for _ in range(options.warmup):
                training.update()
        order = random.Random(options.seed)  # noqa: S311  # the same order on every rank
        for _ in range(rounds):
            modes = ["bare", "hooked", "alone"]
            order.shuffle(modes)
            for mode in modes:
                self._timed(mode, block)
        self._recorded()
        return self.size

    def close(self) -> None:
        """End what runs beside the steps."""
        if self.fabric is not None:
            self.fabric.close()

    def _timed(self, mode: str, count: int) -> None:
        """Time a block of steps; the first follows another mode and is dropped."""
        training = self.bare if mode == "bare" else self.hooked
        self.clock.anchor()
        done: list[tuple[Any, dict[str, int]]] = []
        for _ in range(count + 1):
            self.log.entries.clear()
            update = training.update(exchange=mode != "alone")
            done.append((update, self._filled(update)))
        self.timings += [
            {"mode": mode, **one.timing(self.clock), **filled} for one, filled in done[1:]
        ]
        self.log.entries.clear()

    def _filled(self, update: Any) -> dict[str, int]:
        """Return when the last bucket was full, from its backward's start, where the host knows."""
        if not self.log.entries or self.placement.device == "cuda":
            return {}
        start = [start for name, start, _ in update.parts if name == "backward"][-1]
        return {"filled_ns": self.log.entries[-1].ready_ns - self.clock.ns(start)}

    def _recorded(self) -> None:
        options, training, log = self.options, self.hooked, self.log
        done: dict[int, Any] = {}

        def record() -> dict[str, Any]:
            if self._fails[:2] == ["full", str(self.rank)]:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return self._record(done)

        profile = Profile(
            self.target,
            record,
            steps=options.steps,
            cuda=self.placement.device == "cuda",
            all_threads=options.emulated,
        )
        self.clock.anchor()
        profile.start()
        for turn in range(1 + options.steps):
            number = log.step = profile.number
            if turn == 1:
                log.entries.clear()  # the step that warmed the profiler up
            done[number] = training.update()
            if turn == 0:
                done.clear()
            if turn == options.steps:
                self.stamps.at("writing its trace")
            profile.step()
        profile.stop()
        self.size = profile.size

    def _record(self, done: dict[int, Any]) -> dict[str, Any]:
        options = self.options
        buckets = self.log.rows()
        clock = self.clock
        profiled = [{"mode": "profiled", **one.timing(clock)} for one in done.values()]
        timings = self.timings + profiled
        return {
            "record": VERSION,
            "kind": "benchmark",
            "rank": self.rank,
            "ranks": dist.get_world_size(),
            "made_with": made_with(),
            "placement": self.placement.as_dict(),
            "device": {
                **device_of(self.placement.device, options.dtype),
                "peak_memory_bytes": peak_memory(self.placement.device),
            },
            "emulated": {"latency_ms": options.latency_ms, "ms_per_mib": options.ms_per_mib}
            if options.emulated
            else None,
            "planted": {
                "slow_rank": options.slow_rank,
                "slow_phase": options.slow_phase,
                "slow_ms": options.slow_ms,
            }
            if options.slow_rank is not None
            else None,
            "config": options.as_dict(),
            "model": {
                "layers": options.layers,
                "width": options.width,
                "heads": options.heads,
                "vocabulary": options.vocabulary,
                "sequence": options.sequence,
                "dtype": options.dtype,
                "checkpointing": options.checkpointing,
            },
            "parameters": parameters_of(self.hooked.bare),
            "ddp": ddp_said(self.hooked.ddp, buckets),
            "clock": "ns since 1970, as the trace's own times",
            "phases": [
                {
                    "step": number,
                    "phase": name,
                    "start_ns": clock.ns(start),
                    "finish_ns": clock.ns(finish),
                }
                for number, one in done.items()
                for name, start, finish in one.parts
            ],
            "buckets": buckets,
            "tokens": [{"step": number, **one.counts} for number, one in done.items()],
            "timings": timings,
            "costs": costs_of(timings),
            "sweep": self.sweep,
        }

    def _sweep(self) -> None:
        """Time all-reduces of several sizes, as buckets go: latency and bandwidth apart."""
        untyped: Any = torch
        for turn in range(SWEPT + 1):
            for size in SWEEP:
                buffer = untyped.zeros(size // 4, device=self.device)
                self._meet()
                start = time.time_ns()
                if self.fabric is not None:
                    self.fabric.send(buffer, 0).wait()
                else:
                    dist.all_reduce(buffer)
                    if self.placement.device == "cuda":
                        untyped.cuda.synchronize()
                if turn:  # the first of each size opens connections
                    done = {"bytes": size, "start_ns": start, "done_ns": time.time_ns()}
                    self.sweep.append(done)

    def _meet(self) -> None:
        dist.barrier()
        if self.placement.device == "cuda":
            untyped: Any = torch
            untyped.cuda.synchronize()

    def _fail(self, passes: int) -> None:
        """Fail as a test asked for."""
        if len(self._fails) < 3 or self._fails[1:] != [str(self.rank), str(passes)]:
            return
        kind = self._fails[0]
        if kind == "crash":
            msg = f"planted failure in pass {passes}"
            raise RuntimeError(msg)
        if kind == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        print("this rank was told to hang", flush=True)  # noqa: T201  # into the rank's own log
        time.sleep(3600)


def _plain_hook(exchange: Exchange) -> Any:
    """Return a hook that only exchanges, without notes."""
    # DDP looks at the annotations of a named function; a lambda has none.
    return lambda _state, bucket: exchange(bucket)
