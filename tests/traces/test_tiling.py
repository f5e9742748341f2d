"""Tiled traces, on which benchmarks stand, are traces that the profiler could have written."""

from __future__ import annotations

import json

import pytest

from stepviz.traces import load_run
from tests.benchmarks.tiling import tile
from tests.traces.synthetic import two_ranks


def test_copies_continue_where_the_one_before_ended(write_trace, tmp_path):
    folder = tmp_path / "two"
    folder.mkdir()
    for rank, trace in two_ranks().items():
        write_trace(f"rank{rank}.json", trace, folder)
    events, size = tile(folder, tmp_path / "tiled", times=3)
    documents = [json.loads((tmp_path / "tiled" / f"rank{r}.json").read_text()) for r in (0, 1)]
    assert events == sum(len(document["traceEvents"]) for document in documents)
    assert size == sum(path.stat().st_size for path in (tmp_path / "tiled").iterdir())
    for document in documents:
        kernels = [e for e in document["traceEvents"] if e["cat"] == "kernel"]
        numbers = [e["args"]["correlation"] for e in kernels]
        assert len(set(numbers)) == len(numbers) == 3 * 2 * 5
    run, once = load_run(tmp_path / "tiled"), load_run(folder)
    assert set(run.files["why"]) == {""}
    assert list(run.steps.index) == [1, 2, 3, 4, 5, 6]
    lengths, before = run.steps["duration_ns"], once.steps["duration_ns"]
    assert [lengths[n] for n in (2, 4, 6)] == [before[2]] * 3
    assert list(run.step(6).collectives["wait_ns"]) == list(once.step(2).collectives["wait_ns"])


@pytest.mark.parametrize("cut", [None, 103])
def test_a_real_trace_keeps_its_steps_to_the_nanosecond(handed, tmp_path, cut):
    source = handed("ddp-v100-nccl-1of1")
    tile(source, tmp_path, times=2, cut=cut)
    run, once = load_run(tmp_path), load_run(source)
    assert set(run.files["why"]) == {""}
    if cut is None:
        assert run.files["events"].sum() in (
            2 * once.files["events"].sum(),
            # The profiler's own span is written once.
            2 * once.files["events"].sum() - 1,
        )
        for number in (102, 103, 104, 105):
            length = once.steps.at[number, "duration_ns"]
            assert run.steps.at[number, "duration_ns"] == length
            assert run.steps.at[number + 5, "duration_ns"] == length
    else:
        assert list(run.steps.index) == [103, 104]
        kinds = [run.step(number).breakdown("ns")[0] for number in run.steps.index]
        for kind in ("forward", "backward", "optimizer"):
            assert kinds[0][kind] == kinds[1][kind] == once.step(103).breakdown("ns")[0][kind]
