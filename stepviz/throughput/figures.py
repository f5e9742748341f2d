"""Numbers that say what they are, and how all results of this room are shown."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable
from typing import Any, Self


class Quantity(float):
    """A float with its unit, its convention and how it was computed.

    It computes as the float that it is; what comes out of arithmetic is a plain float, because a
    sum or ratio has another unit.

    Parameters
    ----------
    value : float
    unit : str
    convention : str
        Which of several readings of the quantity this is.
    how : str
        The formula, or the words for it.

    Examples
    --------
    >>> days = Quantity(546875 / 86400, "days", "6ND", "6 × N × D / (devices × peak × MFU)")
    >>> days
    6.33 days (6ND)
    >>> round(days + 1, 2)
    7.33
    """

    unit: str
    convention: str
    how: str

    def __new__(cls, value: float, unit: str, convention: str = "", how: str = "") -> Self:
        """Make the float, and hang on to it what it is."""
        new = super().__new__(cls, value)
        new.unit, new.convention, new.how = unit, convention, how
        return new

    def __getnewargs__(self) -> tuple[float, str, str, str]:  # type: ignore[override]  # float's is (value,)
        return float(self), self.unit, self.convention, self.how

    @property
    def value(self) -> float:
        """The plain float."""
        return float(self)

    def __repr__(self) -> str:
        named = f" ({self.convention})" if self.convention else ""
        return f"{number_text(float(self))} {self.unit}{named}"

    __str__ = __repr__

    def _repr_html_(self) -> str:
        rows = [("convention", self.convention), ("computed as", self.how)]
        return card(
            f"{number_text(float(self))} {self.unit}", [(name, text) for name, text in rows if text]
        )


def number_text(value: float, digits: int = 3) -> str:
    """Write a number for people: that many digits or all whole ones, thousands apart.

    Examples
    --------
    >>> number_text(131072), number_text(666.6667), number_text(0.004), number_text(4.2e21)
    ('131,072', '667', '0.004', '4.2e21')
    """
    if not math.isfinite(value):
        return f"{value:g}"
    size = abs(value)
    if size and (size >= 1e12 or size < 1e-4):
        return f"{value:.{digits + 1}g}".replace("e+", "e").replace("e-0", "e-")
    if float(value).is_integer():
        return f"{value:,.0f}"
    decimals = max(0, digits - 1 - math.floor(math.log10(size)))
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def days_text(value: float) -> str:
    """Write days for people: to a hundredth below a thousand, else as any number.

    Examples
    --------
    >>> days_text(12.6603), days_text(0.0352), days_text(1266.03), days_text(10)
    ('12.66', '0.0352', '1,266', '10')
    """
    whole = math.floor(math.log10(value)) if 1 <= value < 1000 else 0
    return number_text(value, 3 + whole)


def percent(value: float) -> str:
    """Write a fraction as a percentage with two decimals.

    Examples
    --------
    >>> percent(0.42609)
    '42.61 %'
    """
    return f"{value * 100:.2f} %"


def times(factor: float) -> str:
    """Say how many times too high or too low a number is.

    Examples
    --------
    >>> times(8), times(0.25)
    ('8 times too high', '4 times too low')
    """
    if factor >= 1:
        return f"{number_text(factor)} times too high"
    return f"{number_text(1 / factor)} times too low"


def card(title: str, rows: Iterable[tuple[str, Any]], notes: Iterable[str] = ()) -> str:
    """Return a small table as HTML: a title, named values, sentences below."""
    body = "".join(
        f'<tr><th style="text-align:left;font-weight:normal">{html.escape(name)}</th>'
        f'<td style="text-align:left">{html.escape(str(value))}</td></tr>'
        for name, value in rows
    )
    below = "".join(f"<p>{html.escape(note)}</p>" for note in notes)
    return f"<div><strong>{html.escape(title)}</strong><table>{body}</table>{below}</div>"
