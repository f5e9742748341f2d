"""One step of a run: what was recorded, and what would be if something in it were different."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

import pandas as pd

from stepviz.core.timeline import Timeline
from stepviz.errors import TimelineError, TraceError, near
from stepviz.traces.folding.fold import Folded, fold
from stepviz.traces.joining.clocks import Clash
from stepviz.traces.joining.joins import Exchange, local
from stepviz.traces.notes import (
    about_exchanges,
    about_exposed,
    about_launches,
    about_stops,
)
from stepviz.traces.observed_step import ObservedStep, is_whole
from stepviz.traces.rank_trace import RankStep

_MS: Final = 1_000_000


class Step(ObservedStep):
    """One update over its ranks. Made by `run.step(n)`."""

    def __init__(
        self,
        number: int,
        ranks: Mapping[int, RankStep],
        missing: Sequence[int],
        run_name: str,
        clash_of_run: Callable[[], Clash | None],
    ) -> None:
        super().__init__(number, ranks, missing, run_name, clash_of_run)
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
            said.append(f"ranks without this step: {', '.join(map(str, self._missing))}")
        said += about_exchanges(self._joined)
        parts = self._ranks
        said += about_stops({rank: part.pieces for rank, part in parts.items()})
        said += about_launches(
            {rank: part.events for rank, part in parts.items()},
            {rank: part.window for rank, part in parts.items()},
        )
        fold = self.timeline().schedule().exposed("exchange")
        return said + about_exposed(self.exposed(), fold, self.completion_ns)

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
