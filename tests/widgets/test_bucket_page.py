"""A bucket explorer in a page sweeps as Python does, and makes the same step."""

from __future__ import annotations

import random
from typing import Any

import pytest

import stepviz as sv
from tests.widgets.page_pictures import difference, in_page, in_python

MB = 2**20


def some_settings(
    widget: sv.BucketExplorer, rng: random.Random, count: int
) -> list[dict[str, Any]]:
    """Return settings at stops of every slider."""
    stops = widget.panel._stops(widget.panel.value)
    return [{name: rng.choice(held) for name, held in stops.items()} for _ in range(count)]


def parameters(rng: random.Random) -> list[tuple[str, float]]:
    return [(f"layer {k}", rng.choice([0, 1, 3 * MB, 17.5 * MB, 80 * MB])) for k in range(60)]


@pytest.fixture(params=["equal", "mixed", "recorded", "one"])
def explorer(request):
    rng = random.Random(5)
    given = {
        "equal": lambda: [20 * MB] * 12,
        "mixed": lambda: parameters(rng),
        "recorded": sv.sample_run,
        "one": lambda: [3 * MB],
    }[request.param]()
    return sv.BucketExplorer(given, latency=0.5)


def test_each_setting_is_answered_as_python_does(explorer):
    rng = random.Random(random.SystemRandom().randrange(2**32))
    settings = some_settings(explorer, rng, 12)
    pages = in_page(explorer.panel, settings)
    for one, page in zip(settings, pages, strict=True):
        step = page.pop("timeline", None)
        python = in_python(explorer.panel, one)
        assert not difference(page, python), f"{one} {difference(page, python)}"
        explorer.value = one
        expected = explorer.timeline.to_dict()
        assert not difference(step, expected), f"{one} {difference(step, expected)}"


def test_contention_is_solved_alike(explorer):
    settings = {"compute": 0.5, "cap": explorer.value["cap"]}
    (page,) = in_page(explorer.panel, [settings])
    explorer.value = settings
    assert page["picture"]["large"][0]["value"] == pytest.approx(
        explorer.timeline.completion, abs=1e-9
    )


def test_the_unsplit_tensor_is_named_as_in_python():
    sizes = {"<b>head</b>": 500 * MB, **{f"layer {k}": MB for k in range(40)}}
    explorer = sv.BucketExplorer(sizes)
    (page,) = in_page(explorer.panel, [{"cap": 25.0}])
    assert (
        page["picture"]["notes"] == explorer.panel._picture(dict(explorer.value, cap=25.0))["notes"]
    )
    assert "<b>head</b>" in page["picture"]["notes"][0]
