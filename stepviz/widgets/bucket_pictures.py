"""What the bucket explorer shows of a sweep: curves, what is near the best, why it is a U."""

from __future__ import annotations

from typing import Any

import pandas as pd

from stepviz.builders.bucket_sweeps import last_bucket
from stepviz.throughput.figures import number_text


def sweep_picture(
    sweep: pd.DataFrame, cap: float, latency: float, backward: float, compute: float
) -> dict[str, Any]:
    """Return a sweep, with one cap of it chosen, as plain data for the page.

    Parameters
    ----------
    sweep : DataFrame
        As `bucket_sweep` returns it.
    cap : float
        One of its caps, MiB.
    latency : float
        ms of each collective, whatever its size.
    backward : float
        ms, without contention.
    compute : float
        Rate of compute beside exchange.
    """
    caps = [float(one) for one in sweep.index.tolist()]
    at, best_at = caps.index(cap), int(sweep["completion"].to_numpy().argmin())
    chosen, best = sweep.iloc[at], sweep.iloc[best_at]
    best_cap, over = caps[best_at], float(chosen["over_best"])
    than = f"{_ms(over)} more than the best" if over > 0 else "the best there is"
    headline = (
        f"{number_text(cap)} MiB: {_ms(chosen['completion'])} with {_buckets(chosen)}, {than}."
    )
    return {
        "caps": caps,
        "capTexts": [number_text(one) for one in caps],
        **{
            name: sweep[name].tolist()
            for name in ("completion", "queued", "last_transfer", "buckets", "near_best")
        },
        "texts": {
            name: [number_text(v, 4) for v in sweep[name]]
            for name in ("completion", "exposed", "queued", "last_transfer")
        },
        "chosen": at,
        "best": best_at,
        "headline": headline,
        "large": [
            _figure("completion", "Completion", chosen["completion"], f"at {number_text(cap)} MiB"),
            _figure("exposed", "Exposed tail", chosen["exposed"], "after backward ends"),
            _figure("queued", "waiting for the link", chosen["queued"], "behind other buckets"),
            _figure("last_transfer", "the last transfer", chosen["last_transfer"], _last(chosen)),
        ],
        "words": [
            *_two_costs(sweep, latency),
            _best(sweep, best_cap, best),
            *_contention(chosen, backward, compute),
        ],
        "spoken": headline,
    }


def unsplit_note(parameters: Any, cap: float, first_bucket_mb: float | None) -> str:
    """Say which tensor keeps the last bucket large; "" where none does."""
    held, largest = last_bucket(parameters, cap, first_bucket_mb)
    if largest.nbytes <= max(cap * 2**20, held / 2):
        return ""
    return (
        f"The last bucket holds {largest.name}, {_mib(largest.nbytes)}, which is never split: no "
        "cap makes it smaller."
    )


def _figure(name: str, label: str, value: Any, about: str) -> dict[str, Any]:
    return {"name": name, "label": label, "value": float(value), "text": _ms(value), "about": about}


def _two_costs(sweep: pd.DataFrame, latency: float) -> list[str]:
    small, large = sweep.iloc[0], sweep.iloc[-1]
    left = (
        f"Small caps cost latency: {_buckets(small)} of {_ms(latency)} each are "
        f"{_ms(small['overhead'])} of link time"
    )
    if small["queued"] > 0:
        left += f", so when backward ends the last one still queues {_ms(small['queued'])}."
    else:
        left += ", which backward hides here: the last one does not queue."
    right = (
        f"Large caps cost overlap: with {_buckets(large)}, {_ms(large['last_transfer'])} of "
        "transfer begin only when backward has ended."
    )
    return [left, right]


def _contention(chosen: pd.Series[Any], backward: float, compute: float) -> list[str]:
    if compute == 1:
        return []
    rate, ends = number_text(100 * compute), _ms(chosen["backward_end"])
    said = (
        f"Overlap has a price: beside exchange compute runs at {rate} % of its speed, and "
        f"backward, {_ms(backward)} of work, ends {ends} into the step."
    )
    return [said]


def _best(sweep: pd.DataFrame, cap: float, best: pd.Series[Any]) -> str:
    said = f"Best: {number_text(cap)} MiB, {_ms(best['completion'])} with {_buckets(best)}."
    return f"{said} Within 1 % of it: {_near(sweep)}."


def _near(sweep: pd.DataFrame) -> str:
    """Write the stretches of caps that are near the best."""
    near = sweep["near_best"].tolist()
    caps = sweep.index.tolist()
    stretches: list[list[float]] = []
    for k, cap in enumerate(caps):
        if near[k] and k and near[k - 1]:
            stretches[-1][1] = cap
        elif near[k]:
            stretches.append([cap, cap])
    said = [
        number_text(a) if a == b else f"{number_text(a)} to {number_text(b)}" for a, b in stretches
    ]
    return f"{', '.join(said)} MiB"


def _buckets(row: pd.Series[Any]) -> str:
    count = int(row["buckets"])
    return f"{count:,} bucket{'' if count == 1 else 's'}"


def _last(row: pd.Series[Any]) -> str:
    return f"of a bucket of {_mib(row['last_bytes'])}"


def _mib(nbytes: float) -> str:
    return f"{number_text(nbytes / 2**20)} MiB"


def _ms(value: float) -> str:
    return f"{number_text(float(value), 4)} ms"
