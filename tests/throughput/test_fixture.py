"""The data of the side-by-side: one fixture under every numerator, and every loss denominator."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stepviz as sv
from stepviz.throughput.layouts import made_batch
from stepviz.throughput.packing_cases import slider_case
from tests.throughput.by_hand import LESSON


def lesson_counts():
    return [
        sv.count_tokens(LESSON["padded"], scope="update", seconds=0.004),
        sv.count_tokens(LESSON["packed"], scope="update", seconds=0.003),
    ]


def test_the_lesson_side_by_side():
    padded, packed = lesson_counts()
    assert (padded.allocated, padded.scored, packed.allocated, packed.scored) == (8, 2, 6, 2)
    found = sv.compare_counts(padded, packed)
    table = found.table
    positions = table.loc["processed positions per second"]
    assert (positions["before"], positions["after"], positions["change"]) == (
        2000,
        2000,
        "unchanged",
    )
    targets = table.loc["scored targets per second"]
    assert (targets["before"], round(targets["after"]), targets["change"]) == (500, 667, "better")
    assert table.loc["time per update", ["before", "after"]].tolist() == [4, 3]
    assert "Processed positions per second: 2,000 before and after, unchanged." in found.words
    assert "Scored targets per second: from 500 to 667, 1.33 times as many." in found.words
    assert any("nothing about learning" in said for said in found.words)
    assert any("skip padding already" in said for said in found.words)


def test_with_a_model_and_a_peak_there_is_a_utilization_beside():
    padded, packed = lesson_counts()
    shape = sv.ModelShape(layers=2, hidden=64, heads=4, vocab=100)
    table = sv.compare_counts(padded, packed, shape=shape, peak=1e10).table
    matrices, attention = 6 * shape.matmul_parameters, 6 * 2 * 64 * (3 * 3 + 3 * 3)
    # matrices run over padding too; attention stays inside the two sequences of 3 positions
    assert table.loc["MFU (packed)", "before"] == pytest.approx(
        (8 * matrices + attention) / 0.004 / 1e10
    )
    assert table.loc["MFU (packed)", "after"] == pytest.approx(
        (6 * matrices + attention) / 0.003 / 1e10
    )


def test_one_fixture_under_every_convention():
    padded, _ = lesson_counts()
    shape = sv.ModelShape(layers=2, hidden=64, heads=4, vocab=100)
    table = sv.throughput_table(padded, shape=shape, peak=1e10, sequence=4)
    assert table.loc["updates per second", "value"] == 250
    assert table.loc["time per update", ["value", "unit"]].tolist() == [4, "ms"]
    shown = {name.split("(")[1][:-1] for name in table.index if name.startswith(("MFU", "HFU"))}
    assert shown == set(sv.conventions().index)
    assert table.loc["MFU (6N_all)", "value"] == 2000 * 6 * shape.parameters / 1e10
    without = sv.throughput_table(padded, shape=shape, peak=1e10)
    assert {"MFU (6N_all)", "MFU (packed)"} <= set(without.index)
    assert "MFU (causal)" not in without.index


def test_other_useful_work_is_no_improvement():
    before = sv.TokenCounts(allocated=8, scored=4, scope="update", seconds=0.004)
    after = sv.TokenCounts(allocated=8, scored=2, scope="update", seconds=0.002)
    assert "do not score the same targets (4 and 2)" in sv.compare_counts(before, after).words[-1]
    with pytest.raises(sv.ThroughputError, match="time the same"):
        sv.compare_counts(before, sv.TokenCounts(allocated=8, seconds=1.0))


def test_masks_token_by_token():
    roles = sv.token_roles(LESSON["packed"])
    assert roles["role"].tolist() == ["prompt", "prompt", "completion"] * 2
    assert roles["sequence"].tolist() == [0, 0, 0, 1, 1, 1]
    assert roles["first"].tolist() == [True, False, False] * 2
    assert roles["scored"].tolist() == [False, False, True] * 2
    padded = sv.token_roles(LESSON["padded"])
    assert padded["role"].tolist() == ["prompt", "prompt", "completion", "padding"] * 2
    assert padded["sequence"].isna().sum() == 2


@given(
    rows=st.integers(1, 6),
    length=st.integers(2, 24),
    shares=st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1)),
    packing=st.integers(1, 4),
)
def test_what_sliders_make_are_batches_whose_roles_are_their_counts(rows, length, shares, packing):
    padding, spread, prompt = shares
    case = slider_case(
        sequences=rows, length=length, padding=padding, spread=spread, prompt=prompt,
        packing=packing,
    )  # fmt: skip
    for batch, counts in zip((case.before, case.after), case.counts, strict=True):
        roles = sv.token_roles(batch)
        assert len(roles) == counts.allocated
        assert (roles["role"] != "padding").sum() == counts.real
        assert roles["scored"].sum() == counts.scored
        assert roles["first"].sum() == counts.sequences == rows
        assert (roles.groupby("sequence").size() ** 2).sum() == counts.squared_lengths
        assert counts.notes == ()  # no target crosses a boundary
    assert {len(row) for row in case.before["input_ids"]} == {length}
    # Packing keeps the targets and the sequences, and may only drop padding.
    padded, packed = case.counts
    assert (padded.scored, padded.squared_lengths, padded.real) == (
        packed.scored,
        packed.squared_lengths,
        packed.real,
    )


def test_a_batch_that_cannot_be_made_is_refused():
    with pytest.raises(sv.ThroughputError, match="one of each per sequence"):
        made_batch([1], [1, 2], length=4)
    with pytest.raises(sv.ThroughputError, match="does not fit into a row of 4"):
        made_batch([3], [3], length=4)
    with pytest.raises(sv.ThroughputError, match=r"40 % is 0\.4"):
        slider_case(padding=40)


# two ranks, two microbatches each: [2,2,2,2] and [6]; [1,1,1] and [5]
LOSSES = [[[2, 2, 2, 2], [6]], [[1, 1, 1], [5]]]


def test_one_set_of_losses_under_every_denominator():
    table = sv.loss_denominators(LOSSES)
    value = table["value"]
    assert value["all targets"] == 22 / 9
    assert value["microbatch means"] == 3.5
    assert value["rank means"] == pytest.approx(2.4)
    assert value["unshifted labels"] == 22 / 13
    first = table[table["rank"] == 0]["value"]
    assert first["rank, its microbatch means"] == 4.0
    assert first["rank, its targets"] == pytest.approx(2.8)


@given(
    st.lists(
        st.lists(st.lists(st.floats(0, 10), min_size=3, max_size=3), min_size=2, max_size=2),
        min_size=1,
        max_size=3,
    )
)
def test_with_equal_counts_every_mean_is_the_same(losses):
    value = sv.loss_denominators(losses)["value"]
    assert value["microbatch means"] == pytest.approx(value["all targets"])
    assert value["rank means"] == pytest.approx(value["all targets"])


def test_a_microbatch_without_targets_has_no_mean():
    value = sv.loss_denominators([[[1.0, 2.0], []]])["value"]
    assert value["all targets"] == 1.5
    assert math.isnan(value["microbatch means"])


@pytest.mark.parametrize(
    ("losses", "message"),
    [([], "no loss"), ([1.0], "rank 0 is 1.0"), ([[["a"]]], "a loss of rank 0")],
)
def test_losses_that_are_none_are_refused(losses, message):
    with pytest.raises(sv.ThroughputError, match=message):
        sv.loss_denominators(losses)
