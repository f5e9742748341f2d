"""What a step's graph does not hold, so that no edit of it reaches that.

The host often runs ahead of the device: then much of what it does for a step is over before the
step begins, which is when the update before it is done.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from stepviz.core.checks import ms_text
from stepviz.core.intervals import union
from stepviz.core.vocabulary import KINDS
from stepviz.errors import ChangeError
from stepviz.traces.classifying.name_traits import Trait
from stepviz.traces.graph.answers import THRESHOLDS
from stepviz.traces.graph.arrays import IntArray
from stepviz.traces.graph.edits import Edit, matching
from stepviz.traces.graph.view import View
from stepviz.traces.reading.rows import CALLS, DEVICE

#: Regions are work of their kind even where no operator runs inside.
BY_NATURE: Final = [KINDS.index(kind) for kind in ("input", "checkpoint")]
_WORK: Final = CALLS | DEVICE | {"cpu_op"}
_EXCHANGE: Final = "exchange"


@dataclass(frozen=True, eq=False)
class Early:
    """A rank's rows of a step that ran before its window, cut where that begins, in ns.

    Kinds are codes of `KINDS`, names codes of `words`.
    """

    kind: npt.NDArray[np.int8]
    name: npt.NDArray[np.integer]
    words: Sequence[str]
    start: IntArray
    finish: IntArray

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The same as a frame: kind, name, start_ns, finish_ns."""
        return pd.DataFrame(
            {
                "kind": [KINDS[code] for code in self.kind.tolist()],
                "name": [self.words[code] for code in self.name.tolist()],
                "start_ns": self.start,
                "finish_ns": self.finish,
            }
        )


def ran_before(view: View) -> Early:
    """Return a rank's rows of the step that ran before its window."""
    columns, low = view.columns, view.window.start_ns
    rows = columns.of_step(view.place)
    rows = rows[columns.start[rows] < low]
    works = view.of_cat(rows, _WORK) | np.isin(columns.kind[rows], BY_NATURE)
    rows = rows[works & ~view.are(rows, Trait.WAITING_CALL)]
    return Early(
        kind=columns.kind[rows],
        name=columns.name[rows],
        words=columns.words,
        start=columns.start[rows],
        finish=np.minimum(columns.finish[rows], low),
    )


def _meant(rows: pd.DataFrame, edit: Edit) -> pd.DataFrame:
    """Return those of some rows that an edit is about."""
    kinds = ("input",) if edit.delay_input_ns is not None else edit.kinds
    if edit.start_together:
        return rows.iloc[:0]
    if kinds:
        rows = rows[rows["kind"].isin(kinds)]
    elif not edit.names:
        return rows[rows["kind"] != _EXCHANGE]
    if edit.names:
        words = rows["name"]
        found: set[str] = set()
        for name in edit.names:
            try:
                found |= matching((name,), words)
            except ChangeError:
                continue
        rows = rows[words.isin(found)]
    return rows


def before_ns(early: Mapping[int, Early], edits: Iterable[Edit]) -> dict[int, int]:
    """Return by rank how long work that edits are about ran before the window, ns.

    Ranks without any are left out. What ran beside other such work counts once.

    Parameters
    ----------
    early
        By rank what `ran_before`.
    edits
        What is to be changed.
    """
    wanted = list(edits)
    found: dict[int, int] = {}
    for rank, rows in early.items():
        mine = [edit for edit in wanted if edit.rank in (None, rank)]
        if not mine or not len(rows.start):
            continue
        meant = pd.concat([_meant(rows.frame, edit) for edit in mine])
        spans = union(meant[["start_ns", "finish_ns"]].to_numpy())
        if len(spans):
            found[rank] = int((spans[:, 1] - spans[:, 0]).sum())
    return found


def before_said(found: Mapping[int, int]) -> str:
    """Say how much of what was asked for ran before the step, "" where nothing did."""
    if not found:
        return ""
    rank = max(found, key=lambda each: found[each])
    most = "" if len(found) == 1 else "up to "
    return (
        f"{most}{ms_text(found[rank] / 1e6)} ms of what is changed (on rank {rank}) ran before the "
        "step began, when the update before it was done: no edit of this step reaches that"
    )


def silence_said(ns: int) -> list[str]:
    """Say how much of an answer comes of scaling what no row tells of; nothing where none does."""
    if not ns:
        return []
    what = "gain" if ns > 0 else "loss"
    longer = ms_text(THRESHOLDS.host_gap_ns / 1e6)
    said = (
        f"{ms_text(abs(ns) / 1e6)} ms of the {what} is a thread that stood still for longer than "
        f"{longer} ms with no row to say why, counted as its own time"
    )
    return [said]


def ran_before_it(edit: Edit, found: Mapping[int, int]) -> ChangeError:
    """Return why nothing can be changed, where all that is meant ran before the step."""
    rank = max(found, key=lambda each: found[each])
    return ChangeError(
        f"all that is {edit.said()} here ran before the step began, when the update before it was "
        f"done ({ms_text(found[rank] / 1e6)} ms on rank {rank}): no edit of this step reaches it; "
        "the host runs ahead of the device, so change what the device does"
    )


def apart_said(sizes: Sequence[int]) -> str:
    """Say how many exchanges are no joint ones, "" where all are; of each how many take part."""
    count = sum(size == 1 for size in sizes)
    if not count:
        return ""
    if count == 1:
        return "1 exchange stays with its rank and keeps what it waited, whenever others come"
    return f"{count} exchanges stay with their rank and keep what they waited, whenever others come"
