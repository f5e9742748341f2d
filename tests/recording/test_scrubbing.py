"""What a written trace keeps and what it leaves out."""

from __future__ import annotations

import gzip
import json
import platform

import pytest

from stepviz.recording.trace_files import scrubbed, write_trace

PID = 4242


def event(name, **more):
    return {
        "ph": "X",
        "cat": "cpu_op",
        "name": name,
        "pid": PID,
        "tid": 77,
        "ts": 1,
        "dur": 1,
        **more,
    }


def document(*events):
    return {
        "schemaVersion": 1, "host_name": "node17.example", "traceName": "/home/someone/t.json",
        "trace_id": "ABC", "baseTimeNanoseconds": 5, "distributedInfo": {"rank": 0},
        "traceEvents": list(events),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("/home/someone/project/train.py(3): step", "train.py(3): step"),
        ("load C:\\Users\\Some One\\data\\x.bin", "load x.bin"),
        ("~/work/model.py", "model.py"),
        ("torch/autograd/__init__.py(200): backward", "torch/autograd/__init__.py(200): backward"),
        ("autograd::engine::evaluate_function: MmBackward0", None),
        ("void at::native::(anonymous namespace)::f<4, (a / b)>(int)", None),
        ("ddp_bucket#0#bytes=8#params=2#last=0", None),
        ("Optimizer.step#AdamW.step", None),
        ("forward / backward", None),
    ],
)
def test_names_stay_without_folders(name, kept):
    (found,) = scrubbed(document(event(name)), {}, PID)["traceEvents"]
    assert found["name"] == (name if kept is None else kept)


def test_hosts_paths_and_processes_are_left_out(monkeypatch):
    monkeypatch.setattr(platform, "node", lambda: "node17.example")
    thread = {"ph": "M", "name": "thread_name", "pid": PID, "tid": 77}
    found = scrubbed(
        document(
            {**thread, "args": {"name": "thread 77 (/usr/bin/python3.11)"}},
            {**thread, "tid": 78, "args": {"name": "thread 78 (pt_gloo_runloop)"}},
            {"ph": "M", "name": "process_name", "pid": PID, "args": {"name": "someone's job"}},
            {"ph": "M", "name": "other", "pid": PID, "args": {"name": "secret"}},
            event("on node17.example", args={"External id": 3, "Call stack": "/home/someone/a.py"}),
            event("kernel", pid=0, tid=7, args={"stream": 7, "correlation": 9}),
        ),
        {"record": 1},
        PID,
    )
    text = json.dumps(found)
    for word in ("node17", "someone", "secret", "ABC", str(PID), "python3.11"):
        assert word not in text
    assert found["stepviz"] == {"record": 1}
    assert found["baseTimeNanoseconds"] == 5
    rows = found["traceEvents"]
    assert rows[0]["args"]["name"] == "thread 1001 (python)"
    assert rows[1]["args"]["name"] == "thread 1002 (pt_gloo_runloop)"
    assert rows[3]["args"] == {"External id": 3}
    # Devices and streams are no processes: their numbers stay.
    assert (rows[4]["pid"], rows[4]["tid"], rows[4]["args"]["stream"]) == (0, 7, 7)


def test_sizes_stay_where_a_reader_needs_them():
    sizes = {"Input Dims": [[4, 5]], "Input type": ["float"], "Input Strides": [[5, 1]]}
    names = ("aten::mm", "gloo:all_reduce", "torch::autograd::AccumulateGrad")
    rows = scrubbed(document(*(event(name, args=dict(sizes)) for name in names)), {}, PID)
    kept = [set(row.get("args", {})) for row in rows["traceEvents"]]
    assert kept == [set(), {"Input Dims", "Input type"}, {"Input Dims", "Input type"}]


def test_no_time_is_rounded(tmp_path):
    raw = tmp_path / "trace.json"
    # 19 digits: no double holds them.
    text = json.dumps(document(event("a"))).replace('"ts": 1', '"ts": 5115364185213685.123')
    raw.write_text(text)
    write_trace(raw, tmp_path / "rank0.json.gz", {"t_ns": 2**62 + 1}, pid=PID)
    written = gzip.decompress((tmp_path / "rank0.json.gz").read_bytes()).decode()
    assert '"ts":5115364185213685.123' in written
    assert f'"t_ns":{2**62 + 1}' in written
    assert json.loads(written)["traceEvents"][0]["name"] == "a"
