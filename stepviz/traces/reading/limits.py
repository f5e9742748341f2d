"""How much of a file is read at a time, and how much it may unpack to.

A few kilobytes of an archive can unpack to terabytes. What a real trace unpacks to is large
but its ratio is not: times differ in every event, so that gzip makes it 10 to 40 times smaller.
"""

from __future__ import annotations

import os
from typing import Final

from stepviz.errors import TraceError

_MIB: Final = 2**20
_GIB: Final = 2**30

#: What is read and decoded at once: with a quarter of a MiB its events stay in a processor's
#: cache, which is a tenth faster than with one MiB, and 8 MB smaller.
BLOCK: Final = _MIB // 4
#: The first blocks of a file; later ones are half of what came before, up to the above.
FIRST_BLOCK: Final = _MIB // 16
#: No single event, and nothing before or after the events, is larger than this.
LARGEST_PIECE: Final = 128 * _MIB
#: Sets the largest size of one file or archive after unpacking, in GiB, and lifts the ratio.
VARIABLE: Final = "STEPVIZ_LARGEST_TRACE_GB"
_DEFAULT_GB: Final = 32.0
#: Beyond this size, data that unpacks to so many times its own size is refused.
_SUSPECT: Final = 64 * _MIB
_RATIO: Final = 250
#: Archives of more members are refused.
MOST_MEMBERS: Final = 100_000


class Budget:
    """Counts what one file or archive unpacks to, and refuses a bomb.

    Parameters
    ----------
    label
        How errors name the file.
    packed
        Its size as it lies there, in bytes; −1 where nothing tells.
    """

    def __init__(self, label: str, packed: int) -> None:
        self._label = label
        self._packed = packed
        self._unpacked = 0
        said = os.environ.get(VARIABLE, "").strip()
        try:
            self._chosen = float(said) if said else None
        except ValueError as error:
            msg = f"{VARIABLE}={said!r} is no number of GiB; set it to one, such as 64"
            raise TraceError(msg) from error

    def take(self, count: int) -> None:
        """Count bytes that were unpacked.

        Raises
        ------
        TraceError
            Where there are more than the limit, or more than a real trace would hold.
        """
        self._unpacked += count
        largest = self._chosen if self._chosen is not None else _DEFAULT_GB
        if self._unpacked > largest * _GIB:
            msg = (
                f"{self._label} unpacks to more than {largest:g} GiB, the limit; set {VARIABLE} "
                "to a larger number of GiB if that is meant, or leave the file out"
            )
            raise TraceError(msg)
        suspect = self._chosen is None and self._packed >= 0 and self._unpacked > _SUSPECT
        if suspect and self._unpacked > _RATIO * self._packed:
            msg = (
                f"{self._label} unpacks to over {_RATIO} times its size, as no real trace does: "
                f"it is refused as a bomb; set {VARIABLE} to a number of GiB to read up to that "
                "much of it, or leave the file out"
            )
            raise TraceError(msg)
