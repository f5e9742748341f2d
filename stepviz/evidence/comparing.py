"""Two measured sides beside each other: the table of a verdict, and the numbers it decides by."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from stepviz.evidence.intervals import Interval, centre, difference, t_quantile
from stepviz.evidence.measured import Measured, known_counts, same_operators
from stepviz.evidence.useful_work import Work
from stepviz.throughput.rates import NUMERATORS

Floats = NDArray[np.float64]

#: With fewer step times than this on a side, no stretches of them are drawn again.
FEW: Final = 8
_COLUMNS: Final = ("before", "after", "change", "ratio", "low", "high", "unit")
#: Kinds of the breakdown worth a row of their own, where they take any time.
_KINDS: Final = ("input", "forward", "backward", "recompute", "optimizer", "checkpoint", "host")


@dataclass(frozen=True, eq=False)
class Side:
    """What a side's runs say together."""

    count: int
    bare: bool
    odd: list[int]


@dataclass(frozen=True, eq=False)
class Comparison:
    """Both sides, and what changed.

    `times` are the step times of each side's runs, ms, in the order they were taken.
    `interval` is of the time for the same useful work; `tail` is by how much exposed exchange
    changed, ms, and `tail_told` whether that is more than noise; `drift` is how the reference
    operators changed, None where there is no such reference; `apart` says that no step of one
    side is as short as one of the other.
    """

    firsts: Sequence[Measured]
    seconds: Sequence[Measured]
    before: Side
    after: Side
    times: Sequence[Sequence[Floats]]
    interval: Interval
    table: pd.DataFrame
    mean_ratio: float
    tail: float
    tail_told: bool
    drift: float | None
    apart: bool


def compared(firsts: Sequence[Measured], seconds: Sequence[Measured], work: Work) -> Comparison:
    """Compare the runs of two sides.

    Where one side has no step times without profiler, the traced ones of both are taken.
    """
    bare = all(one.bare for one in (*firsts, *seconds))
    times = [[_times(one, bare=bare) for one in side] for side in (firsts, seconds)]
    raw = _interval(firsts, seconds, times)
    scaled = Interval(
        raw.ratio * work.factor, raw.low * work.factor, raw.high * work.factor, raw.level, raw.how
    )
    pooled = [np.concatenate(side) for side in times]
    means = [float(side.mean()) for side in pooled]
    rows: dict[str, dict[str, Any]] = {}
    typical = [math.exp(float(np.mean([centre(np.log(run)) for run in s]))) for s in times]
    rows["step time"] = _row(typical, "ms", raw)
    rows["mean step"] = _row(means, "ms")
    traced = [pd.concat([one.traced for one in side]) for side in (firsts, seconds)]
    rows["slowest rank's update, traced"] = _medians(traced, "update")
    rows["exposed exchange"] = _medians(traced, "exposed")
    rows["exposed exchange, least exposed rank"] = _medians(traced, "exposed_least")
    for kind in _KINDS:
        if max(_number(frame[kind].median()) for frame in traced) > 0:
            rows[f"{kind}, uncovered time" if kind == "host" else kind] = _medians(traced, kind)
    drift = None
    for label, kinds in (("forward", ("forward",)), ("backward", ("backward", "recompute"))):
        found = same_operators(firsts[0], seconds[0], kinds)
        if found:
            rows[f"same {label} operators"] = _row((found["before"], found["after"]), "ms")
    rows |= _rates(firsts, seconds, typical, work, scaled)
    table = pd.DataFrame.from_dict(rows, orient="index", columns=list(_COLUMNS))
    drift = _drift(firsts, seconds, table, bare=bare)
    exposed = [frame["exposed"].to_numpy(dtype=np.float64) for frame in traced]
    low, high = float(pooled[0].min()), float(pooled[0].max())
    odd = [[] if bare else [n for one in side for n in one.odd] for side in (firsts, seconds)]
    return Comparison(
        firsts=firsts,
        seconds=seconds,
        before=Side(len(pooled[0]), bare, odd[0]),
        after=Side(len(pooled[1]), bare, odd[1]),
        times=times,
        interval=scaled,
        table=table.rename_axis("measure"),
        mean_ratio=means[1] / means[0] * work.factor,
        tail=float(np.median(exposed[1]) - np.median(exposed[0])),
        tail_told=_apart(*exposed),
        drift=drift,
        apart=bool(pooled[1].min() * work.factor > high or pooled[1].max() * work.factor < low),
    )


def _times(one: Measured, *, bare: bool) -> Floats:
    if bare or not one.bare:
        return one.all_steps
    return one.traced["update"].to_numpy(dtype=np.float64)


def _interval(
    firsts: Sequence[Measured], seconds: Sequence[Measured], times: Sequence[Sequence[Floats]]
) -> Interval:
    single = min(len(firsts), len(seconds)) == 1
    if single and min(sum(map(len, side)) for side in times) < FEW:
        return _welch(*(np.log(np.concatenate(side)) for side in times))
    began = [(one.began_ns, 0) for one in firsts] + [(one.began_ns, 1) for one in seconds]
    order = [side for _, side in sorted(began)]
    turns = len(firsts) == len(seconds) and all(
        {order[k], order[k + 1]} == {0, 1} for k in range(0, len(order) - 1, 2)
    )
    in_order = [
        [
            run
            for _, run in sorted(
                zip([o.began_ns for o in side], runs, strict=True), key=lambda p: p[0]
            )
        ]
        for side, runs in zip((firsts, seconds), times, strict=True)
    ]
    return difference(in_order[0], in_order[1], paired=turns)


def _welch(before: Floats, after: Floats) -> Interval:
    """Return an interval at 99 % for few steps, taken to be lognormal and independent."""
    middle = float(after.mean() - before.mean())
    how = f"Welch's t at 99 % on the logarithms of {len(before)} and {len(after)} steps"
    if min(len(before), len(after)) < 2:
        return Interval(math.exp(middle), 0.0, math.inf, 0.99, how)
    parts = [float(side.var(ddof=1)) / len(side) for side in (before, after)]
    spread = sum(parts)
    freedom = sum(p**2 / (len(s) - 1) for p, s in zip(parts, (before, after), strict=True))
    half = t_quantile(spread**2 / freedom, 0.99) * math.sqrt(spread) if freedom > 0 else 0.0
    return Interval(math.exp(middle), math.exp(middle - half), math.exp(middle + half), 0.99, how)


def _row(pair: Sequence[float], unit: str, interval: Interval | None = None) -> dict[str, Any]:
    before, after = pair
    return {
        "before": before,
        "after": after,
        "change": after - before,
        "ratio": after / before if before else math.nan,
        "low": math.nan if interval is None else interval.low,
        "high": math.nan if interval is None else interval.high,
        "unit": unit,
    }


def _number(value: Any) -> float:
    """Return a cell of a frame as the number it is."""
    return float(value)


def _medians(traced: Sequence[pd.DataFrame], column: str) -> dict[str, Any]:
    return _row([_number(frame[column].median()) for frame in traced], "ms")


def _rates(
    firsts: Sequence[Measured],
    seconds: Sequence[Measured],
    typical: Sequence[float],
    work: Work,
    interval: Interval,
) -> dict[str, dict[str, Any]]:
    """Return useful work per second: by the named convention first, then by all known ones."""
    known = [known_counts(side[0].counts) for side in (firsts, seconds)]
    held = {name: (known[0][name], known[1][name]) for name in known[0] if name in known[1]}
    held["updates"] = (1, 1)
    held[work.convention] = (work.before, work.after)  # type: ignore[assignment]  # may be floats
    inverse = Interval(
        1 / interval.ratio,
        1 / interval.high if interval.high else math.inf,
        1 / interval.low if interval.low else math.inf,
        interval.level,
        interval.how,
    )
    rows = {}
    for name in (work.convention, *(n for n in held if n != work.convention)):
        rate = [count * 1e3 / ms for count, ms in zip(held[name], typical, strict=True)]
        label = (
            f"useful work per second ({name})" if name == work.convention else f"{name} per second"
        )
        rows[label] = _row(rate, NUMERATORS[name][0], inverse if name == work.convention else None)
    return rows


def _drift(
    firsts: Sequence[Measured], seconds: Sequence[Measured], table: pd.DataFrame, *, bare: bool
) -> float | None:
    """Return how the machine's speed changed, by work that the change does not touch.

    Only where work runs on CPUs, whose speed others share, and no exchange is beside forward.
    """
    every = (*firsts, *seconds)
    if any(one.device or not one.forward_alone for one in every):
        return None
    if "same forward operators" not in table.index:
        return None
    if bare and all(one.forward for one in every):
        centres = [
            np.mean([centre(np.log(np.concatenate(one.forward))) for one in side])
            for side in (firsts, seconds)
        ]
        timed = float(centres[1] - centres[0])
        # A sleep in forward is no slower machine: the operators must show it as well.
        traced = math.log(_number(table.loc["same forward operators", "ratio"]))
        return math.exp(timed if abs(timed) < abs(traced) or timed * traced < 0 else traced)
    return _number(table.loc["same forward operators", "ratio"])


def _apart(before: Floats, after: Floats) -> bool:
    """Say whether a measure of few traced steps changed beyond noise.

    With several steps a side none of one side may be among the other's middle half; a lone step
    tells nothing.
    """
    if min(len(before), len(after)) < 2:
        return False
    low, high = np.quantile(before, [0.25, 0.75]), np.quantile(after, [0.25, 0.75])
    spread = (low[1] - low[0]) + (high[1] - high[0])
    moved = abs(float(np.median(after) - np.median(before)))
    return bool(moved > spread)
