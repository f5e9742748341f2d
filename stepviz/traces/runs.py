"""A run: the traces of all ranks of one capture, its steps, and what each step shows."""

from __future__ import annotations

import html
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, Final

import pandas as pd

from stepviz.errors import TraceError, near
from stepviz.traces.exchanges import exchanges_of
from stepviz.traces.kinds import with_kinds
from stepviz.traces.launches import ordinary_lag
from stepviz.traces.parts import device_time
from stepviz.traces.pieces import main_track
from stepviz.traces.reading import SUFFIXES, RawTrace, read_trace
from stepviz.traces.rows import RankRows, rank_of, rows_of
from stepviz.traces.steps import RankStep, Step
from stepviz.traces.windows import PREVIOUS, Window, host_ranges, steps_of_rows, windows

Source = str | PathLike[str] | Iterable[str | PathLike[str]]

#: How files say themselves in `run.files`.
READ: Final = "read"
REFUSED: Final = "refused"

_STEP_COLUMNS: Final = (
    "start_ns",
    "finish_ns",
    "duration_ns",
    "last_rank",
    "longest_rank",
    "longest_ns",
    "ranks",
    "window",
    "start_from",
)


class TraceWarning(UserWarning):
    """A file, or a part of one, was left out; the message names it and says why."""


class _Rank:
    """One rank of a run, kept as compact frames."""

    def __init__(self, rows: RankRows) -> None:
        events = with_kinds(rows)
        ranges = host_ranges(events)
        events["place"] = steps_of_rows(events, ranges)
        self.rows = rows
        self.events = events
        self.windows: list[Window] = windows(events, ranges)
        self.main = main_track(events, ranges)
        self.exchanges = exchanges_of(rows, events)
        self.ordinary_lag = ordinary_lag(events)

    def step(self, number: int) -> RankStep | None:
        """Return one step of this rank, None where it has none of that number."""
        for place, window in enumerate(self.windows):
            if window.step == number:
                calls = self.exchanges[self.exchanges["place"] == place]
                return RankStep(self.rows, self.events, window, self.main, calls, self.ordinary_lag)
        return None


class Run:
    """The traces of one capture, one file a rank. Made by `load_run`."""

    def __init__(self, ranks: Mapping[int, _Rank], files: pd.DataFrame, name: str) -> None:
        self._ranks = dict(sorted(ranks.items()))
        self._files = files
        self._name = name

    @property
    def name(self) -> str:
        """What was loaded, for people."""
        return self._name

    @property
    def ranks(self) -> list[int]:
        """The ranks that were read."""
        return list(self._ranks)

    @property
    def files(self) -> pd.DataFrame:
        """One row per file: file, rank, rank_source, events, status (read, refused), why.

        `why` says what was wrong with a refused file, and what was mended in a read one.
        """
        return self._files.copy()

    @cached_property
    def _steps(self) -> pd.DataFrame:
        numbers = sorted({w.step for rank in self._ranks.values() for w in rank.windows})
        rows = [self._step_row(number) for number in numbers]
        frame = pd.DataFrame(rows, index=pd.Index(numbers, name="step", dtype="int64"))
        return frame[list(_STEP_COLUMNS)]

    def _step_row(self, number: int) -> dict[str, Any]:
        found = {
            rank: window
            for rank, kept in self._ranks.items()
            for window in kept.windows
            if window.step == number
        }
        start = min(window.start_ns for window in found.values())
        finish = max(window.finish_ns for window in found.values())
        longest = max(found, key=lambda rank: (found[rank].duration_ns, -rank))
        return {
            "start_ns": start,
            "finish_ns": finish,
            "duration_ns": finish - start,
            "last_rank": next(rank for rank, w in found.items() if w.finish_ns == finish),
            "longest_rank": longest,
            "longest_ns": found[longest].duration_ns,
            "ranks": len(found),
            "window": _all_of(window.measured for window in found.values()),
            "start_from": _all_of(window.start_from for window in found.values()),
        }

    @property
    def steps(self) -> pd.DataFrame:
        """One row per step, indexed by its number, times in ns.

        start_ns is the first rank's start, finish_ns the last rank's end, duration_ns their
        difference; last_rank ended last; longest_rank has the longest window of its own,
        longest_ns; ranks counts who has this step; window says what it is measured on (device,
        host, or both); start_from how its start was found: at the previous update's end, at
        the host's start of a first step, or the whole trace where no step is marked.
        """
        return self._steps.copy()

    def step(self, number: int | None = None) -> Step:
        """Return one step, by default the one of median length.

        Parameters
        ----------
        number : int, optional
            As in `steps`. Without it the step of median duration; steps whose start is a
            previous update's end are preferred, since the others are cut differently.

        Raises
        ------
        TraceError
            Where no step has that number.
        """
        steps = self._steps
        if number is None:
            number = self._median()
        elif number not in steps.index:
            msg = f"{self._name} has no step {number!r}; {near(number, steps.index)}"
            raise TraceError(msg)
        number = int(number)
        found = {rank: kept.step(number) for rank, kept in self._ranks.items()}
        return Step(
            number,
            {rank: part for rank, part in found.items() if part is not None},
            missing=[rank for rank, part in found.items() if part is None],
            run_name=self._name,
        )

    def _median(self) -> int:
        steps = self._steps
        whole = steps[steps["ranks"] == steps["ranks"].max()]
        # Steps cut alike are comparable: those that follow another one, else those with a device.
        following = whole[whole["start_from"] == PREVIOUS]
        on_device = whole[whole["window"] == "device"]
        alike = next(part for part in (following, on_device, whole) if len(part))
        chosen = alike.sort_values("duration_ns", kind="stable")
        return int(chosen.index[(len(chosen) - 1) // 2])

    def device_time(self, *, launched_only: bool = False) -> pd.DataFrame:
        """Return what each rank's device did over its whole file, in ns, by interval arithmetic.

        Parameters
        ----------
        launched_only : bool
            Leave out device rows whose launch is not in the file.

        Returns
        -------
        DataFrame
            Indexed by rank: span_ns, busy_ns (any device row), idle_ns, compute_ns (kernels
            that move nothing between ranks), exchange_ns, overlap_ns of both, exposed_ns =
            exchange − overlap.
        """
        rows = {
            rank: device_time(kept.events, launched_only=launched_only)
            for rank, kept in self._ranks.items()
        }
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("rank")

    def __repr__(self) -> str:
        steps = self._steps
        refused = int((self._files["status"] == REFUSED).sum())
        left = f", {refused} files left out" if refused else ""
        noun = "rank" if len(self._ranks) == 1 else "ranks"
        middle = int(self._median())
        typical = steps["duration_ns"][middle] / 1e6
        return (
            f"<Run {self._name}: {len(self._ranks)} {noun}, {len(steps)} steps, "
            f"step {middle} takes {typical:.4g} ms{left}>"
        )

    def _repr_html_(self) -> str:
        shown = self._steps.assign(
            duration_ms=(self._steps["duration_ns"] / 1e6).round(3),
        )[["duration_ms", "last_rank", "ranks", "window", "start_from"]]
        head = html.escape(repr(self)[1:-1])
        parts = [f"<p><b>{head}</b></p>", shown.to_html(border=0)]
        refused = self._files[self._files["status"] == REFUSED]
        if len(refused):
            parts.append("<p>Left out:</p><ul>")
            parts += [f"<li>{html.escape(str(why))}</li>" for why in refused["why"]]
            parts.append("</ul>")
        return "".join(parts)


def load_run(source: Source) -> Run:
    """Read the PyTorch profiler traces of one capture, one file per rank.

    Parameters
    ----------
    source : path, or iterable of paths
        A folder (its ``.json`` and ``.json.gz`` files are read), one file, or several files.

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
    paths, name = _paths(source)
    ranks: dict[int, _Rank] = {}
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
            rows = _rows_of_file(path, ranks_free=len(paths) == 1)
            record.update(rank=rows.rank, rank_source=rows.rank_source, events=len(rows.events))
            if rows.rank in ranks:
                _refuse_second(path, rows.rank, taken[rows.rank])
            with _told(path):
                ranks[rows.rank] = _Rank(rows)
            taken[rows.rank] = path
            record["why"] = "; ".join(rows.repairs)
        except TraceError as error:
            record.update(status=REFUSED, why=str(error))
    files = pd.DataFrame(records).astype({"rank": "Int64"})
    refused = files[files["status"] == REFUSED]
    if not ranks:
        raise TraceError(_nothing_read(name, refused))
    for message in [*refused["why"], *_repairs_said(files)]:
        warnings.warn(message, TraceWarning, stacklevel=2)
    return Run(ranks, files, name)


def _paths(source: Source) -> tuple[list[Path], str]:
    if isinstance(source, (str, PathLike)):
        path = Path(source)
        if path.is_dir():
            found = sorted(p for p in path.iterdir() if p.is_file() and _is_trace(p))
            if not found:
                msg = (
                    f"{path} holds no traces: no file in it ends in "
                    f"{' or '.join(SUFFIXES)}; pass the folder the profiler wrote to"
                )
                raise TraceError(msg)
            return sorted(found, key=_natural), path.resolve().name
        if not path.exists():
            msg = f"{path} does not exist; pass a folder of traces, a trace file, or a list of them"
            raise TraceError(msg)
        return [path], path.name
    paths = [Path(item) for item in source]
    if not paths:
        msg = "the list of files is empty; pass at least one trace file"
        raise TraceError(msg)
    folders = sorted({path.resolve().parent.name for path in paths})
    return paths, ", ".join(folders)


def _is_trace(path: Path) -> bool:
    return path.name.lower().endswith(SUFFIXES) and not path.name.startswith(".")


def _natural(path: Path) -> list[tuple[int, str]]:
    """Order rank10 after rank9."""
    parts: list[tuple[int, str]] = []
    digits = ""
    for letter in path.name + "\0":
        if letter.isdigit():
            digits += letter
            continue
        if digits:
            parts.append((int(digits), ""))
            digits = ""
        parts.append((-1, letter))
    return parts


def _rows_of_file(path: Path, *, ranks_free: bool) -> RankRows:
    with _told(path):
        raw: RawTrace = read_trace(path)
        rank, rank_source = rank_of(raw)
        if rank is None:
            if not ranks_free:
                msg = (
                    f"{path} does not say its rank, neither in distributedInfo nor in its name; "
                    "rename it to rank0.json, rank1.json, …"
                )
                raise TraceError(msg)
            rank, rank_source = 0, "assumed, the only file"
        return rows_of(raw, rank, rank_source)


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Turn what no check foresaw into one clear error that names the file."""
    try:
        yield
    except TraceError:
        raise
    except (ValueError, TypeError, KeyError, IndexError, OverflowError, AttributeError) as error:
        msg = (
            f"{path} is not built like a profiler trace ({type(error).__name__}: {error}); "
            "leave it out, and report it with the file if the profiler wrote it"
        )
        raise TraceError(msg) from error


def _refuse_second(path: Path, rank: int, first: Path) -> None:
    msg = (
        f"{path} says it is rank {rank}, and so does {first}: the first is used and this one "
        "left out; pass a list with the files of one capture to choose yourself"
    )
    raise TraceError(msg)


def _nothing_read(name: str, refused: pd.DataFrame) -> str:
    reasons = list(refused["why"])
    if len(reasons) == 1:
        return str(reasons[0])
    shown = "; ".join(str(reason) for reason in reasons[:3])
    more = f"; and {len(reasons) - 3} more" if len(reasons) > 3 else ""
    return f"{name}: none of {len(reasons)} files could be read: {shown}{more}"


def _repairs_said(files: pd.DataFrame) -> list[str]:
    read = files[(files["status"] == READ) & (files["why"] != "")]
    return [f"{file}: {why}" for file, why in zip(read["file"], read["why"], strict=True)]


def _all_of(words: Iterable[str]) -> str:
    """Return the one word all ranks share, else all of them."""
    return " and ".join(sorted(set(words)))
