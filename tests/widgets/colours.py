"""Colours of the style sheets as people see them: contrast, and with one kind of cone missing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from tests.widgets.frontend import FRONTEND

if TYPE_CHECKING:
    from numpy.typing import NDArray

Rgb: TypeAlias = "NDArray[np.float64]"

#: What linear RGB becomes without one kind of cone, at full severity: Machado, Oliveira and
#: Fernandes, "A physiologically-based model for simulation of color vision deficiency" (2009).
VISIONS: Final = {
    "all cones": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}

# Björn Ottosson, "A perceptual color space for image processing" (2020).
_CONES: Final = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_OKLAB: Final = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
_HEX: Final = r"#[0-9a-f]{6}\b|#[0-9a-f]{3}\b"


def linear(colour: str) -> Rgb:
    """Return a hex colour as linear sRGB."""
    digits = colour.removeprefix("#")
    if len(digits) == 3:
        digits = "".join(2 * digit for digit in digits)
    value = np.array([int(digits[k : k + 2], 16) / 255 for k in (0, 2, 4)])
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def luminance(colour: str) -> float:
    return float(linear(colour) @ [0.2126, 0.7152, 0.0722])


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours as WCAG 2 reckons it, from 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def oklab(rgb: Rgb) -> Rgb:
    return _OKLAB @ np.cbrt(_CONES @ rgb)


def apart(one: str, other: str, vision: str) -> float:
    """Return how far two colours are apart for such eyes, in hundredths of OKLab's lightness."""
    seen = (np.clip(VISIONS[vision] @ linear(colour), 0, 1) for colour in (one, other))
    a, b = map(oklab, seen)
    return 100 * float(np.linalg.norm(a - b))


def variables(*sheets: str) -> dict[str, dict[str, str]]:
    """Return the colours that style sheets name, by theme; those that hosts give are left out."""
    found: dict[str, dict[str, str]] = {"light": {}, "dark": {}}
    for sheet in sheets:
        text = (FRONTEND / sheet).read_text(encoding="utf-8")
        normal = text.split("@media (forced-colors: active)")[0]
        for name, value in re.findall(r"(--[\w-]+):\s*([^;]+);", normal):
            colours = re.findall(_HEX, value)
            if not re.fullmatch(rf"light-dark\(({_HEX}), ({_HEX})\)|{_HEX}", value):
                continue
            found["light"][name], found["dark"][name] = colours[0], colours[-1]
    return found


def labels(theme: str) -> dict[str, str]:
    """Return what colour the editor writes in on each kind's bars."""
    text = (FRONTEND / "editor.css").read_text(encoding="utf-8")
    rules = re.findall(r"\.sv-k-(\w+) \{ --sv-kind: [^;]+; --sv-label: ([^;]+); \}", text)
    return {
        kind: re.findall(_HEX, value)[0 if theme == "light" else -1]
        for kind, value in rules
        if re.search(_HEX, value)
    }
