"""Text that is nearly JSON, made JSON without touching what it says.

Profilers write bytes that are no UTF-8, control characters in names, `nan` for a number that
they lack, and halves of characters. Each is replaced by something as long, so that places in
the text stay where they are (only what replaces bad UTF-8 is longer).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_SURROGATE: Final = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # a whole pair
    rb"|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
#: A text, or a number that JSON has no word for.
_TOKEN: Final = re.compile(
    rb'"(?:[^"\\]|\\.)*"|(?<![\w.+-])(?P<number>-?(?:nan|inf|infinity))(?![\w.+-])',
    re.DOTALL | re.IGNORECASE,
)
_CONTROL: Final = re.compile(rb"[\x00-\x1f]")
_SPACES: Final = bytes(max(code, 32) for code in range(256))
_OUTSIDE: Final = bytes(32 if code < 32 and code not in b"\t\n\r" else code for code in range(256))
_REPLACEMENT: Final = "�"


@dataclass
class Tidied:
    """How often what was replaced in one file."""

    bytes_replaced: int = 0
    controls: int = 0
    halves: int = 0
    numbers: int = 0

    def add(self, other: Tidied) -> None:
        """Count what was replaced elsewhere, too."""
        for name, count in vars(other).items():
            setattr(self, name, getattr(self, name) + count)

    def sentences(self) -> list[tuple[int, str]]:
        """Return a count and a sentence for each kind that was met."""
        said = (
            (self.bytes_replaced, "bytes that are not UTF-8 were replaced"),
            (self.controls, "control characters in texts were replaced"),
            (self.halves, "texts with halves of characters (surrogates) were mended"),
            (self.numbers, "numbers that are none (NaN, infinity) were left out"),
        )
        return [(count, f"{sentence}: {count}") for count, sentence in said if count]


def utf8(text: bytes, tidied: Tidied) -> bytes:
    """Return the text with bytes that are no UTF-8 replaced."""
    if text.isascii():
        return text
    try:
        text.decode()
    except UnicodeDecodeError:
        fixed = text.decode(errors="replace")
        tidied.bytes_replaced += fixed.count(_REPLACEMENT) - text.count(_REPLACEMENT.encode())
        return fixed.encode()
    return text


def tidy(text: bytes, tidied: Tidied) -> bytes:
    """Return the text with what JSON does not allow inside texts, or as a number, replaced."""

    def mended(match: re.Match[bytes]) -> bytes:
        token = match.group()
        if match["number"] is not None:
            tidied.numbers += 1
            # No number, so no time either; as long as what it replaces.
            return (b"null" if len(token) > 3 else b"{}").ljust(len(token))
        if _CONTROL.search(token):
            tidied.controls += len(_CONTROL.findall(token))
            token = token.translate(_SPACES)
        if b"\\u" in token:
            token = halves_replaced(token)
        return token

    def halves_replaced(token: bytes) -> bytes:
        whole = _SURROGATE.sub(
            lambda found: b"\\ufffd" if found["half"] is not None else found.group(), token
        )
        tidied.halves += whole != token
        return whole

    return _TOKEN.sub(mended, text).translate(_OUTSIDE)


def tidied_utf8(text: bytes, tidied: Tidied) -> bytes:
    """Return the text with all of that replaced."""
    return tidy(utf8(text, tidied), tidied)
