"""What a capture wrote into its own files, under the key ``stepviz``; nothing of it is required."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from stepviz.errors import CostError
from stepviz.throughput.token_counts import TokenCounts
from stepviz.traces import Run

IntArray = NDArray[np.int64]

#: Steps without hook and profiler, in the words of a record.
BARE: Final = "bare"
_SWEPT: Final = ("bytes", "start_ns", "done_ns")
_COUNTS: Final = ("allocated", "real", "executed", "scored", "sequences", "squared_lengths")


def records(run: Run) -> dict[int, dict[str, Any]]:
    """Return each rank's record, {} where its file has none."""
    return {rank: dict(part.rows.recorded) for rank, part in run._ranks.items()}


def option(run: Run, name: str, default: Any = None) -> Any:
    """Return an option of the capture, as the first rank's record says it."""
    for record in records(run).values():
        for key in ("options", "config"):
            found = record.get(key)
            if isinstance(found, Mapping) and name in found:
                return found[name]
    return default


def timings(run: Run, what: str = "step_ns", mode: str = BARE) -> list[IntArray]:
    """Return what steps took without profiler, ns: of every step the slowest rank's.

    A list with one array, or with one for each block where the record tells blocks apart; empty
    where the record has none, or ranks have different counts.
    """
    by_rank = []
    for record in records(run).values():
        rows = [
            row
            for row in _rows(record.get("timings"))
            if row.get("mode") == mode and isinstance(row.get(what), int)
        ]
        by_rank.append([(row.get("block", 0), row[what]) for row in rows])
    if not by_rank or not by_rank[0] or len({len(rows) for rows in by_rank}) > 1:
        return []
    slowest = np.max([[ns for _, ns in rows] for rows in by_rank], axis=0).astype(np.int64)
    blocks = np.array([block for block, _ in by_rank[0]])
    return [slowest[blocks == block] for block in dict.fromkeys(blocks.tolist())]


def rank_timings(run: Run, what: str, mode: str = BARE) -> dict[int, float]:
    """Return each rank's median of a part of its steps, ns; {} where one rank has none."""
    found: dict[int, float] = {}
    for rank, record in records(run).items():
        values = [
            row[what]
            for row in _rows(record.get("timings"))
            if row.get("mode") == mode and isinstance(row.get(what), int)
        ]
        if not values:
            return {}
        found[rank] = float(np.median(values))
    return found


def counts_of(run: Run) -> TokenCounts | None:
    """Return what an update of all ranks held, the mean over its recorded updates; None unknown."""
    parts = []
    for record in records(run).values():
        rows = _rows(record.get("tokens"))
        if not rows:
            return None
        found = {
            name: round(float(np.mean([row[name] for row in rows])))
            for name in _COUNTS
            if all(isinstance(row.get(name), int | float) for row in rows)
        }
        parts.append(TokenCounts(**found, scope="update"))  # type: ignore[arg-type]  # ints
    return TokenCounts.over_ranks(parts) if parts else None


def parameters_of(run: Run) -> pd.DataFrame:
    """Return the gradients in registration order: name, bytes, dtype.

    Raises
    ------
    CostError
        Where no record lists them.
    """
    for record in records(run).values():
        rows = _rows(record.get("parameters"))
        if rows:
            frame = pd.DataFrame(rows)
            return frame[[c for c in ("name", "bytes", "dtype") if c in frame.columns]]
        names, sizes = record.get("param_names"), record.get("param_bytes")
        if names and sizes and len(names) == len(sizes):
            return pd.DataFrame({"name": names, "bytes": sizes})
    msg = (
        f"{run.name} does not say which parameters it has, so no other bucket cap can be laid out: "
        "capture it with sv.capture or sv.Recorder, which write them down"
    )
    raise CostError(msg)


def ready_order(run: Run, rank: int) -> list[int]:
    """Return the places of parameters in the order in which their gradients were ready; [] unknown.

    As DDP logged it, else as its buckets hold them.
    """
    said = records(run)[rank].get("ddp")
    if not isinstance(said, Mapping):
        return []
    for name in ("ready_order", "prev_iteration_grad_ready_order_indices"):
        found = _numbers(said.get(name))
        if found:
            return found
    for name in ("assignment", "rebuilt_per_bucket_param_indices"):
        found = _numbers(said.get(name))
        if found:
            return found
    return []


def sweep_of(run: Run) -> pd.DataFrame:
    """Return the all-reduces that were timed before the steps: bytes, ms, ranks; maybe none.

    A call counts from the last rank's start to the last rank's end, so ranks are joined call by
    call.
    """
    by_rank = []
    for record in records(run).values():
        rows = _rows(record.get("sweep"))
        by_rank.append([r for r in rows if all(key in r for key in _SWEPT)])
    count = min((len(rows) for rows in by_rank), default=0)
    joined = []
    for k in range(count):
        calls = [rows[k] for rows in by_rank]
        took = max(c["done_ns"] for c in calls) - max(c["start_ns"] for c in calls)
        if len({c["bytes"] for c in calls}) == 1 and took > 0:
            joined.append((calls[0]["bytes"], took / 1e6, len(by_rank)))
    return pd.DataFrame(joined, columns=["bytes", "ms", "ranks"])


def emulated(run: Run) -> bool:
    """Say whether the run's network was an emulated one."""
    return any(
        bool(record.get("emulated") or record.get("emulated_fabric"))
        for record in records(run).values()
    )


def _rows(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, Mapping):
        return [dict(value)]
    if not isinstance(value, Sequence) or isinstance(value, str):
        return []
    return [dict(row) for row in value if isinstance(row, Mapping)]


def _numbers(value: Any) -> list[int]:
    """Return whole numbers of a list, a list of lists, or torch's text ("1, 2" or "1 2, 3 4")."""
    if isinstance(value, str):
        return [int(word) for word in value.replace(",", " ").split() if word.isdigit()]
    if not isinstance(value, Sequence):
        return []
    found: list[int] = []
    for item in value:
        found += _numbers(item) if isinstance(item, Sequence) else [int(item)]
    return found
