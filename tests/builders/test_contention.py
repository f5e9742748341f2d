"""Contention: the lesson's numbers by hand, small-step integration, and what must hold."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stepviz as sv

B = sv.builders
COMPUTE = ("forward", "backward", "recompute")


def test_the_lessons_contended_step():
    """Backward loses 80 ms in the 330 that the exchange runs: a rate of 25/33."""
    base = sv.lesson().with_duration("exchange", 330)
    contended = base.apply(B.Contention(compute=25 / 33))
    table = contended.schedule().table
    assert contended.completion == pytest.approx(780, abs=1e-9)
    assert table.loc["backward", ["start", "finish"]].tolist() == pytest.approx([200, 680])
    assert table.loc["exchange", "finish"] == 630
    assert contended.schedule().exposed("exchange")[0] == 0
    assert sv.lesson().completion / contended.completion == pytest.approx(750 / 780)


def test_compute_gets_its_speed_back_when_exchange_shrinks():
    """A fixed stretch would leave backward at 480; 100 ms less exchange give 100 · 8/33 back."""
    rate = B.Contention(compute=25 / 33)
    base = sv.lesson().with_duration("exchange", 330)
    less = base.apply(sv.together(sv.shorten("exchange", 100), rate))
    assert less.phases.loc["backward", "duration"] == pytest.approx(400 + 230 * 8 / 33)
    none = base.apply(sv.together(sv.remove("exchange"), rate))
    assert none.phases.loc["backward", "duration"] == 400
    table = sv.compare(base, {"faster": sv.shorten("exchange", 100), "overlap": rate})
    assert table.loc["all together", "completion"] == pytest.approx(300 + 455.7575757575758)


def test_both_slow_each_other_by_hand():
    """Work of 10 and 10 side by side at a half: exchange would end at 20, and compute too."""
    step = sv.Timeline(
        [
            {"phase": "b", "kind": "backward", "duration": 10},
            {"phase": "x", "kind": "exchange", "duration": 4},
        ]
    )
    both = step.apply(B.Contention(compute=0.5, exchange=0.8))
    assert both.phases["duration"].to_dict() == {"b": 12.5, "x": 5.0}


def by_small_steps(timeline: sv.Timeline, rates, dt: float) -> dict[str, float]:
    """Finishes, from integrating the rates with a fixed small step."""
    phases = timeline.phases
    kind, release = phases["kind"].to_dict(), phases["release"].to_dict()
    left = phases["duration"].to_dict()
    owners = {
        name: set(row["members"]) if row["members"] is not None else {row["rank"]}
        for name, row in phases.iterrows()
    }
    into = {name: [] for name in kind}
    for link in timeline.schedule().dependencies.itertuples():
        into[link.target].append((link.source, link.type, link.lag))
    started: dict[str, float] = {}
    finished: dict[str, float] = {}
    events = {"FS": finished, "SS": started}
    now = 0.0
    while len(finished) < len(kind):
        moved = True
        while moved:
            moved = False
            for name in kind:
                if name in started:
                    if name not in finished and left[name] <= dt / 2:
                        finished[name] = now
                        moved = True
                elif release[name] <= now + dt / 2 and all(
                    source in events[type_] and events[type_][source] + lag <= now + dt / 2
                    for source, type_, lag in into[name]
                ):
                    started[name] = now
                    moved = True
        running = [n for n in started if n not in finished]
        for name in running:
            beside = {kind[o] for o in running if o != name and owners[o] & owners[name]}
            rate = 1.0
            if kind[name] in COMPUTE and "exchange" in beside:
                rate = rates.compute
            if kind[name] == "exchange" and beside & set(COMPUTE):
                rate = rates.exchange
            left[name] -= rate * dt
        now += dt
    return finished


@st.composite
def contended(draw):
    """Steps whose times are multiples of the step, so that only rates are approximated."""
    n = draw(st.integers(2, 7))
    phases = []
    for i in range(n):
        group = draw(st.integers(0, 2)) == 0
        phases.append(
            {
                "phase": f"p{i}",
                "kind": "exchange" if group else draw(
                    st.sampled_from(("forward", "backward", "exchange", "optimizer"))
                ),
                "rank": None if group else draw(st.integers(0, 1)),
                "members": (0, 1) if group else None,
                "duration": float(draw(st.integers(0, 6))),
                "release": float(draw(st.sampled_from((0, 0, 1, 3)))),
            }
        )  # fmt: skip
    pairs = [(i, j) for j in range(n) for i in range(j)]
    chosen = draw(st.lists(st.sampled_from(pairs), max_size=n, unique=True))
    links = [
        (f"p{i}", f"p{j}", draw(st.sampled_from(("FS", "SS"))), float(draw(st.integers(0, 2))))
        for i, j in chosen
    ]
    rates = B.Contention(
        compute=draw(st.sampled_from((0.5, 0.75, 1.0))),
        exchange=draw(st.sampled_from((0.5, 0.8, 1.0))),
    )
    return sv.Timeline(phases, links), rates


def random_contended(rng: np.random.Generator):
    n = int(rng.integers(3, 8))
    phases = []
    for i in range(n):
        group = rng.random() < 0.3
        kind = "exchange" if group else str(rng.choice(["forward", "backward", "exchange", "host"]))
        phases.append(
            {
                "phase": f"p{i}",
                "kind": kind,
                "rank": None if group else int(rng.integers(0, 2)),
                "members": (0, 1) if group else None,
                "duration": float(rng.uniform(0.5, 5)),
            }
        )
    links = [
        (f"p{i}", f"p{j}", str(rng.choice(["FS", "SS"])), float(rng.choice([0, 0.5])))
        for j in range(n)
        for i in range(j)
        if rng.random() < 0.25
    ]
    rates = B.Contention(compute=float(rng.uniform(0.4, 1)), exchange=float(rng.uniform(0.4, 1)))
    return sv.Timeline(phases, links), rates


def test_small_step_integration_agrees():
    rng = np.random.default_rng(5)
    dt = 0.005
    for _ in range(20):
        timeline, rates = random_contended(rng)
        ours = timeline.apply(rates).schedule().table["finish"].to_dict()
        for name, finish in by_small_steps(timeline, rates, dt).items():
            assert ours[name] == pytest.approx(finish, abs=dt * 4 * len(timeline))


@given(contended())
def test_contention_never_helps_and_is_bounded_by_the_slowest_rate(drawn):
    timeline, rates = drawn
    slow = timeline.apply(rates)
    lasts, work = slow.phases["duration"], timeline.phases["duration"]
    assert (lasts >= work - 1e-9).all()
    assert (lasts <= work / min(rates.compute, rates.exchange) + 1e-9).all()
    other = ~timeline.phases["kind"].isin((*COMPUTE, "exchange"))
    assert (lasts[other] == work[other]).all()
    assert timeline.apply(B.Contention()) == timeline


@given(contended())
def test_what_is_lifted_comes_back(drawn):
    """The work that a measured step did, contended again, is the measured step."""
    timeline, rates = drawn
    measured = timeline.apply(rates)
    lifted = measured.apply(rates.lifted())
    assert lifted.phases["duration"].tolist() == pytest.approx(
        timeline.phases["duration"].tolist(), abs=1e-9
    )
    again = lifted.apply(rates).phases["duration"].tolist()
    assert again == pytest.approx(measured.phases["duration"].tolist(), abs=1e-9)


def test_what_needs_the_future_is_refused():
    with pytest.raises(sv.ChangeError, match=r"'backward' → 'exchange' \(FF, lag 50 ms\)"):
        sv.lesson("ss-ff").apply(B.Contention(compute=0.5))
    for bad in (0, -1, 1.5, "x", float("nan")):
        with pytest.raises(sv.ChangeError, match="compute is"):
            B.Contention(compute=bad)


def device_work(rate: float, *, ranks: int = 2) -> pd.DataFrame:
    """Three kernels again and again; exchange runs beside every second round."""
    rows, lasts = [], {"gemm": 1000, "softmax": 300, "norm": 120}
    for rank in range(ranks):
        now = 10**15
        for turn in range(6):
            beside = turn % 2 == 1
            began = now
            for name, ns in lasts.items():
                took = round(ns / rate) if beside else ns
                rows.append((rank, name, "backward", now, now + took))
                now += took
            if beside:
                rows.append((rank, "nccl", "exchange", began, now))
            rows.append((rank, "adam", "optimizer", now, now + 50))
            now += 500
    return pd.DataFrame(rows, columns=["rank", "name", "kind", "start_ns", "finish_ns"])


@pytest.mark.parametrize("rate", [0.5, 0.8, 1.0])
def test_the_rate_of_planted_kernels_is_found(rate):
    fit = B.fit_contention(device_work(rate))
    assert fit.contention.compute == pytest.approx(rate, abs=1e-3)
    assert fit.kernels.index[0] == "gemm"
    assert fit.kernels.loc["gemm", ["alone", "beside", "alone_ns"]].tolist() == [6, 6, 1000]
    assert fit.share == 1
    assert fit.kernels["slowdown"].round(2).tolist() == pytest.approx([1 / rate] * 3, abs=0.01)


def test_a_kernel_partly_beside_exchange_counts_its_part():
    """1,000 ns alone; 400 alone and 1,200 beside at a half do the same work."""
    work = pd.DataFrame(
        [
            ("k", "backward", 0, 1000),
            ("k", "backward", 5000, 6600),
            ("x", "exchange", 5400, 9000),
        ],
        columns=["name", "kind", "start_ns", "finish_ns"],
    )
    assert B.fit_contention(work).contention.compute == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("others", "said"),
    [
        (0, "100% of compute, most of it"),
        (3, "25% of compute: the rest is taken to slow down as they do"),
        (30, "3% of compute, little of it: a guess for the rest"),
    ],
)
def test_a_fit_says_how_much_of_compute_it_rests_on(others, said):
    """1,000 ns each, at rates of 0.4 to 1; others run only alone, as long in all as so many."""
    rows = []
    for k, rate in enumerate([0.4, 0.5, 0.5, 0.5, 1.0]):
        beside = 10_000 * k + 5000
        rows += [
            (f"k{k}", "backward", 10_000 * k, 10_000 * k + 1000),
            (f"k{k}", "backward", beside, beside + round(1000 / rate)),
            ("x", "exchange", beside, beside + round(1000 / rate)),
        ]
    ran = sum(stop - start for _, kind, start, stop in rows if kind == "backward")
    rows.append(("alone", "backward", 10**6, 10**6 + others * ran))
    fit = B.fit_contention(pd.DataFrame(rows, columns=["name", "kind", "start_ns", "finish_ns"]))
    assert fit.share == pytest.approx(1 / (1 + others))
    assert said in fit.trust
    assert (fit.contention.compute, fit.low, fit.high) == (0.5, 0.4, 1.0)
    for shown in (repr(fit), fit._repr_html_()):
        assert "0.5 of its speed beside exchange (kernels at 0.4 to 1); told by" in shown
        assert fit.trust in shown


def test_bad_work_says_what_is_missing():
    with pytest.raises(sv.CostError, match="'finish_ns'"):
        B.fit_contention(pd.DataFrame({"name": ["a"]}))
    alone = device_work(0.5)
    with pytest.raises(sv.CostError, match="none of 3 kernels"):
        B.fit_contention(alone[alone["kind"] != "exchange"])
