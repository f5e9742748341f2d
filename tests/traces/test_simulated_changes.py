"""Changes that are really made: the graph's answers against the same run simulated again.

No row says that an exchange needs the gradients before it, as in traces without stream waits.
"""

from __future__ import annotations

import random

import pytest

import stepviz as sv
from tests.traces.many_ranks import LINK
from tests.traces.synthetic import document, host, kernel, launch, note

#: Gaps in µs: before an exchange, between two, before the update.
READY, NEXT, UPDATE = 3, 1, 2


class Run:
    """A DDP run of three steps with random lengths, µs; `again` makes one with some changed."""

    def __init__(self, seed):
        chosen = random.Random(seed)  # no secret
        self.ranks, self.buckets = chosen.choice([2, 3, 4]), chosen.randint(1, 5)
        every = [(rank, step) for rank in range(self.ranks) for step in range(3)]
        self.forward = {at: chosen.uniform(300, 900) for at in every}
        self.update = {at: chosen.uniform(50, 100) for at in every}
        self.backward = {
            at: [chosen.uniform(100, 700) for _ in range(self.buckets)] for at in every
        }
        self.transfer = [[chosen.uniform(20, 600) for _ in range(self.buckets)] for _ in range(3)]

    def step(self, number, starts, *, gradients=1.0, link=1.0, slow=()):
        """Return by rank what runs in one step, and when each rank ends it."""
        factor = {rank: dict(slow).get(rank, 1.0) for rank in range(self.ranks)}
        now, rows = dict(starts), {rank: [] for rank in range(self.ranks)}
        for rank in range(self.ranks):
            length = self.forward[rank, number] * factor[rank]
            rows[rank].append(("forward", now[rank], length))
            now[rank] += length
        free = dict(now)
        for bucket in range(self.buckets):
            arrival = {}
            for rank in range(self.ranks):
                length = self.backward[rank, number][bucket] * gradients * factor[rank]
                rows[rank].append(("backward", now[rank], length))
                now[rank] += length
                arrival[rank] = max(now[rank] + READY, free[rank] + NEXT)
            done = max(arrival.values()) + self.transfer[number][bucket] * link
            for rank, at in arrival.items():
                rows[rank].append((bucket, at, done - at))
                free[rank] = done
        for rank in range(self.ranks):
            begun = max(now[rank], free[rank]) + UPDATE
            rows[rank].append(("update", begun, self.update[rank, number] * factor[rank]))
            now[rank] = begun + rows[rank][-1][2]
        return rows, now

    def documents(self):
        """Return its traces, and when each rank began the second step."""
        events, begun = {rank: [] for rank in range(self.ranks)}, []
        starts, at = dict.fromkeys(range(self.ranks), 1000.0), 500.0
        for number in range(3):
            begun.append(starts)
            rows, starts = self.step(number, starts)
            for rank, found in rows.items():
                events[rank] += self._traced(number, at, found)
            at += 3 * len(rows[0]) + 1
        return {r: document(r, found, world=self.ranks) for r, found in events.items()}, begun[1]

    def _traced(self, number, at, rows):
        events = [note(f"ProfilerStep#{number}", at, 3 * len(rows))]
        for place, (what, start, length) in enumerate(rows):
            here, call = at + 3 * place, 100 * number + place + 1
            if what == "forward":
                events.append(note("DistributedDataParallel.forward", here, 2.5))
            elif what == "backward":
                events.append(host("autograd::engine::evaluate_function: M", here, 2.5))
            elif what == "update":
                events.append(note("Optimizer.step#SGD.step", here, 2.5))
            said = {"Collective name": "allreduce", "In msg nelems": 100 + place, "dtype": "Float",
                    "Group size": self.ranks, "Process Group Name": "0"}  # fmt: skip
            moves = isinstance(what, int)
            name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL" if moves else f"gemm {what}"
            stream = {"stream": LINK, **said} if moves else {}
            events += [launch(here + 0.3, call),
                       kernel(name, round(start, 3), round(length, 3), call, **stream)]  # fmt: skip
        return events


CHANGES = [
    ({"kind": "backward", "factor": 0.5}, {"gradients": 0.5}),
    ({"kind": "exchange", "factor": 0}, {"link": 0}),
    ({"kind": "exchange", "factor": 2}, {"link": 2}),
    ({"rank": 1, "own_time": 0.5}, {"slow": [(1, 0.5)]}),
    ({"rank": 0, "own_time": 1.5}, {"slow": [(0, 1.5)]}),
]


@pytest.mark.parametrize("seed", range(16))
def test_a_change_is_predicted_as_it_would_be(seed, write_trace):
    made = Run(seed)
    documents, starts = made.documents()
    for rank, trace in documents.items():
        path = write_trace(f"rank{rank}.json", trace)
    step = sv.load_run(path.parent).step(1)
    first = min(starts.values())
    assert step.completion_ns == pytest.approx(
        1000 * (max(made.step(1, starts)[1].values()) - first), abs=3
    )
    for change, really in CHANGES:
        expected = max(made.step(1, starts, **really)[1].values()) - first
        # Lags of a few µs between rows stay as they were, whatever changes around them.
        assert step.what_if(**change).completion_ns == pytest.approx(1000 * expected, rel=0.005)
    together = dict.fromkeys(starts, first)
    expected = max(made.step(1, together)[1].values()) - first
    answer = step.what_if(start_together=True)
    assert answer.completion_ns == pytest.approx(1000 * expected, rel=0.005)
