"""What no edit of a step's graph reaches, and how answers say so."""

from __future__ import annotations

import pytest

import stepviz as sv
from stepviz.errors import ChangeError
from tests.traces.synthetic import LINK_STREAM, document, host, kernel, launch, note, sharded

GROUP = {"Collective name": "allreduce", "In msg nelems": 1000, "dtype": "Float", "Group size": 3,
         "Process Group Name": "0", "Process Group Description": "default_pg"}  # fmt: skip


def stopped(rank, stop, longest):
    """One step of a rank of three whose main thread stands still for `stop` µs, without a row.

    All reach the all-reduce 205 µs after the start but for that; it takes 300 from the last one.
    """
    end = 205 + longest + 300
    events = [
        note("ProfilerStep#1", 0, end + 20),
        host("aten::mm", 0, 50), launch(10, 1), kernel("gemm", 15, 100, 1),
        host("aten::mm", 50 + stop, 170),
        launch(200 + stop, 2),
        kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 205 + stop, end - 205 - stop, 2,
               stream=LINK_STREAM, **GROUP),
        host("cudaDeviceSynchronize", 220 + stop, end - 215 - stop, cat="cuda_runtime"),
        host("aten::detach", end + 5, 15),
    ]  # fmt: skip
    return document(rank, events, world=3)


@pytest.fixture
def load(write_trace, tmp_path):
    """Load documents by rank."""

    def read(documents):
        for rank, trace in documents.items():
            write_trace(f"rank{rank}.json", trace)
        return sv.load_run(tmp_path)

    return read


@pytest.mark.parametrize("stop", [1500, 4000])
def test_a_straggler_that_no_row_shows_is_held_to_the_median_all_the_same(stop, load):
    """Rank 1 stands still, the others don't: without that all arrive `stop` sooner."""
    step = load({r: stopped(r, stop if r == 1 else 0, stop) for r in range(3)}).step()
    assert step.completion_ns == (525 + stop) * 1000
    assert step.critical_path["kind"].eq("unexplained").sum() == 1
    even = step.no_stragglers()
    assert even.gain_ns == step.no_stragglers("coarse").gain_ns == stop * 1000
    assert f"{stop / 1000:g} ms of the gain is a thread that stood still" in even.trust.sentence
    # A rank's whole time outside collectives is halved, that which no row tells of as well.
    half = step.what_if(rank=1, own_time=0.5)
    assert half.gain_ns == pytest.approx(stop * 500 + 100_000, abs=10_000)
    assert f"{stop / 2000:g} ms of the gain" in half.trust.sentence
    assert step.what_if(rank=1, own_time=2).gain_ns < -stop * 1000
    assert step.what_if(rank=0, own_time=0).gain_ns == 0
    assert "stood still" not in step.what_if(rank=0, own_time=0).trust.sentence


def test_what_all_ranks_stand_still_for_is_no_straggling(load):
    step = load({r: stopped(r, 4000, 4000) for r in range(3)}).step()
    assert step.no_stragglers().gain_ns == 0
    assert step.no_stragglers().trust.beyond == ()


def test_exchanges_of_a_rank_that_is_missing_keep_what_they_waited(load):
    """Of three ranks one isn't there: nothing tells when it came, so nothing can be sooner."""
    step = load({r: stopped(r, 0, 0) for r in (0, 2)}).step()
    for level in ("fine", "coarse"):
        for answer in (step.no_stragglers(level), step.what_if(rank=0, own_time=0.5, level=level)):
            assert answer.trust.beyond[-1].startswith("2 exchanges stay with their rank and keep")
            assert answer.trust.beyond[-1] in repr(answer)
    one = load({0: stopped(0, 0, 0)}).step().alone(0)
    assert one.replay().trust.beyond == (
        "1 exchange stays with its rank and keeps what it waited, whenever others come",
    )


def test_what_the_host_did_before_the_step_began_is_beyond_edits_and_said(load):
    """The second step's host is done long before the first update is; its kernels are not."""
    step = load({r: sharded(r, 4) for r in (0, 1)}).step(2)
    assert step.windows["start_from"].unique().tolist() == ["previous update"]
    # By row: the calls that launch 4 kernels of forward and 4 gathers beside it, 2 µs each.
    answer = step.what_if(rank=0, kind="forward", factor=0.5)
    assert answer.gain_ns == 0  # rank 1 takes as long
    (said,) = answer.trust.beyond
    assert said.startswith("0.016 ms of what is changed (on rank 0) ran before the step began, ")
    both = step.what_if(kind="forward", factor=0.5)
    assert both.gain_ns == 4 * 100_000
    assert "up to 0.016 ms of what is changed (on rank 0)" in both.trust.sentence
    assert "ran before the step began" in step.no_stragglers().trust.sentence
    assert step.alone(0).no_stragglers().trust.sentence.count("before the step") == 0
    # All device work of this name is in the step.
    assert step.what_if(name="gemm", factor=0.5).trust.beyond == ()
    for name in ("cudaLaunchKernel", "cudaLaunch*nel"):
        with pytest.raises(ChangeError, match=r"all that is .* here ran before the step began"):
            step.what_if(name=name, factor=0)
    with pytest.raises(ChangeError, match="nothing in this step is called 'gem'"):
        step.what_if(name="gem", factor=0)


def test_a_step_of_which_nothing_is_left_has_a_path_of_no_pieces(load):
    """All of its own time, all transfers, away: at both levels that takes no time, in no pieces."""
    exchange = kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0, 100, 1, stream=LINK_STREAM)
    step = load({0: document(0, [exchange], world=1)}).step()
    for level in ("fine", "coarse"):
        answer = step.what_if(kind="exchange", factor=0, own_time=0 if level == "coarse" else None,
                              level=level)  # fmt: skip
        assert answer.completion_ns == 0
        assert answer.gain_ns == 100_000
        assert len(answer.critical_path) == len(answer.owners) == 0
        assert answer.critical_path.columns.equals(step.path(level).columns)
        assert (answer.trust.residual_share, answer.speedup) == (0, float("inf"))
        assert "0 ms" in repr(answer)
        assert "<table" in answer._repr_html_()
