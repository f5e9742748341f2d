"""What a number, a rank, a name is, for every function that is handed one."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real

import numpy as np
import pandas as pd

#: More ranks than any job has, and small enough for arithmetic on int64 codes.
MOST_RANKS = 2**31


def is_missing(value: object) -> bool:
    """Whether a cell is empty: None, NA or NaN."""
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))


def as_real(value: object) -> float | None:
    """Return a real number as a float, infinite where it is too large for one; else None."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        return None
    if isinstance(value, np.generic) and value.dtype.kind not in "iuf":
        return None  # a time span counts as an integer, and has a unit of its own
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf  # type: ignore[operator]  # Real compares


def as_rank(value: object) -> int | None:
    """Return a rank as an int; None for what is no whole number from 0."""
    number = as_real(value)
    if number is None or not 0 <= number < MOST_RANKS:
        return None
    if not isinstance(value, Integral) and not number.is_integer():
        return None
    return int(number)


def is_name(value: object) -> bool:
    """Whether this can name a phase or lane: text that is not empty and that UTF-8 can hold."""
    if not isinstance(value, str) or not value:
        return False
    return value.isascii() or not any("\ud800" <= c <= "\udfff" for c in value)


def holds_several(value: object) -> bool:
    """Whether this is a list of values of whatever kind: no text, and no array of one number."""
    if isinstance(value, str | bytes | bytearray) or getattr(value, "ndim", None) == 0:
        return False
    return isinstance(value, Iterable)


def as_names(value: object) -> list[str] | None:
    """Return one name or several as a list; None where that is not what was given."""
    if isinstance(value, str):
        return [value]
    if not holds_several(value):
        return None
    names = list(value)  # type: ignore[call-overload]  # told just now
    return names if all(isinstance(name, str) for name in names) else None


def count_text(count: int, noun: str, several: str = "") -> str:
    """Write a count with its noun, of which `several` is the plural where that is no added s.

    Examples
    --------
    >>> count_text(1, "step"), count_text(1200, "dependency", "dependencies")
    ('1 step', '1,200 dependencies')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {several or noun + 's'}"


def ms_text(value: float) -> str:
    """Write a time for people: at least microseconds, at least six digits, no exponent.

    Examples
    --------
    >>> ms_text(750.0), ms_text(746.4285714), ms_text(123456.789), ms_text(0.00012345)
    ('750', '746.429', '123,456.789', '0.00012345')
    """
    if not math.isfinite(value) or value == 0:
        return f"{value:g}"
    decimals = min(max(3, 5 - math.floor(math.log10(abs(value)))), 12)
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".")
