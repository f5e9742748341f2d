"""The handed gloo traces, with what their recorder wrote and without it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

import stepviz as sv

HANDED = Path(__file__).resolve().parents[3] / "shared" / "traces"

#: The README beside the traces: by folder and rank, what is exposed with the stamps, ms; it gives
#: the rows' own values for the first folder only.
SAID = {"gloo-2rank-b4": (6.5, 8.4), "gloo-2rank-slowfabric-b1": (249.1, 236.3)}
BY_ROWS = {"gloo-2rank-b4": (6.7, 8.6), "gloo-2rank-slowfabric-b1": (249.1, 236.3)}


def exposed(run, rank) -> float:
    """Return the median over steps of last exchange done − end of the last gradient work, ms."""
    found = []
    for number in run.steps.index:
        step = run._ranks[rank].step(number)
        events = step.events
        mine = events[(events["track"] == step.main) & (events["place"] == step.place)]
        work = mine[mine["name"].astype(str).str.startswith("autograd::engine::evaluate_function")]
        done = run.buckets.query("step == @number and rank == @rank")["done_ns"].max()
        found.append((done - work["finish_ns"].max()) / 1e6)
    return float(np.median(found))


@pytest.fixture(params=sorted(SAID))
def folder(request):
    path = HANDED / request.param
    if not path.exists():
        pytest.skip(f"the handed traces are not beside this checkout: {request.param}")
    return path


def test_exposed_with_the_record_is_what_the_readme_says(folder):
    run = sv.load_run(folder)
    assert set(run.buckets["origin"]) == {"recorded"}
    for rank, said in enumerate(SAID[folder.name]):
        assert exposed(run, rank) == pytest.approx(said, abs=1)


def test_exposed_without_the_record_agrees(folder, tmp_path):
    for file in folder.glob("*.json.gz"):
        document = json.loads(gzip.decompress(file.read_bytes()))
        del document["stepviz"]
        (tmp_path / file.name).write_bytes(gzip.compress(json.dumps(document).encode(), 1))
    run, whole = sv.load_run(tmp_path), sv.load_run(folder)
    assert set(run.buckets["origin"]) == {"rows"}
    columns = ["step", "rank", "index", "bytes"]
    assert run.buckets[columns].to_numpy().tolist() == whole.buckets[columns].to_numpy().tolist()
    for rank, said in enumerate(BY_ROWS[folder.name]):
        assert exposed(run, rank) == pytest.approx(said, abs=1)
        # By DESIGN's definition: exchange with no compute of that rank beside it.
        assert run.step().exposed()[rank] == pytest.approx(whole.step().exposed()[rank], abs=1e-9)


def test_an_emulated_network_is_told_by_record_and_by_rows(folder):
    assert set(sv.load_run(folder).buckets["emulated"]) == {"slowfabric" in folder.name}


@pytest.mark.parametrize(
    "record",
    [
        [], "text", {"buckets": 3}, {"buckets": [4, {}, {"step": "a"}]},
        {"buckets": [{"step": 1, "index": 0, "parameters": [9]}], "parameters": "x"},
        {"placement": 4, "costs": {"bare": {"median_ms": "much"}}, "planted": 1, "emulated": 1},
    ],
)  # fmt: skip
def test_a_record_that_is_none_costs_nothing_else(tmp_path, record):
    rows = [
        {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{k}", "pid": 1, "tid": 1,
         "ts": 1000 * k, "dur": 900}
        for k in (1, 2)
    ]  # fmt: skip
    document = {"stepviz": record, "traceEvents": rows}
    (tmp_path / "rank0.json").write_text(json.dumps(document))
    run = sv.load_run(tmp_path)
    assert run.buckets["bytes"].isin([-1]).all()
    assert "ProfilerStep" not in run._repr_html_()
