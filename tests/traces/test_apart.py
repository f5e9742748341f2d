"""Ranks that nothing compares, or that may be or really are apart: nobody is named for it."""

from __future__ import annotations

from stepviz.traces.story import explain
from tests.traces.many_ranks import on_device, simulated
from tests.traces.synthetic import collective, document, kernel, launch, note


def test_ranks_that_no_collective_connects_are_said_to_be_apart(load):
    """Two pairs that never exchange with each other: their clocks can't be compared."""
    documents = on_device(simulated(4, 3, 3))
    for rank, trace in documents.items():
        for event in trace["traceEvents"]:
            if "Process Group Ranks" in event.get("args", {}):
                pair = "[0, 1]" if rank < 2 else "[2, 3]"
                event["args"] |= {"Process Group Ranks": pair, "Group size": 2}
    run = load(documents)
    assert (run.clock["collectives"] == 9).all()
    said = "2 sets of ranks share no collective with each other (one has 0, 1, one 2, 3): nothing"
    assert sum(note.startswith(said) for note in run.step(2).notes) == 1
    assert "share no collective with each other" in explain(run, 2)
    # What rests on clocks alone is not told of ranks, or said to be so.
    step = run.step(2)
    assert step.own_time["late_ns"].isna().all()
    assert run.steps["last_rank"].isna().all()
    assert "began its step" not in " ".join(step.slowest["sentence"])
    assert "rests on their clocks alone" in step.what_if(start_together=True).trust.sentence
    assert "rests on their clocks alone" in step.no_stragglers("coarse").trust.clocks
    assert "ms by these clocks" in explain(run, 2)
    # Within a set collectives still tell who was last.
    assert step.collectives["wait_ns"].notna().all()


def test_ends_as_scattered_as_the_steps_name_nobody(load):
    """Ends up to 0.4 ms apart in steps of half a millisecond."""
    times = simulated(2, 12, 1, end_skew=400, blocking=True)
    run = load(on_device(times))
    assert not run.clock["moved"].any()
    assert run.clash is not None
    assert "may be" in str(run.clash) and "in steps of" in str(run.clash)
    assert run.step(6).collectives["last_rank"].isna().all()
    assert run.steps["last_rank"].isna().all()
    assert run.step(6).slowest["rank"].isna()["last_to_arrive"]


def test_a_whole_step_off_with_other_step_numbers_is_no_clock(load):
    """Rank 1 calls its first step 2: matched by number, its clock seems one step off."""
    documents = on_device(simulated(2, 6, 2))
    for event in documents[1]["traceEvents"]:
        if event["name"].startswith("ProfilerStep#"):
            event["name"] = f"ProfilerStep#{int(event['name'].split('#')[1]) + 1}"
    run = load(documents)
    assert run.clash is not None
    assert "number their steps differently" in str(run.clash)
    assert run.step(3).collectives["last_rank"].isna().all()


def apart(rank, length):
    """Return a rank that exchanges in its first step, then takes steps of its own length."""
    events = [note("ProfilerStep#0", 0, 3000)]
    for k in range(4):
        events += collective("allreduce", 10 + 5 * k, 100 + 500 * k, 300, k + 1)
    for step in range(1, 5):
        at = 3000 + (step - 1) * length
        events += [note(f"ProfilerStep#{step}", at, length - 10), launch(at + 1, 10 + step),
                   kernel("gemm", at + 5, length - 30, 10 + step)]  # fmt: skip
    return document(rank, events)


def test_ranks_may_really_be_a_step_apart(load):
    """Rank 0 ends its second step before rank 1 begins it: nothing made it wait."""
    run = load({0: apart(0, 500), 1: apart(1, 2000)})
    windows = run.step(3).windows
    assert windows.loc[0, "finish_ns"] < windows.loc[1, "start_ns"]
    assert run.clash is None
    assert run.clock["collectives"].tolist() == [4, 4]
    # But where nothing compares their clocks, they may be what is apart.
    traces = {0: apart(0, 500), 1: apart(1, 2000)}
    for event in traces[1]["traceEvents"]:
        if "Collective name" in event["args"]:
            event["args"]["In msg nelems"] += 7
    run = load(traces)
    assert run.clash is not None
    assert not run.clash.sure
