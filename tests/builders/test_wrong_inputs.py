"""What a recipe can't use is said in a sentence; no other exception gets through."""

from __future__ import annotations

import contextlib
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import stepviz as sv
from stepviz import builders

LESSON = builders.lesson()
POINTS = {"bytes": [1e6, 2e6], "ms": [1.0, 2.0]}
#: A function, its arguments, and the one that is replaced.
CALLS = [
    (builders.ddp, {"parameters": [1e6], "backward": 1, "cost": 1}, "parameters"),
    (builders.ddp, {"parameters": [1e6], "backward": 1, "cost": 1}, "bucket_cap_mb"),
    (builders.ddp, {"parameters": [1e6], "backward": 1, "cost": 1}, "ready"),
    (builders.ddp, {"parameters": [1e6], "backward": 1, "cost": 1}, "ranks"),
    (builders.sharded, {"units": [1e6], "backward": 1, "cost": 1}, "stage"),
    (builders.zero_memory, {"parameters": 1e9, "ranks": 4}, "stage"),
    (builders.bucket_queue, {"ready": [1], "service": 1}, "service"),
    (
        builders.pipeline,
        {"schedule": "1f1b", "stages": 2, "microbatches": 2, "forward": 1, "backward": 1},
        "activation_bytes",
    ),
    (builders.bucket_sweep, {"parameters": [1e6], "backward": 1, "cost": 1}, "caps"),
    (builders.Ring, {"ranks": 2, "latency": 1, "bandwidth": 1}, "ranks"),
    (builders.Ring(2, 1, 1).table, {"sizes": [1e6]}, "sizes"),
    (builders.fit_cost(pd.DataFrame(POINTS)).ring, {}, "ranks"),
    (builders.fit_cost, {"points": None}, "points"),
    (sv.rank_changes, {"timeline": LESSON}, "by"),
]
WRONG = [
    True, "x", b"x", -1, math.nan, math.inf, [None], object(), len, 1j, 10**400,
    np.array([[1.0, 2.0]]), pd.NA, pd.DataFrame({"bytes": ["x"], "ms": [1]}), LESSON,
]  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG, ids=lambda value: repr(value)[:12])
@pytest.mark.parametrize(
    "call", CALLS, ids=lambda call: f"{getattr(call[0], '__name__', '')}-{call[2]}"
)
def test_each_gives_one_sentence_or_an_answer(call, wrong):
    function, arguments, name = call
    with contextlib.suppress(sv.StepvizError):  # what else is raised fails the test
        function(**(arguments | {name: wrong}))


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: builders.Ring(ranks=math.nan, latency=1, bandwidth=1), "whole number of ranks"),
        (lambda: builders.bucket_sweep([1e6], 25, backward=1, cost=1), "caps is 25: give a list"),
        (lambda: builders.Ring(2, 1, 1).table(1e6), "sizes is 1000000.0: give a list"),
        (
            lambda: builders.fit_cost(pd.DataFrame({"bytes": ["big"], "ms": [1]})),
            "column 'bytes' holds 'big'",
        ),
    ],
)
def test_the_sentence_says_what_to_give(made, said):
    with pytest.raises(sv.StepvizError, match=said):
        made()


def test_caps_may_be_an_array_and_a_rate_a_fraction():
    step = builders.ddp([1e6] * 4, backward=4, cost=1, bucket_cap_mb=np.array([1.0, 2.0]))
    same = builders.ddp([1e6] * 4, backward=4, cost=1, bucket_cap_mb=[1, 2])
    assert step.completion == same.completion
    halved = LESSON.apply(builders.Contention(compute=Fraction(1, 2)))
    assert halved.completion == LESSON.apply(builders.Contention(compute=0.5)).completion


def fails(_nbytes):
    return 1 / 0


@pytest.mark.parametrize(
    ("cost", "said"),
    [
        (fails, r"fails for all-reduce of 2,000,000 bytes \(ZeroDivisionError: division by zero\)"),
        (lambda a, b: a, r"fails for all-reduce of 2,000,000 bytes \(TypeError: .*'b'\)"),
        (lambda n: {1e6: 1.0}[n], r"fails for all-reduce of 2,000,000 bytes \(KeyError: 2000000.0"),
        (lambda n: "3", "says '3' for all-reduce of 2,000,000 bytes"),
        (lambda n: None, "says None for all-reduce of 2,000,000 bytes"),
        (lambda n: -n, "says -2000000.0 for all-reduce of 2,000,000 bytes"),
    ],
)
def test_a_cost_of_ones_own_that_fails_is_told_with_its_bucket(cost, said):
    # three gradients of 1 MB under a cap of 1 MiB: two in the first bucket, one in the second
    with pytest.raises(sv.CostError, match=f"^bucket 1 of 2: cost {said}") as raised:
        builders.ddp([1e6] * 3, backward=10, bucket_cap_mb=1, cost=cost)
    assert isinstance(raised.value.__cause__, sv.CostError)
    with pytest.raises(sv.CostError, match=r"^bucket 1 of 2: "):
        builders.bucket_sweep([1e6] * 3, [1], backward=10, cost=cost)


def test_the_bucket_or_unit_at_fault_is_named():
    small = lambda n: 1.0 if n > 1.5e6 else math.nan
    with pytest.raises(sv.CostError, match=r"^bucket 2 of 2: cost says nan for all-reduce of"):
        builders.ddp([1e6] * 3, backward=10, bucket_cap_mb=1, cost=small)
    with pytest.raises(sv.CostError, match=r"^unit 2 of 2: cost says nan for all-gather of 1,000"):
        builders.sharded([2e6, 1e6], backward=10, cost=small)
    tree = builders.Tree(ranks=4, latency=1, bandwidth=1)
    with pytest.raises(sv.CostError, match=r"^unit 1 of 1: a tree has no all-gather"):
        builders.sharded([2e6], backward=10, cost=tree)


def test_a_cost_that_does_not_know_no_bytes_is_swept_all_the_same():
    found = builders.bucket_sweep([2**20] * 4, [1, 4], backward=10, cost=math.log)
    assert found["completion"].tolist() == pytest.approx(
        [2.5 + 4 * math.log(2**20), 10 + math.log(4 * 2**20)]
    )
    assert found["overhead"].isna().all()
