"""What the benchmark's traces hold, beside torch's own word and counts made by others."""

from __future__ import annotations

import gzip
import json
import os
import platform
import re
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import stepviz as sv
from stepviz.builders import ddp_buckets
from stepviz.cli import main
from stepviz.recording.flags import as_flags
from stepviz.recording.options import Options
from tests.recording.helpers import QUICK, ROOT, require_torch

pytestmark = pytest.mark.slow


def files_of(run) -> list[Path]:
    return [Path(file) for file in run.files["file"]]


# Buckets.
def test_buckets_are_ddps_own(captured):
    ddp, parameters = captured.recorded["ddp"], captured.recorded["parameters"]
    frame = captured.buckets
    assert set(frame["origin"]) == {"recorded"}
    assert not frame["emulated"].any()
    for _, step in frame.groupby(["step", "rank"]):
        assert step["index"].tolist() == list(range(len(ddp["bucket_bytes"])))
        assert step["bytes"].tolist() == ddp["bucket_bytes"]
        named = [[parameters[k]["name"] for k in bucket] for bucket in ddp["assignment"]]
        assert [list(names) for names in step["parameters"]] == named
    assert sum(ddp["bucket_bytes"]) == sum(one["bytes"] for one in parameters)


def test_buckets_are_what_the_rule_says(captured):
    recorded = captured.recorded
    sizes = [(one["name"], one["bytes"]) for one in recorded["parameters"]]
    ruled = ddp_buckets(
        sizes,
        bucket_cap_mb=recorded["config"]["bucket_cap_mb"],
        ready_order=recorded["ddp"]["ready_order"],
    )
    first = captured.buckets.query("rank == 0 and step == step.min()")
    assert first["bytes"].tolist() == ruled["bytes"].tolist()
    assert first["parameters"].tolist() == ruled["parameters"].tolist()


def test_stamps_agree_with_the_rows(captured):
    buckets = captured.buckets
    assert (buckets["ready_ns"] <= buckets["launch_ns"]).all()
    assert (buckets["launch_ns"] < buckets["done_ns"]).all()
    for number in captured.steps.index:
        for rank in captured.ranks:
            stamps = buckets.query("step == @number and rank == @rank")
            rows = captured._ranks[rank].step(number).calls.frame()
            rows = rows[rows["collective"] == "all-reduce"].sort_values("launched_ns")
            assert rows["bytes"].tolist() == stamps["bytes"].tolist()
            launched = rows["launched_ns"].to_numpy() - stamps["launch_ns"].to_numpy()
            # One thread does both, so what is between them is little, but the machine is shared.
            assert (launched >= -50_000).all()
            assert np.quantile(np.abs(launched), 0.25) < 5e6
            done = rows["finish_ns"].to_numpy() - stamps["done_ns"].to_numpy()
            assert np.quantile(np.abs(done), 0.25) < 5e6


def test_the_same_buckets_from_the_rows_alone(captured, tmp_path):
    for file in files_of(captured):
        document = json.loads(gzip.decompress(file.read_bytes()))
        del document["stepviz"]
        (tmp_path / file.name).write_bytes(gzip.compress(json.dumps(document).encode()))
    bare, frame = sv.load_run(tmp_path), captured.buckets
    rows = bare.buckets
    assert set(rows["origin"]) == {"rows"}
    assert bare.recorded == {}
    columns = ["step", "rank", "index", "bytes"]
    assert rows[columns].to_numpy().tolist() == frame[columns].to_numpy().tolist()
    assert np.quantile(np.abs(rows["done_ns"] - frame["done_ns"]), 0.25) < 5e6


# What a step is made of.
def test_steps_and_their_phases_stand_in_the_trace(captured):
    assert captured.steps.index.tolist() == [1, 2, 3]
    for number in captured.steps.index:
        table = captured.step(number).breakdown()
        for kind in ("input", "forward", "backward", "optimizer"):
            assert (table.loc[kind] > 0).all(), kind
    phases = captured.recorded["phases"]
    assert [one["phase"] for one in phases[:4]] == ["input", "forward", "backward", "optimizer"]
    by_step = {number: [p for p in phases if p["step"] == number] for number in (1, 2, 3)}
    for number, window in captured.steps[["start_ns", "finish_ns"]].iterrows():
        assert window["start_ns"] - 5e6 < by_step[number][0]["start_ns"]
        assert by_step[number][-1]["finish_ns"] < window["finish_ns"] + 5e6


def test_tokens_are_what_the_counter_counts(captured):
    torch = pytest.importorskip("torch")
    from stepviz.recording.token_batches import batches

    options = Options.of({**captured.recorded["config"]})
    batch = next(batches(options, 0, pinned=False))
    said = batch.pop("counts")
    real = round(64 * (1 - options.padding_fraction))
    mask = (torch.arange(64) < real).expand(4, 64).long()
    counted = sv.count_tokens(
        input_ids=batch["input_ids"], labels=batch["labels"], attention_mask=mask
    )
    assert said == {name: getattr(counted, name) for name in said}
    # A row of 64 has 8 of padding and a prompt of 14: what is scored is neither 64 nor 63.
    assert said["scored"] == 4 * (64 - 8 - 14)
    assert {one["scored"] for one in captured.recorded["tokens"]} == {said["scored"]}


def test_packed_rows_hold_two_documents():
    torch = pytest.importorskip("torch")
    from stepviz.recording.token_batches import Rows

    rows = Rows(Options(packing_fraction=0.5, sequence=16, padding_fraction=0.25), 0)
    made = [rows[k] for k in range(4)]
    assert [row["counts"]["sequences"] for row in made] == [1, 2, 1, 2]
    packed = made[1]
    assert packed["position_ids"].tolist() == [*range(6), *range(6), 0, 0, 0, 0]
    assert int((packed["labels"][1:] != -100).sum()) == packed["counts"]["scored"]
    assert packed["labels"][6].item() == -100  # nothing of the first document predicts it
    assert packed["counts"]["squared_lengths"] == 72
    assert torch.equal(rows[3]["input_ids"], made[3]["input_ids"])


# What it says about itself.
def test_the_record_says_where_it_ran_and_what_it_cost(captured):
    recorded = captured.recorded
    assert recorded["record"] == 1
    assert recorded["placement"]["backend"] == "gloo"
    assert "ranks of" in recorded["placement"]["why"]
    assert recorded["emulated"] is None
    assert recorded["device"]["peak_memory_bytes"] > 10_000_000
    assert recorded["model"]["layers"] == 4
    modes = dict.fromkeys(("bare", "hooked", "alone", "profiled"), 0)
    for one in recorded["timings"]:
        modes[one["mode"]] += 1
        parts = ("input_ns", "forward_ns", "backward_ns", "optimizer_ns")
        assert one["step_ns"] >= sum(one[part] for part in parts)
        assert ("filled_ns" in one) == (one["mode"] == "hooked")
        assert 0 < one.get("filled_ns", 1) < one["backward_ns"]
    assert modes == {"bare": 4, "hooked": 4, "alone": 4, "profiled": 3}
    costs = recorded["costs"]
    assert costs["hook_ms"] == costs["hooked"]["median_ms"] - costs["bare"]["median_ms"]
    assert costs["profiler_ms"] == costs["profiled"]["median_ms"] - costs["hooked"]["median_ms"]
    sizes = [one["bytes"] for one in recorded["sweep"]]
    assert sorted(set(sizes)) == [2**16, 2**18, 2**20, 2**22, 2**24]
    assert all(one["done_ns"] > one["start_ns"] for one in recorded["sweep"])
    told = repr(captured._repr_html_())
    assert "gloo on cpu" in told
    assert "without hook and profiler" in told


def test_files_are_small_and_name_nobody(captured):
    for file in files_of(captured):
        data = file.read_bytes()
        assert len(data) < 1_000_000
        text = gzip.decompress(data).decode()
        words = [str(Path.home()), str(Path(__file__).resolve().parents[2]), str(file.parent)]
        if len(platform.node()) > 4:
            words.append(platform.node())
        for word in words:
            if len(word) > 5:
                assert word not in text
        assert f'"pid":{os.getpid()}' not in text
        assert '"host_name"' not in text
        assert '"traceName"' not in text
    # Nothing but the traces lies there.
    assert sorted(p.name for p in file.parent.iterdir()) == ["rank0.json.gz", "rank1.json.gz"]


# Everything unusual at once.
def test_an_emulated_network_says_so_everywhere_and_takes_its_time(emulated):
    from stepviz.traces.story import explain

    buckets = emulated.buckets
    assert buckets["emulated"].all()
    assert emulated.recorded["emulated"] == {"latency_ms": 4.0, "ms_per_mib": 20.0}
    assert "emulated" in explain(emulated)
    assert "emulated" in emulated._repr_html_()
    least = 4e6 + 20e6 * buckets["bytes"] / 2**20
    assert (buckets["done_ns"] - buckets["launch_ns"] >= least).all()
    # One queue: no two of a rank's messages travel at the same time.
    for _, mine in buckets.groupby(["step", "rank"]):
        gaps = mine["done_ns"].diff().iloc[1:].to_numpy()
        assert (gaps >= least[mine.index[1:]].to_numpy() - 0.5e6).all()
    collectives = emulated.step().collectives
    assert len(collectives) == len(buckets.query("rank == 0 and step == step.min()"))
    for one in emulated.recorded["sweep"]:
        assert one["done_ns"] - one["start_ns"] >= 4e6 + 20e6 * one["bytes"] / 2**20


def test_caps_of_single_buckets_hold(emulated):
    caps = [0.2, 0.05, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]
    first = emulated.buckets.query("rank == 0 and step == step.min()")
    assert len(set(first["bytes"])) > 2
    for size, cap in list(zip(first["bytes"], caps, strict=False))[:-1]:
        assert size >= cap * 2**20


def test_the_planted_slow_rank_is_slow_and_named(emulated):
    assert emulated.recorded["planted"]["slow_rank"] == 1
    # Twice 15 ms, once a microbatch, and on no other rank.
    for rank, sleeps in ((0, 0), (1, 2)):
        for number in emulated.steps.index:
            part = emulated._ranks[rank].step(number)
            events = part.events
            mine = events[events["name"].eq("planted delay") & (events["place"] == part.place)]
            assert len(mine) == sleeps
            assert (mine["finish_ns"] - mine["start_ns"] >= 15e6).all()
    assert "rank 1 was made slow" in emulated._repr_html_()


def test_accumulation_exchanges_once_and_recompute_is_seen(emulated):
    recorded = emulated.recorded
    kinds = [one["phase"] for one in recorded["phases"] if one["step"] == 1]
    assert kinds == ["input", "forward", "backward"] * 2 + ["optimizer"]
    assert {one["sequences"] for one in recorded["tokens"]} <= {11, 12, 13}
    assert (emulated.step().breakdown().loc["recompute"] > 0).all()


def test_the_shell_captures_and_explains(tmp_path, capsys):
    require_torch()
    flags = as_flags(Options.of({k: v for k, v in QUICK.items() if k != "progress"}))
    assert main(["capture", "--out", str(tmp_path / "run"), *flags]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert said.out.splitlines()[0].startswith(f"{tmp_path / 'run'}: 2 ranks, 1 step, at most ")
    assert said.out.splitlines()[-1] == f"next: stepviz explain {tmp_path / 'run'}"
    assert main(["explain", str(tmp_path / "run")]) == 0
    assert "recorded by stepviz with gloo on cpu: no GPU here" in capsys.readouterr().out


# Under somebody else's launcher.
def benchmark(out, environment, *flags) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "stepviz.recording.benchmark", "--out", str(out), *flags]
    kept = {name: value for name, value in os.environ.items() if "RANK" not in name}
    return subprocess.Popen(
        command, env={**kept, "PYTHONPATH": str(ROOT), **environment}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def test_without_a_launcher_the_benchmark_says_how_to_start_it(tmp_path):
    require_torch()
    process = benchmark(tmp_path, {})
    _, error = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "RANK, WORLD_SIZE, MASTER_ADDR not set: start it with torchrun or srun" in error


def test_two_nodes_under_slurm_write_one_file_each(tmp_path):
    require_torch()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    flags = [*as_flags(Options.of({k: v for k, v in QUICK.items() if k != "progress"}))]
    flags += ["--slow-rank", "1", "--slow-ms", "5"]
    nodes = [
        benchmark(
            tmp_path / "run",
            {
                "SLURM_PROCID": str(rank), "SLURM_NTASKS": "2", "SLURM_LOCALID": "0",
                "SLURM_STEP_NODELIST": "localhost,other", "SLURM_JOB_ID": "7",
                "MASTER_PORT": port,
            },
            *flags,
        )
        for rank in (0, 1)
    ]  # fmt: skip
    said = [node.communicate(timeout=120) for node in nodes]
    assert [node.returncode for node in nodes] == [0, 0], said
    run = sv.load_run(tmp_path / "run")
    assert run.ranks == [0, 1]
    assert run.recorded["ranks"] == 2
    # They met first, and counted each other: both are on this machine.
    assert "; 2 ranks of " in run.recorded["placement"]["why"]
    assert run.recorded["planted"]["slow_rank"] == 1
    again = benchmark(
        tmp_path / "run",
        {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port},
    )
    _, error = again.communicate(timeout=60)
    assert "rank0.json.gz is there already; choose another folder" in error
    assert again.returncode == 2


def test_every_key_of_a_record_is_documented(captured, emulated, loops):
    text = (ROOT / "docs" / "record.md").read_text()
    table = text[text.index("| key |") : text.index("Modes of")]
    keys = [line.split("|")[1] for line in table.splitlines()[2:] if line.startswith("|")]
    documented = {key for cell in keys for key in re.findall(r"`(\w+)`", cell)}
    found = set(captured.recorded) | set(emulated.recorded)
    found |= set(sv.load_run(loops / "cnn").recorded)
    assert found == documented
    for key in (*captured.recorded["ddp"], *captured.recorded["buckets"][0]):
        assert key in text or key in ("step", "gradient_as_bucket_view", "static_graph")
