"""What a recipe is handed, checked: each error names the argument and says how to mend it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Final

import numpy as np

from stepviz.core.checks import as_real
from stepviz.errors import TimelineError, near

#: Far more than any timeline can hold.
_MOST: Final = 10**9


def as_ms(value: object, name: str) -> float:
    """Return a time of 0 ms or more."""
    return as_amount(value, name, "ms")


def as_amount(value: object, name: str, unit: str, *, above: float | None = None) -> float:
    """Return a finite number, 0 or more, or more than `above`."""
    number = as_real(value)
    low = number is None or (number < 0 if above is None else number <= above)
    if number is None or low or not math.isfinite(number):
        rule = "0 or more" if above is None else f"more than {above:g}"
        msg = f"{name} is {value!r}: give a finite number of {unit}, {rule}"
        raise TimelineError(msg)
    return number + 0.0


def as_count(value: object, name: str, *, least: int = 1) -> int:
    """Return a whole number of `least` or more."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or int(value) < least:  # type: ignore[call-overload]  # whole
        msg = f"{name} is {value!r}: give a whole number, {least} or more"
        raise TimelineError(msg)
    if int(value) > _MOST:  # type: ignore[call-overload]
        msg = f"{name} is more than {_MOST:,}: no timeline is that large, so give fewer"
        raise TimelineError(msg)
    return int(value)  # type: ignore[call-overload, no-any-return]


def as_flag(value: object, name: str) -> bool:
    """Return True or False; anything else is an error."""
    if not isinstance(value, bool | np.bool_):
        msg = f"{name} is {value!r}: give True or False"
        raise TimelineError(msg)
    return bool(value)


def as_choice(value: object, name: str, known: Sequence[str]) -> str:
    """Return one of the known words."""
    if not isinstance(value, str) or value not in known:
        msg = f"{name} is {value!r}: {near(value, known, most=len(known))}"
        raise TimelineError(msg)
    return value


def each_ms(value: object, n: int, name: str, of: str) -> list[float]:
    """Return a time per item, from one number for all or a list with one for each."""
    if as_real(value) is not None:
        return [as_ms(value, name)] * n
    values = as_list(value, name, f"a number of ms, or a list with one per {of}")
    if len(values) != n:
        msg = f"{name} has {len(values)} values for {n} {of}s: give one number, or one per {of}"
        raise TimelineError(msg)
    return [as_ms(item, f"{name}[{k}]") for k, item in enumerate(values)]


def as_list(value: object, name: str, wanted: str) -> list[object]:
    """Return a list of what was given; text, a mapping or a single thing is an error."""
    try:
        if not isinstance(value, str | bytes | Mapping):
            return list(value)  # type: ignore[call-overload, no-any-return]  # asked, not known
    except TypeError:
        pass  # an array of no dimension says that it is iterable, and is not
    msg = f"{name} is {value!r}: give {wanted}"
    raise TimelineError(msg)
