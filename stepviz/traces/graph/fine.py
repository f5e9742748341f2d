"""The fine level: one graph over all rows of all ranks of a step."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from stepviz.errors import ChangeError
from stepviz.traces.graph.answers import Trust, WhatIf, guessed_shares, shares
from stepviz.traces.graph.applying import Edited, apply, at_median
from stepviz.traces.graph.arrays import IntArray
from stepviz.traces.graph.beyond import (
    Early,
    apart_said,
    before_ns,
    before_said,
    ran_before,
    ran_before_it,
    silence_said,
)
from stepviz.traces.graph.draft import Draft
from stepviz.traces.graph.edits import Edit
from stepviz.traces.graph.events import draw_waits
from stepviz.traces.graph.hosts import draw_host
from stepviz.traces.graph.joints import (
    Member,
    draw_alone,
    draw_joint,
    host_calls,
    joint_parts,
    joint_rows,
    members,
)
from stepviz.traces.graph.links import Link
from stepviz.traces.graph.network import Network
from stepviz.traces.graph.paths import path_along
from stepviz.traces.graph.programs import classes
from stepviz.traces.graph.sections import Sections
from stepviz.traces.graph.streams import Streams, draw_work
from stepviz.traces.graph.view import View
from stepviz.traces.joining.joins import Exchange
from stepviz.traces.rank_trace import RankStep


@dataclass(frozen=True, eq=False)
class Drawn:
    """The graph, what else transfers may be called, and by rank what ran before the step began.

    Transfers are called by their collectives, too, and by their members' rows.
    """

    network: Network
    also: Mapping[str, list[int]]
    early: Mapping[int, Early]


def draw(ranks: Mapping[int, RankStep], exchanges: Sequence[Exchange]) -> Drawn:
    """Draw the graph of a step."""
    origin = min(step.window.start_ns for step in ranks.values())
    draft = Draft()
    parts: dict[int, dict[int, Member]] = {}
    early: dict[int, Early] = {}
    for rank, step in ranks.items():
        view = View.of(rank, step, origin)
        early[rank] = ran_before(view)
        names = draft.codes(view.words)
        start = draft.start(rank, view.low)
        joint = joint_rows(exchanges, rank)
        streams = Streams.of(view, draft, joint)
        draw_work(streams, draft, names)
        draw_waits(streams, draft)
        calls = host_calls(view, exchanges, draft, names)
        last = draw_host(view, streams, calls, draft, names, start)
        _draw_end(view, streams, last, draft)
        parts[rank] = joint_parts(joint, streams, calls)
    also: dict[str, list[int]] = defaultdict(list)
    for exchange in exchanges:
        if not exchange.joint:
            continue
        here = members(exchange, parts)
        if len(here) < 2:
            draw_alone(here, draft)
            continue
        number = draw_joint(exchange, here, draft)
        for name in {exchange.collective, *(part.name for part in here.values())}:
            also[name].append(number)
    return Drawn(draft.network(), also, early)


def _draw_end(view: View, streams: Streams, last: Mapping[int, int], draft: Draft) -> None:
    """End a rank's step with the last of its own device work and of its host's range."""
    end = np.array([draft.end(view.rank, view.high)])
    own = np.flatnonzero((view.step_of[streams.row] == view.place) | view.whole)
    own = own[np.lexsort((streams.finish[own], streams.track[own]))]
    ends = own[np.append(np.diff(streams.track[own]) != 0, True)] if len(own) else own
    draft.link(Link.LAST, streams.ends[ends], np.repeat(end, len(ends)))
    for track, point in last.items():
        if track == view.main or view.whole:
            draft.link(Link.LAST, [point], end)


class Fine:
    """The graph of all rows of a step."""

    def __init__(
        self, ranks: Mapping[int, RankStep], exchanges: Sequence[Exchange], clocks: str
    ) -> None:
        self._ranks = dict(ranks)
        self._exchanges = list(exchanges)
        self._clocks = clocks
        self._origin = min(step.window.start_ns for step in ranks.values())

    @cached_property
    def _drawn(self) -> Drawn:
        return draw(self._ranks, self._exchanges)

    @cached_property
    def _path(self) -> pd.DataFrame:
        network = self._drawn.network
        return path_along(network, network.time, network.elements.duration, self._origin)

    def path(self) -> pd.DataFrame:
        """Return the observed critical path."""
        return self._path

    def replay(self) -> WhatIf:
        """Solve the unedited graph."""
        network = self._drawn.network
        time = network.solve(network.elements.duration, network.release)
        error = int(np.abs(time - network.time).max())
        return self._answer("nothing changed", time, network.elements.duration, error)

    def what_if(self, edits: Iterable[Edit]) -> WhatIf:
        """Solve the graph with other durations."""
        wanted = list(edits)
        before = before_ns(self._drawn.early, wanted)
        try:
            edited = apply(self._drawn.network, self._drawn.also, wanted)
        except ChangeError as error:
            if not before or len(wanted) > 1:
                raise
            raise ran_before_it(wanted[0], before) from error
        return self._solved(edited, before_said(before))

    def no_stragglers(self) -> WhatIf:
        """Solve the graph with no rank slower than the median."""
        found = {
            rank: Sections.of(rank, step, self._exchanges, self._origin)
            for rank, step in self._ranks.items()
        }
        sections = {rank: cuts for rank, (cuts, _) in found.items()}
        numbers = classes({rank: program for rank, (_, program) in found.items()})
        edited = at_median(self._drawn.network, sections, numbers)
        several = len(self._ranks) > 1
        before = before_ns(self._drawn.early, [Edit(factor=1)]) if several else {}
        return self._solved(edited, before_said(before))

    def _solved(self, edited: Edited, beyond: str) -> WhatIf:
        network = self._drawn.network
        time = network.solve(edited.duration, edited.release, edited.delay)
        known = [beyond] if beyond else []
        if not np.array_equal(edited.delay, network.delay):
            kept = network.solve(edited.duration, edited.release)
            known[:0] = silence_said(network.completion(kept) - network.completion(time))
        return self._answer("; ".join(edited.did), time, edited.duration, beyond=known)

    def _answer(
        self,
        did: str,
        time: IntArray,
        duration: IntArray,
        error: int | None = None,
        beyond: Iterable[str] = (),
    ) -> WhatIf:
        network = self._drawn.network
        unedited = duration is network.elements.duration and np.array_equal(time, network.time)
        path = self._path.copy() if unedited else path_along(network, time, duration, self._origin)
        residual, unexplained = shares(path)
        inferred, assumed = guessed_shares(path)
        sizes = [len(exchange.calls) for exchange in self._exchanges]
        return WhatIf(
            level="fine",
            did=did,
            completion_ns=network.completion(time),
            baseline_ns=network.completion(network.time),
            critical_path=path,
            trust=Trust(
                "fine",
                residual,
                unexplained,
                clocks=self._clocks,
                beyond=tuple(filter(None, (*beyond, apart_said(sizes)))),
                inferred_share=inferred,
                assumed_share=assumed,
            ),
            largest_error_ns=error,
        )
