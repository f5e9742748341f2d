"""The recorder on loops that are not ours (see `loops.py`), beside a stopwatch."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

import stepviz as sv


# What needs no ranks.
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"skip": 1}, "skip is a whole number from 2, not 1: DDP has one bucket"),
        ({"steps": 0}, "steps is a whole number from 1, not 0"),
        ({"model": "bert"}, "model is a torch.nn.Module, wrapped or not, not str"),
        ({"optimizer": 3}, "optimizer is a torch.optim.Optimizer, or wraps one, not int"),
    ],
)
def test_what_is_no_loop_is_refused(tmp_path, given, said):
    pytest.importorskip("torch")
    with pytest.raises(sv.CaptureError, match=said):
        sv.Recorder(tmp_path, **given)
    assert list(tmp_path.iterdir()) == []


def trained(rec, model, optimizer, updates):
    torch = pytest.importorskip("torch")
    for _ in range(updates):
        model(torch.arange(12).reshape(2, 6)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        rec.step()


@pytest.fixture
def small():
    torch = pytest.importorskip("torch")
    model = torch.nn.Sequential(torch.nn.Embedding(12, 8), torch.nn.Linear(8, 4))
    return model, torch.optim.SGD(model.parameters(), lr=0.1)


def test_one_process_is_recorded_without_any_exchange(tmp_path, small):
    model, optimizer = small
    with sv.Recorder(tmp_path, model=model, optimizer=optimizer, skip=5, steps=2) as rec:
        trained(rec, model, optimizer, 12)
    assert rec.done
    run = sv.load_run(tmp_path)
    assert run.ranks == [0]
    assert run.steps.index.tolist() == [6, 7]
    assert run.buckets.empty
    table = run.step().breakdown()
    for kind in ("forward", "backward", "optimizer"):
        assert (table.loc[kind] > 0).all(), kind
    recorded = run.recorded
    assert recorded["kind"] == "recorder"
    assert recorded["placement"]["why"] == "a loop of your own: one process"
    assert [one["mode"] for one in recorded["timings"]] == ["bare"] * 3 + ["profiled"] * 2
    assert [one["allocated"] for one in recorded["tokens"]] == [12, 12]
    assert [one["name"] for one in recorded["parameters"]] == ["0.weight", "1.weight", "1.bias"]


def test_a_loop_that_ends_early_is_written_or_refused(tmp_path, small):
    model, optimizer = small
    rec = sv.Recorder(tmp_path / "part", model=model, optimizer=optimizer, skip=2, steps=9)
    with rec:
        trained(rec, model, optimizer, 5)
    assert sv.load_run(tmp_path / "part").steps.index.tolist()[:2] == [3, 4]
    rec = sv.Recorder(tmp_path / "none", model=model, optimizer=optimizer, skip=2)
    rec.start()
    trained(rec, model, optimizer, 2)
    with pytest.raises(sv.CaptureError, match="ended after 2 updates, before any was recorded"):
        rec.stop()
    rec = sv.Recorder(tmp_path / "never", model=model, optimizer=optimizer, skip=2)
    rec.start()
    for _ in range(9):
        rec.step()
    with pytest.raises(sv.CaptureError, match="the optimizer never stepped"):
        rec.stop()


def test_an_error_in_the_loop_is_the_one_that_is_seen(tmp_path, small):
    model, optimizer = small
    rec = sv.Recorder(tmp_path / "run", model=model, optimizer=optimizer)
    with pytest.raises(KeyError, match="mine"), rec:
        {}["mine"]
    # And nothing of it stays in the model or the optimizer.
    assert not model._forward_pre_hooks
    assert not model._forward_hooks
    assert not optimizer._optimizer_step_post_hooks


def test_a_file_that_is_there_stays(tmp_path, small):
    (tmp_path / "rank0.json.gz").write_bytes(b"earlier")
    with pytest.raises(sv.CaptureError, match=r"rank0.json.gz is there already"):
        sv.Recorder(tmp_path)
    assert (tmp_path / "rank0.json.gz").read_bytes() == b"earlier"
    model, optimizer = small
    with sv.Recorder(
        tmp_path, model=model, optimizer=optimizer, skip=2, steps=1, overwrite=True
    ) as rec:
        trained(rec, model, optimizer, 4)
    assert len(sv.load_run(tmp_path).steps) == 1


def test_batches_from_the_loader_are_counted_with_their_targets(tmp_path):
    torch = pytest.importorskip("torch")
    tokens = torch.arange(60).reshape(10, 6) % 12
    data = torch.utils.data.TensorDataset(tokens[:, :-1], tokens[:, 1:])
    model = torch.nn.Sequential(torch.nn.Embedding(12, 8), torch.nn.Linear(8, 12))
    optimizer = torch.optim.AdamW(model.parameters())
    loader = torch.utils.data.DataLoader(data, batch_size=2)
    with sv.Recorder(
        tmp_path, model=model, optimizer=optimizer, loader=loader, skip=2, steps=1
    ) as rec:
        for x, y in rec.loader:
            torch.nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten()).backward()
            optimizer.step()
            rec.step()
    recorded = sv.load_run(tmp_path).recorded
    # Targets that are the tokens one place on are shifted already: none of them is left out.
    assert [(one["allocated"], one["scored"]) for one in recorded["tokens"]] == [(10, 10)]
    assert recorded["loader"] == {"workers": 0, "prefetch": None, "batch_size": 2}
    assert recorded["optimizer"] == "AdamW"


# Loops of two ranks.
@pytest.mark.slow
def test_a_tutorials_loop_equals_a_stopwatch(loops):
    run = sv.load_run(loops / "cnn")
    assert run.steps.index.tolist() == [4, 5, 6]
    for rank in run.ranks:
        laps = json.loads((loops / f"cnn.rank{rank}.laps").read_text())
        apart = []
        for number in run.steps.index:
            start, finish = laps[number]
            window = run._ranks[rank].step(number).window
            # The profiler's clock is the processor's, which may be some ms off the system's. The
            # marker begins before the batch is fetched, which the stopwatch leaves out.
            assert window.start_ns - start <= window.finish_ns - finish + 100_000
            apart.append(window.finish_ns - finish)
            kinds = run.step(number).breakdown()[rank]
            assert kinds["backward"] > 0
            assert kinds["optimizer"] > 0
            assert kinds.sum() == pytest.approx(window.duration_ns / 1e6, abs=2e-3)
        # Between the two a rank may lose its core, but not each time.
        assert np.diff(sorted(apart)).min() < 3e6
        assert np.abs(apart).max() < 100e6
    buckets = run.buckets
    assert set(buckets["origin"]) == {"recorded"}
    assert (
        buckets.groupby(["step", "rank"])["bytes"].apply(list).tolist()
        == [run.recorded["ddp"]["bucket_bytes"]] * 6
    )
    joined = run.step().collectives
    assert joined["collective"].tolist() == ["all-reduce"] * len(run.recorded["ddp"]["assignment"])
    assert (joined["ranks"] == 2).all()


@pytest.mark.slow
def test_exchanges_lie_where_the_hook_saw_them(loops):
    run = sv.load_run(loops / "cnn")
    for rank in run.ranks:
        trace = run._ranks[rank]
        calls = trace.exchanges.frame()
        rows = calls[calls["collective"] == "all-reduce"]
        rows = rows[rows["place"] >= 0].sort_values("launched_ns")
        stamps = run.buckets.query("rank == @rank")
        assert len(rows) == len(stamps)
        apart = np.abs(rows["finish_ns"].to_numpy() - stamps["done_ns"].to_numpy())
        assert np.quantile(apart, 0.25) < 3e6


@pytest.mark.slow
def test_a_trainers_loop_with_accumulation_and_a_hook_of_its_own(loops):
    run = sv.load_run(loops / "trainer")
    assert run.steps.index.tolist() == [3, 4]
    recorded = run.recorded
    assert recorded["optimizer"] == "AdamW"
    assert "around the loop's own hook" in recorded["buckets_from"]
    assert len(run.buckets) == 4  # one bucket in the second of two microbatches, on two ranks
    # Two microbatches of 4 rows of 8, of which 6 are real, of which the first predicts nothing.
    assert recorded["tokens"][0] == {
        "step": 3, "allocated": 64, "real": 48, "executed": 64, "scored": 40, "sequences": 8,
        "squared_lengths": 8 * 36,
    }  # fmt: skip
    names = run.names()
    passes = names[names["name"] == "DistributedDataParallel.forward"]["rows"].sum()
    assert passes == 2 * 2 * 2


@pytest.mark.slow
def test_a_hook_that_is_there_is_left_and_said(loops):
    run = sv.load_run(loops / "hooked")
    said = run.recorded["buckets_from"]
    assert "DDP has the hook allreduce_hook and takes no second" in said
    assert set(run.buckets["origin"]) == {"rows"}
    assert len(run.buckets) == 2


@pytest.mark.slow
def test_fsdp_is_recorded_by_its_rows(loops):
    run = sv.load_run(loops / "fsdp")
    assert run.recorded["placement"]["why"] == "a loop of your own: FSDP"
    assert run.steps.index.tolist() == [3, 4]
    kinds = set(run.step().collectives["collective"])
    assert "all-gather" in kinds
    for file in run.files["file"]:
        text = gzip.decompress(Path(file).read_bytes()).decode()
        assert '"host_name"' not in text
