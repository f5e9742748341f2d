"""Did it help? Two measured runs, the same useful work, and a decision with its reason."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from stepviz.core.checks import as_real
from stepviz.errors import ThroughputError, TraceError
from stepviz.evidence.comparing import compared
from stepviz.evidence.decisions import REVERT, Decision, decided, trap_of
from stepviz.evidence.intervals import Interval
from stepviz.evidence.measured import Measured, known_counts, measured
from stepviz.evidence.useful_work import COUNTED, NOT_KNOWN, STATED, Known, useful_work
from stepviz.evidence.verdict_words import notes_of
from stepviz.throughput.token_counts import TokenCounts
from stepviz.traces import Run


@dataclass(frozen=True, eq=False, repr=False)
class Verdict:
    """What two measured runs say about a change.

    Attributes
    ----------
    decision : str
        keep, revert or can't tell.
    reason : str
        Why, in one sentence.
    table : DataFrame
        Indexed by measure: `before`, `after`, `change`, `ratio` (after ÷ before), `low` and
        `high` (of the ratio, 95 %, NaN where there is none), `unit`.
    interval : Interval
        Of the time for the same useful work, after ÷ before.
    trap : str
        What looking at one number only would have concluded wrongly; "" where nothing would.
    convention : str
        What counts as useful work.
    notes : tuple of str
        How the numbers were had, and what to bear in mind.
    confounded : bool
        Whether something else than the change may explain the interval, as `reason` says: another
        speed of the machine, a drift, odd steps.
    work : str
        How it is known that an update holds the same useful work on both sides, or how much each
        holds: counted, stated (by you) or not known. What is not known is neither kept nor
        reverted, and does not pass.
    """

    decision: Decision
    reason: str
    table: pd.DataFrame
    interval: Interval
    trap: str
    convention: str
    notes: tuple[str, ...]
    confounded: bool = False
    work: Known = COUNTED

    def passes(self, gate: float | None = None) -> bool:
        """Say whether the change may go in.

        Parameters
        ----------
        gate : float, optional
            The most that the time for the same work may grow, %; −5 asks for a gain of 5 %. The
            upper end of the interval must be within it, so too much noise does not pass, nor does
            an interval that something else may explain. Without it, all passes but *revert*.
            With or without it, nothing passes whose useful work is not known.
        """
        if gate is None:
            return self.decision != REVERT and self.work != NOT_KNOWN
        most = as_real(gate)
        if most is None or not math.isfinite(most):
            msg = f"gate is {gate!r}: give the most that the time may grow, in %, such as 3"
            raise ThroughputError(msg)
        sound = not self.confounded and self.work != NOT_KNOWN
        return sound and (self.interval.high - 1) * 100 <= most

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data, NaN as None."""
        rows = self.table.astype(object).where(self.table.notna(), None)
        return {
            "decision": self.decision,
            "reason": self.reason,
            "trap": self.trap,
            "confounded": self.confounded,
            "work": self.work,
            "convention": self.convention,
            "ratio": self.interval.ratio,
            "low": _finite(self.interval.low),
            "high": _finite(self.interval.high),
            "level": self.interval.level,
            "how": self.interval.how,
            "table": [{"measure": name, **row} for name, row in rows.to_dict("index").items()],
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        return f"<Verdict: {self.decision}. {self.reason}>"

    def _repr_html_(self) -> str:
        shown = self.table.to_html(float_format=lambda x: f"{x:,.4g}", na_rep="", border=0)
        trap = f"<p>Trap avoided: {html.escape(self.trap)}.</p>" if self.trap else ""
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in self.notes)
        head = f"<b>{html.escape(self.decision)}</b>: {html.escape(self.reason)}"
        return f"<p>{head}</p>{trap}{shown}<ul>{notes}</ul>"


def verdict(
    before: Run | Sequence[Run],
    after: Run | Sequence[Run],
    *,
    convention: str | None = None,
    counts: tuple[TokenCounts, TokenCounts] | None = None,
    same_work: bool = False,
) -> Verdict:
    """Decide whether a change made the same useful work finish sooner.

    Parameters
    ----------
    before, after : Run, or several
        Measured runs without and with the change. Several of each side, best taken in turns
        (before, after, before, after), tell the change from the machine's moods; runs of one side
        are captures of the same configuration.
    convention : str, optional
        What counts as useful work where it differs: scored, executed, allocated, real, sequences
        or updates. Without it runs whose work differs are refused.
    counts : (TokenCounts, TokenCounts), optional
        What an update of all ranks holds before and after, where the captures do not say.
    same_work : bool
        Your word that an update holds the same useful work on both sides, where captures do not
        say. Counts that say otherwise are still refused.

    Returns
    -------
    Verdict

    Raises
    ------
    ThroughputError
        Where an update's useful work differs and no convention says what counts.
    TraceError
        Where a side is no run.

    Notes
    -----
    *Useful work*: where no run says what an update holds, the table is made all the same, but the
    decision is "can't tell" and no gate passes: a shorter step may have done less.

    *Step times* are those without profiler and hook where the capture has them, else those of the
    traced steps, which the notes say. A side's centre is the 20 % trimmed mean of the logarithms,
    so that a few odd steps move it little; where the plain mean goes the other way, because of
    such steps, nothing is decided.

    *The interval* (95 %) is of a circular block bootstrap: neighbouring steps are alike, so
    stretches of steps are drawn again, as long as their autocorrelation lasts, and the interval
    is widened for having few of them. Between runs of one configuration there is more noise than
    within (block effects): with several runs a side the interval is Student's over runs, or over
    pairs that took turns; with one run a side, effects below 1 % are never decided. In
    simulations without an effect, of 8 to 100 independent or mildly autocorrelated steps (0.3),
    it errs in at most 6 % of cases. A long autocorrelation over few steps (0.8 over a dozen) is
    beyond any such method.

    *Drift*: where the later half of a lone run differs from its earlier half by much of what the
    two runs differ by, it is "can't tell".

    *Few steps*: with fewer than 8 on a side, an effect is only decided if Welch's t on the
    logarithms leaves out "none" at 99 %, it is 5 % or more, and no step of one side is as short
    as one of the other.

    *The machine*: on CPUs, the same forward operators, away from any exchange, are the reference.
    Where they changed by half of what the step did or more, it is "can't tell", because a faster
    or slower machine explains it.

    Examples
    --------
    A run beside itself:

    >>> found = verdict(sv.sample_run(), sv.sample_run())
    >>> found.decision, float(found.table.loc["exposed exchange", "change"])
    ("can't tell", 0.0)
    """
    first, second = _sides(before, "before"), _sides(after, "after")
    if counts is not None:
        first = [_recounted(one, _counted(counts, 0)) for one in first]
        second = [_recounted(one, _counted(counts, 1)) for one in second]
    work = useful_work(first, second, convention, same=_flag(same_work))
    if counts is not None and work.known == COUNTED:
        work = replace(work, known=STATED, note=f"{work.note} (as you counted)")
    found = compared(first, second, work)
    decision, why, confounded = decided(found, work)
    return Verdict(
        decision,
        why[0].upper() + why[1:] + ".",
        found.table,
        found.interval,
        trap_of(found, decision, work),
        work.convention,
        tuple(notes_of(found, work)),
        confounded,
        work.known,
    )


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        msg = f"same_work is {value!r}: give True where an update holds the same on both sides"
        raise ThroughputError(msg)
    return value


def _sides(given: Any, name: str) -> list[Measured]:
    runs = [given] if isinstance(given, Run) else given
    ok = isinstance(runs, Sequence) and not isinstance(runs, str)
    if not ok or not runs or not all(isinstance(run, Run) for run in runs):
        msg = (
            f"{name} is {type(given).__name__}: give a run, as load_run returns it, or a list of "
            "runs of the same configuration"
        )
        raise TraceError(msg)
    return [measured(run) for run in runs]


def _counted(counts: Any, place: int) -> TokenCounts:
    if (
        not isinstance(counts, tuple)
        or len(counts) != 2
        or not isinstance(counts[place], TokenCounts)
    ):
        msg = "counts is a pair, what an update holds before and after: (TokenCounts, TokenCounts)"
        raise ThroughputError(msg)
    found: TokenCounts = counts[place]
    if found.scope != "update":
        msg = f"counts[{place}] is of a {found.scope}: count an update of all ranks"
        raise ThroughputError(msg)
    return found


def _recounted(one: Measured, counts: TokenCounts) -> Measured:
    """Return a run with the user's counts; where its own say otherwise, that is a doubt."""
    own, given = known_counts(one.counts), known_counts(counts)
    other = [f"{own[n]:,} {n}" for n in own if n in given and own[n] != given[n]]
    doubts = list(one.doubts)
    if other:
        doubts.append(f"{one.name} counted {', '.join(other)} in an update, and you say otherwise")
    return replace(one, counts=counts, doubts=doubts)


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
