"""Whatever a public function is handed, it answers or says in a sentence why not."""

from __future__ import annotations

import contextlib
import datetime as dt
import decimal
import fractions
import math

import numpy as np
import pandas as pd
import pytest

import stepviz as sv

LESSON = sv.lesson()
SHAPE = sv.ModelShape(layers=2, hidden=64, heads=4, vocab=100)
COUNTS = sv.TokenCounts(allocated=8, real=6, scored=2, scope="update", seconds=0.004)
BATCH = {"input_ids": [[1, 2, 3]], "labels": [[1, 2, 3]], "attention_mask": [[1, 1, 1]],
         "position_ids": [[0, 1, 2]]}  # fmt: skip


def applied(make):
    return lambda **given: LESSON.apply(make(**given))


#: A function and arguments that it answers; each of them is then replaced by what is wrong.
CALLS = {
    "Timeline": (
        sv.Timeline,
        {
            "phases": [{"phase": "a", "duration": 4.0}, {"phase": "b", "duration": 3.0}],
            "dependencies": [("a", "b", "FS", 0)],
            "target": None,
        },
    ),
    "lesson": (sv.lesson, {"model": "release", "scenario": "base"}),
    "compare": (
        sv.compare, {"timelines": LESSON, "changes": {"a": sv.shorten("exchange", 10)}}
    ),
    "shorten": (applied(sv.shorten), {"phase": "exchange", "ms": 10}),
    "scale": (applied(sv.scale), {"phase": "exchange", "factor": 0.5}),
    "set_duration": (applied(sv.set_duration), {"phase": "exchange", "ms": 10}),
    "set_release": (applied(sv.set_release), {"phase": "exchange", "ms": 10}),
    "set_lag": (applied(sv.set_lag), {"source": "forward", "target": "exchange", "ms": 10}),
    "remove": (applied(sv.remove), {"phase": "exchange"}),
    "delay_input": (applied(sv.delay_input), {"ms": 10}),
    "shrink_tail": (applied(sv.shrink_tail), {"ms": 10}),
    "together": (lambda change: LESSON.apply(sv.together(change)), {"change": sv.shrink_tail(1)}),
    "rank_changes": (sv.rank_changes, {"timeline": LESSON, "ms": 10, "by": "kind", "pairs": 2}),
    "TokenCounts": (
        sv.TokenCounts,
        {
            "allocated": 8, "real": 6, "executed": 8, "scored": 2, "updates": 1, "sequences": 2,
            "squared_lengths": 18, "scope": "update", "seconds": 0.004, "microbatches": 1,
        },
    ),
    "count_tokens": (
        sv.count_tokens,
        {
            **BATCH, "scope": "microbatch", "seconds": 1.0, "pad_id": 0, "ignore_index": -100,
            "shifted": False, "skips_padding": False,
        },
    ),
    "tokens_per_update": (
        sv.tokens_per_update, {"dp": 4, "microbatch": 2, "accumulation": 8, "sequence": 2048}
    ),
    "token_roles": (sv.token_roles, {"batch": BATCH, "pad_id": 0, "shifted": False}),
    "loss_denominators": (sv.loss_denominators, {"losses": [[[2, 2], [6]]], "rows": 1}),
    "ModelShape": (
        sv.ModelShape,
        {
            "layers": 2, "hidden": 64, "heads": 4, "vocab": 100, "kv_heads": 2, "head_dim": 16,
            "ffn": 128, "gated": False, "tied": True, "experts": 0, "windows": None,
        },
    ),
    "matmuls": (sv.matmuls, {"shape": SHAPE, "sequence": 8}),
    "flops_per_token": (
        sv.flops_per_token, {"shape": SHAPE, "convention": "palm", "sequence": 8}
    ),
    "mfu": (
        sv.mfu,
        {
            "shape": SHAPE, "convention": "palm", "tokens_per_second": 1e4, "sequence": 8,
            "peak": 1e12, "devices": 2, "precision": "bf16",
        },
    ),
    "mfu_table": (
        sv.mfu_table,
        {"shape": SHAPE, "tokens_per_second": 1e4, "sequence": 8, "peak": 1e12, "devices": 2},
    ),
    "translate": (
        sv.translate,
        {"utilization": 0.4, "from_": "palm", "to": "causal", "shape": SHAPE, "sequence": 8},
    ),
    "peak": (sv.peak, {"device": "H100 SXM", "precision": "bf16"}),
    "Rate": (sv.Rate, {"count": 8, "seconds": 2.0, "of": "executed", "scope": "update"}),
    "compare_counts": (
        sv.compare_counts,
        {
            "before": COUNTS, "after": COUNTS, "shape": SHAPE, "peak": 1e12,
            "convention": "palm", "sequence": 4, "devices": 1,
        },
    ),
    "throughput_table": (
        sv.throughput_table, {"counts": COUNTS, "shape": SHAPE, "peak": 1e12, "sequence": 4}
    ),
    "TrainingPlan": (
        sv.TrainingPlan,
        {
            "parameters": 7e9, "tokens": 1e11, "devices": 64, "peak": 300e12, "mfu": 0.4,
            "price_per_device_hour": 2.0, "checkpoint_seconds": 10.0,
            "failures_per_device_day": 0.01, "downtime_days": 1.0,
        },
    ),
    "diagnose": (sv.diagnose, {"reported": 0.2, "expected": 0.4, "setup": {"world": 8}}),
    "sample_run": (sv.sample_run, {"name": "long tail"}),
    "load_run": (sv.load_run, {"source": "nowhere"}),
    "Quiz": (sv.Quiz, {"question": "When?", "answer": 725, "unit": "ms", "tolerance": 0.01}),
    "BucketExplorer": (
        sv.BucketExplorer, {"run_or_parameters": [1e6] * 4, "bandwidth": 10, "latency": 0.5}
    ),
    "TimelineEditor": (sv.TimelineEditor, {"timeline": LESSON}),
}  # fmt: skip

WRONG = [
    True, "x", "", b"x", -1, 0, math.nan, math.inf, [None], [], {}, set(), object(), len, 1j,
    10**400, 1e300, 5e-324, np.array([[1.0, 2.0]]), np.array([]), np.array(3), pd.NA, pd.NaT,
    pd.DataFrame(), pd.DataFrame({"bytes": ["x"]}), pd.Series([], dtype=float), LESSON, SHAPE,
    COUNTS, decimal.Decimal("NaN"), fractions.Fraction(1, 2), dt.timedelta(seconds=1),
    "\ud800", range(3), [[[]]],
]  # fmt: skip


@pytest.mark.parametrize(
    "name", [f"{name}({argument}=)" for name, (_, given) in CALLS.items() for argument in given]
)
def test_it_answers_or_says_why_not(name):
    name, _, argument = name.removesuffix("=)").partition("(")
    function, given = CALLS[name]
    for wrong in WRONG:
        with contextlib.suppress(sv.StepvizError):  # what else is raised fails the test
            answer = function(**given | {argument: wrong})
            assert repr(answer)
            getattr(answer, "_repr_html_", str)()
            getattr(answer, "close", str)()


@pytest.mark.parametrize("flag", ["False", 0, None, [], np.array([True])])
@pytest.mark.parametrize("name", ["shifted", "skips_padding"])
def test_a_switch_is_true_or_false(name, flag):
    """A word would count as true, and the targets would be other ones."""
    with pytest.raises(sv.ThroughputError, match=rf"{name} is .*: give True or False"):
        sv.count_tokens(**BATCH, **{name: flag})
    assert sv.count_tokens(**BATCH, **{name: np.bool_(True)}).allocated == 3


def test_positions_are_held_by_sequences():
    with pytest.raises(sv.ThroughputError, match="real positions and 0 sequences"):
        sv.TokenCounts(allocated=8, real=6, sequences=0)
    assert sv.TokenCounts(allocated=8, real=0, sequences=0).padding_share == 1
