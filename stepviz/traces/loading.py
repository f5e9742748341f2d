"""Loading a run: every file of a source read, refused or mended, and joined by rank."""

from __future__ import annotations

import warnings
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from stepviz.errors import TraceError
from stepviz.traces.classifying.added_patterns import Pattern, patterns_in_force
from stepviz.traces.rank_trace import RankTrace
from stepviz.traces.reading.files import (
    nothing_read,
    refused_second,
    rows_of_file,
    told,
    without_rank,
)
from stepviz.traces.reading.ranks import BY_NUMBER, ranks_by_number
from stepviz.traces.reading.sources import Source, TraceFile, trace_files
from stepviz.traces.reading.workers import Failure, spread, unpacked_size
from stepviz.traces.runs import FILE, READ, REFUSED, Run

#: So many rows of events stay in memory, about 90 bytes each; those of further ranks are read
#: again when a step needs them.
MOST_ROWS_KEPT: Final = 20_000_000


class TraceWarning(UserWarning):
    """A file, or a part of one, was left out; the message names it and says why."""


@dataclass
class _Outcome:
    """One document of a file: its ranks, or why it was refused."""

    label: str
    traces: list[RankTrace] = field(default_factory=list)
    why: str = ""


def load_run(source: Source, *, executor: Executor | None = None, align: bool = True) -> Run:
    """Read the PyTorch profiler traces of one capture, one file per rank.

    A file that is damaged or cut off costs what cannot be decoded of it, not the run:
    `Run.files` says for each file what was read, dropped and repaired.

    Parameters
    ----------
    source : path, URL, pattern, or iterable of them
        A folder, a file, a pattern such as ``"traces/*.json.gz"``, or several of them; also
        behind any URL that fsspec knows, such as ``"s3://bucket/run/"``. Files are
        ``.json``, packed with gzip, bzip2 or xz or not, or zip and tar archives of such files,
        which are read where they lie; what they are is told by content, not by name.
    executor : concurrent.futures.Executor, optional
        Runs one task per file: a thread or process pool, or a cluster's, such as Dask's
        ``Client.get_executor()``. By default small runs are read in this process and large ones
        in processes of their own.
    align : bool
        Put the ranks on one clock where the ends of their collectives tell how (see
        `Run.clock`).

    Returns
    -------
    Run

    Raises
    ------
    TraceError
        Where nothing can be read: no such folder, no traces in it, or every file refused. A
        file that is refused or mended beside others gives a `TraceWarning` and its row in
        `Run.files` says why.

    Notes
    -----
    One file is in memory at a time, in blocks. What a packed file or archive unpacks to is
    limited to 32 GiB, and to 250 times its size beyond 64 MiB; the environment variable
    ``STEPVIZ_LARGEST_TRACE_GB`` sets another limit.

    Examples
    --------
    >>> import stepviz as sv
    >>> run = sv.load_run("traces/")  # doctest: +SKIP
    >>> run.step().timeline().completion  # doctest: +SKIP
    148.302
    """
    if executor is not None and not callable(getattr(executor, "submit", None)):
        msg = (
            f"executor is something with a method submit, such as a ProcessPoolExecutor, not "
            f"{executor!r}"
        )
        raise TraceError(msg)
    files, name = trace_files(source)
    notes: list[str] = []
    outcomes = _outcomes(files, executor, notes)
    ranks: dict[int, RankTrace] = {}
    taken: dict[int, str] = {}
    records: list[dict[str, Any]] = []
    _number(outcomes)
    alone = sum(max(1, len(outcome.traces)) for outcome in outcomes) == 1
    for outcome in outcomes:
        if outcome.why:
            records.append(_record(outcome.label, status=REFUSED, why=outcome.why))
        records += [
            _placed(trace, outcome.label, ranks, taken, alone=alone) for trace in outcome.traces
        ]
    refused = [record["why"] for record in records if record["status"] == REFUSED]
    if not ranks:
        raise TraceError(nothing_read(name, refused))
    for message in [*notes, *refused, *_repairs_said(records)]:
        warnings.warn(message, TraceWarning, stacklevel=2)
    return Run(ranks, records, name, align=align)


def _outcomes(
    files: list[TraceFile], executor: Executor | None, notes: list[str]
) -> list[_Outcome]:
    """Return what became of every document, in the order of the files."""
    here = [at for at, file in enumerate(files) if file.only_here]
    away = [at for at, file in enumerate(files) if not file.only_here]
    sizes = [unpacked_size(files[at].label, files[at].size) for at in away]
    if executor is None and here:
        here, away, sizes = list(range(len(files))), [], []
    task = partial(read_file, added=patterns_in_force())
    found: dict[int, list[_Outcome]] = {}
    rows = 0
    for places, runner, bytes_each in ((away, executor, sizes), (here, None, [])):
        chosen = [files[at] for at in places]
        for at, result in spread(task, chosen, runner, bytes_each, notes):
            file = chosen[at]
            if isinstance(result, Failure):
                why = f"{file.label} could not be read ({result}); leave it out, or report it"
                found[places[at]] = [_Outcome(file.label, why=why)]
                continue
            for outcome in result:
                for place, trace in enumerate(outcome.traces):
                    rows += trace.count
                    if rows > MOST_ROWS_KEPT:
                        outcome.traces[place] = trace.without_events()
            found[places[at]] = result
    return [outcome for at in sorted(found) for outcome in found[at]]


def read_file(file: TraceFile, added: tuple[Pattern, ...]) -> list[_Outcome]:
    """Read and classify one file; the task that executors run.

    Parameters
    ----------
    file
        What to read.
    added
        Users' patterns, which a worker process would not know.
    """
    outcomes = []
    for label, found in rows_of_file(file):
        outcome = _Outcome(label)
        outcomes.append(outcome)
        if isinstance(found, TraceError):
            outcome.why = str(found)
            continue
        try:
            with told(label):
                outcome.traces = [RankTrace.of(rows, added, file) for rows in found]
        except TraceError as error:
            outcome.why = str(error)
    return outcomes


def _number(outcomes: list[_Outcome]) -> None:
    """Tell ranks by the numbers in the names of their files, where nothing else says any."""
    read = [outcome for outcome in outcomes if outcome.traces]
    if any(trace.rows.rank >= 0 for outcome in read for trace in outcome.traces):
        return
    ranks = ranks_by_number([outcome.label for outcome in read])
    for outcome in read if ranks else ():
        rank = ranks[outcome.label]
        outcome.traces = [trace.of_rank(rank, BY_NUMBER) for trace in outcome.traces]


def _placed(
    trace: RankTrace,
    label: str,
    ranks: dict[int, RankTrace],
    taken: dict[int, str],
    *,
    alone: bool,
) -> dict[str, Any]:
    """Give a trace its rank in the run, and return its row of `run.files`."""
    rank = trace.rows.rank
    if rank < 0 and alone:
        rank = 0
        trace = trace.of_rank(rank, "assumed, the only file")
    if rank < 0:
        return _record(label, status=REFUSED, why=without_rank(label))
    repairs = trace.rows.repairs
    record = _record(
        label,
        rank=rank,
        rank_source=trace.rows.rank_source,
        events=trace.count,
        dropped=repairs.dropped,
        repaired=repairs.repaired,
        in_memory=trace.in_memory,
        why="; ".join(repairs),
    )
    if rank in ranks:
        record.update(status=REFUSED, why=refused_second(label, rank, taken[rank]))
        return record
    ranks[rank] = trace
    taken[rank] = label
    return record


def _record(label: str, **values: Any) -> dict[str, Any]:
    return {**FILE, "file": label, **values}


def _repairs_said(records: list[dict[str, Any]]) -> list[str]:
    return [
        f"{record['file']}: {record['why']}"
        for record in records
        if record["status"] == READ and record["why"]
    ]
