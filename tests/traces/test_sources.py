"""The same run, wherever its files lie and however they are packed."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import zipfile
from pathlib import Path

import fsspec
import pytest

import stepviz as sv
from stepviz.traces import TraceWarning
from stepviz.traces.reading import limits
from tests.traces.stored import FILES, put, same_run, tarred, zipped
from tests.traces.synthetic import two_ranks


@pytest.mark.parametrize(
    "spelled", [str, Path, lambda f: f"{f}/*.json", lambda f: f"{f}/**/rank[01].json",
                lambda f: [f / name for name in FILES], lambda f: [f"{f}/*.json"],
                lambda f: (p for p in sorted(f.iterdir())), lambda f: f"file://{f}",
                lambda f: f"file://{f}/rank*.json", lambda f: [f"file://{f}/{n}" for n in FILES]],
)  # fmt: skip
def test_folders_patterns_lists_and_urls(spelled, tmp_path):
    same_run(sv.load_run(spelled(put(tmp_path / "run", FILES))))


def test_a_pattern_that_matches_nothing(tmp_path):
    with pytest.raises(sv.TraceError, match=r"\*\.json matches no file"):
        sv.load_run(tmp_path / "*.json")


def test_a_file_whose_name_is_a_pattern(tmp_path):
    put(tmp_path, {"rank[0].json": FILES["rank0.json"]})
    assert sv.load_run(tmp_path / "rank[0].json").ranks == [0]


PACKED = {
    "gzip": gzip.compress,
    "gzip in two parts": lambda data: gzip.compress(data[:500]) + gzip.compress(data[500:]),
    "gzip with zeros behind": lambda data: gzip.compress(data) + bytes(700),
    "gzip of gzip": lambda data: gzip.compress(gzip.compress(data)),
    "bzip2 of gzip": lambda data: bz2.compress(gzip.compress(data)),
    "bzip2": bz2.compress,
    "xz": lzma.compress,
}


@pytest.mark.parametrize("kind", PACKED)
def test_what_is_packed_is_told_by_content(kind, tmp_path):
    """Also where the name says nothing, or something else."""
    files = {name: PACKED[kind](data) for name, data in FILES.items()}
    same_run(sv.load_run(put(tmp_path / "run", files)))


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("kind", ["zip", "stored", "w", "w:gz", "w:bz2", "w:xz"])
def test_archives_are_read_in_place(kind, packed, tmp_path):
    files = {f"run/{n}.gz": gzip.compress(d) for n, d in FILES.items()} if packed else FILES
    files = {"README": b"no trace", "__MACOSX/._rank0.json": b"\0", ".rank0.json": b"", **files}
    if kind in ("zip", "stored"):
        method = zipfile.ZIP_STORED if kind == "stored" else zipfile.ZIP_DEFLATED
        data = zipped(files, method)
    else:
        data = tarred(files, kind)
    path = put(tmp_path, {"capture.bin": data}) / "capture.bin"
    run = same_run(sv.load_run(path))
    assert run.files["file"].str.startswith(f"{path}::").all()
    assert list(tmp_path.rglob("*")) == [path]


@pytest.mark.parametrize("name", ["../../rank0.json", "/rank0.json", "a/../../../rank0.json"])
@pytest.mark.parametrize("pack", [zipped, lambda files: tarred(files, "w")])
def test_names_that_lead_outside_are_only_names(name, pack, tmp_path):
    path = put(tmp_path / "in", {"a.zip": pack({name: FILES["rank0.json"]})}) / "a.zip"
    assert sv.load_run(path).ranks == [0]
    assert [p.name for p in tmp_path.rglob("*")] == ["in", "a.zip"]


def test_archives_without_traces_and_archives_in_archives(tmp_path):
    put(tmp_path, {"a.zip": zipped({"notes.txt": b"x"}), "b.zip": gzip.compress(zipped(FILES))})
    with pytest.raises(sv.TraceError, match=r"a\.zip is an archive without traces"):
        sv.load_run(tmp_path / "a.zip")
    with pytest.raises(sv.TraceError, match="an archive inside an archive"):
        sv.load_run(tmp_path / "b.zip")


def test_one_bad_member_costs_itself(tmp_path):
    data = zipped({**FILES, "rank2.json": b"[1"})
    with pytest.warns(TraceWarning, match=r"a\.zip::rank2\.json is truncated"):
        run = sv.load_run(put(tmp_path, {"a.zip": data}) / "a.zip")
    assert run.files["status"].tolist() == ["read", "read", "refused"]


def test_a_tar_that_was_cut_keeps_its_whole_members(tmp_path):
    files = {**FILES, "rank2.json": FILES["rank0.json"]}
    data = tarred(files, "w")
    data = data[: data.index(b"rank2.json") + 3000]
    with pytest.warns(TraceWarning, match=r"a\.tar::rank2\.json is truncated"):
        run = sv.load_run(put(tmp_path, {"a.tar": data}) / "a.tar")
    assert run.ranks == [0, 1]


@pytest.mark.parametrize("spelled", ["memory://run{}", "memory://run{}/", "memory://run{}/*.json"])
def test_a_store_that_is_no_file_system_of_this_machine(spelled, tmp_path):
    store = fsspec.filesystem("memory")
    place = f"/run{tmp_path.name}"
    for name, data in FILES.items():
        store.pipe(f"{place}/{name}", data)
    store.pipe(f"/packed{tmp_path.name}/all.zip", zipped(FILES))
    try:
        same_run(sv.load_run(spelled.format(tmp_path.name)))
        same_run(sv.load_run(f"memory://packed{tmp_path.name}/all.zip"))
        same_run(sv.load_run(f"zip://*.json::memory://packed{tmp_path.name}/all.zip"))
    finally:
        store.rm(place, recursive=True)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("memory://nowhere", "does not exist"),
        ("nosuch://a/b", "cannot be opened"),
        ("file:///nowhere/at/all/*.json", "matches no file"),
        ("zip://x.json::file:///nowhere.zip", "cannot be"),
    ],
)
def test_a_url_that_leads_nowhere(url, said):
    with pytest.raises(sv.TraceError, match=said):
        sv.load_run(url)


def test_a_folder_per_rank_is_one_capture(tmp_path):
    """Neither the file's name nor its contents say the rank: the folder does."""
    for rank, trace in two_ranks().items():
        put(tmp_path / f"rank_{rank}", {"step19.json": json.dumps(trace["traceEvents"]).encode()})
    run = sv.load_run(tmp_path)
    assert run.ranks == [0, 1]
    assert run.files["rank_source"].tolist() == ["folder name", "folder name"]


# No more than a trace may be.
def spaces(megabytes):
    """A gzip file of a kilobyte for each of these."""
    with io.BytesIO() as out:
        with gzip.GzipFile(fileobj=out, mode="wb") as packed:
            packed.write(b'{"traceEvents":[')
            for _ in range(megabytes):
                packed.write(b" " * 2**20)
        return out.getvalue()


@pytest.mark.parametrize("kind", ["gzip", "zip", "tar.gz", "gzip in zip"])
def test_a_bomb_is_refused(kind, tmp_path):
    bomb = spaces(80)
    if kind == "zip":
        bomb = zipped({"rank0.json": gzip.decompress(bomb)})
    elif kind == "tar.gz":
        bomb = tarred({"rank0.json": gzip.decompress(bomb)}, "w:gz")
    elif kind == "gzip in zip":
        bomb = zipped({"rank0.json.gz": bomb})
    with pytest.raises(sv.TraceError, match=r"over 250 times its size.*STEPVIZ_LARGEST_TRACE_GB"):
        sv.load_run(put(tmp_path, {"rank0.json": bomb}) / "rank0.json")


def test_the_limit_can_be_set(tmp_path, monkeypatch):
    path = put(tmp_path, {"rank0.json": gzip.compress(FILES["rank0.json"])}) / "rank0.json"
    monkeypatch.setenv(limits.VARIABLE, "0.000001")
    with pytest.raises(sv.TraceError, match="more than 1e-06 GiB, the limit; set STEPVIZ_LARGEST"):
        sv.load_run(path)
    monkeypatch.setenv(limits.VARIABLE, "1")
    assert sv.load_run(path).ranks == [0]
    monkeypatch.setenv(limits.VARIABLE, "much")
    with pytest.raises(sv.TraceError, match="'much' is no number of GiB"):
        sv.load_run(path)


def in_archives(folder):
    """Put the run into a zip and a tar, whose members fsspec knows by chained addresses."""
    files = {f"run/{name}": data for name, data in FILES.items()}
    return put(folder, {"a.zip": zipped(files), "a.tar": tarred(files, "w")})


@pytest.mark.parametrize("kind", ["zip", "tar"])
@pytest.mark.parametrize(
    "spelled", ["{}://run::file://{}", "{}://::file://{}", "{}://run/*.json::{}", "{}://run::{}"]
)
def test_members_that_a_chained_url_takes_out_of_an_archive(kind, spelled, tmp_path):
    """Their file system closes the archive when nothing holds it any more."""
    path = in_archives(tmp_path) / f"a.{kind}"
    same_run(sv.load_run(spelled.format(kind, path)))


def test_a_member_is_named_by_its_own_name(tmp_path):
    bare = {name: _without_info(data) for name, data in FILES.items()}
    path = put(tmp_path, {"rank7.zip": zipped(bare)}) / "rank7.zip"
    run = sv.load_run([f"zip://{name}::{path}" for name in FILES])
    assert run.files["rank"].tolist() == [0, 1]
    assert set(run.files["rank_source"]) == {"file name"}


def test_a_bomb_behind_a_chained_url_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "_SUSPECT", 2**20)
    data = b'{"traceEvents": [' + b" " * (8 * 2**20) + b"]}"
    path = put(tmp_path, {"a.zip": zipped({"rank0.json": data})}) / "a.zip"
    with pytest.raises(sv.TraceError, match="refused as a bomb"):
        sv.load_run(f"zip://rank0.json::{path}")


def test_folders_of_ranks_as_a_list_and_behind_a_url(tmp_path):
    for rank in (0, 1):
        put(tmp_path / f"rank_{rank}", {"trace.json": FILES[f"rank{rank}.json"]})
    same_run(sv.load_run([tmp_path / "rank_1", tmp_path / "rank_0"]))
    same_run(sv.load_run(f"file://{tmp_path}"))


def _without_info(data):
    document = json.loads(data)
    del document["distributedInfo"]
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    ("names", "source"),
    [
        (("worker0.17.pt.trace.json", "worker1.18.pt.trace.json"), "file name"),
        (("rank[0].json", "rank[1].json"), "file name"),
        (("globalrank0.json", "globalrank1.json"), "file name"),
        (("global_rank_0_local_rank_0.json", "global_rank_1_local_rank_0.json"), "file name"),
        (("trainer-0.json", "trainer-1.json"), "file name, the one number that differs"),
        (("2026_run_00.json", "2026_run_01.json"), "file name, the one number that differs"),
        (("mp_rank_00.json", "mp_rank_01.json"), "file name, a rank among some"),
    ],
)
def test_ranks_that_only_names_of_files_tell(names, source, tmp_path):
    for name, data in zip(names, FILES.values(), strict=True):
        put(tmp_path, {name: _without_info(data)})
    run = same_run(sv.load_run(tmp_path))
    assert set(run.files["rank_source"]) == {source}


@pytest.mark.parametrize(
    "names", [("a.json", "b.json"), ("step0.json", "step1.json"), ("x3.json", "x9.json"),
              ("a0_b1.json", "a1_b0.json"), ("h1_0.json", "h2_1.json")],
)  # fmt: skip
def test_names_that_tell_no_ranks(names, tmp_path):
    for name, data in zip(names, FILES.values(), strict=True):
        put(tmp_path, {name: _without_info(data)})
    with pytest.raises(sv.TraceError, match="does not say its rank"):
        sv.load_run(tmp_path)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_what_an_editor_saved_in_another_encoding(encoding, packed, tmp_path):
    documents = two_ranks()
    for document in documents.values():
        document["traceEvents"][0]["args"]["comment"] = "«τ» 日本"
    for rank, document in documents.items():
        data = json.dumps(document, ensure_ascii=False).encode(encoding)
        name = f"rank{rank}.json.gz" if packed else f"rank{rank}.json"
        put(tmp_path, {name: gzip.compress(data) if packed else data})
    same_run(sv.load_run(tmp_path))


def test_utf_16_that_was_cut_off(tmp_path):
    data = FILES["rank0.json"].decode().encode("utf-16")[:-1201]
    with pytest.warns(TraceWarning, match="truncated"):
        run = sv.load_run(put(tmp_path, {"rank0.json": data}))
    assert run.files["events"].item() > 10
