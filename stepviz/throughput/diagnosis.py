"""A reported number that is not the expected one: what could be the cause, never which it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from numbers import Real
from typing import Any, Final

import pandas as pd

from stepviz.errors import ThroughputError
from stepviz.throughput.causes import Cause, causes_of
from stepviz.throughput.checks import real
from stepviz.throughput.figures import card, number_text, percent
from stepviz.throughput.peak_catalogue import sparse_guard
from stepviz.throughput.rates import Rate
from stepviz.throughput.setups import Setup
from stepviz.throughput.utilization import Mfu

#: Factors this near to the ratio explain it: logs round, and steps vary.
TOLERANCE: Final = 0.02
#: A bare number above this is no utilization, however wrong.
MOST_FRACTION: Final = 20
#: So many pairs of causes are named, where no single one fits.
MOST_PAIRS: Final = 5

LOW_MFU: Final = (
    "A low MFU does not prove that communication or input failed to overlap. It may come from slow "
    "kernels, communication, input, the optimizer, recomputation that the convention leaves out, "
    "or a wrong denominator; and the gap to a compute floor is not the time of the others. A "
    "trace tells them apart."
)

_ORDER: Final = {"setup": 0, "constant": 1, "guess": 2, "free": 3}
_SURE: Final = ("setup", "constant")
_COLUMNS: Final = ("cause", "factor", "off", "basis", "happened", "confirm", "evidence")


_NOTHING: Final = (
    "Nothing about this number alone is odd; give expected=, or a setup, to compare it with."
)


@dataclass(frozen=True, repr=False)
class Diagnosis:
    """What could explain a ratio, and what would confirm each.

    Parameters
    ----------
    ratio : float or None
        Reported ÷ expected; None where nothing was expected.
    candidates : DataFrame
        `cause`, `factor` (the ratio that it alone would make), `off` (relative distance from the
        ratio), `basis` (setup: its size was given; constant; guess: a size that would fit; free:
        some share fits any ratio), `happened`, `confirm`, `evidence`. Nearest causes of the setup
        first.
    guards : tuple of str
        What cannot be, or does not fit together, whatever the ratio.
    does_not_prove : str
        What the number says nothing about.
    """

    ratio: float | None
    candidates: pd.DataFrame
    guards: tuple[str, ...]
    does_not_prove: str

    @property
    def words(self) -> str:
        """The whole in sentences."""
        said = list(self.guards)
        if self.ratio is not None:
            said.insert(0, self._verdict())
        said += [
            f"- {row['cause']} ({row['basis']}, ×{number_text(row['factor'], 4)}): "
            f"{row['happened']}. To confirm: {row['confirm']}"
            for _, row in self.candidates.iterrows()
        ]
        if self.does_not_prove:
            said.append(self.does_not_prove)
        return "\n".join(said) or _NOTHING

    def _verdict(self) -> str:
        shown = f"Reported is {number_text(self.ratio or 0.0, 4)} times the expected"
        if self._agrees():
            return f"{shown}: they agree to {percent(TOLERANCE)}."
        n = len(self.candidates)
        if not n:
            return f"{shown}, and no usual cause makes that factor: measure one step by hand."
        one = "One cause" if n == 1 else f"{n} causes"
        return f"{shown}. {one} would make about that factor; a factor that fits proves none."

    def _agrees(self) -> bool:
        return self.ratio is not None and abs(self.ratio - 1) <= TOLERANCE

    def __repr__(self) -> str:
        return self.words

    def _repr_html_(self) -> str:
        rows = [
            (
                f"{row['cause']} ×{number_text(row['factor'], 4)}",
                f"{row['happened']}: {row['confirm']} ({row['evidence']})",
            )
            for _, row in self.candidates.iterrows()
        ]
        notes = [*self.guards, *([self.does_not_prove] if self.does_not_prove else [])]
        return card(self._verdict() if self.ratio is not None else "Diagnosis", rows, notes)


def diagnose(
    *,
    reported: Any,
    expected: Any = None,
    setup: Mapping[str, Any] | None = None,
    tolerance: float = TOLERANCE,
) -> Diagnosis:
    """Name what could make a reported number differ from the expected one.

    Parameters
    ----------
    reported, expected : float, Rate, Mfu or Quantity
        Of the same quantity. A bare number is taken for a rate or a utilization alike; a `setup`
        with a convention or a peak makes it a utilization. Without `expected` only the guards run.
    setup : dict, optional
        What is known of the job: accumulation, world, dp, tp, cp, pp, vpp, logging_steps, padding,
        prompt, counts, denominator, tokens, device, precision, peak, shape, convention, sequence,
        recompute, lora, active_share, step_seconds. The more of it, the fewer guesses.
    tolerance : float
        How near a factor must be to the ratio, relative.

    Returns
    -------
    Diagnosis
        Several candidates as a rule: different causes make the same factor. Where none fits alone,
        pairs are tried.

    Raises
    ------
    ThroughputError
        Numbers that are none, quantities that differ, or an unknown key of the setup.

    Examples
    --------
    >>> found = diagnose(reported=1048576, expected=131072, setup={"accumulation": 8})
    >>> found.ratio, found.candidates["cause"].iloc[0]
    (8.0, 'accumulation of 8')
    """
    known = Setup.read(setup)
    kind = _kind(reported, expected, known)
    number = _value(reported, "reported")
    guards = _guards(reported, expected, number, kind, known)
    if expected is None:
        return Diagnosis(None, _table([]), tuple(guards), _not_proved(kind, number))
    right = _value(expected, "expected")
    if right == 0 or number == 0:
        msg = f"reported is {number:g} and expected {right:g}: a ratio needs both above 0"
        raise ThroughputError(msg)
    ratio = real(number, "reported", above=0) / real(right, "expected", above=0)
    near = real(tolerance, "tolerance", above=0)
    found: list[tuple[float, Cause]] = []
    if abs(ratio - 1) > near:
        every = [c for c in causes_of(known, ratio) if kind is None or kind in c.spoils]
        found = _fitting(every, ratio, near)
        if not any(cause.basis in _SURE for _, cause in found):
            found = _pairs(every, ratio, near) + found
    return Diagnosis(ratio, _table(found), tuple(guards), _not_proved(kind, number))


def _not_proved(kind: str | None, number: float) -> str:
    if number > 1 or kind == "rate":
        return ""
    return LOW_MFU if kind == "mfu" else f"If this is a utilization: {LOW_MFU}"


def _kind(reported: Any, expected: Any, setup: Setup) -> str | None:
    """Return whether this is about a rate or a utilization; None: either."""
    kinds = {type(value) for value in (reported, expected) if isinstance(value, Rate | Mfu)}
    if len(kinds) > 1:
        msg = f"{reported!r} and {expected!r} are two quantities: compare one with itself"
        raise ThroughputError(msg)
    if kinds:
        return "rate" if kinds == {Rate} else "mfu"
    told = (setup.convention, setup.peak, setup.shape, setup.device)
    fraction = isinstance(reported, Real) and reported <= MOST_FRACTION
    return "mfu" if fraction and any(value is not None for value in told) else None


def _value(number: Any, name: str) -> float:
    if isinstance(number, Rate | Mfu):
        return number.value
    return real(number, name, least=0)


def _fitting(causes: list[Cause], ratio: float, near: float) -> list[tuple[float, Cause]]:
    found = [(abs(cause.factor / ratio - 1), cause) for cause in causes]
    fits = [(off, cause) for off, cause in found if off <= near]
    return sorted(fits, key=lambda one: (_ORDER[one[1].basis], one[0]))


def _pairs(causes: list[Cause], ratio: float, near: float) -> list[tuple[float, Cause]]:
    """Return pairs of causes, neither of them guessed, that together make the ratio."""
    sure = [c for c in causes if c.basis in _SURE and abs(c.factor - 1) > near]
    found = []
    for first, second in combinations(sure, 2):
        factor = first.factor * second.factor
        off = abs(factor / ratio - 1)
        if off > near or first.name == second.name:
            continue
        both = Cause(
            f"{first.name} and {second.name}",
            factor,
            f"{first.happened}; {second.happened}",
            f"{first.confirm}; {second.confirm}",
            f"{first.evidence}; {second.evidence}",
            "setup" if "setup" in (first.basis, second.basis) else "constant",
        )
        found.append((off, both))
    found.sort(key=lambda one: (_ORDER[one[1].basis], one[0]))
    return found[:MOST_PAIRS]


def _table(found: list[tuple[float, Cause]]) -> pd.DataFrame:
    rows = [(c.name, c.factor, off, c.basis, c.happened, c.confirm, c.evidence) for off, c in found]
    return pd.DataFrame(rows, columns=list(_COLUMNS))


def _guards(
    reported: Any, expected: Any, number: float, kind: str | None, setup: Setup
) -> list[str]:
    said = []
    beside = isinstance(expected, Real) and expected <= 1 and number <= MOST_FRACTION
    if number > 1 and (kind == "mfu" or (kind is None and beside)):
        either = "" if kind == "mfu" else "If this is a utilization: "
        said.append(
            f"{either}{percent(number)} of a peak cannot be reached: something is counted more "
            "than once, timed in part, or divided by the peak of another device or precision."
        )
    both = isinstance(reported, Mfu) and isinstance(expected, Mfu)
    if both and reported.convention != expected.convention:
        said.append(
            f"Reported is under {reported.convention!r}, expected under "
            f"{expected.convention!r}: translate() one before comparing."
        )
    if isinstance(reported, Rate) and isinstance(expected, Rate) and reported.of != expected.of:
        said.append(f"Reported counts {reported.of}, expected {expected.of}: two quantities.")
    if isinstance(reported, Rate) and isinstance(expected, Rate):
        per = ["all devices" if r.devices is None else "one device" for r in (reported, expected)]
        if per[0] != per[1]:
            said.append(f"Reported is the rate of {per[0]}, expected that of {per[1]}.")
    said += _peak_guards(setup)
    said += _token_guards(setup)
    return said


def _peak_guards(setup: Setup) -> list[str]:
    used = setup.peak_flops
    said = [] if used is None else sparse_guard(used, setup.precision)
    precision = getattr(setup.peak, "precision", None)
    if precision is not None and setup.precision not in (None, precision):
        said.append(
            f"The work runs in {setup.precision} and the peak is of {precision}: a share of "
            "another roof."
        )
    return said


def _token_guards(setup: Setup) -> list[str]:
    said = []
    if setup.tokens in ("scored", "real"):
        said.append(
            f"The rate counts {setup.tokens} positions and FLOPs are of all that ran: multiply "
            "FLOPs per token with executed positions."
        )
    counts = setup.counts
    if counts is not None and setup.denominator is not None and counts.scored is not None:
        extra = setup.denominator - counts.scored
        if extra > 0:
            per_row = " (one per sequence: labels before the shift)" * (extra == counts.sequences)
            said.append(
                f"The loss is divided by {setup.denominator:,}, and {counts.scored:,} targets are "
                f"scored{per_row}."
            )
    packed = counts is not None and counts.sequences and counts.mean_length is not None
    if packed and setup.convention not in (None, "packed") and setup.sequence_length is not None:
        mean = counts.mean_length if counts is not None else None
        if mean is not None and mean < 0.99 * setup.sequence_length:
            said.append(
                f"{setup.convention} counts attention over {setup.sequence_length:,.0f} positions, "
                f"and within their sequences these tokens see as if of {mean:,.0f}: 'packed' "
                "counts that."
            )
    return said
