"""Any run has a report; what is wrong with the run, or with the file to write, is told."""

from __future__ import annotations

import gzip
import warnings
from pathlib import Path

import pytest

import stepviz as sv
from stepviz.errors import StepvizError
from stepviz.reports import subject as subjects
from stepviz.traces.samples import FOLDERS
from tests.traces.synthetic import document, host, two_ranks

HANDED = Path(__file__).resolve().parents[3] / "shared" / "traces"


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
