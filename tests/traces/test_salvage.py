"""What is broken costs itself: everything else of a file is read, and each repair is told."""

from __future__ import annotations

import gzip
import io
import json
import re
from contextlib import nullcontext

import pytest

import stepviz as sv
from stepviz.traces import TraceWarning
from stepviz.traces.reading import decoding
from stepviz.traces.reading.decoding import Document
from stepviz.traces.reading.repairs import Repairs
from tests.traces.synthetic import BASE_NS, document, host, kernel, launch, note, two_ranks

GOOD = json.dumps(two_ranks()[1])
COUNT = len(two_ranks()[1]["traceEvents"])


@pytest.fixture
def beside(tmp_path, write_trace):
    """Load some bytes as rank 1 beside a good rank 0, with what was warned."""

    def load(data, name="rank1.json", said=""):
        write_trace("rank0.json", two_ranks()[0])
        (tmp_path / name).write_bytes(data if isinstance(data, bytes) else data.encode())
        with pytest.warns(TraceWarning, match=said) as caught:
            run = sv.load_run(tmp_path)
        assert len(caught) == 1
        assert run.ranks == [0, 1]
        assert run.files["status"].tolist() == ["read", "read"]
        return run, run.files.iloc[1]

    return load


# Cut off.
def test_a_cut_gzip_keeps_its_whole_events(beside):
    """All but the last kilobyte: the events that can be unpacked are there, in full."""
    packed = gzip.compress(GOOD.encode(), 0)
    data = packed[: len(packed) - 1000]
    text = GOOD[: len(GOOD) - 1000 + 8]  # the gzip trailer has eight bytes
    run, row = beside(data, "rank1.json.gz", r"the packed data ends too early")
    assert row["events"] == text.count('"ph"') - 1
    assert row["dropped"] == 1
    assert f"{row['events']} events read, up to the last whole one" in row["why"]
    assert run.step(1).completion_ns == 900_000


@pytest.mark.parametrize("ending", ["", ",", ", ", ",\n{", ', {"ph"', ', {"ph": "X", "name": "a'])
@pytest.mark.parametrize("bare", [False, True])
def test_a_text_cut_anywhere_behind_an_event(ending, bare, tmp_path):
    rows = [note("a", 1, 2), note("b", 3, 4)]
    text = json.dumps(rows if bare else {"traceEvents": rows}).rstrip("]}") + "}}" + ending
    (tmp_path / "rank0.json").write_text(text)
    with pytest.warns(TraceWarning, match=r"truncated .*: 2 events read"):
        run = sv.load_run(tmp_path)
    assert run.files["events"].tolist() == [2]
    assert run.files["dropped"].tolist() == [int("{" in ending)]


def test_text_cut_after_the_events_says_less_beside_them(beside):
    trace = two_ranks()[1]
    trace["distributedInfo"] = trace.pop("distributedInfo")  # behind the events
    text = json.dumps(trace)
    run, row = beside(text[: text.index('"pg_config"')], said="truncated")
    assert row["events"] == COUNT
    assert run.steps["duration_ns"].tolist() == [900_000, 900_000]


@pytest.mark.parametrize("at", [0.3, 0.6, 0.9])
def test_a_damaged_gzip_keeps_what_is_before_the_damage(at, beside):
    rows = [*two_ranks()[1]["traceEvents"], *(host(f"op {i}", i, 1, n=i * 7) for i in range(4000))]
    packed = bytearray(gzip.compress(json.dumps(document(1, rows)).encode()))
    place = int(len(packed) * at)
    packed[place : place + 40] = b"\xff" * 40
    _, row = beside(bytes(packed), "rank1.json.gz", "the packed data is damaged")
    assert abs(row["events"] / len(rows) - at) < 0.1


# Broken.
@pytest.mark.parametrize("name", ['ge"mm', 'gemm"', '"gemm', "gemm\\", 'a", "b": 5, "c', '"}}, {"'])
@pytest.mark.parametrize("which", [0, COUNT // 2, COUNT - 1])
@pytest.mark.parametrize("layout", [{}, {"separators": (",", ":")}, {"indent": 1}])
def test_a_name_that_breaks_its_event(name, which, layout, tmp_path):
    """As profilers wrote until 2026: quotes and backslashes that nobody escaped."""
    trace = two_ranks()[1]
    trace["traceEvents"][which]["name"] = "BROKEN"
    text = json.dumps(trace, **layout)
    start = text.rindex('"ph"', 0, text.index("BROKEN"))
    event = text.rindex("{", 0, start)
    text = text.replace("BROKEN", name)
    (tmp_path / "rank1.json").write_text(text)
    with pytest.warns(TraceWarning, match="1 event was skipped, broken JSON") as caught:
        run = sv.load_run(tmp_path)
    row = run.files.iloc[0]
    assert (row["rank"], row["events"], row["dropped"]) == (1, COUNT - 1, 1)
    line = text.count("\n", 0, event) + 1
    assert f"line {line} (byte {event})" in str(caught[0].message)
    assert run._ranks[1].rows.groups["0"] == ("default_pg", (0, 1))


def test_many_broken_events_in_a_large_file(tmp_path):
    """Every hundredth of 20,000, over several blocks; the list goes on after each."""
    rows = [json.dumps(host(f"op {i}", i, 1)) for i in range(20_000)]
    broken = [row.replace('"op', '"o"p') if i % 100 == 0 else row for i, row in enumerate(rows)]
    text = json.dumps(document(3, [])).replace('"traceEvents": []', "@").replace(
        "@", f'"traceEvents": [{", ".join(broken)}]'
    )  # fmt: skip
    (tmp_path / "a.json").write_text(text)
    with pytest.warns(TraceWarning, match=r"200 events were skipped.* line 1 \(byte \d+\), …"):
        run = sv.load_run(tmp_path)
    names = run._ranks[3].events["name"].astype(str)
    assert names.tolist() == [f"op {i}" for i in range(20_000) if i % 100]


def test_a_broken_text_before_the_events(beside):
    text = GOOD.replace('"schemaVersion": 1', '"host_name": "a"b"')
    _, row = beside(text, said="before its events is broken JSON")
    assert (row["rank_source"], row["events"]) == ("distributedInfo", COUNT)
    assert (row["dropped"], row["repaired"]) == (0, 1)


def test_a_missing_comma_and_one_too_many(beside):
    text = GOOD.replace('}, {"ph"', '} {"ph"', 1).replace('}, {"ph": "X"', '},, {"ph": "X"', 1)
    _, row = beside(text, said="broken JSON between events was passed over")
    assert (row["events"], row["dropped"], row["repaired"]) == (COUNT, 0, 1)


@pytest.mark.parametrize("behind", [",]}", ",\n]\n}", ',], "distributedInfo": {"rank": 0}}', "]}"])
@pytest.mark.parametrize("before", ["", ","])
def test_a_comma_beside_the_first_or_last_event_costs_neither(before, behind, tmp_path):
    """As writers leave that put one behind every event."""
    rows = [note(f"row{at}", 10 * at, 5) for at in range(3)]
    text = '{"traceEvents": [' + before + ", ".join(map(json.dumps, rows)) + behind
    (tmp_path / "rank0.json").write_text(text)
    loose = before or behind != "]}"
    with pytest.warns(TraceWarning, match="passed over") if loose else nullcontext():
        run = sv.load_run(tmp_path)
    assert sorted(run.names()["name"]) == ["row0", "row1", "row2"]
    assert run.files[["events", "dropped"]].to_numpy().tolist() == [[3, 0]]


def test_an_event_that_holds_what_looks_like_events(tmp_path):
    """Beside a broken one, so that reading looks for the start of the next."""
    inner = [{"name": "x", "ph": "X"}, {"name": "y", "ph": "X"}]
    rows = [host("first", 1, 1, list=inner), host("BROKEN", 2, 1), host("last", 3, 1, list=inner)]
    text = json.dumps(document(0, rows)).replace("BROKEN", 'a"b')
    (tmp_path / "rank0.json").write_text(text)
    with pytest.warns(TraceWarning, match="1 event was skipped"):
        run = sv.load_run(tmp_path)
    assert run._ranks[0].events["name"].tolist() == ["first", "last"]


# Nearly JSON.
@pytest.mark.parametrize(
    ("old", "new", "said", "kept"),
    [
        (b'"gemm"', b'"g\xffmm"', "bytes that are not UTF-8 were replaced: 1", "g\ufffdmm"),
        (
            b'"gemm"',
            b'"C:\\Users\\gemm"',
            "backslashes in texts that escape nothing were doubled: 2",
            "C:\\Users\\gemm",
        ),
        (b'"gemm"', b'"g\x07mm"', "control characters in texts were replaced: 1", "g mm"),
        (b'"gemm"', b'"g\nm\tm"', "control characters in texts were replaced: 2", "g m m"),
        (b'"gemm"', b'"g\\ud83d"', "halves of characters (surrogates) were mended: 1", "g\ufffd"),
    ],
)
def test_texts_that_json_does_not_allow(old, new, said, kept, beside):
    run, row = beside(GOOD.encode().replace(old, new, 1), said=re.escape(said))
    assert row["events"] == COUNT
    assert row["repaired"] == int(said[-1])
    assert kept in run._ranks[1].events["name"].tolist()
    assert run.steps["duration_ns"].tolist() == [900_000, 900_000]


def test_a_whole_pair_of_surrogates_is_a_character(tmp_path):
    text = json.dumps(document(0, [note("\U0001f680", 1, 2)]))
    assert "\\ud83d\\ude80" in text
    (tmp_path / "rank0.json").write_text(text)
    assert sv.load_run(tmp_path)._ranks[0].events["name"].tolist() == ["\U0001f680"]


@pytest.mark.parametrize("word", ["NaN", "nan", "-nan", "Infinity", "-Infinity", "inf", "1e999"])
def test_numbers_that_are_none_cost_their_event_only_where_they_are_its_time(word, beside):
    rows = [
        *two_ranks()[1]["traceEvents"],
        host("a", 77, 1, occupancy=123321),
        host("b", 456654, 1),
    ]
    text = json.dumps(document(1, rows)).replace('"ts": 456654', f'"ts": {word}')
    run, row = beside(
        text.replace("123321", word), said="1 event whose start is no finite time: drop"
    )
    assert row["events"] == COUNT + 1
    assert "a" in run._ranks[1].events["name"].tolist()


@pytest.mark.parametrize("prefix", [b"\xef\xbb\xbf", b"\n \t", b"\xef\xbb\xbf\r\n"])
def test_a_mark_of_byte_order_and_space_are_nothing(prefix, tmp_path):
    (tmp_path / "rank1.json").write_bytes(prefix + GOOD.encode() + b"\n\0\0")
    run = sv.load_run(tmp_path)
    assert run.files["why"].tolist() == [""]
    assert run.files["events"].tolist() == [COUNT]


def test_text_behind_the_end_is_told(beside):
    beside(GOOD + "\nKilled", said="text after the end of the trace was left out")


# Whole, but written otherwise.
def test_keys_may_stand_anywhere(tmp_path):
    """Also with arrays of objects behind the events, and the word traceEvents inside texts."""
    trace = two_ranks()[1]
    events = trace.pop("traceEvents")
    devices = [{"id": i, "name": "A", "ph": "X", "ts": 1, "dur": 1} for i in range(8)]
    written = {
        "note": '"traceEvents": [ is said here',
        "nested": {"traceEvents": [{"ph": "X", "ts": 1, "dur": 1}]},
        "traceEvents": events,
        "deviceProperties": devices,
        **trace,
        "baseTimeNanoseconds": str(BASE_NS),
    }
    (tmp_path / "a.json").write_text(json.dumps(written))
    run = sv.load_run(tmp_path)
    assert run.ranks == [1]
    assert run.files["events"].tolist() == [COUNT]
    assert run.steps["start_ns"].min() >= BASE_NS


@pytest.mark.parametrize("size", [200, 1000, 5000])
def test_where_blocks_end_makes_no_difference(size, tmp_path, monkeypatch):
    inner = [{"a": 1}, {"ph": "X"}, {"b": [{}, {}]}]
    rows = [host(f"op {i}", i, 1, list=inner, text="}, {") for i in range(100)]
    text = json.dumps(document(0, rows), indent=1).encode()

    def read():
        repairs = Repairs()
        found = Document(io.BytesIO(text), "a.json", repairs)
        names = [event.name for events in found.blocks() for event in events]
        return names, found.metadata, list(repairs)

    whole = read()
    assert whole[0] == [f"op {i}" for i in range(100)]
    monkeypatch.setattr(decoding, "BLOCK", size)
    assert read() == whole


def test_integers_beyond_64_bits_are_no_ids(tmp_path):
    rows = [
        host("a", 1, 1, **{"Comms Id": 2**80, "correlation": 2**70}),
        host("b", 2, 1, correlation=2**63),
        host("c", 3, 1, correlation=2**63 - 1),
    ]
    (tmp_path / "rank0.json").write_text(json.dumps(document(0, rows)))
    events = sv.load_run(tmp_path)._ranks[0].events
    assert events["correlation"].tolist() == [-1, -1, 2**63 - 1]


def test_an_event_beyond_every_bound(tmp_path, monkeypatch):
    monkeypatch.setattr(decoding, "LARGEST_PIECE", 10_000)
    monkeypatch.setattr(decoding, "BLOCK", 1_000)
    text = json.dumps(document(0, [host("a" * 50_000, 1, 1)]))
    (tmp_path / "rank0.json").write_text(text)
    with pytest.raises(sv.TraceError, match="that is no event of a trace"):
        sv.load_run(tmp_path)


# Merged.
def merged(label):
    """Return two ranks in one list, with the same ids of calls, flows and devices in both."""
    return [
        label(rank, event) for rank, trace in two_ranks().items() for event in trace["traceEvents"]
    ]


def by_text(rank, event):
    return {**event, "pid": f"[TP{rank:02d}] {event['pid']}"}


def by_two_texts(rank, event):
    return {**event, "pid": f"[TP00-PP{rank:02d}] {event['pid']}"}


def by_argument(rank, event):
    return {**event, "args": {**event["args"], "rank": rank}}


def by_number(rank, event):
    # Ids of calls stay those of each rank: they collide. Devices are numbered through.
    return {**event, "pid": event["pid"] * 1000 + rank}


@pytest.mark.parametrize(
    ("label", "source"),
    [
        (by_text, "merged file, process names"),
        (by_two_texts, "merged file, order of its process names"),
        (by_argument, "merged file, rank of each event"),
        (by_number, "merged file, process names"),
    ],
)
def test_a_merged_file_gives_its_ranks(label, source, write_trace):
    """The same steps and exchanges as from two files, though ids of calls collide."""
    events = merged(label)
    if label is by_number:
        events += [
            {"ph": "M", "name": "process_name", "pid": 1000 + r, "args": {"name": f"rank {r}"}}
            for r in (0, 1)
        ]
    trace = {**two_ranks()[0], "traceEvents": events}
    run = sv.load_run(write_trace("merged-rank0.json", trace))
    assert run.ranks == [0, 1]
    assert run.files["rank_source"].tolist() == [source, source]
    assert run.files["events"].tolist() == [COUNT, COUNT]
    assert run.steps["duration_ns"].tolist() == [900_000, 900_000]
    assert run.step(2).collectives["skew_ns"].tolist() == [100_000]
    two = [
        (row["during"], row["launched_ns"] - row["arrival_ns"])
        for rank in run.ranks
        for row in run._ranks[rank].exchanges.frame().to_dict("records")
    ]
    assert len(two) == 4
    assert all(kind == "backward" for kind, _ in two)


def test_arrows_of_a_merged_file_stay_with_their_rank(write_trace):
    """Both ranks number their flows from 1; rank 1's kernel comes 5 µs later."""
    events = []
    for rank, late in ((0, 0), (1, 5)):
        pid = f"[TP0{rank}] 1"
        device = f"[TP0{rank}] 0"
        events += [
            {**launch(10, 1), "pid": pid},
            {**kernel("gemm", 20 + late, 5, 1), "pid": device},
            {"ph": "s", "id": 1, "pid": pid, "tid": 100, "ts": 10, "cat": "ac2g", "name": "ac2g"},
            {"ph": "f", "id": 1, "pid": device, "tid": 7, "ts": 20 + late, "cat": "ac2g"},
        ]  # fmt: skip
    run = sv.load_run(write_trace("all.json", {"traceEvents": events}))
    arrows = {rank: kept.rows.launch_flows for rank, kept in run._ranks.items()}
    assert [found.device_ns.tolist() for found in arrows.values()] == [[20_000], [25_000]]
    assert all(min(*found.host_track, *found.device_track) >= 0 for found in arrows.values())


# What else rows say.
def test_waits_arrows_and_collectives_are_read(write_trace):
    said = {
        "Collective name": "allreduce", "In msg nelems": 10, "Out msg nelems": 20, "dtype": "Float",
        "Group size": 4, "Process Group Name": "7", "Process Group Description": "dp", "Seq": 3,
        "Process Group Ranks": "[0, 2, 4, 6]", "Src Rank": 2, "Dst Rank": 4,
    }  # fmt: skip
    cut = {**said, "Process Group Ranks": "[0, 1, 2, ...]", "Seq": "4"}
    sync = {"wait_on_stream": 7, "wait_on_cuda_event_record_corr_id": 5, "stream": 20}
    rows = [
        launch(1, 9, name="cudaGraphLaunch"),
        kernel("a", 5, 2, 9),
        kernel("b", 8, 2, 9),
        kernel("ncclDevKernel_AllReduce", 11, 2, 9, **said),
        kernel("ncclDevKernel_AllReduce", 15, 2, 9, **cut),
        host("Stream Wait Event", 20, 1, cat="cuda_sync", tid=20, **sync),
        host("Context Sync", 22, 1, cat="cuda_sync", tid=-1, stream=4294967295),
        {"ph": "s", "id": 9, "pid": 1, "tid": 100, "ts": 1, "cat": "async", "name": "launch"},
        {"ph": "f", "id": 9, "pid": 0, "tid": 7, "ts": 5, "cat": "async", "name": "launch"},
        {"ph": "f", "id": 9, "pid": 0, "tid": 7, "ts": 8, "cat": "async", "name": "launch"},
        {"ph": "f", "id": 8, "pid": 1, "tid": 100, "ts": 9, "cat": "async", "name": "launch"},
    ]
    trace = {**document(0, rows, base=0), "stepviz": {"version": 1}}
    run = sv.load_run(write_trace("rank0.json", trace))
    found = run._ranks[0].rows
    assert found.recorded == {"version": 1}
    syncs, flows = found.syncs, found.launch_flows
    assert (syncs.row.tolist(), syncs.stream.tolist()) == ([5, 6], [7, -1])
    assert syncs.record_correlation.tolist() == [5, -1]
    assert (flows.host_ns.tolist(), flows.host_track.tolist()) == ([1000, 1000], [0, 0])
    assert (flows.device_ns.tolist(), flows.device_track.tolist()) == ([5000, 8000], [1, 1])
    calls = found.collectives
    assert calls.row.tolist() == [3, 4]
    first, second = (
        {name: column[at] for name, column in calls.columns.items()} for at in range(2)
    )
    assert first == {
        "collective": "allreduce", "group": "7", "description": "dp", "elements": 10,
        "out_elements": 20, "dtype": "Float", "group_size": 4, "sequence": 3,
        "ranks": (0, 2, 4, 6), "src_rank": 2, "dst_rank": 4,
    }  # fmt: skip
    assert second["ranks"] is None
    assert second["sequence"] == 4
