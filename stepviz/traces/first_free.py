"""The first lane that has room, however many there are."""

from __future__ import annotations

from typing import Final

#: A lane with nothing in it is free until then.
EVER: Final = 2**63 - 1


class FirstFree:
    """Until when each lane is free, and the first that is so for long enough: a tree of maxima.

    Where everything crosses, to look at one lane after the other takes a second for each 10,000.
    """

    def __init__(self) -> None:
        self._width = 1
        self._most = [EVER, EVER]

    def first(self, end: int) -> int:
        """Return the first lane that is free until `end`."""
        at = 1
        while at < self._width:
            at = 2 * at if self._most[2 * at] >= end else 2 * at + 1
        return at - self._width

    def set(self, lane: int, end: int) -> None:
        """Let a lane be free until some time."""
        at = self._width + lane
        self._most[at] = end
        if lane == self._width - 1 and end != EVER:
            # No lane is left that was never used: twice as many.
            old = self._most[self._width :]
            self._width *= 2
            leaves = old + [EVER] * (self._width - len(old))
            self._most = [EVER] * self._width + leaves
            for place in range(self._width - 1, 0, -1):
                self._most[place] = max(self._most[2 * place], self._most[2 * place + 1])
            return
        while at > 1:
            at //= 2
            self._most[at] = max(self._most[2 * at], self._most[2 * at + 1])
