"""Forward, backward and recompute by what autograd writes: by hand, and as torch records it."""

from __future__ import annotations

import pytest

from stepviz.traces.rank_trace import RankTrace
from stepviz.traces.reading.files import rows_in
from tests.traces.synthetic import AUTOGRAD, document, host, kernel, launch, note

EVALUATE = "autograd::engine::evaluate_function: "


def forward(name, ts, dur, number, **args):
    return host(name, ts, dur, **{"Sequence number": number, "Fwd thread id": 0, **args})


def gradient(name, ts, dur, number, *, thread=1, tid=AUTOGRAD):
    said = {"Sequence number": number, "Fwd thread id": thread}
    return [
        host(EVALUATE + name, ts, dur, tid=tid, **said),
        host(name, ts + 1, dur - 2, tid=tid, **said),
    ]


@pytest.fixture
def kinds_of(write_trace):
    def classify(rows, **extra):
        path = write_trace("rank0.json", {**document(0, rows), **extra})
        events = RankTrace.of(rows_in(path)).events
        return dict(zip(events["name"], events["kind"].astype(str), strict=True))

    return classify


def test_names_tell_nothing_numbers_do(kinds_of):
    """An operator called backward is forward; what comes back to it is backward by its thread."""
    kinds = kinds_of(
        [
            forward("mylib::backward_looking", 0, 9, 5),
            host("mylib::inner", 2, 3),
            host("WeirdNode", 50, 9, tid=AUTOGRAD,
                 **{"Sequence number": 5, "Fwd thread id": 1}),
            host("mylib::forward_looking", 52, 3, tid=AUTOGRAD),
        ]
    )  # fmt: skip
    assert kinds["mylib::backward_looking"] == kinds["mylib::inner"] == "forward"
    assert kinds["WeirdNode"] == kinds["mylib::forward_looking"] == "backward"


def test_only_the_last_operator_of_a_number_recorded_it(kinds_of):
    """Loading and moving a batch say the next number too, but record nothing."""
    kinds = kinds_of(
        [
            forward("aten::randn", 0, 5, 7),
            forward("aten::to", 6, 5, 7),
            forward("aten::linear", 20, 9, 7),
            forward("aten::addmm", 22, 5, 7),
            *gradient("AddmmBackward0", 50, 9, 7),
        ]
    )
    assert kinds["aten::randn"] == kinds["aten::to"] == "other"
    assert kinds["aten::linear"] == kinds["aten::addmm"] == "forward"


def test_what_lies_between_two_operators_of_a_pass_is_of_the_pass(kinds_of):
    rows = [
        forward("aten::mm", 0, 9, 7),
        host("aten::dropout_mask", 10, 5),
        forward("aten::relu", 20, 9, 8),
        host("aten::metrics", 31, 5),
        *gradient("ReluBackward0", 50, 9, 8),
        host("hook", 60, 5, tid=AUTOGRAD),
        *gradient("MmBackward0", 70, 9, 7),
        host("mylib::update", 90, 9),
        forward("aten::mm again", 100, 9, 9),
        *gradient("MmBackward1", 150, 9, 9),
    ]
    kinds = kinds_of(rows)
    assert kinds["aten::dropout_mask"] == "forward"
    assert kinds["hook"] == "backward"
    # After the last operator of forward, and after backward, nothing tells.
    assert kinds["aten::metrics"] == kinds["mylib::update"] == "other"


@pytest.mark.parametrize("category", ["fwdbwd", "fwd_bwd", "other"])
def test_arrows_where_numbers_are_missing(category, kinds_of):
    arrows = [
        {"ph": "s", "cat": category, "name": category, "id": 1, "pid": 1, "tid": 100, "ts": 0},
        {"ph": "f", "cat": category, "name": category, "id": 1, "pid": 1, "tid": 101, "ts": 50,
         "bp": "e"},
    ]  # fmt: skip
    kinds = kinds_of([host("aten::mm", 0, 9), host("Node", 50, 9, tid=AUTOGRAD), *arrows])
    expected = ("forward", "backward") if category == "fwdbwd" else ("other", "other")
    assert (kinds["aten::mm"], kinds["Node"]) == expected


def test_numbers_are_counted_on_each_thread_by_itself(kinds_of):
    """Number 3 of the autograd thread (recomputed) is not number 3 of the main thread."""
    kinds = kinds_of(
        [
            forward("aten::first", 0, 5, 3),
            forward("aten::second", 10, 5, 4),
            host(EVALUATE + "CheckpointBackward", 50, 40, tid=AUTOGRAD,
                 **{"Sequence number": 4, "Fwd thread id": 1}),
            forward("aten::again", 55, 5, 3) | {"tid": AUTOGRAD},
            *gradient("AgainBackward", 70, 9, 3, thread=2),
            *gradient("FirstBackward", 100, 9, 3),
        ]
    )  # fmt: skip
    assert kinds["aten::first"] == "forward"
    assert kinds["aten::again"] == "recompute"
    assert kinds["AgainBackward"] == kinds["FirstBackward"] == "backward"


def test_kernels_of_what_is_recomputed(kinds_of):
    """By their launch, also where a region of the user says forward once more."""
    kinds = kinds_of(
        [
            *gradient("CheckpointBackward", 0, 80, 7),
            note("FullyShardedDataParallel.forward", 5, 30) | {"tid": AUTOGRAD},
            host("aten::mm", 6, 9, tid=AUTOGRAD,
                 **{"Sequence number": 90, "Fwd thread id": 0}),
            launch(8, 1, tid=AUTOGRAD),
            kernel("recomputed", 200, 5, 1),
            launch(40, 2, tid=AUTOGRAD),
            kernel("gradient", 210, 5, 2),
        ]
    )  # fmt: skip
    assert kinds["recomputed"] == "recompute"
    assert kinds["gradient"] == "backward"


def test_an_update_inside_backward_is_one(kinds_of):
    kinds = kinds_of(
        [
            *gradient("AccumulateGrad", 0, 80, 7),
            note("Optimizer.step#SGD.step", 5, 30) | {"tid": AUTOGRAD},
            host("aten::add_", 6, 9, tid=AUTOGRAD,
                 **{"Sequence number": 90, "Fwd thread id": 0}),
        ]
    )  # fmt: skip
    assert kinds["aten::add_"] == "optimizer"


def record(mode, folder):
    """Record two updates of two linear layers, checkpointed as `mode` says; count their calls."""
    torch = pytest.importorskip("torch", reason="recording needs torch")
    from torch.utils.checkpoint import checkpoint

    blocks = [torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU()) for _ in range(2)]
    parameters = [p for block in blocks for p in block.parameters()]
    calls = []
    for block in blocks:
        block[0].register_forward_hook(lambda *_: calls.append(1))
    optimizer = torch.optim.SGD(parameters, lr=0.1)

    def run(block, x):
        if mode == "nested":
            return checkpoint(
                lambda y: checkpoint(block, y, use_reentrant=False) + block(y),
                x,
                use_reentrant=False,
            )
        return block(x) if mode == "plain" else checkpoint(block, x, use_reentrant=mode == "re")

    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities) as profiler:
        for _ in range(2):
            x = torch.randn(4, 8, requires_grad=True)
            for block in blocks:
                x = run(block, x)
            x.pow(2).mean().backward()
            optimizer.step()
            optimizer.zero_grad()
    path = folder / "rank0.json"
    profiler.export_chrome_trace(str(path))
    return path, len(calls)


@pytest.mark.parametrize(
    ("mode", "once"), [("plain", 4), ("re", 4), ("non-reentrant", 4), ("nested", 8)]
)
def test_checkpointed_layers_as_torch_records_them(mode, once, tmp_path):
    """Calls of the layers beyond those of forward ran again for backward."""
    path, calls = record(mode, tmp_path)
    trace = RankTrace.of(rows_in(path))
    events = trace.events
    linear = events[events["name"] == "aten::linear"]["kind"].value_counts()
    assert (calls > once) == (mode != "plain")
    assert (linear["forward"], linear["recompute"]) == (once, calls - once)
    assert linear.sum() == calls
    # Products of gradients alone: none of them forward or recomputed.
    assert set(events[events["name"] == "aten::mm"]["kind"]) == {"backward"}
    assert len(trace.windows) == 2
    assert "the ends of updates" in trace.windows[1].rule
