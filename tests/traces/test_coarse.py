"""The coarse level: the facts' path and what-ifs, and a brute-force solver beside it."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stepviz as sv
from stepviz.traces.graph.coarse import path_of
from stepviz.traces.graph.coarse_model import coarse_model
from tests.traces.columns import calls_by_rank, gathered
from tests.traces.many_ranks import on_device, simulated

#: traces.md 5.2: rank (none of a transfer), what, from, to, in µs.
DLRM_PATH = [
    (7, "before the step", 0, 7513),
    (7, "own", 7513, 10725), (None, "transfer", 10725, 10735),
    (7, "own", 10735, 13505), (None, "transfer", 13505, 13513),
    (7, "own", 13513, 13906), (None, "transfer", 13906, 13913),
    (7, "own", 13913, 14039), (None, "transfer", 14039, 14046),
    (7, "own", 14046, 15258), (None, "transfer", 15258, 15342),
    (5, "own", 15342, 17087), (None, "transfer", 17087, 17097),
    (5, "own", 17097, 17682), (None, "transfer", 17682, 17703),
    (4, "own", 17703, 19064), (None, "transfer", 19064, 19133),
    (4, "own", 19133, 20823),
]  # fmt: skip

DLRM_WHAT_IFS = [
    ({"kind": "exchange", "factor": 0}, 20_607_000),
    ({"kind": "exchange", "factor": 2}, 21_039_000),
    ({"rank": 7, "start_together": True}, 20_318_000),
    ({"start_together": True}, 14_006_000),
    ({"rank": 1, "own_time": 0.5}, 20_823_000),
    ({"rank": 1, "own_time": 1.2}, 20_823_000),
    ({"rank": 4, "own_time": 0.5}, 20_773_000),
    ({"rank": 4, "own_time": 1.2}, 22_009_200),
]


@pytest.fixture(scope="module")
def dlrm(handed):
    return sv.load_run(handed("dlrm-v100-nccl-8of8")).step()


def test_the_path_of_dlrm_to_the_nanosecond(dlrm):
    table = dlrm.replay(level="coarse").owners
    origin = table["start_ns"].iloc[0]
    found = [
        (None if pd.isna(row.rank) else row.rank, row.what, (row.start_ns - origin) / 1000,
         (row.finish_ns - origin) / 1000)
        for row in table.itertuples()
    ]  # fmt: skip
    assert found == DLRM_PATH
    lengths = table.groupby("what")["duration_ns"].sum()
    assert lengths["transfer"] == 216_000
    assert lengths.sum() == dlrm.completion_ns == 20_823_000


def test_the_replay_of_dlrm_is_exact(dlrm):
    answer = dlrm.replay(level="coarse")
    assert answer.largest_error_ns == 0
    assert answer.completion_ns == 20_823_000
    assert answer.gain_ns == 0


@pytest.mark.parametrize(("edit", "completion"), DLRM_WHAT_IFS)
def test_what_ifs_of_dlrm_to_the_nanosecond(edit, completion, dlrm):
    answer = dlrm.what_if(level="coarse", **edit)
    assert answer.completion_ns == completion
    assert answer.level == "coarse"
    assert answer.critical_path["duration_ns"].sum() == completion
    assert answer.baseline_ns == 20_823_000


def test_changes_of_one_collective_and_of_what_is_not_there(dlrm):
    """Transfer #4 is 84 µs on the path, where rank 5 goes on from its own end."""
    gain = dlrm.what_if(name="all-reduce 0", factor=0, level="coarse").gain_ns
    assert gain == 84_000
    with pytest.raises(sv.ChangeError, match="all-reduce"):
        dlrm.what_if(name="all-reduce 9", factor=0, level="coarse")
    with pytest.raises(sv.ChangeError, match="level='fine'"):
        dlrm.what_if(kind="forward", factor=0.5, level="coarse")


def test_a_step_without_exchange_is_own_time_alone(handed):
    step = sv.load_run(handed("ddp-v100-nccl-1of1")).step()
    path = step.path(level="coarse")
    assert path["kind"].tolist() == ["own"]
    assert path["duration_ns"].sum() == step.completion_ns
    half = step.what_if(rank=step.ranks[0], own_time=0.5, level="coarse")
    assert half.completion_ns == round(step.completion_ns / 2)


@pytest.mark.parametrize(
    "name",
    ["dlrm-v100-nccl-8of8", "ddp-a100-nccl-1of2", "gloo-2rank-b4", "gloo-2rank-slowfabric-b1"],
)
def test_replays_of_real_steps_are_exact(name, handed):
    run = sv.load_run(handed(name))
    for number in run.steps.index:
        step = run.step(number)
        answer = step.replay(level="coarse")
        assert answer.largest_error_ns == 0
        path = answer.critical_path
        assert path["duration_ns"].sum() == step.completion_ns
        assert (path["start_ns"].iloc[1:].to_numpy() == path["finish_ns"].iloc[:-1]).all()


def test_a_slow_rank_made_quick_is_predicted_from_the_slow_run(write_trace):
    """Simulated again without the delay, the step takes what the first run's model says."""
    took = {}
    for name, slow in {"slow": {(1, 1, k): 100 for k in range(4)}, "quick": {}}.items():
        times = simulated(3, 2, 4, slow=slow, blocking=True)
        for rank, trace in on_device(times).items():
            path = write_trace(f"{name}-rank{rank}.json", trace)
        took[name] = sv.load_run(sorted(path.parent.glob(f"{name}-*"))).step(2)
    own = took["slow"].own_time.loc[1, "own_time_ns"]
    assert took["slow"].completion_ns - took["quick"].completion_ns == 400_000
    answer = took["slow"].what_if(rank=1, own_time=(own - 400_000) / own, level="coarse")
    # The factor shortens the update as well, by a fifth of 50 µs, and the others' not.
    assert answer.completion_ns == pytest.approx(took["quick"].completion_ns, abs=15_000)
    even = took["slow"].no_stragglers(level="coarse")
    assert even.completion_ns == took["quick"].completion_ns


def solved(windows, calls, transfer, gap_factor):
    """Solve by recursion over all points: the slow, plain way."""
    start = {rank: low for rank, (low, _) in windows.items()}
    members = {}
    for (rank, at), number in calls["number"].items():
        members.setdefault(number, []).append((rank, at))
    done = {}

    def arrival(rank, at):
        if (rank, at) not in done:
            here = [(calls["finish"][rank, k], 1, k) for k in calls["order"][rank][:at]]
            here = [point for point in here if point[0] <= calls["arrival"][rank, at]]
            if at:
                here.append((calls["arrival"][rank, at - 1], 0, at - 1))
            observed, is_end, k = max(here, default=(start[rank], 2, -1))
            begun = start[rank]
            if is_end == 1:
                begun = end(rank, k)
            elif is_end == 0:
                begun = arrival(rank, k)
            gap = calls["arrival"][rank, at] - observed
            done[rank, at] = begun + round(gap * gap_factor.get(rank, 1))
        return done[rank, at]

    def end(rank, at):
        number = calls["number"][rank, at]
        seen = max(calls["arrival"][one] for one in members[number])
        own = calls["finish"][rank, at] - seen
        return max(arrival(*one) for one in members[number]) + round(own * transfer)

    ends = {}
    for rank, (low, high) in windows.items():
        mine = calls["order"][rank]
        observed = max([(calls["finish"][rank, k], k) for k in mine], default=(low, -1))
        begun = end(rank, observed[1]) if mine else start[rank]
        ends[rank] = begun + round((high - observed[0]) * gap_factor.get(rank, 1))
    return max(ends.values()) - min(start.values())


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_against_a_plain_recursion(data):
    """Ranks meet in any order of groups, some exchanges overlap; both solvers agree to the ns."""
    world = data.draw(st.integers(1, 4))
    frames, windows, calls = calls_by_rank(data, world)
    columns = gathered(frames, windows)
    model = coarse_model(windows, columns)
    time, ends = model.solve(model.lengths)
    assert (time == model.observed).all()
    assert (ends == model.ends).all()
    path = path_of(model, model.lengths)
    assert path["duration_ns"].sum() == ends.max()
    assert solved(windows, calls, 1, {}) == ends.max()
    rank = data.draw(st.integers(0, world - 1))
    factor = data.draw(st.sampled_from([0, 1, 2, 3]))
    moved = data.draw(st.sampled_from([0, 1, 2]))
    lengths = model.lengths
    mine = model.ranks == rank
    changed = type(lengths)(
        lengths.start,
        lengths.gap * (1 + (factor - 1) * mine[model.rank]),
        lengths.transfer * moved,
        lengths.tail * (1 + (factor - 1) * mine),
    )
    assert model.solve(changed)[1].max() == solved(windows, calls, moved, {rank: factor})
