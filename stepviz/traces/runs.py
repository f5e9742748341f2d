"""A run: the traces of all ranks of one capture, its steps, and what each step shows."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np
import pandas as pd

from stepviz.core.vocabulary import KINDS
from stepviz.errors import TraceError, near
from stepviz.traces.classifying.named import names_frame
from stepviz.traces.classifying.windows import Window
from stepviz.traces.folding.parts import device_time
from stepviz.traces.joining.alignment import aligned
from stepviz.traces.joining.clocks import Clash, worst_of
from stepviz.traces.joining.lost import with_device_work
from stepviz.traces.joining.spreads import compared_lengths, cut_alike, spread_frame
from stepviz.traces.notes import about_recording
from stepviz.traces.observed_step import is_whole
from stepviz.traces.rank_trace import RankTrace
from stepviz.traces.recorded_buckets import buckets_frame
from stepviz.traces.step import Step
from stepviz.traces.systems import systems_frame
from stepviz.traces.table import Table

#: How files say themselves in `run.files`.
READ: Final = "read"
REFUSED: Final = "refused"

#: A row of `run.files` that says nothing yet.
FILE: Final[Mapping[str, Any]] = {
    "file": "",
    "rank": pd.NA,
    "rank_source": "",
    "events": 0,
    "dropped": 0,
    "repaired": 0,
    "status": READ,
    "in_memory": False,
    "why": "",
}

_SEEN_COLUMNS: Final = (
    "start_ns",
    "finish_ns",
    "duration_ns",
    "last_rank",
    "longest_rank",
    "longest_ns",
    "ranks",
    "window",
    "start_from",
    "found_by",
)


class Run:
    """The traces of one capture, one file a rank. Made by `load_run`.

    Examples
    --------
    >>> import stepviz as sv
    >>> run = sv.sample_run()
    >>> run.ranks
    [0, 1]
    """

    def __init__(
        self,
        ranks: Mapping[int, RankTrace],
        files: Sequence[Mapping[str, Any]],
        name: str,
        *,
        align: bool = True,
    ) -> None:
        moved, self._aligned = aligned(dict(sorted(ranks.items())), move=align)
        self._ranks = moved
        self._read = files
        self._name = name
        self._kept: dict[int, Step] = {}

    @cached_property
    def _files(self) -> pd.DataFrame:
        columns: dict[str, Any] = {name: [file[name] for file in self._read] for name in FILE}
        columns["rank"] = pd.array(columns["rank"], dtype="Int64")
        return pd.DataFrame(columns)

    @property
    def name(self) -> str:
        """What was loaded, for people."""
        return self._name

    @property
    def ranks(self) -> list[int]:
        """The ranks that were read."""
        return list(self._ranks)

    @property
    def files(self) -> pd.DataFrame:
        """One row per file, or per member of an archive, and per rank of a merged file.

        file, rank and rank_source say what it is and where its rank came from; events counts
        the rows that are used, dropped those that could not be, repaired what was mended;
        status is read or refused; in_memory is False where events are read again when a step
        needs them, as in very large runs; why says what was wrong.
        """
        return self._files.copy()

    @property
    def clock(self) -> pd.DataFrame:
        """One row per rank: how far its clock was from the others' as recorded, and what was done.

        offset_ns is how far it was ahead in the middle of the run, drift_ppm how fast that
        grew, residual_ns how far ends typically lie from that; collectives, how many were
        compared; moved, whether the rank's times were put on the others' clock; why, in a
        sentence. The largest set of ranks that agree is the reference and never moves, nor does
        a rank whose offset is within 10 µs or within what its ends can tell.
        """
        return self._aligned.frame.copy()

    @property
    def recorded(self) -> dict[str, Any]:
        """What stepviz's recorder wrote into the first rank's file, {} where it did not.

        docs/record.md says what it holds: configuration, placement, parameters, costs, …
        """
        return dict(next(iter(self._ranks.values())).rows.recorded)

    @property
    def systems(self) -> pd.DataFrame:
        """One row per rank: what it ran on and was recorded with, as far as its file says.

        device is the rank's own, or those of its machine; backend, world_size and groups (how
        many) are of its process groups; versions names what wrote the file; made_by is what of
        stepviz recorded it, "" elsewhere.
        """
        return systems_frame(self._ranks)

    @property
    def buckets(self) -> pd.DataFrame:
        """One row per gradient bucket of each rank and step: when it was ready, launched, done.

        Columns: step, rank, microbatch (of those of the step that exchange, from 0: only where
        every microbatch does are there several), index (in order of launch, from 0 in each
        microbatch), bytes, ready_ns, launch_ns, done_ns (−1 where missing), emulated, origin
        (``recorded`` by stepviz's hook, or ``rows``: the exchanges of backward as the trace shows
        them), parameters (their names, None where nothing says).
        """
        return buckets_frame(self._ranks)

    @cached_property
    def _windows(self) -> dict[int, dict[int, Window]]:
        """By step, in order, the windows by rank."""
        found: dict[int, dict[int, Window]] = {}
        for rank, kept in self._ranks.items():
            for window in kept.windows:
                found.setdefault(window.step, {})[rank] = window
        shown = {rank: len(kept.exchanges) for rank, kept in self._ranks.items()}
        return with_device_work(dict(sorted(found.items())), shown)

    @cached_property
    def _seen(self) -> Table:
        rows = [self._step_row(found) for found in self._windows.values()]
        seen = Table({name: np.array([row[name] for row in rows]) for name in _SEEN_COLUMNS})
        ratio, odd = compared_lengths(seen[self._length], cut_alike(seen))
        unknown = (seen["ranks"] > 1) & self._apart
        last = pd.arrays.IntegerArray(seen["last_rank"], unknown)
        return seen.assign(ratio=ratio, odd=odd, last_rank=last)

    @cached_property
    def _steps(self) -> pd.DataFrame:
        numbers = np.array(list(self._windows), dtype=np.int64)
        return self._seen.frame(pd.Index(numbers, name="step"), copy=False)

    @property
    def _length(self) -> str:
        # Across ranks no length is to be had from clocks that disagree.
        return "longest_ns" if self._apart else "duration_ns"

    @property
    def _apart(self) -> bool:
        """Whether lengths across ranks are not to be had: clocks disagree, or nothing compares."""
        return self.clash is not None or bool(self._aligned.islands)

    def _step_row(self, found: Mapping[int, Window]) -> dict[str, Any]:
        start = min(window.start_ns for window in found.values())
        finish = max(window.finish_ns for window in found.values())
        longest = max(found, key=lambda rank: (found[rank].duration_ns, -rank))
        return {
            "start_ns": start,
            "finish_ns": finish,
            "duration_ns": finish - start,
            "last_rank": next(rank for rank, w in found.items() if w.finish_ns == finish),
            "longest_rank": longest,
            "longest_ns": found[longest].duration_ns,
            "ranks": len(found),
            "window": _all_of(window.measured for window in found.values()),
            "start_from": _all_of(window.start_from for window in found.values()),
            "found_by": _all_of(window.found_by for window in found.values()),
        }

    @property
    def steps(self) -> pd.DataFrame:
        """One row per step, indexed by its number, times in ns.

        start_ns is the first rank's start, finish_ns the last rank's end, duration_ns their
        difference; last_rank ended last (missing where the ranks' clocks disagree, or
        nothing compares them); longest_rank has the longest window of its own, longest_ns; ranks
        counts who has this step (not those whose file lacks all of its device's work); window
        says what it is measured on (device, host, or both); start_from how its start was found:
        at the previous update's end, at the host's start of a first step, or the whole trace
        where no step is marked. found_by is what tells steps apart where no ProfilerStep marks
        them, "" where one does. ratio is the step's length over the median of those that are
        cut alike (its longest rank's where clocks disagree), and odd says whether that is far
        from what the others do: no such step stands for the run (see `spread`).
        """
        return self._steps.copy()

    @property
    def spread(self) -> pd.DataFrame:
        """How lengths spread, ns: a row "steps" over the run, one for each step over its ranks.

        Columns: count, least, quartile_1, median, quartile_3, most, ratio (most over median) and
        a sentence that names what is odd. Over the run only steps that are cut alike count: a
        first step that starts with the host's range is no longer or shorter for that.
        """
        steps = self._steps
        alike = steps[cut_alike(steps)]
        lengths = {
            number: {rank: window.duration_ns for rank, window in found.items()}
            for number, found in self._windows.items()
        }
        return spread_frame(alike[self._length], list(steps.index[steps["odd"]]), lengths)

    def step(self, number: int | None = None) -> Step:
        """Return one step, by default the one of median length.

        Parameters
        ----------
        number : int, optional
            As in `steps`. Without it the step of median duration; steps whose start is a
            previous update's end are preferred, since the others are cut differently.

        Raises
        ------
        TraceError
            Where no step has that number.
        """
        if number is None:
            number = self._median()
        elif not is_whole(number):
            msg = f"a step is chosen by its number, a whole one, not {number!r}; see run.steps"
            raise TraceError(msg)
        elif number not in self._windows:
            known = list(self._windows)
            shown = ", ".join(map(str, known[:8])) + (f", … to {known[-1]}" * (len(known) > 8))
            msg = f"{self._name} has no step {number!r}; it has {shown}"
            raise TraceError(msg)
        return self._made(int(number))

    def _made(self, number: int) -> Step:
        if number not in self._kept:
            here = self._windows[number]
            found = {
                rank: kept.step(number) if rank in here else None
                for rank, kept in self._ranks.items()
            }
            self._kept[number] = Step(
                number,
                {rank: part for rank, part in found.items() if part is not None},
                missing=[rank for rank, part in found.items() if part is None],
                run_name=self._name,
                clash_of_run=lambda: self.clash,
                aligned=self._aligned,
            )
            self._kept[number]._run = self
        return self._kept[number]

    @cached_property
    def clash(self) -> Clash | None:
        """How far the ranks' clocks are apart at least, and what shows it; None where nothing.

        Without it nothing says that clocks agree better than the exchanges can tell.
        """
        if len(self._ranks) < 2:
            return None
        shown = [self._made(number).own_clash for number in self._windows]
        return worst_of([*shown, self._aligned.doubt])

    def _median(self) -> int:
        alike = np.flatnonzero(cut_alike(self._seen))
        lengths = self._seen[self._length][alike]
        middle = np.argsort(lengths, kind="stable")[(len(alike) - 1) // 2]
        return list(self._windows)[int(alike[middle])]

    def names(self, kind: str | None = None) -> pd.DataFrame:
        """Return how the names of all rows were classified, the longest in all first.

        Where a name has the wrong kind, `sv.add_pattern` says the right one before loading.

        Parameters
        ----------
        kind : str, optional
            Only names of this kind.

        Returns
        -------
        DataFrame
            name, where (kernel, operator, annotation, function, call), kind, rows (how many),
            total_ns (summed over rows and ranks; nested rows count too), ranks.
        """
        if kind is not None and kind not in KINDS:
            msg = f"kind {kind!r} is unknown; {near(kind, KINDS, most=10)}"
            raise TraceError(msg)
        frame = names_frame({rank: kept.events for rank, kept in self._ranks.items()})
        return frame if kind is None else frame[frame["kind"] == kind].reset_index(drop=True)

    def device_time(self, *, launched_only: bool = False) -> pd.DataFrame:
        """Return what each rank's device did over its whole file, in ns, by interval arithmetic.

        Parameters
        ----------
        launched_only : bool
            Leave out device rows whose launch is not in the file.

        Returns
        -------
        DataFrame
            Indexed by rank: span_ns, busy_ns (any device row), idle_ns, compute_ns (kernels
            that move nothing between ranks), exchange_ns, overlap_ns of both, exposed_ns =
            exchange − overlap.
        """
        rows = {
            rank: device_time(kept.events, launched_only=launched_only)
            for rank, kept in self._ranks.items()
        }
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("rank")

    def __repr__(self) -> str:
        steps = self._steps
        refused = int((self._files["status"] == REFUSED).sum())
        left = f", {refused} file{'s' * (refused > 1)} left out" if refused else ""
        noun = "rank" if len(self._ranks) == 1 else "ranks"
        count = "1 step" if len(steps) == 1 else f"{len(steps)} steps"
        middle = int(self._median())
        doubt = "" if self.clash is None else f"; {self.clash}"
        typical = steps[self._length][middle] / 1e6
        return (
            f"<Run {self._name}: {len(self._ranks)} {noun}, {count}, "
            f"step {middle} takes {typical:.4g} ms{left}{doubt}>"
        )

    def _repr_html_(self) -> str:
        shown = self._steps.assign(
            duration_ms=(self._steps["duration_ns"] / 1e6).round(3),
            longest_ms=(self._steps["longest_ns"] / 1e6).round(3),
        )[["duration_ms", "longest_ms", "last_rank", "ranks", "window", "start_from"]]
        head = html.escape(repr(self)[1:-1])
        parts = [f"<p><b>{head}</b></p>", shown.to_html(border=0)]
        parts += [f"<p>{html.escape(note)}</p>" for note in about_recording(self.recorded)]
        refused = self._files[self._files["status"] == REFUSED]
        if len(refused):
            parts.append("<p>Left out:</p><ul>")
            parts += [f"<li>{html.escape(str(why))}</li>" for why in refused["why"]]
            parts.append("</ul>")
        return "".join(parts)


def _all_of(words: Iterable[str]) -> str:
    """Return the one word all ranks share, else all of them."""
    return " and ".join(sorted(set(words)))
