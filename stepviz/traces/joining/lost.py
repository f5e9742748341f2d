"""Ranks whose part of a step is not all in their file, as at the end of a file that was cut off."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from stepviz.indices import as_index
from stepviz.traces.classifying.windows import Window
from stepviz.traces.joining.groups import Members
from stepviz.traces.joining.matching import UNEVEN_PAIRS, IntArray
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


def without_exchanges(
    columns: StepExchanges, members: list[Members], ranks: IntArray
) -> dict[int, str]:
    """Return which ranks may lack exchanges that others show, and why so.

    What such a rank waited in those that its file lacks looks like work of its own.

    Parameters
    ----------
    columns
        The step's exchanges.
    members
        By number of its group: ranks.
    ranks
        Those that have the step.
    """
    if any(UNEVEN_PAIRS in str(why) for why in columns.unmatched["why"].tolist()):
        # Either end may be the one that is lost, and its rank need not show another one.
        said = "some sends and receives of the step lack their other end"
        return dict.fromkeys(ranks.tolist(), said)
    pairs = np.array([name in _PAIRS for name in columns.collective], dtype=bool)
    alone = (columns.ranks == 1) & (columns.group >= 0) & ~pairs
    shown: dict[int, tuple[int, int]] = {}
    for number in np.unique(columns.group[alone]).tolist():
        here = np.isin(ranks, members[number])
        mine = (columns.group == number) & ~pairs
        calls = columns.rank[np.repeat(mine, as_index(columns.ranks))]
        counts = np.array([(calls == rank).sum() for rank in ranks[here].tolist()])
        most = int(counts.max(initial=0))
        for rank, count in zip(ranks[here].tolist(), counts.tolist(), strict=True):
            if count < most:
                known = shown.get(rank, (0, 0))
                shown[rank] = (known[0] + count, known[1] + most)
    return {
        rank: f"it shows only {count} of the {most} exchanges that others do"
        for rank, (count, most) in shown.items()
    }
