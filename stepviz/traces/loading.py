"""Loading a run: every file of a source read, refused or mended, and joined by rank."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pandas as pd

from stepviz.errors import TraceError
from stepviz.traces.rank_trace import RankTrace
from stepviz.traces.reading.files import (
    Source,
    nothing_read,
    refuse_second,
    rows_of_file,
    told,
    trace_paths,
)
from stepviz.traces.runs import READ, REFUSED, Run


class TraceWarning(UserWarning):
    """A file, or a part of one, was left out; the message names it and says why."""


def load_run(source: Source, *, align: bool = True) -> Run:
    """Read the PyTorch profiler traces of one capture, one file per rank.

    Parameters
    ----------
    source : path, or iterable of paths
        A folder (its ``.json`` and ``.json.gz`` files are read), one file, or several files.
    align : bool
        Put ranks on one clock, as far as the ends of their collectives tell (see `Run.clock`).

    Returns
    -------
    Run

    Raises
    ------
    TraceError
        Where nothing can be read: no such folder, no traces in it, or every file refused. A
        file that is refused beside others that are read gives a `TraceWarning` and a row in
        `run.files`.

    Examples
    --------
    >>> import stepviz as sv
    >>> run = sv.load_run("traces/")  # doctest: +SKIP
    >>> run.step().timeline().completion  # doctest: +SKIP
    148.302
    """
    paths, name = trace_paths(source)
    ranks: dict[int, RankTrace] = {}
    taken: dict[int, Path] = {}
    records: list[dict[str, Any]] = []
    for path in paths:
        record: dict[str, Any] = {
            "file": str(path),
            "rank": pd.NA,
            "rank_source": "",
            "events": 0,
            "status": READ,
            "why": "",
        }
        records.append(record)
        try:
            rows = rows_of_file(path, ranks_free=len(paths) == 1)
            record.update(rank=rows.rank, rank_source=rows.rank_source, events=len(rows.events))
            if rows.rank in ranks:
                refuse_second(path, rows.rank, taken[rows.rank])
            with told(path):
                ranks[rows.rank] = RankTrace.of(rows)
            taken[rows.rank] = path
            record["why"] = "; ".join(rows.repairs)
        except TraceError as error:
            record.update(status=REFUSED, why=str(error))
    files = pd.DataFrame(records).astype({"rank": "Int64"})
    refused = files[files["status"] == REFUSED]
    if not ranks:
        raise TraceError(nothing_read(name, list(refused["why"])))
    for message in [*refused["why"], *_repairs_said(files)]:
        warnings.warn(message, TraceWarning, stacklevel=2)
    return Run(ranks, files, name, align=align)


def _repairs_said(files: pd.DataFrame) -> list[str]:
    read = files[(files["status"] == READ) & (files["why"] != "")]
    return [f"{file}: {why}" for file, why in zip(read["file"], read["why"], strict=True)]
