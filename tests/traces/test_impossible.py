"""Rows whose times cannot be, and rows that are nobody's: what stays must be right."""

from __future__ import annotations

import copy

import pandas as pd
import pytest

import stepviz as sv
from stepviz.traces import TraceWarning
from tests.traces.synthetic import (
    LINK_STREAM,
    all_reduce,
    document,
    gloo_step,
    host,
    kernel,
    launch,
    note,
    two_ranks,
)

WINDOW = [
    {"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans",
     "tid": "PyTorch Profiler", "ts": -5, "dur": 2000},
    {"ph": "i", "name": "Iteration Start: PyTorch Profiler", "pid": "Traces", "tid": "x", "ts": -5},
    {"ph": "i", "name": "Record Window End", "pid": "", "tid": "", "ts": 2100},
]  # fmt: skip


@pytest.fixture
def load(write_trace):
    """Load documents by rank, with what was mended."""

    def read(documents):
        for rank, trace in enumerate(documents):
            path = write_trace(f"rank{rank}.json", trace)
        return sv.load_run(path.parent)

    return read


@pytest.mark.parametrize("said", [False, True])
@pytest.mark.parametrize(
    ("row", "why"),
    [
        (kernel("gemm", 1600, 3e9, 24), "ending long after"),
        (kernel("gemm", 1600, 8e10, 24), "ending long after"),
        (kernel("gemm", 5e9, 10, 24), "outside"),
        (kernel("gemm", -5e9, 10, 24), "outside"),
        (note("backward", 9e9, 10), "outside"),
        (host("aten::mm", 1, 4e9), "ending long after"),
    ],
)
def test_a_row_that_cannot_be_is_dropped_and_said(row, why, said, load):
    """Beside 50 minutes, or hours away, both steps are still 0.9 ms, to the nanosecond."""
    documents = list(two_ranks().values())
    documents[1]["traceEvents"].append(row)
    if said:
        documents[1]["traceEvents"] += WINDOW
    with pytest.warns(TraceWarning, match=f"1 event {why}"):
        run = load(documents)
    assert run.steps["duration_ns"].tolist() == [900_000, 900_000]
    assert run.step(2).breakdown("ns")[1].to_dict() == (
        sv_breakdown := {**dict.fromkeys(run.step(2).breakdown("ns").index, 0),
                         "forward": 200_000, "backward": 450_000, "exchange": 50_000,
                         "optimizer": 88_000, "host": 112_000}
    )  # fmt: skip
    assert sum(sv_breakdown.values()) == 900_000


def test_half_a_second_is_impossible_where_the_recording_says_so(load):
    documents = list(two_ranks().values())
    documents[0]["traceEvents"] += [*WINDOW, kernel("gemm", 1600, 5e5, 24)]
    with pytest.warns(TraceWarning, match="the recording's window"):
        run = load(documents)
    assert run.steps["duration_ns"].tolist() == [900_000, 900_000]


def test_a_window_that_most_rows_contradict_is_left_out(load):
    documents = list(two_ranks().values())
    shifted = copy.deepcopy(WINDOW)
    for row in shifted:
        row["ts"] += 1e12
    documents[0]["traceEvents"] += shifted
    with pytest.warns(TraceWarning, match="which was left out"):
        run = load(documents)
    assert run.steps["duration_ns"].tolist() == [900_000, 900_000]


def test_an_operator_that_outlasts_its_parent_is_cut(load):
    """A mm of 9 ms in a gradient of 2 ms: exposed exchange stays 6 ms."""
    documents = [gloo_step(rank) for rank in (0, 1)]
    documents[0]["traceEvents"].append(host("aten::mm", 4100, 9000))
    with pytest.warns(TraceWarning, match="1 event outlasts the operator or step it began in"):
        run = load(documents)
    assert run.step(1).exposed().tolist() == pytest.approx([6, 6])


def test_an_exchange_after_the_last_marker_is_no_part_of_a_step(load):
    """An all-reduce launched 500 µs after the last marker: steps stay 0.9 ms and joined."""
    documents = list(two_ranks().values())
    documents[0]["traceEvents"] += all_reduce(1500, 2500, 100, 99)
    run = load(documents)
    assert run.steps["duration_ns"].tolist() == [900_000, 900_000]
    assert run.step(2).unmatched.empty
    assert run.step(2).collectives["ranks"].tolist() == [2]


def test_work_between_markers_is_no_part_of_a_step(load):
    """Steps of 500 µs, 300 µs apart, with an all-reduce of an evaluation between them."""
    documents = []
    for rank in (0, 1):
        events = []
        for k in range(2):
            at, c = 800 * k, 10 * k
            events += [note(f"ProfilerStep#{k}", at, 500), note("forward", at + 5, 100),
                       launch(at + 10, c + 1), kernel("gemm", at + 100, 300, c + 1)]  # fmt: skip
        events += all_reduce(520 + rank, 540, 50, 91)
        documents.append(document(rank, events))
    run = load(documents)
    assert [len(run.step(n).collectives) for n in (0, 1)] == [0, 0]
    # The device is done at 400 and 1,200 µs, the markers end at 500 and 1,300.
    assert run.steps["duration_ns"].tolist() == [500_000, 800_000]


def test_a_gloo_exchange_launched_in_a_step_belongs_to_it(load):
    """It ends 3 ms after the marker, and one launched after it is nobody's."""
    documents = []
    for rank in (0, 1):
        events = [
            note("ProfilerStep#1", 0, 5000),
            host("aten::mm", 0, 4900),
            host("c10d::allreduce_", 4900, 20, **{"Input Dims": [[[8]]]}),
            host("gloo:all_reduce", 5010, 2990, cat="user_annotation", tid=200,
                 **{"Input Dims": [[8]]}),
            host("c10d::allreduce_", 6000, 20, **{"Input Dims": [[[8]]]}),
            host("gloo:all_reduce", 8010, 990, cat="user_annotation", tid=200,
                 **{"Input Dims": [[8]]}),
        ]  # fmt: skip
        documents.append(document(rank, events))
    run = load(documents)
    step = run.step(1)
    assert len(step.collectives) == 1
    assert step.completion_ns == 5_000_000


def test_a_world_of_a_billion_needs_no_memory(load):
    """Its ranks are counted, never written out; an absurd one is left out and said."""
    documents = [two_ranks()[0]]
    del documents[0]["distributedInfo"]["pg_config"]
    documents[0]["distributedInfo"]["world_size"] = 9_000_000
    step = load(documents).step(2)
    assert (
        "ranks 1, 2, 3, 4, 5, 6, … of its group are not in this run"
        in (step.unmatched["why"].iloc[0])
    )
    documents[0]["distributedInfo"]["world_size"] = 10**9
    with pytest.warns(TraceWarning, match="world_size '1000000000' with rank 0 is no world"):
        assert load(documents).step(2).unmatched.empty


def without_launches(trace, wanted):
    """Return the trace without the launches whose correlation id is wanted."""
    rows = trace["traceEvents"]
    trace["traceEvents"] = [
        e for e in rows if not (e["cat"] == "cuda_runtime" and wanted(e["args"]["correlation"]))
    ]
    return trace


def test_an_update_without_its_launch_still_ends_its_step(load):
    documents = [without_launches(t, lambda c: c % 10 == 4) for t in two_ranks().values()]
    run = load(documents)
    assert run.steps["duration_ns"].tolist() == [900_000, 900_000]
    assert run.step(2).breakdown("ns").loc["optimizer"].tolist() == [90_000, 88_000]
    assert any("1 of 5 on rank 0, 1 of 5 on rank 1" in note for note in run.step(2).notes)


def test_a_device_without_any_launch_is_said(load):
    documents = [without_launches(t, lambda c: True) for t in two_ranks().values()]
    step = load(documents).step(2)
    assert step.windows["window"].tolist() == ["host", "host"]
    said = "no device row has its launch in the file (rank 0, rank 1), so the step is measured"
    assert any(said in note for note in step.notes)


@pytest.mark.parametrize("spelled", [float, str, "{}.0".format])
def test_ids_may_be_spelled_as_decimals(spelled, load):
    documents = list(two_ranks().values())
    for trace in documents:
        for event in trace["traceEvents"]:
            if "correlation" in event["args"]:
                event["args"]["correlation"] = spelled(event["args"]["correlation"])
    assert load(documents).steps["duration_ns"].tolist() == [900_000, 900_000]


def test_the_driver_of_another_back_end_launches_too(load):
    documents = list(two_ranks().values())
    for trace in documents:
        for event in trace["traceEvents"]:
            if event["cat"] == "cuda_runtime":
                event["cat"] = "xpu_driver"
    assert load(documents).steps["window"].tolist() == ["device", "device"]


def test_odd_fields_are_counted_or_passed_over(load):
    documents = list(two_ranks().values())
    documents[0]["traceEvents"] += [
        {"ph": [], "ts": 1},
        {**note("x", 5, 1), "pid": None, "tid": [1]},
        note("ProfilerStep#" + "9" * 30, 5, 400),
    ]
    with pytest.warns(TraceWarning, match="1 event has a pid or tid that is no number and no word"):
        run = load(documents)
    assert run.steps.index.tolist() == [1, 2]


def test_half_characters_are_mended_and_counted(load, capsys):
    documents = list(two_ranks().values())
    documents[0]["traceEvents"][4]["name"] = "gemm\ud800"
    with pytest.warns(TraceWarning, match=r"halves of characters \(surrogates\) were mended: 1"):
        run = load(documents)
    run.files["why"].iloc[0].encode()
    assert run.step(2).completion_ns == 900_000


def test_the_rank_is_the_one_in_all_process_groups(load, tmp_path, write_trace):
    """Ranks [0, 1] share tensors, [1, 3] share data: only rank 1 is in both."""
    trace = two_ranks()[1]
    del trace["distributedInfo"]
    said = {"Collective name": "allreduce", "Process Group Name": "0"}
    trace["traceEvents"] += [
        kernel("ncclDevKernel_AllReduce", 30, 1, 97, stream=LINK_STREAM,
               **{**said, "Process Group Ranks": ranks})
        for ranks in ("[0, 1]", "[1, 3]", "[]")
    ]  # fmt: skip
    run = sv.load_run(write_trace("worker.json", trace))
    assert run.ranks == [1]
    assert run.files["rank_source"].tolist() == ["process groups"]


def test_a_second_marker_of_a_step_is_said(load):
    documents = list(two_ranks().values())
    for event in documents[0]["traceEvents"]:
        if event["name"] == "ProfilerStep#2":
            event["name"] = "ProfilerStep#1"
    with pytest.warns(TraceWarning, match="already marked were passed over: 1"):
        run = load(documents)
    assert run.step(1).completion_ns == 900_000


@pytest.mark.parametrize("field", ["pid", "tid"])
def test_numbers_of_threads_may_be_spelled_as_decimals(field, load):
    """As programs write them that know one kind of number."""
    documents = list(two_ranks().values())
    usual = load(documents).step(2)
    for trace in documents:
        for event in trace["traceEvents"]:
            event[field] = float(event[field])
    run = load(documents)
    assert run.files["repaired"].tolist() == [0, 0]
    pd.testing.assert_frame_equal(run.step(2).critical_path, usual.critical_path)


def test_where_no_event_is_left_it_says_what_was_dropped(load):
    documents = list(two_ranks().values())
    for trace in documents:
        for event in trace["traceEvents"]:
            event["ts"] = f"{event['ts']} us"
    with pytest.raises(
        sv.TraceError, match=r"no events with a usable time \(38 events whose start"
    ):
        load(documents)


def test_events_that_only_begin_and_end_are_said(load):
    trace = two_ranks()[0]
    trace["traceEvents"] = [{**event, "ph": "B"} for event in trace["traceEvents"]]
    with pytest.raises(sv.TraceError, match=r"holds no events with a start and a length \(ph X\)"):
        load([trace])
