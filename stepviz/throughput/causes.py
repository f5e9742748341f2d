"""Why a reported number is some times the right one: usual causes, each with its factor.

A factor is reported ÷ right. Where the setup names the size a cause depends on, the factor is
known; where it does not, the cause is only what would fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from stepviz.errors import ThroughputError
from stepviz.throughput.cause_sizes import SIZES
from stepviz.throughput.flop_conventions import (
    ALL_PARAMETERS,
    CONVENTIONS,
    flops_per_token,
)
from stepviz.throughput.model_shapes import ModelShape
from stepviz.throughput.peak_catalogue import Peak, peak, peak_table
from stepviz.throughput.setups import Setup

#: Which numbers a cause can spoil.
RATES: Final = ("rate",)
SHARES: Final = ("mfu",)
BOTH: Final = ("rate", "mfu")


@dataclass(frozen=True)
class Cause:
    """One way in which a number goes wrong.

    Parameters
    ----------
    name : str
        In a word or two.
    factor : float
        Reported ÷ right.
    happened : str
        What would have happened.
    confirm : str
        What would show it.
    evidence : str
        Where it was seen.
    basis : {"setup", "constant", "guess", "free"}
        Whether the factor follows from the setup, is always the same, is of a size that would
        fit, or of a share that fits any ratio.
    spoils : tuple of str
        Which numbers it can spoil.
    """

    name: str
    factor: float
    happened: str
    confirm: str
    evidence: str
    basis: str
    spoils: tuple[str, ...] = BOTH


#: Device → what its name was taken for, by a table that looks for parts of names.
_TAKEN_FOR: Final = (
    ("L40S", "L4"),
    ("L40", "L4"),
    ("A10G", "A10"),
    ("GB200", "B200"),
    ("H100 NVL", "H100 SXM"),
    ("H100 PCIe", "H100 SXM"),
    ("H100 SXM", "H100 PCIe"),
    ("MI250X GCD", "MI250X"),
    ("TPU v7 TensorCore", "TPU v7"),
)
_FALLBACK: Final = "A100"


def causes_of(setup: Setup, ratio: float) -> Iterator[Cause]:
    """Yield every cause whose factor the setup gives, constants, and what would fit the ratio."""
    yield from _sizes(setup, ratio)
    yield from _constants(setup)
    yield from _roofs(setup, ratio)
    yield from _flop_conventions(setup, ratio)
    yield from _token_conventions(setup, ratio)
    yield from _intervals(setup)


def _sizes(setup: Setup, ratio: float) -> Iterator[Cause]:
    whole = round(max(ratio, 1 / ratio))
    for size in SIZES:
        given = getattr(setup, size.key)
        if given == 1:
            continue
        n = whole if given is None else given
        if n < 2:
            continue
        basis = "guess" if given is None else "setup"
        name = f"{size.name}, if it is {n}" if given is None else f"{size.name} of {n}"
        for factor, happened in ((float(n), size.times), (1 / n, size.over)):
            yield Cause(name, factor, happened, size.confirm, size.evidence, basis)


def _constants(setup: Setup) -> Iterator[Cause]:
    for factor, happened in ((1000.0, "ms divided by as s"), (0.001, "s divided by as ms")):
        yield Cause(
            "ms for s",
            factor,
            happened,
            "time ten steps with a watch",
            "DeepSpeed #2090",
            "constant",
        )
    if setup.recompute is not False:
        yield Cause(
            "recomputation counted",
            4 / 3,
            "hardware FLOPs (HFU) with full recomputation, quoted as model FLOPs (MFU)",
            "is activation checkpointing on, and does the formula have a factor 4 for 3, 8 for 6?",
            "LLM-Foundry's MFU and HFU; gpt-neox; Narayanan et al. 2021",
            "constant",
            SHARES,
        )
    if setup.lora is not False:
        for factor, happened in (
            (3 / 2, "adapters, counted as a full fine-tune"),
            (2 / 3, "a full fine-tune, counted as adapters"),
        ):
            yield Cause(
                "frozen weights",
                factor,
                happened,
                "do frozen weights get 4 FLOPs per token, or 6?",
                "NeMo Automodel #786 (0.6675)",
                "constant",
                SHARES,
            )
    for factor, happened in (
        (0.5, "divided by the sparse peak, twice the dense one"),
        (2.0, "divided by half of the dense peak, a sparse figure halved once too often"),
    ):
        yield Cause(
            "sparse peak",
            factor,
            happened,
            "compare the peak used with sv.peak(device, precision)",
            "Lightning #21743; fms-fsdp #89; OLMo-core #614 (×2)",
            "constant",
            SHARES,
        )
    if setup.precision in (None, "fp8"):
        yield Cause(
            "precision",
            2.0,
            "work in fp8 over the peak of bf16",
            "in which precision do the matrix multiplications run?",
            "Megatron-Bridge, GB300: 2,522 TFLOP/s are 100.9 % of the bf16 peak, 50 % of fp8's",
            "constant" if setup.precision is None else "setup",
            SHARES,
        )


def _roofs(setup: Setup, ratio: float) -> Iterator[Cause]:
    """Yield peaks of another device: a fallback, or a part of a name that matched."""
    fallback = peak(_FALLBACK).flops
    own = setup.own_peak
    if own is not None and setup.peak is not None:
        used = setup.peak_flops
        if used is not None and used != own.flops:
            yield _roof(own, used, f"divided by {used / 1e12:g} TFLOP/s", "setup")
    if own is not None:
        if own.device != _FALLBACK:
            yield _roof(own, fallback, "an unknown device, taken for an A100", "setup")
        for device, other in _TAKEN_FOR:
            if device == own.device:
                yield _roof(own, peak(other).flops, f"taken for {other}", "setup")
        return
    table = peak_table()
    dense = table.index[table.index.get_level_values("precision") == "bf16"]
    for device in dense.get_level_values("device"):
        found = peak(device)
        if abs(found.flops / fallback / ratio - 1) < 0.01 and found.flops != fallback:
            yield _roof(found, fallback, "an unknown device, taken for an A100", "guess")
    for device, other in _TAKEN_FOR:
        yield _roof(peak(device), peak(other).flops, f"taken for {other}", "guess")


def _roof(own: Peak, used: float, happened: str, basis: str) -> Cause:
    name = f"peak, if the device is {own.device}" if basis == "guess" else f"peak of {own.device}"
    return Cause(
        name,
        own.flops / used,
        happened,
        f"print the peak that was used: {own.device} has {own.flops / 1e12:g} TFLOP/s in "
        f"{own.precision}",
        "OLMo-core #817 (B300 ÷ A100 = 7.21); torchtitan's fallback (3.17); Lightning's 'l4'",
        basis,
        SHARES,
    )


def _flop_conventions(setup: Setup, ratio: float) -> Iterator[Cause]:
    if setup.shape is None:
        if ratio > 1:
            yield Cause(
                f"mixture counted dense, if 1 of {ratio:.3g} parameters is active",
                ratio,
                "all experts counted, of which a token meets some",
                "does the formula use active parameters? With shape= the factor is exact",
                "torchtitan #4300 (Qwen3-30B-A3B, 5.13)",
                "free",
                SHARES,
            )
        if setup.convention is not None:
            return
        yield Cause(
            "causal half, at its most",
            2.0,
            "attention over all keys for half of them; twice only where attention is all of it",
            "give shape= and sequence= in the setup: the factor then is exact",
            "torchtitan #280; MaxText #1972",
            "guess",
            SHARES,
        )
        return
    right = setup.convention or "causal"
    try:
        base = float(flops_per_token(setup.shape, right, setup.sequence))
        counted = {
            name: float(flops_per_token(setup.shape, name, setup.sequence)) for name in CONVENTIONS
        }
    except ThroughputError:
        yield from _dense(setup.shape, right, None)
        return  # a convention that needs what the setup lacks
    yield from _dense(setup.shape, right, base)
    seen = {base}
    for name, flops in counted.items():
        if flops in seen:
            continue
        seen.add(flops)
        yield Cause(
            f"FLOP convention {name}",
            flops / base,
            f"counted as {CONVENTIONS[name].formula} where {right} is {CONVENTIONS[right].formula}",
            f"does the formula include: {CONVENTIONS[name].includes}?",
            CONVENTIONS[name].source,
            "setup",
            SHARES,
        )


def _dense(shape: ModelShape, right: str, base: float | None) -> Iterator[Cause]:
    """Yield the mixture that is counted with all its experts, by parameters and with attention."""
    if not shape.experts or right in ALL_PARAMETERS:
        return
    factors = {", by parameters": shape.parameters / shape.active_parameters}
    if base is not None:
        each = 8 if CONVENTIONS[right].hardware else 4 if right == "lora" else 6
        idle = shape.parameters - shape.active_parameters
        factors = {f" under {right}": 1 + each * idle / base, **factors}
    for how, factor in factors.items():
        yield Cause(
            f"mixture counted dense{how}",
            factor,
            f"all {shape.experts} experts counted, of which a token meets {shape.top_k}",
            "does the formula use active parameters?",
            "torchtitan #4300 (Qwen3-30B-A3B, 5.13)",
            "setup",
            SHARES,
        )


def _token_conventions(setup: Setup, ratio: float) -> Iterator[Cause]:
    if setup.padding:
        real = 1 - setup.padding
        for factor, happened in (
            (1 / real, "padding counted where real positions are meant"),
            (real, "real positions where all that ran are meant"),
        ):
            yield _tokens("padding", factor, happened, "setup")
    if setup.scored_share is not None and 0 < setup.scored_share < 1:
        share = setup.scored_share
        for factor, happened in (
            (1 / share, "positions counted where scored targets are meant"),
            (share, "scored targets where positions are meant"),
        ):
            yield _tokens("prompt and padding", factor, happened, "setup")
    if setup.padding is None and setup.scored_share is None and ratio != 1:
        part = 1 - min(ratio, 1 / ratio)
        for name, what in (("padding", "padding"), ("prompt and padding", "not scored")):
            more = "counted" if ratio > 1 else "left out"
            yield _tokens(
                f"{name}, if {part:.1%} of positions are {what}",
                ratio,
                f"positions that are {what} are {more} by one side only",
                "free",
            )
    if setup.sequence_length is not None and setup.sequence_length > 1:
        n = setup.sequence_length
        for factor, happened in (
            (n / (n - 1), "labels counted before the shift, one too many per row"),
            ((n - 1) / n, "targets after the shift where positions are meant"),
        ):
            yield Cause(
                "unshifted labels",
                factor,
                happened,
                "count labels[..., 1:], and compare with labels",
                "transformers #46204",
                "setup",
                RATES,
            )


def _tokens(name: str, factor: float, happened: str, basis: str) -> Cause:
    return Cause(
        name,
        factor,
        happened,
        "count one batch with sv.count_tokens and divide its counts",
        "transformers #29889, torchtune #2296 and #1875",
        basis,
        RATES if basis == "free" else BOTH,
    )


def _intervals(setup: Setup) -> Iterator[Cause]:
    if setup.active_share is not None and setup.active_share < 1:
        yield Cause(
            "evaluation and checkpoints in the time",
            setup.active_share,
            "tokens of training over the time of everything",
            "divide by the updates' own time",
            "Hugging Face train_tokens_per_second",
            "setup",
        )
    if setup.step_seconds:
        steps = setup.step_seconds
        mean_rate = sum(1 / t for t in steps) / len(steps)
        yield Cause(
            "mean of rates",
            mean_rate * sum(steps) / len(steps),
            "rates averaged, not tokens and times",
            "divide all tokens by all seconds",
            "xtuner #977",
            "setup",
        )
