"""Rates: one numerator over an interval that holds exactly its work; all else is refused."""

from __future__ import annotations

import pickle
import statistics

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stepviz as sv

SIZES = st.integers(1, 64)
TIMES = st.floats(0.01, 100)


def update(microbatches=8, **more):
    return sv.TokenCounts(allocated=131_072, scope="update", microbatches=microbatches, **more)


def test_the_lesson_fixture():
    padded = sv.TokenCounts(allocated=8, scored=2, scope="update", seconds=0.004)
    packed = sv.TokenCounts(allocated=6, scored=2, scope="update", seconds=0.003)
    assert padded.rate("allocated").value == packed.rate("allocated").value == 2000
    assert padded.rate("scored").value == 500
    assert packed.rate("scored").value == pytest.approx(2000 / 3)
    assert (padded.ms_per_update, packed.ms_per_update) == (4, 3)


def test_the_eightfold_trap():
    with pytest.raises(sv.ThroughputError, match="8 times too high") as refused:
        update().timed(0.5, "microbatch")
    assert refused.value.factor == 8


@given(SIZES, SIZES, st.floats(0.01, 10))
def test_the_factor_is_what_the_rate_would_be_wrong_by(accumulation, updates, seconds):
    # all microbatches take as long: the right rate is the same at every scope
    one = sv.TokenCounts(allocated=100)
    of = {
        "microbatch": one,
        "update": sv.TokenCounts.over_time([one] * accumulation, "update"),
        "run": sv.TokenCounts(
            allocated=100 * accumulation * updates,
            scope="run",
            updates=updates,
            microbatches=accumulation * updates,
        ),
    }
    sizes = {"microbatch": 1, "update": accumulation, "run": accumulation * updates}
    right = 100 / seconds
    for counted, counts in of.items():
        for timed, size in sizes.items():
            wrong = counts.allocated / (seconds * size)
            if sizes[counted] == size:
                assert counts.timed(
                    seconds * size, timed, accumulation=accumulation, updates=updates
                ).rate("allocated").value == pytest.approx(right)
                continue
            with pytest.raises(sv.ThroughputError) as refused:
                counts.timed(seconds, timed, accumulation=accumulation, updates=updates)
            assert refused.value.factor == pytest.approx(wrong / right)


def test_an_unknown_factor_is_said_to_be_one():
    with pytest.raises(sv.ThroughputError, match="by the number of microbatches") as refused:
        update(None).timed(0.5, "microbatch")
    assert refused.value.factor is None
    with pytest.raises(sv.ThroughputError, match="4 times too high"):
        update(None).timed(0.5, "microbatch", accumulation=4)
    with pytest.raises(sv.ThroughputError, match="number of updates in the run"):
        update().timed(100, "run")


# xtuner #977: two steps of 4096 tokens in 1.0 and 1.5 s
STEPS = [sv.TokenCounts(allocated=4096, scope="update", seconds=s) for s in (1.0, 1.5)]


def test_the_rate_of_a_sum_is_the_ratio_of_sums():
    assert round(sum(STEPS).rate("allocated").value, 1) == 3276.8
    assert sum(STEPS).updates == 2
    assert sum(STEPS).scope == "run"
    overall = sv.Rate.overall([counts.rate("allocated") for counts in STEPS])
    assert round(overall.value, 1) == 3276.8


@pytest.mark.parametrize("mean", [sum, np.mean, np.sum])
def test_rates_are_not_averaged(mean):
    rates = [counts.rate("allocated") for counts in STEPS]
    with pytest.raises(sv.ThroughputError, match="rates do not add"):
        mean(rates)
    for other in (statistics.mean, statistics.fmean, lambda rates: pd.Series(rates).mean()):
        with pytest.raises(TypeError):
            other(rates)


def test_the_refusal_tells_the_right_rate_and_the_factor():
    first, second = (counts.rate("allocated") for counts in STEPS)
    with pytest.raises(sv.ThroughputError, match=r"3,276.8 .* would be 3,413.3") as refused:
        _ = first + second
    assert round(refused.value.factor, 4) == 1.0417


@given(st.lists(st.tuples(SIZES, TIMES), min_size=1, max_size=8))
def test_overall_rate_lies_between_the_slowest_and_the_fastest(steps):
    rates = [sv.Rate(count, seconds, "scored", "update") for count, seconds in steps]
    overall = sv.Rate.overall(rates).value
    each = [rate.value for rate in rates]
    assert min(each) * (1 - 1e-12) <= overall <= max(each) * (1 + 1e-12)


def test_rates_of_one_thing_compare():
    slow, fast = sv.Rate(500, 1, "scored", "update"), sv.Rate(2000, 3, "scored", "update")
    assert slow < fast
    assert fast > slow
    assert fast / slow == pytest.approx(4 / 3)
    other = sv.Rate(1, 1, "allocated", "update")
    for refuse in (lambda: slow < other, lambda: slow / other, lambda: slow + other):
        with pytest.raises(sv.ThroughputError, match="different things"):
            refuse()


def test_ranks_add_up_and_take_the_slowest_time():
    ranks = [
        sv.TokenCounts(allocated=100, scored=s, scope="update", seconds=t)
        for s, t in ((60, 1.0), (90, 1.25))
    ]
    job = sv.TokenCounts.over_ranks(ranks)
    assert (job.allocated, job.scored, job.updates, job.seconds) == (200, 150, 1, 1.25)
    assert job.rate("scored").value == 120
    assert job.rate("scored").per_device(2).value == 60


def test_counts_of_several_scopes_do_not_add():
    with pytest.raises(sv.ThroughputError, match="different scopes"):
        _ = sv.TokenCounts(allocated=1) + update()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"allocated": -1}, "allocated is -1"),
        ({"allocated": 1.5}, "whole number"),
        ({"allocated": 8, "scored": 9}, "9 scored of 8 allocated"),
        ({"allocated": 8, "scope": "updates"}, "did you mean 'update'"),
        ({"allocated": 8, "scope": "update", "updates": 3}, "use scope='run'"),
        ({"allocated": 8, "seconds": 0}, "seconds is 0"),
        ({"real": 6, "sequences": 2, "squared_lengths": 17}, "at least 18, all of them equally"),
        ({"real": 6, "squared_lengths": 37}, "at most 36, in one sequence"),
        ({"real": 6, "squared_lengths": 5}, "real positions make at least 6"),
        ({"allocated": 6, "squared_lengths": 37}, "6 allocated positions make at most 36"),
    ],
)
def test_counts_that_contradict_themselves_are_refused(fields, message):
    with pytest.raises(sv.ThroughputError, match=message):
        sv.TokenCounts(**fields)


def sums_of_squares(positions, sequences):
    """Every Σ L² of so many positions in so many sequences, empty ones among them."""
    if sequences == 1:
        return {positions**2}
    return {
        first**2 + rest
        for first in range(positions + 1)
        for rest in sums_of_squares(positions - first, sequences - 1)
    }


@pytest.mark.parametrize("positions", range(8))
@pytest.mark.parametrize("sequences", [1, 2, 3, 4])
def test_squares_are_accepted_from_the_least_to_the_most_there_are(positions, sequences):
    possible = sums_of_squares(positions, sequences)
    accepted = []
    for squared in range(positions**2 + 3):
        try:
            sv.TokenCounts(real=positions, sequences=sequences, squared_lengths=squared)
        except sv.ThroughputError:
            continue
        accepted.append(squared)
    assert (accepted[0], accepted[-1]) == (min(possible), positions**2)
    assert possible <= set(accepted)


def test_rates_of_several_scopes_have_no_overall_rate():
    rates = [sv.Rate(8, 1.0, "executed", scope) for scope in ("microbatch", "update")]
    with pytest.raises(sv.ThroughputError, match=r"different scopes \(microbatch, update\)"):
        sv.Rate.overall(rates)
    with pytest.raises(sv.ThroughputError, match="lie inside one another"):
        _ = rates[0] + rates[1]


def test_what_is_not_known_is_said():
    counts = sv.TokenCounts(allocated=8, scope="update")
    with pytest.raises(sv.ThroughputError, match="was not timed"):
        counts.rate("allocated")
    with pytest.raises(sv.ThroughputError, match="how many scored"):
        counts.timed(1).rate("scored")
    with pytest.raises(sv.ThroughputError, match="rate of 'tokens' is unknown"):
        counts.timed(1).rate("tokens")


def test_every_rate_shows_its_unit_and_what_it_counts():
    counts = sv.TokenCounts(allocated=8, real=6, scored=2, scope="update", seconds=0.004)
    table = counts.rates()
    assert table.loc["scored", "value"] == 500
    assert table.loc["scored", "unit"] == "targets/s"
    assert "after the shift" in table.loc["scored", "counts"]
    assert counts.padding_share == 0.25
    for shown in (counts._repr_html_(), counts.rate("scored")._repr_html_()):
        assert "targets/s" in shown


def test_a_quantity_keeps_its_unit_in_a_pickle():
    found = sv.flops_per_token(7e9, "6N_all")
    again = pickle.loads(pickle.dumps(found))  # noqa: S301  # our own bytes
    assert (again, again.unit, again.convention) == (4.2e10, "FLOP/token", "6N_all")
