"""Accumulation: the step model with a passes, and the trap of exchanging on every one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stepviz as sv

B = sv.builders
MS = st.integers(0, 50).map(float)


@given(
    st.integers(1, 5), st.lists(st.integers(1, 10**7), min_size=1, max_size=6),
    st.integers(1, 50).map(float), MS, MS, st.floats(0, 3), st.integers(1, 2),
)  # fmt: skip
def test_step_model(a, sizes, backward, forward, optimizer, cap, ranks):
    """(a − 1)(F + B) + (F + B + tail) + optimizer, or a(F + B + tail) + optimizer."""
    options = {"bucket_cap_mb": cap, "cost": B.AlphaBeta(1, 1), "backward": backward}
    tail = B.ddp(sizes, **options).completion - backward
    step = {
        quiet: B.accumulated(
            sizes, microbatches=a, forward=forward, optimizer=optimizer, no_sync=quiet,
            ranks=ranks, **options,
        )
        for quiet in (True, False)
    }  # fmt: skip
    passes = forward + backward
    assert step[True].completion == pytest.approx(a * passes + tail + optimizer)
    assert step[False].completion == pytest.approx(a * (passes + tail) + optimizer)
    exchanges = {quiet: (s.phases["kind"] == "exchange").sum() for quiet, s in step.items()}
    assert exchanges[False] == a * exchanges[True]


def test_one_pass_is_ddp():
    options = {"forward": 10, "backward": 20, "optimizer": 5, "bucket_cap_mb": 1, "cost": 3}
    sizes = [2**20] * 5
    once, ddp = B.accumulated(sizes, microbatches=1, **options), B.ddp(sizes, **options)
    assert once.completion == ddp.completion
    assert once.phases["duration"].tolist() == ddp.phases["duration"].tolist()


def test_memory_and_input():
    step = B.accumulated(
        [100, 50], microbatches=3, forward=10, backward=20, input=4, cost=1, activation_bytes=7
    )
    assert step.memory.set_index("what")["bytes"].to_dict() == {
        "gradients": 150, "bucket buffers": 150, "activations": 7
    }  # fmt: skip
    # The second and third batch load while the first is computed.
    assert step.completion == 4 + 3 * 30 + 1
    assert step.apply(sv.delay_input(10)).completion == 105


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"microbatches": 0}, "microbatches is 0"),
        ({"no_sync": "yes"}, "no_sync"),
        ({"activation_bytes": -1}, "activation_bytes"),
        ({"forward": None}, "forward"),
    ],
)
def test_bad_input_names_the_argument(options, said):
    with pytest.raises(sv.TimelineError, match=said):
        B.accumulated([1], **{"microbatches": 2, "backward": 1, "cost": 1, **options})
