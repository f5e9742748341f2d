"""What a device can do at most: dense matrix multiplication and memory, with source and date.

The two tables lie beside this file. A device is found by its whole name, one of a list, never by a
part of it: 'L4' is in 'L40S', and 'B200' in 'GB200'.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Final

import pandas as pd

from stepviz.errors import ThroughputError, near
from stepviz.throughput.checks import real
from stepviz.throughput.devices_at_hand import device_at_hand
from stepviz.throughput.figures import card, number_text, percent

#: What a dense peak of is meant where nobody says more.
_TRAINED: Final = ("bf16", "fp16")

#: Devices that gain nothing, or not twice, from zeros, so that no sheet of theirs prints twice.
_DENSE_ONLY: Final = ("V100", "T4", "MI250X", "TPU", "Trainium", "Gaudi")

#: How people and libraries write a precision.
_PRECISIONS: Final = {
    "bf16": ("bfloat16",),
    "fp16": ("float16", "half", "f16"),
    "tf32": ("tensorfloat32",),
    "fp8": ("float8", "float8_e4m3fn", "float8_e5m2", "e4m3", "e5m2"),
    "mxfp8": (),
    "int8": (),
    "nvfp4": ("fp4", "float4_e2m1fn_x2"),
    "fp32": ("float32", "float"),
}


@dataclass(frozen=True, repr=False)
class Peak:
    """The most that one device can do in one precision.

    Parameters
    ----------
    device : str
        Its name in the catalogue.
    precision : str
        Of the inputs of the matrix multiplication.
    flops : float
        FLOP/s, dense: sheets that print twice as much mean structured sparsity.
    bytes_per_second : float or None
        Of its memory, where the name says enough to know it.
    per : {"package", "die"}
        What software sees as one device; a die is half a package.
    accumulate : str
        Precision of the sums.
    achievable_flops : float or None
        The best that anyone measured for a large matrix multiplication, FLOP/s.
    source, date : str
        Where the figure is from, and as of when.
    unconfirmed : tuple of str
        Which figures no stored source confirms.
    note : str
        The usual mistake with this device.
    sparse : bool
        Never: half of the elements being zero is no property of a trained model's matrices.
    """

    device: str
    precision: str
    flops: float
    bytes_per_second: float | None
    per: str
    accumulate: str
    achievable_flops: float | None
    source: str
    date: str
    unconfirmed: tuple[str, ...] = ()
    note: str = ""
    sparse: bool = False

    @property
    def unit(self) -> str:
        """The unit of `flops`."""
        return f"FLOP/s per {self.per}"

    def __repr__(self) -> str:
        return f"{number_text(self.flops / 1e12, 5)} TFLOP/s dense {self.precision} ({self.device})"

    def _repr_html_(self) -> str:
        rows = [
            ("dense peak", f"{number_text(self.flops / 1e12, 5)} TFLOP/s per {self.per}"),
            ("accumulated in", self.accumulate),
        ]
        if self.achievable_flops:
            share = percent(self.achievable_flops / self.flops)
            best = f"{number_text(self.achievable_flops / 1e12, 5)} TFLOP/s, {share} of the sheet"
            rows.append(("best measured", best))
        if self.bytes_per_second:
            rows.append(("memory", f"{number_text(self.bytes_per_second / 1e12, 4)} TB/s"))
        rows.append(("source", f"{self.source}, {self.date}"))
        notes = [self.note] if self.note else []
        if self.unconfirmed:
            notes.append(f"not confirmed: {', '.join(self.unconfirmed)}")
        return card(f"{self.device}, {self.precision}", rows, notes)


def peak(device: str | None = None, precision: Any = "bf16") -> Peak:
    """Return the dense peak of a device in a precision.

    Parameters
    ----------
    device : str, optional
        A name of the catalogue or of the driver, such as "H100 SXM" or "NVIDIA H100 80GB HBM3";
        the device at hand unless given.
    precision : str or torch dtype
        Such as "bf16", "fp16", "tf32", "fp8", "int8", "nvfp4".

    Returns
    -------
    Peak

    Raises
    ------
    ThroughputError
        A device or precision that is not known; it names near ones, and guesses none.

    Examples
    --------
    >>> peak("H100 SXM", "bf16")
    989.4 TFLOP/s dense bf16 (H100 SXM)
    """
    name = _known_device(device_at_hand() if device is None else device)
    wanted = known_precision(precision)
    place = _devices()[name]
    row = _peaks().get((name, wanted))
    if row is None:
        has = ", ".join(other for device, other in _peaks() if device == name)
        note = f" ({place['note']})" if place["note"] else ""
        msg = (
            f"no dense {wanted} peak is known of {name}{note}: it has {has}. A peak "
            "of another precision would give the share of another roof"
        )
        raise ThroughputError(msg)
    return Peak(
        device=name,
        precision=wanted,
        flops=_tera(row["teraflops"]) or 0.0,
        bytes_per_second=_tera(place["terabytes_per_second"]),
        per=place["per"],
        accumulate=row["accumulate"],
        achievable_flops=_tera(row["achievable_teraflops"]),
        source=row["source"],
        date=row["date"],
        unconfirmed=tuple(u for u in (row["unconfirmed"], place["unconfirmed"]) if u),
        note=place["note"],
    )


def peak_table() -> pd.DataFrame:
    """Return the catalogue, indexed by device and precision.

    Returns
    -------
    DataFrame
        `flops` and `achievable_flops` (FLOP/s), `bytes_per_second`, `per`, `accumulate`,
        `source`, `date`, `note`.

    Examples
    --------
    >>> peak_table().loc[("H100 SXM", "bf16"), ["flops", "bytes_per_second"]].tolist()
    [989400000000000.0, 3350000000000.0]
    """
    every = _every_peak()
    columns = ("flops", "achievable_flops", "bytes_per_second")
    words = ("per", "accumulate", "source", "date", "note")
    index = pd.MultiIndex.from_tuples(
        [(p.device, p.precision) for p in every], names=["device", "precision"]
    )
    return pd.DataFrame(
        {
            **{c: pd.Series([getattr(p, c) for p in every], dtype="float64") for c in columns},
            **{w: [getattr(p, w) for p in every] for w in words},
        }
    ).set_axis(index)


def roof_of(given: Any) -> float:
    """Return the FLOP/s of one device, from the catalogue's entry or as a number.

    Raises
    ------
    ThroughputError
        Where it is neither, such as the bare name of a device.
    """
    if isinstance(given, Peak):
        return given.flops
    if isinstance(given, str):
        msg = f"peak is {given!r}: give peak({given!r}, 'bf16'), or the FLOP/s of a data sheet"
        raise ThroughputError(msg)
    return real(given, "peak", above=0)


def sparse_guard(flops: float, precision: str | None) -> list[str]:
    """Say so where a number is some device's sparse 16-bit figure, and no device's dense one.

    Sheets round, and so does the comparison. In another precision the number may be dense.
    """
    every = _every_peak()
    dense = [p for p in every if _same(flops, p.flops)]
    if any(p.precision in (*_TRAINED, precision) for p in dense):
        return []
    for own in every:
        halved = not own.device.startswith(_DENSE_ONLY)
        if halved and own.precision in _TRAINED and _same(flops, 2 * own.flops):
            also = [p.precision for p in dense if p.device == own.device]
            twice = f", and its dense {also[0]} peak" if also else ""
            said = (
                f"{number_text(flops / 1e12, 5)} TFLOP/s is the sparse {own.precision} figure of "
                f"{own.device}{twice}; its dense {own.precision} peak is "
                f"{number_text(own.flops / 1e12, 5)}"
            )
            return [said]
    return []


@cache
def _every_peak() -> tuple[Peak, ...]:
    return tuple(peak(device, precision) for device, precision in _peaks())


def _same(one: float, other: float) -> bool:
    return abs(one / other - 1) < 0.001


def _tera(text: str) -> float | None:
    return float(text) * 1e12 if text else None


def plain_name(name: str) -> str:
    """Return a name as it is compared: without case, with one space for what separates."""
    return re.sub(r"[\s\-_/]+", " ", name).strip().casefold()


def _known_device(device: object) -> str:
    names = _names()
    found = names.get(plain_name(device)) if isinstance(device, str) else None
    if found is None:
        there = near(device, _shown_names())
        stop = "" if there.endswith("?") else "."
        msg = (
            f"no peak is known of the device {device!r}: {there}{stop} Give "
            "a name of peak_table(), or peak=<FLOP/s> of its data sheet, dense and in the "
            "precision you run"
        )
        raise ThroughputError(msg)
    return found


def known_precision(precision: object) -> str:
    """Return a precision by its name here, or say which there are."""
    asked = str(precision).removeprefix("torch.").casefold()
    for name, others in _PRECISIONS.items():
        if asked == name or asked in others:
            return name
    msg = f"there is no precision {precision!r}: {near(asked, _PRECISIONS, most=9)}"
    raise ThroughputError(msg)


@cache
def _names() -> dict[str, str]:
    """Every name under which a device is known → its name here."""
    return {
        plain_name(alias): device
        for device, row in _devices().items()
        for alias in (device, *filter(None, row["aliases"].split(";")))
    }


def _shown_names() -> list[str]:
    return list(_devices())


@cache
def _devices() -> dict[str, dict[str, str]]:
    return {row["device"]: row for row in _table("devices.csv")}


@cache
def _peaks() -> dict[tuple[str, str], dict[str, str]]:
    return {(row["device"], row["precision"]): row for row in _table("peaks.csv")}


def _table(name: str) -> Iterable[dict[str, str]]:
    text = resources.files("stepviz.throughput").joinpath(name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
