"""What cannot be read is said, once, and costs nothing else."""

from __future__ import annotations

import gzip
import json

import pytest

import stepviz as sv
from stepviz.traces import TraceWarning
from stepviz.traces.reading.files import rows_in
from tests.traces.synthetic import BASE_NS, document, host, note, two_ranks


def good(rank=0):
    return two_ranks()[rank]


BAD = {
    "zero bytes": ("rank1.json", lambda d: b"", "empty"),
    "no events": ("rank1.json", lambda d: json.dumps({**d, "traceEvents": []}).encode(),
                  "no events"),
    "only metadata": ("rank1.json", lambda d: json.dumps(
        {**d, "traceEvents": [{"ph": "M", "name": "x"}]}).encode(), "no events"),
    "no trace": ("rank1.json", lambda d: b'{"hello": 1}', "no profiler trace"),
    "a number": ("rank1.json", lambda d: b"12", "no JSON|no profiler trace"),
    "text": ("rank1.json", lambda d: b"hello world", "no JSON"),
    "blank": ("rank1.json", lambda d: b"  \n ", "blank"),
    "damaged gz": ("rank1.json.gz", lambda d: b"\x1f\x8b\x08\x00" + b"rubbish" * 9,
                   "damaged|truncated"),
    "zip": ("rank1.json", lambda d: b"PK\x03\x04rest", "zip archive cannot be opened"),
    "cut before its events": ("rank1.json", lambda d: json.dumps(d).encode()[:150], "truncated"),
    "cut in its first event": ("rank1.json", lambda d: json.dumps(d).encode()[:300], "truncated"),
    "cut gz": ("rank1.json.gz", lambda d: gzip.compress(json.dumps(d).encode())[:30], "truncated"),
    "many bytes of nothing": ("rank1.json", lambda d: bytes(5000), "blank|no JSON"),
    "metadata only": ("rank1.json", lambda d: json.dumps({"distributedInfo": {"rank": 1}}).encode(),
                      "no list of traceEvents"),
    "deep": ("rank1.json", lambda d: b"[" * 200_000, "cannot be read|truncated"),
    "a folder": ("rank1.json", None, "is a folder, not a file"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_a_bad_file_gives_one_error_and_the_others_load(case, tmp_path, write_trace):
    name, spoil, said = BAD[case]
    write_trace("rank0.json", good(0))
    if spoil is None:
        return_path = tmp_path / name
        return_path.mkdir()
        files = [tmp_path / "rank0.json", return_path]
    else:
        (tmp_path / name).write_bytes(spoil(good(1)))
        files = tmp_path
    with pytest.warns(TraceWarning, match=f"(?s){name}.*({said})") as caught:
        run = sv.load_run(files)
    assert len(caught) == 1
    assert run.ranks == [0]
    assert run.files["status"].tolist() == ["read", "refused"]
    assert name in run.files["why"].iloc[1]
    assert run.step().timeline().completion > 0


@pytest.mark.parametrize("case", [c for c in BAD if BAD[c][1]])
def test_where_nothing_loads_it_is_an_error(case, tmp_path):
    name, spoil, said = BAD[case]
    (tmp_path / name).write_bytes(spoil(good(1)))
    with pytest.raises(sv.TraceError, match=f"(?s){name}.*({said})"):
        sv.load_run(tmp_path)


def test_no_folder_no_traces_no_files(tmp_path):
    with pytest.raises(sv.TraceError, match="does not exist"):
        sv.load_run(tmp_path / "nowhere")
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(sv.TraceError, match="holds no traces"):
        sv.load_run(tmp_path)
    with pytest.raises(sv.TraceError, match="list of files is empty"):
        sv.load_run([])


def test_two_files_of_one_rank_keep_the_first_and_say_so(write_trace):
    write_trace("a-rank0.json", good(0))
    write_trace("b-rank0.json", good(0))
    with pytest.warns(TraceWarning, match=r"b-rank0\.json says it is rank 0, .*a-rank0\.json"):
        run = sv.load_run(write_trace("c-rank1.json", good(1)).parent)
    assert run.ranks == [0, 1]
    assert run.files["status"].tolist() == ["read", "refused", "read"]


def test_a_file_a_list_and_a_folder_are_the_same(write_trace):
    paths = [write_trace(f"rank{rank}.json.gz", good(rank)) for rank in (0, 1)]
    by_folder, by_list = sv.load_run(paths[0].parent), sv.load_run(paths)
    assert by_folder.step().timeline() == by_list.step().timeline().with_name(
        by_folder.step().timeline().name
    )
    assert sv.load_run(str(paths[1])).ranks == [1]


def test_a_bare_list_of_events_is_a_trace(write_trace):
    path = write_trace("trace_rank_3.json", good(0)["traceEvents"])
    run = sv.load_run(path)
    assert run.ranks == [3]
    assert run.files["rank_source"].tolist() == ["file name"]


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("rank0.json", 0),
        ("host_rank-12.pt.trace.json", 12),
        ("worker.rank_7.1695.pt.trace.json", 7),
        ("Rank 3.json", 3),
    ],
)
def test_rank_from_the_file_name(name, rank, write_trace):
    path = write_trace(name, good(0)["traceEvents"])
    rows = rows_in(path)
    assert (rows.rank, rows.rank_source) == (rank, "file name")


def test_a_file_that_says_no_rank(write_trace):
    path = write_trace("capture.json", good(0)["traceEvents"])
    alone = sv.load_run(path)
    assert alone.ranks == [0]
    assert "assumed" in alone.files["rank_source"].iloc[0]
    write_trace("rank0.json", good(0))
    with pytest.warns(TraceWarning, match=r"capture\.json does not say its rank"):
        assert sv.load_run(path.parent).ranks == [0]


def test_rank_10_comes_after_rank_9(write_trace):
    for rank in (10, 9, 2):
        write_trace(f"r{rank}.json", document(rank, good(0)["traceEvents"], world=11))
    run = sv.load_run(write_trace("r1.json", document(1, good(0)["traceEvents"], world=11)).parent)
    assert run.ranks == [1, 2, 9, 10]
    assert [file.rsplit("r", 1)[-1] for file in run.files["file"]] == [
        "1.json", "2.json", "9.json", "10.json"
    ]  # fmt: skip


def test_impossible_times_are_dropped_and_told(write_trace):
    rows = good(0)["traceEvents"]
    rows += [
        host("nan", "NaN", 5),
        host("no duration", 5, None),
        host("negative", 5, -500),
        host("endless", 5, 1e12),
    ]
    with pytest.warns(TraceWarning, match="negative duration"):
        run = sv.load_run(write_trace("rank0.json", document(0, rows)))
    why = run.files["why"].iloc[0]
    assert "1 event whose start is no finite time" in why
    assert "1 event whose duration is no finite time" in why
    assert "1 event with a negative duration" in why
    assert "1 event lasting longer than a day" in why
    assert run.step(1).completion_ns == 900_000


def test_bad_utf8_and_entries_that_are_no_events_are_mended(tmp_path):
    data = json.dumps(document(0, [*good(0)["traceEvents"], 7, "x"])).encode()
    (tmp_path / "rank0.json").write_bytes(data.replace(b"gemm", b"g\xffmm", 1))
    with pytest.warns(TraceWarning, match="not UTF-8 were replaced: 1; .*were dropped: 2"):
        run = sv.load_run(tmp_path)
    assert run.step(1).completion_ns == 900_000


def test_text_times_and_base_time_are_exact(write_trace):
    rows = [
        note("ProfilerStep#1", "1706512345678901.234", "10.001"),
        host("aten::mm", "1706512345678902.000", "1.5"),
    ]
    events = rows_in(write_trace("rank0.json", document(0, rows, base=7))).events
    assert events["start_ns"].tolist() == [1706512345678901241, 1706512345678902007]
    assert (events["finish_ns"] - events["start_ns"]).tolist() == [10_001, 1_500]


def test_base_time_places_ranks_beside_each_other(write_trace):
    """One rank writes times from another base: the same answers (facts, robustness table)."""
    first, second = two_ranks().values()
    for event in second["traceEvents"]:
        event["ts"] += 1_000_000
    second["baseTimeNanoseconds"] = BASE_NS - 10**9
    write_trace("rank0.json", first)
    run = sv.load_run(write_trace("rank1.json", second).parent)
    assert run.step(2).completion_ns == 900_000
    assert run.step(2).collectives["skew_ns"].tolist() == [100_000]


def test_old_category_names(write_trace):
    old = {"kernel": "Kernel", "cuda_runtime": "Runtime", "cpu_op": "Operator"}
    rows = good(0)["traceEvents"]
    for event in rows:
        event["cat"] = old.get(event["cat"], event["cat"])
    run = sv.load_run(write_trace("rank0.json", document(0, rows, world=1)))
    assert run.step(2).breakdown("ns")[0]["forward"] == 200_000


def test_an_import_of_stepviz_reads_no_traces():
    import subprocess
    import sys

    code = "import sys, stepviz; assert 'stepviz.traces' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("source", [None, 5, b"/tmp", b"", [5], [b"x"], "", True])
def test_what_is_no_path_is_said(source):
    with pytest.raises(sv.TraceError, match="pass a folder of traces"):
        sv.load_run(source)


def test_folders_are_one_capture_each(tmp_path, write_trace):
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        write_trace("rank0.json", good(0), tmp_path / name)
    with pytest.raises(sv.TraceError, match="its folders do: first, second; pass one of them"):
        sv.load_run(tmp_path)
    with pytest.raises(sv.TraceError, match="2 folders are too many"):
        sv.load_run([tmp_path / "first", tmp_path / "second"])
    assert sv.load_run([tmp_path / "first"]).ranks == [0]


def test_a_link_that_leads_nowhere_is_said(tmp_path, write_trace):
    write_trace("rank0.json", good(0))
    (tmp_path / "rank1.json").symlink_to(tmp_path / "gone.json")
    with pytest.warns(TraceWarning, match=r"rank1\.json .*a link that leads nowhere"):
        assert sv.load_run(tmp_path).ranks == [0]


@pytest.mark.parametrize("chosen", ["6", [6], 6.0, True, b"6", {}])
def test_a_step_is_a_whole_number(chosen):
    with pytest.raises(sv.TraceError, match="a whole one, not"):
        sv.sample_run().step(chosen)


def test_a_step_that_is_not_there_is_said_beside_those_that_are():
    with pytest.raises(sv.TraceError, match=r"sample_run has no step 99; it has 6, 7, 8$"):
        sv.sample_run().step(99)
    with pytest.raises(sv.TraceError, match=r"it has 1, 2, 3, 4, 5, 6, 7, 8, … to 12$"):
        sv.sample_run("long tail").step(99)


@pytest.mark.parametrize("chosen", [1.0, True, "0", [0, "1"], [0.0], 1.5])
def test_ranks_are_whole_numbers(chosen):
    with pytest.raises(sv.TraceError, match="ranks are whole numbers, not"):
        sv.sample_run().step().timeline(chosen)


def test_json_cut_inside_a_text_is_truncated(tmp_path):
    path = tmp_path / "rank0.json"
    path.write_text('{"traceEvents": [{"ph": "X", "name": "aten::m')
    with pytest.raises(sv.TraceError, match="is truncated"):
        sv.load_run(path)
