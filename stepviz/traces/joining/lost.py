"""Ranks whose part of a step is not all in their file, as at the end of a file that was cut off."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from stepviz.indices import as_index
from stepviz.traces.classifying.windows import Window
from stepviz.traces.joining.groups import Members
from stepviz.traces.joining.matching import IntArray
from stepviz.traces.joining.step_exchanges import StepExchanges

_PAIRS: Final = frozenset({"send", "recv"})


def with_device_work(
    windows: Mapping[int, dict[int, Window]], exchanges: Mapping[int, int]
) -> dict[int, dict[int, Window]]:
    """Leave ranks out of the steps whose device work their file has lost.

    Their host's range alone, which often runs a step or more ahead of the device, would start
    such a step far too early, and end it before others begin theirs. A file has lost it that
    shows a device in other steps, or not one exchange beside others that do.

    Parameters
    ----------
    windows
        By step, those by rank.
    exchanges
        By rank, how many its file shows.
    """
    device = {
        rank for found in windows.values() for rank, w in found.items() if w.measured == "device"
    }
    some = any(exchanges.values())
    losing = device | {rank for rank, count in exchanges.items() if some and not count}
    kept = {}
    for step, found in windows.items():
        lost = {rank for rank, w in found.items() if w.measured == "host" and rank in losing}
        whole = any(w.measured == "device" for w in found.values())
        kept[step] = {rank: w for rank, w in found.items() if not whole or rank not in lost}
    return kept


def fewer_exchanges(
    columns: StepExchanges, members: list[Members], ranks: IntArray
) -> dict[int, tuple[int, int]]:
    """Return which ranks show fewer exchanges of a group than another member: how many, of what.

    What such a rank waited in those that its file lacks looks like work of its own. Sends and
    receives do not count: two ranks of a group may have more of them than others.

    Parameters
    ----------
    columns
        The step's exchanges.
    members
        By number of its group: ranks.
    ranks
        Those that have the step.
    """
    pairs = np.array([name in _PAIRS for name in columns.collective], dtype=bool)
    alone = (columns.ranks == 1) & (columns.group >= 0) & ~pairs
    found: dict[int, tuple[int, int]] = {}
    for number in np.unique(columns.group[alone]).tolist():
        here = np.isin(ranks, members[number])
        mine = (columns.group == number) & ~pairs
        calls = columns.rank[np.repeat(mine, as_index(columns.ranks))]
        counts = np.array([(calls == rank).sum() for rank in ranks[here].tolist()])
        most = int(counts.max(initial=0))
        for rank, count in zip(ranks[here].tolist(), counts.tolist(), strict=True):
            if count < most:
                known = found.get(rank, (0, 0))
                found[rank] = (known[0] + count, known[1] + most)
    return found
