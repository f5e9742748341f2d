"""How fast ranks compute without profiler, and how much slower beside exchange, as a capture says.

A traced backward is longer than one without exchange for three reasons: the profiler follows it,
gradients are copied into buckets, and exchange takes from compute. Only the last goes away when
exchange does, so the others are taken out first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from stepviz.evidence.backward_passes import CapturedStep, Pass, beside_exchange
from stepviz.evidence.bucket_costs import SLOWEST
from stepviz.evidence.queued_buckets import Pace
from stepviz.evidence.records import option, rank_timings
from stepviz.traces import Run

_MS = 1e6


def paces_of(run: Run, steps: Sequence[CapturedStep], without: str = "") -> dict[int, Pace]:
    """Return how fast each rank works without profiler, by its own timed steps.

    Parameters
    ----------
    run, steps
        A capture, and its steps.
    without
        Rows of this name are taken not to have happened: a planted delay.
    """
    bare, alone = rank_timings(run, "forward_ns"), rank_timings(run, "forward_ns", "alone")
    backward = rank_timings(run, "backward_ns", "alone")
    passes = int(option(run, "accumulation", default=1))
    found = {}
    for rank in bare:
        mine = _passes(steps, rank)
        traced = float(np.median([one.forward for one in mine])) if mine else 0.0
        if traced <= 0:
            continue
        speed = bare[rank] / _MS / traced
        work = None
        if alone and backward and alone[rank] > 0:
            # The machine's speed may have changed between the blocks: forward says so.
            work = backward[rank] * bare[rank] / alone[rank] / passes / _MS
            if without and option(run, "slow_rank") == rank:
                planted = float(option(run, "slow_ms", default=0.0))
                work -= planted / passes if option(run, "slow_phase") == "backward" else 0.0
            # What does not exchange fills no bucket.
            work += speed * float(np.median([one.copies for one in mine]))
        found[rank] = Pace(speed, work)
    return found


def rate_beside(
    run: Run, steps: Sequence[CapturedStep], paces: Mapping[int, Pace]
) -> tuple[float | None, str]:
    """Return compute's speed beside exchange in a capture's own steps, and how it was told.

    Passes without exchange say what backward takes by itself. A rank that needed longer, with so
    much of it beside a transfer, did the rest of its work at full speed. None where no backward
    lies beside an exchange.
    """
    rates = []
    for rank, pace in paces.items():
        mine = [(step, one) for step in steps for one in step.passes if one.rank == rank]
        traced = float(np.median([one.compute_end - one.backward for _, one in mine]))
        beside = float(np.median([beside_exchange(step, one) for step, one in mine]))
        if pace.backward is None or beside <= 0 or traced <= 0:
            continue
        took = _untraced(run, rank, pace, traced, [one for _, one in mine])
        beside *= took / traced
        rates.append((pace.backward - (took - beside)) / beside)
    if not rates:
        return None, "no exchange runs beside backward, which says nothing about what it costs"
    rate = float(np.clip(np.mean(rates), SLOWEST, 1.0))
    return rate, f"passes without exchange: compute runs at {rate:.2f} beside it"


def _untraced(run: Run, rank: int, pace: Pace, traced: float, mine: Sequence[Pass]) -> float:
    """Return what a rank's backward takes up to its last gradient beside exchange, ms.

    As the hook saw it without profiler; else the traced one, less what the profiler made the whole
    of backward longer.
    """
    bare, hooked = rank_timings(run, "forward_ns"), rank_timings(run, "forward_ns", "hooked")
    if not hooked or hooked[rank] <= 0:
        return pace.speed * traced
    speed = bare[rank] / hooked[rank]
    filled = rank_timings(run, "filled_ns", "hooked")
    if filled:
        launches = float(np.median([one.launches for one in mine]))
        return max(speed * (filled[rank] / _MS - launches), 1e-9)
    longer = _longer(run, rank)
    return speed * max(traced - longer, 0.1 * traced)


def _longer(run: Run, rank: int) -> float:
    """Return how much longer backward takes with the profiler, ms."""
    hooked = rank_timings(run, "backward_ns", "hooked")
    profiled = rank_timings(run, "backward_ns", "profiled")
    if not hooked or not profiled:
        return 0.0
    return max(profiled[rank] - hooked[rank], 0.0) / _MS


def _passes(steps: Sequence[CapturedStep], rank: int) -> list[Pass]:
    return [one for step in steps for one in step.passes if one.rank == rank]
