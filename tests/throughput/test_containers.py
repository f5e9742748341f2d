"""Whatever holds a batch, and however many batches come, the counts are the same."""

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
from tests.throughput.by_hand import IGNORED, LABELS, MASK, RIGHT, counted, packings


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


def test_one_number_of_an_array_library_is_a_number():
    two = np.array(2.0)
    found = sv.count_tokens([[1, 2, 0]], seconds=two, pad_id=np.array(0))
    assert (found.seconds, found.real) == (2.0, 2)
    assert sv.tokens_per_update(dp=two, sequence=np.array(8)) == 16
