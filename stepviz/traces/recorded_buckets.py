"""Gradient buckets of a run: from stepviz's own record in the files, or else from their rows.

The record is read defensively: it is part of a file that anybody may have written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from stepviz.traces.rank_trace import RankTrace
from stepviz.traces.reading.words import whole

IntArray = npt.NDArray[np.int64]

COLUMNS: Final = (
    "step",
    "rank",
    "microbatch",
    "index",
    "bytes",
    "ready_ns",
    "launch_ns",
    "done_ns",
    "emulated",
    "origin",
    "parameters",
)
_TIMES: Final = ("ready_ns", "launch_ns", "done_ns")
#: An older form of the record calls them so.
_OLD: Final = {"bucket": "index", "ready": "ready_ns", "launched": "launch_ns", "done": "done_ns"}
_RECORDED, _ROWS = "recorded", "rows"
#: DDP's own row of each pass.
_FORWARD: Final = "DistributedDataParallel.forward"


def buckets_frame(ranks: Mapping[int, RankTrace]) -> pd.DataFrame:
    """Return the buckets of all ranks in order of step, rank and launch (see `Run.buckets`)."""
    parts = []
    for rank, trace in ranks.items():
        rows = _from_record(rank, trace)
        parts.append(_from_rows(rank, trace) if rows.empty else rows)
    found = [part for part in parts if len(part)]
    frame = pd.concat(found or parts[:1], ignore_index=True)
    return frame.sort_values(["step", "rank", "launch_ns"], kind="stable", ignore_index=True)


def _from_record(rank: int, trace: RankTrace) -> pd.DataFrame:
    record = trace.rows.recorded
    entries = record.get("buckets")
    names = _names(record)
    emulated = bool(record.get("emulated") or record.get("emulated_fabric"))
    numbers = _step_numbers(trace, record)
    rows = []
    for entry in entries if isinstance(entries, list) else []:
        if not isinstance(entry, dict):
            continue
        said = {_OLD.get(key, key): value for key, value in entry.items()}
        values = {key: _whole(said.get(key)) for key in ("step", "index", "bytes", *_TIMES)}
        values["step"] = numbers.get(values["step"], values["step"])
        if values["step"] < 0 or values["index"] < 0:
            continue
        members = said.get("parameters")
        members = members if isinstance(members, list) else []
        rows.append(
            {
                **values,
                "rank": rank,
                "microbatch": 0,
                "parameters": _named(members, names),
                "emulated": emulated,
                "origin": _RECORDED,
            }
        )
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    # A pass begins anew with the first bucket.
    again = frame.groupby("step")["index"].diff() <= 0
    frame["microbatch"] = again.groupby(frame["step"]).cumsum().astype("int64")
    # Stamps are of the rank's own clock; the run's may have been moved since.
    for clock in () if trace.origin is None else trace.origin.clocks:
        for column in _TIMES:
            there = frame[column].to_numpy(dtype=np.int64) >= 0
            times = frame[column].to_numpy(dtype=np.int64)
            frame[column] = np.where(there, clock.moved(times), times)
    return frame


def _named(members: list[Any], names: Mapping[Any, str]) -> tuple[str, ...] | None:
    known = [names[m] for m in members if isinstance(m, int) and m in names]
    return tuple(known) if known and len(known) == len(members) else None


def _names(record: Mapping[str, Any]) -> dict[Any, str]:
    """Return names of parameters by their place."""
    said = record.get("parameters")
    if isinstance(said, list) and all(isinstance(one, dict) for one in said):
        return {place: str(one.get("name", "")) for place, one in enumerate(said)}
    return {}


def _step_numbers(trace: RankTrace, record: Mapping[str, Any]) -> dict[int, int]:
    """Return what the profiler numbers the steps that an older record counts as it likes."""
    if "first_step" not in record:
        return {}
    said = record.get("buckets")
    entries = [entry for entry in (said if isinstance(said, list) else []) if "step" in entry]
    theirs = sorted({_whole(entry["step"]) for entry in entries})
    ours = sorted(window.step for window in trace.windows)
    return dict(zip(theirs, ours, strict=True)) if len(theirs) == len(ours) else {}


def _whole(value: Any) -> int:
    number = whole(value)
    return -1 if number is None or number < 0 else number


def _from_rows(rank: int, trace: RankTrace) -> pd.DataFrame:
    """Take a step's all-reduces that were launched from its backward for its buckets."""
    calls = trace.exchanges.frame()
    steps = {place: window.step for place, window in enumerate(trace.windows)}
    mine = calls["place"].isin(list(steps)) & calls["collective"].eq("all-reduce")
    mine &= calls["during"].eq("backward")
    calls = calls[mine]
    launched = calls["launched_ns"].to_numpy(dtype=np.int64)
    arrived = calls["arrival_ns"].to_numpy(dtype=np.int64)
    begun = np.where(launched >= 0, launched, arrived)
    frame = pd.DataFrame(
        {
            "step": calls["place"].map(steps).to_numpy(dtype=np.int64),
            "rank": rank,
            "microbatch": _microbatches(trace, calls["place"], begun),
            "index": 0,
            "bytes": calls["bytes"].to_numpy(dtype=np.int64),
            "parameters": None,
            "ready_ns": calls["ready_ns"].to_numpy(dtype=np.int64),
            "launch_ns": begun,
            "done_ns": calls["finish_ns"].to_numpy(dtype=np.int64),
            "emulated": calls["emulated"].to_numpy(dtype=bool),
            "origin": _ROWS,
        },
        columns=list(COLUMNS),
    )
    frame = frame.sort_values(["step", "launch_ns"], kind="stable", ignore_index=True)
    frame["index"] = frame.groupby(["step", "microbatch"]).cumcount()
    return frame


def _microbatches(trace: RankTrace, places: pd.Series, launched: IntArray) -> IntArray:
    """Return which of its step's exchanging passes launched each exchange, from 0.

    0 where DDP's rows do not say, or are not kept, as in a large run.
    """
    found = np.zeros(len(launched), dtype=np.int64)
    if not trace.in_memory:
        return found
    events = trace.events
    passes = events[events["name"].eq(_FORWARD).to_numpy()]
    of_pass, of_call = passes["place"].to_numpy(), places.to_numpy()
    for place in np.unique(of_call):
        begun = np.sort(passes["start_ns"].to_numpy(dtype=np.int64)[of_pass == place])
        mine = of_call == place
        after = np.searchsorted(begun, launched[mine], side="right")
        found[mine] = np.unique(after, return_inverse=True)[1]
    return found
