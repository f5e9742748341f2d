"""The bucket explorer's Python side: the closed form, runs, the editor beside it, refusals."""

from __future__ import annotations

import gc
import json
import weakref

import pytest

import stepviz as sv
from stepviz.builders import AlphaBeta, Contention, bucket_sweep, ddp
from tests.builders.gpt2 import sizes

MIB = 2**20


def equal_buckets(**settings):
    return sv.BucketExplorer(
        [2.5e6] * 200, backward=100, forward=0, optimizer=0, latency=0.5, bandwidth=10, **settings
    )


def test_the_sweep_is_the_builders():
    explorer = sv.BucketExplorer(sizes(), latency=0.2, bandwidth=12, compute=0.9, backward=150)
    picture = explorer.panel._shown["picture"]
    expected = bucket_sweep(
        sizes(),
        picture["caps"],
        backward=150,
        forward=100,
        optimizer=10,
        cost=AlphaBeta(0.2, 12),
        contention=Contention(compute=0.9),
    )
    for name in ("completion", "queued", "last_transfer", "buckets", "near_best"):
        assert picture[name] == expected[name].tolist()
    assert picture["caps"][picture["best"]] == expected["completion"].idxmin()
    assert explorer.sweep.equals(expected)


def test_it_opens_with_torchs_cap_and_thirteen_buckets():
    explorer = sv.BucketExplorer(sizes(), first_bucket=1)
    picture = explorer.panel._shown["picture"]
    assert explorer.value["cap"] == 25
    assert picture["buckets"][picture["chosen"]] == 13
    assert "wte, 147 MiB, which is never split" in picture["notes"][0]


def test_the_u_is_explained_by_its_two_costs():
    explorer = equal_buckets(cap=500e6 / 100 / MIB)
    words = " ".join(explorer.panel._shown["picture"]["words"])
    assert "200 buckets of 0.5 ms each are 100 ms of link time" in words
    assert "still queues 49.75 ms" in words
    assert "with 1 bucket, 50.5 ms of transfer" in words
    (completion, exposed, queued, last) = explorer.panel._shown["picture"]["large"]
    assert completion["value"] == pytest.approx(101)
    assert (exposed["value"], queued["value"], last["value"]) == pytest.approx((1, 0, 1))


def test_the_chosen_step_is_in_the_editor():
    explorer = equal_buckets(cap=25)
    for settings in ({"cap": 60}, {"compute": 0.8}, {"latency": 2, "first_bucket": 1}):
        explorer.value = settings
        value = explorer.value
        step = ddp(
            [2.5e6] * 200,
            backward=100,
            bucket_cap_mb=value["cap"],
            first_bucket_mb=value["first_bucket"],
            cost=AlphaBeta(value["latency"], value["bandwidth"]),
        )
        if value["compute"] < 1:
            step = step.apply(Contention(compute=value["compute"]))
        assert explorer.editor.schedule.completion == step.completion
        assert explorer.sweep.loc[value["cap"], "completion"] == step.completion
    assert explorer.editor.baseline.name == "cap 25 MiB"


def test_a_captured_run_brings_its_times_and_its_link():
    run = sv.sample_run()
    explorer = sv.BucketExplorer(run)
    fit = sv.fit_cost(run).fits.iloc[0]
    assert explorer.value["bandwidth"] == fit["bandwidth"]
    assert explorer.value["latency"] == fit["latency"]
    arrivals = run.step().collectives["arrival_ns"]
    lead = (arrivals.max() - arrivals.min()) / 1e6
    assert explorer.value["backward"] >= lead
    assert min(explorer.panel._shown["picture"]["stops"]["backward"]) >= lead
    assert explorer.sweep["buckets"].max() == len(run.step().collectives)
    assert sv.BucketExplorer(run.step()).value["cap"] == explorer.value["cap"]
    with pytest.raises(sv.TimelineError, match="give a backward at least as long"):
        explorer.value = {"backward": 1}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"cap": -1}, "a cap is -1"),
        ({"cap": "25"}, "cap is '25': give a number"),
        ({"bandwidth": 0}, "bandwidth is 0"),
        ({"compute": 2}, "compute is 2"),
        ({"bandwith": 2}, "did you mean 'bandwidth'"),
        ({"cap": None}, "cap is None: give a number"),
    ],
)
def test_settings_without_meaning_are_refused(settings, words):
    explorer = equal_buckets()
    before = explorer.value
    with pytest.raises(sv.StepvizError, match=words):
        explorer.value = settings
    explorer.panel.set_state({"value": {**before, **settings}})
    assert words in explorer.panel._shown["problem"]
    assert explorer.value == before


def test_wrong_arguments_are_refused():
    with pytest.raises(TypeError, match="did you mean 'latency'"):
        sv.BucketExplorer([1e6], latencey=1)
    with pytest.raises(sv.TimelineError, match="give sizes in bytes"):
        sv.BucketExplorer("model.pt")
    with pytest.raises(sv.TimelineError, match="hold no bytes"):
        sv.BucketExplorer([0, 0])


def test_only_the_cap_is_answered_ahead():
    explorer = equal_buckets()
    assert [knob["name"] for knob in explorer.panel._form if knob["track"]] == ["cap"]
    track = explorer.panel._track(explorer.panel.value, "cap")
    assert [value["cap"] for value, _ in track] == explorer.panel._shown["picture"]["caps"]
    json.dumps(track, allow_nan=False)


def test_one_parameter_alone_is_shown_too():
    picture = sv.BucketExplorer([1e6]).panel._shown["picture"]
    assert set(picture["buckets"]) == {1}


def test_it_says_what_it_is_and_is_freed_when_closed():
    explorer = equal_buckets()
    assert "buckets" in repr(explorer)
    assert "<table" in explorer._repr_html_()
    refs = [weakref.ref(part) for part in (explorer, explorer.panel, explorer.editor)]
    explorer.close()
    del explorer
    gc.collect()
    assert [ref() for ref in refs] == [None] * 3


def test_a_run_opens_with_the_buckets_that_it_had():
    run = sv.sample_run("slow rank")
    explorer = sv.BucketExplorer(run)
    picture = explorer.panel._shown["picture"]
    assert picture["buckets"][picture["chosen"]] == len(run.step().collectives) == 6
