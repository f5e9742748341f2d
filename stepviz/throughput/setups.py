"""What is known about the job whose number is in doubt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any

from stepviz.errors import ThroughputError, near
from stepviz.throughput.checks import listed, real, share, whole
from stepviz.throughput.flop_conventions import known_convention
from stepviz.throughput.model_shapes import ModelShape
from stepviz.throughput.peak_catalogue import Peak, known_precision, peak, roof_of
from stepviz.throughput.rates import known_numerator
from stepviz.throughput.sequence_lengths import plain_sequence
from stepviz.throughput.token_counts import TokenCounts

_SIZES = ("accumulation", "logging_steps", "world", "dp", "tp", "cp", "pp", "vpp")


@dataclass(frozen=True, kw_only=True)
class Setup:
    """A job as far as it is told; what is None is not known.

    Parameters
    ----------
    accumulation, logging_steps, world, dp, tp, cp, pp, vpp : int, optional
        Microbatches per update, steps per log, devices, and how they are divided.
    padding, prompt : float, optional
        Share of the positions that is padding, and of the real ones that is not scored.
    counts : TokenCounts, optional
        A counted batch, in place of the two shares.
    denominator : int, optional
        What a loss was divided by.
    tokens : str, optional
        What the rate counts: allocated, real, executed, scored.
    device, precision : str, optional
        Device of the job; precision of its matrix multiplications.
    peak : Peak or float, optional
        What the reported utilization was divided by, FLOP/s.
    shape, convention, sequence : optional
        The model, the FLOP convention that is meant, the length.
    recompute, lora : bool, optional
        Whether activations are computed again; whether weights are frozen.
    active_share : float, optional
        Share of the wall time that is updates.
    step_seconds : sequence of float, optional
        Times of single steps, s.
    """

    accumulation: int | None = None
    logging_steps: int | None = None
    world: int | None = None
    dp: int | None = None
    tp: int | None = None
    cp: int | None = None
    pp: int | None = None
    vpp: int | None = None
    padding: float | None = None
    prompt: float | None = None
    counts: TokenCounts | None = None
    denominator: int | None = None
    tokens: str | None = None
    device: str | None = None
    precision: str | None = None
    peak: Any = None
    shape: ModelShape | None = None
    convention: str | None = None
    sequence: Any = None
    recompute: bool | None = None
    lora: bool | None = None
    active_share: float | None = None
    step_seconds: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        """Check what is told."""
        for name in _SIZES:
            if getattr(self, name) is not None:
                self._set(name, whole(getattr(self, name), name, least=1))
        self._check_kinds()
        if self.counts is not None and self.padding is None:
            self._set("padding", self.counts.padding_share)
        for name in ("padding", "prompt", "active_share"):
            if getattr(self, name) is not None:
                share(getattr(self, name), name)
        if self.padding == 1:
            msg = "padding is 1: then no position is real, and there is nothing to measure"
            raise ThroughputError(msg)
        if self.convention is not None:
            known_convention(self.convention)
        _ = self.peak_flops
        times = listed(self.step_seconds, "step_seconds")
        steps = tuple(real(t, "step_seconds", above=0) for t in times)
        self._set("step_seconds", steps)
        if self.device is not None:
            _ = self.own_peak

    def _check_kinds(self) -> None:
        for name, kind in (("counts", TokenCounts), ("shape", ModelShape)):
            value = getattr(self, name)
            if value is not None and not isinstance(value, kind):
                msg = f"{name} is {value!r}: give a {kind.__name__}"
                raise ThroughputError(msg)
        for name in ("recompute", "lora"):
            if getattr(self, name) not in (None, True, False):
                msg = f"{name} is {getattr(self, name)!r}: give True or False"
                raise ThroughputError(msg)
        if self.tokens is not None:
            known_numerator(self.tokens)
        if self.denominator is not None:
            self._set("denominator", whole(self.denominator, "denominator", least=1))
        if self.precision is not None:
            self._set("precision", known_precision(self.precision))
        self._set("sequence", plain_sequence(self.sequence))

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @classmethod
    def read(cls, setup: Mapping[str, Any] | None) -> Setup:
        """Return a setup from a dict; a key that is unknown is an error with near names."""
        known = [field.name for field in fields(cls)]
        if setup is not None and not isinstance(setup, Mapping):
            msg = f"setup is {setup!r}: give a dict, such as {{'accumulation': 8}}"
            raise ThroughputError(msg)
        for key in setup or {}:
            if key not in known:
                msg = f"a setup has no {key!r}: {near(key, known, most=24)}"
                raise ThroughputError(msg)
        return cls(**(setup or {}))

    @property
    def own_peak(self) -> Peak | None:
        """The catalogue's peak of the device in its precision."""
        return None if self.device is None else peak(self.device, self.precision or "bf16")

    @property
    def peak_flops(self) -> float | None:
        """What the utilization was divided by, FLOP/s."""
        return None if self.peak is None else roof_of(self.peak)

    @property
    def scored_share(self) -> float | None:
        """Share of the positions whose target is scored."""
        if self.counts is not None and self.counts.scored_share is not None:
            return self.counts.scored_share
        if self.prompt is None:
            return None
        return (1 - (self.padding or 0.0)) * (1 - self.prompt)

    @property
    def sequence_length(self) -> float | None:
        """Length of the sequences, where it is one."""
        return float(self.sequence) if isinstance(self.sequence, Real) else None
