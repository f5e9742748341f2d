"""One step of a run: what was recorded, and what would be if something in it were different."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Final

import pandas as pd

from stepviz.core.changes.base import Change, Names
from stepviz.core.timeline import Timeline
from stepviz.errors import TimelineError, TraceError, near
from stepviz.traces.folding.fold import Folded, fold
from stepviz.traces.graph.answers import THRESHOLDS, Answering, Level, Thresholds, WhatIf, shares
from stepviz.traces.graph.edits import edits_of
from stepviz.traces.joining.alignment import Aligned
from stepviz.traces.joining.clocks import Clash
from stepviz.traces.joining.joins import Exchange, local
from stepviz.traces.notes import (
    about_exchanges,
    about_exposed,
    about_launches,
    about_lost,
    about_stops,
)
from stepviz.traces.observed_step import ObservedStep, is_whole
from stepviz.traces.rank_trace import RankStep

_MS: Final = 1_000_000


class Step(ObservedStep):
    """One update over its ranks. Made by `run.step(n)`.

    Examples
    --------
    >>> import stepviz as sv
    >>> step = sv.sample_run().step()
    >>> step.replay().completion_ns == step.completion_ns
    True
    """

    def __init__(
        self,
        number: int,
        ranks: Mapping[int, RankStep],
        missing: Sequence[int],
        run_name: str,
        clash_of_run: Callable[[], Clash | None],
        aligned: Aligned,
    ) -> None:
        super().__init__(number, ranks, missing, run_name, clash_of_run, aligned)
        self._fold = lru_cache(maxsize=8)(self._folded)

    def timeline(self, ranks: Iterable[int] | int | None = None) -> Timeline:
        """Fold the step into a timeline of tens of bars a rank, to drag.

        Its schedule replays the observed completion: waits are gaps that move with what they
        wait for, time that no dependency explains is a bar of kind host, and the only fixed
        time is each rank's start (a release on its first phase).

        Parameters
        ----------
        ranks : int or iterable of int, optional
            Only these ranks. A collective then ends its wait at the last arrival among them.

        Returns
        -------
        Timeline
            Times in ms from the first rank's start. What was gathered is in `notes`.
        """
        return self._fold(self._chosen(ranks)).timeline

    def unexplained(self, ranks: Iterable[int] | int | None = None) -> pd.Series:
        """Return by host bar of the timeline, in ms, how much of it no row of the trace explains.

        The rest of a host bar is a device that stood idle while the host ran operators.

        Parameters
        ----------
        ranks : int or iterable of int, optional
            Those of the timeline.
        """
        found = dict(self._fold(self._chosen(ranks)).unexplained)
        series = pd.Series(found, name="unexplained", dtype="int64").rename_axis("phase")
        return series / _MS

    @property
    def notes(self) -> list[str]:
        """What the whole step's timeline gathers or leaves out, in sentences."""
        said = [] if self.clash is None else [str(self.clash)]
        said += self._fold(tuple(self._ranks)).notes
        if self._missing:
            missing = ", ".join(map(str, self._missing))
            said.append(f"ranks without this step, or without its device's work: {missing}")
        said += [self.islands] if self.islands else []
        said += about_exchanges(self._joined)
        parts = self._ranks
        said += about_stops({rank: part.pieces for rank, part in parts.items()})
        said += about_launches(
            {rank: part.events for rank, part in parts.items()},
            {rank: part.window for rank, part in parts.items()},
        )
        said += about_lost({rank: (part.events, part.place) for rank, part in parts.items()})
        fold = self.timeline().schedule().exposed("exchange")
        return said + about_exposed(self.exposed(), fold, self.completion_ns)

    @property
    def critical_path(self) -> pd.DataFrame:
        """The path that ends the step, a piece a row; pieces partition the step to the ns.

        Walked back over the graph of all rows from the last rank's end. Columns: rank (missing
        for a transfer, which belongs to all members), kind (of work; `before the step` is a
        rank's late start, `unexplained` what no edge explains), name, start_ns, finish_ns,
        duration_ns, origin of the link into the piece (recorded, inferred, assumed,
        unexplained), launched (of device work: in the step, before it, by an earlier step, not
        in the file), and where it is: on (device, host, link), track, row; residual is whether
        it is delay that no work explains.
        """
        return self.path()

    def path(self, level: Level = "fine") -> pd.DataFrame:
        """Return the critical path on the graph of all rows, or on the coarse one.

        Parameters
        ----------
        level : {"fine", "coarse"}
            The graph of all rows; or only each rank's own time and its collectives.
        """
        return self._level(level).path().copy()

    def replay(self, level: Level = "fine") -> WhatIf:
        """Solve the unedited graph: the completion is the observed one, and so is every point.

        What edges do not explain is kept as explicit delay; `trust` says how much it is.
        """
        return self._level(level).replay()

    @property
    def residual_share(self) -> float:
        """Which part of the critical path is delay that no work explains."""
        return shares(self._level("fine").path())[0]

    @property
    def unexplained_share(self) -> float:
        """Which part of the critical path no edge explains, by `thresholds`."""
        return shares(self._level("fine").path())[1]

    @property
    def thresholds(self) -> Thresholds:
        """Beyond what lengths a gap or a lag counts as unexplained."""
        return THRESHOLDS

    def what_if(
        self,
        change: Change | None = None,
        *,
        kind: Names = None,
        name: Names = None,
        rank: int | None = None,
        factor: float | None = None,
        own_time: float | None = None,
        start_together: bool = False,
        level: Level = "fine",
    ) -> WhatIf:
        """Predict the completion if something were different. Several may be given together.

        Parameters
        ----------
        change : Change, optional
            A change value of the core, such as ``sv.scale(kind="backward", factor=0.9)``.
        kind, name : str or list of str, optional
            Which work: by kind, by exact name (of a kernel, an operator, a collective), or by a
            pattern with ``*``. Of exchange the transfers change, not the waits; stretches of a
            thread have the kind of their row or region, "host" where neither says one.
        rank : int, optional
            Only on this rank.
        factor : float, optional
            What its duration is multiplied by, 0 or more.
        own_time : float, optional
            What a rank's whole time outside collectives is multiplied by, also that in which a
            thread stood still with no row to say why.
        start_together : bool
            Take the late start of `rank`, or of all ranks, away.
        level : {"fine", "coarse"}
            The graph of all rows; or only each rank's own time and its collectives.

        Returns
        -------
        WhatIf

        Raises
        ------
        ChangeError
            Where nothing matches, or the change has no meaning on this graph.
        """
        edits = edits_of(
            change,
            kind=kind,
            name=name,
            rank=rank,
            factor=factor,
            own_time=own_time,
            start_together=start_together,
            ranks=self.ranks,
        )
        return self._level(level).what_if(edits)

    def no_stragglers(self, level: Level = "fine") -> WhatIf:
        """Predict the completion with no rank slower than the median, nor late at the start.

        Ranks are held to those that do the same exchanges in the same order: a pipeline's stage
        that no other one is like stays as it is (`did` names it). The median of two ranks lies
        in the middle between them. A thread that stands still for longer than the median rank
        works is held to that as well, though no row says why; `trust` says how much of the gain
        that is. Other delay that no work explains stays.

        Parameters
        ----------
        level : {"fine", "coarse"}
            The graph of all rows; or only each rank's own time and its collectives.
        """
        return self._level(level).no_stragglers()

    def to_perfetto(self, path: str | os.PathLike[str]) -> Path:
        """Write the step of all ranks as a trace for the Perfetto UI; return where it is.

        On top the critical path, by kind and by rank, then for each rank its kinds, the waits
        and transfers of its exchanges, and the rows of the step on their threads and streams;
        arrows for launches, for the path, and from who arrived last at a collective.

        Parameters
        ----------
        path : str or path
            A file such as ``step.json.gz``; compressed where it ends in ``.gz``. It appears only
            when it is whole. Open it at https://ui.perfetto.dev, or in chrome://tracing.

        Returns
        -------
        Path

        Raises
        ------
        TraceError
            Where nothing can be written there, or it is one of the run's own traces.
        """
        from stepviz.traces.perfetto import write_perfetto

        return write_perfetto(self, path)

    def alone(self, rank: int) -> Step:
        """Return the same step of one rank, whose exchanges then end when they did for it.

        For where ranks' clocks are too far apart to put them into one graph.
        """
        if not is_whole(rank):
            msg = f"one rank stands alone, so give its number, not {rank!r}"
            raise TraceError(msg)
        (chosen,) = self._chosen(rank)
        parts = {chosen: self._ranks[chosen]}
        return Step(self._number, parts, [], self._run_name, lambda: None, self._aligned)

    def _level(self, level: str) -> Answering:
        if level == "fine":
            return self._fine
        if level == "coarse":
            return self._coarse
        msg = f"there is no level {level!r}: {near(level, ('fine', 'coarse'))}"
        raise TraceError(msg)

    @cached_property
    def _fine(self) -> Answering:
        from stepviz.traces.graph.fine import Fine

        return Fine(self._ranks, self._joined.exchanges, self._clocks)

    @cached_property
    def _coarse(self) -> Answering:
        from stepviz.traces.graph.coarse import Coarse

        return Coarse(self._ranks, self._exchanges, self._clocks)

    @property
    def _clocks(self) -> str:
        """What is to be said of the ranks' clocks beside an answer."""
        return self.islands if self.clash is None else str(self.clash)

    def _chosen(self, ranks: Iterable[int] | int | None) -> tuple[int, ...]:
        if ranks is None:
            return tuple(self._ranks)
        wanted = list(ranks) if isinstance(ranks, Iterable) else [ranks]
        odd = [rank for rank in wanted if not is_whole(rank)]
        if odd:
            msg = f"ranks are whole numbers, not {odd[0]!r}; this step has {self.ranks[:8]}"
            raise TraceError(msg)
        unknown = [rank for rank in wanted if rank not in self._ranks]
        if unknown or not wanted:
            what = f"no rank {unknown[0]!r}" if unknown else "no rank in an empty choice"
            msg = f"step {self._number} has {what}; {near('', self._ranks)}"
            raise TraceError(msg)
        return tuple(rank for rank in self._ranks if rank in wanted)

    def _folded(self, ranks: tuple[int, ...]) -> Folded:
        windows = {rank: self._ranks[rank].window for rank in ranks}
        pieces = {rank: self._ranks[rank].pieces for rank in ranks}
        given = {rank: self._ranks[rank].launches for rank in ranks}
        exchanges = self._joined.exchanges
        if set(ranks) != set(self._ranks):
            exchanges = _only(exchanges, ranks)
        name = f"{self._run_name}, step {self._number}"
        try:
            return fold(windows, pieces, given, exchanges, name)
        except TimelineError as error:
            # Only clocks that disagree can make a collective wait for what it holds.
            alone = fold(windows, pieces, given, local(exchanges), name)
            note = f"exchanges stay with their rank, since joining them has no order: {error}"
            return replace(alone, notes=(*alone.notes, note))


def _only(exchanges: Sequence[Exchange], ranks: tuple[int, ...]) -> list[Exchange]:
    kept = []
    for exchange in exchanges:
        calls = {rank: call for rank, call in exchange.calls.items() if rank in ranks}
        if calls:
            kept.append(exchange.with_calls(calls))
    return kept
