"""Verdicts on pairs of real captures whose truth was planted."""

from __future__ import annotations

import importlib.util

import pytest

import stepviz as sv

#: A quick model behind a slow link; a batch takes a while.
BASE = {"layers": 2, "width": 128, "sequence": 32, "bucket_cap_mb": 0.5, "latency_ms": 12.0,
        "ms_per_mib": 10.0, "input_delay_ms": 10.0, "timed": 10, "steps": 4,
        "progress": False}  # fmt: skip
FAST_LINK = {"latency_ms": 3.0, "ms_per_mib": 2.0}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.alone,
    pytest.mark.skipif(
        importlib.util.find_spec("torch") is None, reason="captures need torch, not installed"
    ),
]


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return sv.capture(out=tmp_path_factory.mktemp("base") / "run", **BASE)


def test_truly_faster(base, tmp_path):
    found = sv.verdict(base, sv.capture(out=tmp_path / "run", **(BASE | FAST_LINK)))
    assert found.decision == "keep"
    assert found.convention == "scored"
    assert any("without profiler" in note for note in found.notes)


def test_truly_slower_with_a_shorter_tail(base, tmp_path):
    slow_input = FAST_LINK | {"input_delay_ms": 250.0}
    found = sv.verdict(base, sv.capture(out=tmp_path / "run", **(BASE | slow_input)))
    assert found.decision == "revert"
    assert found.trap.startswith("the tail fell by")
    assert "the step grew by" in found.trap


def test_no_different(base, tmp_path):
    found = sv.verdict(base, sv.capture(out=tmp_path / "run", **BASE))
    assert found.decision == "can't tell"


def test_other_useful_work_is_refused(base, tmp_path):
    fewer = sv.capture(out=tmp_path / "run", **(BASE | {"prompt_fraction": 0.75, "timed": 0}))
    with pytest.raises(sv.ThroughputError, match="scored"):
        sv.verdict(base, fewer)
    assert sv.verdict(base, fewer, convention="updates").decision in {"can't tell", "revert"}
