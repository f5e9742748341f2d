"""Whether a count and an interval belong together, and how wrong their quotient would be."""

from __future__ import annotations

from typing import Final

from stepviz.errors import ThroughputError, near
from stepviz.throughput.figures import times

#: One accumulation pass; one optimizer step; a stretch of several.
SCOPES: Final = ("microbatch", "update", "run")

_ONE: Final = {"microbatch": "one microbatch", "update": "one update", "run": "a run"}


def known_scope(scope: object) -> str:
    """Return a scope, or say which there are."""
    if not isinstance(scope, str) or scope not in SCOPES:
        msg = f"there is no scope {scope!r}: {near(scope, SCOPES)}"
        raise ThroughputError(msg)
    return scope


def wrong_by(
    counted: str, timed: str, *, microbatches: int | None, updates: int | None
) -> float | None:
    """Return how many times too high a rate of these two scopes would be; None if unknown.

    Parameters
    ----------
    counted, timed : str
        Scope of the count and of the interval.
    microbatches : int, optional
        Passes in one update: the accumulation.
    updates : int, optional
        Updates in the run.
    """
    size: dict[str, float | None] = {"microbatch": 1.0, "update": microbatches, "run": None}
    if microbatches and updates:
        size["run"] = float(microbatches * updates)
    if counted == timed:
        return 1.0
    if {counted, timed} == {"update", "run"}:
        if not updates:
            return None
        return float(updates) if counted == "run" else 1 / updates
    over, under = size[counted], size[timed]
    return over / under if over and under else None


def refuse_mismatch(
    counted: str, timed: str, *, microbatches: int | None, updates: int | None
) -> None:
    """Raise where the interval does not hold exactly the count's work.

    Raises
    ------
    ThroughputError
        With the factor that the rate would be wrong by, in words and as `factor`.
    """
    factor = wrong_by(counted, timed, microbatches=microbatches, updates=updates)
    if factor == 1:
        return  # also an accumulation of one pass, where microbatch and update are the same
    if factor is not None:
        wrong = f"would be {times(factor)}"
    else:
        unit = "updates in the run" if "microbatch" not in (counted, timed) else "microbatches"
        wrong = f"would be wrong by the number of {unit}"
    msg = (
        f"the count is of {_ONE[counted]} and the time of {_ONE[timed]}: the rate {wrong}. "
        f"Time {_ONE[counted]}, or count {_ONE[timed]}"
    )
    raise ThroughputError(msg, factor=factor)
