"""Where the hook's stamps end an exchange, and where they are not believed."""

from __future__ import annotations

import pandas as pd
import pytest

from stepviz.traces.joining.stamps import with_stamps
from tests.traces.columns import table_of

#: Two buckets of one step: their rows end at 900 and 2000, over what the training thread did next.
CALLS = pd.DataFrame(
    {
        "collective": "all-reduce", "during": "backward", "emulated": False, "on_device": False,
        "place": 0, "bytes": [8, 16], "launched_ns": [100, 300], "arrival_ns": [120, 320],
        "finish_ns": [900, 2000],
    }
)  # fmt: skip
BUCKETS = [
    {"step": 4, "index": 1, "bytes": 16, "launch_ns": 290, "done_ns": 1500},
    {"step": 4, "index": 0, "bytes": 8, "launch_ns": 90, "done_ns": 700},
]


def ends(buckets, calls=CALLS, record=1, steps=None):
    found = with_stamps(table_of(calls), {"record": record, "buckets": buckets}, steps or {0: 4})
    return found["finish_ns"].tolist()


def test_an_exchange_ends_when_its_bucket_was_done():
    assert ends(BUCKETS) == [700, 1500]


@pytest.mark.parametrize("column", ["emulated", "on_device"])
def test_rows_that_say_it_better_are_believed(column):
    assert ends(BUCKETS, CALLS.assign(**{column: True})) == [900, 2000]
    assert ends(BUCKETS, CALLS.assign(during="forward")) == [900, 2000]


@pytest.mark.parametrize(
    "buckets",
    [
        BUCKETS[:1],
        [{**BUCKETS[0], "bytes": 17}, BUCKETS[1]],
        [{**BUCKETS[0], "done_ns": None}, BUCKETS[1]],
        [{**BUCKETS[0], "step": 5}, BUCKETS[1]],
        "text",
        [3],
    ],
)
def test_a_record_that_does_not_fit_changes_nothing(buckets):
    assert ends(buckets) == [900, 2000]


def test_a_stamp_outside_its_row_is_not_used():
    late = [{**BUCKETS[0], "done_ns": 2500}, {**BUCKETS[1], "done_ns": 110}]
    assert ends(late) == [900, 2000]


def test_an_older_record_changes_nothing():
    assert ends(BUCKETS, record=None) == [900, 2000]
