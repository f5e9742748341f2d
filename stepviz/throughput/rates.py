"""A rate: one numerator over one interval, which contains exactly the numerator's work."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from stepviz.errors import ThroughputError, near
from stepviz.throughput.checks import listed, real, whole
from stepviz.throughput.figures import card, number_text, times
from stepviz.throughput.scopes import known_scope

#: What may be counted per second: its unit, and what exactly that is.
NUMERATORS: Final[dict[str, tuple[str, str]]] = {
    "allocated": ("positions/s", "allocated positions: rows × length, padding and prompt included"),
    "real": ("real positions/s", "real positions: what the attention mask keeps"),
    "executed": ("executed positions/s", "executed positions: what the kernels ran over"),
    "scored": ("targets/s", "scored targets: labels that are not ignored, after the shift"),
    "sequences": ("sequences/s", "sequences: rows, or the segments that were packed into them"),
    "updates": ("updates/s", "updates: optimizer steps that were applied"),
}


def known_numerator(of: object) -> str:
    """Return what may be counted per second, or say what may."""
    if not isinstance(of, str) or of not in NUMERATORS:
        msg = f"a rate of {of!r} is unknown: {near(of, NUMERATORS, most=9)}"
        raise ThroughputError(msg)
    return of


@dataclass(frozen=True, repr=False)
class Rate:
    """How many of one thing per second, with what was counted over which interval.

    Rates of the same thing can be compared and divided. They cannot be added, nor averaged: the
    rate over several intervals is the sum of the counts over the sum of the times, `overall`.

    Parameters
    ----------
    count : float
        The numerator.
    seconds : float
        The interval, in s, that holds exactly the numerator's work.
    of : {"allocated", "real", "executed", "scored", "sequences", "updates"}
        What was counted.
    scope : {"microbatch", "update", "run"}
        What both belong to.
    devices : int, optional
        Per how many devices; None where it is the rate of all of them together.

    Examples
    --------
    >>> Rate(8, 0.004, "allocated", "update")
    2,000 positions/s (allocated, update)
    """

    count: float
    seconds: float
    of: str
    scope: str
    devices: int | None = None

    def __post_init__(self) -> None:
        """Refuse what is no rate."""
        known_numerator(self.of)
        known_scope(self.scope)
        if self.devices is not None:
            whole(self.devices, "devices", least=1)
        for name, number in (
            ("count", real(self.count, f"the count of {self.of}", least=0)),
            ("seconds", real(self.seconds, "seconds", above=0)),
        ):
            if not isinstance(getattr(self, name), int | float):
                object.__setattr__(self, name, number)

    @property
    def value(self) -> float:
        """Count per second (and per device, where devices are given)."""
        return self.count / self.seconds / (self.devices or 1)

    @property
    def unit(self) -> str:
        """The unit of `value`."""
        return NUMERATORS[self.of][0] + (" per device" if self.devices else "")

    @property
    def convention(self) -> str:
        """What was counted, in words."""
        return NUMERATORS[self.of][1]

    @property
    def how(self) -> str:
        """How the value was computed."""
        share = f" ÷ {self.devices} devices" if self.devices else ""
        return f"{number_text(self.count)} {self.of} ÷ {number_text(self.seconds)} s{share}"

    def per_device(self, devices: int) -> Rate:
        """Return the rate of one of `devices` devices that shared the count."""
        return Rate(self.count, self.seconds, self.of, self.scope, devices)

    @staticmethod
    def overall(rates: Iterable[Rate]) -> Rate:
        """Return the rate over all intervals, one after the other: sum of counts ÷ sum of times.

        Parameters
        ----------
        rates : iterable of Rate
            Of the same thing and scope.

        Raises
        ------
        ThroughputError
            Where there is none, they count different things, or are of different scopes: a
            microbatch's interval lies inside its update's.

        Examples
        --------
        >>> steps = [Rate(4096, 1.0, "allocated", "update"), Rate(4096, 1.5, "allocated", "update")]
        >>> round(Rate.overall(steps).value, 1)
        3276.8
        """
        parts = listed(rates, "rates")
        if not parts or not all(isinstance(part, Rate) for part in parts):
            msg = "give the rates, at least one, such as Rate.overall([first, second])"
            raise ThroughputError(msg)
        for part in parts[1:]:
            parts[0]._same_thing(part)
        scopes = sorted({part.scope for part in parts})
        if len(scopes) > 1:
            msg = (
                f"rates of different scopes ({', '.join(scopes)}) have no overall rate: their "
                "intervals may lie inside one another. Give the rates of one scope"
            )
            raise ThroughputError(msg)
        count, seconds = sum(p.count for p in parts), sum(p.seconds for p in parts)
        scope = parts[0].scope if len(parts) == 1 else "run"
        return Rate(count, seconds, parts[0].of, scope, parts[0].devices)

    def _same_thing(self, other: Rate) -> None:
        if (self.of, self.devices) != (other.of, other.devices):
            msg = (
                f"{self.unit} and {other.unit} are rates of different things: compare one kind of "
                "count with itself, and say which"
            )
            raise ThroughputError(msg)

    def __truediv__(self, other: object) -> float:
        if not isinstance(other, Rate):
            return NotImplemented
        self._same_thing(other)
        return self.value / other.value

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, Rate):
            return NotImplemented
        self._same_thing(other)
        return self.value < other.value

    def __gt__(self, other: object) -> bool:
        if not isinstance(other, Rate):
            return NotImplemented
        return other < self

    def __le__(self, other: object) -> bool:
        if not isinstance(other, Rate):
            return NotImplemented
        return not other < self

    def __ge__(self, other: object) -> bool:
        if not isinstance(other, Rate):
            return NotImplemented
        return not self < other

    def __add__(self, other: object) -> NoReturn:
        """Refuse: rates neither add nor average."""
        msg = (
            "rates do not add, and their mean is no rate: divide the sum of the counts by the sum "
            "of the times, Rate.overall([...]) or the sum of the TokenCounts"
        )
        factor = None
        if isinstance(other, Rate):
            self._same_thing(other)
            right = Rate.overall([self, other])
            mean = (self.value + other.value) / 2
            factor = mean / right.value if right.value else None
            wrong = f" and is {times(factor)}" if factor and factor != 1 else ""
            msg += (
                f". Here that is {number_text(right.value, 5)} {self.unit}; the mean of the two "
                f"rates would be {number_text(mean, 5)}{wrong}"
            )
        raise ThroughputError(msg, factor=factor)

    __radd__ = __add__

    def __format__(self, spec: str) -> str:
        return format(self.value, spec) if spec else repr(self)

    def __repr__(self) -> str:
        return f"{number_text(self.value)} {self.unit} ({self.of}, {self.scope})"

    def _repr_html_(self) -> str:
        rows: list[tuple[str, Any]] = [
            ("counts", self.convention),
            ("computed as", self.how),
            ("scope", self.scope),
        ]
        return card(f"{number_text(self.value)} {self.unit}", rows)
