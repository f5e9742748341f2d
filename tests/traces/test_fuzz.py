"""Files that nobody wrote: each gives a run with its repairs listed, or one clear error.

    STEPVIZ_FUZZ=5000 python -m pytest tests/traces/test_fuzz.py

tries that many cases of each kind instead of some hundreds.
"""

from __future__ import annotations

import functools
import gzip
import io
import json
import os
import re
import tarfile
import tempfile
import time
import warnings
import zipfile
from pathlib import Path

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import stepviz as sv
from stepviz.traces import TraceWarning
from tests.traces.synthetic import gloo_step, two_ranks

CASES = int(os.environ.get("STEPVIZ_FUZZ", "0"))
#: Nothing here is larger than some kilobytes: whatever takes this long hangs.
PATIENCE = 20

GOOD = {
    "spaced": json.dumps(two_ranks()[0]).encode(),
    "compact": json.dumps(two_ranks()[1], separators=(",", ":")).encode(),
    "in lines": json.dumps(gloo_step(0), indent=1).encode(),
    "bare": json.dumps(two_ranks()[0]["traceEvents"]).encode(),
    "events first": json.dumps(
        {"traceEvents": two_ranks()[0]["traceEvents"], **two_ranks()[0]}
    ).encode(),
}  # fmt: skip
#: What profilers and disks put where it does not belong.
PIECES = [
    b'"', b"\\", b"\\u", b"\\ud800", b"\xff", b"\xc3", b"\0", b"\n", b"{", b"}", b"[", b"]", b",",
    b":", b"NaN", b"-Infinity", b"nan", b"null", b"1e999", b"-", b"99999999999999999999999", b"},{",
    b'"traceEvents": [', b'{"ph": "X"}', b"\x1f\x8b", b"PK\x03\x04", b"[" * 3000, b" " * 3000,
    b'"baseTimeNanoseconds": 5, ', b"\xef\xbb\xbf",
]  # fmt: skip


def cases(few, **options):
    return settings(
        max_examples=CASES or few,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        **options,
    )


@st.composite
def damaged(draw, data):
    """Some bytes changed, cut out, put in, doubled, or cut off."""
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        end = draw(st.integers(at, min(len(data), at + draw(st.sampled_from([1, 20, 5000])))))
        data = draw(
            st.sampled_from(
                [
                    data[:at],
                    data[:at] + data[end:],
                    data[:end] + data[at:],
                    data[:at] + draw(st.sampled_from(PIECES)) + data[at:],
                    data[:at] + draw(st.binary(max_size=8)) + data[end:],
                ]
            )
        )
    return data


def check(data, name="rank0.json"):
    """Load what a file holds, and the same beside a good file."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", TraceWarning)
        path = Path(folder) / name
        path.write_bytes(data)
        begin = time.monotonic()
        run, refused = None, name
        try:
            run = sv.load_run(path)
        except sv.TraceError as error:
            refused = str(error)
        assert time.monotonic() - begin < PATIENCE
        assert name in refused
        if run is None:
            return None
    assert run.files["status"].isin(["read", "refused"]).all()
    lost = run.files["dropped"] + run.files["repaired"] > 0
    assert (run.files.loc[lost, "why"] != "").all()
    assert repr(run).isprintable()
    return run


@cases(250)
@given(st.sampled_from(sorted(GOOD)).flatmap(lambda name: damaged(GOOD[name])))
@example(b"[" * 200_000)
@example(b'{"traceEvents":[' + b'{"args":' * 5_000)
@example(b'{"traceEvents":[{"ph":"X","name":"' + b"a" * 100_000)
@example(b'{"a":' * 100_000)
@example(b'"' * 50_000)
@example(b'{"traceEvents":[' + b'{"ph":"X","name":"a"b"},' * 3_000)
@example(b'{"traceEvents":[' + b'{"ph":"X","name":"a\\"},' * 3_000)
@example(b"[" + b"{},[],1," * 3_000)
def test_damaged_bytes(data):
    check(data)


@cases(150)
@given(st.sampled_from(sorted(GOOD)).flatmap(lambda name: damaged(gzip.compress(GOOD[name]))))
def test_damaged_gzip(data):
    check(data, "rank0.json.gz")


@functools.cache
def archive(kind):
    out = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
            for rank in (0, 1):
                packed.writestr(f"rank{rank}.json", json.dumps(two_ranks()[rank]))
    else:
        with tarfile.open(fileobj=out, mode=kind) as packed:
            for rank in (0, 1):
                data = json.dumps(two_ranks()[rank]).encode()
                member = tarfile.TarInfo(f"rank{rank}.json")
                member.size = len(data)
                packed.addfile(member, io.BytesIO(data))
    return out.getvalue()


@cases(100)
@given(
    st.sampled_from(["zip", "w", "w:gz", "w:bz2", "w:xz"]).flatmap(lambda k: damaged(archive(k)))
)
def test_damaged_archives(data):
    check(data, "rank0.json")


@cases(100)
@given(st.binary(max_size=400))
def test_any_bytes(data):
    check(data)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["1.5", "NaN", "7", "-1", "1e400", "\ud800", "rank 1", "[TP01] 5"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
FIELDS = ["ph", "cat", "name", "pid", "tid", "ts", "dur", "id", "args", "bp", "s"]
ARGS = [
    "correlation", "External id", "external id", "Sequence number", "Fwd thread id", "stream",
    "wait_on_stream", "wait_on_cuda_event_record_corr_id", "Collective name", "Process Group Name",
    "Process Group Ranks", "In msg nelems", "Out msg nelems", "Group size", "dtype", "Seq",
    "Src Rank", "Dst Rank", "Input Dims", "Input type", "name", "labels", "rank",
]  # fmt: skip
TOP = ["distributedInfo", "baseTimeNanoseconds", "stepviz", "schemaVersion", "traceEvents"]
INFO = ["rank", "world_size", "backend", "pg_config"]


@st.composite
def odd_documents(draw):
    """A good trace with anything in some of its fields."""
    trace = json.loads(draw(st.sampled_from([GOOD["spaced"], GOOD["in lines"]])))
    events = trace["traceEvents"]
    for _ in range(draw(st.integers(1, 6))):
        what = draw(st.sampled_from(["field", "args", "top", "info", "event"]))
        event = events[draw(st.integers(0, len(events) - 1))] if events else {}
        if what == "event":
            events.insert(draw(st.integers(0, len(events))), draw(VALUES))
        elif what == "top":
            trace[draw(st.sampled_from(TOP[:-1]))] = draw(VALUES)
        elif what == "info" and isinstance(trace["distributedInfo"], dict):
            trace["distributedInfo"][draw(st.sampled_from(INFO))] = draw(VALUES)
        elif isinstance(event, dict) and what == "field":
            event[draw(st.sampled_from(FIELDS))] = draw(VALUES)
        elif isinstance(event, dict) and isinstance(event.get("args"), dict):
            event["args"][draw(st.sampled_from(ARGS))] = draw(VALUES)
    return trace


@cases(200)
@given(odd_documents())
def test_anything_in_any_field(trace):
    run = check(json.dumps(trace).encode())
    if run is None:
        return
    # Whatever was odd, what is left is whole: times are integers and ends are not before starts.
    for kept in run._ranks.values():
        events = kept.events
        assert (events["finish_ns"] >= events["start_ns"]).all()
        assert events[["track", "correlation", "external", "sequence"]].dtypes.eq("int64").all()
        assert events["name"].notna().all()


@cases(60)
@given(st.sampled_from(sorted(GOOD)), st.data())
def test_cut_anywhere_keeps_every_whole_event(name, data):
    """A brute force counts them: a list of the whole events before the cut, by json alone."""
    whole = GOOD[name]
    cut = data.draw(st.integers(0, len(whole)))
    begin = whole.index(b"[") + 1 if name == "bare" else whole.index(b'"traceEvents"')
    begin = whole.index(b"[", begin) + 1 if name != "bare" else begin
    count, at = 0, begin
    decode = json.JSONDecoder().raw_decode
    text = whole[:cut].decode()
    while at < len(text):
        at += len(re.match(r"[\s,]*", text[at:]).group())
        try:
            row, at = decode(text, at)
        except ValueError:
            break
        if not isinstance(row, dict):
            break
        count += row["ph"] == "X"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TraceWarning)
        run = check(whole[:cut])
    assert (0 if run is None else int(run.files["events"].sum())) == count
