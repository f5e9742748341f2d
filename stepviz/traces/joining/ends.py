"""Ends of matched collectives as tables: a row each, a column for each member.

What tells clocks: all members of a collective are done at nearly one time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stepviz.indices import as_index
from stepviz.traces.joining.matching import Match, RankCalls
from stepviz.traces.joining.robust import FloatArray
from stepviz.traces.joining.step_exchanges import ONE_SIDED

IntArray = npt.NDArray[np.int64]

#: Ends this close are close enough; closer ones do not weigh more.
_TIGHT_NS = 1_000.0
#: Taken where too few other members show how close the ends of a collective lie.
_UNKNOWN_SPREAD_NS = 5_000.0


@dataclass(frozen=True)
class Ends:
    """Ends of all collectives among the same ranks, in ns: `times[k, j]` is of `members[j]`.

    Members are places among the run's ranks. Where they are one-sided, a member may be done
    before the others have begun.
    """

    members: IntArray
    times: IntArray
    one_sided: bool


def tables_of_ends(match: Match, calls: Mapping[int, RankCalls]) -> list[Ends]:
    """Gather the ends of all matched exchanges, those that tell most first."""
    ranks = match.ranks.tolist()
    finish, words = (
        np.concatenate([calls[rank].exchanges[name] for rank in ranks])
        for name in ("finish_ns", "collective")
    )
    place = np.repeat(np.arange(len(ranks)), as_index(np.diff(match.bounds)))
    rows = np.flatnonzero(match.exchange >= 0)
    if not len(rows):
        return []
    rows = rows[np.lexsort((place[rows], match.exchange[rows]))]
    exchange = match.exchange[rows]
    head = np.flatnonzero(np.diff(exchange, prepend=-1))
    size = np.diff(np.append(head, len(rows)))
    sided = np.isin(words[rows[head]], list(ONE_SIDED))
    sent = np.isin(words[rows[head]], ["send", "recv"])
    # A send has a group of many members, but only two ranks take part.
    first = np.where(sent, place[rows[head]], -1)
    last = np.where(sent, place[rows[head + size - 1]], -1)
    keys, key = np.unique(
        np.column_stack((match.group[rows[head]], sided, first, last)), axis=0, return_inverse=True
    )
    key = key.reshape(-1)
    order = np.argsort(key, kind="stable")
    cuts = np.searchsorted(key[order], np.arange(len(keys) + 1))
    tables = []
    for at in range(len(keys)):
        mine = order[cuts[at] : cuts[at + 1]]
        columns = np.arange(size[mine[0]])
        taken = rows[head[mine][:, None] + columns]
        tables.append(Ends(place[taken[0]], finish[taken], bool(keys[at, 1])))
    return sorted(tables, key=lambda table: (table.one_sided, -len(table.times)))


def middle(times: IntArray) -> tuple[IntArray, FloatArray]:
    """Return the median end of each row: as a whole time, and what is to be added to it."""
    base = times[:, 0]
    return base, np.median((times - base[:, None]).astype(np.float64), axis=1)


def middle_of_others(times: IntArray) -> tuple[IntArray, FloatArray]:
    """Return for each end the median of those of the other members of its collective."""
    base = times[:, 0]
    apart = (times - base[:, None]).astype(np.float64)
    count = times.shape[1]
    order = np.argsort(apart, axis=1, kind="stable")
    ranked = np.take_along_axis(apart, order, axis=1)
    position = np.empty_like(order)
    np.put_along_axis(position, order, np.arange(count)[None, :], axis=1)
    low, high = (count - 2) // 2, (count - 1) // 2

    def other(at: int) -> FloatArray:
        # Without its own value all later ones move down by one place.
        found: FloatArray = np.where(
            position <= at, ranked[:, [min(at + 1, count - 1)]], ranked[:, [at]]
        )
        return found

    return base, (other(low) + other(high)) / 2


def tightness(times: IntArray) -> FloatArray:
    """Return the weight of each row, by inverse variance: close ends tell more of clocks.

    No row counts for more than about nine common ones: one alone proves nothing.
    """
    count = times.shape[1]
    if count < 2:
        spread = np.full(len(times), _UNKNOWN_SPREAD_NS)
    else:
        spread = (times - times[:, :1]).astype(np.float64).std(axis=1)
    weights = (spread + 0.5 * np.median(spread) + _TIGHT_NS) ** -2.0
    scaled: FloatArray = weights / weights.max()
    return scaled
