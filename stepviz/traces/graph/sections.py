"""A rank's own work cut by its collectives, so that ranks can be held against each other.

Its program is what is the same on all ranks, and the order in which its host launches things is
the program's: a device may come to a collective late, when a slow rank kept its stream, and run
beside it what another rank's device had run before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stepviz.core.intervals import subtract, union
from stepviz.traces.classifying.name_traits import Trait
from stepviz.traces.graph.answers import THRESHOLDS
from stepviz.traces.graph.arrays import IntArray
from stepviz.traces.graph.beyond import BY_NATURE
from stepviz.traces.graph.links import ON_DEVICE
from stepviz.traces.graph.network import Elements
from stepviz.traces.graph.programs import Program, in_order
from stepviz.traces.graph.view import NEVER, View
from stepviz.traces.joining.joins import Exchange
from stepviz.traces.rank_trace import RankStep
from stepviz.traces.reading.rows import CALLS, HOST


@dataclass(frozen=True, eq=False)
class Sections:
    """What cuts a rank's work: its parts of joint collectives, in the order of its program.

    `posted` is when it launched each, `arrived` when its device came to it, both from the step's
    start and never going back. `before` is by section how long its host had worked for it when
    the step began, as it often runs ahead of the device.
    """

    posted: IntArray
    arrived: IntArray
    before: IntArray
    view: View

    @classmethod
    def of(
        cls, rank: int, step: RankStep, exchanges: Sequence[Exchange], origin: int
    ) -> tuple[Sections, Program]:
        """Cut a rank's step; also return its program."""
        parts = [e for e in exchanges if e.joint and rank in e.calls]
        calls = [e.calls[rank] for e in parts]
        own = step.calls
        at = {row: place for place, row in enumerate(own["row"].tolist())}
        known = own.take(np.array([at[call.row] for call in calls], dtype=np.int64))
        order, program = in_order(known, [len(e.calls) for e in parts])
        posted = [call.launched if call.launched >= 0 else call.arrival for call in calls]
        view = View.of(rank, step, origin)
        bounds = _rising(posted, order, origin)
        arrived = _rising([call.arrival for call in calls], order, origin)
        return cls(bounds, arrived, _by_section(_before(view), bounds), view), program

    def of_elements(self, known: Elements, mine: IntArray) -> IntArray:
        """Return the section of some elements, which are this rank's.

        Device work belongs where it was launched. Where nothing says so, or one launch brought
        collectives as well, and on the host, what ends after a collective was no part of what
        led up to it.
        """
        ends = known.start[mine] + known.duration[mine]
        device = known.on[mine] == ON_DEVICE
        section = np.where(
            device,
            np.searchsorted(self.arrived, ends, "left"),
            np.searchsorted(self.posted, ends, "left"),
        )
        row = known.row[mine]
        launch = np.full(len(mine), NEVER)
        launch[device & (row >= 0)] = self.view.launches(row[device & (row >= 0)])
        told = (launch > NEVER) & ~np.isin(launch, self.posted)
        return np.where(told, np.searchsorted(self.posted, launch, "left"), section)

    def of_points(self, time: IntArray) -> IntArray:
        """Return the section of some moments of its host."""
        return np.searchsorted(self.posted, time, "left")


def _before(view: View) -> IntArray:
    """Return when a rank's host worked for a step before that began: spans, sorted and apart.

    As in the step, a thread works between two rows as well, unless it stands still for long.
    """
    columns = view.columns
    rows = columns.of_step(view.place)
    rows = rows[columns.start[rows] < view.window.start_ns]
    by_nature = np.isin(columns.kind[rows], BY_NATURE) & view.of_cat(rows, HOST)
    works = view.of_cat(rows, CALLS | {"cpu_op"}) | by_nature
    waits = view.are(rows, Trait.WAITING_CALL)
    spans = np.column_stack((view.start[rows], np.minimum(view.finish[rows], view.low)))
    worked = union(spans[works & ~waits])
    if len(worked) == 0:
        return worked
    near = worked[1:, 0] - worked[:-1, 1] <= THRESHOLDS.host_gap_ns
    closed = np.column_stack((worked[:-1, 1], worked[1:, 0]))[near]
    return np.asarray(subtract(union(np.concatenate((worked, closed))), union(spans[waits])))


def _rising(times: Sequence[int], order: IntArray, origin: int) -> IntArray:
    return np.maximum.accumulate(np.array(times, dtype=np.int64)[order] - origin)


def _by_section(spans: IntArray, bounds: IntArray) -> IntArray:
    """Return how long of some spans, sorted and apart, lies in each section."""
    edges = np.concatenate(([NEVER], bounds, [-NEVER]))
    inside = np.clip(spans[:, :, None], edges[:-1], edges[1:])
    return np.asarray((inside[:, 1] - inside[:, 0]).sum(axis=0), dtype=np.int64)
