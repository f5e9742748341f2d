"""PyTorch's profiler as a capture needs it: shapes, no stacks, every thread where it must be."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from stepviz.recording.trace_files import write_trace


class Profile:
    """One window of steps, recorded and written once.

    Parameters
    ----------
    target : Path
        The rank's file.
    record : callable
        Returns what goes under the file's key ``stepviz``; asked when the window is over.
    steps, skip : int
        Calls of `step` to record, and to leave out before; one more warms the profiler up.
    cuda : bool
        Record the GPU as well.
    all_threads : bool
        Follow threads that are not torch's own, such as an emulated fabric's.
    """

    def __init__(
        self,
        target: Path,
        record: Callable[[], Mapping[str, Any]],
        *,
        steps: int,
        skip: int = 0,
        cuda: bool = False,
        all_threads: bool = False,
    ) -> None:
        from torch.profiler import ProfilerActivity, profile, schedule

        activities = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if cuda else [])]
        self._target, self._record = target, record
        self.size = 0
        several: dict[str, Any] = _every_thread() if all_threads else {}
        self._profiler: Any = profile(
            activities=activities,
            schedule=schedule(wait=skip, warmup=1, active=steps, repeat=1),
            record_shapes=True,  # else nothing says how large an exchange is
            on_trace_ready=self._write,
            **several,
        )

    @property
    def number(self) -> int:
        """The number that the profiler gives the current step, as in ``ProfilerStep#4``."""
        return int(self._profiler.step_num)

    def start(self) -> None:
        """Begin."""
        self._profiler.start()

    def step(self) -> None:
        """Say that a step is over."""
        self._profiler.step()

    def stop(self) -> None:
        """End; what was recorded of an unfinished window is written."""
        self._profiler.stop()

    def _write(self, profiler: Any) -> None:
        with tempfile.TemporaryDirectory(prefix=".stepviz-", dir=self._target.parent) as folder:
            raw = Path(folder) / "trace.json"
            profiler.export_chrome_trace(str(raw))
            self.size = write_trace(raw, self._target, self._record())


def _every_thread() -> dict[str, Any]:
    """Return the profiler's only way to follow every thread; older versions follow them so."""
    from torch._C._profiler import _ExperimentalConfig

    try:
        return {"experimental_config": _ExperimentalConfig(profile_all_threads=True)}
    except TypeError:
        return {}
