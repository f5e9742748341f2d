"""Of strangers' names a report shows text and nothing else, and no folder."""

from __future__ import annotations

import html
import json

import pytest

import stepviz as sv
from stepviz.reports.cleaning import Cleaner
from tests.reports.parsed import Report
from tests.traces.synthetic import two_ranks

HOSTILE = '<img src=x onerror="pwned=1"></script><script>pwned=1</script>'


def test_names_are_text(tmp_path, written):
    documents = two_ranks()
    for one in documents.values():
        one["distributedInfo"]["pg_config"][0]["pg_desc"] = HOSTILE
        one["deviceProperties"] = [{"id": 0, "name": HOSTILE}]
        for event in one["traceEvents"]:
            if event["name"] in ("gemm", "aten::mm"):
                event["name"] = f"{event['name']} {HOSTILE}"
            if "Process Group Description" in event["args"]:
                event["args"]["Process Group Description"] = HOSTILE
    folder = tmp_path / "<script>pwned=1<"
    folder.mkdir()
    for rank, one in documents.items():
        (folder / f"rank{rank}<img src=x onerror=pwned=1>.json").write_text(json.dumps(one))
    text = sv.report(sv.load_run(folder), tmp_path / "step.html").read_text(encoding="utf-8")
    said = Report(text)
    assert "img" not in said.tags
    assert not any(name.startswith("on") for _, name, _ in said.attributes)
    assert said.tags.count("script") == 2  # the timeline's data, and ours
    assert HOSTILE in html.unescape(said.text)
    assert "rank0<img src=x onerror=pwned=1>.json" in said.tables["files"].texts("file")


def test_no_folder_is_told(synthetic, tmp_path):
    """Not of files, not of rows that name source files, not of what users called their ranges."""
    documents = two_ranks()
    secrets = (
        "/home/Ann Lee/loop/train.py(33): step",
        r"C:\Users\Ann Lee\loop\train.py(3): run",
        "s3://secretteam/models/train.py",
        "~annlee/loop/train.py",
        "/opt/secretteam/x.py",
    )
    for one in documents.values():
        kernels = [event for event in one["traceEvents"] if event["name"] == "gemm"]
        for event, name in zip(kernels, secrets * 9, strict=False):
            event["name"] = name
    run = synthetic(documents.values(), folder="Ann Lees traces")
    texts = [
        sv.report(run, tmp_path / "step.html", step=number).read_text(encoding="utf-8")
        for number in run.steps.index
    ]
    text = "".join(texts)
    for secret in ("Ann Lee/", "Ann Lee\\", "secretteam", "~annlee", str(tmp_path), "/home/"):
        assert secret not in text
        assert json.dumps(secret)[1:-1] not in text
    assert "train.py(33): step" in text


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("/a/b/c.json", "c.json"),
        ("x /a/b/c.json: y", "x c.json: y"),
        ("aten::add_/mul", "aten::add_/mul"),
        ("GB/s/rank, 1/2/3", "GB/s/rank, 1/2/3"),
        (r"D:\runs\a.json", "a.json"),
        (r"\\host\share\a.json", "a.json"),
        ("gs://bucket/run/rank0.json.gz", "rank0.json.gz"),
        ("## forward ##", "## forward ##"),
        ("void at::native::(anonymous namespace)::f<float, 4>(int)",) * 2,
        ("abc\u202egpj.exe\u0000", "abc\ufffdgpj.exe\ufffd"),
        ("metadata/x, a/rank1.json, ./a/rank1.json", "metadata/x, rank1.json, ./rank1.json"),
        ("half \ud83d of a pair", "half \ufffd of a pair"),
    ],
)
def test_cleaning(given, shown):
    assert Cleaner(["/runs/rank0.json", "a/rank0.json"])(given) == shown


def test_a_clean_timeline_keeps_its_schedule():
    """Long and equal names are told apart; nothing else changes."""
    lesson = sv.lesson()
    document = lesson.to_dict()
    old = [phase["phase"] for phase in document["phases"]]
    names = {name: f"/home/x/{'n' * 300}{at}" for at, name in enumerate(old)}
    for phase in document["phases"]:
        phase["phase"] = names[phase["phase"]]
    for one in document["dependencies"]:
        one["source"], one["target"] = names[one["source"]], names[one["target"]]
    if document.get("target"):
        document["target"] = names[document["target"]]
    clean = Cleaner([]).timeline(sv.Timeline.from_dict(document))
    assert clean.schedule().completion == lesson.schedule().completion == 750
    shown = [phase["phase"] for phase in clean.to_dict()["phases"]]
    assert len(set(shown)) == len(old)
    assert max(map(len, shown)) <= 130
    assert "/home" not in json.dumps(clean.to_dict())
