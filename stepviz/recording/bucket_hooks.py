"""A communication hook that notes when each bucket was ready, launched and done.

It changes nothing else: the exchange is the one handed to it. DDP takes one hook, and none can
be taken off again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from stepviz.recording.device_clocks import Clock

#: Starts the exchange of a bucket and returns the future of its tensor.
Exchange = Callable[[Any], Any]


@dataclass
class Entry:
    """One bucket of one pass; `done` is a moment of the log's clock, None before the end."""

    step: int
    index: int
    bytes: int
    last: bool
    parameters: list[int]
    ready_ns: int
    launch_ns: int = 0
    done: Any = None


@dataclass
class BucketLog:
    """What hooks note, in order of launch; `step` is the step they note it for."""

    clock: Clock
    places: dict[int, int]  # of a model's parameters, by their id
    on: bool = True
    step: int = -1
    entries: list[Entry] = field(default_factory=list)
    launched: Callable[[], None] = lambda: None
    _members: dict[tuple[int, int], list[int]] = field(default_factory=dict)

    @classmethod
    def of(cls, model: Any, clock: Clock) -> BucketLog:
        """Return an empty log for the parameters of a model that want gradients."""
        wanted = [p for p in model.parameters() if p.requires_grad]
        return cls(clock, {id(p): place for place, p in enumerate(wanted)})

    def begin(self, bucket: Any) -> Entry:
        """Note that a bucket is full."""
        now = time.time_ns()
        buffer = bucket.buffer()
        size = buffer.numel() * buffer.element_size()
        key = (bucket.index(), size)
        if key not in self._members:
            self._members[key] = [self.places.get(id(p), -1) for p in bucket.parameters()]
        entry = Entry(self.step, bucket.index(), size, bucket.is_last(), self._members[key], now)
        self.entries.append(entry)
        return entry

    def rows(self) -> list[dict[str, Any]]:
        """Return what was noted as plain data; `done_ns` is None where the end was not seen."""
        return [
            {
                "step": entry.step,
                "index": entry.index,
                "bytes": entry.bytes,
                "last": entry.last,
                "parameters": entry.parameters,
                "ready_ns": entry.ready_ns,
                "launch_ns": entry.launch_ns,
                "done_ns": None if entry.done is None else self.clock.ns(entry.done),
            }
            for entry in self.entries
        ]


def region_of(entry: Entry) -> str:
    """Return the name under which a bucket's launch stands in the trace."""
    return (
        f"ddp_bucket#{entry.index}#bytes={entry.bytes}#params={len(entry.parameters)}"
        f"#last={int(entry.last)}"
    )


def noting_hook(
    log_of: Callable[[], BucketLog | None], hook: Callable[[Any, Any], Any]
) -> Callable[[Any, Any], Any]:
    """Return a hook that does what another one does, and notes each bucket.

    Parameters
    ----------
    log_of
        Returns the log to note into, None for none.
    hook
        What starts the exchange of a bucket, as DDP calls it; returns a future.
    """
    from torch.profiler import record_function

    def noted(state: Any, bucket: Any) -> Any:
        log = log_of()
        if log is None or not log.on:
            return hook(state, bucket)
        entry = log.begin(bucket)
        with record_function(region_of(entry)):
            entry.launch_ns = time.time_ns()
            future = hook(state, bucket)
        log.launched()

        def done(finished: Any) -> Any:
            value = finished.value()
            entry.done = log.clock.moment()
            return value

        return future.then(done)

    # DDP looks at annotations, and would not understand these, which are text.
    noted.__annotations__ = {}
    return noted


def averaging(group: Any = None) -> Exchange:
    """Return DDP's own exchange as one of a hook: the mean over all ranks of a group."""
    import torch.distributed as dist

    ranks = dist.get_world_size(group)

    def exchange(bucket: Any) -> Any:
        buffer = bucket.buffer().div_(ranks)
        work = dist.all_reduce(buffer, group=group, async_op=True)
        return work.get_future().then(lambda finished: finished.value()[0])

    return exchange
