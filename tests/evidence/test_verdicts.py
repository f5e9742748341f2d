"""Verdicts on runs whose truth is known."""

from __future__ import annotations

import zlib

import numpy as np
import pytest
from planted import TOKENS, planted_run, recorded

import stepviz as sv
from stepviz.evidence.intervals import block_length, difference, t_quantile


@pytest.fixture
def made(tmp_path):
    def make(name, steps=12, **parts):
        return planted_run(tmp_path / name, steps, seed=zlib.crc32(name.encode()), **parts)

    return make


def times(mean, count=24, noise=0.02, seed=0):
    random = np.random.default_rng(seed)
    return mean * np.exp(noise * random.normal(size=count))


def test_a_step_that_is_truly_shorter_is_kept(made):
    found = sv.verdict(made("a"), made("b", tail=10.0))
    assert found.decision == "keep"
    row = found.table.loc["step time"]
    assert row["before"] == pytest.approx(160, rel=0.02)
    assert row["after"] == pytest.approx(140, rel=0.02)
    assert row["low"] < 140 / 160 < row["high"] < 1
    assert found.table.loc["exposed exchange", "change"] == pytest.approx(-20, abs=1)
    assert found.trap == ""


def test_the_trap_is_named_when_the_tail_falls_and_the_step_grows(made):
    # The tail falls by 25 ms, and backward, which it now contends with, takes 50 ms more.
    found = sv.verdict(made("a"), made("b", tail=5.0, backward=130.0))
    assert found.decision == "revert"
    assert found.trap.startswith("the tail fell by 2")
    assert "the step grew by 2" in found.trap
    assert "although the tail fell" in found.reason
    assert found.table.loc["same backward operators", "ratio"] == pytest.approx(130 / 80, rel=0.02)
    assert found.table.loc["same forward operators", "ratio"] == pytest.approx(1, rel=0.02)


def test_no_difference_can_not_be_told(made):
    found = sv.verdict(made("a"), made("b"))
    assert found.decision == "can't tell"
    assert found.interval.low < 1 < found.interval.high or abs(found.interval.ratio - 1) < 0.01


def test_few_steps_decide_only_what_is_beyond_doubt(made):
    little = sv.verdict(made("a", 3), made("b", 3, tail=25.0))
    assert little.decision == "can't tell"
    assert "beyond doubt" in little.reason
    assert sv.verdict(made("c", 3), made("d", 3, tail=90.0)).decision == "revert"
    assert sv.verdict(made("e", 1), made("f", 1, tail=90.0)).decision == "can't tell"


def test_odd_steps_count_little(made):
    found = sv.verdict(made("a", odd=(5,)), made("b", tail=10.0, odd=(9,)))
    assert found.decision == "keep"
    assert any("odd steps 5" in note for note in found.notes)
    # One side only: the mean says the opposite of the typical step.
    found = sv.verdict(made("c"), made("d", tail=20.0, odd=(9,)))
    assert found.decision == "can't tell"
    assert "odd ones" in found.reason


def test_a_slower_machine_is_not_the_change(made):
    found = sv.verdict(made("a"), made("b", drift=1.2))
    assert found.decision == "can't tell"
    assert "slower machine" in found.reason
    # No gate is passed by what another speed of the machine explains, however wide.
    assert found.confounded
    assert not found.passes(50)


def test_steps_without_profiler_come_first(made):
    # The traced steps say the opposite, and do not count.
    before = made("a", record=recorded(times(150)), tail=10.0)
    after = made("b", record=recorded(times(140, seed=1)), tail=30.0)
    found = sv.verdict(before, after)
    assert found.decision == "keep"
    assert found.table.loc["step time", "before"] == pytest.approx(150, rel=0.02)
    assert any("without profiler" in note for note in found.notes)


def test_other_useful_work_is_refused_unless_the_convention_is_named(made):
    before = made("a", record=recorded(times(160), tokens=TOKENS))
    after = made("b", record=recorded(times(120, seed=1), tokens=TOKENS | {"scored": 512}))
    with pytest.raises(sv.ThroughputError, match="2,048 → 1,024 scored") as caught:
        sv.verdict(before, after)
    assert caught.value.factor == 2
    scored = sv.verdict(before, after, convention="scored")
    # Half the targets in three quarters of the time: one and a half times as long for each.
    assert scored.decision == "revert"
    assert scored.interval.ratio == pytest.approx(2 * 120 / 160, rel=0.03)
    rate = scored.table.loc["useful work per second (scored)"]
    assert rate["before"] == pytest.approx(2048 / 0.160, rel=0.02)
    assert sv.verdict(before, after, convention="executed").decision == "keep"
    assert sv.verdict(before, after, convention="updates").decision == "keep"
    with pytest.raises(sv.ThroughputError, match="did you mean 'scored'"):
        sv.verdict(before, after, convention="scorde")
    with pytest.raises(sv.ThroughputError, match="how many real"):
        sv.verdict(before, after, convention="real")


def test_without_counts_the_structure_must_agree(made):
    with pytest.raises(sv.ThroughputError, match="1 forward passes in an update and b 2"):
        sv.verdict(made("a", tokens=None), made("b", passes=2, tokens=None))
    with pytest.raises(sv.ThroughputError, match="2 ranks and c 1"):
        sv.verdict(made("a", tokens=None), made("c", ranks=1, tokens=None))


def test_several_runs_a_side_know_the_noise_between_runs(made):
    # Runs of one configuration differ by 10 %; each alone would be certain.
    speeds = [1.0, 1.1, 0.95, 1.05]
    before = [made(f"a{k}", forward=40 * s, begin=2000 * k * 2) for k, s in enumerate(speeds)]
    after = [
        made(f"b{k}", forward=40 * s, begin=2000 * (2 * k + 1))
        for k, s in enumerate([1.1, 1.0, 1.05, 0.95])
    ]
    found = sv.verdict(before, after)
    assert found.decision == "can't tell"
    assert "pairs of runs that took turns" in found.interval.how
    shorter = [made(f"c{k}", tail=5.0, begin=2000 * (2 * k + 1)) for k in range(4)]
    assert sv.verdict(before, shorter).decision == "keep"


def test_what_is_no_run_is_said(made):
    with pytest.raises(sv.TraceError, match="before is str"):
        sv.verdict("here", made("a"))


@pytest.mark.parametrize("kind", ["independent", "outliers", "autocorrelated", "two lengths"])
@pytest.mark.parametrize("count", [8, 30])
def test_the_false_positive_rate_holds(kind, count):
    def series(random):
        noise = random.normal(size=count)
        if kind == "outliers":
            noise += (random.random(count) < 0.1) * 15
        if kind == "autocorrelated":
            for k in range(1, count):
                noise[k] = 0.3 * noise[k - 1] + np.sqrt(1 - 0.09) * noise[k]
        if kind == "two lengths":
            noise = 0.1 * noise + 5 * (random.random(count) < 0.3)
        return 100 * np.exp(0.05 * noise)

    seeds = 300
    wrong = 0
    for seed in range(seeds):
        random = np.random.default_rng(seed)
        wrong += difference([series(random)], [series(random)]).decided
    # 5 % nominal; two and a half deviations of the count above.
    assert wrong <= 0.05 * seeds + 2.5 * np.sqrt(0.05 * 0.95 * seeds)


def test_a_run_that_drifts_by_as_much_explains_the_difference(made):
    """One gets slower over its steps, the other faster: the same machine, two moods."""
    ramp = np.linspace(0, 0.1, 24)

    noise = np.exp(0.005 * np.random.default_rng(0).normal(size=(2, 24)))
    up, down = 100 * np.exp(ramp) * noise[0], 100 * np.exp(-ramp) * noise[1]
    found = sv.verdict(made("a", record=recorded(up)), made("b", record=recorded(down)))
    assert found.interval.decided
    assert found.decision == "can't tell"
    assert "within one run it drifted" in found.reason
    level = sv.verdict(
        made("c", record=recorded(100 * noise[0])), made("d", record=recorded(90 * noise[1]))
    )
    assert level.decision == "keep"


def test_an_effect_of_two_deviations_is_found():
    found = 0
    for seed in range(40):
        random = np.random.default_rng(seed)
        before, after = 100 * np.exp(0.05 * random.normal(size=(2, 30)))
        found += difference([before], [0.9 * after]).decided
    assert found >= 38


def test_blocks_are_as_long_as_neighbours_are_alike():
    random = np.random.default_rng(0)
    assert block_length(random.normal(size=100)) <= 6
    assert block_length(np.repeat(random.normal(size=20), 10)) >= 10
    assert block_length(np.ones(30)) == 3


def test_students_t():
    scipy = pytest.importorskip("scipy.stats")
    for level in (0.95, 0.99):
        # Welch's degrees of freedom are no whole numbers; few runs a side have 1 to 3.
        for df in (*np.linspace(1, 4, 61), 7, 12, 22.5, 80):
            exact = scipy.t.ppf(1 - (1 - level) / 2, df)
            assert t_quantile(df, level) == pytest.approx(exact, rel=0.01)
