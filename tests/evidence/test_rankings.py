"""Ranking changes: the lesson's tables, the curve of sensitivity, brute force over re-solves."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stepviz as sv
from tests.core.strategies import timelines


@pytest.mark.parametrize(
    ("model", "exchange", "backward", "both"),
    [("release", 725, 750, 725), ("ss-ff", 750, 750, 725), ("buckets", 746.43, 743.75, 721.43)],
)
def test_the_25_ms_table_under_all_three_models(model, exchange, backward, both):
    table = sv.rank_changes(sv.lesson(model), ms=25, by="kind")
    assert table["completion"].round(2)[
        ["exchange", "backward", "backward + exchange", "optimizer"]
    ].tolist() == [exchange, backward, both, 725]


def test_gains_do_not_add():
    """Exchange −100 alone 700, backward −100 alone 750, both 650: 100 > 50 + 0."""
    table = sv.rank_changes(sv.lesson(), ms=100)
    assert table.loc["exchange", ["gain", "takes_over_after", "gain_per_ms"]].tolist() == [
        50,
        50,
        1,
    ]
    assert table.loc["backward", ["gain", "takes_over_after", "gain_per_ms"]].tolist() == [0, 0, 0]
    assert table.loc["backward + exchange", ["gain", "extra", "of"]].tolist() == [100, 50, 2]
    assert table.loc["optimizer", "removed"] == 650
    assert math.isnan(table.loc["optimizer", "takes_over_after"])
    assert table.index[0] in ("forward", "optimizer")
    assert "input" not in table.index  # lasts no time


def test_what_is_feasible_comes_first_and_keeps_its_cost():
    table = sv.rank_changes(
        sv.lesson(),
        feasible={
            "exchange": (25, 2),
            "optimizer": {"ms": 50, "cost": 10},
            "backward": (100, "a week"),
        },
    )
    assert table.index.tolist() == [
        "optimizer", "exchange", "backward", "forward",
        "optimizer + exchange", "backward + optimizer", "backward + exchange",
    ]  # fmt: skip
    assert table["feasible"].tolist() == [True] * 3 + [False] + [True] * 3
    assert table.loc["optimizer + exchange", ["completion", "cost", "gain_per_cost"]].tolist() == [
        675, 12, 6.25
    ]  # fmt: skip
    assert table.loc["backward", "cost"] == "a week"
    assert table.loc["backward + exchange", "cost"] == "a week + 2"
    assert math.isnan(table.loc["backward", "gain_per_cost"])
    assert table.loc["forward", "cut"] == 200
    names = sv.rank_changes(sv.lesson(), feasible=["exchange", "backward"])
    assert names.loc["backward + exchange", "gain"] == 350  # both gone: forward and optimizer stay


def test_an_artefact_that_lengthens_is_shown():
    """Wiest: shortening A from 8 to 4 lengthens the project from 10 to 11."""
    wiest = sv.Timeline(
        [
            {"phase": "X", "duration": 10},
            {"phase": "A", "duration": 8},
            {"phase": "B", "duration": 5},
        ],
        [("X", "A", "FF", 0), ("A", "B", "SS", 0)],
    )
    table = sv.rank_changes(wiest, ms=4)
    assert table.loc["A", ["completion", "gain"]].tolist() == [11, -1]
    neutral = wiest.with_duration("A", 4)
    assert sv.rank_changes(neutral).loc["A", "gain_per_ms"] == -1


@given(timelines(targets=True), st.floats(0.5, 40))
def test_every_row_is_a_re_solve(timeline, ms):
    lasts = timeline.phases["duration"]
    if not lasts.any():
        return
    table = sv.rank_changes(timeline, ms=ms, pairs=3)
    close = {"rel": 1e-9, "abs": 1e-6}
    for name, row in table[table["of"] == 1].iterrows():
        cut = min(ms, lasts[name])
        shorter = timeline.with_duration(name, max(lasts[name] - cut, 0)).completion
        assert row["completion"] == pytest.approx(shorter, **close)
        assert row["removed"] == pytest.approx(timeline.with_duration(name, 0).completion, **close)
        over = row["takes_over_after"]
        if row["gain_per_ms"] == 1 and not math.isnan(over) and over > 1e-3:
            # Up to there every ms counts, and beyond it none or less.
            upto = timeline.with_duration(name, lasts[name] - over).completion
            assert timeline.completion - upto == pytest.approx(over, **close)
            half = timeline.with_duration(name, (lasts[name] - over) / 2).completion
            assert half >= timeline.completion - over - 1e-6
    for name, row in table[table["of"] == 2].iterrows():
        a, b = name.split(" + ")
        both = timeline
        for one in (a, b):
            both = both.with_duration(one, max(lasts[one] - min(ms, lasts[one]), 0))
        assert row["completion"] == pytest.approx(both.completion, **close)
        alone = table.loc[a, "gain"] + table.loc[b, "gain"]
        assert row["extra"] == pytest.approx(row["gain"] - alone, abs=1e-5)


@given(timelines(types=("FS", "SS"), targets=False))
def test_by_kind_slopes_and_corners(timeline):
    """The first ms gains `gain_per_ms`, and so does each until another path takes over."""
    if not timeline.phases["duration"].any():
        return
    table = sv.rank_changes(timeline, by="kind", pairs=0)
    for kind, row in table.iterrows():
        over, slope = row["takes_over_after"], row["gain_per_ms"]
        assert 0 <= slope <= 1 + 1e-6
        removed = timeline.apply(sv.remove(kind=kind)).completion
        assert row["removed"] == pytest.approx(removed, abs=1e-6)
        if slope > 1e-4:
            upto = row["duration"] if math.isnan(over) else over
            shorter = timeline.apply(sv.shorten(kind=kind, ms=upto)).completion
            slack = 1e-4 * max(1.0, timeline.completion)
            assert timeline.completion - shorter == pytest.approx(slope * upto, abs=slack)


def test_a_pair_has_a_slope_and_a_corner_of_its_own():
    table = sv.rank_changes(sv.lesson(), ms=25)
    of_pairs = table.loc[table["of"] == 2, ["gain_per_ms", "takes_over_after"]]
    # Half of each ms is exchange's; after 100 of them backward takes over.
    assert of_pairs.loc["optimizer + exchange"].tolist() == pytest.approx([1, 100])
    assert of_pairs.loc["forward + exchange"].tolist() == pytest.approx([1, 100])
    # Both shrink alike, so exchange stays the longer one, and half of each ms counts.
    assert of_pairs.loc["backward + exchange", "gain_per_ms"] == 0.5
    assert math.isnan(of_pairs.loc["backward + exchange", "takes_over_after"])
    # 100 of exchange with 50 of optimizer: a third of each ms is the optimizer's.
    marked = sv.rank_changes(sv.lesson(), feasible={"exchange": 100, "optimizer": 50})
    pair = marked.loc["optimizer + exchange"]
    assert (pair["gain_per_ms"], pair["takes_over_after"]) == (1, pytest.approx(75))


@given(timelines(types=("FS", "SS"), targets=False), st.floats(0.5, 40))
def test_a_pairs_slope_holds_up_to_its_corner_and_not_beyond(timeline, ms):
    lasts = timeline.phases["duration"]
    if not lasts.any():
        return
    table = sv.rank_changes(timeline, ms=ms, pairs=3)
    slack = 1e-4 * max(1.0, timeline.completion)

    def after(names, cuts, total):
        shorter = timeline
        for one, cut in zip(names, cuts, strict=True):
            left = lasts[one] - total * cut / sum(cuts)
            shorter = shorter.with_duration(one, max(left, 0.0))
        return shorter.completion

    for name, row in table[table["of"] == 2].iterrows():
        names = name.split(" + ")
        cuts = [min(ms, lasts[one]) for one in names]
        slope, over = row["gain_per_ms"], row["takes_over_after"]
        assert 0 <= slope <= 1 + 1e-6
        if slope <= 1e-4:
            continue
        most = min(lasts[one] * sum(cuts) / cut for one, cut in zip(names, cuts, strict=True))
        upto = most if math.isnan(over) else over
        gained = timeline.completion - after(names, cuts, upto)
        assert gained == pytest.approx(slope * upto, abs=slack)
        if upto < most - 1e-3:
            gained = timeline.completion - after(names, cuts, most)
            assert gained < slope * most + slack


def test_a_large_timeline_is_ranked_at_once():
    step = sv.builders.pipeline("1f1b", 8, 64, forward=1, backward=2)
    table = sv.rank_changes(step, pairs=4)
    assert len(table) == len(step) + 6
    assert table["gain"].max() == 4
    drag = step.schedule().table["drag"]
    alone = table[table["of"] == 1]
    assert np.allclose(alone["gain"], drag[alone.index])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"ms": -1}, "ms is -1"),
        ({"by": "rank"}, "by is 'rank'"),
        ({"pairs": -1}, "pairs"),
        ({"feasible": {"exchnge": 1}}, "did you mean 'exchange'"),
        ({"feasible": {"exchange": 400}}, "lasts 350 ms"),
        ({"feasible": {"exchange": "soon"}}, r"feasible\['exchange'\]"),
        ({"feasible": {"exchange": (1, 2, 3)}}, "give ms, or"),
        ({"feasible": {"exchange": {"days": 2}}}, "'ms' and 'cost'"),
        ({"feasible": 5}, "feasible is 5"),
    ],
)
def test_bad_input_names_the_argument(options, said):
    with pytest.raises(sv.ChangeError, match=said):
        sv.rank_changes(sv.lesson(), **options)


def test_what_is_no_timeline_or_has_no_work_is_said():
    with pytest.raises(sv.ChangeError, match="give a Timeline"):
        sv.rank_changes("lesson")
    with pytest.raises(sv.ChangeError, match="nothing to shorten"):
        sv.rank_changes(sv.Timeline([{"phase": "a", "duration": 0}]))
