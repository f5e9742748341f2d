"""Model FLOPs utilization: achieved ÷ peak, always under the name of its FLOP convention."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from stepviz.errors import ThroughputError
from stepviz.throughput.checks import real, whole
from stepviz.throughput.figures import card, number_text, percent, times
from stepviz.throughput.flop_conventions import CONVENTIONS, caveats, flops_per_token
from stepviz.throughput.peak_catalogue import Peak, known_precision, roof_of, sparse_guard
from stepviz.throughput.rates import Rate
from stepviz.throughput.sequence_lengths import plain_sequence
from stepviz.throughput.token_counts import TokenCounts

#: A FLOP count is of positions that were run over; these are not, or not for sure.
_NOT_EXECUTED = ("scored", "sequences", "updates")


@dataclass(frozen=True, repr=False)
class Mfu:
    """A utilization under a named convention; of hardware (HFU) where that counts recomputation.

    Parameters
    ----------
    value : float
        The fraction: FLOPs per token × tokens/s ÷ (devices × peak).
    convention : str
        An id of `conventions`.
    flops_per_token : float
        FLOP/token under it, forward and backward.
    tokens_per_second : float
        Of all devices together, positions that were run over.
    sequence : int, sequence of int, TokenCounts, or None
        What the convention's attention term was computed for; after `translate` from `packed` the
        segments of the row that it was.
    peak_flops : float
        FLOP/s of one device.
    devices : int
    shape : ModelShape, or a number of parameters
    peak : Peak, optional
        The catalogue's entry, where one was used.
    guards : tuple of str
        What cannot be, or what this number does not say.
    of : {"executed", "real", "allocated"}
        Which positions `tokens_per_second` counts.
    """

    value: float
    convention: str
    flops_per_token: float
    tokens_per_second: float
    sequence: Any
    peak_flops: float
    devices: int
    shape: Any = field(repr=False)
    peak: Peak | None = None
    guards: tuple[str, ...] = ()
    of: str = "executed"

    @property
    def unit(self) -> str:
        """What the fraction is of."""
        return f"of {self.devices} × {number_text(self.peak_flops / 1e12, 5)} TFLOP/s"

    @property
    def kind(self) -> str:
        """MFU, or HFU where recomputation is counted."""
        return "HFU" if CONVENTIONS[self.convention].hardware else "MFU"

    @property
    def flops_per_second(self) -> float:
        """Achieved FLOP/s of all devices, under the convention."""
        return self.flops_per_token * self.tokens_per_second

    @property
    def how(self) -> str:
        """How the value was computed."""
        formula = CONVENTIONS[self.convention].formula
        return (
            f"{number_text(self.flops_per_token)} FLOP/token ({formula}) × "
            f"{number_text(self.tokens_per_second)} tokens/s ÷ ({self.devices} × "
            f"{number_text(self.peak_flops / 1e12, 5)} TFLOP/s)"
        )

    def __float__(self) -> float:
        return self.value

    def __format__(self, spec: str) -> str:
        return format(self.value, spec) if spec else repr(self)

    def __repr__(self) -> str:
        odd = ", which cannot be: see .guards" if self.value > 1 else ""
        return f"{percent(self.value)} {self.kind} ({self.convention}){odd}"

    def _repr_html_(self) -> str:
        rows = [
            ("convention", self.convention),
            ("includes", CONVENTIONS[self.convention].includes),
            ("computed as", self.how),
        ]
        if self.peak is not None:
            rows.append(("peak", f"{self.peak!r}, {self.peak.source}"))
            if self.peak.achievable_flops:
                share = self.value * self.peak_flops / self.peak.achievable_flops
                rows.append(("of the best measured", percent(share)))
        return card(f"{percent(self.value)} {self.kind}", rows, self.guards)


def mfu(
    shape: Any,
    *,
    convention: str,
    tokens_per_second: Any,
    peak: Any,
    sequence: Any = None,
    devices: int = 1,
    precision: Any = None,
) -> Mfu:
    """Return the utilization that a rate of tokens means, under a named convention.

    Parameters
    ----------
    shape : ModelShape, or a number of parameters for `6N_all`
    convention : str
        An id of `conventions`; there is no default, because there is none in the field.
    tokens_per_second : float or Rate
        Positions that were run over, per second, of all devices together.
    peak : Peak or float
        Of one device: `peak("H100 SXM", "bf16")`, or dense FLOP/s.
    sequence : int, iterable of int, or TokenCounts
        Length of the sequences; for `packed` the lengths of the segments, or counts, whose Σ L² is
        shared by the positions that the rate counts, padding that ran among them.
    devices : int
        All that share the work, those of tensor and pipeline parallelism too.
    precision : str or torch dtype, optional
        What the matrix multiplications ran in, to compare with the peak's.

    Returns
    -------
    Mfu

    Raises
    ------
    ThroughputError
        A rate of something else than positions, an unknown convention, a number that is none.

    Examples
    --------
    >>> llama = sv.ModelShape(
    ...     layers=32, hidden=4096, heads=32, kv_heads=8, ffn=14336, gated=True, vocab=128256
    ... )
    >>> sv.mfu(llama, convention="causal", tokens_per_second=8192, sequence=8192, peak=989.5e12)
    42.61 % MFU (causal)
    """
    sequence = plain_sequence(sequence)
    rate, guards = _positions_per_second(tokens_per_second, sequence)
    devices = whole(devices, "devices", least=1)
    flops = flops_per_token(shape, convention, sequence, of=_counted(tokens_per_second))
    entry = peak if isinstance(peak, Peak) else None
    roof = roof_of(peak)
    value = float(flops) * rate / (devices * roof)
    ran_in = None if precision is None else known_precision(precision)
    guards += _about_peak(entry, roof, ran_in)
    guards += caveats(shape, convention)
    if value > 1:
        guards.append(
            f"{percent(value)} of a peak cannot be reached: the peak is of another device or "
            "precision, or the rate counts tokens more than once, or its time is a part of theirs"
        )
    return Mfu(
        value=value,
        convention=convention,
        flops_per_token=float(flops),
        tokens_per_second=rate,
        sequence=sequence,
        peak_flops=roof,
        devices=devices,
        shape=shape,
        peak=entry,
        guards=tuple(guards),
        of=_counted(tokens_per_second),
    )


def _positions_per_second(rate: Any, sequence: Any) -> tuple[float, list[str]]:
    """Return the rate of positions, and what must be said of it."""
    if not isinstance(rate, Rate):
        return real(rate, "tokens_per_second", least=0), []
    if rate.devices:
        msg = f"{rate!r} is of one device: give the rate of all together, and devices="
        raise ThroughputError(msg, factor=1 / rate.devices)
    if rate.of not in _NOT_EXECUTED:
        guards = []
        if rate.of == "real":
            guards.append(
                "real positions are counted: where kernels ran over padding too, they did more"
            )
        ran = sequence.executed if isinstance(sequence, TokenCounts) else None
        if rate.of == "allocated" and ran not in (None, sequence.allocated):
            guards.append(
                f"allocated positions are counted, {sequence.allocated:,} of them, and kernels ran "
                f"over {ran:,}: give the rate of executed ones"
            )
        return rate.value, guards
    factor, wrong = None, ""
    if isinstance(sequence, TokenCounts) and sequence.executed and rate.of == "scored":
        factor = rate.count / sequence.executed
        wrong = f"; here the result would be {times(factor)}"
    msg = (
        f"{rate!r} is no rate of positions, and FLOPs are of every position that was run over: "
        f"give the rate of executed positions{wrong}"
    )
    raise ThroughputError(msg, factor=factor)


def _counted(rate: Any) -> str:
    """Return which positions a rate counts; a bare number is of those that were run over."""
    return rate.of if isinstance(rate, Rate) else "executed"


def _about_peak(entry: Peak | None, roof: float, precision: str | None) -> list[str]:
    if entry is None:
        return sparse_guard(roof, precision)
    if precision is None or precision == entry.precision:
        return []
    said = (
        f"the work ran in {precision} and the peak is of {entry.precision}: a share of another "
        "roof, which can exceed 100 %"
    )
    return [said]
