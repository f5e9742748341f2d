"""Changes predicted from one capture and then made for real: the table of docs/predictions.md.

    python -m tests.benchmarks.predictions
    python -m tools.undisturbed python -m tests.benchmarks.predictions

Every row is made here and now, in turns with what it is a change of (`sv.experiment`), so it is a
table of this machine at this hour. The second form, for root on Linux, puts it ahead of whatever
else the machine does.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any, Final

import pandas as pd

import stepviz as sv

#: Two ranks of a small model; a gradient of 2.9 MB in all.
MODEL: Final[dict[str, Any]] = {
    "ranks": 2,
    "layers": 3,
    "width": 128,
    "vocabulary": 1024,
    "sequence": 128,
    "steps": 3,
    "bucket_cap_mb": 0.5,
}
MIDDLE: Final = {"latency_ms": 2.5, "ms_per_mib": 4.0}

#: By what carries the exchanges: options of the capture, and changes of it.
SETS: Final[dict[str, tuple[dict[str, Any], dict[str, dict[str, Any]]]]] = {
    "8 ms + 3 ms/MiB": (
        {"latency_ms": 8.0, "ms_per_mib": 3.0, "bucket_cap_mb": 0.25},
        {f"cap 0.25 → {cap}": {"bucket_cap_mb": cap} for cap in (1, 2, 25)},
    ),
    "0.5 ms + 15 ms/MiB": (
        {"latency_ms": 0.5, "ms_per_mib": 15.0},
        {f"cap 0.5 → {cap}": {"bucket_cap_mb": cap} for cap in (0.25, 1, 4, 25)},
    ),
    "no fabric": (
        {"latency_ms": 0.0, "ms_per_mib": 0.0, "bucket_cap_mb": 0.25},
        {f"cap 0.25 → {cap}": {"bucket_cap_mb": cap} for cap in (1, 25)},
    ),
    "2.5 ms + 4 ms/MiB": (
        {**MIDDLE, "input_delay_ms": 60.0},
        {
            "no input delay": {"input_delay_ms": 0.0},
            "fused optimizer": {"fused": True},
            "two microbatches": {"accumulation": 2},
        },
    ),
    "the same, slow rank": (
        {**MIDDLE, "slow_rank": 1, "slow_ms": 25.0},
        {
            "no slow rank": {"slow_rank": None, "slow_ms": 0.0},
            "slow rank, cap 0.5 → 2": {"bucket_cap_mb": 2},
        },
    ),
}
_SHOWN: Final = ("predicted_ms", "low_ms", "high_ms", "measured_ms", "error", "inside", "base_ms",
                 "noise_ms", "verdict")  # fmt: skip


def main() -> None:
    """Make every change, and print the table and what it comes to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--block", type=int, default=4)
    options = parser.parse_args()
    begin, found = time.monotonic(), []
    for name, (other, changes) in SETS.items():
        frame = sv.experiment(
            changes, rounds=options.rounds, block=options.block, progress=False, **(MODEL | other)
        )
        found.append(frame.assign(fabric=name))
        say(f"\n{name}\n{frame[list(_SHOWN)].round(3).to_string()}")
    table = pd.concat(found)
    told = table[table["verdict"] != "can't tell"]
    say(
        f"\n{len(table)} changes, {len(told)} of them decidable; median error of those "
        f"{100 * told['error'].abs().median():.1f} %; {int(table['inside'].sum())} of "
        f"{len(table)} inside their intervals; {time.monotonic() - begin:.0f} s"
    )


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
