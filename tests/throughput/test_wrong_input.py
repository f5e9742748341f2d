"""Input that has no meaning: a sentence says what is wrong and what to give instead."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import stepviz as sv

IDS = np.ones((2, 8), np.int64)
TIMED = sv.TokenCounts(allocated=8, scored=2, scope="update", seconds=0.004)


class Unreadable:
    """A tensor that holds nothing, such as one on torch's meta device."""

    shape = (2, 8)
    ndim = 2

    def detach(self):
        return self

    def cpu(self):
        msg = "Cannot copy out of meta tensor; no data!"
        raise NotImplementedError(msg)


@pytest.mark.parametrize(
    "batch",
    [
        (IDS, IDS),  # as nanoGPT's loader returns (x, y)
        (IDS[0], IDS[0]),
        [IDS, IDS],  # as torch collates a TensorDataset
        ({"input": IDS}, IDS),  # as torchtitan's loader yields
        [{"input_ids": IDS}, IDS],
    ],
)
def test_labels_that_come_in_a_pair_are_not_counted_as_positions(batch):
    with pytest.raises(sv.ThroughputError, match="does not say what its parts are"):
        sv.count_tokens(batch)
    with pytest.raises(sv.ThroughputError, match=r"batch 1: a .* does not say what its parts are"):
        sv.count_tokens(iter([batch]))


def test_rows_of_several_lengths_are_rows_in_a_list():
    found = sv.count_tokens([np.ones(3, np.int64), np.ones(5, np.int64)])
    assert (found.allocated, found.sequences, found.squared_lengths) == (8, 2, 34)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"attention_mask": np.ones((2, 1, 4, 4), bool)},
            "says who sees whom: give the mask of the tokenizer",
        ),
        ({"input_ids": IDS, "attention_mask": np.ones((2, 1, 8, 8))}, "who sees whom"),
        ({"input_ids": Unreadable()}, "input_ids cannot be read .*no data!.* dense tensor"),
        ({"input_ids": IDS, "pad_id": "0"}, "pad_id is '0': give the id"),
        ({"input_ids": IDS, "pad_id": [0]}, r"pad_id is \[0\]: give the id"),
        ({"labels": IDS, "ignore_index": None}, "ignore_index is None: give the id"),
        ({"labels": IDS, "ignore_index": True}, "ignore_index is True: give the id"),
        ({"batch": "hello"}, "input_ids holds no positions"),
        ({"input_ids": IDS, "seconds": 10**400}, "seconds is beyond any float"),
    ],
)
def test_what_is_no_batch_is_refused(given, message):
    with pytest.raises(sv.ThroughputError, match=message):
        sv.count_tokens(**given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"of": ["scored"]}, r"a rate of \['scored'\] is unknown"),
        ({"scope": "micro"}, "there is no scope 'micro'"),
        ({"scope": None}, "there is no scope None"),
        ({"devices": 0}, "devices is 0"),
        ({"devices": -2}, "devices is -2"),
        ({"devices": "2"}, "devices is '2'"),
    ],
)
def test_what_is_no_rate_is_refused(given, message):
    whole = {"count": 8, "seconds": 0.004, "of": "scored", "scope": "update"}
    with pytest.raises(sv.ThroughputError, match=message):
        sv.Rate(**whole | given)


def test_rates_are_ordered():
    slow, fast = sv.Rate(1, 2, "scored", "update"), sv.Rate(1, 1, "scored", "run")
    assert slow <= fast
    assert fast >= slow
    assert slow <= slow  # noqa: PLR0124  # the same is no less
    with pytest.raises(sv.ThroughputError, match="rates of different things"):
        assert slow <= sv.Rate(1, 1, "allocated", "run")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: TIMED.rate(["scored"]), r"a rate of \['scored'\] is unknown"),
        (lambda: TIMED.rate("executed").per_device(0), "devices is 0"),
        (lambda: sv.Rate.overall(5), "rates is 5: give a list"),
        (lambda: sv.TokenCounts.over_time(5), "counts is 5: give a list"),
        (lambda: sv.TokenCounts.over_ranks(TIMED), "give a list"),
        (lambda: sv.TokenCounts(allocated=8, notes="a note"), r"such as \['a note'\]"),
        (lambda: sv.compare_counts(TIMED, 5), "after is 5: give timed TokenCounts"),
        (lambda: sv.compare_counts(SimpleNamespace(), TIMED), "before is namespace"),
        (lambda: sv.throughput_table({}), "counts is {}: give timed TokenCounts"),
    ],
)
def test_what_is_no_count_is_refused(call, message):
    with pytest.raises(sv.ThroughputError, match=message):
        call()
