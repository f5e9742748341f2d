"""An emulated network: buckets queue for one thread that takes as long as a slow link.

Each message is a real all-reduce, then a sleep until `latency + size × ms per MiB` have passed
since the last rank arrived. One queue, first in, first out, as NCCL's stream is. Nothing of it
is a measurement of a network, so it says *emulated* wherever it shows.
"""

from __future__ import annotations

import queue
import threading
import time
from typing import Any

import torch
import torch.distributed as dist
from torch.profiler import record_function


class Fabric:
    """The link's one end of this rank, with its thread."""

    def __init__(self, latency_ms: float, ms_per_mib: float) -> None:
        self._latency = latency_ms / 1e3
        self._per_byte = ms_per_mib / 1e3 / 2**20
        self._queue: queue.Queue[Any] = queue.Queue()
        # Its own group: what the link carries must not meet the main thread's collectives.
        self._group = dist.new_group(backend="gloo")
        self._thread = threading.Thread(target=self._serve, name="emulated fabric", daemon=True)
        self._thread.start()

    def exchange(self, bucket: Any) -> Any:
        """Queue a bucket; DDP waits for the future of its mean."""
        buffer = bucket.buffer()
        buffer.div_(dist.get_world_size())
        return self.send(buffer, bucket.index())

    def send(self, buffer: Any, index: int) -> Any:
        """Queue a tensor to be summed over all ranks."""
        untyped: Any = torch
        future = untyped.futures.Future()
        self._queue.put((index, buffer, future))
        return future

    def close(self) -> None:
        """End the thread; after a failure it may wait for ranks that are gone, and is left."""
        self._queue.put(None)
        self._thread.join(2)

    def _serve(self) -> None:
        while (item := self._queue.get()) is not None:
            index, buffer, future = item
            size = buffer.numel() * buffer.element_size()
            try:
                with record_function(f"ddp_exchange#{index}#bytes={size}#emulated=1"):
                    dist.all_reduce(torch.zeros(1), group=self._group)  # all ranks have arrived
                    until = time.perf_counter() + self._latency + self._per_byte * size
                    dist.all_reduce(buffer, group=self._group)
                    time.sleep(max(0.0, until - time.perf_counter()))
            except Exception as error:  # noqa: BLE001  # the thread that waits raises it
                future.set_exception(error)
            else:
                future.set_result(buffer)
