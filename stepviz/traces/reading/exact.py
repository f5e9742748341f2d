"""Microseconds written as text, turned into whole nanoseconds without a float between.

A float64 holds 53 bits. Absolute times are about 1.8e18 ns and need 61, so every
shortcut through a float moves events by up to 256 ns.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation

import numpy as np
import numpy.typing as npt

Int64Array = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

#: Times outside ± this are refused. A quarter of int64: start + duration + base still fits.
LARGEST_NS = 2**61
#: Beyond this many digits a Decimal is refused before it is expanded to an integer.
_LARGEST_EXPONENT = 20


def nanoseconds(value: object) -> int | None:
    """Return one time or duration in µs (integer, decimal text) as whole ns.

    Digits below one nanosecond are rounded half to even.

    Parameters
    ----------
    value
        An ``int`` (µs) or a ``str`` holding a decimal number of µs.

    Returns
    -------
    int or None
        Nanoseconds, or None where the value is no finite number or is out of range.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        scaled = value * 1000
    elif isinstance(value, str):
        parsed = _scaled_text(value)
        if parsed is None:
            return None
        scaled = parsed
    else:
        return None
    return scaled if -LARGEST_NS < scaled < LARGEST_NS else None


def _scaled_text(text: str) -> int | None:
    # Three decimals is how the profiler writes every time: drop the dot and parse once.
    if len(text) > 4 and text[-4] == ".":
        try:
            return int(text[:-4] + text[-3:])
        except ValueError:
            pass
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    if not number.is_finite() or number.adjusted() > _LARGEST_EXPONENT:
        return None
    return int((number * 1000).to_integral_value(rounding=ROUND_HALF_EVEN))


def nanosecond_array(values: Sequence[object]) -> tuple[Int64Array, BoolArray]:
    """Return (ns, valid) for many values; where not valid, ns is 0."""
    ns = np.zeros(len(values), dtype=np.int64)
    valid = np.ones(len(values), dtype=np.bool_)
    for i, value in enumerate(values):
        whole = nanoseconds(value)
        if whole is None:
            valid[i] = False
        else:
            ns[i] = whole
    return ns, valid
