"""Changes as values, and comparing them. Right values: the lesson's tables."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import stepviz as sv
from stepviz import ChangeError

MODELS = {model: sv.lesson(model) for model in ("release", "ss-ff", "buckets")}


@pytest.mark.parametrize(
    ("change", "release", "ss_ff", "buckets"),
    [
        (sv.shorten(kind="exchange", ms=25), 725, 750, 746.43),
        (sv.shorten(kind="backward", ms=25), 750, 750, 743.75),
        (
            sv.together(sv.shorten(kind="exchange", ms=25), sv.shorten(kind="backward", ms=25)),
            725,
            725,
            721.43,
        ),
        (sv.shorten("optimizer", 25), 725, 725, 725),
        (sv.shrink_tail(25), 725, 725, 725),
        (sv.delay_input(80), 830, 830, 830),
    ],
)
def test_the_same_cut_under_three_models(
    change: sv.Change, release: float, ss_ff: float, buckets: float
) -> None:
    found = [MODELS[m].apply(change).completion for m in MODELS]
    assert found[:2] == [release, ss_ff]
    assert found[2] == pytest.approx(buckets, abs=5e-3)  # the table has two decimals


@pytest.mark.parametrize(
    ("cut", "backward", "exchange", "both"),
    [
        (10, 747.5, 748.57, 738.57),
        (25, 743.75, 746.43, 721.43),
        (50, 737.5, 742.86, 692.86),
        (100, 725, 735.71, 635.71),
    ],
)
def test_bucket_model_table(cut: float, backward: float, exchange: float, both: float) -> None:
    step = sv.lesson("buckets")
    b, e = sv.shorten(kind="backward", ms=cut), sv.shorten(kind="exchange", ms=cut)
    found = sv.compare(step, {"backward": b, "exchange": e})["completion"]
    assert found.tolist() == pytest.approx([backward, exchange, both], abs=5e-3)


def test_last_bucket_only() -> None:
    assert sv.lesson("buckets").apply(sv.shorten("exchange 7", 25)).completion == 725


def test_gains_do_not_add_up() -> None:
    table = sv.compare(
        sv.lesson(),
        {"exchange": sv.shorten("exchange", 100), "backward": sv.shorten("backward", 100)},
    )
    assert table["gain"].tolist() == [50.0, 0.0, 100.0]
    assert table.index.tolist() == ["exchange", "backward", "all together"]
    assert table["completion"].tolist() == [700.0, 750.0, 650.0]
    assert table.loc["all together", "speedup"] == 750 / 650
    assert table.loc["exchange", "did"] == "shortened exchange by 100 ms"


def test_lesson_exercises() -> None:
    table = sv.compare(
        sv.lesson(), {"tail": sv.shrink_tail(25), "optimizer": sv.scale("optimizer", 0.5)}
    )
    assert table.loc["tail", "completion"] == 725.0
    assert table.loc["tail", "speedup"] == pytest.approx(1.034, abs=5e-4)
    assert table.loc["optimizer", "completion"] == 700.0
    assert table.loc["optimizer", "speedup"] == pytest.approx(1.071, abs=5e-4)


def test_exchange_and_optimizer_together() -> None:
    both = sv.together(sv.shorten("exchange", 25), sv.shorten("optimizer", 50))
    assert sv.lesson().apply(both).completion == 675


def test_compare_over_several_timelines() -> None:
    changes = {"last bucket": sv.shorten("exchange 7", 25), "tail": sv.shrink_tail(25)}
    with pytest.raises(ChangeError, match=r"last bucket: there is no phase 'exchange 7'"):
        sv.compare(MODELS, changes)
    table = sv.compare(MODELS, changes, missing="nan")
    assert table.index.names == ["timeline", "change"]
    assert table.loc[("buckets", "last bucket"), "completion"] == 725.0
    assert table["completion"].isna().tolist() == [True, False, False] * 2 + [False] * 3
    assert "without last bucket" in table.loc[("release", "all together"), "did"]


def test_changes_that_exclude_each_other_are_said_so() -> None:
    table = sv.compare(
        sv.lesson(), {"a": sv.shorten("optimizer", 80), "b": sv.shorten("optimizer", 70)}
    )
    assert table["completion"].isna().tolist() == [False, False, True]
    assert "exclude each other" in table.loc["all together", "did"]


def test_shrink_tail_moves_what_holds_it() -> None:
    """In SS+FF the lag and the duration move together; a shorter exchange alone gains nothing."""
    step = sv.lesson("ss-ff")
    assert step.apply(sv.shorten("exchange", 25)).completion == 750
    shrunk = step.apply(sv.shrink_tail(25))
    assert shrunk.completion == 725
    assert shrunk.phases.loc["exchange", "duration"] == 325
    assert shrunk.dependencies.query("type == 'FF'")["lag"].tolist() == [25.0]
    outcome = sv.shrink_tail(25).on(step)
    assert outcome.did == "exchange 25 ms shorter with the lag that holds its finish"
    assert step.apply(sv.shrink_tail(50)).schedule().exposed("exchange").tolist() == [0.0]


def test_shrink_tail_takes_the_last_buckets_first() -> None:
    """Four 60 ms buckets, ready at 100, 200, 300, 300: a tail of 120 ms is two buckets long."""
    backward = [("b1", "backward"), ("b2", "backward"), ("b3", "backward")]
    exchange = [("e1", "exchange"), ("e2", "exchange"), ("e3", "exchange"), ("e4", "exchange")]
    phases = [
        {"phase": name, "kind": kind, "lane": kind, "duration": 100 if kind == "backward" else 60}
        for name, kind in [*backward, *exchange]
    ]
    step = sv.Timeline(phases, [("b1", "e1"), ("b2", "e2"), ("b3", "e3"), ("b3", "e4")])
    assert step.completion == 420
    shrunk = step.apply(sv.shrink_tail(90))
    assert shrunk.completion == 330
    assert shrunk.phases["duration"].tolist()[3:] == [60.0, 60.0, 30.0, 0.0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda: sv.shorten("exchnge", 25), ["'exchnge'", "'exchange'"]),
        (lambda: sv.scale(kind="recompute", factor=2), ["'recompute'"]),
        (lambda: sv.scale(rank=3, factor=2), ["rank 3"]),
        (lambda: sv.shorten("optimizer", 200), ["200", "100 ms"]),
        (lambda: sv.shrink_tail(60), ["60", "50 ms"]),
        (lambda: sv.set_lag("forward", "optimizer", 1), ["no dependency"]),
        (lambda: sv.set_release("optimiser", 1), ["'optimizer'"]),
    ],
)
def test_a_change_that_cannot_be_made_says_why(change: object, words: list[str]) -> None:
    with pytest.raises(sv.StepvizError) as error:
        sv.lesson().apply(change())  # type: ignore[operator]  # a lambda per case
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize(
    "make",
    [
        lambda: sv.shorten("a"),
        lambda: sv.shorten("a", float("nan")),
        lambda: sv.scale("a", -1),
        lambda: sv.scale(factor=2),
        lambda: sv.scale("a", 2, kind="input"),
        lambda: sv.scale(kind="imput", factor=2),
        lambda: sv.delay_input("80"),
        lambda: sv.compare(sv.lesson(), {}),
        lambda: sv.compare(sv.lesson(), {"x": 3}),
        lambda: sv.compare(sv.lesson(), {"x": sv.remove("forward")}, missing="skip"),
        lambda: sv.compare(sv.lesson(), {"all together": sv.remove("forward")}),
        lambda: sv.compare({}, {"x": sv.remove("forward")}),
        lambda: sv.compare([sv.lesson()], {"x": sv.remove("forward")}),
        lambda: sv.compare({"q": 5}, {"x": sv.remove("forward")}),
        lambda: sv.shorten(25),
        lambda: sv.scale(5, 2),
        lambda: sv.scale(kind=5, factor=2),
        lambda: sv.scale([["a"]], 2),
        lambda: sv.scale(rank=[0], factor=2),
        lambda: sv.scale(rank="0", factor=2),
        lambda: sv.shorten("a", 10**400),
        lambda: sv.shorten("a", np.complex128(1 + 2j)),
        lambda: sv.shorten("a", np.timedelta64(1, "s")),
        lambda: sv.set_release(["a"], 1),
        lambda: sv.set_lag("a", None, 1),
        lambda: sv.together(5),
    ],
)
def test_a_change_without_meaning_is_refused_when_made(make: object) -> None:
    with pytest.raises(ChangeError):
        make()  # type: ignore[operator]  # a lambda per case


def test_remaining_changes() -> None:
    step = sv.lesson()
    assert step.apply(sv.remove("exchange")).completion == 700
    assert step.apply(sv.set_duration("optimizer", 0)).completion == 650
    assert step.apply(sv.set_release("backward", 300)).completion == 800
    assert step.apply(sv.set_lag("forward", "exchange", 0)).completion == 700
    assert step.apply(sv.shorten("optimizer", -10)).completion == 760
    two = step.apply(sv.shorten(["forward", "optimizer"], 30))
    assert two.phases.loc[["forward", "optimizer"], "duration"].tolist() == [180.0, 90.0]


def test_delay_input_moves_the_first_input_of_each_rank() -> None:
    step = sv.Timeline(
        [
            {"phase": f"{what}{rank}", "kind": kind, "rank": rank, "duration": 10}
            for rank in (0, 1)
            for what, kind in (("load", "input"), ("copy", "input"), ("f", "forward"))
        ],
        [(f"{a}{r}", f"{b}{r}") for r in (0, 1) for a, b in (("load", "copy"), ("copy", "f"))],
    )
    assert step.apply(sv.delay_input(80)).completion == 110
    later = step.apply(sv.delay_input(5, rank=1))
    assert later.phases["release"].tolist() == [0, 0, 0, 5, 0, 0]


def test_names_may_come_in_any_list_and_numbers_of_any_real_type() -> None:
    step = sv.lesson()
    for names in (step.phases.index[3:4], np.array(["optimizer"]), ("optimizer",), {"optimizer"}):
        assert step.apply(sv.scale(names, np.float32(0.5))).completion == 700
    assert step.apply(sv.shorten("optimizer", Fraction(50))).completion == 700


def _two_ranks(backward: tuple[float, float], exchange: float, lag: float) -> sv.Timeline:
    """Forward 200, an exchange of both ranks from forward + lag, optimizer 100."""
    phases = [{"phase": "x", "kind": "exchange", "members": [0, 1], "duration": exchange}]
    links: list[tuple[object, ...]] = []
    for rank, length in enumerate(backward):
        for name, kind, duration in (
            ("f", "forward", 200), ("b", "backward", length), ("o", "optimizer", 100)
        ):  # fmt: skip
            phases.append(
                {"phase": f"{name}{rank}", "kind": kind, "rank": rank, "duration": duration}
            )
        links += [(f"f{rank}", f"b{rank}"), (f"f{rank}", "x", "FS", lag), ("x", f"o{rank}"),
                  (f"b{rank}", f"o{rank}")]  # fmt: skip
    return sv.Timeline(phases, links)


@pytest.mark.parametrize("backward", [(400, 400), (400, 440), (440, 400)])
def test_shrink_tail_cuts_a_collective_once_for_all_members(
    backward: tuple[float, float],
) -> None:
    """Exchange ends at 650; the tails are 50 and, behind the longer backward, 10 ms."""
    step = _two_ranks(backward, exchange=350, lag=100)
    assert step.completion == 750
    outcome = sv.shrink_tail(25).on(step)
    assert outcome.timeline.phases.loc["x", "duration"] == 325
    assert outcome.did == "x 25 ms shorter"
    later = max(backward) + 200 + 100  # where backward now holds the optimizer
    assert outcome.timeline.completion == max(725, later)
    with pytest.raises(ChangeError, match=r"can't take 60 ms .* it is 50 ms"):
        step.apply(sv.shrink_tail(60))


def test_a_change_that_matches_nothing_keeps_its_row() -> None:
    changes = {"lag": sv.set_lag("forward", "optimizer", 1), "cut": sv.shorten("optimizer", 50)}
    with pytest.raises(ChangeError, match="lag: there is no dependency"):
        sv.compare(sv.lesson(), changes)
    table = sv.compare(sv.lesson(), changes, missing="nan")
    assert table["completion"].isna().tolist() == [True, False, False]
    assert table.loc["all together", "completion"] == 700


def test_delayed_input_does_not_depend_on_what_else_changes() -> None:
    """The input waits for 100 ms of host work; both orders of the changes end at 65."""
    step = sv.Timeline(
        [
            {"phase": "h", "kind": "host", "duration": 100},
            {"phase": "i", "kind": "input", "duration": 10},
        ],
        [("h", "i")],
    )
    delay, cut = sv.delay_input(5), sv.shorten("h", 50)
    assert step.apply(delay).completion == 115
    assert step.apply(sv.together(delay, cut)).completion == 65
    assert step.apply(sv.together(cut, delay)).completion == 65
    assert step.apply(sv.delay_input(0)) == step
    # A lead lets the input start with the step: nothing but the start holds it.
    ahead = step.connect("h", "i", "SS", -30).disconnect("h", "i", "FS")
    assert ahead.schedule().table.loc["i", "start"] == 0
    assert ahead.apply(sv.delay_input(95)).completion == 105
    # Held by the order of a lane, which has no lag of its own.
    lane = sv.Timeline(
        [{**row, "lane": "main", "duration": d} for row, d in (
            ({"phase": "h", "kind": "host"}, 100), ({"phase": "i", "kind": "input"}, 10)
        )]
    )  # fmt: skip
    assert lane.apply(delay).completion == 115
    assert lane.apply(sv.together(delay, cut)).completion == 65


def test_scaling_a_rank_says_that_its_collectives_stay() -> None:
    step = _two_ranks((400, 400), exchange=350, lag=100)
    outcome = sv.scale(rank=0, factor=2).on(step)
    assert outcome.did.endswith("its collectives stay as they are")
    assert outcome.timeline.phases.loc["x", "duration"] == 350
    with pytest.raises(ChangeError, match="belongs to a group of ranks"):
        step.apply(sv.scale(kind="exchange", rank=0, factor=2))
    with pytest.raises(ChangeError, match="the kinds here are"):
        step.apply(sv.scale(kind="recompute", factor=2))
