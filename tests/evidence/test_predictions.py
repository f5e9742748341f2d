"""Predictions at other bucket caps: against queues solved by hand, timelines, and real runs."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stepviz as sv
from stepviz.builders import Contention, ddp
from stepviz.evidence.backward_passes import CapturedStep, Pass
from stepviz.evidence.bucket_costs import told_beyond
from stepviz.evidence.bucket_handling import LaunchCost, copied_back, copied_into, launch_cost
from stepviz.evidence.bucket_models import bucket_model
from stepviz.evidence.queued_buckets import Link, queued


def a_pass(ready, end, *, rank=0, rest=0.0, hook=0.0, launch=0.0, back=0.0):
    hook, launch = (c if isinstance(c, LaunchCost) else LaunchCost(c) for c in (hook, launch))
    return Pass(
        rank=rank, start=0.0, ready=np.array(ready, dtype=float), compute_end=float(end),
        hook=hook, launch=launch, rest=rest, finish=0.0, forward=0.0,
        backward=0.0, back=np.full(len(ready), back),
    )  # fmt: skip


def a_step(*passes, transfers=()):
    return CapturedStep(1, list(passes), np.array(transfers, dtype=float).reshape(-1, 2), 0.0)


def each(count):
    return [[k] for k in range(count)]


@pytest.mark.parametrize(
    ("ready", "end", "service", "finish"),
    [  # the queue fixtures of the facts
        ([300, 350, 400, 450, 500, 550, 600], 600, 50, 650),
        ([100, 200, 300, 400], 400, 60, 460),
        ([250, 300, 350, 400], 400, 60, 490),
        ([400, 400, 400, 400], 400, 60, 640),
    ],
)
def test_queues_solved_by_hand(ready, end, service, finish):
    step = a_step(a_pass(ready, end))
    found = queued(step, each(len(ready)), [1] * len(ready), Link(lambda _: service))
    assert found.length == pytest.approx(finish, abs=1e-9)
    assert found.tail == pytest.approx(finish - end, abs=1e-9)


def test_a_bucket_leaves_when_the_slowest_rank_has_filled_it():
    step = a_step(a_pass([10, 40], 50, rest=5), a_pass([30, 35], 45, rank=1, rest=20))
    found = queued(step, each(2), [1, 1], Link(lambda _: 20.0))
    # 30–50, then 50–70; rank 1 needs 20 more.
    assert found.length == pytest.approx(90)
    assert found.tail == pytest.approx(((70 - 50) + (70 - 45)) / 2)


def test_two_at_a_time_do_not_wait_for_each_other():
    step = a_step(a_pass([10, 10, 10], 10))
    assert queued(step, each(3), [1] * 3, Link(lambda _: 20.0, servers=2)).length == 50
    assert queued(step, each(3), [1] * 3, Link(lambda _: 20.0)).length == 70


def test_launches_cost_compute_once_for_each_bucket():
    step = a_step(a_pass([10, 20, 30], 30, hook=2.0, launch=0.5))
    assert queued(step, each(3), [1] * 3, Link(lambda _: 0.0)).length == pytest.approx(36)
    one = queued(step, [[0, 1, 2]], [1] * 3, Link(lambda _: 0.0), hooked=False)
    assert one.length == pytest.approx(30.5)


def test_a_launch_takes_longer_for_more_bytes_and_delays_its_own_bucket():
    step = a_step(a_pass([10, 20], 20, hook=LaunchCost(1.0, 0.5)))
    # 10 + 2 and 12 + 10 + 2; each exchange takes 5 more.
    assert queued(step, each(2), [2] * 2, Link(lambda _: 5.0)).length == pytest.approx(20 + 4 + 5)
    assert queued(step, [[0, 1]], [2] * 2, Link(lambda _: 5.0)).length == pytest.approx(20 + 3 + 5)


def test_one_large_bucket_leaves_all_copying_back_to_the_end():
    step = a_step(a_pass([10, 20, 30], 30, rest=7, back=2.0))
    link = Link(lambda nbytes: 5.0 * nbytes)
    # The last exchange is over at 35; the others were copied back before.
    assert queued(step, each(3), [1] * 3, link).length == pytest.approx(35 + 2 + 7)
    assert queued(step, [[0, 1, 2]], [1] * 3, link).length == pytest.approx(45 + 6 + 7)
    # Copies do not overtake each other: two arrive while the first is copied.
    slow = a_step(a_pass([10, 10, 10], 10, back=20.0))
    assert queued(slow, each(3), [1] * 3, Link(lambda _: 1.0)).length == pytest.approx(11 + 60)


def test_exchange_is_slower_while_a_rank_computes():
    step = a_step(a_pass([10, 30], 30))
    link = Link(lambda _: 10.0, beside=0.5)
    # 10–30 at half speed; then 30–40 at full speed, since nobody computes any more.
    assert queued(step, each(2), [1, 1], link).length == pytest.approx(40)
    # 10–30 is all of the first; of one that starts at 20, half is done at 30.
    late = a_step(a_pass([20, 30], 30))
    assert queued(late, each(2), [1, 1], link).length == pytest.approx(30 + 5 + 10)


def test_what_exchanges_take_beyond_the_line_is_told_by_whether_ranks_computed():
    rest = pd.DataFrame({
        "step": [1, 1, 1, 2, 2, 2, 3, 3, 3],
        "beside": [10.0, 10, 0] * 3,
        # 1 ms each, and a fifth of what lies beside compute; the third step met another program.
        "ms": [3.0, 3, 1, 2, 4, 1, 60, 70, 50],
    })  # fmt: skip
    extra, slowed = told_beyond(rest)
    assert extra == pytest.approx(1)
    assert slowed == pytest.approx(0.2)
    assert told_beyond(rest.assign(beside=0.0))[1] == 0
    assert told_beyond(rest.assign(ms=-1.0)) == (0, 0)
    assert told_beyond(rest.assign(ms=100 * rest["beside"])) == (0, 0.5)


def test_a_line_through_launches_is_not_moved_by_one_that_waited():
    cost = launch_cost([1.2, 2.2, 3.2, 4.2, 90.0], [10, 20, 30, 40, 25])
    assert (cost.fixed, cost.per_byte) == (pytest.approx(0.2), pytest.approx(0.1))
    assert launch_cost([1.0, 3.0, 2.0], []).ms(100) == 2.0  # sizes unknown
    assert launch_cost([3.0, 1.0], [10, 20]).per_byte == 0  # larger is never quicker
    # A kB more in half a MB: the ms between them is no cost of a byte.
    alike = launch_cost([0.1, 0.2, 0.1, 9.0], [524_288, 525_312, 524_800, 525_824])
    assert alike == LaunchCost(pytest.approx(0.15))
    assert launch_cost([1.0, 5.0], [10, 20]).ms(20) == pytest.approx(0.175 * 20)  # never below 0
    assert launch_cost([], []).ms(5) == 0


def rows_of_ddp(*rows):
    events = pd.DataFrame(rows, columns=["name", "start_ns", "finish_ns"])
    return events, events["name"]


def test_copies_are_told_by_parameter_in_the_order_of_the_buckets():
    back = "torch.distributed.ddp.reducer::copy_bucket_to_grad"
    events, names = rows_of_ddp(
        ("torch::distributed::reducer::copy_", 1_000_000, 3_000_000),
        ("torch::distributed::reducer::copy_", 1_500_000, 2_500_000),  # nested, counted once
        ("torch::distributed::reducer::mul_out", 8_000_000, 9_000_000),
        (back, 20_000_000, 21_000_000),
        (back, 21_500_000, 23_500_000),
        (back, 60_000_000, 63_000_000),  # after a wait for its bucket
    )
    assert copied_into(events, names, 0, 10_000_000) == 3.0
    assert copied_into(events, names, 0, 5_000_000) == 2.0
    took, last = copied_back(events, names, [2, 0, 1], 10_000_000)
    assert last == 63_000_000
    # Between the last two it waited, which is no copying: the median copy is as much as counts.
    assert took.tolist() == pytest.approx([2 + 0.5, 3 + 2, 1])
    # Views of buckets are not copied, and what does not add up is not guessed.
    for order in ([0, 1], [0, 1, 2, 3]):
        took, last = copied_back(events, names, order, 10_000_000)
        assert (took.tolist(), last) == ([0.0] * len(order), None)


@settings(max_examples=150, deadline=None)
@given(
    gaps=st.lists(st.integers(1, 40), min_size=1, max_size=6),
    more=st.integers(0, 30),
    service=st.integers(1, 60),
    rate=st.sampled_from([1.0, 0.8, 0.5]),
)
def test_it_is_the_builders_timeline_under_contention(gaps, more, service, rate):
    ready = np.cumsum(gaps).astype(float)
    end = float(ready[-1] + more)
    count = len(ready)
    built = ddp([1] * count, backward=end, bucket_cap_mb=1e-6, ready=ready.tolist(),
                ready_order=None, cost=float(service))  # fmt: skip
    timeline = built.apply(Contention(compute=rate)) if rate < 1 else built
    step = a_step(a_pass(ready, end))
    found = queued(step, each(count), [1] * count, Link(lambda _: float(service)), rate=rate)
    # Captured without any exchange, so all of the capture is work at full speed.
    assert found.length == pytest.approx(timeline.completion, abs=1e-9)


def test_compute_gets_its_speed_back_when_exchange_goes():
    # Captured: 100 ms of backward, of which 40 beside a transfer at half speed: 80 of work.
    step = a_step(a_pass([50, 100], 100), transfers=[(50, 90)])
    none = queued(step, each(2), [1, 1], Link(lambda _: 0.0), rate=0.5)
    assert none.length == pytest.approx(80)
    again = queued(step, each(2), [1, 1], Link(lambda _: 40.0), rate=0.5)
    assert again.length == pytest.approx(100 + 40)


def test_from_one_capture_of_a_slow_network_the_step_at_other_caps(handed):
    run = sv.load_run(handed("gloo-2rank-slowfabric-b1"))
    found = sv.predict_buckets(run, caps=[1, 2, 4, 8, 25])
    assert found.index.name == "cap"
    assert list(found.columns[:3]) == ["step_ms", "low_ms", "high_ms"]
    assert found["buckets"].tolist()[0] == 14
    # Interleaved medians of the same model and network, measured twice (capture.md).
    measured = {1: (374.4, 355.0), 2: (275.6, 262.7), 4: (216.0, 199.0), 8: (208.0, 186.8),
                25: (224.8, 196.1)}  # fmt: skip
    for cap, both in measured.items():
        row = found.loc[cap]
        assert row["low_ms"] < sum(both) / 2 < row["high_ms"]
        assert row["step_ms"] == pytest.approx(max(both), rel=0.09)
    assert found["step_ms"].idxmin() == 8
    assert found.loc[1, "change_ms"] == 0
    assert found["beyond"].tolist() == [False, False, True, True, True]
    assert abs(found["replay_error"].iloc[0]) < 0.1
    assert found["fit_error"].iloc[0] < 0.05
    assert any("emulated" in note for note in found.attrs["notes"])


def test_a_link_is_known_to_a_factor_of_two_beyond_what_was_measured(handed):
    link = bucket_model(sv.load_run(handed("gloo-2rank-slowfabric-b1"))).link
    smallest, largest = link.known
    for size in (smallest, (smallest + largest) / 2, largest):
        assert link.ms(size, 2.0) == link.ms(size, 0.5) == link.ms(size)
    beyond, edge = link.ms(5 * largest), link.ms(largest)
    assert link.ms(5 * largest, 2.0) - edge == pytest.approx(2 * (beyond - edge))
    assert link.ms(5 * largest, 0.5) - edge == pytest.approx((beyond - edge) / 2)
    assert 0 <= link.ms(0.0, 1e6) < link.ms(0.0) < link.ms(smallest)


def test_intervals_widen_beyond_what_was_measured(handed):
    run = sv.load_run(handed("gloo-2rank-slowfabric-b1"))
    model = bucket_model(run)
    found = sv.predict_buckets(run, caps=[1, 8])
    width = found["high_ms"] - found["low_ms"]
    assert found["beyond"].tolist() == [False, True]
    assert width[8] > 1.5 * width[1]
    # At least what a link of twice the time per byte beyond the largest exchange would do.
    buckets = model.buckets(8)
    worse = model.model(buckets, outside=2.0).length - model.model(buckets).length
    assert worse > 10
    assert found.loc[8, "high_ms"] >= found.loc[8, "step_ms"] + worse
    assert "caps 8: buckets of other sizes than the 1,051,648 to" in found.attrs["notes"][-1]
    assert len(sv.predict_buckets(run, caps=[1]).attrs["notes"]) == len(model.notes)


def test_one_size_of_bucket_is_refused(handed):
    run = sv.load_run(handed("gloo-2rank-b4"))
    with pytest.raises(sv.CostError, match=r"one size only.*can't be told apart"):
        sv.predict_buckets(run, caps=[1, 8])


def test_captured_buckets_are_those_that_ddp_logged(handed):
    run = sv.load_run(handed("gloo-2rank-slowfabric-b1"))
    model = bucket_model(run)
    logged = run.recorded["ddp"]["rebuilt_per_bucket_param_indices"]
    assert model.captured == [[int(k) for k in part.split()] for part in logged.split(",")]


def test_what_cannot_be_predicted_is_said(handed):
    with pytest.raises(sv.CostError, match="does not say which parameters"):
        sv.predict_buckets(sv.sample_run(), caps=[1])
    with pytest.raises(sv.CostError, match="run is int"):
        sv.predict_buckets(5, caps=[1])
    run = sv.load_run(handed("gloo-2rank-slowfabric-b1"))
    for caps, said in (([], "empty"), (4, "caps is 4"), ([0], "caps has 0"), ("4", "caps is")):
        with pytest.raises(sv.CostError, match=said):
            sv.predict_buckets(run, caps=caps)
    mixed = sv.predict_buckets(run, caps=[None, [1, 4]])
    assert mixed.index.tolist() == [None, (1, 4)]


def test_notes_and_numbers_are_plain(handed):
    run = sv.load_run(handed("gloo-2rank-slowfabric-b1"))
    found = sv.predict_buckets(run, caps=[2])
    json.dumps(found.attrs)
    assert np.isfinite(found.astype(float).to_numpy()).all()


def contended_model(path, shorter, **hooked):
    """Return the model of a run whose backward takes so many ms less without exchange."""
    run = sv.load_run(path)
    traced = bucket_model(run)
    for rank, part in run._ranks.items():
        passes = [one for step in traced.steps for one in step.passes if one.rank == rank]
        forward = int(1e6 * np.median([one.forward for one in passes]))
        work = np.median([one.compute_end - one.backward for one in passes])
        copies = np.median([one.copies for one in passes])
        assert copies > 0.5  # which passes without exchange don't have
        # As long as the trace, but for how long backward takes by itself.
        alone = int(1e6 * (work - copies - shorter))
        part.rows.recorded["timings"] = [
            {"mode": "bare", "forward_ns": forward, "step_ns": int(1e6 * step.length)}
            for step in traced.steps
        ] + [{"mode": "alone", "forward_ns": forward, "backward_ns": alone}] * 3
        if hooked:
            launches = np.median([one.launches for one in passes])
            part.rows.recorded["timings"] += [
                {"mode": mode, "forward_ns": forward, **more(work, launches)}
                for mode, more in hooked.items()
            ]
    return bucket_model(run)


def test_passes_without_exchange_say_what_it_costs_compute(handed):
    path = handed("gloo-2rank-slowfabric-b1")
    same, shorter = contended_model(path, 0), contended_model(path, 15)
    assert 0.95 <= same.rate <= 1
    assert 0.5 <= shorter.rate <= 0.9
    # One bucket at the end has nothing to slow down.
    one = [sorted(same.order)]
    assert same.model(one).length - shorter.model(one).length == pytest.approx(15, abs=1e-3)


def test_what_the_profiler_costs_is_not_taken_for_contention(handed):
    path = handed("gloo-2rank-slowfabric-b1")
    all_of_it = contended_model(path, 15).rate
    ms = lambda value: int(1e6 * value)
    # The hook saw the last bucket full 12 ms earlier where no profiler ran: 3 of 15 are left.
    seen = contended_model(
        path, 15, hooked=lambda work, launches: {"filled_ns": ms(work + launches - 12)}
    )
    # A record that does not say so: all of backward was 12 ms longer with the profiler.
    told = contended_model(
        path,
        15,
        hooked=lambda *_: {"backward_ns": ms(300)},
        profiled=lambda *_: {"backward_ns": ms(312)},
    )
    for model in (seen, told):
        assert all_of_it + 0.1 < model.rate < 1
    assert seen.rate == pytest.approx(told.rate, abs=1e-3)
