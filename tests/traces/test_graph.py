"""One graph over a step: what its critical path is, on planted steps and on real ones."""

from __future__ import annotations

import statistics
import warnings

import numpy as np
import pytest

import stepviz as sv
from stepviz.traces import TraceWarning
from stepviz.traces.graph.answers import BEFORE_STEP, UNEXPLAINED
from tests.traces.synthetic import (
    AUTOGRAD,
    MAIN,
    all_reduce,
    document,
    gloo_step,
    host,
    kernel,
    launch,
    note,
)
from tests.traces.test_handed import EVERY, FOLDERS
from tests.traces.test_replay import exact, partitions

GRADIENT = "autograd::engine::evaluate_function: X"


@pytest.fixture(scope="module")
def loaded(handed):
    """Load each handed run once."""
    runs = {}

    def load(name):
        path = handed(name)
        if name not in runs:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", TraceWarning)
                runs[name] = sv.load_run(path)
        return runs[name]

    return load


@pytest.fixture
def step_of(write_trace):
    """Load one step of one rank from its rows, or of several from documents."""

    def read(events, number=1):
        documents = events if "traceEvents" in events[0] else [document(0, events, world=1)]
        for rank, trace in enumerate(documents):
            path = write_trace(f"rank{rank}.json", trace)
        return sv.load_run(path.parent).step(number)

    return read


def call(name, ts, dur, correlation):
    return host(name, ts, dur, cat="cuda_runtime", correlation=correlation)


def told(step):
    """Return the pieces of the path: kind, name, from, to, in µs from the step's start."""
    path = step.critical_path
    first = path["start_ns"].iloc[0]
    return [
        (row.kind, row.name_, (row.start_ns - first) / 1000, (row.finish_ns - first) / 1000)
        for row in path.rename(columns={"name": "name_"}).itertuples()
    ]


def work(step):
    return [piece for piece in told(step) if piece[3] - piece[2] > 0 and "launch" not in piece[1]]


@pytest.mark.parametrize("name", EVERY)
def test_paths_of_real_steps_partition_them_and_replays_are_exact(name, loaded):
    run = loaded(name)
    for number in run.steps.index:
        step = run.step(number)
        partitions(step, step.critical_path)
        exact(step)
        assert 0 <= step.unexplained_share <= step.residual_share <= 1
        assert step.path("fine").equals(step.critical_path)


@pytest.mark.parametrize("name", FOLDERS)
def test_little_of_the_path_is_unexplained(name, loaded):
    """graph.md, with its thresholds: at most 3 % of the path, median over steps."""
    run = loaded(name)
    shares = [run.step(number).unexplained_share for number in run.steps.index]
    assert statistics.median(shares) <= 0.03


def test_the_path_of_dlrm(loaded):
    """graph.md: late start of rank 7, its own, one transfer, rank 4's own; 1.3 % residual."""
    step = loaded("dlrm-v100-nccl-8of8").step()
    owners = step.replay().owners
    assert owners["what"].tolist() == [BEFORE_STEP, "own", "transfer", "own"]
    assert owners["rank"].tolist()[:2] == [7, 7]
    assert owners["rank"].iloc[3] == 4
    us = (owners["duration_ns"] / 1000).tolist()
    # Where the transfer ends differs by the µs between its members' ends.
    assert us == pytest.approx([7513, 5992, 7, 7311], abs=2)
    assert sum(us) == 20_823
    assert step.residual_share == pytest.approx(0.013, abs=0.004)
    assert step.unexplained_share == 0
    assert not (step.critical_path["rank"] == 5).any()


def test_calls_that_wait_have_no_time_of_their_own_in_dlrm(loaded):
    step = loaded("dlrm-v100-nccl-8of8").step()
    known = step._fine._drawn.network
    for rank, part in step._ranks.items():
        events = part.events
        names = events["name"].astype(str)
        waits = names.str.contains("Synchronize|EventQuery")
        copies = events[events["cat"] == "gpu_memcpy"]
        called = copies["launcher"].to_numpy()
        until = copies["finish_ns"].to_numpy()
        blocks = (called >= 0) & (until <= events["finish_ns"].to_numpy()[called])
        blocks &= until > events["start_ns"].to_numpy()[called]
        rows = np.union1d(events.index[waits], called[blocks])
        assert blocks.any()
        mine = (known.elements.rank == rank) & np.isin(known.elements.row, rows)
        assert known.elements.duration[mine].sum() == 0


def test_a_step_that_the_host_holds_is_all_the_hosts(step_of):
    step = step_of([
        note("ProfilerStep#1", 0, 500),
        *(row for k in range(5) for row in (
            host("aten::mm", 100 * k, 90), launch(100 * k + 40, k + 1),
            kernel("gemm", 100 * k + 50, 5, k + 1),
        )),
    ])  # fmt: skip
    assert set(step.critical_path["on"]) == {"host"}
    assert step.critical_path.groupby("name")["duration_ns"].sum().to_dict() == {
        "aten::mm": 440_000, "cudaLaunchKernel": 10_000, "between rows": 50_000,
    }  # fmt: skip
    assert step.residual_share == 0


def test_main_thread_and_autograd_hand_over_both_ways(step_of):
    """Neither gap of 450 and 580 µs is unexplained, nor the main thread's own."""
    step = step_of([
        note("ProfilerStep#1", 0, 3700), note("backward", 100, 3500),
        host("aten::mm", 0, 100), launch(50, 1), kernel("gemm", 60, 20, 1),
        host(GRADIENT, 130, 3450, tid=AUTOGRAD),
        launch(200, 2, tid=AUTOGRAD), kernel("gemm", 210, 20, 2),
        host("aten::add_", 3600, 100),
    ])  # fmt: skip
    assert step.unexplained_share == 0
    by_name = step.critical_path.groupby("name")["duration_ns"].sum()
    assert by_name[GRADIENT] == 3_448_000
    assert by_name["aten::mm"] + by_name["aten::add_"] == 198_000
    path = step.critical_path
    assert path["track"].nunique() == 2
    came = path[path["track"].diff().fillna(0) != 0]
    assert came["origin"].tolist() == ["inferred", "inferred"]
    assert step.what_if(name=GRADIENT, factor=0.5).gain_ns == 1_724_000


def test_a_task_handed_to_the_main_thread_in_the_midst_of_backward(step_of):
    """The engine runs some gradients on the main thread while its own goes on."""
    step = step_of([
        note("ProfilerStep#1", 0, 4000), host("aten::mm", 0, 100),
        host(GRADIENT, 120, 1880, tid=AUTOGRAD), host(GRADIENT, 2000, 1000, tid=AUTOGRAD),
        host(GRADIENT, 2005, 10), host(GRADIENT, 3000, 500, tid=AUTOGRAD),
        host("aten::add_", 3510, 490),
    ])  # fmt: skip
    network = step._fine._drawn.network
    assert not network.delay[network.gap].any()
    assert step.what_if(name=GRADIENT, factor=0).completion_ns == (100 + 20 + 5 + 10 + 490) * 1000


def between_streams(record=10, *, recorded=True):
    """A kernel of stream 20 follows on `first` of stream 7, whose event was recorded at 10 µs.

    `second` is launched after the record and before the wait, at 13 µs.
    """
    rows = [
        note("ProfilerStep#1", 0, 100),
        launch(5, 1), kernel("first", 20, 200, 1),
        call("cudaEventRecord", record, 1, 50), launch(12, 2), kernel("second", 220, 4, 2),
        call("cudaStreamWaitEvent", 14, 1, 51),
        launch(16, 3), kernel("other", 225, 100, 3, stream=20),
    ]  # fmt: skip
    if recorded:
        rows.append(kernel("Stream Wait Event", 14, 1, 51, stream=20, cat="cuda_sync",
                           wait_on_stream=7, wait_on_cuda_event_record_corr_id=50))  # fmt: skip
    return rows


def test_a_recorded_wait_holds_by_what_was_launched_before_the_record(step_of):
    step = step_of(between_streams())
    assert [name for _, name, _, _ in work(step)][-3:] == [
        "first", "start after another stream", "other",
    ]  # fmt: skip
    assert step.critical_path["origin"].iloc[-1] == "recorded"
    assert step.what_if(name="second", factor=10).gain_ns == 0
    assert step.what_if(name="first", factor=0.5).gain_ns == 100_000


@pytest.mark.parametrize(
    "rows",
    [between_streams(17), between_streams(recorded=False)],
    ids=["recorded after the wait", "nothing recorded"],
)
def test_else_a_wait_is_inferred_from_the_order_of_calls(rows, step_of):
    """A record that the wait cannot mean is no record: the order of calls says more."""
    step = step_of(rows)
    assert [name for _, name, _, _ in work(step)][-3:-1] == ["second", "start after another stream"]
    assert step.critical_path["origin"].iloc[-1] == "inferred"
    assert step.what_if(name="second", factor=10).gain_ns == -36_000


def test_the_nodes_of_a_cuda_graph(step_of):
    """One launch, four rows on two streams: `d` starts when `c` of the other stream has ended."""
    step = step_of([
        note("ProfilerStep#1", 0, 100), call("cudaGraphLaunch", 5, 20, 1),
        kernel("a", 20, 100, 1), kernel("b", 121, 100, 1),
        kernel("c", 125, 150, 1, stream=8), kernel("d", 277, 30, 1),
    ])  # fmt: skip
    assert step.unexplained_share == 0
    assert [name for _, name, _, _ in work(step) if len(name) == 1] == ["a", "c", "d"]
    assert set(step.critical_path.query("on == 'device' and not residual")["launched"]) == {
        "in the step"
    }


def test_a_gap_before_a_node_of_a_graph_is_unexplained_and_says_so(step_of):
    step = step_of([
        note("ProfilerStep#1", 0, 100), call("cudaGraphLaunch", 5, 20, 1),
        kernel("a", 20, 100, 1), kernel("b", 180, 100, 1),
    ])  # fmt: skip
    gap = step.critical_path.query("kind == @UNEXPLAINED").iloc[0]
    assert (gap["duration_ns"], gap["origin"]) == (60_000, UNEXPLAINED)
    assert gap["name"] == "between rows of a stream, before b"


def test_a_copy_that_blocks_is_no_work_of_the_host(step_of):
    """The call of 290 µs waits for a kernel and its own copy: those are on the path."""
    step = step_of([
        note("ProfilerStep#1", 0, 400), launch(2, 1), kernel("gemm", 20, 229, 1),
        call("cudaMemcpyAsync", 10, 290, 2),
        kernel("Memcpy DtoH (Device -> Pageable)", 250, 40, 2, cat="gpu_memcpy"),
        host("aten::add", 300, 100),
    ])  # fmt: skip
    assert [(name, a, b) for _, name, a, b in work(step)][1:] == [
        ("gemm", 20, 249),
        ("between rows of a stream", 249, 250),
        ("Memcpy DtoH (Device -> Pageable)", 250, 290),
        ("return of a call that waits", 290, 300),
        ("aten::add", 300, 400),
    ]
    # Half of 2 µs before the launch, of 229 of the kernel, of 40 and of 100.
    assert step.what_if(rank=0, own_time=0.5).gain_ns == 185_500


@pytest.mark.parametrize(
    "waits",
    [
        [call("cudaStreamSynchronize", 30, 230, 2)],
        [call("hipDeviceSynchronize", 30, 230, 2)],
        [call("cudaEventQuery", 30 + 38 * k, 2, 10 + k) for k in range(6)]
        + [call("cudaEventQuery", 258, 2, 20)],
    ],
    ids=["stream", "device", "asked again and again"],
)
def test_a_host_that_waits_for_a_kernel(waits, step_of):
    step = step_of([
        note("ProfilerStep#1", 0, 360), launch(2, 1), kernel("gemm", 20, 230, 1), *waits,
        host("aten::add", 260, 100),
    ])  # fmt: skip
    assert [(name, a, b) for _, name, a, b in work(step)][1:] == [
        ("gemm", 20, 250), ("return of a call that waits", 250, 260), ("aten::add", 260, 360),
    ]  # fmt: skip
    assert step.what_if(name="gemm", factor=2).gain_ns == -230_000
    assert step.unexplained_share == 0


def test_rows_of_a_stream_that_overlap(step_of):
    """The second starts 80 of 100 µs into the first: 160 into one that takes twice as long."""
    step = step_of([
        note("ProfilerStep#1", 0, 100), launch(2, 1), kernel("one", 20, 100, 1),
        launch(5, 2), kernel("two", 100, 100, 2),
    ])  # fmt: skip
    assert [(name, a, b) for _, name, a, b in work(step)][1:] == [
        ("one", 20, 100), ("two", 100, 200),
    ]  # fmt: skip
    assert step.what_if(name="one", factor=2).gain_ns == -80_000


def test_python_functions_name_a_gap_of_the_host(step_of):
    rows = [
        note("ProfilerStep#1", 0, 5000), host("aten::mm", 0, 100), host("aten::add", 4900, 100),
    ]  # fmt: skip
    step = step_of(rows)
    assert step.unexplained_share == pytest.approx(4800 / 5000)
    assert step.critical_path["kind"].tolist().count(UNEXPLAINED) == 1
    step = step_of([*rows, host("data.py(7): shuffle", 100, 4800, cat="python_function")])
    assert step.unexplained_share == 0
    assert ("data.py(7): shuffle", 100, 4900) in [(n, a, b) for _, n, a, b in told(step)]


def test_loading_data_is_input_however_long_it_stands_still(step_of):
    step = step_of([
        note("ProfilerStep#1", 0, 5000),
        note("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 0, 4900),
        host("aten::add", 4900, 100),
    ])  # fmt: skip
    assert told(step)[0][0] == "input"
    assert step.unexplained_share == 0


def test_an_exchange_of_a_thread_holds_the_gap_it_ends_in(step_of):
    """Launched at 3,900 µs, it ends at 12,000 in a gap of the main thread."""
    step = step_of([gloo_step(rank) for rank in (0, 1)])
    assert [(name, a, b) for _, name, a, b in told(step)] == [
        ("DistributedDataParallel.forward", 0, 2000),
        ("autograd::engine::evaluate_function: A", 2000, 3900),
        ("from launch to start of an exchange", 3900, 3950),
        ("all-reduce", 3950, 12000),
        ("between rows", 12000, 12010),
        ("torch.distributed.ddp.reducer::copy_bucket_to_grad", 12010, 12100),
        ("aten::add_", 12100, 14000),
    ]
    assert step.critical_path["origin"].tolist()[4] == "inferred"
    # Without transfer the second gradient, until 6,000, holds the rest.
    assert step.what_if(kind="exchange", factor=0).completion_ns == 8_000_000


def test_work_that_was_launched_before_the_step_says_so(step_of):
    """The device runs behind: step 2 starts at 320 µs, when its rows have long been launched."""
    step = step_of([
        note("ProfilerStep#1", 0, 50), launch(5, 1), kernel("one", 20, 300, 1),
        note("ProfilerStep#2", 50, 50), launch(55, 2), kernel("two", 321, 100, 2),
        note("ProfilerStep#3", 100, 50), launch(105, 3), kernel("three", 422, 100, 3),
    ], 2)  # fmt: skip
    assert told(step)[1:] == [("other", "two", 1, 101)]
    assert step.critical_path["launched"].iloc[1] == "before it"


def test_a_row_without_a_launch_says_so(step_of):
    step = step_of([
        note("ProfilerStep#1", 0, 50), launch(5, 1), kernel("one", 20, 300, 1),
        kernel("lost", 321, 100, 77), launch(8, 2), kernel("two", 422, 10, 2),
    ])  # fmt: skip
    path = step.critical_path.set_index("name")
    assert path.at["lost", "launched"] == "not in the file"
    assert path.at["lost", "origin"] == "recorded"


def test_a_collective_waits_for_its_last_member_and_ends_for_each_by_itself(step_of):
    """Rank 1 starts its step 100 µs late and ends the all-reduce 3 µs after rank 0."""
    documents = []
    for rank, (at, first, ends) in {0: (0, 100, 400), 1: (100, 50, 403)}.items():
        documents.append(document(rank, [
            note("ProfilerStep#1", at, 60), launch(at + 5, 1),
            kernel("gemm", at + 10, first, 1),
            *all_reduce(at + 20, at + 10 + first + 5, ends - (at + 15 + first), 2),
            launch(at + 40, 3, tid=MAIN), kernel("update", ends + 5, 50, 3),
        ]))  # fmt: skip
    step = step_of(documents)
    owners = step.replay().owners
    assert owners["what"].tolist() == [BEFORE_STEP, "own", "transfer", "own"]
    assert (owners["duration_ns"] / 1000).tolist() == [100, 65, 235, 58]
    path = step.critical_path
    assert path.loc[path["on"] == "link", "rank"].isna().all()
    assert path.query("name == 'own end of a collective'")["duration_ns"].tolist() == [3000]
    together = step.what_if(start_together=True)
    # Then rank 0 arrives last, at 115; rank 1 still ends 3 µs after it.
    assert together.completion_ns == (115 + 235 + 3 + 5 + 50) * 1000
    assert step.what_if(rank=1, start_together=True).completion_ns == together.completion_ns
