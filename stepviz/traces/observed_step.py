"""One step as it was recorded: where its time goes on each rank, and its exchanges."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from stepviz.core.checks import count_text
from stepviz.core.intervals import subtract, total, union
from stepviz.errors import TraceError
from stepviz.traces.classifying.landmarks import landmarks
from stepviz.traces.folding.idle import idle_frame
from stepviz.traces.folding.parts import ROWS, breakdown_ns, exposed_ns
from stepviz.traces.joining.alignment import Aligned
from stepviz.traces.joining.clocks import Clash, never_together, worst_of
from stepviz.traces.joining.collectives import collectives_frame
from stepviz.traces.joining.exchanges import COLUMNS
from stepviz.traces.joining.joins import Joined, joined
from stepviz.traces.joining.lost import without_exchanges
from stepviz.traces.joining.own_times import first_reached, own_time_frame, slowest_frame
from stepviz.traces.joining.step_exchanges import Part, StepExchanges, step_exchanges
from stepviz.traces.rank_trace import RankStep
from stepviz.traces.reading.rows import DEVICE

if TYPE_CHECKING:
    from stepviz.traces.runs import Run

Unit = Literal["ms", "ns"]

_MS: Final = 1_000_000


class ObservedStep:
    """What the rows of one update say, over its ranks."""

    def __init__(
        self,
        number: int,
        ranks: Mapping[int, RankStep],
        missing: Sequence[int],
        run_name: str,
        clash_of_run: Callable[[], Clash | None],
        aligned: Aligned,
    ) -> None:
        self._number = number
        self._ranks = dict(ranks)
        self._missing = list(missing)
        self._run_name = run_name
        self._clash_of_run = clash_of_run
        self._aligned = aligned
        self._run: Run | None = None

    @property
    def number(self) -> int:
        """The step's number, as the profiler counts (0 where it marked no steps)."""
        return self._number

    @property
    def run(self) -> Run | None:
        """The run it is a step of; None where it was taken out of one (`Step.alone`)."""
        return self._run

    @property
    def ranks(self) -> list[int]:
        """The ranks that have this step."""
        return list(self._ranks)

    @property
    def completion_ns(self) -> int:
        """From the first rank's start to the last rank's end, ns."""
        windows = [part.window for part in self._ranks.values()]
        return int(max(w.finish_ns for w in windows) - min(w.start_ns for w in windows))

    @property
    def windows(self) -> pd.DataFrame:
        """Indexed by rank: start_ns, finish_ns, duration_ns, window, start_from, found_by.

        window says what it is measured on (device, host), start_from how its start was found,
        found_by what tells steps apart where no ProfilerStep marks them.
        """
        rows = {
            rank: {
                "start_ns": part.window.start_ns,
                "finish_ns": part.window.finish_ns,
                "duration_ns": part.window.duration_ns,
                "window": part.window.measured,
                "start_from": part.window.start_from,
                "found_by": part.window.found_by,
            }
            for rank, part in self._ranks.items()
        }
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("rank")

    @property
    def window_rule(self) -> str:
        """One sentence: from when to when this step was measured."""
        rules = {part.window.rule for part in self._ranks.values()}
        return "; ".join(sorted(rules))

    @cached_property
    def _joined(self) -> Joined:
        calls = {rank: (part.at, part.clipped) for rank, part in self._ranks.items()}
        return joined(self._exchanges, calls)

    @cached_property
    def _exchanges(self) -> StepExchanges:
        parts = {
            rank: Part(
                part.trace.exchanges,
                part.at,
                part.window.start_ns,
                part.window.finish_ns,
            )
            for rank, part in self._ranks.items()
        }
        return step_exchanges(self._aligned.match, parts)

    @property
    def own_clash(self) -> Clash | None:
        """How far clocks are apart by what this step shows, None where they may agree."""
        windows = {rank: part.window for rank, part in self._ranks.items()}
        exchange = any(len(part.calls) for part in self._ranks.values())
        apart = never_together(self._number, windows, self._aligned.sets) if exchange else None
        worst = worst_of([self._exchanges.clash, apart])
        return None if worst is None else worst.within(windows)

    @property
    def clash(self) -> Clash | None:
        """How far the ranks' clocks are apart by what the run shows, None where they may agree."""
        return self._clash_of_run() if len(self._ranks) > 1 else None

    @property
    def islands(self) -> str:
        """Which ranks no collective of the run connects with the others, "" where none."""
        return self._aligned.islands if len(self._ranks) > 1 else ""

    @property
    def unmatched(self) -> pd.DataFrame:
        """Exchanges that stayed with their rank: rank, collective, group, times in ns, why."""
        return self._exchanges.unmatched.frame()

    @property
    def collectives(self) -> pd.DataFrame:
        """One row per exchange of the step, in order of its last arrival; times in ns.

        first_rank and last_rank arrived first and last, skew_ns is the time between; they are
        missing where several ranks tie to the nanosecond, and where the skew is less than the
        clocks can tell (see `run.clock`). end_skew_ns is the time between the first and the
        last end; transfer_ns from the last arrival to the last member's own end; wait_ns,
        summed over ranks, from each one's arrival to the last (to its own end where that is
        sooner, as a broadcast's root may be done early).

        bus_gbps is the bus bandwidth in GB/s (10⁹ bytes a second) as nccl-tests define it
        (doc/PERFORMANCE.md there): size / transfer_ns × factor, which is what the slowest link
        carries. The factor for n ranks is 2(n−1)/n of an all-reduce, (n−1)/n of all-gather,
        reduce-scatter, all-to-all, gather and scatter, 1 of broadcast, reduce and send-recv;
        the size is `bytes`, each rank's own tensor (of all-gather and gather, that of all
        ranks together). Missing where the size is unknown or the transfer takes no time.

        Where the ranks' clocks disagree none of what compares them can be told, and is missing.
        """
        return collectives_frame(self._exchanges, self._aligned, told=self.clash is None)

    @property
    def own_time(self) -> pd.DataFrame:
        """What each rank does outside exchanges, ns: a row a rank, a column for each exchange.

        late_ns is how long after the first rank it starts (missing where clocks disagree);
        "→ #0", "→ #1", … the time up to the rank's arrival at each of its exchanges, in its own
        order (that of `collectives` where all ranks take part in all), from the end of the one
        before, or from the step's start; tail_ns is from its last end to the step's.
        own_time_ns is the sum without late_ns. Where a rank reaches an exchange while another
        still runs, its time counts from its arrival at that.
        """
        told = self.clash is None and not self.islands
        return own_time_frame(self._exchanges, self._spans, told=told)

    @property
    def slowest(self) -> pd.DataFrame:
        """Who is slowest? Four questions that have different answers: a row each.

        longest_step has the longest window, which may only have waited the most;
        last_to_arrive came last at most collectives (value is how many);
        slowest_to_first_collective took longest from its own start to its first one;
        most_own_time is busy longest outside collectives, and so holds up the others.

        Columns: rank (missing where several tie or nothing tells, as of own time where its
        file lacks exchanges that others show), value (ns), median (of the
        other ranks), excess (how much more than theirs; of own time the work beside an exchange
        counts too, since a rank that works on while it waits would seem to have less), late_ns
        (how late the rank began the step, which is none of these), and a sentence.
        """
        windows = {rank: part.window for rank, part in self._ranks.items()}
        lengths = {rank: window.duration_ns for rank, window in windows.items()}
        exposed = self.exposed(unit="ns")
        table = self.collectives
        last = (
            table.loc[table["ranks"] > 1, "last_rank"] if len(table) else pd.Series(dtype="Int64")
        )
        return slowest_frame(
            self.own_time,
            lengths,
            first_reached(self._exchanges, self._spans),
            last,
            {rank: length - int(exposed[rank]) for rank, length in lengths.items()},
            "" if self.clash is None else str(self.clash),
            without_exchanges(
                self._exchanges, self._aligned.match.members, np.array(self.ranks, dtype=np.int64)
            ),
        )

    @property
    def _spans(self) -> dict[int, tuple[int, int]]:
        return {
            rank: (part.window.start_ns, part.window.finish_ns)
            for rank, part in self._ranks.items()
        }

    def exchanges(self) -> pd.DataFrame:
        """Return each rank's part in each exchange: rank, its times in ns, size and group."""
        parts = [part.clipped.frame().assign(rank=rank) for rank, part in self._ranks.items()]
        frame = pd.concat(parts, ignore_index=True)
        order = ["rank", *[c for c in COLUMNS if c not in ("row", "place", "queue")]]
        return frame[order].sort_values(["arrival_ns", "rank"], ignore_index=True)

    def breakdown(self, unit: Unit = "ms") -> pd.DataFrame:
        """Return where each rank's window goes: rows by kind, a column a rank.

        Compute claims an instant first (kernels whose pass nothing tells, which are `other`,
        too), then exchange that nothing hides (the wait for a collective's last member apart),
        then the rest; so exchange and wait together are what `exposed` says. A stop between two
        gradients is backward's own. `unexplained` is time in which the trace shows nothing. Each
        column sums to the rank's window exactly in ns, and in ms to 1e-9.
        """
        told = self.clash is None
        columns = {
            rank: breakdown_ns(part.window, part.pieces, self._joined.exchanges, rank, told=told)
            for rank, part in self._ranks.items()
        }
        frame = pd.DataFrame(columns).reindex(list(ROWS))
        frame = frame.rename_axis("kind").rename_axis(columns="rank")
        return frame if _unit(unit) == "ns" else frame / _MS

    def exposed(self, kind: str = "exchange", unit: Unit = "ms") -> pd.Series:
        """Return how long exchange ran on each rank while none of its compute did.

        From the rows; kernels whose pass nothing tells compute as well. The timeline's schedule
        says the same but for those, which are of kind other there, and for what the fold gathers:
        a collective ends on all ranks when it does on the first, and gaps too short for a bar
        join the work after them. `notes` says where that matters.
        """
        if kind != "exchange":
            msg = f"exposed time of {kind!r} is not known here; use 'exchange', or the timeline's"
            raise TraceError(msg)
        values = {
            rank: exposed_ns(part.window, part.pieces, self._joined.exchanges, rank)
            for rank, part in self._ranks.items()
        }
        series = pd.Series(values, name=f"exposed {kind}", dtype="int64").rename_axis("rank")
        return series if _unit(unit) == "ns" else series / _MS

    def idle(self, longer_than_ns: int | None = None) -> pd.DataFrame:
        """Return the gaps in each rank's own work, with what may have caused each.

        A gap is time in which a rank's device runs nothing but exchange or nothing at all, or,
        where there is no device, its main thread no operator. A trace shows what happened
        beside a gap, not why: every cause is a candidate, those first that cover more of it.

        Parameters
        ----------
        longer_than_ns : int, optional
            Only gaps of at least this length; by default a 100th of the step, 20 µs at least.

        Returns
        -------
        DataFrame
            rank, start_ns, finish_ns, duration_ns, candidates (input not ready, waiting for
            rank 3, transfer of …, late launch, host work, checkpoint, …), evidence (a sentence
            with numbers and names of rows) and repeats (whether gaps of such length come in
            every step, in every k-th, or at a constant period; "" where no rhythm shows).
        """
        if longer_than_ns is not None and (not is_whole(longer_than_ns) or longer_than_ns < 0):
            msg = f"longer_than_ns is a whole number of ns, not {longer_than_ns!r}"
            raise TraceError(msg)
        return idle_frame(
            self._ranks,
            self._joined.exchanges,
            told=self.clash is None,
            longer_than_ns=longer_than_ns,
        )

    def device_idle_ns(self, rank: int, spans: npt.NDArray[np.int64]) -> int:
        """Return for how long of some spans (start and finish, ns) a rank's device ran nothing."""
        events = self._ranks[rank].events
        rows = events.loc[events["cat"].isin(list(DEVICE)), ["start_ns", "finish_ns"]]
        left = subtract(union(spans), union(rows.to_numpy(dtype=np.int64)))
        return int(total(left)) if len(left) else 0

    @property
    def landmarks(self) -> pd.DataFrame:
        """Indexed by rank, ns: lengths of forward and backward, and their ends.

        forward_ns and backward_ns run from the first to the last of their work (backward to
        the copying back of reduced gradients); compute_end_ns, from backward's start to the
        end of the last gradient work; last_exchange_ns, from backward's start to the last end
        of an exchange launched by it; exchange_ns sums the exchanges' own lengths.
        """
        rows = {
            rank: landmarks(part.events, part.window, part.clipped.frame(), part.main)
            for rank, part in self._ranks.items()
        }
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("rank")

    def __repr__(self) -> str:
        length = f"{self.completion_ns / _MS:.6g} ms"
        if self.clash is not None:
            # Across ranks no length is to be had from clocks that disagree.
            longest = max(part.window.duration_ns for part in self._ranks.values())
            length = f"{longest / _MS:.6g} ms on the longest rank"
        return (
            f"<Step {self._number} of {self._run_name}: {length}, "
            f"{count_text(len(self._ranks), 'rank')}, "
            f"{count_text(len(self._exchanges), 'exchange')}{self._doubt}>"
        )

    @property
    def _doubt(self) -> str:
        return "" if self.clash is None else f"; {self.clash}"

    def _repr_html_(self) -> str:
        head = html.escape(repr(self)[1:-1])
        table = self.breakdown()
        table = table[(table != 0).any(axis=1)].round(3)
        return (
            f"<p><b>{head}</b><br>{html.escape(self.window_rule)}; ms by rank:</p>"
            f"{table.to_html(border=0)}"
        )


def is_whole(value: object) -> bool:
    """Say whether a value is a whole number (True and 1.0 are none)."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _unit(unit: str) -> str:
    if unit not in ("ms", "ns"):
        msg = f"unit {unit!r} is unknown; use 'ms' or 'ns'"
        raise TraceError(msg)
    return unit
