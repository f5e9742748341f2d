"""One step of all its ranks as a trace for the Perfetto UI, with what stepviz found as tracks.

On top the critical path: by kind, and on the rank that each of its pieces ran on. Then one
process a rank: its kinds and its exchanges, wait and transfer apart; below them its own threads
and streams as recorded.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

import numpy as np
import pandas as pd

from stepviz.errors import StepvizError, TraceError
from stepviz.files import target_of, whole_file
from stepviz.traces.rank_trace import RankStep
from stepviz.traces.step import Step
from stepviz.traces.tracks.findings import write_exchanges, write_kinds, write_path
from stepviz.traces.tracks.naming import PATH_PROCESS, STEP, process_of
from stepviz.traces.tracks.recorded import selected, write_rows
from stepviz.traces.tracks.writer import EventWriter, head

#: zlib's levels past this cost much time for little.
_LEVEL: Final = 5


def write_perfetto(step: Step, path: str | os.PathLike[str]) -> Path:
    """Write a step as a trace (see `Step.to_perfetto`)."""
    parts = step._ranks
    sources = [part.rows.path for part in parts.values()]
    target = target_of(path, sources=sources, error=TraceError, example="step.json.gz")
    low = min(part.window.start_ns for part in parts.values())
    high = max(part.window.finish_ns for part in parts.values())
    rows = {rank: selected(part, low, high) for rank, part in parts.items()}
    # No time may be negative, and rows may have begun before the step.
    origin = min([low, *(int(frame["start_ns"].min()) for frame in rows.values() if len(frame))])
    found, why_not = _critical_path(step)
    about = _about(step, low, high, why_not)
    with _written(target) as stream:
        writer = EventWriter(stream, origin)
        writer.process(PATH_PROCESS, f"step {step.number}", -1)
        _write_step(writer, step.number, low, high, about)
        if found is not None:
            write_path(writer, found)
        for order, (rank, part) in enumerate(parts.items()):
            writer.process(process_of(rank), f"rank {rank}", order)
            write_kinds(writer, rank, part.pieces)
        write_exchanges(writer, step._joined.exchanges, told=step.clash is None)
        for rank, part in parts.items():
            write_rows(writer, rank, part, rows.pop(rank))
        writer.close(_top_level(parts, origin, about))
    return target


def _write_step(
    writer: EventWriter, number: int, low: int, high: int, about: Mapping[str, Any]
) -> None:
    """Write the step's window as a slice whose arguments say what the trace is."""
    start, finish = np.array([low], dtype=np.int64), np.array([high], dtype=np.int64)
    told = [head(f"step {number}", STEP)], [json.dumps(about)[1:-1]], [()]
    writer.slices(PATH_PROCESS, "step", start, finish, lambda _: told)


def _critical_path(step: Step) -> tuple[pd.DataFrame | None, str]:
    """Return the path, or why there is none."""
    try:
        return step.critical_path, ""
    except StepvizError as error:
        return None, str(error)


def _about(step: Step, low: int, high: int, why_not: str) -> dict[str, Any]:
    """Return what a reader of the trace must know, also shown in the slice of the step."""
    clash = step.clash
    about: dict[str, Any] = {
        "stepviz": _version(),
        "step": step.number,
        "run": step._run_name,
        "window": step.window_rule,
        "completion_ns": step.completion_ns,
        "step_start_ns": low,
        "step_finish_ns": high,
        "clocks": "may agree" if clash is None else str(clash),
        "conventions": (
            "wait: from a rank's arrival at a collective to the last member's; transfer: from "
            "there to the rank's own end; the critical path partitions the step"
        ),
    }
    if why_not:
        about["critical path"] = why_not
    return about


def _version() -> str:
    try:
        return metadata.version("stepviz")
    except metadata.PackageNotFoundError:
        # Run from its sources.
        return "not installed"


def _top_level(
    parts: Mapping[int, RankStep], origin: int, about: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the trace's other keys: from when times count, and who the ranks were."""
    known = [_who(rank, part) for rank, part in parts.items()]
    return {
        "schemaVersion": 1,
        "baseTimeNanoseconds": origin,
        "distributedInfo": known[0] if len(known) == 1 else known,
        "stepvizStep": about,
    }


def _who(rank: int, part: RankStep) -> dict[str, Any]:
    rows = part.rows
    info = {"backend": rows.backend, "rank": rank, "world_size": rows.world_size}
    groups = [
        {"pg_name": name, "pg_desc": desc, "pg_size": len(ranks), "ranks": list(ranks)}
        for name, (desc, ranks) in rows.groups.items()
    ]
    known: dict[str, Any] = {key: value for key, value in info.items() if value is not None}
    return {**known, "pg_config": groups} if groups else known


@contextmanager
def _written(target: Path) -> Iterator[BinaryIO]:
    """Open a file that becomes `target` once it is whole, packed where its name says so."""
    try:
        with whole_file(target) as plain:
            if target.name.endswith(".gz"):
                # No time stamp: the same step gives the same bytes.
                with gzip.GzipFile("", "wb", _LEVEL, plain, mtime=0) as zipped:
                    yield cast("BinaryIO", zipped)
            else:
                yield plain
    except OSError as error:
        msg = f"{target} cannot be written: {error.strerror or error}"
        raise TraceError(msg) from error
