"""Frames that are given out are the asker's: what is written into one changes no answer."""

from __future__ import annotations

import pandas as pd
import pytest

import stepviz as sv

OF_A_RUN = ("steps", "files", "clock", "systems", "buckets", "spread")
OF_A_STEP = (
    "windows", "collectives", "unmatched", "own_time", "critical_path", "landmarks", "breakdown",
    "exchanges", "idle", "exposed",
)  # fmt: skip


@pytest.fixture(scope="module")
def run():
    """One rank of two, so that its exchanges stay with it."""
    return sv.load_run(sv.sample_run().files["file"].iloc[0])


@pytest.mark.parametrize("name", [*OF_A_RUN, *OF_A_STEP])
def test_writing_into_a_frame_changes_no_answer(run, name):
    def ask():
        found = getattr(run if name in OF_A_RUN else run.step(), name)
        found = found() if callable(found) else found
        return found.to_frame() if isinstance(found, pd.Series) else found

    before, given = ask().copy(deep=True), ask()
    assert len(given)
    for at, column in enumerate(given.columns):
        if pd.api.types.is_bool_dtype(given[column]):
            given.iloc[:, at] = ~given[column]
        elif pd.api.types.is_numeric_dtype(given[column]):
            given.iloc[:, at] = given[column] + 1
        else:
            given.iloc[:, at] = "written"
    pd.testing.assert_frame_equal(ask(), before)
