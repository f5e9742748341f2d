"""Both levels answer alike, or say why not; what cannot be compared is not."""

import pandas as pd
import pytest

import stepviz as sv
from stepviz.errors import ChangeError
from stepviz.traces.graph.answers import Trust
from stepviz.traces.joining.spreads import spread_frame
from tests.traces.machine_programs import fsdp
from tests.traces.many_ranks import on_device, simulated
from tests.traces.synthetic import document, kernel, launch, note


@pytest.fixture
def run_of(write_trace):
    """Load documents by rank, changed by a function of the rank and its rows."""

    def load(documents, change=None):
        for rank, trace in documents.items():
            if change is not None:
                change(rank, trace["traceEvents"])
            path = write_trace(f"rank{rank}.json", trace)
        return sv.load_run(path.parent)

    return load


@pytest.fixture
def blocking(run_of):
    """Three ranks that wait for each of two all-reduces of 100 µs, 400 µs of work before each."""
    return run_of(on_device(simulated(3, 2, 2, blocking=True))).step(2)


@pytest.mark.parametrize("level", ["fine", "coarse"])
def test_a_transfer_has_no_rank(level, blocking):
    with pytest.raises(ChangeError, match="belongs to all of its members, so leave rank= out"):
        blocking.what_if(kind="exchange", rank=1, factor=0, level=level)


@pytest.mark.parametrize("level", ["fine", "coarse"])
def test_transfers_are_shortened_in_all(level, blocking):
    """Both are on the path: 60 µs less in all are 30 each, and 60 at the end."""
    change = sv.shorten(kind="exchange", ms=0.06)
    assert blocking.what_if(change, level=level).gain_ns == 60_000
    with pytest.raises(ChangeError, match=r"can't shorten exchange by 0\.3 ms: it lasts 0\.2 ms"):
        blocking.what_if(sv.shorten(kind="exchange", ms=0.3), level=level)


@pytest.mark.parametrize("level", ["fine", "coarse"])
@pytest.mark.parametrize(
    "edit",
    [
        {"kind": "exchange", "factor": 1e30},
        {"own_time": 1e12},
        {"change": sv.scale(kind="exchange", factor=1e30)},
        {"change": sv.set_duration(kind="exchange", ms=1e300)},
    ],
)
def test_what_does_not_fit_into_ns_is_refused(level, edit, blocking):
    with pytest.raises(ChangeError, match="can be counted in ns"):
        blocking.what_if(**edit, level=level)


@pytest.mark.parametrize("rank", ["1", [0, 1], 0.5, -1])
def test_what_is_no_rank_is_refused(rank, blocking):
    with pytest.raises(ChangeError, match="give the number of one rank, such as 0"):
        blocking.what_if(rank=rank, own_time=0.5)


def test_the_coarse_level_says_what_it_leaves_out(blocking):
    assert "as if no work ran beside a collective" in blocking.replay("coarse").trust.sentence
    with pytest.raises(ChangeError, match="all that the coarse level knows"):
        blocking.what_if(name="gemm", factor=0.5, level="coarse")


def test_a_step_without_exchange_has_the_columns_of_one_with(write_trace, blocking):
    rows = [note("ProfilerStep#1", 0, 20), launch(5, 1), kernel("gemm", 10, 100, 1)]
    alone = write_trace("alone.json", document(0, rows, world=1))
    none = sv.load_run(alone).step().collectives
    assert none.empty
    assert none.columns.tolist() == blocking.collectives.columns.tolist()
    assert none["wait_ns"].sum() == 0


def in_sequence(rank, events):
    """Number each rank's all-reduces, and count rank 1's steps from 2 on."""
    count = 0
    for event in events:
        if "Collective name" in event["args"]:
            event["args"]["Seq"] = count
            count += 1
        if rank == 1 and event["name"].startswith("ProfilerStep#"):
            event["name"] = f"ProfilerStep#{int(event['name'][13:]) + 1}"


def test_ranks_that_number_their_steps_otherwise_are_not_compared(run_of):
    """By their sequence numbers, exchanges of step 2 on rank 1 are those of step 1 on rank 0."""
    run = run_of(on_device(simulated(3, 4, 2, slow={(1, k, 0): 50 for k in range(4)})), in_sequence)
    assert "rank 1 calls step 2 what is 1 on rank 0" in str(run.clash)
    step = run.step(3)
    assert step.own_time["late_ns"].isna().all()
    assert "nobody can be called last" in step.slowest.loc["last_to_arrive", "sentence"]


def test_a_rank_whose_first_exchange_is_not_in_its_file_is_not_slow_to_it(run_of):
    """Rank 2 lacks one of the two, which may be the first: then nothing compares the first."""

    def lose(rank, events):
        if rank == 2:
            events.remove([e for e in events if "Collective name" in e["args"]][2])

    times = simulated(3, 2, 2)
    step = run_of(on_device(times, elements=1000), lose).step(2)
    assert (step.collectives["ranks"] == 1).all()
    row = step.slowest.loc["slowest_to_first_collective"]
    assert row.isna()["rank"]
    assert "their first ones may differ" in row["sentence"]


def test_odd_steps_among_steps_of_no_length():
    steps = pd.Series([0, 0, 0, 0, 5_000_000], dtype="int64")
    frame = spread_frame(steps, [4], {number: {0: length} for number, length in steps.items()})
    assert frame.loc["steps", "sentence"] == "odd step among 5: 4 (5 ms)"


@pytest.mark.parametrize("syncs", [True, False])
def test_a_path_by_what_no_file_records_says_so(syncs, run_of):
    """Where the file records what streams wait for, nothing of the path is guessed."""
    step = run_of(fsdp(0, syncs=syncs).documents()).step(2)
    for answer in (step.replay(), step.what_if(kind="forward", factor=0.5)):
        path, trust = answer.critical_path, answer.trust
        by = path.groupby("origin")["duration_ns"].sum() / path["duration_ns"].sum()
        assert trust.inferred_share == pytest.approx(by.get("inferred", 0))
        assert trust.assumed_share == pytest.approx(by.get("assumed", 0))
        assert (trust.inferred_share < 0.001) == syncs
        said = "" if syncs else "of the path follows on links that no file records, inferred from"
        assert said in trust.guessed
        assert (trust.guessed == "") == syncs
        assert trust.guessed in repr(answer)
    assert step.replay("coarse").trust.guessed == ""


def test_what_of_a_path_is_guessed_is_said_in_a_few_words():
    def said(inferred, assumed):
        return Trust("fine", 0, 0, inferred_share=inferred, assumed_share=assumed).guessed

    begin = "% of the path follows on links that no file records"
    assert said(0.01, 0.009) == ""
    assert said(0.12, 0) == f"12.0 {begin}, inferred from calls and times"
    assert said(0, 0.12) == f"12.0 {begin}, assumed"
    both = "inferred from calls and times (12.0 %) or assumed (3.0 %)"
    assert said(0.12, 0.03) == f"15.0 {begin}, {both}"
