"""Sources as people write them: addresses, odd names, links, pipes, folders that hold folders."""

from __future__ import annotations

import gzip
import io
import json
import os

import pytest

import stepviz as sv
from stepviz.traces import TraceWarning
from stepviz.traces.reading.sources import TraceFile
from tests.traces.stored import FILES, put, same_run, tarred, zipped
from tests.traces.synthetic import two_ranks

NAMES = (
    "with space",
    "per%20cent",
    "ha#sh",
    "br[ack]et",
    "q?mark",
    "star*",
    "a::b",
    "矩阵 ü",
    "new\nline",
)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "spelled",
    [
        lambda folder: folder,
        lambda folder: f"{folder}/rank*.json",
        lambda folder: f"file://{folder}",
        lambda folder: folder.as_uri(),
        lambda folder: [(folder / file).as_uri() for file in FILES],
        lambda folder: f"{folder.as_uri()}/rank*.json",
    ],
)
def test_folders_of_any_name(name, spelled, tmp_path):
    same_run(sv.load_run(spelled(put(tmp_path / name, FILES))))


def test_of_two_spellings_that_are_there_the_plain_one_is_meant(tmp_path):
    same_run(sv.load_run(f"file://{put(tmp_path / 'a%20b', FILES)}"))
    put(tmp_path / "a b", {"rank0.json": b""})
    same_run(sv.load_run(f"file://{tmp_path}/a%20b"))


def test_a_file_that_is_listed_twice_is_one(tmp_path):
    first, second = (put(tmp_path / "run", FILES) / name for name in FILES)
    again = tmp_path / "run" / ".." / "run" / "rank0.json"
    same_run(sv.load_run([first, str(first), again, second]))


def test_links_that_lead_back_show_no_file_twice(tmp_path):
    folder = put(tmp_path / "run", FILES)
    (folder / "again").symlink_to(folder)
    run = same_run(sv.load_run(f"{folder}/**/*.json"))
    assert run.files["file"].tolist() == [str(folder / name) for name in FILES]


def test_links_of_other_names_are_files_of_their_own(tmp_path):
    """Some keep one file of each rank and link to it."""
    for rank, trace in two_ranks().items():
        put(tmp_path, {f"kept{rank}": json.dumps(trace["traceEvents"]).encode()})
        (tmp_path / f"rank{rank}.json").symlink_to(tmp_path / f"kept{rank}")
    same_run(sv.load_run(tmp_path))
    same_run(sv.load_run([tmp_path / "rank0.json", tmp_path / "rank1.json"]))


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_pipe_is_read_once(pack):
    """As a shell's <(…) gives one."""
    reading, writing = os.pipe()
    try:
        with os.fdopen(writing, "wb") as out:
            out.write(pack(FILES["rank1.json"]))
        assert sv.load_run(f"/dev/fd/{reading}").ranks == [1]
    finally:
        os.close(reading)


def test_an_archive_in_a_pipe_is_to_be_copied():
    reading, writing = os.pipe()
    try:
        with os.fdopen(writing, "wb") as out:
            out.write(zipped(FILES))
        with pytest.raises(sv.TraceError, match=r"is a zip archive.*; copy it to a file"):
            sv.load_run(f"/dev/fd/{reading}")
    finally:
        os.close(reading)


def test_a_pipe_that_nobody_writes_to_is_empty(tmp_path):
    os.mkfifo(tmp_path / "rank0.json")
    with pytest.raises(sv.TraceError, match=r"rank0\.json is empty"):
        sv.load_run(tmp_path / "rank0.json")


def test_a_folder_whose_folders_hold_the_traces(tmp_path):
    put(tmp_path / "logs" / "plugins" / "profile" / "run", FILES)
    with pytest.raises(sv.TraceError, match=r"logs holds no traces itself, but \S*/run does; pass"):
        sv.load_run(tmp_path / "logs")
    for rank in (0, 1):
        put(tmp_path / "nodes" / f"node{rank}", {f"rank{rank}.json": FILES[f"rank{rank}.json"]})
    with pytest.raises(sv.TraceError, match=r"pass one of them, or '(\S*)' where all") as caught:
        sv.load_run(tmp_path / "nodes")
    same_run(sv.load_run(str(caught.value).split("'")[1]))


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ({"traceEvents": []}, "a dict is no path; pass a folder"),
        ([{"traceEvents": []}], "a dict is no path; pass a folder"),
        (FILES["rank0.json"], "is no path; pass a folder"),
        (FILES["rank0.json"].decode(), "is no path; pass a folder"),
    ],
)
def test_a_whole_trace_is_no_path_and_is_not_printed(source, said):
    with pytest.raises(sv.TraceError, match=said) as caught:
        sv.load_run(source)
    assert len(str(caught.value)) < 200


def test_an_open_file_is_no_path(tmp_path):
    path = put(tmp_path, FILES) / "rank0.json"
    with path.open() as stream, pytest.raises(sv.TraceError, match=r"pass its name, .*rank0\.json"):
        sv.load_run(stream)


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("rank1.json.zst", b"\x28\xb5\x2f\xfd" + bytes(99), "packed with Zstandard.*zstd -d"),
        ("rank1.json", b"7z\xbc\xaf\x27\x1c" + bytes(99), "is a 7z archive.*unpack it first"),
        ("rank1.json", b"<!DOCTYPE html><html></html>", "is a web page.*fetch the file itself"),
        ("rank1.json.gz", b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
        ("rank1.json", b"SQLite format 3\0" + bytes(99), "is an SQLite database.*leave it out"),
    ],
)
def test_what_is_no_trace_is_said_by_its_name(name, data, said, tmp_path):
    folder = put(tmp_path, {"rank0.json": FILES["rank0.json"], name: data})
    with pytest.warns(TraceWarning, match=said):
        assert sv.load_run(folder).ranks == [0]


class OnceOnly(io.BytesIO):
    """Says that it is seekable and is not, as files of servers that send no parts."""

    def seek(self, *_):
        msg = "Cannot seek streaming HTTP file"
        raise ValueError(msg)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lambda data: tarred({"a.json": data}, "w")])
def test_what_only_says_that_it_is_seekable_is_read_once(pack, tmp_path, monkeypatch):
    path = put(tmp_path, {"rank1.json": pack(FILES["rank1.json"])}) / "rank1.json"
    monkeypatch.setattr(TraceFile, "open", lambda file: OnceOnly(path.read_bytes()))
    assert sv.load_run(path).ranks == [1]


def test_words_of_a_web_address_are_no_pattern():
    """A signature may hold any sign; without the package for it no server is asked."""
    with pytest.raises(sv.TraceError) as caught:
        sv.load_run("http://127.0.0.1:9/rank0.json.gz?sign=a*b[c]")
    assert "matches no file" not in str(caught.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may see everything")
def test_what_may_not_be_seen_is_said(tmp_path):
    folder = put(tmp_path / "run", FILES)
    (folder / "rank1.json").chmod(0)
    with pytest.warns(TraceWarning, match=r"rank1\.json cannot be opened \(Permission denied\)"):
        assert sv.load_run(folder).ranks == [0]
    for mode in (0o444, 0):
        folder.chmod(mode)
        try:
            with pytest.raises(sv.TraceError, match="Permission denied"):
                sv.load_run(folder)
            with pytest.raises(sv.TraceError, match="Permission denied"):
                sv.load_run(folder / "rank0.json")
        finally:
            folder.chmod(0o755)
