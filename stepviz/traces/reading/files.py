"""One file to the rows of its ranks, or one clear error that names it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike, fspath
from typing import Any

from stepviz.errors import TraceError
from stepviz.traces.reading.archives import documents
from stepviz.traces.reading.columns import Columns
from stepviz.traces.reading.decoding import Document
from stepviz.traces.reading.repairs import Repairs
from stepviz.traces.reading.rows import RankRows, rows_of
from stepviz.traces.reading.sources import TraceFile


def rows_of_file(file: TraceFile) -> Iterator[tuple[str, list[RankRows] | TraceError]]:
    """Read a file: for each document in it, its label and the rows of its ranks or one error.

    Only one document is in memory at a time, in columns. A rank that nothing says is −1.
    """
    try:
        for label, stream in documents(file):
            try:
                yield label, rows_of_stream(stream, label)
            except TraceError as error:
                yield label, error
    except TraceError as error:
        yield file.label, error


def rows_in(path: str | PathLike[str]) -> RankRows:
    """Read a file that holds one rank.

    Raises
    ------
    TraceError
        Where it cannot be read, or holds several.
    """
    found = list(rows_of_file(TraceFile(fspath(path))))
    for _, rows in found:
        if isinstance(rows, TraceError):
            raise rows
        if len(found) == len(rows) == 1:
            return rows[0]
    msg = f"{path} holds the traces of several ranks; use load_run"
    raise TraceError(msg)


def rows_of_stream(stream: Any, label: str) -> list[RankRows]:
    """Read one document from its bytes.

    Raises
    ------
    TraceError
        Naming the document, what is wrong and what to do.
    """
    with told(label):
        repairs = Repairs()
        document = Document(stream, label, repairs)
        columns = Columns()
        for events in document.blocks():
            columns.add(events)
        if not document.count:
            why = "; ".join(repairs) or "traceEvents is empty"
            msg = f"{label} holds no events ({why}); record it again, or leave it out"
            raise TraceError(msg)
        return rows_of(columns, document.metadata, label, repairs)


@contextmanager
def told(label: str) -> Iterator[None]:
    """Turn what no check foresaw into one clear error that names the file."""
    try:
        yield
    except TraceError:
        raise
    except MemoryError as error:
        msg = f"{label} does not fit into memory; read it on a larger machine, or a part of it"
        raise TraceError(msg) from error
    except (ValueError, TypeError, KeyError, IndexError, OverflowError, AttributeError) as error:
        msg = (
            f"{label} is not built like a profiler trace ({type(error).__name__}: {error}); "
            "leave it out, and report it with the file if the profiler wrote it"
        )
        raise TraceError(msg) from error
    except (OSError, EOFError, RecursionError) as error:
        msg = f"{label} cannot be read ({type(error).__name__}: {error}); copy it again"
        raise TraceError(msg) from error


def refused_second(label: str, rank: int, first: str) -> str:
    """Say why a second file of one rank is left out."""
    return (
        f"{label} says it is rank {rank}, and so does {first}: the first is used and this one "
        "left out; pass a list with the files of one capture to choose yourself"
    )


def without_rank(label: str) -> str:
    """Say why a file of no known rank is left out."""
    return (
        f"{label} does not say its rank, neither in distributedInfo nor in its name nor by its "
        "process groups; rename it to rank0.json, rank1.json, …"
    )


def nothing_read(name: str, reasons: list[str]) -> str:
    """Say why a run has no rank at all."""
    if len(reasons) == 1:
        return reasons[0]
    shown = "; ".join(reasons[:3])
    more = f"; and {len(reasons) - 3} more" if len(reasons) > 3 else ""
    return f"{name}: none of {len(reasons)} files could be read: {shown}{more}"
