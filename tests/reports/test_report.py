"""A report says what Python says, to the ns; of strangers' names it shows text and nothing else."""

from __future__ import annotations

import gzip
import html
import json
import re
import warnings
from itertools import pairwise
from pathlib import Path

import pytest

import stepviz as sv
from stepviz.errors import StepvizError
from stepviz.reports import subject as subjects
from stepviz.reports.cleaning import Cleaner
from stepviz.traces import told
from stepviz.traces.samples import FOLDERS
from stepviz.traces.story import explain
from tests.reports.parsed import Report
from tests.traces.synthetic import document, host, two_ranks

HANDED = Path(__file__).resolve().parents[3] / "shared" / "traces"
HOSTILE = '<img src=x onerror="pwned=1"></script><script>pwned=1</script>'


@pytest.fixture
def written(tmp_path):
    """Write the report of a run to a file; return it as parsed."""

    def write(run, **options):
        path = sv.report(run, tmp_path / "step.html", **options)
        return Report(path.read_text(encoding="utf-8"))

    return write


@pytest.fixture
def synthetic(tmp_path):
    """Load documents as a run, from a folder of a name."""

    def load(documents, folder="run"):
        (tmp_path / folder).mkdir()
        for rank, one in enumerate(documents):
            (tmp_path / folder / f"rank{rank}.json").write_text(json.dumps(one))
        return sv.load_run(tmp_path / folder)

    return load


def ints(values):
    return [int(value) for value in values]


# What it says.
def test_a_step_worked_out_by_hand(synthetic, written):
    """Two ranks of 0.9 ms; rank 0 waits 0.1 ms for rank 1, and 0.1 ms of exchange is exposed."""
    said = written(synthetic(two_ranks().values()), step=2)
    assert said.figures["step"][0].ns == 900_000
    assert said.figures["step"][0].text == "0.900 ms"
    assert said.tables["breakdown"].ns("sum") == [900_000, 900_000]
    assert said.tables["collectives"].ns("wait, all ranks") == [100_000]
    assert said.tables["collectives"].ns("between them") == [100_000]
    assert said.tables["path"].body[-1][1].ns == 900_000
    assert said.tables["steps"].texts("step") == ["1", "2 (this one)"]


@pytest.mark.parametrize("name", ["base", "slow rank", "FSDP"])
def test_every_table_says_what_python_says(name, written):
    run = sv.sample_run(name)
    step = run.step()
    said = written(run)
    origin = int(step.windows["start_ns"].min())

    parts = step.breakdown("ns")
    for row, rank in zip(said.tables["breakdown"].body, step.ranks, strict=True):
        assert row[0].text == f"rank {rank}"
        shown = dict(zip(said.tables["breakdown"].heads, row, strict=True))
        for kind in parts.index:
            if kind in shown:
                assert shown[kind].ns == parts.at[kind, rank]
            else:
                assert parts.at[kind, rank] < 500
        assert shown["sum"].ns == step.windows.at[rank, "duration_ns"]

    exposed = said.tables["exposed"]
    assert exposed.ns("exposed") == ints(step.exposed(unit="ns"))
    assert exposed.ns("of it transfer") == ints(parts.loc["exchange"])
    assert exposed.ns("of it wait for the last to arrive") == ints(parts.loc["wait"])

    collectives = step.collectives
    table = said.tables["collectives"]
    assert len(table.body) == len(collectives)
    assert table.ns("last arrival") == ints(collectives["arrival_ns"] - origin)
    assert table.ns("transfer") == ints(collectives["transfer_ns"])
    assert table.ns("wait, all ranks") == ints(collectives["wait_ns"])

    own = said.tables["own-time"]
    assert own.ns("late start") == ints(step.own_time["late_ns"])
    assert own.ns("own time outside collectives") == ints(step.own_time["own_time_ns"])
    last = collectives["last_rank"].value_counts()
    assert own.texts("last to arrive") == [str(last.get(rank, 0)) for rank in step.ranks]

    path = step.critical_path
    total = said.tables["path"].body[-1]
    assert total[0].text == "sum"
    assert total[1].ns == step.completion_ns == path["duration_ns"].sum()
    stretches = said.tables["stretches"]
    kept = step.replay().owners
    if len(kept) <= 40:
        assert stretches.ns("length") == ints(kept["duration_ns"])
    owners = path["rank"].map("rank {}".format, na_action="ignore").fillna("transfer")
    named = path["name"].where(path["name"] != "", path["kind"])
    sums = path.groupby([named, path["kind"], owners])["duration_ns"].sum()
    for row in said.tables["names"].body:
        name, kind, who, _, together = row
        if not name.text.endswith("…"):
            assert together.ns == sums[name.text, kind.text, who.text]

    trust = step.replay().trust
    assert f"{100 * trust.residual_share:.1f} % of the path is delay" in said.text
    assert str(trust.thresholds) in said.text


@pytest.mark.parametrize("name", ["base", "slow rank", "late input"])
def test_its_best_changes_are_those_of_explain(name, written):
    run = sv.sample_run(name)
    text = " ".join(explain(run).split())
    table = written(run).tables["gains"]
    gains = table.ns("gain, ms")
    assert gains == sorted(gains, reverse=True)
    completion = run.step().completion_ns
    for row in table.body[:3]:
        what, gain, share, then = row[0].text, row[1].ns, row[2].text, row[3].ns
        assert f"{gain / 1e6:.2f} ms ({share}) {what}" in text
        assert then == completion - gain


def test_throughput_has_its_conventions(written):
    run = sv.sample_run("bucket sweep")
    found = sv.run_throughput(run)
    table = written(run).tables["throughput"]
    assert [row[0].text for row in table.body] == list(found.table.index)
    assert table.texts("what exactly is counted") == list(found.table["counts"])


def test_throughput_may_be_given(written):
    run = sv.sample_run("bucket sweep")
    found = sv.run_throughput(run, peak=1e12)
    table = written(run, throughput=found).tables["throughput"]
    assert [row[0].text for row in table.body] == list(found.table.index)
    used = [text for text in table.texts("value") if text.endswith(" %")]
    assert used == [f"{100 * one.value:.2f} %" for one in found.mfu.values()] != []
    with pytest.raises(sv.ThroughputError, match="give what run_throughput returns"):
        written(run, throughput=0.4)


def test_it_says_where_it_is_from(written):
    run = sv.sample_run("bucket sweep")
    said = written(run)
    assert said.tables["files"].texts("file") == ["rank0.json.gz", "rank1.json.gz"]
    assert said.tables["files"].texts("rank from") == ["distributedInfo", "distributedInfo"]
    assert "PyTorch 2.13.0" in said.text
    assert f"stepviz {sv.__version__}" in said.text or "stepviz not installed" in said.text
    assert f"{run.files['events'].sum():,} used, 0 dropped, 0 repaired" in said.text
    assert "as nccl-tests define it" in said.text


def test_a_step_stands_for_its_run(tmp_path):
    run = sv.sample_run()
    one = sv.report(run.step(7), tmp_path / "a.html").read_text(encoding="utf-8")
    two = sv.report(run, tmp_path / "b.html", step=7).read_text(encoding="utf-8")
    day = r"\d{4}-\d\d-\d\d \d\d:\d\d UTC"
    assert re.sub(day, "", one) == re.sub(day, "", two)
    assert run.step(7).run is run


# How it is built.
def test_tables_have_captions_and_headers_with_scope(written):
    said = written(sv.sample_run())
    assert len(said.tables) >= 12
    captions = [table.caption for table in said.tables.values()]
    assert all(captions)
    assert len(set(captions)) == len(captions)
    for table in said.tables.values():
        assert all(cell.tag == "th" and cell.attributes["scope"] == "col" for cell in table.rows[0])
        assert all(cell.text for cell in table.rows[0])
        for row in table.body:
            assert len(row) == len(table.rows[0])
            assert row[0].attributes["scope"] == "row"
            assert [cell.tag for cell in row] == ["th"] + ["td"] * (len(row) - 1)
    levels = [int(level[1]) for level, _ in said.headings]
    assert levels[0] == 1
    assert levels.count(1) == 1


def test_ids_are_unique_and_links_lead_somewhere(written):
    said = written(sv.sample_run())
    ids = [value for _, name, value in said.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    for tag, name, value in said.attributes:
        if tag == "a" and name == "href":
            assert value.removeprefix("#") in ids
        if name == "aria-labelledby":
            assert value in ids


# What runs it works for.
@pytest.mark.parametrize("name", list(FOLDERS))
def test_every_sample(name, tmp_path):
    path = sv.report(sv.sample_run(name), tmp_path / "step.html")
    assert 100_000 < path.stat().st_size < 1_500_000
    assert [one.name for one in tmp_path.iterdir()] == ["step.html"]


def handed_runs():
    if not HANDED.is_dir():
        return []
    folders = [one for one in HANDED.iterdir() if one.is_dir() and one.name != "small"]
    return sorted([*folders, *(HANDED / "small").glob("*.gz")])


@pytest.mark.parametrize("source", handed_runs(), ids=lambda path: path.name)
def test_every_handed_run(source, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sv.TraceWarning)
        run = sv.load_run(source)
    path = sv.report(run, tmp_path / "step.html")
    text = path.read_text(encoding="utf-8")
    assert str(HANDED) not in text
    assert len(text) < 1_500_000


def test_one_rank_is_late_for_nobody(synthetic, written):
    events = [host("aten::mm", 0, 400), host("aten::add", 500, 300)]
    said = written(synthetic([document(0, events, world=1)]))
    assert "there is nobody to be late for" in said.text
    assert "No exchange between ranks in this step." in said.text
    assert "clock" not in said.tables


@pytest.mark.parametrize("ahead", [50_000_000, 1000 * 10**9])
def test_clocks_that_cannot_be_trusted_name_nobody(ahead, synthetic, written):
    documents = two_ranks()
    documents[1]["baseTimeNanoseconds"] += ahead
    run = synthetic(documents.values())
    assert run.clash is not None
    said = written(run)
    assert "Beware: the clocks" in said.text
    assert "No rank is called late here: the clocks" in said.text
    assert set(said.tables["collectives"].texts("last to arrive")) == {"–"}
    assert set(said.tables["own-time"].texts("last to arrive")) == {"–"}
    assert said.tables["exposed"].heads == ["rank", "exposed"]
    assert "rank 0 alone: clocks are too far apart" in said.text
    assert said.figures["step"][0].ns == 900_000
    # No moment of one clock counts from a start by another.
    for table in said.tables.values():
        if "start" in table.heads and table is not said.tables["steps"]:
            assert all(0 <= ns <= 900_000 for ns in table.ns("start"))


def test_a_file_cut_off_is_told(tmp_path, written):
    source = Path(sv.__file__).parent / "data" / "sample_run"
    folder = tmp_path / "cut"
    folder.mkdir()
    (folder / "rank0.json.gz").write_bytes((source / "rank0.json.gz").read_bytes())
    whole = gzip.decompress((source / "rank1.json.gz").read_bytes())
    (folder / "rank1.json").write_bytes(whole[: len(whole) * 9 // 10])
    (folder / "rank2.json").write_text("")
    with pytest.warns(sv.TraceWarning):
        run = sv.load_run(folder)
    said = written(run)
    files = said.tables["files"]
    assert files.texts("file") == ["rank0.json.gz", "rank1.json", "rank2.json"]
    assert files.texts("status") == ["read", "read", "refused"]
    assert files.texts("dropped") == ["0", "1", "0"]
    assert "the file is truncated" in files.texts("why")[1]
    assert "rank2.json is empty" in said.text
    assert str(tmp_path) not in said.text


def test_many_ranks_are_cut_and_it_is_said(monkeypatch, written):
    monkeypatch.setattr(subjects, "MOST_RANKS", 3)
    said = written(sv.sample_run("FSDP"))
    assert len(said.tables["breakdown"].body) == 3
    assert "tables by rank show 3 of 4 ranks" in said.text


# What strangers' names can do.
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


# Where it is written.
def test_what_cannot_be_written_is_a_sentence(tmp_path):
    run = sv.sample_run()
    for path, said in (
        (tmp_path, "is a folder: give the name of a file in it"),
        (tmp_path / "nowhere" / "x.html", "there is no folder"),
        ("", "a file is saved under a path"),
        (3, "a file is saved under a path"),
        (tmp_path / "a\0b", "cannot be written"),
    ):
        with pytest.raises(StepvizError, match=said):
            sv.report(run, path)
    assert list(tmp_path.iterdir()) == []


def test_a_run_is_never_overwritten(synthetic):
    run = synthetic(two_ranks().values())
    file = Path(run.files["file"][0])
    before = file.read_bytes()
    with pytest.raises(sv.TraceError, match="one of the run's own traces"):
        sv.report(run, file)
    assert file.read_bytes() == before


def test_the_old_file_stays_where_the_new_one_fails(tmp_path, monkeypatch):
    path = tmp_path / "step.html"
    path.write_text("old")

    def broken(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", broken)
    with pytest.raises(StepvizError, match="No space left"):
        sv.report(sv.sample_run(), path)
    assert path.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["step.html"]


def test_what_is_no_step_is_a_sentence(tmp_path):
    run = sv.sample_run()
    for given, number, said in (
        (run, 77, "no step 77"),
        (run.step(6), 7, "this is step 6"),
        (run.step(6).alone(0), None, "taken out of its run"),
        ([run, run], None, "a report is of a run"),
    ):
        with pytest.raises(sv.TraceError, match=said):
            sv.report(given, tmp_path / "step.html", step=number)


def test_names_on_a_path_add_up_to_it():
    path = sv.sample_run().step().critical_path
    names = told.path_names(path)
    assert names["duration_ns"].sum() == path["duration_ns"].sum()
    assert names["pieces"].sum() == len(path)
    assert all(a >= b for a, b in pairwise(names["duration_ns"]))
