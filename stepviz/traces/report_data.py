"""What `stepviz explain` says, as plain data: the same for its text and for its JSON.

Times are whole nanoseconds, under names that end in `_ns`; moments count from the run's origin,
the start of its first step, since counted from 1970 they are too large for readers whose numbers
are doubles. What cannot be told is None.
docs/explain-json.md describes every key; `FORMAT` counts changes that would break a reader.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, is_dataclass
from functools import partial
from importlib import metadata
from typing import Any, Final

import numpy as np
import pandas as pd

from stepviz.errors import StepvizError
from stepviz.traces.runs import Run
from stepviz.traces.step import Step

#: Grows when a key is removed or means something else; new keys may come at any time.
FORMAT: Final = 1

#: Kinds of pieces of a path that no change could make shorter.
_NO_WORK: Final = frozenset({"wait", "unexplained", "before the step", "idle"})
#: A kind or a rank with a smaller part of the path is not worth a question.
_WORTH_ASKING: Final = 0.01
#: So many ranks are asked about, those with most of the path.
_MOST_RANKS: Final = 4

#: Columns that are moments, not lengths.
_MOMENTS: Final = frozenset({"start_ns", "finish_ns", "arrival_ns", "ready_ns", "reference_ns"})

#: What columns of `own_time` begin with that say a rank's time before a collective.
_WAY: Final = "→ "
#: Columns of `slowest` in the unit of the question, and the question that counts.
_MEASURED: Final = frozenset({"value", "median", "excess"})
_COUNTED: Final = "last_to_arrive"

Plain = dict[str, Any]


def report(run: Run, number: int | None = None) -> Plain:
    """Return all that is said of one step, and of the run it belongs to.

    Parameters
    ----------
    run : Run
    number : int, optional
        The step; by default the one of median length.

    Raises
    ------
    TraceError
        Where the run has no such step.
    """
    step = run.step(number)
    return {
        "format": FORMAT,
        "stepviz": _version(),
        "run": about_run(run),
        "step": about_step(step, origin_of(run)),
    }


def as_json(found: Plain) -> str:
    """Return a report as JSON, in ASCII, so that any terminal and any pipe can carry it."""
    return json.dumps(found, indent=2, allow_nan=False)


def about_run(run: Run) -> Plain:
    """Return files and repairs, all steps, clocks, and each rank's device time."""
    return {
        "name": run.name,
        "origin_ns": str(origin_of(run)),
        "ranks": list(run.ranks),
        "files": plain(run.files),
        "steps": rows(run.steps, origin_of(run)),
        "clock": plain(run.clock),
        "clocks_disagree": None if run.clash is None else str(run.clash),
        "device_time": plain(run.device_time()),
    }


def origin_of(run: Run) -> int:
    """Return from when moments are counted, in ns since 1970."""
    return int(run.steps["start_ns"].min())


def about_step(step: Step, origin: int) -> Plain:
    """Return where a step's time goes, who is late, its critical path and what would help."""
    collectives = step.collectives
    if len(collectives):
        known = collectives["bytes"].where(collectives["bytes"] >= 0)
        collectives = collectives.assign(bytes=known.astype("Int64"))
    breakdown = step.breakdown("ns").add_suffix("_ns", axis="index").T
    exposed = step.exposed("exchange", "ns").rename("exposed_ns").to_frame()
    return {
        "number": step.number,
        "completion_ns": int(step.completion_ns),
        "window_rule": step.window_rule,
        "ranks": rows(step.windows, origin),
        "breakdown": plain(breakdown),
        "exposed_exchange": plain(exposed),
        "collectives": rows(collectives, origin),
        "unmatched": rows(step.unmatched, origin),
        "own_time": _told(partial(own_times, step)),
        "slowest": _told(partial(slowest, step)),
        "idle": _told(partial(_idle, step, origin)),
        "critical_path": _told(partial(path_summary, step, origin)),
        "what_ifs": _told(partial(what_ifs, step)),
        "notes": list(step.notes),
    }


def own_times(step: Step) -> list[Plain]:
    """Return each rank's late start, its own time before each collective, its tail, the sum."""
    found = []
    for row in plain(step.own_time):
        ways = {key: row.pop(key) for key in list(row) if key.startswith(_WAY)}
        row["to_collectives"] = [
            {"collective": key.removeprefix(_WAY), "own_time_ns": value}
            for key, value in ways.items()
        ]
        found.append(row)
    return found


def slowest(step: Step) -> list[Plain]:
    """Return four questions about who is slow, each with its answer, in ns or in how many."""
    found = []
    for row in plain(step.slowest):
        unit = "count" if row["question"] == _COUNTED else "ns"
        found.append({f"{k}_{unit}" if k in _MEASURED else k: v for k, v in row.items()})
    return found


def path_summary(step: Step, origin: int) -> Plain:
    """Return the critical path by kind, by rank and by both, and how far it is explained."""
    path = step.critical_path
    total = int(step.completion_ns)
    replayed = step.replay()
    return {
        "level": replayed.level,
        "duration_ns": int(path["duration_ns"].sum()),
        "pieces": len(path),
        "by_kind": _sums(path, ["kind"], total),
        "by_rank": _sums(path, ["rank"], total),
        "by_kind_and_rank": _sums(path, ["kind", "rank"], total),
        "by_launch": _sums(path[path["launched"] != ""], ["launched"], total),
        "longest": rows(
            path.nlargest(5, "duration_ns")[["rank", "kind", "name", "start_ns", "duration_ns"]],
            origin,
        ),
        "trust": trust(replayed),
    }


def trust(answer: Any) -> Plain:
    """Return how far an answer of the graph holds."""
    known = answer.trust
    return {
        "residual_share": float(known.residual_share),
        "unexplained_share": float(known.unexplained_share),
        "inferred_share": float(known.inferred_share),
        "assumed_share": float(known.assumed_share),
        "thresholds": plain(known.thresholds),
        "sentence": str(known),
    }


def what_ifs(step: Step) -> list[Plain]:
    """Return changes that could help and what each would gain, replayed; the largest first.

    Halving each kind of work on the path, halving the time outside collectives of the ranks with
    most of the path, all ranks starting together, and no rank slower than the median. A change
    that this step has no place for is left out. Gains do not add up.
    """
    found = []
    for change, ask in _questions(step):
        try:
            answer = ask()
        except StepvizError:
            continue
        found.append(
            {
                "change": change,
                "did": answer.did,
                "level": answer.level,
                "completion_ns": int(answer.completion_ns),
                "gain_ns": int(answer.gain_ns),
                "trust": trust(answer),
            }
        )
    return sorted(found, key=lambda each: -each["gain_ns"])


def _questions(step: Step) -> Iterator[tuple[Plain, Callable[[], Any]]]:
    path = step.critical_path
    for kind in _worth(path, "kind", step.completion_ns):
        if kind not in _NO_WORK:
            change: Plain = {"kind": str(kind), "factor": 0.5}
            yield change, partial(step.what_if, **change)
    if len(step.ranks) < 2:
        return
    for rank in _worth(path[path["rank"].notna()], "rank", step.completion_ns)[:_MOST_RANKS]:
        change = {"rank": int(rank), "own_time": 0.5}
        yield change, partial(step.what_if, **change)
    change = {"start_together": True}
    yield change, partial(step.what_if, **change)
    yield {"no_stragglers": True}, step.no_stragglers


def _worth(path: pd.DataFrame, column: str, total: int) -> list[Any]:
    sums = path.groupby(column, sort=False)["duration_ns"].sum().sort_values(ascending=False)
    return list(sums[sums >= _WORTH_ASKING * total].index)


def _sums(path: pd.DataFrame, columns: list[str], total: int) -> list[Plain]:
    """Return sums of the path, the largest first, with their share of the step."""
    sums = path.groupby(columns, sort=False, dropna=False)["duration_ns"].sum()
    frame = sums.sort_values(ascending=False, kind="stable").reset_index()
    frame["share"] = frame["duration_ns"] / total if total else 0.0
    rows: list[Plain] = plain(frame)
    return rows


def _told(ask: Callable[[], Any]) -> Any:
    """Return an answer as plain data; None where this run cannot tell it."""
    try:
        return plain(ask())
    except StepvizError:
        return None


def _idle(step: Any, origin: int) -> Any:
    found = step.idle()
    return rows(found, origin) if isinstance(found, pd.DataFrame) else found


def rows(frame: pd.DataFrame, origin: int) -> list[Plain]:
    """Return a frame's rows as plain data, with moments counted from the origin."""
    moments = {column: frame[column] - origin for column in frame.columns if column in _MOMENTS}
    found: list[Plain] = plain(frame.assign(**moments))
    return found


def plain(value: Any) -> Any:
    """Return a value as JSON knows it: frames as lists of rows, numbers exact, missing as None.

    A frame's index is a column where it has a name.
    """
    if isinstance(value, pd.DataFrame):
        frame = value.reset_index() if value.index.names[0] is not None else value
        return [{str(k): plain(v) for k, v in row.items()} for row in frame.to_dict("records")]
    if isinstance(value, pd.Series):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, (list, tuple, set, frozenset, range)):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return [plain(item) for item in value.tolist()]
    return _single(value)


def _single(value: Any) -> Any:
    if value is None or value is pd.NA or value is pd.NaT:
        return None
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else None
    return str(value)


def _version() -> str:
    try:
        return metadata.version("stepviz")
    except metadata.PackageNotFoundError:
        # Run from its sources.
        return "not installed"
