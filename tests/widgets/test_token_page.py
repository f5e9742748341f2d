"""A token comparison in a page counts, packs and compares as Python does."""

from __future__ import annotations

import random
from typing import Any

import pytest

import stepviz as sv
from tests.widgets.page_pictures import assert_alike, in_page


def some_settings(
    widget: sv.TokenComparison, rng: random.Random, count: int
) -> list[dict[str, Any]]:
    """Return settings at stops of every slider, whose stops depend on one another."""
    found = []
    for _ in range(count):
        one = dict(widget.value) | {"skips_padding": rng.random() < 0.3}
        for name in (
            "sequences",
            "length",
            "padding",
            "spread",
            "prompt",
            "packing",
            "accumulation",
        ):
            stops = widget._stops(one)
            if name in stops:
                one[name] = rng.choice(stops[name])
        found.append(one)
    return found


def own_batch(rng: random.Random) -> dict[str, list[list[int]]]:
    """Return a batch with padding on either side, in the middle, and rows packed already."""
    rows = []
    for _ in range(30):
        mask = [rng.choice([0, 1, 1, 1]) for _ in range(24)]
        labels = [k if rng.random() < 0.6 else -100 for k in range(1, 25)]
        ends = sorted(rng.sample(range(1, 24), rng.choice([0, 1, 2])))
        positions = [k - max([0, *(e for e in ends if e <= k)]) for k in range(24)]
        rows.append((list(range(24)), mask, labels, positions))
    names = ("input_ids", "attention_mask", "labels", "position_ids")
    return {name: [row[k] for row in rows] for k, name in enumerate(names)}


@pytest.fixture
def rng():
    return random.Random(random.SystemRandom().randrange(2**32))


def test_the_lessons_numbers_are_those_of_python():
    (said,) = in_page(sv.TokenComparison(), [{}])
    large = {one["name"]: (one["before"], one["after"]) for one in said["picture"]["large"]}
    assert large["processed positions per second"] == (2000.0, 2000.0)
    assert large["scored targets per second"] == pytest.approx((500, 2000 / 3))


def test_a_batch_made_by_sliders_is_answered_as_python_does(rng):
    tokens = sv.TokenComparison()
    assert assert_alike(tokens, some_settings(tokens, rng, 80)) == 80


def test_a_batch_of_ones_own_is_packed_and_counted_so_too(rng):
    peak = sv.peak("H100 SXM", "bf16")
    tokens = sv.TokenComparison(own_batch(rng), seconds=0.004, peak=peak, devices=8)
    assert assert_alike(tokens, some_settings(tokens, rng, 30)) == 30


def test_without_a_mask_or_labels(rng):
    ids = {"input_ids": [[rng.choice([0, 5, 6]) for _ in range(9)] for _ in range(5)]}
    for pad_id in (None, 0):
        tokens = sv.TokenComparison(ids, pad_id=pad_id)
        assert assert_alike(tokens, some_settings(tokens, rng, 12)) == 12


def test_two_layouts_that_were_timed(rng):
    tokens = sv.TokenComparison(
        own_batch(rng), seconds=0.004, after=own_batch(rng), after_seconds=0.003, peak=1e9
    )
    assert assert_alike(tokens, some_settings(tokens, rng, 12)) == 12


def test_a_model_with_windows_and_experts(rng):
    shape = sv.ModelShape(
        layers=4, hidden=64, heads=4, ffn=128, vocab=1000, windows=(8, None, 16, None),
        experts=4, top_k=2,
    )  # fmt: skip
    tokens = sv.TokenComparison(shape=shape, peak=1e12)
    assert assert_alike(tokens, some_settings(tokens, rng, 30)) == 30


def test_what_has_no_meaning_is_said_as_in_python():
    tokens = sv.TokenComparison()
    wrong: list[dict[str, Any]] = [
        {"sequences": 65}, {"length": 1}, {"padding": 40}, {"packing": 0}, {"accumulation": 5000},
        {"accumulation": 1.5}, {"skips_padding": 1}, {"spread": -0.5}, {"prompt": "half"},
    ]  # fmt: skip
    assert assert_alike(tokens, wrong) == 0
