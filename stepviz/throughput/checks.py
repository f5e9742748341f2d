"""What a number is, for every function of this room that is handed one."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, Final

from stepviz.errors import ThroughputError

#: Numbers beyond this measure nothing, and overflow; so do divisors below one over it.
_MOST: Final = 1e60


def one_number(value: Any) -> Any:
    """Return what an array library's one number holds, such as a loss tensor; all else as it is."""
    if getattr(value, "ndim", None) == 0 and hasattr(value, "item"):
        return value.item()
    return value


def real(value: Any, name: str, *, above: float | None = None, least: float | None = None) -> float:
    """Return a finite number as a float, or say what it should have been.

    Parameters
    ----------
    value : number
    name : str
        What it is called where the caller wrote it.
    above, least : float, optional
        A bound that it must exceed; one that it may equal.

    Raises
    ------
    ThroughputError
        Where it is no finite number, or out of bounds.
    """
    value = one_number(value)
    odd = isinstance(value, bool) or not isinstance(value, Real)
    try:
        number = math.nan if odd else float(value)
    except OverflowError:
        msg = f"{name} is beyond any float: give a number that is not"
        raise ThroughputError(msg) from None
    if above is not None:
        bound = "above 0" if above == 0 else f"above {above:g}"
    else:
        bound = "" if least is None else f"of {least:g} or more"
    low = (above is not None and number <= above) or (least is not None and number < least)
    if not math.isfinite(number) or low:
        msg = f"{name} is {value!r}: give a number {bound}".rstrip()
        raise ThroughputError(msg)
    if abs(number) > _MOST or (above == 0 and number < 1 / _MOST):
        msg = f"{name} is {number:g}: give a number that something can be measured with"
        raise ThroughputError(msg)
    return number


def whole(value: Any, name: str, *, least: int = 0) -> int:
    """Return a whole number as an int, also where it is written as a float such as 7e9.

    Raises
    ------
    ThroughputError
        Where it is no whole number, or below `least`.
    """
    value = one_number(value)
    if isinstance(value, Integral) and not isinstance(value, bool):
        number = int(value)
    else:
        odd = isinstance(value, bool) or not isinstance(value, Real)
        if odd or not math.isfinite(value) or not float(value).is_integer():
            msg = f"{name} is {value!r}: give a whole number of {least} or more"
            raise ThroughputError(msg)
        number = int(value)
    if number < least:
        msg = f"{name} is {value!r}: give a whole number of {least} or more"
        raise ThroughputError(msg)
    if number > _MOST:
        msg = f"{name} is beyond any count: give a whole number of at most {_MOST:g}"
        raise ThroughputError(msg)
    return number


def flag(value: Any, name: str) -> bool:
    """Return True or False; a word such as "no" is neither.

    Raises
    ------
    ThroughputError
        Where it is something else.
    """
    value = one_number(value)
    if not isinstance(value, bool):
        msg = f"{name} is {value!r}: give True or False"
        raise ThroughputError(msg)
    return value


def listed(value: Any, name: str) -> list[Any]:
    """Return what an iterable holds; a string or a single thing is none.

    Raises
    ------
    ThroughputError
        Where it is no iterable.
    """
    if isinstance(value, str | bytes):
        msg = f"{name} is {value!r}: give a list, such as [{value!r}]"
        raise ThroughputError(msg)
    try:
        return list(value)
    except TypeError:
        msg = f"{name} is {value!r}: give a list"
        raise ThroughputError(msg) from None


def share(value: Any, name: str, *, above_zero: bool = False) -> float:
    """Return a fraction from 0 to 1, and say so to who writes a percentage.

    Raises
    ------
    ThroughputError
        Where it is below 0, above 1, or 0 where that has no meaning.
    """
    number = real(value, name, above=0) if above_zero else real(value, name, least=0)
    if number > 1:
        meant = f": 40 % is 0.4, so {number:g} % is {number / 100:g}" if number <= 100 else ""
        msg = f"{name} is {value!r}, and a fraction is at most 1{meant}"
        raise ThroughputError(msg)
    return number
