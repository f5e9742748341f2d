"""Two ranks of two DDP steps, worked out by hand (see `synthetic.two_ranks`)."""

from __future__ import annotations

import pytest

import stepviz as sv
from tests.traces.synthetic import ddp_step, document, kernel, launch, two_ranks


@pytest.fixture
def run(write_trace):
    for rank, trace in two_ranks().items():
        path = write_trace(f"rank{rank}.json", trace)
    return sv.load_run(path.parent)


def test_windows_run_from_update_to_update(run):
    steps = run.steps
    assert steps.index.tolist() == [1, 2]
    assert steps["duration_ns"].tolist() == [900_000, 900_000]
    assert steps["start_from"].tolist() == ["host start", "previous update"]
    assert steps["window"].tolist() == ["device", "device"]
    assert run.step().number == 2
    assert "from the previous update's completion to its own" in run.step(2).window_rule
    assert "host's start" in run.step(1).window_rule


def test_breakdown_by_hand(run):
    us = run.step(2).breakdown("ns") / 1000
    assert us[0][us[0] > 0].to_dict() == {
        "forward": 200, "backward": 400, "exchange": 100, "optimizer": 90, "host": 110,
    }  # fmt: skip
    assert us[1][us[1] > 0].to_dict() == {
        "forward": 200, "backward": 450, "exchange": 50, "optimizer": 88, "host": 112,
    }  # fmt: skip
    assert run.step(2).breakdown().sum().tolist() == pytest.approx([0.9, 0.9], abs=1e-9)


def test_exposed_wait_and_transfer_by_hand(run):
    step = run.step(2)
    assert step.exposed(unit="ns").tolist() == [100_000, 50_000]
    row = step.collectives.iloc[0]
    assert (row["first_rank"], row["last_rank"]) == (0, 1)
    assert (row["skew_ns"], row["transfer_ns"], row["wait_ns"]) == (100_000, 195_000, 100_000)
    assert row["bytes"] == 4000
    assert step.unmatched.empty


def test_device_time_by_hand(run):
    """Both steps: 800 µs of kernels a step less the 5 and 10 µs gaps, 295 of them exchange."""
    row = run.device_time().loc[0]
    assert row["span_ns"] == 1_700_000
    assert row["compute_ns"] == 2 * (200 + 200 + 200 + 90) * 1000
    assert row["exchange_ns"] == 2 * 295_000
    assert row["overlap_ns"] == 2 * 195_000
    assert row["exposed_ns"] == 2 * 100_000


def test_the_fold_is_the_graph_one_would_draw(run):
    timeline = run.step(2).timeline()
    phases, schedule = timeline.phases, timeline.schedule()
    assert phases["duration"].round(9).to_dict() == {
        "r0 host": 0.1, "r0 forward": 0.2, "r0 backward 0": 0.2, "r0 backward 1": 0.2,
        "r0 optimizer": 0.09,
        "r1 host": 0.1, "r1 forward": 0.2, "r1 backward 0": 0.3, "r1 backward 1": 0.15,
        "r1 optimizer": 0.088,
        "all-reduce": 0.195,
    }  # fmt: skip
    links = {
        (d.source, d.target): (d.type, round(d.lag, 9), d.origin)
        for d in timeline.dependencies.itertuples()
    }
    assert links == {
        ("r0 backward 0", "all-reduce"): ("FS", 0.005, "recorded"),
        ("r1 backward 0", "all-reduce"): ("FS", 0.005, "recorded"),
        ("all-reduce", "r0 optimizer"): ("FS", 0.01, "inferred"),
        ("all-reduce", "r1 optimizer"): ("FS", 0.012, "inferred"),
    }
    assert phases.loc["all-reduce", "members"] == (0, 1)
    assert phases.loc["all-reduce", "lane"] == "link default_pg"
    assert (phases["release"] == 0).all()
    assert schedule.completion == pytest.approx(0.9, abs=1e-9)
    assert schedule.exposed("exchange").tolist() == pytest.approx([0.1, 0.05], abs=1e-9)


def test_what_ifs_move_as_worked_out(run):
    timeline = run.step(2).timeline()
    # Rank 1 holds the exchange: 50 µs earlier there is 50 µs earlier at the end …
    assert timeline.with_duration("r1 backward 0", 0.25).completion == pytest.approx(0.85)
    # … on rank 0 nothing changes, since it waits 100 µs anyway …
    assert timeline.with_duration("r0 backward 0", 0.15).completion == pytest.approx(0.9)
    # … and beyond 100 µs rank 0 is the one that holds it.
    assert timeline.with_duration("r1 backward 0", 0.1).completion == pytest.approx(0.8)
    # An instant link leaves rank 1's own work: 100 + 200 + 300 + 150 + 88 µs.
    assert timeline.with_duration("all-reduce", 0.0).completion == pytest.approx(0.838)


def test_one_rank_alone_keeps_its_exchange(run):
    step = run.step(2)
    timeline = step.timeline(ranks=0)
    assert timeline.ranks == [0]
    assert timeline.completion == pytest.approx(0.9)
    assert timeline.phases.loc["r0 all-reduce", "duration"] == pytest.approx(0.295)
    with pytest.raises(sv.TraceError, match="no rank 7"):
        step.timeline(ranks=[7])


def test_an_unknown_step_is_said(run):
    with pytest.raises(sv.TraceError, match="no step 9"):
        run.step(9)
    with pytest.raises(sv.TraceError, match="unit 'us'"):
        run.step(1).breakdown("us")


def test_counts_that_differ_keep_exchanges_local_and_say_so(write_trace):
    traces = two_ranks()
    traces[1]["traceEvents"] += [
        launch(600, 77),
        kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 1720, 10, 77, stream=20,
               **{"Collective name": "allreduce", "In msg nelems": 1, "Process Group Name": "0"}),
    ]  # fmt: skip
    for rank, trace in traces.items():
        path = write_trace(f"rank{rank}.json", trace)
    step = sv.load_run(path.parent).step(2)
    assert step.unmatched["why"].unique().tolist() == [
        "the ranks differ in how many they show: 1 on rank 0, 2 on rank 1"
    ]
    assert len(step.unmatched) == 3
    assert step.timeline().completion == pytest.approx(step.completion_ns / 1e6, abs=1e-9)
    assert any("stay with their rank" in note for note in step.notes)


@pytest.mark.parametrize("there", [True, False])
def test_a_step_after_one_that_is_not_marked_does_not_begin_with_the_last_that_is(
    there, write_trace
):
    """The third of three steps of 900 µs, which end at 1900, 2800 and 3700 on the device."""
    events = []
    for k in range(3):
        step = ddp_step(k + 1, 500 * k, 1100 + 900 * k, 200, 200, (405, 700), (710, 800), 10 * k)
        events += step if k != 1 else step[1:] * there
    run = sv.load_run(write_trace("rank0.json", document(0, events, world=1)))
    assert run.steps.index.tolist() == [1, 3]
    assert run.step(3).windows["start_from"].tolist() == ["previous update"]
    assert run.steps["duration_ns"].tolist()[1] == (900_000 if there else 1_800_000)
    # Where the host went on only after all was done, its start is the step's.
    count = len(step)
    late = [e | {"ts": e["ts"] + 5000} for e in events[-count:]]
    run = sv.load_run(write_trace("rank0.json", document(0, events[:-count] + late, world=1)))
    assert run.step(3).windows["start_from"].tolist() == ["host start"]
    assert run.steps["duration_ns"].tolist()[1] == (3700 - 1000) * 1000


def test_a_missing_rank_is_said(write_trace):
    run = sv.load_run(write_trace("rank0.json", two_ranks()[0]))
    step = run.step(2)
    assert step.unmatched["why"].iloc[0].startswith("rank 1 of its group is not in this run")
    assert step.timeline().phases.loc["r0 all-reduce", "duration"] == pytest.approx(0.295)


def test_clocks_that_disagree_name_no_straggler(write_trace):
    traces = two_ranks()
    traces[1]["baseTimeNanoseconds"] += 50_000_000
    for rank, trace in traces.items():
        path = write_trace(f"rank{rank}.json", trace)
    step = sv.load_run(path.parent).step(2)
    assert "clocks disagree" in step.unmatched["why"].iloc[0]
    assert (step.collectives["ranks"] == 1).all()
    assert step.timeline().completion == pytest.approx(step.completion_ns / 1e6, abs=1e-9)


def test_world_size_one_has_no_exchange(write_trace):
    rows = [e for e in two_ranks()[0]["traceEvents"] if not e["name"].startswith("ncclDev")]
    step = sv.load_run(write_trace("rank0.json", document(0, rows, world=1))).step(2)
    assert step.collectives.empty
    assert step.exposed().tolist() == [0.0]
    assert step.unmatched.empty


def test_repr_says_the_essentials(run):
    assert "2 ranks, 2 steps, step 2 takes 0.9 ms" in repr(run)
    assert "0.9 ms, 2 ranks, 1 exchange" in repr(run.step())
    assert "previous update" in run._repr_html_()
    assert "forward" in run.step()._repr_html_()
