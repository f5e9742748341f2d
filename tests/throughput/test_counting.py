"""Counts of batches against loops over their positions, in every container that people have."""

from __future__ import annotations

import sys
import time
import tracemalloc
from collections import UserDict

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stepviz as sv

IGNORED = -100


def by_hand(labels, mask, positions=None):
    """Count position by position: rows of lists, no arrays."""
    allocated = real = scored = sequences = squared = 0
    for r, row in enumerate(labels):
        length = 0
        previous = None
        for i, label in enumerate(row):
            allocated += 1
            if i > 0 and label != IGNORED:
                scored += 1
            if not mask[r][i]:
                continue
            real += 1
            at = positions[r][i] if positions else None
            if previous is not None and at is not None and at <= previous:
                sequences += 1
                squared += length * length
                length = 0
            previous = at
            length += 1
        if length:
            sequences += 1
            squared += length * length
    return allocated, real, scored, sequences, squared


def counted(counts):
    return (
        counts.allocated,
        counts.real,
        counts.scored,
        counts.sequences,
        counts.squared_lengths,
    )


@st.composite
def grids(draw):
    rows, length = draw(st.integers(1, 4)), draw(st.integers(1, 9))
    cell = st.lists(
        st.lists(st.sampled_from([IGNORED, 5, 0]), min_size=length, max_size=length),
        min_size=rows,
        max_size=rows,
    )
    bits = st.lists(
        st.lists(st.integers(0, 1), min_size=length, max_size=length),
        min_size=rows,
        max_size=rows,
    )
    return draw(cell), draw(bits)


@st.composite
def packings(draw):
    """Rows of packed sequences with padding behind: labels, mask, position_ids, by row."""
    length = draw(st.integers(1, 14))
    labels, mask, positions = [], [], []
    for _ in range(draw(st.integers(1, 3))):
        sizes, left = [], length
        while left and draw(st.booleans()):
            sizes.append(draw(st.integers(1, left)))
            left -= sizes[-1]
        mask.append([1] * (length - left) + [0] * left)
        positions.append([p for size in sizes for p in range(size)] + [0] * left)
        cells = st.sampled_from([IGNORED, 7])
        labels.append(draw(st.lists(cells, min_size=length, max_size=length)))
    return labels, mask, positions


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


LABELS = [[IGNORED, IGNORED, 7, 8], [IGNORED, 6, 5, IGNORED]]
MASK = [[1, 1, 1, 1], [1, 1, 1, 0]]
RIGHT = (8, 7, 4, 2, 25)


def as_torch(rows, dtype="int64"):
    torch = pytest.importorskip("torch")
    return torch.tensor(rows, dtype=getattr(torch, dtype))


@pytest.mark.parametrize(
    "make",
    [
        list,
        lambda rows: tuple(map(tuple, rows)),
        np.array,
        lambda rows: np.array(rows, np.int32),
        lambda rows: np.array(rows, float),
        lambda rows: [np.array(row) for row in rows],
        pd.DataFrame,
        pd.Series,
        as_torch,
        lambda rows: list(as_torch(rows)),
        lambda rows: as_torch(rows, "bfloat16"),
    ],
    ids=[
        "lists",
        "tuples",
        "numpy",
        "int32",
        "float",
        "list of arrays",
        "frame",
        "series of lists",
        "torch",
        "list of tensors",
        "bfloat16",
    ],
)
def test_every_container_counts_alike(make):
    found = sv.count_tokens({"labels": make(LABELS), "attention_mask": make(MASK)})
    assert counted(found) == RIGHT


def test_torch_is_recognised_without_being_imported(monkeypatch):
    class Tensor:
        """What torch hands out, as far as anyone need know."""

        def __init__(self, rows):
            self.rows = rows

        def detach(self):
            return self

        def cpu(self):
            return self

        def __array__(self, dtype=None, copy=None):
            return np.array(self.rows, dtype)

    monkeypatch.setitem(sys.modules, "torch", None)  # importing it now would fail
    found = sv.count_tokens(labels=Tensor(LABELS), attention_mask=Tensor(MASK))
    assert counted(found) == RIGHT


def test_rows_of_several_lengths_hold_no_padding():
    found = sv.count_tokens(input_ids=[[1, 2, 3], [4]], labels=[[IGNORED, 2, 3], [4]])
    assert counted(found) == (4, 4, 2, 2, 10)
    assert found.notes == ()


def test_a_frame_of_examples_is_a_batch():
    frame = pd.DataFrame({"input_ids": [[1, 2, 3], [4]], "labels": [[1, 2, 3], [4]]})
    assert counted(sv.count_tokens(frame)) == (4, 4, 2, 2, 10)


def test_a_bare_array_is_input_ids():
    assert sv.count_tokens(np.ones((3, 5), int)).allocated == 15


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


def test_of_many_batches_the_bad_one_is_named():
    good = {"input_ids": [[1, 2], [3, 4]]}
    with pytest.raises(sv.ThroughputError, match="batch 3: labels is"):
        sv.count_tokens([good, good, {"input_ids": [1, 2], "labels": [1]}])
    single = {"input_ids": [1, 2], "labels": [1, 2]}
    with pytest.raises(sv.ThroughputError, match="batch 2: input_ids holds"):
        sv.count_tokens([single, {"input_ids": [1, 2.5], "labels": [1, 2]}, single])
    with pytest.raises(sv.ThroughputError, match="batch 1 has labels and batch 2 has none"):
        sv.count_tokens([single, {"input_ids": [1, 2]}])
    with pytest.raises(sv.ThroughputError, match="no batch to count"):
        sv.count_tokens(iter(()))


@given(st.lists(packings(), min_size=1, max_size=5))
def test_a_stream_counts_as_its_batches_do(batches):
    def as_batch(packing):
        labels, mask, positions = packing
        return {"labels": labels, "attention_mask": mask, "position_ids": positions}

    def rows(packing):
        return [
            dict(zip(("labels", "attention_mask", "position_ids"), row, strict=True))
            for row in zip(*packing, strict=True)
        ]

    apart = [sv.count_tokens(as_batch(packing)) for packing in batches]
    right = tuple(sum(values) for values in zip(*map(counted, apart), strict=True))
    assert counted(sv.count_tokens(as_batch(p) for p in batches)) == right
    # and row by row, which are gathered and counted together
    assert counted(sv.count_tokens(row for p in batches for row in rows(p))) == right


@pytest.mark.alone
def test_a_million_sequences_take_seconds_and_constant_memory():
    rng = np.random.default_rng(6)
    lengths = rng.integers(1, 33, 1000)
    mask = (np.arange(32) < lengths[:, None]).astype(np.int64)
    ids = np.where(mask, 5, 0)
    batch = {"input_ids": ids, "labels": np.where(mask, 5, IGNORED), "attention_mask": mask}
    tracemalloc.start()
    began = time.perf_counter()
    found = sv.count_tokens(dict(batch) for _ in range(1000))
    seconds = time.perf_counter() - began
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.sequences == 1_000_000
    assert found.real == 1000 * int(lengths.sum())
    assert found.scored == 1000 * int((lengths - 1).sum())
    assert found.squared_lengths == 1000 * int((lengths**2).sum())
    assert seconds < 10
    assert peak < 20_000_000


def test_single_rows_are_gathered_to_no_more_than_they_may_hold():
    row = {"input_ids": list(range(1000, 1050)), "attention_mask": [1] * 50}
    tracemalloc.start()
    found = sv.count_tokens(dict(row) for _ in range(20_000))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.allocated == 1_000_000
    assert peak < 20_000_000


@pytest.mark.parametrize("as_row", [list, tuple, np.array])
def test_single_rows_count_alike_whatever_holds_them(as_row):
    rows = [[1, 2, 3, 0], [4, 5, 0, 0]] * 40
    batches = [
        UserDict(input_ids=as_row(row), attention_mask=as_row([int(i > 0) for i in row]))
        for row in rows
    ]
    found = sv.count_tokens(iter(batches))
    assert (found.allocated, found.real, found.sequences) == (320, 200, 80)
    assert found.squared_lengths == 40 * (9 + 4)


@pytest.mark.parametrize("name", ["cu_seqlens", "cu_seq_lens_q", "cu_seqlens_q"])
def test_bounds_of_a_single_row_are_read_under_every_name(name):
    row = {"input_ids": [1, 2, 3, 4, 5], name: [0, 3, 5]}
    found = sv.count_tokens(dict(row) for _ in range(3))
    assert (found.sequences, found.squared_lengths) == (6, 3 * 13)
    other = sv.count_tokens(iter([{"tokens": [1, 2, 3], "labels": [1, IGNORED, 2]}]))
    assert (other.allocated, other.scored) == (3, 1)
    with pytest.raises(sv.ThroughputError, match="batch 1: labels is 1 row of 2"):
        sv.count_tokens(iter([{"tokens": [1, 2, 3], "labels": [1, 2]}]))


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


def test_one_number_of_an_array_library_is_a_number():
    two = np.array(2.0)
    found = sv.count_tokens([[1, 2, 0]], seconds=two, pad_id=np.array(0))
    assert (found.seconds, found.real) == (2.0, 2)
    assert sv.tokens_per_update(dp=two, sequence=np.array(8)) == 16
