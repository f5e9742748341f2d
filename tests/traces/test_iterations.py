"""Steps where no ProfilerStep marks them: found another way, numbered and labelled."""

from __future__ import annotations

import pytest

import stepviz as sv
from tests.traces.synthetic import AUTOGRAD, document, host, kernel, launch, note

EVALUATE = "autograd::engine::evaluate_function: MmBackward0"


def passes(at, number, *, backward=300):
    """Return a forward and a backward of 100 and `backward` µs; ids from `number`."""
    return [
        host("aten::mm", at, 90, **{"Sequence number": number, "Fwd thread id": 0}),
        host(EVALUATE, at + 100, backward, tid=AUTOGRAD,
             **{"Sequence number": number, "Fwd thread id": 1}),
    ]  # fmt: skip


def update(at, dur=50, name="Optimizer.step#SGD.step"):
    return note(name, at, dur)


@pytest.fixture
def load(write_trace):
    def read(events):
        return sv.load_run(write_trace("rank0.json", document(0, events, world=1)))

    return read


def loop(count, *, around=None, every=1000, passes_each=1):
    """Return `count` updates, each of some passes, `every` µs apart; `around` names each."""
    events = []
    for k in range(count):
        at = every * k
        for j in range(passes_each):
            events += passes(at + 10 + 400 * j, 100 * k + j)
        events.append(update(at + 10 + 400 * passes_each + 50))
        if around is not None:
            events.append(note(around.format(k + 7), at, 400 * passes_each + 150))
    return events


@pytest.mark.parametrize(
    ("around", "numbers", "told"),
    [
        ("## step {} ##", [7, 8, 9], "annotations such as '## step 7 ##'"),
        ("train_step #{}", [7, 8, 9], "annotations such as"),
        ("iteration_{}", [7, 8, 9], "annotations such as"),
        ("train_step", [0, 1, 2], "the annotation 'train_step'"),
        ("[pl][profile]run_training_batch", [0, 1, 2], "the annotation"),
        ("my own loop", [0, 1, 2], "the repeated annotation 'my own loop'"),
    ],
)
def test_steps_by_what_is_repeated(around, numbers, told, load):
    run = load(loop(3, around=around))
    assert run.steps.index.tolist() == numbers
    assert run.steps["duration_ns"].tolist() == [550_000] * 3
    step = run.step(numbers[1])
    assert told in step.window_rule
    assert "no ProfilerStep" in step.window_rule
    assert step.windows["found_by"].str.startswith(told).all()


def test_steps_by_updates_where_nothing_is_around_them(load):
    """From one update's end to the next: 1,000 µs each but the first, which starts late."""
    run = load(loop(3))
    assert run.steps["duration_ns"].tolist() == [500_000, 1_000_000, 1_000_000]
    assert "the ends of updates" in run.step(1).window_rule


@pytest.mark.parametrize("around", [None, "train_step"])
def test_passes_that_accumulate_are_one_step(around, load):
    """Two passes an update: an annotation around each pass is no step."""
    events = loop(3, passes_each=2, every=2000)
    if around is not None:
        for k in range(3):
            events += [note(around, 2000 * k + 5 + 400 * j, 399) for j in range(2)]
    run = load(events)
    assert len(run.steps) == 3
    assert "the ends of updates" in run.step(1).window_rule


def test_two_optimizers_of_one_update_are_one_step(load):
    events = loop(3)
    events += [update(1000 * k + 520, name="Optimizer.step#SparseAdam.step") for k in range(3)]
    assert len(load(events).steps) == 3


def test_layers_are_no_steps(load):
    """Repeated, regular, around nearly everything: but no layer holds an update."""
    events = [*passes(0, 1), update(700)]
    events += [note("layer", 10 * k, 9) for k in range(10)]
    run = load(events)
    assert run.steps["start_from"].tolist() == ["whole trace"]


def test_one_update_is_the_whole_trace(load):
    assert "whole trace" in load(loop(1)).step().window_rule


def test_python_functions_that_hold_an_update(load):
    events = loop(3)
    for k in range(3):
        events.append(host("train.py(40): one_iteration", 1000 * k, 600, cat="python_function"))
        events.append(host("optim.py(9): inner", 1000 * k + 455, 60, cat="python_function"))
    events.append(host("train.py(20): main", 0, 4000, cat="python_function"))
    run = load(events)
    assert run.steps["duration_ns"].tolist() == [600_000] * 3
    assert "'train.py(40): one_iteration'" in run.step().window_rule


def test_calls_of_the_outermost_module_where_there_is_no_backward(load):
    events = []
    for k in range(3):
        events += [
            host("nn.Module: Net_0", 1000 * k, 500, cat="python_function"),
            host("nn.Module: Linear_0", 1000 * k + 10, 200, cat="python_function"),
            host("aten::mm", 1000 * k + 20, 100),
        ]
    run = load(events)
    assert run.steps["duration_ns"].tolist() == [500_000] * 3
    assert "outermost module 'nn.Module: Net_0'" in run.step().window_rule
    assert run.step().breakdown("ns")[0]["forward"] >= 100_000


def test_a_users_pattern_marks_steps(load):
    events = [*loop(3, around="my phase {}"), note("ProfilerStep#1", 0, 3000)]
    with sv.add_pattern("step", r"^my phase \d+", where="annotation"):
        run = load(events)
    assert run.steps.index.tolist() == [7, 8, 9]
    assert "your pattern" in run.step(7).window_rule
    assert load(events).steps.index.tolist() == [1]


def test_device_work_belongs_to_the_step_that_launched_it(load):
    """Launched in one step, running in the next: windows go from completion to completion."""
    events = loop(3)
    for k in range(3):
        events += [launch(1000 * k + 20, k + 1), kernel("gemm", 1000 * k + 900, 300, k + 1)]
    run = load(events)
    assert run.steps["start_from"].tolist() == ["host start", *["previous update"] * 2]
    assert run.steps["duration_ns"].tolist() == [1_190_000, 1_000_000, 1_000_000]


def test_markers_come_first(load):
    events = loop(3, around="train_step") + [
        note(f"ProfilerStep#{k}", 1000 * k, 900) for k in range(3)
    ]
    run = load(events)
    assert run.steps["duration_ns"].tolist() == [900_000] * 3
    assert (run.step(1).windows["found_by"] == "").all()
