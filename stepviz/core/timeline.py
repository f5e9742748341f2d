"""The timeline: phases and the dependencies between them, as an immutable value."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd

from stepviz.core import edits, plain_data, sensitivity
from stepviz.core.checks import as_names, count_text, ms_text
from stepviz.core.graph import Graph
from stepviz.core.intake import TableLike, read_tables
from stepviz.core.schedule import Schedule
from stepviz.core.tables import Tables
from stepviz.core.vocabulary import LINK_TYPES
from stepviz.errors import ChangeError, TimelineError

if TYPE_CHECKING:
    from stepviz.core.changes import Change


class Timeline:
    """A training step as a graph: phases with durations, dependencies with lags.

    A timeline never changes; every edit returns a new one. Its schedule (when each phase runs, what
    is critical, when the step completes) is `timeline.schedule()`. Any loop of dependencies is
    refused, also one that its lags would allow.

    Parameters
    ----------
    phases : DataFrame, list of dict, or dict of columns
        One row per phase: `phase` (unique name), `duration` (ms, 0 for a milestone), and
        optionally `kind` (input, forward, backward, exchange, optimizer, recompute, checkpoint,
        host, other), `rank` (0 where neither rank nor members are given), `lane` (phases of one
        rank and lane run in row order), `release` (ms from the step's start, earliest start
        allowed from outside), `members` (ranks of a collective, whose rank stays missing).
    dependencies : DataFrame, list of dict or of tuples, or dict of columns, optional
        `source`, `target`, and optionally `type` (FS, SS, FF, SF; default FS), `lag` (ms, may be
        negative; default 0), `origin` (assumed, recorded, inferred; default assumed). A tuple is
        read in that order.
    target : str, optional
        The phase whose finish is the step's completion; without it, the last finish is.
    name : str
        What this timeline is, shown with its results.

    Raises
    ------
    TimelineError
        A cycle, an unknown or repeated phase, a missing, negative, infinite or wrongly typed
        number, an unknown kind, type or column; the message names it and says how to mend it.

    Examples
    --------
    >>> step = Timeline(
    ...     [
    ...         {"phase": "backward", "kind": "backward", "duration": 400},
    ...         {"phase": "exchange", "kind": "exchange", "duration": 350},
    ...         {"phase": "optimizer", "kind": "optimizer", "duration": 100},
    ...     ],
    ...     [
    ...         ("backward", "exchange", "SS", 100),
    ...         ("backward", "optimizer"),
    ...         ("exchange", "optimizer"),
    ...     ],
    ... )
    >>> step.completion
    550.0
    """

    def __init__(
        self,
        phases: TableLike,
        dependencies: TableLike = None,
        target: str | None = None,
        name: str = "",
    ) -> None:
        self._set(read_tables(phases, dependencies), target, name)

    def _set(self, tables: Tables, target: str | None, name: str) -> None:
        if not isinstance(name, str):
            msg = f"a timeline's name is {name!r}: give a string"
            raise TimelineError(msg)
        self._tables = tables
        self._target = target
        self._name = name
        self._graph: Graph = tables.graph(-1 if target is None else tables.find(target))

    def _edited(self, tables: Tables) -> Self:
        new = object.__new__(type(self))
        new._set(tables, self._target, self._name)
        return new

    def _remade(self, records: edits.Records, links: edits.Records, target: str | None) -> Self:
        return type(self)(records, links, target, self._name)

    # What it is

    @property
    def name(self) -> str:
        """What this timeline is called."""
        return self._name

    @property
    def target(self) -> str | None:
        """The phase whose finish is the completion; None: the last finish."""
        return self._target

    @property
    def ranks(self) -> list[int]:
        """Every rank with work of its own or in a group, sorted."""
        return self._tables.ranks()

    @property
    def phases(self) -> pd.DataFrame:
        """The phases, indexed by name: kind, rank, lane, duration (ms), release (ms), members.

        A copy: changing it leaves the timeline as it is.
        """
        t = self._tables
        return pd.DataFrame(
            {
                "kind": pd.Series(t.kind, dtype=object, copy=True),
                "rank": pd.arrays.IntegerArray(t.rank.copy(), t.rank < 0),
                "lane": pd.Series(t.lane, dtype=object, copy=True),
                "duration": t.duration.copy(),
                "release": t.release.copy(),
                "members": pd.Series(t.members, dtype=object, copy=True),
            }
        ).set_axis(pd.Index(t.phase.copy(), name="phase"))

    @property
    def dependencies(self) -> pd.DataFrame:
        """The stored dependencies, in order: source, target, type, lag (ms), origin. A copy."""
        t = self._tables
        return pd.DataFrame(
            {
                "source": t.phase[t.source],
                "target": t.phase[t.target],
                "type": np.array(LINK_TYPES, dtype=object)[t.code],
                "lag": t.lag.copy(),
                "origin": pd.Series(t.origin, dtype=object, copy=True),
            }
        )

    def __len__(self) -> int:
        return len(self._tables.phase)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Timeline):
            return NotImplemented
        return (
            self._target == other._target
            and self._name == other._name
            and self._tables.same(other._tables)
        )

    def __hash__(self) -> int:
        return hash((self._name, self._target, tuple(self._tables.duration.tolist())))

    def __repr__(self) -> str:
        title = f" {self._name!r}" if self._name else ""
        return (
            f"<Timeline{title}: {count_text(len(self), 'phase')}, "
            f"{count_text(len(self._tables.source), 'dependency', 'dependencies')}, "
            f"completion {ms_text(self.completion)} ms>"
        )

    def _repr_html_(self) -> str:
        shown = 60
        table = self.schedule().table.iloc[:shown]
        frame = self.phases.iloc[:shown][["kind", "rank", "lane", "duration"]].join(
            table[["start", "finish", "total_float", "critical"]]
        )
        frame["lane"] = [lane or "" for lane in frame["lane"]]
        body = frame.to_html(float_format=ms_text, na_rep="", escape=True)
        more = f"<p>… and {len(self) - shown} more phases</p>" if len(self) > shown else ""
        title = html.escape(self._name or "timeline")
        return f"<p><b>{ms_text(self.completion)} ms</b> completion of {title}</p>{body}{more}"

    # What follows from it

    @cached_property
    def _schedule(self) -> Schedule:
        try:
            return Schedule(self._tables, self._graph.solve())
        except OverflowError as error:
            msg = f"{error}: are the durations in ms?"
            raise TimelineError(msg) from None

    def schedule(self) -> Schedule:
        """Solve the timeline: starts, floats, critical set, exposed time, breakdown."""
        return self._schedule

    @property
    def completion(self) -> float:
        """When the step completes, ms from its start."""
        return self._schedule.completion

    def sensitivity(self, phase: str) -> pd.DataFrame:
        """Return the exact, piecewise-linear answer of the completion to one duration.

        Parameters
        ----------
        phase : str
            The phase whose duration varies; its dependencies stay.

        Returns
        -------
        DataFrame
            The corners of the curve, from a duration of 0: `duration`, `change` (from now),
            `completion`, `gain` (all ms), and `slope` to the right of each corner (-1, 0 or 1).
            The last row only shows where the last piece leads.

        Examples
        --------
        >>> from stepviz.builders.lesson_models import lesson
        >>> lesson().sensitivity("exchange")[["duration", "completion", "slope"]]
           duration  completion  slope
        0       0.0       700.0      0
        1     300.0       700.0      1
        2     350.0       750.0      1
        3     750.0      1150.0      1
        """
        return sensitivity.curve(self._schedule.solution, self._tables.find(phase))

    # Edits, each a new timeline

    def apply(self, change: Change) -> Timeline:
        """Return the timeline after a change such as `stepviz.shorten("exchange", 25)`."""
        from stepviz.core.changes import Change  # changes are built on timelines

        if not isinstance(change, Change):
            msg = f"{change!r} is not a change: make one with shorten, scale, …"
            raise ChangeError(msg)
        return change.on(self).timeline

    def with_duration(self, phase: str, ms: float) -> Self:
        """Return a timeline in which `phase` lasts `ms` ms."""
        return self._with_number("duration", phase, ms)

    def with_release(self, phase: str, ms: float) -> Self:
        """Return a timeline in which `phase` starts at `ms` ms or later; 0 takes the pin out."""
        return self._with_number("release", phase, ms)

    def _with_number(self, column: str, phase: str, ms: float) -> Self:
        row = self._tables.find(phase)
        checked = read_tables([{"phase": phase, "duration": 0.0, column: ms}], None)
        values = getattr(self._tables, column).copy()
        values[row] = getattr(checked, column)[0]
        return self._edited(self._tables.replace(**{column: values}))

    def scale(
        self,
        phase: str | Iterable[str] | None = None,
        factor: float | None = None,
        *,
        kind: str | Iterable[str] | None = None,
        rank: int | None = None,
    ) -> Timeline:
        """Return a timeline with durations multiplied by `factor`; see `stepviz.scale`."""
        from stepviz.core import changes  # as in apply

        return self.apply(changes.scale(phase, factor, kind=kind, rank=rank))

    def with_phase(
        self, phase: str, *, after: str | None = None, rename: str | None = None, **columns: Any
    ) -> Self:
        """Return a timeline with one phase more, or with this phase's columns changed.

        Parameters
        ----------
        phase : str
            Name of the phase. One that is there keeps the columns that are not given.
        after : str, optional
            Put the phase behind this one in row order, which is lane order; else last (a new one)
            or where it was.
        rename : str, optional
            A new name; dependencies and target follow.
        **columns
            kind, rank, lane, duration (ms), release (ms), members.
        """
        records, links, renamed = edits.put_phase(self._tables, phase, after, rename, columns)
        target = renamed if self._target == phase else self._target
        return self._remade(records, links, target)

    def without(self, phase: str | Iterable[str]) -> Self:
        """Return a timeline without these phases and every dependency that touches them.

        What they stood between is no longer ordered by them. To take only their work out and keep
        the order, use `stepviz.remove`.
        """
        given = as_names(phase)
        if not given:
            msg = f"phase is {phase!r}: give the name of a phase, or a list of names"
            raise TimelineError(msg)
        names = set(given)
        for name in given:
            self._tables.find(name)
        if self._target in names:
            msg = f"phase {self._target!r} is the target: name another before taking it out"
            raise TimelineError(msg)
        records = [r for r in self._tables.records() if r["phase"] not in names]
        links = [d for d in self._tables.links() if not {d["source"], d["target"]} & names]
        return self._remade(records, links, self._target)

    def connect(
        self,
        source: str,
        target: str,
        type: str = "FS",  # noqa: A002 - the field's word for it
        lag: float = 0.0,
        origin: str = "assumed",
    ) -> Self:
        """Return a timeline with one dependency more, `lag` in ms."""
        new = {"source": source, "target": target, "type": type, "lag": lag, "origin": origin}
        if len(edits.link_rows(self._tables, source, target, edits.known_type(type))):
            msg = f"{source!r} → {target!r} ({type}) is there already: use with_lag to change it"
            raise TimelineError(msg)
        links = [*self._tables.links(), new]
        return self._remade(self._tables.records(), links, self._target)

    def disconnect(self, source: str, target: str, type: str | None = None) -> Self:  # noqa: A002
        """Return a timeline without the dependencies from source to target (of one type)."""
        t = self._tables
        keep = np.ones(len(t.source), dtype=bool)
        keep[edits.link_rows_of_one_type(t, source, target, type)] = False
        return self._edited(
            t.replace(
                source=t.source[keep],
                target=t.target[keep],
                code=t.code[keep],
                lag=t.lag[keep],
                origin=t.origin[keep],
            )
        )

    def with_lag(self, source: str, target: str, lag: float, type: str | None = None) -> Self:  # noqa: A002
        """Return a timeline in which this dependency has a lag of `lag` ms."""
        rows = edits.link_rows_of_one_type(self._tables, source, target, type)
        checked = read_tables(
            [{"phase": source, "duration": 0}, {"phase": target, "duration": 0}],
            [(source, target, "FS", lag)],
        )
        lags = self._tables.lag.copy()
        lags[rows] = checked.lag[0]
        return self._edited(self._tables.replace(lag=lags))

    def with_target(self, target: str | None) -> Self:
        """Return a timeline whose completion is the finish of `target`, or the last finish."""
        new = object.__new__(type(self))
        new._set(self._tables, target, self._name)
        return new

    def with_name(self, name: str) -> Self:
        """Return the same timeline under another name."""
        new = object.__new__(type(self))
        new._set(self._tables, self._target, name)
        return new

    # Plain data and JSON

    def to_dict(self) -> dict[str, Any]:
        """Return the timeline as plain data: what `to_json` writes and the editor's value is."""
        return plain_data.write(self._tables, self._target, self._name)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote; anything else is a `TimelineError`."""
        return cls(**plain_data.read(data))

    def to_json(self, indent: int | None = None) -> str:
        """Return the timeline as standard JSON; every number survives to the last bit."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read what `to_json` wrote; broken JSON is a `TimelineError` that says where."""
        return cls.from_dict(plain_data.parse(text))
