"""A thread, flattened, against a look at every instant by itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepviz.traces.graph import threads
from stepviz.traces.graph.threads import BARE, EXCHANGES, NAMED, WAITS, WORKS, Rows, flatten

END = 60


def rows_of(spans, kinds):
    """Return rows of a thread; a row's kind is one of works, waits, exchanges, names, none."""
    start, finish = np.array(spans, dtype=np.int64).reshape(-1, 2).T
    flags = [np.array([kind == one for kind in kinds], dtype=bool) for one in range(4)]
    return Rows(np.arange(len(start)), start, finish, *flags)


def at_every_instant(spans, kinds, low, high):
    """Return what each unit of time is, and which row has it."""
    found = []
    for moment in range(low, high):
        here = [k for k, (start, finish) in enumerate(spans) if start <= moment < finish]
        # Of rows that start at once the longer one is outside.
        owner = max(here, key=lambda k: (spans[k][0], -spans[k][1], k), default=-1)
        run = {kinds[k] for k in here}
        order = ((1, WAITS), (2, EXCHANGES), (0, WORKS), (3, NAMED))
        found.append((next((what for kind, what in order if kind in run), BARE), owner))
    return found


def compare(spans, kinds, low=0, high=END):
    flat = flatten(rows_of(spans, kinds), low, high, np.zeros(0, dtype=np.int64))
    told = [
        (int(what), int(owner))
        for what, owner, length in zip(flat.what, flat.owner, flat.length, strict=True)
        for _ in range(length)
    ]
    assert (flat.edges[0], flat.edges[-1]) == (low, high)
    assert told == at_every_instant(spans, kinds, low, high)


SPANS = st.lists(
    st.tuples(st.integers(0, END - 1), st.integers(1, 25)).map(
        lambda one: (one[0], min(one[0] + one[1], END))
    ),
    max_size=14,
)


@settings(max_examples=400)
@given(spans=SPANS, data=st.data(), rounds=st.sampled_from([0, 1, 16]))
def test_rows_that_nest_or_cross(spans, data, rounds):
    kinds = data.draw(st.lists(st.integers(0, 4), min_size=len(spans), max_size=len(spans)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threads, "_MOST_ROUNDS", rounds)
        compare(spans, kinds)


def test_only_what_is_tangled_is_gone_through_row_by_row(monkeypatch):
    """Two tangles in a row that holds both, and a third beside it; the rest nests."""
    spans = [(0, 50), (1, 4), (2, 6), (8, 20), (9, 12), (22, 30), (25, 33), (32, 36), (40, 44),
             (51, 55), (53, 58)]  # fmt: skip
    gone_through = []
    original = threads._one_by_one

    def counted(begins, which, below):
        gone_through.append((sorted(set(which.tolist())), below))
        return original(begins, which, below)

    monkeypatch.setattr(threads, "_one_by_one", counted)
    compare(spans, [0] * len(spans))
    assert gone_through == [([1, 2], 0), ([5, 6, 7], 0), ([9, 10], -1)]
