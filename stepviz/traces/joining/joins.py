"""Exchanges joined over ranks: one collective, its members, its last arrival, its end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from stepviz.traces.joining.clocks import Clash
from stepviz.traces.joining.step_exchanges import IntArray, StepExchanges
from stepviz.traces.table import Table


@dataclass(frozen=True)
class Call:
    """One rank's part in one exchange, in ns, clipped to the rank's window.

    `launched` is −1 where its launch is not in the file.
    """

    rank: int
    row: int
    queue: int
    ready: int
    launched: int
    arrival: int
    finish: int
    origin: str
    during: str
    on_device: bool


@dataclass(frozen=True)
class Exchange:
    """One exchange: a collective over its members, or one rank's part where not joined."""

    name: str
    collective: str
    label: str
    emulated: bool
    bytes: int
    calls: Mapping[int, Call] = field(default_factory=dict)

    @property
    def members(self) -> tuple[int, ...]:
        """Return the ranks that take part."""
        return tuple(sorted(self.calls))

    @property
    def joint(self) -> bool:
        """Say whether this is one exchange over several ranks."""
        return len(self.calls) > 1

    def with_calls(self, calls: Mapping[int, Call]) -> Exchange:
        """Return the same exchange among some of its members."""
        name = self.name if len(calls) > 1 or not self.joint else f"r{min(calls)} {self.name}"
        return replace(self, name=name, calls=dict(calls))

    @property
    def last_arrival(self) -> int:
        """Return when the transfer can begin."""
        return max(call.arrival for call in self.calls.values())

    @property
    def first_finish(self) -> int:
        """Return when the transfer is done on the first rank, not before it began."""
        return max(self.last_arrival, min(call.finish for call in self.calls.values()))


@dataclass(frozen=True)
class Joined:
    """The exchanges of a step: all of them, why some stayed with their rank, clocks' clash."""

    exchanges: list[Exchange]
    unmatched: Table
    clash: Clash | None = None


def joined(columns: StepExchanges, calls: Mapping[int, tuple[IntArray, Table]]) -> Joined:
    """Make one step's exchanges, each with its calls.

    Parameters
    ----------
    columns
        The step's exchanges.
    calls
        By rank: places of the step's exchanges among the rank's, and those exchanges (see
        `exchanges.COLUMNS`), clipped to its window.
    """
    by_rank = {
        rank: dict(zip(places.tolist(), _calls(rank, own), strict=True))
        for rank, (places, own) in calls.items()
    }
    bounds = columns.bounds.tolist()
    ranks, rows = columns.rank.tolist(), columns.row.tolist()
    exchanges = [
        Exchange(
            name=columns.names[k],
            collective=columns.collective[k],
            label=columns.label[k],
            emulated=bool(columns.emulated[k]),
            bytes=int(columns.bytes[k]),
            calls={ranks[c]: by_rank[ranks[c]][rows[c]] for c in range(bounds[k], bounds[k + 1])},
        )
        for k in range(len(columns))
    ]
    return Joined(exchanges, columns.unmatched, columns.clash)


def _calls(rank: int, exchanges: Table) -> list[Call]:
    columns = [
        exchanges[name].tolist()
        for name in (
            "row",
            "queue",
            "ready_ns",
            "launched_ns",
            "arrival_ns",
            "finish_ns",
            "origin",
            "during",
            "on_device",
        )
    ]
    return [Call(rank, *values) for values in zip(*columns, strict=True)]


def local(exchanges: list[Exchange]) -> list[Exchange]:
    """Return the same exchanges, each rank's part on its own."""
    apart = []
    for exchange in exchanges:
        for rank, call in exchange.calls.items():
            name = exchange.name if not exchange.joint else f"r{rank} {exchange.name}"
            apart.append(replace(exchange, name=name, calls={rank: call}))
    return apart
