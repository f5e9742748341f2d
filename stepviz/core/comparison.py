"""Several changes side by side, each alone and all together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import pandas as pd

from stepviz.core.changes import Change, together
from stepviz.core.timeline import Timeline
from stepviz.errors import ChangeError

ALL = "all together"


def compare(
    timelines: Timeline | Mapping[str, Timeline],
    changes: Mapping[str, Change],
    *,
    missing: Literal["raise", "nan"] = "raise",
) -> pd.DataFrame:
    """Return what each change gains, alone and with all the others; gains do not add up.

    Parameters
    ----------
    timelines : Timeline, or dict of Timeline by name
        What to change. With several, the rows are indexed by (timeline, change).
    changes : dict of change by name
        See `shorten`, `scale`, `delay_input`, `shrink_tail`, ….
    missing : {"raise", "nan"}
        What to do with a change that can't be made on a timeline (it matches nothing there):
        raise `ChangeError`, or keep its row as NaN and leave it out of "all together".

    Returns
    -------
    DataFrame
        Indexed by change, with a last row "all together": `completion` and `gain` (ms),
        `speedup` (old completion over new) and `did`, what was done in words.

    Examples
    --------
    >>> from stepviz.builders.lesson_models import lesson
    >>> from stepviz.core.changes import shorten
    >>> table = compare(
    ...     lesson(), {"exchange": shorten("exchange", 100), "backward": shorten("backward", 100)}
    ... )
    >>> table["gain"].tolist()
    [50.0, 0.0, 100.0]
    """
    if missing not in ("raise", "nan"):
        msg = f"missing is {missing!r}: it must be 'raise' or 'nan'"
        raise ChangeError(msg)
    if not isinstance(changes, Mapping) or not changes:
        msg = "give the changes as a dict by name, such as {'exchange': shorten('exchange', 25)}"
        raise ChangeError(msg)
    for name, change in changes.items():
        if name == ALL:
            msg = f"a change can't be called {ALL!r}: that row is for all of them"
            raise ChangeError(msg)
        if not isinstance(change, Change):
            msg = f"{name!r} is {change!r}, not a change: make one with shorten, scale, …"
            raise ChangeError(msg)
    if isinstance(timelines, Timeline):
        return _one(timelines, changes, missing)
    several = isinstance(timelines, Mapping) and len(timelines) > 0
    if not several or not all(isinstance(t, Timeline) for t in timelines.values()):
        msg = "give a timeline, or a dict of timelines by name"
        raise ChangeError(msg)
    return pd.concat(
        {name: _one(timeline, changes, missing) for name, timeline in timelines.items()},
        names=["timeline", "change"],
    )


def _one(
    timeline: Timeline, changes: Mapping[str, Change], missing: Literal["raise", "nan"]
) -> pd.DataFrame:
    before = timeline.completion
    rows: dict[str, tuple[float, str]] = {}
    possible: list[Change] = []
    left_out: list[str] = []
    for name, change in changes.items():
        try:
            outcome = change.on(timeline)
        except ChangeError as error:
            if missing == "raise":
                msg = f"{name}: {error}"
                raise ChangeError(msg) from error
            rows[name] = (float("nan"), f"not made: {error}")
            left_out.append(name)
        else:
            possible.append(change)
            rows[name] = (outcome.timeline.completion, outcome.did)
    rows[ALL] = _together(timeline, possible, left_out)
    completion = pd.Series(
        {name: value for name, (value, _) in rows.items()}, dtype="float64"
    ).rename_axis("change")
    return pd.DataFrame(
        {
            "completion": completion,
            "gain": before - completion,
            "speedup": before / completion,
            "did": pd.Series({name: words for name, (_, words) in rows.items()}, dtype=object),
        }
    ).rename_axis("change")


def _together(timeline: Timeline, changes: list[Change], left_out: list[str]) -> tuple[float, str]:
    """Make all changes, one after the other; two that exclude each other give NaN, said so."""
    if not changes:
        return float("nan"), "nothing to make"
    try:
        outcome = together(*changes).on(timeline)
    except ChangeError as error:
        return float("nan"), f"they exclude each other: {error}"
    without = f"; without {', '.join(left_out)}" if left_out else ""
    return outcome.timeline.completion, outcome.did + without
