"""How long a collective takes, from its bytes: α–β, ring and tree.

Bytes of a collective are counted as nccl-tests counts them: the whole vector of an all-reduce,
broadcast or reduce, the gathered result of an all-gather, the vector before a reduce-scatter, what
a rank holds before an all-to-all.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import pandas as pd

from stepviz.core.checks import as_real, holds_several
from stepviz.errors import CostError, near

#: What a cost model can be asked for.
COLLECTIVES: Final = (
    "all-reduce",
    "all-gather",
    "reduce-scatter",
    "all-to-all",
    "broadcast",
    "reduce",
    "send",
)
#: Those in which each rank sends all but its own p-th of the bytes, in p - 1 steps.
_BY_PARTS: Final = ("all-gather", "reduce-scatter", "all-to-all")
#: Bytes per ms of 1 GB/s.
BYTES_PER_MS: Final = 1e6


class CostModel(ABC):
    """How long a collective of so many bytes takes."""

    #: Ranks that take part; None where the model does not say.
    ranks: int | None

    def ms(self, nbytes: float, collective: str = "all-reduce") -> float:
        """Return the time of one collective, ms.

        Parameters
        ----------
        nbytes : float
            Its size, counted as nccl-tests counts it.
        collective : str
            One of all-reduce, all-gather, reduce-scatter, all-to-all, broadcast, reduce, send.

        Raises
        ------
        CostError
            An unknown collective, one that the model has no formula for, or a size that is
            negative or no number.
        """
        size = as_real(nbytes)
        if size is None or not math.isfinite(size) or size < 0:
            msg = f"nbytes is {nbytes!r}: give a finite number of bytes, 0 or more"
            raise CostError(msg)
        return self._ms(size, collective_name(collective))

    @abstractmethod
    def _ms(self, nbytes: float, collective: str) -> float:
        """Return the time of one collective whose name and size are known to be good."""

    def table(self, sizes: Iterable[float], collective: str = "all-reduce") -> pd.DataFrame:
        """Return times and bandwidths over sizes.

        Returns
        -------
        DataFrame
            Indexed by `bytes`: `ms`; `algorithm_bandwidth`, bytes over time, and `bus_bandwidth`,
            what each link must carry, both GB/s. The bus bandwidth is the algorithm bandwidth
            times `bus_factor`, NaN where the model does not know its ranks.
        """
        if not holds_several(sizes):
            msg = f"sizes is {sizes!r}: give a list of bytes, such as [1e6, 1e8]"
            raise CostError(msg)
        rows = list(sizes)
        times = [self.ms(size, collective) for size in rows]
        rate = [
            size / ms / BYTES_PER_MS if ms else math.nan
            for size, ms in zip(rows, times, strict=True)
        ]
        factor = math.nan if self.ranks is None else bus_factor(collective, self.ranks)
        return pd.DataFrame(
            {
                "ms": times,
                "algorithm_bandwidth": rate,
                "bus_bandwidth": [factor * value for value in rate],
            },
            index=pd.Index(rows, name="bytes", dtype="float64"),
        )


def collective_name(given: object) -> str:
    """Return the field's name of a collective, from `all-reduce`, `all_reduce` or `AllReduce`."""
    plain = {name.replace("-", ""): name for name in COLLECTIVES}
    asked = str(given).lower().replace("-", "").replace("_", "").replace(" ", "")
    if asked not in plain:
        hint = near(given, COLLECTIVES, most=len(COLLECTIVES))
        msg = f"there is no cost of the collective {given!r}: {hint}"
        raise CostError(msg)
    return plain[asked]


def bus_factor(collective: str, ranks: int) -> float:
    """Return bus over algorithm bandwidth, as NVIDIA's nccl-tests defines it.

    2(p − 1)/p for all-reduce, (p − 1)/p for all-gather, reduce-scatter and all-to-all, 1 for the
    others (nccl-tests, doc/PERFORMANCE.md).

    Parameters
    ----------
    collective : str
        Its name, as `all-reduce`.
    ranks : int
        p, how many take part.

    Returns
    -------
    float

    Examples
    --------
    >>> bus_factor("all-reduce", 8)
    1.75
    """
    name = collective_name(collective)
    part = (as_ranks(ranks) - 1) / ranks
    if name == "all-reduce":
        return 2 * part
    return part if name in _BY_PARTS else 1.0


@dataclass(frozen=True)
class AlphaBeta(CostModel):
    """A latency and a bandwidth, for every collective alike: t = α + n/B.

    Parameters
    ----------
    latency : float
        α, ms per collective.
    bandwidth : float
        B, GB/s of algorithm bandwidth (1 GB is 1e9 bytes).
    ranks : int, optional
        Only for the bus bandwidth in `table`.

    Examples
    --------
    >>> AlphaBeta(latency=0.5, bandwidth=10).ms(50e6)
    5.5
    """

    latency: float
    bandwidth: float
    ranks: int | None = None

    def __post_init__(self) -> None:
        _check(self)
        if self.ranks is not None:
            as_ranks(self.ranks)

    def _ms(self, nbytes: float, collective: str) -> float:  # noqa: ARG002 - alike for all
        return self.latency + nbytes / (self.bandwidth * BYTES_PER_MS)


@dataclass(frozen=True)
class Ring(CostModel):
    """Collectives around a ring of p ranks, each step α and a p-th of the bytes.

    All-reduce: 2(p − 1)·α + 2(p − 1)/p · n/B; all-gather, reduce-scatter and all-to-all half of
    that; broadcast and reduce, pipelined: (p − 1)·α + n/B; send: α + n/B. Nothing on one rank.
    (Thakur, Rabenseifner, Gropp: Optimization of collective communication operations in MPICH,
    2005.)

    Parameters
    ----------
    ranks : int
        p.
    latency : float
        α, ms per step of the ring.
    bandwidth : float
        B, GB/s of one link, which is the bus bandwidth of large messages.

    Examples
    --------
    >>> round(Ring(ranks=8, latency=0.01, bandwidth=100).ms(1e9), 6)
    17.64
    """

    ranks: int
    latency: float
    bandwidth: float

    def __post_init__(self) -> None:
        _check(self)
        as_ranks(self.ranks)

    def _ms(self, nbytes: float, collective: str) -> float:
        if self.ranks == 1:
            return 0.0
        hops = self.ranks - 1
        whole = nbytes / (self.bandwidth * BYTES_PER_MS)
        if collective == "all-reduce":
            return 2 * hops * self.latency + 2 * hops / self.ranks * whole
        if collective in _BY_PARTS:
            return hops * self.latency + hops / self.ranks * whole
        return (1 if collective == "send" else hops) * self.latency + whole


@dataclass(frozen=True)
class Tree(CostModel):
    """Collectives over two complementary binary trees: few steps, nearly the ring's bandwidth.

    All-reduce: 2⌈log₂ p⌉·α + 2n/B; broadcast and reduce half of that. All-gather, reduce-scatter
    and all-to-all gain nothing from a tree and are refused. (Sanders, Speck, Träff: Two-tree
    algorithms for full bandwidth broadcast, reduction and scan, 2009.)

    Parameters
    ----------
    ranks : int
        p.
    latency : float
        α, ms per level of the tree.
    bandwidth : float
        B, GB/s of one link.

    Examples
    --------
    >>> Tree(ranks=8, latency=0.01, bandwidth=100).ms(1e9)
    20.06
    """

    ranks: int
    latency: float
    bandwidth: float

    def __post_init__(self) -> None:
        _check(self)
        as_ranks(self.ranks)

    def _ms(self, nbytes: float, collective: str) -> float:
        if collective in _BY_PARTS:
            msg = f"a tree has no {collective}: take Ring for it"
            raise CostError(msg)
        if self.ranks == 1:
            return 0.0
        whole = nbytes / (self.bandwidth * BYTES_PER_MS)
        if collective == "send":
            return self.latency + whole
        once = math.ceil(math.log2(self.ranks)) * self.latency + whole
        return 2 * once if collective == "all-reduce" else once


@dataclass(frozen=True)
class _Measured(CostModel):
    """What a caller's own function of bytes says."""

    function: Callable[[float], float]
    ranks: int | None = None

    def _ms(self, nbytes: float, collective: str) -> float:
        what = f"{collective} of {nbytes:,.0f} bytes"
        try:
            said = self.function(nbytes)
        except Exception as error:
            named = f"{type(error).__name__}: {error}".removesuffix(": ")
            msg = f"cost fails for {what} ({named}): it must take bytes and return ms, 0 or more"
            raise CostError(msg) from error
        answer = as_real(said)
        if answer is None or not math.isfinite(answer) or answer < 0:
            msg = f"cost says {said!r} for {what}: it must return ms, a number of 0 or more"
            raise CostError(msg)
        return answer


def as_cost(given: object) -> CostModel:
    """Return a cost model; a number is ms per collective, a function maps bytes to ms."""
    if isinstance(given, CostModel):
        return given
    number = as_real(given)
    if number is not None and math.isfinite(number) and number >= 0:
        return _Measured(lambda _nbytes: number)
    a_class = isinstance(given, type) and issubclass(given, CostModel)
    if callable(given) and not a_class:
        return _Measured(given)
    msg = (
        f"cost is {given!r}: give a cost model such as Ring(ranks=8, latency=0.01, bandwidth=100), "
        "ms per collective, or a function from bytes to ms"
    )
    raise CostError(msg)


def each_cost(
    model: CostModel, sizes: Sequence[float], collective: str = "all-reduce", of: str = "bucket"
) -> list[float]:
    """Return the ms of several collectives; an error says which of them it is of.

    Raises
    ------
    CostError
        As `CostModel.ms` does, with the number of the bucket, from 1.
    """
    found = []
    for k, size in enumerate(sizes, start=1):
        try:
            found.append(model.ms(size, collective))
        except CostError as error:
            msg = f"{of} {k} of {len(sizes)}: {error}"
            raise CostError(msg) from error
    return found


def as_ranks(given: object) -> int:
    """Return a number of ranks, 1 or more."""
    number = as_real(given)
    if number is None or not 1 <= number < math.inf or number != int(number):
        msg = f"ranks is {given!r}: give a whole number of ranks, 1 or more"
        raise CostError(msg)
    return int(number)


def _check(link: AlphaBeta | Ring | Tree) -> None:
    """Refuse a link that is none; keep its numbers as floats."""
    latency, bandwidth = link.latency, link.bandwidth
    alpha, rate = as_real(latency), as_real(bandwidth)
    if alpha is None or not math.isfinite(alpha) or alpha < 0:
        msg = f"latency is {latency!r}: give ms, 0 or more"
        raise CostError(msg)
    if rate is None or rate <= 0 or math.isnan(rate):
        msg = f"bandwidth is {bandwidth!r}: give GB/s, more than 0"
        raise CostError(msg)
    object.__setattr__(link, "latency", alpha)
    object.__setattr__(link, "bandwidth", rate)
