"""One rank's rows within its step's window, as arrays, ns from the step's start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from stepviz.traces.classifying.name_traits import Trait
from stepviz.traces.classifying.windows import WHOLE_TRACE, Window
from stepviz.traces.graph.arrays import Flags, IntArray
from stepviz.traces.graph.columns import Columns, Since, columns_of
from stepviz.traces.rank_trace import RankStep
from stepviz.traces.reading.collectives import Syncs
from stepviz.traces.reading.rows import CALLS, DEVICE, HOST
from stepviz.traces.reading.track_names import Tracks

#: A launch that no row tells of lies before everything.
NEVER: Final = np.iinfo(np.int64).min // 4


@dataclass(frozen=True, eq=False)
class View:
    """A rank within a window. Whatever has one value per event is in the order of the events."""

    rank: int
    origin: int
    window: Window
    main: int
    place: int
    usual_lag: int
    columns: Columns
    syncs: Syncs
    tracks: Tracks

    @classmethod
    def of(cls, rank: int, step: RankStep, origin: int) -> View:
        """Look at one rank; `origin` is the step's start, absolute."""
        return cls(
            rank,
            origin,
            step.window,
            step.main,
            step.place,
            step.trace.ordinary_lag // 2,
            columns_of(step.trace),
            step.rows.syncs,
            step.rows.tracks,
        )

    @property
    def low(self) -> int:
        """Start of the window."""
        return self.window.start_ns - self.origin

    @property
    def high(self) -> int:
        """End of the window."""
        return self.window.finish_ns - self.origin

    @property
    def whole(self) -> bool:
        """Whether the window is the whole trace, since no step is marked."""
        return self.window.start_from == WHOLE_TRACE

    @property
    def start(self) -> Since:
        """Start of every event."""
        return Since(self.columns.start, self.origin)

    @property
    def finish(self) -> Since:
        """End of every event."""
        return Since(self.columns.finish, self.origin)

    @property
    def track(self) -> IntArray:
        """Thread or stream of every event."""
        return self.columns.track

    @property
    def launcher(self) -> IntArray:
        """Row of the call that launched an event, −1 where there is none."""
        return self.columns.launcher

    @property
    def step_of(self) -> IntArray:
        """Place of the step of every event."""
        return self.columns.place

    @property
    def kind(self) -> npt.NDArray[np.int8]:
        """Code of the kind of every event."""
        return self.columns.kind

    @property
    def name(self) -> npt.NDArray[np.integer]:
        """Place of every event's name in `words`."""
        return self.columns.name

    @property
    def words(self) -> Sequence[str]:
        """All names."""
        return self.columns.words

    def are(self, rows: IntArray, trait: Trait) -> Flags:
        """Return which of some events have a name of some trait."""
        return np.asarray(self.columns.traits[self.name[rows]] & trait > 0)

    def of_cat(self, rows: IntArray, wanted: frozenset[str] | set[str]) -> Flags:
        """Return which of some events are of the wanted categories."""
        return self.columns.of_cat(rows, wanted)

    @cached_property
    def inside(self) -> IntArray:
        """The events that run in the window."""
        return self.columns.between(self.window.start_ns, self.window.finish_ns)

    @cached_property
    def device(self) -> IntArray:
        """Rows of the device, by stream, in order of time."""
        rows = self.inside[self.of_cat(self.inside, DEVICE)]
        order = np.lexsort((self.finish[rows], self.start[rows], self.track[rows]))
        return rows[order]

    @cached_property
    def host(self) -> IntArray:
        """Rows of the host, by thread, outer ones before those they hold."""
        rows = self.inside[self.of_cat(self.inside, HOST)]
        order = np.lexsort((-self.finish[rows], self.start[rows], self.track[rows]))
        return rows[order]

    def clipped(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """Return start and end of some events, cut to the window."""
        return (
            np.clip(self.start[rows], self.low, self.high),
            np.clip(self.finish[rows], self.low, self.high),
        )

    def launches(self, rows: IntArray) -> IntArray:
        """Return when some events were launched, `NEVER` where nothing says."""
        call = self.launcher[rows]
        return np.where(call >= 0, self.start[call], NEVER)

    @cached_property
    def taking_turns(self) -> IntArray:
        """The main thread and those of autograd: one works while the others stand still."""
        gradients = self.host[self.are(self.host, Trait.EVALUATE)]
        return np.union1d(self.track[gradients], [self.main])

    @cached_property
    def works(self) -> Flags:
        """By host row: whether it is an operator or a call, and no region in disguise."""
        rows = self.host
        operator = self.of_cat(rows, CALLS | {"cpu_op"})
        return operator & ~self.are(rows, Trait.REGION)

    @cached_property
    def waits(self) -> Flags:
        """By host row: whether it is a call that waits: for a device, or for its own copy."""
        rows = self.host
        calls = self.of_cat(rows, CALLS)
        return calls & (self.are(rows, Trait.WAITING_CALL) | np.isin(rows, self.blocking[0]))

    @cached_property
    def blocking(self) -> tuple[IntArray, IntArray]:
        """Calls that return only when their own copy is done, and those copies."""
        copies = self.device[self.of_cat(self.device, {"gpu_memcpy"})]
        copies = copies[self.launcher[copies] >= 0]
        call = self.launcher[copies]
        done = (self.finish[copies] > self.start[call]) & (self.finish[copies] <= self.finish[call])
        call, copies = call[done], copies[done]
        # Where one call makes several copies it waits for the last.
        order = np.lexsort((self.finish[copies], call))
        call, copies = call[order], copies[order]
        last = np.append(call[1:] != call[:-1], True) if len(call) else np.zeros(0, bool)
        return call[last], copies[last]
