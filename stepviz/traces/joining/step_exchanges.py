"""The exchanges of one step over its ranks, in columns: who arrived and ended when."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from stepviz.indices import as_index
from stepviz.traces.joining.clocks import ROUNDING_NS, Clash
from stepviz.traces.joining.matching import POINT_TO_POINT, Match
from stepviz.traces.table import Table

IntArray = npt.NDArray[np.int64]

#: A collective cannot end on one rank before another arrives. Past this, clocks disagree.
CLOCK_TOLERANCE_NS: Final = 2_000_000

#: In these some member may be done before another arrives: it only gives, or only gets.
ONE_SIDED: Final = frozenset(
    {"broadcast", "reduce", "gather", "scatter", "send", "recv", POINT_TO_POINT}
)

_APART: Final = "it ends on one rank before another arrives: the ranks' clocks disagree"


class Part(NamedTuple):
    """One rank's share of a step: all its exchanges, which are the step's, from when to when."""

    exchanges: Table
    rows: IntArray
    start_ns: int
    finish_ns: int


@dataclass(frozen=True)
class StepExchanges:
    """Calls of all ranks, one exchange after the other in order of last arrival.

    Those of exchange `k` are `bounds[k]:bounds[k + 1]`, by rank. `arrival` and `finish` are
    cut to the rank's window, `began` and `ended` are not; ns. `row` is a call's place among
    its rank's exchanges.
    """

    rank: IntArray
    row: IntArray
    arrival: IntArray
    finish: IntArray
    began: IntArray
    ended: IntArray
    bounds: IntArray
    names: list[str]
    collective: list[str]
    label: list[str]
    emulated: npt.NDArray[np.bool_]
    bytes: IntArray
    out_bytes: IntArray
    group: IntArray
    unmatched: Table
    clash: Clash | None

    def __len__(self) -> int:
        return len(self.names)

    @property
    def ranks(self) -> IntArray:
        """How many ranks take part in each."""
        return np.diff(self.bounds)

    @property
    def number(self) -> IntArray:
        """Of each call: its exchange."""
        return np.repeat(np.arange(len(self)), as_index(self.ranks))

    @property
    def last_arrival(self) -> IntArray:
        """When each transfer can begin, ns."""
        return _over(np.maximum, self.arrival, self.bounds)

    @property
    def first_arrival(self) -> IntArray:
        """When the first member of each arrived, ns."""
        return _over(np.minimum, self.arrival, self.bounds)

    @property
    def last_finish(self) -> IntArray:
        """When the last member of each was done, ns."""
        return _over(np.maximum, self.finish, self.bounds)

    @property
    def one_sided(self) -> npt.NDArray[np.bool_]:
        """Where a member may be done before the others have arrived."""
        return np.array([name in ONE_SIDED for name in self.collective], dtype=bool)


def step_exchanges(match: Match, parts: Mapping[int, Part]) -> StepExchanges:
    """Gather the exchanges of one step.

    Parameters
    ----------
    match
        Of the whole run.
    parts
        By rank.
    """
    rows, words = _gathered(match, parts)
    exchange = rows["exchange"]
    # A member whose step this is not leaves the others with a smaller exchange.
    alone = exchange < 0
    exchange = exchange.copy()
    exchange[alone] = -1 - np.arange(int(alone.sum()))
    _, number = np.unique(exchange, return_inverse=True)
    number, clash, apart = _split_apart(number.reshape(-1), rows, words["collective"])
    last = np.full(int(number.max(initial=-1)) + 1, np.iinfo(np.int64).min)
    np.maximum.at(last, number, rows["arrival"])
    order = np.lexsort((rows["rank"], number, last[number]))
    sorted_number = number[order]
    new = np.flatnonzero(np.diff(sorted_number, prepend=-1))
    bounds = np.append(new, len(order)).astype(np.int64)
    rows = {name: column[order] for name, column in rows.items()}
    collective, label = words["collective"][order], words["label"][order]
    heads = bounds[:-1]
    kinds = _kinds(collective, bounds)
    return StepExchanges(
        **{name: rows[name] for name in ("rank", "row", "arrival", "finish", "began", "ended")},
        bounds=bounds,
        names=_names(kinds, bounds, rows["rank"]),
        collective=kinds,
        label=[str(word) for word in label[heads]],
        emulated=rows["emulated"][heads].astype(bool),
        bytes=_over(np.maximum, rows["bytes"], bounds),
        out_bytes=_over(np.maximum, rows["out_bytes"], bounds),
        group=rows["group"][heads],
        unmatched=_unmatched(rows, collective, label, match, apart[order]),
        clash=clash,
    )


def _gathered(
    match: Match, parts: Mapping[int, Part]
) -> tuple[dict[str, IntArray], dict[str, npt.NDArray[Any]]]:
    numbers: dict[str, list[IntArray]] = defaultdict(list)
    words: dict[str, list[npt.NDArray[Any]]] = {"collective": [], "label": []}
    for rank, part in sorted(parts.items()):
        at, calls = part.rows, part.exchanges
        first = match.rows(rank).start
        began = calls["arrival_ns"][at]
        ended = calls["finish_ns"][at]
        numbers["rank"].append(np.full(len(at), rank, dtype=np.int64))
        numbers["row"].append(at)
        numbers["began"].append(began)
        numbers["ended"].append(ended)
        numbers["arrival"].append(np.clip(began, part.start_ns, part.finish_ns))
        numbers["finish"].append(np.clip(ended, part.start_ns, part.finish_ns))
        for name in ("exchange", "why", "group"):
            numbers[name].append(getattr(match, name)[first + at])
        for name in ("bytes", "out_bytes", "emulated"):
            numbers[name].append(calls[name][at].astype(np.int64))
        for name, column in words.items():
            column.append(calls[name][at])
    return (
        {name: np.concatenate(found) for name, found in numbers.items()},
        {name: np.concatenate(found) for name, found in words.items()},
    )


def _split_apart(
    number: IntArray, rows: Mapping[str, IntArray], collective: npt.NDArray[Any]
) -> tuple[IntArray, Clash | None, npt.NDArray[np.bool_]]:
    """Split exchanges whose calls cannot be one by these clocks; find the worst that shows it.

    Most of a name in a group must be impossible for its exchanges to be split.
    """
    count = int(number.max(initial=-1)) + 1
    none = np.zeros(len(number), dtype=bool)
    if not count:
        return number, None, none
    arrived = np.full(count, np.iinfo(np.int64).min)
    np.maximum.at(arrived, number, rows["began"])
    ended = np.full(count, np.iinfo(np.int64).max)
    np.minimum.at(ended, number, rows["ended"])
    size = np.bincount(as_index(number), minlength=count)
    head = np.zeros(count, dtype=np.int64)
    head[number] = np.arange(len(number))
    kinds = collective[head]
    judged = (size > 1) & ~np.isin(kinds, list(ONE_SIDED))
    apart = np.where(judged, arrived - ended, 0)
    if (apart <= ROUNDING_NS).all():
        return number, None, none
    worst = int(np.argmax(apart))
    keys, key = np.unique(
        np.column_stack((rows["group"][head], pd.factorize(kinds)[0], rows["emulated"][head])),
        axis=0,
        return_inverse=True,
    )
    key = key.reshape(-1)
    clash = _clash(worst, int(apart[worst]), number, rows, str(kinds[worst]), ended, key, judged)
    late = np.bincount(as_index(key[apart > CLOCK_TOLERANCE_NS]), minlength=len(keys))
    split = (2 * late > np.bincount(as_index(key[judged]), minlength=len(keys)))[key] & judged
    mine = split[number]
    number = number.copy()
    number[mine] = count + np.arange(int(mine.sum()))
    _, number = np.unique(number, return_inverse=True)
    return number.reshape(-1), clash, mine


def _clash(
    worst: int,
    apart: int,
    number: IntArray,
    rows: Mapping[str, IntArray],
    kind: str,
    ended: IntArray,
    key: IntArray,
    judged: npt.NDArray[np.bool_],
) -> Clash:
    calls = np.flatnonzero(number == worst)
    late = int(rows["rank"][calls[np.argmax(rows["began"][calls])]])
    early = int(rows["rank"][calls[np.argmin(rows["ended"][calls])]])
    alike = judged & (key == key[worst])
    k = int((ended[alike] < ended[worst]).sum())
    shown = f"{kind} {k} ends on rank {early} before rank {late} arrives"
    return Clash(apart, (min(early, late), max(early, late)), shown)


def _kinds(collective: npt.NDArray[Any], bounds: IntArray) -> list[str]:
    heads, sizes = collective[bounds[:-1]], np.diff(bounds)
    return [
        POINT_TO_POINT if size > 1 and kind in ("send", "recv") else str(kind)
        for kind, size in zip(heads, sizes, strict=True)
    ]


def _names(kinds: list[str], bounds: IntArray, rank: IntArray) -> list[str]:
    """Name exchanges in order of their last arrival: "all-reduce 2", "r0 all-reduce 1"."""
    prefixes = [
        "" if high - low > 1 else f"r{rank[low]} "
        for low, high in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
    ]
    stems = [prefix + kind for prefix, kind in zip(prefixes, kinds, strict=True)]
    totals: dict[str, int] = defaultdict(int)
    for stem in stems:
        totals[stem] += 1
    seen: dict[str, int] = defaultdict(int)
    names = []
    for stem in stems:
        names.append(f"{stem} {seen[stem]}" if totals[stem] > 1 else stem)
        seen[stem] += 1
    return names


def _unmatched(
    rows: Mapping[str, IntArray],
    collective: npt.NDArray[Any],
    label: npt.NDArray[Any],
    match: Match,
    apart: npt.NDArray[np.bool_],
) -> Table:
    why = rows["why"]
    left = np.flatnonzero((why >= 0) | apart)
    left = left[np.lexsort((rows["began"][left], rows["rank"][left], why[left]))]
    return Table(
        {
            "rank": rows["rank"][left],
            "collective": collective[left],
            "group": label[left],
            "arrival_ns": rows["arrival"][left],
            "finish_ns": rows["finish"][left],
            "why": np.array(
                [_APART if apart[k] else match.reasons[why[k]] for k in left.tolist()], dtype=object
            ),
        }
    )


def _over(reduce: Any, values: IntArray, bounds: IntArray) -> IntArray:
    if len(bounds) < 2:
        return np.zeros(0, dtype=np.int64)
    found: IntArray = reduce.reduceat(values, as_index(bounds[:-1]))
    return found
