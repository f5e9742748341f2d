"""Microseconds written as text, turned into whole nanoseconds without a float between.

A float64 holds 53 bits. Absolute times are about 1.8e18 ns and need 61, so every
shortcut through a float moves events by up to 256 ns.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation
from typing import Final

import numpy as np
import numpy.typing as npt

from stepviz.traces.reading.words import integers

Int64Array = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

#: Times outside ± this are refused. A quarter of int64: start + duration + base still fits.
LARGEST_NS: Final = 2**61
#: Beyond this many digits a Decimal is refused before it is expanded to an integer.
_LARGEST_EXPONENT: Final = 20
#: So many characters may stand in a number that is parsed together with others.
_LONGEST: Final = 24
#: No JSON value holds this byte, so it parts values without doubt.
_BETWEEN: Final = b"\0"
_DOT: Final = ord(".")
#: By the number of decimals: what makes ns of the digits, and the most that they may say.
_SCALES: Final = 10 ** np.arange(3, -1, -1, dtype=np.int64)
_LARGEST: Final = LARGEST_NS // _SCALES


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
    if _LONGEST > len(text) > 4 and text[-4] == ".":
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


def nanosecond_array(values: Sequence[bytes]) -> tuple[Int64Array, BoolArray]:
    """Return (ns, valid) for many times in µs as they stand in JSON; where not valid, ns is 0.

    Parameters
    ----------
    values
        Bytes-like JSON values: numbers, or texts that hold one; empty where there is none.
    """
    joined = _BETWEEN.join(values)
    if b'"' in joined:
        joined = joined.replace(b'"', b"")
    at_once = _parsed_at_once(joined, len(values))
    if at_once is not None:
        return at_once, np.ones(len(values), dtype=np.bool_)
    ns = np.zeros(len(values), dtype=np.int64)
    valid = np.ones(len(values), dtype=np.bool_)
    for i, value in enumerate(values):
        whole = nanoseconds(json_number(bytes(value)))
        if whole is None:
            valid[i] = False
        else:
            ns[i] = whole
    return ns, valid


def json_number(value: bytes) -> str | None:
    """Return the digits of a JSON number or of a text, None where the value is neither."""
    if value[:1] == b'"':
        try:
            return str(json.loads(value))
        except ValueError:
            return None
    if value[:1] in b"-0123456789" and value:
        return value.decode("ascii", "replace")
    return None


def _parsed_at_once(joined: bytes, count: int) -> Int64Array | None:
    """Return all values in ns, None where one is no plain number of up to three decimals."""
    if not count:
        return np.zeros(0, dtype=np.int64)
    letters = np.frombuffer(joined, dtype=np.uint8)
    between = np.flatnonzero(letters == 0)
    if len(between) != count - 1:
        return None
    starts, ends = np.zeros(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    starts[1:], ends[:-1], ends[-1] = between + 1, between, len(letters)
    decimals = _decimals(np.flatnonzero(letters == _DOT), starts, ends)
    if decimals is None:
        return None
    if int(decimals.max()) > 3 or int((ends - starts).max()) > _LONGEST:
        return None
    try:
        digits = integers(joined.replace(b".", b""), count)
    except (ValueError, OverflowError):
        return None
    largest = _LARGEST[decimals]
    if bool(((digits >= largest) | (digits <= -largest)).any()):
        return None
    return digits * _SCALES[decimals]


def _decimals(dots: Int64Array, starts: Int64Array, ends: Int64Array) -> Int64Array | None:
    """Return how many decimals each value has, None where one has several dots."""
    if len(dots) == len(ends) and bool(((dots >= starts) & (dots < ends)).all()):
        return ends - dots - 1
    decimals = np.zeros(len(ends), dtype=np.int64)
    rows = np.searchsorted(ends, dots)
    if bool((rows[1:] == rows[:-1]).any()):
        return None
    decimals[rows] = ends[rows] - dots - 1
    return decimals
