"""Text that is nearly JSON, made JSON without touching what it says.

Profilers write bytes that are no UTF-8, control characters in names, `nan` for a number that
they lack, halves of characters, and backslashes that escape nothing. Each is replaced by something
as long, so that places in the text stay where they are (only what replaces bad UTF-8 is longer,
and a backslash is doubled).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
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
#: The same as the value of a member; a text could only hold it with its quotes escaped.
_MEMBER: Final = re.compile(
    rb'((?<!\\)":[ \t\r\n]*)(-?(?:nan|inf|infinity))(?=[ \t\r\n]*[,}])', re.IGNORECASE
)
#: A backslash and what it escapes; `odd` where that is nothing that JSON knows, as in C:\\Users.
_ESCAPE: Final = re.compile(rb'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}|(?P<odd>))')
_CONTROLS: Final = bytes(range(32))
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
    backslashes: int = 0
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
            (self.backslashes, "backslashes in texts that escape nothing were doubled"),
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
            return _no_number(token)
        if _CONTROL.search(token):
            tidied.controls += len(_CONTROL.findall(token))
            token = token.translate(_SPACES)
        if b"\\u" in token:
            token = halves_replaced(token)
        return _ESCAPE.sub(doubled, token) if b"\\" in token else token

    def doubled(found: re.Match[bytes]) -> bytes:
        if found["odd"] is None:
            return found.group()
        tidied.backslashes += 1
        return rb"\\"

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


def versions(text: bytes) -> Iterator[tuple[bytes, Tidied]]:
    """Return the text as it is, and then with ever more replaced, as far as there is any need.

    To look into every single text takes ten times as long as to decode it all.
    """
    tidied = Tidied()
    plain = utf8(text, tidied)
    yield plain, tidied
    small = plain.lower()
    numbers = b"nan" in small or b"inf" in small
    if numbers:
        numbered, count = _MEMBER.subn(lambda found: found[1] + _no_number(found[2]), plain)
        if count:
            yield numbered, replace(tidied, numbers=count)
    escapes = b"\\" in plain and any(found["odd"] is not None for found in _ESCAPE.finditer(plain))
    if numbers or escapes or b"\\ud" in small or len(plain.translate(None, _CONTROLS)) < len(plain):
        full = replace(tidied)
        yield tidy(plain, full), full


def _no_number(token: bytes) -> bytes:
    # No number, so no time either; as long as what it replaces.
    return (b"null" if len(token) > 3 else b"{}").ljust(len(token))
