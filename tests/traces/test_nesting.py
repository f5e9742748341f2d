"""Which row holds which, against a search through all rows before."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stepviz.traces.classifying.nesting import last_reaching, nearest, parents

ROUNDING = 1000


def held_by(rows):
    """Return the last row before each that runs on to its end, by looking at all of them."""
    order = sorted(range(len(rows)), key=lambda i: (rows[i][0], -rows[i][1], i))
    found = [-1] * len(rows)
    for place, i in enumerate(order):
        start, finish, track = rows[i]
        reach = max(start + 1, finish - ROUNDING, (start + finish) // 2)
        for j in reversed(order[:place]):
            if rows[j][2] == track and rows[j][1] >= reach:
                found[i] = j
                break
    return found


TIMES = st.integers(0, 30_000)
ROWS = st.lists(
    st.tuples(TIMES, st.integers(0, 9000) | st.integers(0, 20), st.integers(0, 2)), max_size=40
)


@given(ROWS)
def test_parents(spans):
    rows = [(start, start + length, track) for start, length, track in spans]
    start, finish, track = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    found = parents(start, finish, track, np.arange(len(rows)))
    assert found.tolist() == held_by(rows)


def test_of_rows_with_the_same_times_the_shallower_holds_the_other():
    start, finish, track = np.array([5, 5, 5]), np.array([2_005] * 3), np.zeros(3, dtype=np.int64)
    found = parents(start, finish, track, np.arange(3), np.array([2, 0, 1]))
    assert found.tolist() == [2, -1, 1]


@given(
    st.lists(st.integers(-5, 5), max_size=50),
    st.lists(st.tuples(st.integers(-6, 6), st.integers(0, 50)), max_size=20),
)
def test_last_reaching(values, questions):
    wanted = np.array([w for w, _ in questions], dtype=np.int64)
    before = np.array([min(b, len(values)) for _, b in questions], dtype=np.int64)
    found = last_reaching(np.array(values, dtype=np.int64), wanted, before)
    for answer, w, b in zip(found.tolist(), wanted, before, strict=True):
        good = [at for at in range(b) if values[at] >= w]
        assert answer == (good[-1] if good else -1)


@given(ROWS, st.lists(st.booleans(), min_size=40, max_size=40))
def test_nearest(spans, marks):
    rows = [(start, start + length, track) for start, length, track in spans]
    parent = held_by(rows)
    chosen = np.array(marks[: len(rows)], dtype=np.bool_)
    up = np.array(parent, dtype=np.int64)

    def climb(row):
        while row >= 0 and not chosen[row]:
            row = parent[row]
        return row

    assert nearest(up, chosen).tolist() == [climb(i) for i in range(len(rows))]
    assert nearest(up, chosen, itself=False).tolist() == [climb(p) for p in parent]


def test_neighbours_that_cross_by_rounding_hold_each_other_not():
    """Whole µs: the second begins 1 µs before the first ends, and is no part of it."""
    start, finish = np.array([0, 9_000, 30_000]), np.array([10_000, 20_000, 31_000])
    found = parents(start, finish, np.zeros(3, dtype=np.int64), np.arange(3))
    assert found.tolist() == [-1, -1, -1]


def test_a_child_may_outlast_its_parent_by_rounding():
    start, finish = np.array([0, 5_000]), np.array([10_000, 11_000])
    assert parents(start, finish, np.zeros(2, dtype=np.int64), np.arange(2)).tolist() == [-1, 0]


def test_nothing_is_held_by_nothing():
    none = np.empty(0, dtype=np.int64)
    assert parents(none, none, none, none).tolist() == []
    assert nearest(none, none.astype(np.bool_)).tolist() == []
    assert last_reaching(none, np.array([1]), np.array([0])).tolist() == [-1]
