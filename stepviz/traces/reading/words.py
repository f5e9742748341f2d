"""Values as files spell them: whole numbers that may be text, and their columns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

_LARGE_INT: Final = 2**63 - 1
_LONGEST_INT_TEXT: Final = 20
#: No JSON value holds this byte, so it parts values without doubt.
_BETWEEN: Final = b"\0"
_DIGITS: Final = b"0123456789" + _BETWEEN
_SURELY_RIGHT: Final = 10**18


def whole(value: object) -> int | None:
    """Return an int64 from JSON's integers or from text, None where it is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        # Some writers put 11.0 where 11 is meant.
        value = int(value) if value.is_integer() else None
    elif isinstance(value, str):
        digits, _, rest = value.partition(".")
        if len(digits) > _LONGEST_INT_TEXT or rest.strip("0"):
            return None
        try:
            value = int(digits)
        except ValueError:
            return None
    return value if isinstance(value, int) and abs(value) <= _LARGE_INT else None


def whole_or_missing(value: object) -> int:
    """Return an int64, −1 where the value is none."""
    number = whole(value)
    return -1 if number is None else number


def plain(value: bytes) -> Any:
    """Return what a JSON value says, None where it is empty or cannot be read."""
    try:
        return json.loads(bytes(value)) if bytes(value) else None
    except (ValueError, RecursionError):
        return None


def text(value: bytes) -> str:
    """Return a JSON value as text, "" where it is missing or null."""
    said = plain(value)
    return "" if said is None else str(said)


def integers(joined: bytes, count: int) -> npt.NDArray[np.int64]:
    """Return so many integers that stand in one text, parted by zero bytes.

    Raises
    ------
    ValueError, OverflowError
        Where one is no integer, or no int64.
    """
    # numpy reads digits five times as fast as `int`, but says nothing of what it does not
    # understand: that shows in the count, and what is too long is made the largest there is.
    if count and not joined.translate(None, _DIGITS):
        found = np.fromstring(joined.replace(_BETWEEN, b" "), dtype=np.int64, sep=" ")
        if len(found) == count and found.max() < _SURELY_RIGHT:
            return found
    return np.array(list(map(int, joined.split(_BETWEEN))), dtype=np.int64)


def int64_array(values: Sequence[int]) -> npt.NDArray[np.int64]:
    """Return integers as int64, −1 where one is too large for that."""
    try:
        return np.array(values, dtype=np.int64)
    except OverflowError:
        return np.array([whole_or_missing(value) for value in values], dtype=np.int64)


def whole_array(values: Sequence[bytes]) -> npt.NDArray[np.int64]:
    """Return JSON values as int64, −1 where one is no whole number."""
    try:
        return integers(_BETWEEN.join(values), len(values))
    except (ValueError, OverflowError):
        return np.array([whole_or_missing(plain(value)) for value in values], dtype=np.int64)
