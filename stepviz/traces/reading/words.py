"""Values as files spell them: whole numbers that may be text."""

from __future__ import annotations

from typing import Final

_LARGE_INT: Final = 2**63 - 1
_LONGEST_INT_TEXT: Final = 20


def whole(value: object) -> int | None:
    """Return an int64 from JSON's integers or from text, None where it is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        # Decimals are still text here, and some writers put 11.0 where 11 is meant.
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
