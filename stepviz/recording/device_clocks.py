"""Moments on the host's clock: of the host itself, or of the work given to a GPU so far."""

from __future__ import annotations

import time
from typing import Any, Protocol


class Clock(Protocol):
    """Takes moments now, and tells later when they were."""

    def moment(self) -> Any:
        """Return a mark of now: on a GPU of when the work given to it so far is done."""

    def ns(self, moment: Any) -> int:
        """Return when a marked moment was, in ns since 1970."""

    def anchor(self) -> None:
        """Put the clock right where it is one of a device; moments before it are read before."""


class HostClock:
    """Moments of the host: what is called is done when it returns."""

    def moment(self) -> Any:
        """Return now."""
        return time.time_ns()

    def ns(self, moment: Any) -> int:
        """Return the moment itself."""
        return int(moment)

    def anchor(self) -> None:
        """Do nothing: it is the host's own."""


class CudaClock:
    """Moments of a GPU's streams, on the host's clock within some 20 µs."""

    def __init__(self) -> None:
        import torch

        self._cuda: Any = torch.cuda
        self._anchor = self._event()
        self._anchor_ns = time.time_ns()
        self.anchor()

    def _event(self) -> Any:
        event = self._cuda.Event(enable_timing=True)
        event.record()
        return event

    def anchor(self) -> None:
        """Say anew which moment of the device is which of the host; near what is measured."""
        self._cuda.synchronize()
        before = time.time_ns()
        self._anchor = self._event()
        self._cuda.synchronize()
        self._anchor_ns = (before + time.time_ns()) // 2

    def moment(self) -> Any:
        """Return an event on the current stream."""
        return self._event()

    def ns(self, moment: Any) -> int:
        """Wait for the moment, and return when it was."""
        moment.synchronize()
        since_ms: float = self._anchor.elapsed_time(moment)
        return self._anchor_ns + round(since_ms * 1e6)


def clock_of(device: str) -> HostClock | CudaClock:
    """Return the clock of a device, "cpu" or "cuda"."""
    return CudaClock() if device == "cuda" else HostClock()
