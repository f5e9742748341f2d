"""Which ranks run the same program, so that one can be held against the others.

Ranks that do the same exchanges in the same order are alike. A stage of a pipeline and the next
one are not: what comes before the third exchange of one is other work than on the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from stepviz.traces.graph.arrays import IntArray
from stepviz.traces.table import Table

#: What a rank does between ranks, in order: each exchange by its name and how many take part.
Program = tuple[tuple[str, int], ...]

#: What is said where ranks are held to the median of two.
MEDIAN_OF_TWO: Final = "the median of two ranks is the middle between them"


def in_order(exchanges: Table, sizes: Sequence[int]) -> tuple[IntArray, Program]:
    """Return the places of a rank's exchanges in the order of its program, and the program.

    That is the order in which the host launched them: devices may run them in another one.

    Parameters
    ----------
    exchanges
        Those of one rank (columns: see `joining.exchanges.COLUMNS`).
    sizes
        How many ranks take part in each.
    """
    launched = exchanges["launched_ns"]
    arrival = exchanges["arrival_ns"]
    order = np.lexsort((arrival, np.where(launched >= 0, launched, arrival)))
    words = exchanges["collective"].tolist()
    return order, tuple((words[at], int(sizes[at])) for at in order.tolist())


def classes(programs: Mapping[int, Program]) -> dict[int, int]:
    """Return by rank the number of its program; ranks of one number are alike."""
    numbers: dict[Program, int] = {}
    return {rank: numbers.setdefault(program, len(numbers)) for rank, program in programs.items()}


def first_of_class(start: IntArray, number: IntArray) -> IntArray:
    """Return when the first rank of each rank's class starts."""
    first = np.full(int(number.max(initial=-1)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, number, start)
    return first[number]


def left_said(numbers: Mapping[int, int]) -> str:
    """Say what the median is of two, and name the ranks that no other one is like."""
    counts = np.bincount(list(numbers.values()))
    pairs = f"; {MEDIAN_OF_TWO}" if (counts == 2).any() else ""
    return pairs + _alone_said(numbers, counts)


def _alone_said(numbers: Mapping[int, int], counts: npt.NDArray[np.int64]) -> str:
    """Name the ranks that no other one is like, "" where there are none."""
    alone = [rank for rank, number in numbers.items() if counts[number] == 1]
    if not alone or len(numbers) == 1:
        return ""
    few = ", ".join(map(str, alone[:6])) + (", …" if len(alone) > 6 else "")
    whose = f"rank {few} exchanges" if len(alone) == 1 else f"ranks {few} exchange"
    return f"; {whose} like no other rank, and nothing says what is slow there"
