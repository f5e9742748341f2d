"""What-ifs on the graph of a step: values of others, values by hand, and a second capture."""

from __future__ import annotations

import pytest

import stepviz as sv
from stepviz.core import changes
from stepviz.errors import ChangeError, TraceError
from stepviz.traces.graph.answers import THRESHOLDS
from tests.traces.synthetic import (
    AUTOGRAD,
    all_reduce,
    document,
    gloo_step,
    host,
    kernel,
    launch,
    note,
    sharded,
)


@pytest.fixture(scope="module")
def dlrm(handed):
    return sv.load_run(handed("dlrm-v100-nccl-8of8")).step()


@pytest.fixture
def load(write_trace, tmp_path):
    """Load documents by rank, each time into a folder of its own."""
    made = []

    def read(documents):
        folder = tmp_path / str(len(made))
        folder.mkdir()
        made.append(folder)
        for rank, trace in enumerate(documents):
            write_trace(f"rank{rank}.json", trace, folder)
        return sv.load_run(folder)

    return read


#: graph.md, "Two levels across ranks", µs.
FINE = [
    ({"kind": "exchange", "factor": 0}, 20816),
    ({"kind": "exchange", "factor": 2}, 20830),
    ({"rank": 7, "start_together": True}, 20314),
    ({"rank": 1, "own_time": 0.5}, 20823),
    ({"rank": 1, "own_time": 1.2}, 21139.8),
]


@pytest.mark.parametrize(("edit", "completion_us"), FINE)
def test_dlrm_as_a_graph_of_all_rows(edit, completion_us, dlrm):
    found = dlrm.what_if(**edit)
    assert found.level == "fine"
    assert found.baseline_ns == 20_823_000
    assert found.completion_ns / 1000 == pytest.approx(completion_us, rel=0.02)
    # Far closer than 2 % of all: the gain itself, to a tenth or to two µs.
    gain = 20823 - completion_us
    assert found.gain_ns / 1000 == pytest.approx(gain, rel=0.1, abs=2)
    assert found.critical_path["duration_ns"].sum() == found.completion_ns
    assert found.trust.level == "fine"
    assert found.trust.thresholds == THRESHOLDS
    assert found.trust.clocks == ""


def test_the_two_levels_are_labelled_and_differ(dlrm):
    fine, coarse = dlrm.replay("fine"), dlrm.replay("coarse")
    assert (fine.level, coarse.level) == ("fine", "coarse")
    assert fine.completion_ns == coarse.completion_ns == 20_823_000
    assert "fine" in repr(fine)
    assert "coarse" in repr(coarse)
    assert dlrm.what_if(rank=1, own_time=1.2, level="coarse").completion_ns == 20_823_000


def backward_of(first, *, rank, slowest):
    """Two steps of a rank whose first gradient takes `first` µs; that of the slowest, `slowest`.

    The all-reduce takes 195 µs from the last arrival, 5 µs after the
    gradient; the update starts 10 µs after it and takes 90. A second gradient of 150 runs beside.
    """
    events = []
    for step in range(2):
        at, c = 2000 * step, 10 * step
        arrives, last = at + 100 + 200 + first + 5, at + 100 + 200 + slowest + 5
        ends = last + 195
        events += [
            note(f"ProfilerStep#{step + 1}", at, 300),
            note("forward", at + 5, 90), launch(at + 10, c + 1),
            kernel("forward_gemm", at + 100, 200, c + 1),
            host("autograd::engine::evaluate_function: A", at + 110, 40, tid=AUTOGRAD),
            launch(at + 120, c + 2, tid=AUTOGRAD),
            kernel("first_gradient", at + 300, first, c + 2),
            *all_reduce(at + 152, arrives, ends - arrives, c + 3),
            host("autograd::engine::evaluate_function: B", at + 170, 30, tid=AUTOGRAD),
            launch(at + 180, c + 4, tid=AUTOGRAD),
            kernel("second_gradient", at + 300 + first, 150, c + 4),
            note("Optimizer.step#SGD.step", at + 210, 80), launch(at + 220, c + 5),
            kernel("update", ends + 10, 90, c + 5),
        ]  # fmt: skip
    return document(rank, events)


def two(slow):
    """Return two ranks; the first gradient of rank 0 takes 200 µs, that of rank 1 `slow`."""
    slowest = max(slow, 200)
    return [
        backward_of(200, rank=0, slowest=slowest),
        backward_of(slow, rank=1, slowest=slowest),
    ]


def test_a_rank_that_is_slow_inside_backward_is_named_though_backward_lasts_equally_long(load):
    """Both ranks' steps take as long; 100 µs of rank 1's first gradient are what costs."""
    step = load(two(300)).step(1)
    assert step.windows["duration_ns"].nunique() == 1
    path = step.critical_path
    device = path[(path["on"] == "device") & ~path["residual"]]
    assert device["name"].tolist() == ["forward_gemm", "first_gradient", "update"]
    assert device["rank"].tolist()[:2] == [1, 1]
    first = device[device["name"] == "first_gradient"]
    assert (first["kind"].iloc[0], first["duration_ns"].iloc[0]) == ("backward", 300_000)
    # The planted delay, and no more: rank 0 arrives then.
    assert step.what_if(rank=1, name="first_gradient", factor=0).gain_ns == 100_000
    assert step.what_if(rank=0, name="first_gradient", factor=0).gain_ns == 0
    assert step.what_if(rank=1, kind="backward", factor=2 / 3).gain_ns == 100_000
    # At the median of the two, 250 and 200 µs, rank 1 is 50 faster.
    assert step.no_stragglers().gain_ns == 50_000


def test_the_update_waits_for_what_the_autograd_thread_made_its_stream_wait_for(load):
    """The all-reduce ends at 300; the update, launched at 260 by the main thread, starts at 302.

    That its launch was 42 µs before would explain it too, but the wait was called between.
    """
    gradient = "autograd::engine::evaluate_function: A"
    events = [
        note("ProfilerStep#1", 0, 280), host(gradient, 10, 240, tid=AUTOGRAD),
        launch(20, 1, tid=AUTOGRAD), kernel("gemm", 25, 100, 1),
        *all_reduce(30, 130, 170, 2), kernel("small", 126, 10, 3), launch(100, 3, tid=AUTOGRAD),
        host("cudaStreamWaitEvent", 245, 2, cat="cuda_runtime", tid=AUTOGRAD, correlation=4),
        host("aten::_foreach_add_", 255, 20), launch(260, 5), kernel("update", 302, 90, 5),
    ]  # fmt: skip
    step = load([document(0, events, world=1)]).step()
    assert step.completion_ns == 392_000
    assert step.what_if(kind="exchange", factor=2).gain_ns == -170_000


def test_work_that_no_host_row_launched_can_still_be_made_shorter(load):
    """Two ranks of device rows alone: 300 and 400 µs of work, an all-reduce, an update; twice."""
    said = {"Collective name": "allreduce", "In msg nelems": 100, "dtype": "Float",
            "Group size": 2, "Process Group Name": "0"}  # fmt: skip
    documents = []
    for rank, work in enumerate([300, 400]):
        events = []
        for at in (0, 1000):
            events += [
                kernel("gemm", at, work, -1),
                kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", at + work + 10, 510 - work, -1,
                       stream=20, **said),
                kernel("adam", at + 525, 50, -1),
            ]  # fmt: skip
        documents.append(document(rank, events))
    step = load(documents).step()
    assert step.completion_ns == 1_575_000
    # Then rank 0, 100 µs sooner each time, is what all wait for.
    assert step.what_if(rank=1, own_time=0.5).gain_ns == 200_000
    assert step.what_if(kind="exchange", factor=0).gain_ns == 220_000


@pytest.mark.parametrize("first", [300, 240, 150, 600])
def test_a_gradient_that_takes_another_time_is_predicted_from_the_first_capture(first, load):
    """Predicted from 400 µs, measured where it is really so."""
    before = load(two(400)).step(1)
    after = load(two(first)).step(1)
    found = before.what_if(rank=1, name="first_gradient", factor=first / 400)
    assert found.completion_ns == after.completion_ns
    change = changes.set_duration("first_gradient", first / 1000, rank=1)
    assert before.what_if(change).completion_ns == after.completion_ns


@pytest.mark.parametrize("layers", [4, 40])
def test_a_sharded_model_by_hand(layers, load):
    """Everything runs in turn, so each kind costs what its rows sum to; see the fold's test."""
    step = load([sharded(0, layers), sharded(1, layers)]).step(2)
    whole = step.completion_ns
    assert whole == (925 * layers + 50) * 1000
    assert step.unexplained_share == 0
    for kind, us in {"backward": 400, "forward": 200, "exchange": 300}.items():
        for factor in (0, 0.5, 2):
            found = step.what_if(kind=kind, factor=factor)
            assert found.gain_ns == (1 - factor) * us * layers * 1000
    assert step.what_if(name="reduce-scatter", factor=0).gain_ns == 100_000 * layers
    assert step.what_if(name="all-gather*", factor=0).gain_ns == 200_000 * layers
    assert step.what_if(name="reduce-scatter 1", factor=0).gain_ns == 100_000
    assert step.what_if(name="ncclDevKernel_ReduceScatter*", factor=0).gain_ns == 100_000 * layers


def test_changes_of_the_core_mean_the_same(load):
    step = load([sharded(0, 4), sharded(1, 4)]).step(2)
    for change, gain_us in [
        (changes.scale(kind="backward", factor=0.5), 800),
        (changes.remove(kind="optimizer"), 50),
        (changes.shorten(kind="exchange", ms=0.3), 300),
        (changes.set_duration("all-gather 1", 0.01), 90),
        (changes.together(changes.remove(kind="forward"), changes.remove(kind="exchange")), 2000),
    ]:
        assert step.what_if(change).gain_ns == gain_us * 1000
    assert step.what_if(changes.scale(kind="forward", factor=0), rank=0).gain_ns == 0


def test_input_that_is_late(load):
    rows = [
        note("ProfilerStep#1", 0, 500), note("data", 0, 90), host("aten::copy_", 10, 50),
        host("aten::mm", 100, 400),
    ]  # fmt: skip
    step = load([document(0, rows, world=1)]).step(1)
    found = step.what_if(changes.delay_input(3))
    assert found.gain_ns == -3_000_000
    assert found.did == "the first input of rank 0 ready 3 ms later"


def test_several_edits_are_made_together(load):
    step = load([sharded(0, 4), sharded(1, 4)]).step(2)
    found = step.what_if(kind="exchange", factor=0, own_time=0.5)
    assert found.gain_ns == (1200 + (2400 + 50) / 2) * 1000
    assert found.did == "scaled exchange by 0; scaled own time of every rank by 0.5"
    assert found.speedup == pytest.approx(step.completion_ns / found.completion_ns)
    assert found.gain_ms == pytest.approx(found.gain_ns / 1e6)


def test_an_exchange_that_stays_with_its_rank_says_that_its_wait_is_changed_too(load):
    step = load(two(200)[:1]).step(1)
    assert len(step.unmatched) == 1
    found = step.what_if(kind="exchange", factor=0.5)
    assert "1 exchange stays with its rank" in found.did


def test_an_answer_shows_itself(load):
    step = load([gloo_step(rank) for rank in (0, 1)]).step(1)
    found = step.what_if(kind="exchange", factor=0)
    assert repr(found).startswith("<scaled exchange by 0 (fine): 8 ms, gain 6 ms")
    assert "delay that no work explains" in found.trust.sentence
    shown = found._repr_html_()
    assert "scaled exchange by 0" in shown
    assert "host gap over 1 ms" in shown
    assert str(step.thresholds) in shown


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        ({}, "say what would be different"),
        ({"factor": 0.5}, "say what to scale"),
        ({"kind": "forward"}, "factor=0.5 halves"),
        ({"kind": "forward", "factor": -1}, "factor is -1: give a finite number of 0 or more"),
        ({"kind": "forward", "factor": float("nan")}, "finite number"),
        ({"own_time": "half"}, "own_time is 'half'"),
        ({"kind": "forwrad", "factor": 1}, "did you mean 'forward'"),
        ({"kind": "checkpoint", "factor": 1}, "the kinds here are"),
        ({"name": "aten::ad", "factor": 1}, "did you mean 'aten::add'"),
        ({"name": "nothing*", "factor": 1}, "nothing in this step is called 'nothing*'"),
        ({"name": "cudaStreamSynchronize", "factor": 0}, "no time of its own"),
        ({"rank": 9, "factor": 0.5}, "there is no rank 9"),
        ({"rank": True, "factor": 0.5}, "there is no rank True"),
        ({"kind": "exchange", "rank": 1, "factor": 0}, "belongs to all of its members"),
        ({"start_together": 1}, "start_together is 1"),
        ({"change": changes.set_release("x", 1)}, "no meaning on the graph"),
        ({"change": changes.shrink_tail(1)}, "scale, remove, shorten"),
        ({"change": "faster"}, "'faster' is no change"),
        ({"change": changes.scale(kind="forward", factor=1), "kind": "forward"}, "not both"),
        ({"change": changes.shorten(kind="exchange", ms=99)}, "it lasts"),
        ({"change": changes.scale(rank=1, factor=1), "rank": 2}, "the change is about rank 1"),
        ({"change": changes.set_duration(kind="host", ms=1)}, "scale them"),
        ({"change": changes.scale("r0 forward", 0.5)}, "nothing in this step is called"),
    ],
)
def test_what_has_no_meaning_is_said(edit, said, dlrm):
    with pytest.raises(ChangeError) as error:
        dlrm.what_if(**edit)
    assert said in str(error.value)


def test_a_level_that_is_none(dlrm):
    with pytest.raises(TraceError, match="did you mean 'fine'"):
        dlrm.replay("finer")


def test_clocks_that_disagree_are_said_beside_the_answer(load, tmp_path):
    """Rank 1's clock is 1.5 ms ahead, and nobody has set it right."""
    documents = two(300)
    documents[1]["traceEvents"] = [
        row | {"ts": row["ts"] + 1500} for row in documents[1]["traceEvents"]
    ]
    load(documents)
    step = sv.load_run(tmp_path / "0", align=False).step(1)
    replay = step.replay()
    assert replay.largest_error_ns == 0
    assert step.clash is not None
    assert replay.trust.clocks == str(step.clash)
    assert replay.trust.sentence.endswith(str(step.clash))


@pytest.mark.parametrize("kind", ["wait", "idle", "unexplained", "before the step"])
def test_rows_of_tables_that_are_no_work(kind):
    with pytest.raises(sv.ChangeError, match="is no work that could be made shorter"):
        sv.sample_run().step().what_if(kind=kind, factor=0.5)


def test_one_rank_stands_alone():
    with pytest.raises(sv.TraceError, match="one rank stands alone"):
        sv.sample_run().step().alone([0, 1])
