"""Runs nobody would record: whatever the rows say, sums are exact and the fold replays."""

from __future__ import annotations

import json
import tempfile
import warnings
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import stepviz as sv
from stepviz.traces import TraceWarning
from tests.traces.synthetic import LINK_STREAM, MAIN, document, host, kernel, launch, note

NAMES = ["gemm", "Memcpy HtoD (Host -> Device)", "reduce"]
REGIONS = ["forward", "backward", "optimizer", "input", "something", "save_checkpoint"]


@st.composite
def device_rank(draw, rank, steps, exchanges):
    """One rank whose device rows lie anywhere, also before their launch and over each other."""
    events, correlation = [], 0
    at = draw(st.integers(0, 300))
    for step in range(steps):
        length = draw(st.integers(50, 400))
        events.append(note(f"ProfilerStep#{step + 1}", at, length))
        for _ in range(draw(st.integers(0, 3))):
            begin = draw(st.integers(at, at + length - 1))
            events.append(note(draw(st.sampled_from(REGIONS)), begin, draw(st.integers(0, 90))))
        for k in range(draw(st.integers(0, 5))):
            correlation += 1
            begin = at + k
            if draw(st.booleans()) or k == 0:
                events.append(launch(begin, correlation))
            events.append(
                kernel(draw(st.sampled_from(NAMES)), draw(st.integers(at, at + 900)),
                       draw(st.integers(0, 200)), correlation, stream=draw(st.integers(7, 8)))
            )  # fmt: skip
        for k in range(exchanges):
            correlation += 1
            events.append(launch(at + 20 + k, correlation))
            events.append(
                kernel("ncclDevKernel_AllReduce", draw(st.integers(at, at + 900)),
                       draw(st.integers(0, 300)), correlation, stream=LINK_STREAM)
            )  # fmt: skip
        at += length
    return events


@st.composite
def host_rank(draw, rank, steps, exchanges):
    """One rank without a device: operators, annotations, gloo rows on two threads."""
    events = []
    at = draw(st.integers(0, 300))
    for step in range(steps):
        length = draw(st.integers(3000, 9000))
        events.append(note(f"ProfilerStep#{step + 1}", at, length))
        inside = st.integers(at, at + length)
        events += [
            note(draw(st.sampled_from(REGIONS)), draw(inside), draw(inside) - at)
            for _ in range(draw(st.integers(0, 4)))
        ]
        for _ in range(draw(st.integers(0, 6))):
            name = draw(st.sampled_from(["aten::mm", "autograd::engine::evaluate_function: X"]))
            events.append(host(name, draw(inside), draw(st.integers(0, 900))))
        for _ in range(exchanges):
            begin = draw(inside)
            events.append(host("c10d::allreduce_", begin, 5, **{"Input Dims": [[[8]]]}))
            events.append(
                host("gloo:all_reduce", begin + draw(st.integers(0, 500)),
                     draw(st.integers(0, 4000)), cat="user_annotation",
                     tid=MAIN + draw(st.integers(1, 2)), **{"Input Dims": [[8]]})
            )  # fmt: skip
        at += length
    return events


@st.composite
def runs(draw, kind):
    """A few ranks of one run, with the same or another number of exchanges on each."""
    ranks, steps = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    alike = draw(st.booleans())
    exchanges = draw(st.integers(0, 4))
    documents = []
    for rank in range(ranks):
        count = exchanges if alike else draw(st.integers(0, 3))
        documents.append(document(rank, draw(kind(rank, steps, count)), world=ranks))
    return documents


def check(documents):
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", TraceWarning)
        for rank, trace in enumerate(documents):
            (Path(folder) / f"rank{rank}.json").write_text(json.dumps(trace))
        run = sv.load_run(folder)
    for number in run.steps.index:
        step = run.step(number)
        assert (step.breakdown("ns").sum() == step.windows["duration_ns"]).all()
        timeline = step.timeline()
        assert timeline.completion == pytest.approx(step.completion_ns / 1e6, abs=1e-6)
        for rank in step.ranks:
            alone = step.timeline(ranks=rank)
            assert alone.completion == pytest.approx(
                step.windows.at[rank, "duration_ns"] / 1e6, abs=1e-6
            )
        assert isinstance(step.notes, list)
        assert (step.exposed(unit="ns") <= step.windows["duration_ns"]).all()


FEW = settings(
    max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@FEW
@given(runs(device_rank))
def test_device_runs(documents):
    check(documents)


@FEW
@given(runs(host_rank))
def test_host_runs(documents):
    check(documents)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "ph": st.sampled_from(["X", "M", "s", "f", "i"]) | ANYTHING,
        "cat": st.sampled_from(["cpu_op", "kernel", "user_annotation", "cuda_runtime", "fwdbwd"])
        | ANYTHING,
        "name": st.sampled_from(["ProfilerStep#1", "gloo:all_reduce", "ncclKernel", "thread_name"])
        | ANYTHING,
        "ts": st.integers(0, 10**6) | ANYTHING,
        "dur": st.integers(0, 10**4) | ANYTHING,
        "pid": ANYTHING,
        "tid": ANYTHING,
        "id": ANYTHING,
        "args": st.dictionaries(
            st.sampled_from(
                ["correlation", "Sequence number", "Collective name", "Input Dims", "stream", "Seq",
                 "name", "In msg nelems", "Process Group Name", "dtype", "Fwd thread id"]
            ),
            ANYTHING,
        )
        | ANYTHING,
    },
)  # fmt: skip


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(FIELDS | ANYTHING, max_size=12),
    st.fixed_dictionaries(
        {}, optional={"distributedInfo": ANYTHING, "baseTimeNanoseconds": ANYTHING}
    ),
    st.booleans(),
)
def test_any_json_is_a_run_or_one_clear_error(events, around, bare):
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", TraceWarning)
        path = Path(folder) / "rank0.json"
        path.write_text(json.dumps(events if bare else {**around, "traceEvents": events}))
        run, refused = None, "rank0.json"
        try:
            run = sv.load_run(path)
        except sv.TraceError as error:
            refused = str(error)
    if run is None:
        assert "rank0.json" in refused
        return
    step = run.step()
    assert step.timeline().completion == pytest.approx(step.completion_ns / 1e6, abs=1e-6)
