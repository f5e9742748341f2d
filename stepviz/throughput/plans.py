"""How long a run takes, from the work and the rate; and any one of them from the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import pandas as pd

from stepviz.errors import ThroughputError, near
from stepviz.throughput.checks import listed, real, share
from stepviz.throughput.figures import Quantity, card, number_text, percent, times
from stepviz.throughput.flop_conventions import flops_per_token, known_convention
from stepviz.throughput.goodput import DAY, PARTS, Overheads
from stepviz.throughput.model_shapes import ModelShape
from stepviz.throughput.peak_catalogue import Peak, roof_of
from stepviz.throughput.plan_notes import notes_of
from stepviz.throughput.plan_ranges import band_of, grid_of, range_around
from stepviz.throughput.plan_solving import UNKNOWNS, solved
from stepviz.throughput.sequence_lengths import plain_sequence
from stepviz.throughput.utilization import Mfu

_OVERHEADS: Final = tuple(Overheads.__dataclass_fields__)
#: Parts that a measured rate may include already → what they come from.
_INCLUDED: Final = {
    "checkpoints": "checkpoint_seconds",
    "evaluation": "evaluation_seconds",
    "restarts": "failures_per_device_day",
    "downtime": "downtime_days",
}


@dataclass(frozen=True, kw_only=True, repr=False)
class TrainingPlan:
    """A training run as arithmetic: work ÷ (devices × peak × MFU), and what comes on top.

    Active time is that of the updates alone; elapsed time has checkpoints, evaluation, restarts
    and downtime too. One of the five numbers may be left out, to be solved for.

    Parameters
    ----------
    parameters : float, optional
        N of 6·N·D; of a mixture, the active ones. Or give `shape`.
    tokens : float, optional
        D: positions that are trained on, repeated epochs included.
    devices : float, optional
    peak : Peak or float, optional
        Of one device, dense, FLOP/s.
    mfu : float or Mfu, optional
        A fraction, under the plan's convention.
    shape : ModelShape, optional
        The model, for other conventions than 6·N.
    convention : str
        An id of `conventions`: what the MFU counts.
    sequence : int, optional
        Length of the sequences, where the convention counts attention.
    mfu_range : (float, float), optional
        Between which the MFU may be, itself among them; a fifth below and above unless given.
    checkpoint_seconds, checkpoint_every, evaluation_seconds, evaluation_every : float
        Stops, and the active time between two, s.
    failures_per_device_day, restart_seconds : float
        Failures that stop the whole job, and what a restart takes, s; each also loses half of
        the work between two checkpoints.
    downtime_days : float
        Outside of the run, in all.
    included : iterable of {"checkpoints", "evaluation", "restarts", "downtime"}
        What the measured MFU includes already, so that it is not added again.
    price_per_device_hour, price_per_kwh : float, optional
        In any currency.
    watts_per_device : float, optional
        With its share of the host.
    power_usage_effectiveness : float
        Power of the whole hall ÷ power of the machines.

    Raises
    ------
    ThroughputError
        A number that is none, or an MFU under another convention than the plan's.

    Examples
    --------
    >>> plan = TrainingPlan(parameters=7e9, tokens=100e9, devices=64, peak=300e12, mfu=0.4)
    >>> plan.flops, plan.rate
    (4.2e21 FLOP (6N_all), 7.68e15 FLOP/s (6N_all))
    >>> plan.active_seconds == 546875, plan.days
    (True, 6.33 days (6N_all, active))
    """

    parameters: float | None = None
    tokens: float | None = None
    devices: float | None = None
    peak: Any = None
    mfu: Any = None
    shape: ModelShape | None = None
    convention: str = "6N_all"
    sequence: Any = None
    mfu_range: tuple[float, float] | None = None
    checkpoint_seconds: float = 0.0
    checkpoint_every: float = 3600.0
    evaluation_seconds: float = 0.0
    evaluation_every: float = 3600.0
    failures_per_device_day: float = 0.0
    restart_seconds: float = 0.0
    downtime_days: float = 0.0
    included: tuple[str, ...] = ()
    price_per_device_hour: float | None = None
    watts_per_device: float | None = None
    power_usage_effectiveness: float = 1.0
    price_per_kwh: float | None = None

    def __post_init__(self) -> None:
        """Check what is given; what is left out may be solved for."""
        known_convention(self.convention)
        for name in ("parameters", "tokens", "devices"):
            if getattr(self, name) is not None:
                real(getattr(self, name), name, above=0)
        if self.peak is not None:
            roof_of(self.peak)
        if isinstance(self.mfu, Mfu):
            self._same_convention(self.mfu)
        if self.mfu is not None:
            own = self.mfu.value if isinstance(self.mfu, Mfu) else self.mfu
            share(own, "mfu", above_zero=True)
        if self.mfu_range is not None:
            object.__setattr__(self, "mfu_range", range_around(self.mfu, self.mfu_range))
        if self.shape is not None and not isinstance(self.shape, ModelShape):
            msg = f"shape is {self.shape!r}: give a ModelShape, or the number as parameters="
            raise ThroughputError(msg)
        if self.shape is None and self.convention != "6N_all":
            msg = f"{self.convention!r} is counted from a model: give shape=, a ModelShape"
            raise ThroughputError(msg)
        if self.shape is not None and self.parameters is not None:
            msg = "parameters and shape are both given, and the shape has parameters: give one"
            raise ThroughputError(msg)
        object.__setattr__(self, "sequence", plain_sequence(self.sequence))
        if self.shape is not None:
            _ = self.flops_per_token  # says which length is missing
        object.__setattr__(self, "included", tuple(listed(self.included, "included")))
        for part in self.included:
            if not isinstance(part, str) or part not in _INCLUDED:
                msg = f"no measured rate includes {part!r}: {near(part, _INCLUDED)}"
                raise ThroughputError(msg)
        for name in ("price_per_device_hour", "watts_per_device", "price_per_kwh"):
            if getattr(self, name) is not None:
                real(getattr(self, name), name, least=0)
        real(self.power_usage_effectiveness, "power_usage_effectiveness", least=1)
        _ = self.overheads

    def _same_convention(self, utilization: Mfu) -> None:
        if utilization.convention == self.convention:
            return
        factor, wrong = None, ""
        if isinstance(self.shape, ModelShape):
            ours = float(flops_per_token(self.shape, self.convention, self.sequence))
            factor = ours / utilization.flops_per_token
            wrong = f": the days would be {times(factor)}"
        msg = (
            f"the MFU is under {utilization.convention!r} and the work under {self.convention!r}"
            f"{wrong}. Use translate(), or convention={utilization.convention!r} with its shape"
        )
        raise ThroughputError(msg, factor=factor)

    def given(self, name: str) -> float:
        """Return one of the plan's numbers.

        Raises
        ------
        ThroughputError
            Where the plan was made without it.
        """
        value = getattr(self, name)
        if value is None:
            solve = f", or plan.solve_for({name!r}, days=...)" if name in UNKNOWNS else ""
            msg = f"this plan has no {name}: give it{solve}"
            raise ThroughputError(msg)
        return float(value)

    # The five numbers

    @cached_property
    def overheads(self) -> Overheads:
        """What comes on top of the active time, without what the MFU includes."""
        given = {name: getattr(self, name) for name in _OVERHEADS}
        given.update({_INCLUDED[part]: 0.0 for part in self.included})
        return Overheads(**given)

    @property
    def flops_per_token(self) -> Quantity:
        """FLOP/token, forward and backward, under the convention."""
        model = self.shape if self.shape is not None else self.given("parameters")
        return flops_per_token(model, self.convention, self.sequence)

    @property
    def peak_flops(self) -> float:
        """FLOP/s of one device."""
        return self.peak.flops if isinstance(self.peak, Peak) else self.given("peak")

    @property
    def utilization(self) -> float:
        """The MFU, a fraction."""
        return self.given("mfu")

    @property
    def flops(self) -> Quantity:
        """Work of the whole run, FLOP."""
        value = float(self.flops_per_token) * self.given("tokens")
        return Quantity(value, "FLOP", self.convention, f"{self.flops_per_token.how} × tokens")

    @property
    def rate(self) -> Quantity:
        """Achieved FLOP/s of all devices."""
        value = self.given("devices") * self.peak_flops * self.utilization
        return Quantity(value, "FLOP/s", self.convention, "devices × peak × MFU")

    @property
    def active_seconds(self) -> Quantity:
        """Time of the updates alone, s."""
        value = float(self.flops) / float(self.rate)
        return Quantity(value, "s", f"{self.convention}, active", "FLOP ÷ (FLOP/s)")

    @property
    def days(self) -> Quantity:
        """Time of the updates alone, days."""
        value = float(self.active_seconds) / DAY
        return Quantity(value, "days", f"{self.convention}, active", "FLOP ÷ (FLOP/s) ÷ 86,400")

    @property
    def elapsed_days(self) -> Quantity:
        """Time from the first update to the last, days, with all that comes on top."""
        value = sum(self._parts().values()) / DAY
        return Quantity(value, "days", f"{self.convention}, elapsed", " + ".join(PARTS))

    @property
    def endless(self) -> bool:
        """Whether failures cost more time than there is between them."""
        return self.overheads.lost_share(self.given("devices")) >= 1

    @property
    def goodput(self) -> float:
        """Active ÷ elapsed time."""
        return float(self.days) / float(self.elapsed_days)

    @property
    def tokens_per_second(self) -> Quantity:
        """Tokens per second of all devices while active."""
        value = float(self.rate) / float(self.flops_per_token)
        return Quantity(value, "tokens/s", self.convention, "FLOP/s ÷ (FLOP/token)")

    def _parts(self) -> dict[str, float]:
        return self.overheads.parts(float(self.active_seconds), self.given("devices"))

    def breakdown(self) -> pd.DataFrame:
        """Return the elapsed time by part: `seconds`, `days`, `share`; the parts add up to it.

        `restarts` holds what failures cost: the restarts, and work that is done again.
        """
        parts = self._parts()
        seconds = pd.Series(parts, dtype="float64").rename_axis("part")
        return pd.DataFrame(
            {"seconds": seconds, "days": seconds / DAY, "share": seconds / seconds.sum()}
        )

    # What it costs

    @property
    def device_hours(self) -> Quantity:
        """Device-hours of the elapsed time."""
        value = self.given("devices") * float(self.elapsed_days) * 24
        return Quantity(value, "device-hours", "elapsed", "devices × elapsed hours")

    @property
    def energy(self) -> Quantity:
        """Energy of the elapsed time, kWh."""
        watts = self.given("watts_per_device") * self.power_usage_effectiveness
        value = float(self.device_hours) * watts / 1000
        how = "device-hours × watts per device × power usage effectiveness ÷ 1,000"
        return Quantity(value, "kWh", "elapsed", how)

    @property
    def cost(self) -> Quantity:
        """Price of the device-hours, and of the energy where that has a price too."""
        prices = (self.price_per_device_hour, self.price_per_kwh)
        if prices == (None, None):
            msg = "this plan has no price: give price_per_device_hour= or price_per_kwh="
            raise ThroughputError(msg)
        value = float(self.device_hours) * (self.price_per_device_hour or 0.0)
        if self.price_per_kwh is not None:
            value += float(self.energy) * self.price_per_kwh
        return Quantity(value, "in your currency", "elapsed", "device-hours and energy × price")

    # How sure, and what if

    def band(self) -> pd.DataFrame:
        """Return the plan at the ends of what the MFU may be, not as a single day.

        Returns
        -------
        DataFrame
            Indexed by `best`, `likely`, `worst`: `mfu`, `days`, `elapsed_days`.
        """
        return band_of(self)

    def sensitivity(
        self, mfu: Iterable[float] | None = None, devices: Iterable[float] | None = None
    ) -> pd.DataFrame:
        """Return the time over a grid of MFU and devices.

        Parameters
        ----------
        mfu, devices : iterable of float, optional
            Half to one and a half times the plan's MFU, and a quarter to four times its devices,
            unless given.

        Returns
        -------
        DataFrame
            `mfu`, `devices`, `days`, `elapsed_days` (infinite where failures leave no time), one
            row per pair. The MFU is held while devices change; in a real job it falls as they
            become more.
        """
        return grid_of(self, mfu, devices)

    def solve_for(
        self, unknown: str, *, days: float | None = None, elapsed_days: float | None = None
    ) -> Quantity:
        """Return the one number that makes the run take so long; what the plan has of it is unused.

        Parameters
        ----------
        unknown : {"parameters", "tokens", "devices", "peak", "mfu", "days"}
        days : float, optional
            Active time.
        elapsed_days : float, optional
            The whole time; give one of the two, unless `days` is what is unknown.

        Returns
        -------
        Quantity
            Not rounded: whole devices are the next ones up. An MFU above 1 says that it cannot be
            done.

        Raises
        ------
        ThroughputError
            Where another number is missing too, or nothing solves it.

        Examples
        --------
        >>> plan = TrainingPlan(parameters=7e9, tokens=100e9, devices=64, peak=300e12)
        >>> round(plan.solve_for("mfu", days=5), 4)
        0.5064
        """
        return solved(self, unknown, days, elapsed_days)

    # Shown

    def _notes(self) -> list[str]:
        return notes_of(self)

    def _missing(self) -> list[str]:
        names: Sequence[str] = ("tokens", "devices", "peak", "mfu")
        lacks = [name for name in names if getattr(self, name) is None]
        return lacks if self.shape is not None or self.parameters else ["parameters", *lacks]

    def __repr__(self) -> str:
        if self._missing():
            return f"TrainingPlan to solve for {', '.join(self._missing())}"
        return f"TrainingPlan: {self._notes()[0]}"

    def _repr_html_(self) -> str:
        if self._missing() or self.endless:
            return card(repr(self), [])
        rows = [
            ("work", repr(self.flops)),
            ("rate", repr(self.rate)),
            ("active", repr(self.days)),
            ("elapsed", repr(self.elapsed_days)),
            ("goodput", percent(self.goodput)),
            ("device-hours", number_text(float(self.device_hours))),
        ]
        if (self.price_per_device_hour, self.price_per_kwh) != (None, None):
            rows.append(("cost", number_text(float(self.cost))))
        if self.watts_per_device is not None:
            rows.append(("energy", repr(self.energy)))
        return card("Training plan", rows, self._notes())
