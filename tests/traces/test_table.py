"""Tables of columns answer as frames of the same columns do."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepviz.traces.table import Table, Words

WORDS = ("a", "b", "c")


@st.composite
def columns(draw):
    """Draw times and words, as a table has them and as a frame has them."""
    count = draw(st.integers(0, 6))
    codes = np.array(draw(st.lists(st.integers(0, 2), min_size=count, max_size=count)), dtype=int)
    times = draw(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=count, max_size=count))
    time = np.array(times, dtype=np.int64)
    word = pd.Categorical([WORDS[code] for code in codes], categories=list(WORDS))
    return Table({"time": time, "word": Words(codes, WORDS)}), pd.DataFrame(
        {"time": time, "word": word}
    )


@given(data=st.data(), both=columns())
def test_rows_are_those_of_a_frame(data, both):
    table, frame = both
    assert len(table) == len(frame)
    chosen = np.array(data.draw(st.lists(st.booleans(), min_size=len(table), max_size=len(table))),
                      dtype=bool)  # fmt: skip
    pd.testing.assert_frame_equal(table.frame(), frame)
    assert list(table["word"]) == frame["word"].tolist()
    expected = frame[chosen].reset_index(drop=True)
    pd.testing.assert_frame_equal(table.take(chosen).frame(), expected)
    pd.testing.assert_frame_equal(table.take(np.flatnonzero(chosen)).frame(), expected)


def test_a_table_stays_as_it_is_where_another_has_more():
    table = Table({"time": np.arange(3)})
    more = table.assign(time=np.zeros(3), also=np.ones(3))
    assert (list(table), list(more)) == (["time"], ["time", "also"])
    assert table["time"].tolist() == [0, 1, 2]
    assert more["time"].tolist() == [0, 0, 0]
    with pytest.raises(KeyError):
        table["also"]
    assert len(Table({})) == 0


def test_a_frame_may_have_an_index_of_its_own():
    frame = Table({"time": np.arange(2)}).frame(pd.Index([7, 9], name="step"))
    assert frame["time"].to_dict() == {7: 0, 9: 1}
