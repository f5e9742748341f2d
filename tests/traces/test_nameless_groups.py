"""Collectives of which files say nothing but a kernel's name: one group, or nobody knows which."""

import pytest

import stepviz as sv
from tests.traces.machine_programs import ddp, experts_in_groups, tensor_parallel

STEP = 2


def _untold(machine):
    """Return its documents without what the library says of its collectives."""
    documents = machine.documents()
    for document in documents.values():
        for row in document["traceEvents"]:
            if "Collective name" in row["args"]:
                row["args"] = {key: row["args"][key] for key in ("stream", "correlation")}
    return documents


def _load(documents, write_trace, which):
    paths = [write_trace(f"{which}_rank{rank}.json", trace) for rank, trace in documents.items()]
    return sv.load_run(paths)


@pytest.fixture
def load_untold(write_trace):
    return lambda machine: _load(_untold(machine), write_trace, "untold")


@pytest.fixture
def load_told(write_trace):
    return lambda machine: _load(machine.documents(), write_trace, "told")


@pytest.mark.parametrize("program", [tensor_parallel, experts_in_groups])
def test_of_several_streams_nobody_knows_the_groups(program, load_untold, load_told):
    machine = program(0)
    run = load_untold(machine)
    step = run.step(STEP)
    # That is no word against the clocks: nothing compares them.
    assert not run.clash.compared
    assert "nothing compares the ranks' clocks" in str(step.clash)
    assert (step.collectives["ranks"] == 1).all()
    assert set(step.unmatched["why"]) == {"the files do not say which ranks are in its group"}
    # What a rank did outside of exchanges needs no other rank to be told.
    said, told = step.slowest["rank"], load_told(machine).step(STEP).slowest["rank"]
    assert said.isna()["last_to_arrive"]
    assert said.drop("last_to_arrive").equals(told.drop("last_to_arrive"))
    assert step.replay().completion_ns == machine.completion(STEP)


def test_of_one_stream_all_are_of_one_group(load_untold):
    machine = ddp(0)
    step = load_untold(machine).step(STEP)
    assert step.collectives["ranks"].tolist() == [3] * 4
    assert len(step.unmatched) == 0
