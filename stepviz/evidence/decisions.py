"""Keep, revert or can't tell: by which rules two measured sides are decided."""

from __future__ import annotations

import math
from typing import Final, Literal

import numpy as np

from stepviz.evidence.comparing import FEW, Comparison
from stepviz.evidence.intervals import drift_within
from stepviz.evidence.useful_work import NOT_KNOWN, Work
from stepviz.evidence.verdict_words import (
    ms_words,
    percent_change,
    span_words,
    step_cell,
    step_words,
    tail_words,
)

Decision = Literal["keep", "revert", "can't tell"]
KEEP: Final = "keep"
REVERT: Final = "revert"
CANT_TELL: Final = "can't tell"

#: With few step times only an effect of at least this part is decided, with not one step of a side
#: in the other's range.
_BEYOND: Final = 0.05
#: Two single captures of one configuration may differ by so much, whatever their steps say.
_LEAST: Final = 0.01
#: Operators that the change does not touch took so much of the step's change: it is the machine.
_MACHINE: Final = 0.5
#: Less than this is no drift.
_DRIFT: Final = 0.02
#: A run whose later half differs from its earlier one by this part of the change explains it too.
_WITHIN: Final = 0.45


def decided(found: Comparison, work: Work) -> tuple[Decision, str, bool]:
    """Return the decision, its reason, and whether something else may explain the interval."""
    interval, many = found.interval, min(found.before.count, found.after.count)
    runs = min(len(found.firsts), len(found.seconds))
    changed = step_words(found, work)
    effect = abs(math.log(interval.ratio))
    if many < 2:
        reason = f"{changed}, but a single step on a side has no spread to judge it by"
        return CANT_TELL, reason, True
    if many < FEW and runs == 1:
        if not (interval.decided and found.apart and effect >= _BEYOND):
            reason = (
                f"{changed}, but {found.before.count} and {found.after.count} steps decide only "
                f"what is beyond doubt ({span_words(interval)} at 99 %)"
            )
            return CANT_TELL, reason, False
    elif not interval.decided:
        reason = f"{changed}; no difference is shown, since {span_words(interval)} holds 0"
        return CANT_TELL, reason, False
    if runs == 1 and effect < _LEAST:
        return CANT_TELL, f"{changed}: less than two captures of one thing may differ by", False
    if other := _confound(found, changed, effect):
        return CANT_TELL, other, True
    slower, tail = interval.ratio > 1, tail_words(found)
    opposite = tail and (found.tail < 0) == slower
    although = f", although {tail}" if opposite else ""
    reason = f"{changed}; {span_words(interval)} at {100 * interval.level:g} %{although}"
    if work.known == NOT_KNOWN:
        return (
            CANT_TELL,
            f"{reason}; but the useful work is not known to be equal: {work.why}",
            False,
        )
    return (REVERT if slower else KEEP), reason, False


def trap_of(found: Comparison, decision: Decision, work: Work) -> str:
    """Say what a look at the tail alone would have concluded wrongly, "" where nothing."""
    tail = tail_words(found)
    change = step_cell(found, "change")
    if tail and decision == REVERT and found.tail < 0:
        return f"{tail}, the step grew by {ms_words(change)} ms"
    if tail and decision == KEEP and found.tail > 0:
        return f"{tail}, the step shrank by {ms_words(-change)} ms"
    if tail and decision == CANT_TELL and found.tail < 0 and work.known != NOT_KNOWN:
        return f"{tail}, and no shorter step is shown"
    return ""


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
