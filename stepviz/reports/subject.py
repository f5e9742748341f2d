"""What a report is about, asked once, and what of it had to be left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, TypeVar

import pandas as pd

from stepviz.evidence.run_rates import RunThroughput
from stepviz.traces import Run, Step, told
from stepviz.traces.graph.answers import WhatIf

T = TypeVar("T")

#: So many ranks have a row of their own.
MOST_RANKS: Final = 32


@dataclass
class Subject:
    """A step of a run.

    Parameters
    ----------
    run : Run
    step : Step
    throughput : RunThroughput, optional
        What the run achieved, where its own files say too little for it.
    cuts : list of str
        What was left out, in sentences, once the sections are made.
    """

    run: Run
    step: Step
    throughput: RunThroughput | None = None
    cuts: list[str] = field(default_factory=list)

    @cached_property
    def asked(self) -> Step:
        """The step whose graph answers: one rank alone where clocks are too far apart."""
        return told.asked(self.step)

    @cached_property
    def replayed(self) -> WhatIf:
        """The unedited graph, solved."""
        return self.asked.replay()

    @cached_property
    def gains(self) -> list[told.Gain]:
        """Changes that would help, the largest gain first."""
        return told.gains(self.asked)

    @cached_property
    def origin_ns(self) -> int:
        """From when moments of the step count: its first rank's start."""
        return int(self.step.windows["start_ns"].min())

    @cached_property
    def path_origin_ns(self) -> int:
        """From when moments of the path count, by the clock of the ranks that it is of."""
        return int(self.asked.windows["start_ns"].min())

    def start_ns(self, rank: int) -> int:
        """Return from when a rank's own moments count: its own start where clocks disagree."""
        if self.step.clash is None:
            return self.origin_ns
        starts: dict[int, int] = self.step.windows["start_ns"].to_dict()  # type: ignore[assignment]  # by rank
        return starts[rank]

    @property
    def over(self) -> str:
        """Say whose graph it is, "" where it is of all ranks."""
        alone = told.alone(self.step)
        return "" if alone is None else f" (rank {alone} alone: clocks are too far apart)"

    @cached_property
    def ranks(self) -> list[int]:
        """The ranks with rows of their own: those of the path, then the longest."""
        lengths = self.step.windows["duration_ns"]
        path = [int(rank) for rank in self.replayed.owners["rank"].dropna().unique()]
        longest = [int(rank) for rank in lengths.sort_values(ascending=False).index]
        shown = list(dict.fromkeys([*path, *longest]))[:MOST_RANKS]
        left = len(lengths) - len(shown)
        if left > 0:
            self.cuts.append(
                f"tables by rank show {len(shown)} of {len(lengths)} ranks: those of the critical "
                "path, then the longest"
            )
        return sorted(shown)

    def first(self, rows: Sequence[T], most: int, what: str) -> Sequence[T]:
        """Return the first rows; what is left out is remembered under its name."""
        if len(rows) > most:
            self.cuts.append(f"{what}: {most} of {len(rows):,} are shown")
        return rows[:most]

    def largest(
        self, frame: pd.DataFrame, column: str, most: int, what: str, by: str
    ) -> pd.DataFrame:
        """Return the rows with the largest values in a column, in their own order."""
        if len(frame) <= most:
            return frame
        self.cuts.append(f"{what}: {most} of {len(frame):,} are shown, those {by}")
        order = frame[column].fillna(-1).sort_values(ascending=False, kind="stable").index[:most]
        return frame.loc[sorted(order)]
