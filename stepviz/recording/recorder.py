"""A recorder for anybody's training loop: DDP, FSDP or a single process.

It changes nothing in the loop but one call of `step` after each update.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from stepviz.errors import CaptureError
from stepviz.recording.batch_counts import BatchCounts
from stepviz.recording.bucket_hooks import BucketLog, averaging, noting_hook
from stepviz.recording.device_clocks import clock_of
from stepviz.recording.loop_parts import Parts, parts_of
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

#: DDP has one bucket in its first update and rebuilds before the second.
LEAST_SKIP: Final = 2

#: What a hook says of itself: that recorders note by it, and that it is one's own.
_NOTED: Final = "noted_by_stepviz"
_OWN: Final = "made_by_stepviz"

_ACTIVE: list[weakref.ReferenceType[Recorder]] = []


class Recorder:
    """Record some updates of a training loop, one file per rank.

    Parameters
    ----------
    folder : path
        Each rank writes ``rank0.json.gz``, … into it; on several machines one that all see.
    model : torch.nn.Module, optional
        The model as the loop calls it, wrapped in DDP or FSDP or not. With it come forward's
        region, parameters, buckets and token counts.
    optimizer : torch.optim.Optimizer, optional
        The optimizer, also one wrapped by Accelerate or Lightning. With it `step` may be called
        after every microbatch: what counts are the calls in which it stepped.
    loader : iterable, optional
        Where batches come from. Iterate over `loader` of the recorder instead, and labels that
        never reach the model are counted as well.
    skip : int
        Updates before recording, at least 2; the time of those from the third is noted.
    steps : int
        Updates to record. The file is written after the last of them, and the loop goes on.
    hook : bool
        Note each gradient bucket of DDP by a communication hook. DDP takes one hook, and none can
        be taken off: afterwards it stays and only exchanges, about 1 ms a bucket on a busy CPU.
        Where there is a hook already, register it as ``Recorder.around(hook)``; else buckets come
        from the rows of the trace, and the record says why.
    overwrite : bool
        Replace this rank's file if it is there.

    Raises
    ------
    CaptureError
        No torch, a file that is there, too few updates to record any. What can't be written, on a
        full disk say, is told at the end: the loop itself goes on.

    Examples
    --------
    >>> with sv.Recorder("traces", model=model, optimizer=optimizer) as rec:  # doctest: +SKIP
    ...     for batch in loader:
    ...         train_on(batch)
    ...         rec.step()
    >>> sv.load_run("traces")  # doctest: +SKIP
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        model: Any = None,
        optimizer: Any = None,
        loader: Iterable[Any] | None = None,
        skip: int = 4,
        steps: int = 4,
        hook: bool = True,
        overwrite: bool = False,
    ) -> None:
        for name, value, least in (("skip", skip, LEAST_SKIP), ("steps", steps, 1)):
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                why = ": DDP has one bucket in its first update" if name == "skip" else ""
                msg = f"{name} is a whole number from {least}, not {value!r}{why}"
                raise CaptureError(msg)
        try:
            self._parts: Parts = parts_of(model, optimizer)
        except ModuleNotFoundError:
            msg = "Recorder needs torch, which is not installed: pip install 'stepviz[capture]'"
            raise CaptureError(msg) from None
        self._skip, self._steps, self._wants_hook = skip, steps, hook
        self._loader = loader
        self._folder = Path(folder)
        self.path = self._folder / f"rank{self._parts.rank}.json.gz"
        if self.path.exists() and not overwrite:
            msg = f"{self.path} is there already; choose another folder, or overwrite=True"
            raise CaptureError(msg)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._clock = clock_of(self._parts.device)
        self._log: BucketLog | None = None
        self._buckets_from = ""
        self._counts = BatchCounts()
        self._updates = 0
        self._moment: Any = None
        self._moments: list[tuple[str, Any, Any]] = []
        self._timings: list[dict[str, Any]] = []
        self._stepped = False
        self._undo: list[Callable[[], None]] = []
        self._profile: Profile | None = None
        self._begun = False
        self._problem: OSError | None = None
        self.done = False

    @property
    def updates(self) -> int:
        """How many updates `step` has seen."""
        return self._updates

    @property
    def loader(self) -> Iterator[Any]:
        """The loader's batches, counted on their way."""
        if self._loader is None:
            msg = "rec.loader: give the recorder loader= to iterate over it here"
            raise CaptureError(msg)
        return self._counted(self._loader)

    def __enter__(self) -> Self:
        """Begin; see `start`."""
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End; see `stop`."""
        self.stop(failed=error is not None)

    def start(self) -> None:
        """Begin, for loops that are no ``with`` block, such as callbacks."""
        self._profile = Profile(
            self.path,
            self._record,
            skip=self._skip,
            steps=self._steps,
            cuda=self._parts.device == "cuda",
        )
        self._hook_buckets()
        self._undo += self._parts.watch(self._optimizer_stepped, self._counts.model_got)
        _ACTIVE.append(weakref.ref(self))
        self._begun = True
        self._profile.start()
        self._counts.number = self._profile.number
        self._moment = self._clock.moment()

    def step(self) -> None:
        """Say that an update is over, or a microbatch of one, where the optimizer is known."""
        profile = self._profile
        if profile is None and not self._begun:
            msg = "rec.step() before the recorder began: use it in `with Recorder(…) as rec:`"
            raise CaptureError(msg)
        if profile is None or self.done:
            return
        if self._parts.optimizer is not None and not self._stepped:
            return
        self._stepped = False
        now = self._clock.moment()
        number = profile.number
        # Of the others DDP rebuilds its buckets, or the profiler starts.
        if 2 <= number < self._skip:
            self._moments.append(("bare" if self._log is None else "hooked", self._moment, now))
        elif number > self._skip:
            self._moments.append(("profiled", self._moment, now))
        self._updates += 1
        last = number == self._skip + self._steps
        if last and self._log is not None:
            self._log.on = False
        self._counts.on = self._skip <= number < self._skip + self._steps
        try:
            profile.step()
        except OSError as error:  # of the file; training goes on
            self._problem = error
        self.done = last
        if last:
            self._unwatch()
            return
        self._counts.number = profile.number
        if self._log is not None:
            self._log.step = profile.number
        if profile.number == self._skip:
            # Near what is recorded; a device's clock drifts from the host's.
            self._settle()
            self._clock.anchor()
        self._moment = self._clock.moment()

    def _settle(self) -> None:
        """Turn moments into lengths of steps."""
        self._timings += [
            {"mode": mode, "step_ns": self._clock.ns(finish) - self._clock.ns(start)}
            for mode, start, finish in self._moments
        ]
        self._moments.clear()

    def stop(self, *, failed: bool = False) -> None:
        """End; what was recorded of a loop that ended early is written.

        Parameters
        ----------
        failed : bool
            The loop itself failed: say nothing about too few updates.

        Raises
        ------
        CaptureError
            Where the loop ended before anything was recorded.
        """
        profile, self._profile = self._profile, None
        if profile is None:
            return
        if not self.done:
            self._unwatch()
            try:
                profile.stop()
            except OSError as error:
                self._problem = error
        if self._problem is not None and not failed:
            msg = (
                f"{self.path} can't be written ({self._problem.strerror or self._problem}), so "
                "nothing is kept of this recording; free some space, or choose another folder"
            )
            raise CaptureError(msg) from self._problem
        if not profile.size and not failed:
            never = " (the optimizer never stepped)" if not self._updates else ""
            msg = (
                f"the loop ended after {self._updates} updates{never}, before any was recorded: "
                f"skip={self._skip}, one more to warm the profiler up, and steps={self._steps}; "
                "train longer, skip less, or call rec.step() after each update"
            )
            raise CaptureError(msg)

    @staticmethod
    def around(hook: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        """Return a DDP communication hook that does what `hook` does and is noted.

        Register it before the recorder starts:
        ``ddp.register_comm_hook(state, sv.Recorder.around(fp16_compress_hook))``.
        """
        noted = noting_hook(_active_log, hook)
        noted.__dict__[_NOTED] = True
        noted.__qualname__ = getattr(hook, "__qualname__", "hook")
        return noted

    def _optimizer_stepped(self) -> None:
        self._stepped = True

    def _counted(self, batches: Iterable[Any]) -> Iterator[Any]:
        self._counts.from_loader = True
        for batch in batches:
            self._counts.loader_gave(batch)
            yield batch

    def _hook_buckets(self) -> None:
        """Note buckets where DDP lets us; say in the record why not, elsewhere."""
        ddp = self._parts.ddp
        if ddp is None:
            self._buckets_from = "the trace's rows: no DDP"
            return
        log = BucketLog.of(self._parts.inner, self._clock)
        there = [hook for hook, _ in getattr(ddp, "_comm_hooks", ())]
        if there:
            if getattr(there[0], _NOTED, False):
                own = getattr(there[0], _OWN, False)
                around = "stepviz's hook" if own else "stepviz's notes around the loop's own hook"
                self._log, self._buckets_from = log, around
                return
            name = getattr(there[0], "__qualname__", repr(there[0]))
            self._buckets_from = (
                f"the trace's rows: DDP has the hook {name} and takes no second; register it as "
                "stepviz.Recorder.around(…) to have its buckets noted"
            )
            return
        if not self._wants_hook:
            self._buckets_from = "the trace's rows: hook=False"
            return
        exchange = averaging(ddp.process_group)
        wrapped = weakref.ref(ddp)
        hook = noting_hook(lambda: _active_log(wrapped()), lambda _, bucket: exchange(bucket))
        # It stays, and the next recorder of this model is noted by it too.
        hook.__dict__.update({_NOTED: True, _OWN: True})
        try:
            ddp.register_comm_hook(None, hook)
        except (RuntimeError, TypeError, ValueError) as error:
            self._buckets_from = f"the trace's rows: DDP took no hook ({error})"
            return
        self._log, self._buckets_from = log, "stepviz's hook"

    def _unwatch(self) -> None:
        while self._undo:
            self._undo.pop()()
        _ACTIVE[:] = [ref for ref in _ACTIVE if ref() not in (None, self)]

    def _record(self) -> dict[str, Any]:
        parts, first = self._parts, self._skip + 1
        buckets = [] if self._log is None else self._log.rows()
        buckets = [one for one in buckets if one["step"] >= first]
        self._settle()
        return {
            "record": VERSION,
            "kind": "recorder",
            "rank": parts.rank,
            "ranks": parts.ranks,
            "made_with": made_with(),
            "placement": {
                "backend": parts.backend,
                "device": parts.device,
                "why": f"a loop of your own: {parts.what}",
            },
            "device": {
                **device_of(parts.device, parts.dtype),
                "peak_memory_bytes": peak_memory(parts.device),
            },
            "emulated": None,
            "planted": None,
            "loader": _loader_said(self._loader),
            "optimizer": None if parts.optimizer is None else type(parts.optimizer).__name__,
            "parameters": [] if parts.inner is None else parameters_of(parts.inner),
            "ddp": {} if parts.ddp is None else ddp_said(parts.ddp, buckets),
            "clock": "ns since 1970, as the trace's own times",
            "buckets": buckets,
            "buckets_from": self._buckets_from,
            "tokens": self._counts.rows(first),
            "timings": self._timings,
            "costs": costs_of(self._timings),
        }


def _active_log(ddp: Any = None) -> BucketLog | None:
    """Return the log of the recorder at work, of that of this model where it is known."""
    for ref in _ACTIVE:
        recorder = ref()
        if recorder is not None and ddp in (None, recorder._parts.ddp):
            return recorder._log
    return None


def _loader_said(loader: Any) -> dict[str, Any] | None:
    if loader is None:
        return None
    names = {"workers": "num_workers", "prefetch": "prefetch_factor", "batch_size": "batch_size"}
    return {ours: getattr(loader, theirs, None) for ours, theirs in names.items()}
