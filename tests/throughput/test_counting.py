"""Counts of batches against loops over their positions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stepviz as sv
from tests.throughput.by_hand import IGNORED, LABELS, MASK, by_hand, counted, grids, packings


@given(grids())
def test_any_mask_counts_as_a_loop_does(grid):
    labels, mask = grid
    assert counted(sv.count_tokens(labels=labels, attention_mask=mask)) == by_hand(labels, mask)


@given(packings())
def test_any_packing_counts_as_a_loop_does(packing):
    labels, mask, positions = packing
    found = sv.count_tokens(labels=labels, attention_mask=mask, position_ids=positions)
    assert counted(found) == by_hand(labels, mask, positions)


@given(packings())
def test_a_mask_that_numbers_its_sequences_counts_as_positions_do(packing):
    labels, mask, positions = packing
    numbered = []
    for row, at in zip(mask, positions, strict=True):
        number, numbers = 0, []
        for kept, position in zip(row, at, strict=True):
            number += kept and position == 0
            numbers.append(number if kept else 0)
        numbered.append(numbers)
    by_position = sv.count_tokens(labels=labels, attention_mask=mask, position_ids=positions)
    assert counted(sv.count_tokens(labels=labels, attention_mask=numbered)) == counted(by_position)


@given(st.lists(st.integers(0, 6), min_size=1, max_size=8), st.integers(0, 3))
def test_cumulative_lengths_count_as_their_differences(lengths, tail):
    ends = [0]
    for length in lengths:
        ends.append(ends[-1] + length)
    total = ends[-1]
    found = sv.count_tokens(input_ids=[1] * (total + tail), cu_seqlens=ends)
    assert (found.allocated, found.real) == (total + tail, total)
    assert found.squared_lengths == sum(length**2 for length in lengths)
    assert found.sequences == sum(length > 0 for length in lengths)
    alone = sv.count_tokens(cu_seqlens=np.array(ends, np.int32))
    assert (alone.allocated, alone.squared_lengths) == (total, found.squared_lengths)


@given(grids(), st.integers(1, 4))
def test_microbatches_add_up_to_their_update(grid, accumulation):
    labels, mask = grid
    batch = {"labels": labels, "attention_mask": mask}
    one = sv.count_tokens(batch)
    update = sv.count_tokens([batch] * accumulation, scope="update")
    assert counted(update) == tuple(accumulation * value for value in counted(one))
    assert (update.updates, update.microbatches) == (1, accumulation)
    assert sv.TokenCounts.over_time([one] * accumulation, "update") == update


def test_padding_is_told_by_its_id_where_there_is_no_mask():
    assert sv.count_tokens(input_ids=[[1, 2, 0, 0]], pad_id=0).real == 2


def test_without_a_mask_every_position_is_real_and_that_is_said():
    found = sv.count_tokens(input_ids=np.ones((2, 4), int))
    assert found.real == 8
    assert "no attention_mask" in found.notes[0]


def test_left_padding_with_odd_positions_is_one_sequence():
    # Hugging Face gives padding on the left position 1
    found = sv.count_tokens(
        input_ids=[[0, 0, 5, 6]], attention_mask=[[0, 0, 1, 1]], position_ids=[[1, 1, 0, 1]]
    )
    assert (found.sequences, found.squared_lengths) == (1, 4)


def test_positions_that_all_rows_share_are_repeated():
    found = sv.count_tokens(input_ids=np.ones((3, 4), int), position_ids=np.arange(4)[None])
    assert (found.sequences, found.squared_lengths) == (3, 48)


def test_labels_that_are_shifted_already_count_the_first_too():
    # transformers #46204: 5 labels before the shift, 4 targets after it
    labels = [[1, 2, 3, 4, 5]]
    assert sv.count_tokens(labels=labels).scored == 4
    assert sv.count_tokens(labels=labels, shifted=True).scored == 5


def test_targets_across_a_packed_boundary_are_scored_and_noted():
    packed = {"input_ids": [[1, 2, 3, 4]], "position_ids": [[0, 1, 0, 1]]}
    found = sv.count_tokens({**packed, "labels": [[1, 2, 3, 4]]})
    assert found.scored == 3
    assert "1 scored targets are the first of a packed sequence" in found.notes[0]
    masked = sv.count_tokens({**packed, "labels": [[IGNORED, 2, IGNORED, 4]]})
    assert (masked.scored, masked.notes) == (2, ())


def test_kernels_that_skip_padding_execute_real_positions():
    batch = {"labels": LABELS, "attention_mask": MASK}
    assert sv.count_tokens(batch).executed == 8
    assert sv.count_tokens(batch, skips_padding=True).executed == 7


def test_an_ignore_index_of_ones_own():
    assert sv.count_tokens(labels=[[1, -1, 2]], ignore_index=-1).scored == 1


def test_counts_of_an_update():
    # the lesson: DP 4 × 2 sequences × 8 passes × 2,048
    assert sv.tokens_per_update(dp=4, microbatch=2, accumulation=8, sequence=2048) == 131_072


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        ({"pixel_values": [1]}, "has no tokens to count"),
        ({"input_ids": [[1, 2]], "labels": [[1, 2, 3]]}, "labels is 1 row of 3 positions"),
        ({"input_ids": [[1, 2]], "attention_mask": [[1, -1]]}, "attention_mask holds -1"),
        ({"input_ids": [[1, 2]], "attention_mask": [[0.0, -np.inf]]}, "added to scores"),
        ({"input_ids": [["a", "b"]]}, "give whole numbers"),
        ({"input_ids": [[1.5, 2]]}, "holds 1.5"),
        ({"input_ids": [[1, 2], 3]}, "mixes numbers and lists|holds"),
        ({"input_ids": 3}, "holds no positions|give whole"),
        ({"input_ids": [1, 2, 3], "cu_seqlens": [1, 3]}, "begins with 0"),
        ({"input_ids": [1, 2, 3], "cu_seqlens": [0, 5]}, "give the bounds of this batch"),
    ],
)
def test_what_cannot_be_counted_is_refused(batch, message):
    with pytest.raises(sv.ThroughputError, match=message):
        sv.count_tokens(batch)


def test_scored_padding_is_noted():
    # labels that are a copy of the ids, padding and all
    batch = {"input_ids": [[1, 2, 0, 0], [3, 4, 5, 0]], "attention_mask": [[1, 1, 0, 0], [1] * 4]}
    found = sv.count_tokens({**batch, "labels": batch["input_ids"]})
    assert found.scored == 6
    assert found.notes[0].startswith("2 scored targets are padding, and the loss counts them")
    masked = [[1, 2, IGNORED, IGNORED], [3, 4, 5, 0]]
    assert sv.count_tokens({**batch, "labels": masked}).notes == ()


@pytest.mark.parametrize("shape", [(3, 3), (1, 3, 3), (1, 1, 3, 3), (2, 4, 4)])
def test_a_mask_of_who_sees_whom_is_refused(shape):
    rows = shape[0] if len(shape) == 3 else 1
    batch = {"input_ids": np.ones((rows, shape[-1]), int), "attention_mask": np.ones(shape, int)}
    with pytest.raises(sv.ThroughputError, match="says who sees whom: give the mask of the tok"):
        sv.count_tokens(batch)


def test_a_loss_mask_says_which_labels_count():
    megatron = {
        "tokens": [[1, 2, 3, 4], [5, 6, 7, 8]],
        "labels": [[2, 3, 4, 9], [6, 7, 8, 9]],
        "loss_mask": [[1.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.0]],
    }
    assert sv.count_tokens(megatron, shifted=True).scored == 4
    assert sv.count_tokens(megatron).scored == 3  # a row's first label is no target
    rows = [{name: column[k] for name, column in megatron.items()} for k in range(2)]
    assert sv.count_tokens(rows, shifted=True).scored == 4
    small = {name: np.array(column, np.uint8) for name, column in megatron.items()}
    assert sv.count_tokens(small, shifted=True).scored == 4
    del megatron["labels"]
    assert sv.count_tokens(megatron, shifted=True).scored == 4
    assert sv.count_tokens(input_ids=[1, 2], labels=[1, 2], loss_mask=[1, 0]).scored == 0
    with pytest.raises(sv.ThroughputError, match="loss_mask is 1 row of 1 position"):
        sv.count_tokens(input_ids=[1, 2], labels=[1, 2], loss_mask=[1])


def test_sequences_of_one_position_are_noted():
    batch = {"input_ids": [[1, 2, 3, 0, 0]], "position_ids": [[0, 1, 0, 0, 0]]}
    found = sv.count_tokens(batch)
    assert (found.real, found.sequences, found.squared_lengths) == (5, 4, 7)
    assert found.notes[0].startswith("3 of the sequences that position_ids begin have one position")
    told = sv.count_tokens(batch, pad_id=0)
    assert (told.real, told.sequences, told.squared_lengths, told.notes) == (3, 2, 5, ())
    assert sv.count_tokens({**batch, "cu_seqlens": [0, 2, 3]}).notes == ()
    # padding in front, as transformers numbers it
    left = {"input_ids": [[0, 0, 5, 6]], "position_ids": [[1, 1, 0, 1]]}
    assert "2 of the sequences" in sv.count_tokens(left).notes[0]
    assert sv.count_tokens({"input_ids": [[1, 2]], "position_ids": [[0, 1]]}).notes == ()
    assert sv.count_tokens({"input_ids": [[1], [2, 3]], "position_ids": [[0], [0, 1]]}).notes == ()
