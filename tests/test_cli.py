"""The command line: a screenful on stdout, or one sentence on stderr."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import stepviz as sv
from stepviz.cli import main

DOCUMENTED = Path(__file__).resolve().parents[1] / "docs" / "explain-json.md"
HANDED = Path(__file__).resolve().parents[2] / "shared" / "traces"


def test_explain_tells_the_story_of_the_sample(capsys):
    assert main(["explain", "--sample"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    step = sv.sample_run().step()
    for expected in (
        "2 ranks from 2 of 2 files",
        f"Step {step.number} took {step.completion_ns / 1e6:.3f} ms",
        "measured on the host",
        "Where each rank's step goes",
        "Exposed",
        "The critical path over all ranks, walked back from the end",
        "What would help most, each alone and replayed on this graph",
        "How far to trust this: the unedited replay is off by 0 ns",
        "a plain sum says",
        "emulated",
    ):
        assert expected in said.out
    assert len(said.out.splitlines()) <= 48
    assert max(map(len, said.out.splitlines())) <= 110


def test_explain_takes_a_step(capsys):
    number = int(sv.sample_run().steps.index[0])
    assert main(["explain", "--sample", "--step", str(number)]) == 0
    assert f"Step {number} took" in capsys.readouterr().out


def test_report_writes_one_page(capsys, tmp_path):
    out = tmp_path / "step.html"
    assert main(["report", "--sample", "--step", "7", "--out", str(out)]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert said.out == f"{out}: {out.stat().st_size / 1e6:.1f} MB, opens in any browser\n"
    assert "Step 7 took" in out.read_text(encoding="utf-8")


def test_report_asks_where_to_write(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["report", "--sample"])
    assert ended.value.code == 2
    assert "--out" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["explain"], "pass a folder of traces"),
        (["explain", "--sample", "FOLDER"], "--sample is a run of its own"),
        (["explain", "TWO"], "2 folders are too many"),
        (["explain", "NESTED"], "its folders do: a, b; pass one of them"),
        (["explain", "nowhere-at-all"], "nowhere-at-all does not exist"),
        (["explain", "--sample", "--step", "77"], "no step 77"),
        (["explain", "EMPTY"], "holds no traces"),
        (["report", "--out", "x.html"], "pass a folder of traces"),
        (["report", "--sample", "--out", "/"], "'/' is a folder"),
        (["report", "--sample", "--out", "/nowhere-at-all/x.html"], "there is no folder"),
        (["report", "nowhere-at-all", "--out", "x.html"], "nowhere-at-all does not exist"),
        (["explain", "BROKEN"], "truncated"),
    ],
)
def test_errors_are_one_sentence_and_status_2(arguments, said, capsys, tmp_path):
    if arguments[-1] == "EMPTY":
        arguments = ["explain", str(tmp_path)]
    if arguments[-1] in ("TWO", "NESTED"):
        for name in ("a", "b"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "rank0.json").write_text("[]")
        both = [str(tmp_path / name) for name in ("a", "b")]
        arguments = ["explain", *(both if arguments[-1] == "TWO" else [str(tmp_path)])]
    if arguments[-1] == "BROKEN":
        (tmp_path / "rank0.json").write_text('{"traceEvents": [{"ph": "X"')
        arguments = ["explain", str(tmp_path)]
    assert main(arguments) == 2
    streams = capsys.readouterr()
    assert streams.out == ""
    assert streams.err.startswith("stepviz: ")
    assert said in streams.err
    assert len(streams.err.strip().splitlines()) == 1


def test_a_refused_file_is_part_of_the_story(capsys, tmp_path):
    folder = Path(sv.__file__).parent / "data" / "sample_run"
    (tmp_path / "rank0.json.gz").write_bytes((folder / "rank0.json.gz").read_bytes())
    (tmp_path / "rank1.json.gz").touch()
    assert main(["explain", str(tmp_path)]) == 0
    said = capsys.readouterr()
    assert "1 of 2 files" in said.out
    assert "rank1.json.gz is empty" in said.out
    assert str(tmp_path) not in said.out
    assert said.err == ""


def explained_json(capsys, *arguments):
    """Return what --json prints, which is all that is printed."""
    assert main(["explain", *map(str, arguments), "--json"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    said.out.encode("ascii")

    def refused(word):
        msg = f"{word} is no JSON"
        raise AssertionError(msg)

    return json.loads(said.out, parse_constant=refused)


def test_json_says_what_python_says(capsys):
    found = explained_json(capsys, "--sample")
    run = sv.sample_run()
    step = run.step()
    said = found["step"]
    assert said["number"] == step.number
    assert said["completion_ns"] == step.completion_ns
    origin = int(found["run"]["origin_ns"])
    assert origin == run.steps["start_ns"].min()
    assert [row["start_ns"] + origin for row in found["run"]["steps"]] == list(
        run.steps["start_ns"]
    )
    for row in said["ranks"]:
        assert row["start_ns"] + origin == step.windows.at[row["rank"], "start_ns"]
    for row in said["breakdown"]:
        parts = [value for key, value in row.items() if key.endswith("_ns")]
        assert sum(parts) == step.windows.at[row["rank"], "duration_ns"]
        exposed = next(r for r in said["exposed_exchange"] if r["rank"] == row["rank"])
        assert exposed["exposed_ns"] == row["exchange_ns"] + row["wait_ns"]
    assert [row["wait_ns"] for row in said["collectives"]] == list(step.collectives["wait_ns"])
    assert said["notes"] == step.notes


def test_json_has_the_path_and_what_would_help(capsys):
    said = explained_json(capsys, "--sample")["step"]
    step = sv.sample_run().step(said["number"])
    path = said["critical_path"]
    assert path["duration_ns"] == step.completion_ns
    for sums in ("by_kind", "by_rank", "by_kind_and_rank"):
        assert sum(row["duration_ns"] for row in path[sums]) == step.completion_ns
        assert sum(row["share"] for row in path[sums]) == pytest.approx(1)
    gains = [change["gain_ns"] for change in said["what_ifs"]]
    assert len(gains) >= 3
    assert gains == sorted(gains, reverse=True)
    for change in said["what_ifs"]:
        assert change["gain_ns"] == step.completion_ns - change["completion_ns"]
        if "no_stragglers" not in change["change"]:
            again = step.what_if(**change["change"])
            assert again.completion_ns == change["completion_ns"]
    for row in said["own_time"]:
        own = sum(way["own_time_ns"] for way in row["to_collectives"])
        assert own + row["tail_ns"] == row["own_time_ns"]
    assert [row["question"] for row in said["slowest"]] == list(step.slowest.index)


def test_json_has_the_documented_keys_and_no_others(capsys):
    found = explained_json(capsys, "--sample")
    documented = re.findall(r"^\| `([a-z_.]+)` \|", DOCUMENTED.read_text(), flags=re.MULTILINE)
    keys = {key for key, value in found.items() if not isinstance(value, dict)}
    for part in ("run", "step"):
        keys |= {f"{part}.{key}" for key in found[part]}
    assert keys == set(documented)


def test_json_takes_a_step_and_has_the_same_errors(capsys, tmp_path):
    number = int(sv.sample_run().steps.index[0])
    assert explained_json(capsys, "--sample", "--step", number)["step"]["number"] == number
    assert main(["explain", "--sample", "--step", "77", "--json"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "no step 77" in said.err


def test_json_lists_what_was_left_out(capsys, tmp_path):
    folder = Path(sv.__file__).parent / "data" / "sample_run"
    (tmp_path / "rank0.json.gz").write_bytes((folder / "rank0.json.gz").read_bytes())
    (tmp_path / "rank1.json").write_bytes(b"")
    files = explained_json(capsys, tmp_path)["run"]["files"]
    assert [row["status"] for row in files] == ["read", "refused"]
    assert "empty" in files[1]["why"]


def test_version_and_help(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["--version"])
    assert stopped.value.code == 0
    assert sv.__version__ in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["explain", "--help"])
    assert "FOLDER" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "Exit status: 0 done; 1 a verdict does not pass; 2" in capsys.readouterr().out


def test_a_reader_that_stops_early_is_no_error():
    command = f"{sys.executable} -m stepviz.cli explain --sample | head -n 1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert done.stderr == ""


def run_shell(command, **environment):
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], capture_output=True, check=False,
        env={**os.environ, **environment},
    )  # fmt: skip


def test_a_terminal_that_knows_ascii_alone_gets_question_marks(tmp_path):
    (tmp_path / "rank0 ünï.json").write_text('{"traceEvents": [{"ph": "X"')
    command = f"{sys.executable} -m stepviz.cli explain"
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    done = run_shell(f"{command} --sample", **plain)
    assert (done.returncode, done.stderr) == (0, b"")
    done.stdout.decode("ascii")
    done = run_shell(f"{command} '{tmp_path}'", **plain)
    assert done.returncode == 2
    assert re.search(rb"rank0 \?+n\?+\.json is truncated", done.stderr)


def test_a_full_disk_is_one_sentence():
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full, a device that is always full")
    done = run_shell(f"{sys.executable} -m stepviz.cli explain --sample > /dev/full")
    assert done.returncode == 2
    assert done.stderr.decode().startswith("stepviz: the answer cannot be written (No space left")
    assert len(done.stderr.splitlines()) == 1


def test_closed_streams_are_no_failure():
    command = f"{sys.executable} -m stepviz.cli explain"
    done = run_shell(f"{command} --sample >&-")
    assert (done.returncode, done.stderr) == (0, b"")
    done = run_shell(f"{command} nowhere 2>&-")
    assert (done.returncode, done.stdout) == (2, b"")


@pytest.mark.parametrize(
    "name",
    [
        "ddp-a100-nccl-1of2",
        "ddp-v100-nccl-1of1",
        "dlrm-v100-nccl-8of8",
        "gloo-2rank-b4",
        "gloo-2rank-slowfabric-b1",
        "small",
    ],
)
def test_explain_works_on_handed_folders(name, capsys):
    if not (HANDED / name).exists():
        pytest.skip(f"the handed traces are not beside this checkout: no shared/traces/{name}")
    found = explained_json(capsys, HANDED / name)
    assert found["step"]["completion_ns"] > 0
    assert main(["explain", str(HANDED / name)]) == 0
    said = capsys.readouterr().out
    assert "The critical path" in said
    assert len(said.splitlines()) <= 56
    assert str(HANDED) not in said
