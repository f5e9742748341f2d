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
