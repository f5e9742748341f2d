"""Did it help? Two measured runs, the same useful work, and a decision with its reason."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import numpy as np
import pandas as pd

from stepviz.core.checks import as_real, ms_text
from stepviz.errors import ThroughputError, TraceError
from stepviz.evidence.comparing import Comparison, compared
from stepviz.evidence.intervals import Interval, drift_within
from stepviz.evidence.measured import Measured, measured
from stepviz.evidence.useful_work import Work, useful_work
from stepviz.throughput.token_counts import TokenCounts
from stepviz.traces import Run

Decision = Literal["keep", "revert", "can't tell"]
KEEP: Final = "keep"
REVERT: Final = "revert"
CANT_TELL: Final = "can't tell"

#: With fewer step times on a side, only what is beyond doubt is decided …
FEW: Final = 8
#: … an effect of at least this part, with not one step of a side in the other's range.
_BEYOND: Final = 0.05
#: Two single captures of one configuration may differ by so much, whatever their steps say.
_LEAST: Final = 0.01
#: Operators that the change does not touch took so much of the step's change: it is the machine.
_MACHINE: Final = 0.5
#: Less than this is no drift.
_DRIFT: Final = 0.02
#: A run whose later half differs from its earlier one by this part of the change explains it too.
_WITHIN: Final = 0.45
#: A tail that changed by this part of the step is worth a word.
_TAIL: Final = 0.01


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
    """

    decision: Decision
    reason: str
    table: pd.DataFrame
    interval: Interval
    trap: str
    convention: str
    notes: tuple[str, ...]
    confounded: bool = False

    def passes(self, gate: float | None = None) -> bool:
        """Say whether the change may go in.

        Parameters
        ----------
        gate : float, optional
            The most that the time for the same work may grow, %; −5 asks for a gain of 5 %. The
            upper end of the interval must be within it, so too much noise does not pass, nor does
            an interval that something else may explain. Without it, all passes but *revert*.
        """
        if gate is None:
            return self.decision != REVERT
        most = as_real(gate)
        if most is None or not math.isfinite(most):
            msg = f"gate is {gate!r}: give the most that the time may grow, in %, such as 3"
            raise ThroughputError(msg)
        return not self.confounded and (self.interval.high - 1) * 100 <= most

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data, NaN as None."""
        rows = self.table.astype(object).where(self.table.notna(), None)
        return {
            "decision": self.decision,
            "reason": self.reason,
            "trap": self.trap,
            "confounded": self.confounded,
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

    Returns
    -------
    Verdict

    Raises
    ------
    ThroughputError
        Where an update's useful work differs and no convention says what counts.

    Notes
    -----
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
        first = [replace(one, counts=_counted(counts, 0)) for one in first]
        second = [replace(one, counts=_counted(counts, 1)) for one in second]
    work = useful_work(first, second, convention)
    found = compared(first, second, work)
    decision, why, confounded = _decided(found, work)
    return Verdict(
        decision,
        why[0].upper() + why[1:] + ".",
        found.table,
        found.interval,
        _trap(found, decision),
        work.convention,
        tuple(_notes(found, work)),
        confounded,
    )


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


def _decided(found: Comparison, work: Work) -> tuple[Decision, str, bool]:
    """Return the decision, its reason, and whether something else may explain the interval."""
    interval, many = found.interval, min(found.before.count, found.after.count)
    runs = min(len(found.firsts), len(found.seconds))
    changed = _changed(found, work)
    effect = abs(math.log(interval.ratio))
    if many < 2:
        reason = f"{changed}, but a single step on a side has no spread to judge it by"
        return CANT_TELL, reason, True
    if many < FEW and runs == 1:
        if not (interval.decided and found.apart and effect >= _BEYOND):
            reason = (
                f"{changed}, but {found.before.count} and {found.after.count} steps decide only "
                f"what is beyond doubt ({_span(interval)} at 99 %)"
            )
            return CANT_TELL, reason, False
    elif not interval.decided:
        reason = f"{changed}; no difference is shown, since {_span(interval)} holds 0"
        return CANT_TELL, reason, False
    if runs == 1 and effect < _LEAST:
        return CANT_TELL, f"{changed}: less than two captures of one thing may differ by", False
    if other := _confound(found, changed, effect):
        return CANT_TELL, other, True
    slower, trap = interval.ratio > 1, _tail_words(found)
    opposite = trap and (found.tail < 0) == slower
    although = f", although {trap}" if opposite else ""
    reason = f"{changed}; {_span(interval)} at {100 * interval.level:g} %{although}"
    return (REVERT if slower else KEEP), reason, False


def _confound(found: Comparison, changed: str, effect: float) -> str:
    """Say what else than the change may explain what was measured, "" where nothing is seen."""
    if found.drift is not None and _is_machine(found.drift, found.interval.ratio):
        other = "a slower" if found.drift > 1 else "a faster"
        return (
            f"{changed}, but the same forward operators, which exchange does not touch, changed "
            f"by {percent_change(found.drift)}, as on {other} machine"
        )
    moved = _drifting(found) if min(len(found.firsts), len(found.seconds)) == 1 else 0.0
    if abs(moved) >= _WITHIN * effect:
        return (
            f"{changed}, but within one run it drifted by {percent_change(math.exp(moved))} from "
            "the first half to the second: capture both sides several times, in turns"
        )
    slower = found.interval.ratio > 1
    if (found.mean_ratio > 1) != slower and abs(math.log(found.mean_ratio)) > _LEAST:
        return (
            f"{changed} in a typical step, but the mean step changed by "
            f"{percent_change(found.mean_ratio)} because of odd ones"
        )
    return ""


def _drifting(found: Comparison) -> float:
    """Return the largest drift within a run, of the logarithms."""
    every = [drift_within(np.log(run)) for side in found.times for run in side]
    return max(every, key=abs)


def _is_machine(drift: float, ratio: float) -> bool:
    moved, step = math.log(drift), math.log(ratio)
    return abs(moved) >= _DRIFT and moved * step > 0 and abs(moved) >= _MACHINE * abs(step)


def _changed(found: Comparison, work: Work) -> str:
    row = {name: _cell(found, name) for name in ("before", "after", "change", "ratio")}
    text = (
        f"the step {_verb(row['change'])} from {_ms(row['before'])} to {_ms(row['after'])} ms "
        f"({percent_change(row['ratio'])})"
    )
    if row["change"] == 0:
        text = f"the step stayed at {_ms(row['before'])} ms"
    if work.convention != "updates" and abs(work.factor - 1) > 1e-9:
        rate = 1 / found.interval.ratio
        text += f" and {work.unit} {_verb(rate - 1)} by {percent_change(rate)}"
    return text


def _trap(found: Comparison, decision: Decision) -> str:
    tail = _tail_words(found)
    change = _cell(found, "change")
    if tail and decision == REVERT and found.tail < 0:
        return f"{tail}, the step grew by {_ms(change)} ms"
    if tail and decision == KEEP and found.tail > 0:
        return f"{tail}, the step shrank by {_ms(-change)} ms"
    if tail and decision == CANT_TELL and found.tail < 0:
        return f"{tail}, and no shorter step is shown"
    return ""


def _tail_words(found: Comparison) -> str:
    """Say how the exposed exchange changed, "" where that is noise."""
    length = _cell(found, "before")
    if not found.tail_told or abs(found.tail) < _TAIL * length:
        return ""
    verb = "fell" if found.tail < 0 else "grew"
    return f"the tail {verb} by {_ms(abs(found.tail))} ms"


def _notes(found: Comparison, work: Work) -> list[str]:
    sides = {"before": found.before, "after": found.after}
    notes = [f"useful work: {work.note}"]
    kinds = {side.bare for side in sides.values()}
    if kinds == {True}:
        counts = " and ".join(str(side.count) for side in sides.values())
        notes.append(f"step times are those without profiler, {counts} of them")
    elif kinds == {False}:
        counts = " and ".join(str(side.count) for side in sides.values())
        notes.append(
            f"step times are those of the traced steps, {counts} of them, with what the profiler "
            "costs in both: the captures hold no others"
        )
    notes.append(f"interval: {found.interval.how}")
    if min(len(found.firsts), len(found.seconds)) == 1:
        notes.append(
            "one run a side: the interval knows the noise within each run, not that between runs; "
            "capture both several times, in turns, to know it"
        )
    if found.drift is not None:
        notes.append(f"the same forward operators changed by {percent_change(found.drift)}")
    for name, side in sides.items():
        if side.odd:
            notes.append(
                f"{name}: odd steps {', '.join(map(str, side.odd[:8]))}, which count little"
            )
    for one in (*found.firsts, *found.seconds):
        notes += one.doubts
    return list(dict.fromkeys(notes))


def _cell(found: Comparison, column: str) -> float:
    value: Any = found.table.loc["step time", column]
    return float(value)


def _span(interval: Interval) -> str:
    low, high = ((end - 1) * 100 for end in (interval.low, interval.high))
    if not np.isfinite(high):
        return "an interval without end"
    return f"{signed(low)} to {signed(high)} %"


def percent_change(ratio: float) -> str:
    """Write a ratio as a change: +4.0 %."""
    return f"{signed((ratio - 1) * 100)} %"


def signed(value: float) -> str:
    """Write a number with its sign, to a tenth, a whole one from 100."""
    digits = 1 if abs(value) < 99.95 else 0
    text = f"{value:+.{digits}f}"
    return text.replace("-", "−")


def _verb(change: float) -> str:
    return "grew" if change > 0 else "shrank" if change < 0 else "stayed"


def _ms(value: float) -> str:
    return ms_text(float(f"{value:.4g}"))


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
