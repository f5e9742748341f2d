"""Files read at the same time, in processes of our own or by whatever executor is handed in.

A process pool of the standard library either copies a process with all its locks, which hangs
where threads run (Jupyter, torch), or imports the main script anew, which runs it twice where
it has no guard. loky does neither.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, as_completed
from typing import Final, Self, TypeVar

from stepviz.errors import TraceError

T = TypeVar("T")
R = TypeVar("R")

#: Bytes of JSON that processes must save this one to be worth them: about 80 MB are read in a
#: second, and processes take one or more to start, and 70 MB each.
_WORTH_PROCESSES: Final = 150 * 10**6
#: gzip makes a trace about this much smaller.
_PACKED: Final = 15
#: Workers that idle this long, in seconds, end.
_IDLE: Final = 60
#: Progress is shown once reading takes this long, in seconds.
_PATIENCE: Final = 1.0


class Failure(Exception):  # noqa: N818  # it carries what went wrong elsewhere, and is never raised
    """What a task raised where it ran, kept as its result."""


def spread(
    task: Callable[[T], R],
    items: Sequence[T],
    executor: Executor | None,
    sizes: Sequence[int],
    notes: list[str],
) -> Iterator[tuple[int, R | Failure]]:
    """Return the place and result of each item, in any order.

    Parameters
    ----------
    task
        Can be pickled. What it raises becomes a `Failure`.
    items
        What to hand to it.
    executor
        What runs it; by default this process, or processes of our own where that is worth it.
    sizes
        Bytes of JSON in each item, as far as can be told.
    notes
        Gets a sentence where processes could not be had.
    """
    with _Progress(len(items)) as progress:
        own = executor is None
        if own and _worth_processes(sizes):
            executor = _pool(len(items), notes)
        if executor is None:
            results = _one_by_one(task, range(len(items)), items)
        else:
            results = _at_once(task, items, executor, own=own, notes=notes)
        for result in results:
            progress.one_more()
            yield result


def unpacked_size(label: str, size: int) -> int:
    """Return about how much JSON a file of some size holds."""
    return size if label.lower().endswith((".json", ".tar")) else size * _PACKED


def _worth_processes(sizes: Sequence[int]) -> bool:
    # The largest file is read in one piece, however many processes there are.
    if len(sizes) < 2 or sum(sizes) - max(sizes) < _WORTH_PROCESSES:
        return False
    count = min(len(sizes), os.cpu_count() or 1)
    return sum(sizes) * (1 - 1 / count) >= _WORTH_PROCESSES


def _pool(count: int, notes: list[str]) -> Executor | None:
    try:
        from loky import cpu_count, get_reusable_executor

        workers = min(count, cpu_count())
        if workers < 2:
            return None
        pool: Executor = get_reusable_executor(max_workers=workers, timeout=_IDLE)
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        notes.append(_alone(error))
        return None
    return pool


def _alone(error: BaseException) -> str:
    return (
        f"worker processes cannot be had here ({type(error).__name__}: {error}), so the files were "
        "read one after the other"
    )


def _one_by_one(
    task: Callable[[T], R], places: Sequence[int] | range, items: Sequence[T]
) -> Iterator[tuple[int, R | Failure]]:
    for place in places:
        result: R | Failure
        try:
            result = task(items[place])
        except Exception as error:  # noqa: BLE001  # one file's fault is not the run's
            result = _failure(error)
        yield place, result


def _at_once(
    task: Callable[[T], R],
    items: Sequence[T],
    executor: Executor,
    *,
    own: bool,
    notes: list[str],
) -> Iterator[tuple[int, R | Failure]]:
    places: dict[Future[R], int] = {}
    lost: list[int] = []
    try:
        for place, item in enumerate(items):
            try:
                places[executor.submit(task, item)] = place
            except (BrokenExecutor, OSError, RuntimeError) as error:
                if not own:
                    msg = (
                        f"the executor takes no work ({type(error).__name__}: {error}); pass one "
                        "that runs, or none"
                    )
                    raise TraceError(msg) from error
                notes.append(_alone(error))
                lost = list(range(place, len(items)))
                break
        for future in as_completed(list(places)):
            place = places.pop(future)
            try:
                yield place, future.result()
            except BrokenExecutor as error:
                if own:
                    lost.append(place)
                else:
                    yield place, _failure(error)
            except (Exception, CancelledError) as error:  # noqa: BLE001  # as above
                yield place, _failure(error)
    except BaseException:
        # Stopped by hand, or by who takes the results: nobody waits for the rest.
        for future in places:
            future.cancel()
        if own and places:
            executor.shutdown(wait=False, kill_workers=True)  # type: ignore[call-arg]  # loky's
        raise
    yield from _again(task, sorted(lost), items, notes)


def _again(
    task: Callable[[T], R], lost: list[int], items: Sequence[T], notes: list[str]
) -> Iterator[tuple[int, R | Failure]]:
    """Run what a dying worker took with it, one item at a time, each in a new process."""
    if notes:
        yield from _one_by_one(task, lost, items)
        return
    for place in lost:
        pool = _pool(2, notes)
        if pool is None:
            yield from _one_by_one(task, [place], items)
            continue
        try:
            yield place, pool.submit(task, items[place]).result()
        except BrokenExecutor:
            reason = "the process that read it died, most likely for lack of memory"
            yield place, Failure(reason)
        except Exception as error:  # noqa: BLE001  # as above
            yield place, _failure(error)


def _failure(error: BaseException) -> Failure:
    return Failure(f"{type(error).__name__}: {error}")


class _Progress:
    """Says how many files are read, where somebody watches and it takes long."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._done = 0
        self._began = time.monotonic()
        self._shown = ""
        # A notebook's output is no terminal but rewrites a line as well.
        watched = sys.stderr is not None and sys.stderr.isatty()
        self._stream = sys.stderr if watched else None
        if not watched and "ipykernel" in sys.modules:
            self._stream = sys.stdout

    def __enter__(self) -> Self:
        return self

    def one_more(self) -> None:
        """Count one file."""
        self._done += 1
        late = time.monotonic() - self._began > _PATIENCE
        if late and self._done < self._count:
            self._write(f"read {self._done} of {self._count} files")

    def __exit__(self, *_: object) -> None:
        if self._shown:
            self._write("")

    def _write(self, text: str) -> None:
        if self._stream is None:
            return
        with contextlib.suppress(OSError, ValueError):
            self._stream.write("\r" + text.ljust(len(self._shown)) + ("" if text else "\r"))
            self._stream.flush()
            self._shown = text
