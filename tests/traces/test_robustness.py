"""The table of what breaks other tools, row by row, on eight real files: one is spoilt.

The right values are the facts': compute of each rank in µs, and 20,823 µs for the step.
"""

from __future__ import annotations

import gzip
import json
import warnings

import pytest

import stepviz as sv
from stepviz.traces import TraceWarning

COMPUTE = [1034, 1246, 1068, 1240, 1126, 1041, 1051, 1059]
SPOILT = 3
STEP_US = 20_823


@pytest.fixture(scope="module")
def files(handed):
    return [
        json.loads(
            gzip.decompress((handed("dlrm-v100-nccl-8of8") / f"rank{r}.json.gz").read_bytes())
        )
        for r in range(8)
    ]


@pytest.fixture
def load(files, tmp_path):
    """Write all eight, one of them spoilt, and load them; say what was warned."""

    def write(spoil, *, all_of_them=False, name="rank{}.json"):
        for rank, trace in enumerate(files):
            data = json.dumps(trace).encode()
            if all_of_them or rank == SPOILT:
                data = spoil(json.loads(data))
                data = data if isinstance(data, bytes) else json.dumps(data).encode()
            (tmp_path / name.format(rank)).write_bytes(data)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            run = sv.load_run(tmp_path)
        assert {warning.category for warning in caught} <= {TraceWarning}
        return run, [str(warning.message) for warning in caught]

    return write


def kernels(trace):
    return [e for e in trace["traceEvents"] if e.get("cat") == "kernel" and "nccl" not in e["name"]]


def right(run, *, without=()):
    assert run.ranks == [r for r in range(8) if r not in without]
    found = run.device_time()["compute_ns"]
    for rank in run.ranks:
        assert found[rank] == COMPUTE[rank] * 1000


def whole(run):
    right(run)
    assert run.step(10).completion_ns == STEP_US * 1000


def test_compact(load):
    run, said = load(lambda t: json.dumps(t, separators=(",", ":")).encode(), all_of_them=True)
    whole(run)
    assert said == []


def test_no_distributed_info(load):
    def spoil(trace):
        del trace["distributedInfo"]
        return trace

    run, _ = load(spoil, all_of_them=True)
    right(run)
    assert set(run.files["rank_source"]) == {"file name"}


def test_two_files_of_one_rank(load):
    def spoil(trace):
        trace["distributedInfo"]["rank"] = 2
        return trace

    run, said = load(spoil)
    right(run, without=[SPOILT])
    assert len(said) == 1
    assert "rank3.json says it is rank 2, and so does" in said[0]
    assert "rank2.json" in said[0]


@pytest.mark.parametrize("part", [0.2, 0.5, 0.999])
def test_a_truncated_gzip(part, load):
    def spoil(trace):
        packed = gzip.compress(json.dumps(trace).encode())
        return packed[: int(len(packed) * part)]

    run, said = load(spoil)
    assert run.ranks == list(range(8))
    found = run.device_time()["compute_ns"]
    assert [found[r] for r in range(8) if r != SPOILT] == [
        c * 1000 for r, c in enumerate(COMPUTE) if r != SPOILT
    ]
    assert "the packed data ends too early" in " ".join(said)
    row = run.files.iloc[SPOILT]
    assert 0 < row["events"] < 2600 and row["dropped"] >= 1


def test_a_bad_byte(load):
    run, said = load(lambda t: json.dumps(t).encode().replace(b"aten::", b"aten\xff::", 1))
    whole(run)
    assert "bytes that are not UTF-8 were replaced: 1" in said[0]


def test_an_unescaped_quote(load):
    run, said = load(lambda t: json.dumps(t).replace('"aten::mul"', '"aten::"mul"', 1).encode())
    whole(run)
    assert "1 event was skipped, broken JSON at line 1 (byte " in said[0]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (float("nan"), "whose duration is no finite time"),
        (-500, "with a negative duration"),
        (1e12, "lasting longer than a day"),
        (1e9, "ending long after the recording's window"),
    ],
)
def test_a_duration_that_cannot_be(value, why, load, files):
    """The kernel is gone and nothing else is: compute lacks what it alone covered."""
    lost = {}

    def spoil(trace):
        kernel = kernels(trace)[5]
        lost.update(kernel)
        kernel["dur"] = value
        return trace

    run, said = load(spoil)
    assert f"1 event {why}" in said[0]
    others = [
        (e["ts"], e["ts"] + e["dur"]) for e in kernels(files[SPOILT]) if e["ts"] != lost["ts"]
    ]
    covered = len({us for start, end in others for us in range(start, end)})
    found = run.device_time()["compute_ns"]
    assert found[SPOILT] == covered * 1000
    assert [found[r] for r in range(3)] == [c * 1000 for c in COMPUTE[:3]]
    assert (run.files["dropped"] == [0, 0, 0, 1, 0, 0, 0, 0]).all()


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda t: {**t, "traceEvents": []}, "rank3.json holds no events"),
        (lambda t: b"", "rank3.json is empty"),
        (lambda t: b"{}", "has no list of traceEvents"),
    ],
)
def test_nothing_in_it(spoil, why, load):
    run, said = load(spoil)
    right(run, without=[SPOILT])
    assert len(said) == 1
    assert why in said[0]
    assert run.files["status"].iat[SPOILT] == "refused"


def test_a_bare_list(load):
    run, said = load(lambda t: t["traceEvents"])
    whole(run)
    assert said == []


def test_times_as_texts(load):
    def spoil(trace):
        for event in trace["traceEvents"]:
            for key in ("ts", "dur"):
                if key in event:
                    event[key] = f"{event[key]}.000"
        return trace

    run, said = load(spoil)
    whole(run)
    assert said == []


def test_another_base_time(load):
    def spoil(trace):
        for event in trace["traceEvents"]:
            if "ts" in event:
                event["ts"] -= 1_600_000_000_000_000
        trace["baseTimeNanoseconds"] = 1_600_000_000_000_000_000
        return trace

    run, said = load(spoil)
    whole(run)
    assert said == []
