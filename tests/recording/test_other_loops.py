"""The recorder in loops of other shapes, in this process: what counts, and what survives."""

from __future__ import annotations

import errno
import os
import time
from types import SimpleNamespace

import pytest

import stepviz as sv
from stepviz.recording import profiles

TOKENS = 12


@pytest.fixture
def torch():
    found = pytest.importorskip("torch")
    found.manual_seed(0)
    return found


@pytest.fixture
def small(torch):
    model = torch.nn.Sequential(torch.nn.Embedding(12, 8), torch.nn.Linear(8, 4))
    return model, torch.optim.SGD(model.parameters(), lr=0.1)


@pytest.fixture
def wrapped(torch, tmp_path):
    """Return a model under DDP with nobody else."""
    dist = torch.distributed
    if dist.is_initialized():
        pytest.skip("another test's process group is there")
    store = dist.FileStore(str(tmp_path / "store"), 1)
    dist.init_process_group("gloo", store=store, rank=0, world_size=1)
    try:
        yield torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(6, 6))
    finally:
        dist.destroy_process_group()


def loss_of(torch, model):
    return model(torch.arange(TOKENS).reshape(2, 6)).sum()


def test_steps_are_as_long_as_a_stopwatch_says(torch, tmp_path):
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(3872, 10)
    )
    optimizer = torch.optim.AdamW(model.parameters())
    laps = []
    with sv.Recorder(tmp_path, model=model, optimizer=optimizer, skip=2, steps=3) as rec:
        for _ in range(7):
            start = time.perf_counter()
            model(torch.randn(8, 3, 24, 24)).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
            time.sleep(0.03)  # so that each is long beside what the recorder itself takes
            laps.append(1e3 * (time.perf_counter() - start))
            rec.step()
    found = sv.load_run(tmp_path).steps
    # Of the last one the profiler's end is part.
    for number in (3, 4):
        assert laps[number] <= found.loc[number, "duration_ns"] / 1e6 + 0.2
        assert found.loc[number, "duration_ns"] / 1e6 == pytest.approx(laps[number], rel=0.5)


def test_microbatches_are_no_updates_where_the_optimizer_is_known(torch, small, tmp_path):
    model, optimizer = small
    with sv.Recorder(tmp_path, model=model, optimizer=optimizer, skip=2, steps=2) as rec:
        for micro in range(3 * 6):
            (loss_of(torch, model) / 3).backward()
            if micro % 3 == 2:
                optimizer.step()
                optimizer.zero_grad()
            rec.step()
    assert rec.updates == 5
    run = sv.load_run(tmp_path)
    assert run.steps.index.tolist() == [3, 4]
    assert [one["allocated"] for one in run.recorded["tokens"]] == [3 * TOKENS] * 2


def test_an_update_that_a_scaler_skips_is_none(torch, small, tmp_path):
    model, optimizer = small
    scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
    with sv.Recorder(tmp_path, model=model, optimizer=optimizer, skip=2, steps=2) as rec:
        for number in range(8):
            scaler.scale(loss_of(torch, model)).backward()
            if number == 1:
                model[1].weight.grad[0, 0] = float("inf")
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
            rec.step()
            assert rec.updates == min(number + (number < 1), 5)
    assert sv.load_run(tmp_path).steps.index.tolist() == [3, 4]


def test_an_optimizer_with_a_closure_steps_once(torch, small, tmp_path):
    model, _ = small
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=3)

    def closure():
        optimizer.zero_grad()
        loss = loss_of(torch, model) ** 2
        loss.backward()
        return loss

    with sv.Recorder(tmp_path, model=model, optimizer=optimizer, skip=2, steps=1) as rec:
        for _ in range(5):
            optimizer.step(closure)
            rec.step()
    assert rec.updates == 4
    assert (sv.load_run(tmp_path).step().breakdown().loc["backward"] > 0).all()


@pytest.mark.parametrize("kind", ["an optimizer too", "no optimizer itself"])
def test_wrappers_like_accelerates_and_lightnings_are_looked_through(torch, small, tmp_path, kind):
    model, optimizer = small
    outer = SimpleNamespace(optimizer=optimizer)
    if kind == "an optimizer too":
        outer = type("Accelerated", (torch.optim.Optimizer,), {"__init__": lambda *_: None})()
        outer.optimizer = optimizer
    with sv.Recorder(tmp_path, model=model, optimizer=outer, skip=2, steps=1) as rec:
        for _ in range(4):
            loss_of(torch, model).backward()
            optimizer.step()
            rec.step()
    assert sv.load_run(tmp_path).recorded["optimizer"] == "SGD"


def test_evaluation_between_updates_is_not_counted(torch, small, tmp_path):
    model, optimizer = small
    with sv.Recorder(tmp_path, model=model, optimizer=optimizer, skip=2, steps=1) as rec:
        for _ in range(4):
            loss_of(torch, model).backward()
            optimizer.step()
            model.eval()
            with torch.no_grad():
                loss_of(torch, model)
            model.train()
            rec.step()
    (counted,) = sv.load_run(tmp_path).recorded["tokens"]
    assert counted["allocated"] == TOKENS


def test_a_second_recorder_notes_by_the_hook_of_the_first(torch, wrapped, tmp_path):
    optimizer = torch.optim.SGD(wrapped.parameters(), lr=0.01)
    for name in ("first", "second"):
        with sv.Recorder(
            tmp_path / name, model=wrapped, optimizer=optimizer, skip=2, steps=2
        ) as rec:
            for _ in range(6):
                wrapped(torch.ones(3, 6)).sum().backward()
                optimizer.step()
                rec.step()
        run = sv.load_run(tmp_path / name)
        assert run.recorded["buckets_from"] == "stepviz's hook"
        assert run.buckets[["step", "index", "origin"]].to_numpy().tolist() == [
            [3, 0, "recorded"], [4, 0, "recorded"],
        ]  # fmt: skip
        # What was noted is in the file, and nothing is noted any more.
        assert len(rec._log.entries) >= 2
        before = len(rec._log.entries)
        wrapped(torch.ones(3, 6)).sum().backward()
        assert len(rec._log.entries) == before


def test_a_step_before_the_recorder_began_is_refused(small, tmp_path):
    model, optimizer = small
    rec = sv.Recorder(tmp_path, model=model, optimizer=optimizer)
    with pytest.raises(sv.CaptureError, match=r"rec.step\(\) before the recorder began"):
        rec.step()


def test_a_full_disk_ends_the_recording_and_not_the_loop(torch, small, tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(profiles, "write_trace", full)
    model, optimizer = small
    rec = sv.Recorder(tmp_path / "run", model=model, optimizer=optimizer, skip=2, steps=1)
    rec.start()
    for _ in range(9):
        loss_of(torch, model).backward()
        optimizer.step()
        rec.step()
    with pytest.raises(sv.CaptureError, match=r"rank0.json.gz can't be written \(No space left"):
        rec.stop()
    assert list((tmp_path / "run").iterdir()) == []
