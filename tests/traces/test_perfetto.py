"""A step as a trace for Perfetto: nothing dropped, every arrow bound, every time exact."""

from __future__ import annotations

import gzip
import json
import os
from collections import Counter
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepviz.errors import TraceError
from stepviz.traces import load_run
from stepviz.traces.step import Step
from stepviz.traces.tracks import writer
from stepviz.traces.tracks.writer import EventWriter, microseconds, nesting_lanes
from tests.traces.perfetto_rules import open_trace, whole_ns
from tests.traces.synthetic import BASE_NS, document, host, kernel, launch, note, two_ranks

FOLDERS = [
    "ddp-a100-nccl-1of2",
    "ddp-v100-nccl-1of1",
    "dlrm-v100-nccl-8of8",
    "gloo-2rank-b4",
    "gloo-2rank-slowfabric-b1",
    "small/a100-alexnet.json.gz",
    "small/cuda-event-sync-streams.json.gz",
    "small/no-gpu-rank.json.gz",
]


@pytest.fixture
def two(write_trace, tmp_path):
    """Return a run of two ranks of which rank 0 waits 100 µs for rank 1."""
    folder = tmp_path / "two"
    folder.mkdir()
    for rank, trace in two_ranks().items():
        write_trace(f"rank{rank}.json", trace, folder)
    return load_run(folder)


@pytest.fixture
def path_of_two(monkeypatch):
    """Give steps a path worked out by hand: rank 1's forward and backward, transfer, update."""

    def path(step):
        low = step.windows["start_ns"].min()
        ends = [0, 100_000, 300_000, 405_000, 600_000, 600_000, step.completion_ns]
        return pd.DataFrame(
            {
                "rank": pd.array([1, 1, 1, None, 0, 0], dtype="Int64"),
                "kind": ["host", "forward", "backward", "exchange", "unexplained", "optimizer"],
                "name": ["", "gemm", "gemm", "all-reduce", "", "multi_tensor_apply"],
                "start_ns": [low + end for end in ends[:-1]],
                "finish_ns": [low + end for end in ends[1:]],
                "duration_ns": np.diff(ends),
                "origin": "recorded",
                "launched": "in the step",
            }
        )

    monkeypatch.setattr(Step, "critical_path", property(path))


@pytest.mark.parametrize("name", FOLDERS)
def test_perfetto_drops_nothing_and_binds_every_arrow(handed, name, tmp_path):
    step = load_run(handed(name)).step()
    opened = open_trace(step.to_perfetto(tmp_path / "step.json.gz"))
    assert opened.faults == []
    assert opened.processes[999_999] == f"step {step.number}"
    assert [opened.processes[1_000_000 + rank] for rank in step.ranks] == [
        f"rank {rank}" for rank in step.ranks
    ]
    (whole,) = opened.on(f"step {step.number}", "step")
    assert whole.finish - whole.start == step.completion_ns
    kinds = opened.on(f"step {step.number}", "critical path: kind")
    assert sum(s.finish - s.start for s in kinds) == step.completion_ns
    pieces = [s for s in opened.slices if s.cat == "stepviz:critical path"]
    assert sum(s.finish - s.start for s in pieces) == step.completion_ns
    base = opened.document["baseTimeNanoseconds"]
    for rank in step.ranks:
        kinds = opened.on(f"rank {rank}", "kinds")
        window = step.windows.loc[rank]
        assert kinds[0].start + base == window["start_ns"]
        assert sum(s.finish - s.start for s in kinds) == window["duration_ns"]


@pytest.mark.parametrize("name", ["ddp-a100-nccl-1of2", "gloo-2rank-b4"])
def test_rows_are_those_of_the_files_to_the_nanosecond(handed, name, tmp_path):
    step = load_run(handed(name)).step()
    opened = open_trace(step.to_perfetto(tmp_path / "step.json"))
    base = opened.document["baseTimeNanoseconds"]
    low, high = step.windows["start_ns"].min(), step.windows["finish_ns"].max()
    for rank in step.ranks:
        shown = Counter(
            (s.name, s.cat, s.start + base, s.finish + base)
            for s in opened.slices
            if opened.processes[s.pid] == f"rank {rank}" and not s.cat.startswith("stepviz:")
        )
        raw = gzip.decompress((handed(name) / f"rank{rank}.json.gz").read_bytes())
        recorded = json.loads(raw, parse_float=Decimal)
        own = recorded.get("baseTimeNanoseconds", 0)
        inside, all_rows = Counter(), Counter()
        for event in recorded["traceEvents"]:
            if event["ph"] != "X" or event["cat"] == "Trace":
                continue
            start = whole_ns(event["ts"]) + own
            finish = start + whole_ns(event["dur"])
            all_rows[event["name"], event["cat"], start, finish] += 1
            if start < high and finish > low:
                inside[event["name"], event["cat"], start, finish] += 1
        assert inside - shown == Counter()
        assert shown - all_rows == Counter()


def test_waits_and_transfers_are_apart(two, tmp_path):
    step = two.step(2)
    opened = open_trace(step.to_perfetto(tmp_path / "step.json"))
    low = step.windows["start_ns"].min() - opened.document["baseTimeNanoseconds"]
    by_rank = {
        rank: [
            (s.name, s.start - low, s.finish - low) for s in opened.on(f"rank {rank}", "exchange")
        ]
        for rank in (0, 1)
    }
    # The previous update ended 800 µs after its forward began; this forward begins 900 after it.
    assert by_rank == {
        0: [("wait: all-reduce", 505_000, 605_000), ("transfer: all-reduce", 605_000, 800_000)],
        1: [("transfer: all-reduce", 605_000, 800_000)],
    }
    ((first, last),) = [(a, b) for a, b, cat in opened.arrows if cat == "stepviz:exchange"]
    assert (opened.processes[first.pid], opened.processes[last.pid]) == ("rank 1", "rank 0")
    assert first.args["last to arrive"] == "rank 1"


def test_launches_of_a_host_that_ran_ahead_are_shown(two, tmp_path):
    step = two.step(2)
    opened = open_trace(step.to_perfetto(tmp_path / "step.json"))
    base = opened.document["baseTimeNanoseconds"]
    # Step 2's host range begins 500 µs after the first, 400 µs before its window.
    markers = [s for s in opened.slices if s.name == "ProfilerStep#2"]
    assert [s.start + base - BASE_NS for s in markers] == [500_000, 500_000]
    launches = [(a, b) for a, b, cat in opened.arrows if cat == "ac2g"]
    work = [s for s in opened.slices if s.cat == "kernel" and s.start + base >= BASE_NS + 10**6]
    assert len(work) == 10
    assert {id(b) for _, b in launches} >= {id(s) for s in work}
    assert all(a.args["correlation"] == b.args["correlation"] for a, b in launches)


def test_the_critical_path_adds_up(two, path_of_two, tmp_path):
    step = two.step(2)
    opened = open_trace(step.to_perfetto(tmp_path / "step.json"))
    assert opened.faults == []
    kinds = opened.on("step 2", "critical path: kind")
    assert sum(s.finish - s.start for s in kinds) == step.completion_ns
    assert [s.name for s in kinds if s.finish > s.start] == [
        "host", "forward", "backward", "exchange", "optimizer",
    ]  # fmt: skip
    by_rank = [
        *opened.on("step 2", "critical path: between ranks"),
        *opened.on("step 2", "critical path: rank 0"),
        *opened.on("step 2", "critical path: rank 1"),
    ]
    assert sum(s.finish - s.start for s in by_rank) == step.completion_ns
    pieces = sorted((s for s in by_rank if s.finish > s.start), key=lambda s: s.start)
    arrows = [(a.start, b.start) for a, b, cat in opened.arrows if cat == "stepviz:critical path"]
    expected = [(a.start, b.start) for a, b in pairwise(pieces)]
    assert sorted(arrows) == expected


@pytest.mark.parametrize(
    ("name", "number"),
    [("ddp-a100-nccl-1of2", 5), ("gloo-2rank-b4", 3), ("dlrm-v100-nccl-8of8", 10)],
)
def test_it_reads_back_as_it_was(handed, tmp_path, name, number):
    run = load_run(handed(name))
    step = run.step(number)
    again = load_run(step.to_perfetto(tmp_path / "step.json.gz"))
    assert again.ranks == step.ranks
    assert set(again.files["why"]) == {""}
    for rank in step.ranks:
        before, after = (frame_of(each, rank) for each in (run, again))
        inside = before.merge(after.drop_duplicates(), how="right", indicator=True)
        assert (inside["_merge"] == "both").all()
        low, high = step.windows.loc[rank, ["start_ns", "finish_ns"]]
        chosen = [
            each[(each["start_ns"] < high) & (each["finish_ns"] > low) & (each["cat"] != "Trace")]
            .sort_values(list(before.columns), ignore_index=True)
            for each in (before, after)
        ]  # fmt: skip
        pd.testing.assert_frame_equal(*chosen)
    # One step alone begins where its host did: only a first step is cut the same.
    if number == run.steps.index[0]:
        pd.testing.assert_frame_equal(again.step(number).collectives, step.collectives)
        assert again.step(number).completion_ns == step.completion_ns
        pd.testing.assert_frame_equal(again.step(number).breakdown("ns"), step.breakdown("ns"))


def frame_of(run, rank):
    """Return what a rank's rows say, in plain columns."""
    columns = ["name", "cat", "start_ns", "finish_ns", "correlation", "external", "sequence"]
    events = run._ranks[rank].events[columns]
    return events.astype({"name": str, "cat": str})


def test_names_may_hold_anything(write_trace, tmp_path):
    names = ['a "quoted" \\ name', "ünï 漢字 🙂", "tab\t, line\n, bell\x07", "</script>", "%s {0}"]
    events = [note("ProfilerStep#1", 0, 100)]
    events += [host(name, 10 * k + 1, 5) for k, name in enumerate(names)]
    step = load_run(write_trace("rank0.json", document(0, events, world=1))).step()
    opened = open_trace(step.to_perfetto(tmp_path / "out.json"))
    assert opened.faults == []
    assert {s.name for s in opened.slices} >= set(names)
    (tmp_path / "out.json").read_bytes().decode("ascii")


def test_rows_that_cross_on_a_stream_are_all_shown(write_trace, tmp_path):
    events = [note("ProfilerStep#1", 0, 100)]
    for k in range(4):
        events += [launch(10 + 5 * k, k + 1), kernel(f"k{k}", 20 + 10 * k, 25, k + 1)]
    events.append(kernel("over all", 19.999, 40, -1, cat="gpu_user_annotation"))
    step = load_run(write_trace("rank0.json", document(0, events, world=1))).step()
    opened = open_trace(step.to_perfetto(tmp_path / "out.json"))
    assert opened.faults == []
    tracks = {s.name: opened.threads[s.tid] for s in opened.slices if s.cat == "kernel"}
    assert tracks == {
        "k0": "stream 7", "k1": "stream 7 · 2", "k2": "stream 7 · 3", "k3": "stream 7",
    }  # fmt: skip
    assert [s.name for s in opened.on("rank 0", "stream 7 · notes")] == ["over all"]
    assert len([1 for _, b, cat in opened.arrows if cat == "ac2g" and b.cat == "kernel"]) == 4


def test_clocks_that_disagree_name_nobody(write_trace, tmp_path):
    folder = tmp_path / "apart"
    folder.mkdir()
    for rank, trace in two_ranks().items():
        trace["baseTimeNanoseconds"] += rank * 3_600_000_000_000
        write_trace(f"rank{rank}.json", trace, folder)
    step = _unaligned(folder).step()
    if step.clash is None:
        pytest.skip("these clocks could be aligned")
    opened = open_trace(step.to_perfetto(tmp_path / "step.json"))
    words = {s.name.split(":")[0] for s in opened.slices if s.cat == "stepviz:exchange"}
    assert words == {"exchange"}
    assert not [1 for *_, cat in opened.arrows if cat == "stepviz:exchange"]
    assert opened.document["stepvizStep"]["clocks"] == str(step.clash)


def _unaligned(folder):
    try:
        return load_run(folder, align=False)
    except TypeError:
        return load_run(folder)


def test_compressed_or_not_it_says_the_same(two, tmp_path):
    step = two.step(2)
    plain = step.to_perfetto(tmp_path / "step.json")
    zipped = step.to_perfetto(str(tmp_path / "step.json.gz"))
    assert plain == tmp_path / "step.json"
    assert gzip.decompress(zipped.read_bytes()) == plain.read_bytes()
    assert sorted(each.name for each in tmp_path.glob("*step*")) == ["step.json", "step.json.gz"]
    before = zipped.read_bytes()
    assert step.to_perfetto(zipped).read_bytes() == before


def test_what_cannot_be_written_is_said(two, tmp_path, monkeypatch):
    step = two.step(2)
    with pytest.raises(TraceError, match=r"there is no folder .*missing.*: make it first"):
        step.to_perfetto(tmp_path / "missing" / "step.json")
    with pytest.raises(TraceError, match="is a folder: give the name of a file in it"):
        step.to_perfetto(tmp_path)
    with pytest.raises(TraceError, match="one of the run's own traces"):
        step.to_perfetto(tmp_path / "two" / "rank1.json")
    with pytest.raises(TraceError, match="not 7"):
        step.to_perfetto(7)
    kept = step.to_perfetto(tmp_path / "kept.json").read_bytes()

    def full(self, said):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(EventWriter, "close", full)
    with pytest.raises(TraceError, match=r"kept\.json cannot be written: No space left on device"):
        step.to_perfetto(tmp_path / "kept.json")
    assert (tmp_path / "kept.json").read_bytes() == kept
    assert [each for each in tmp_path.iterdir() if each.name.startswith(".")] == []


def test_a_link_stays_one_and_what_is_no_file_is_left_alone(two, tmp_path):
    step = two.step(2)
    (tmp_path / "first.json").write_text("old")
    (tmp_path / "latest.json").symlink_to("first.json")
    step.to_perfetto(tmp_path / "latest.json")
    assert (tmp_path / "latest.json").is_symlink()
    assert json.loads((tmp_path / "first.json").read_text())["traceEvents"]
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(TraceError, match="is no ordinary file"):
        step.to_perfetto(tmp_path / "pipe.json")


@given(st.integers(0, 2**62))
def test_microseconds_are_exact(ns):
    assert whole_ns(Decimal(microseconds(ns))) == ns


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 12)), max_size=40))
def test_lanes_hold_what_nests(spans):
    spans.sort(key=lambda span: (span[0], -span[1]))
    start = np.array([low for low, _ in spans], dtype=np.int64)
    finish = start + np.array([length for _, length in spans], dtype=np.int64)
    lanes = nesting_lanes(start, finish)
    assert len(lanes) == len(spans)
    for i in range(len(spans)):
        for j in range(i):
            if lanes[i] == lanes[j]:
                apart = finish[j] <= start[i]
                assert apart or finish[i] <= finish[j]
    # None is on a further lane than it needs: on each one before, something crosses it.
    for i in range(len(spans)):
        for lane in range(lanes[i]):
            assert any(lanes[j] == lane and start[i] < finish[j] < finish[i] for j in range(i))


def test_it_is_written_in_blocks(two, tmp_path, monkeypatch):
    monkeypatch.setattr(writer, "_BLOCK", 100)
    monkeypatch.setattr(writer, "_AT_ONCE", 3)
    small = two.step(2).to_perfetto(tmp_path / "small.json").read_bytes()
    monkeypatch.undo()
    assert two.step(2).to_perfetto(tmp_path / "large.json").read_bytes() == small


@pytest.mark.parametrize("seed", range(20))
def test_lanes_are_the_first_where_each_interval_nests(seed):
    """Against looking at one lane after the other."""
    random = np.random.default_rng(seed)
    start = np.sort(random.integers(0, 60, 200))
    finish = start + random.integers(0, int(random.integers(2, 300)), 200)
    order = np.lexsort((-finish, start))
    start, finish = start[order], finish[order]
    stacks, expected = [], []
    for begin, end in zip(start.tolist(), finish.tolist(), strict=True):
        stacks = [[until for until in stack if until > begin] for stack in stacks] + [[]]
        lane = next(at for at, stack in enumerate(stacks) if not stack or end <= stack[-1])
        stacks[lane].append(end)
        expected.append(lane)
        stacks = stacks if stacks[-1] else stacks[:-1]
    assert nesting_lanes(start, finish).tolist() == expected
