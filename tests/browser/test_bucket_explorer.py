"""The bucket explorer's panel on a page, answered by the real widget."""

from __future__ import annotations

import pytest

import stepviz as sv

ROWS = """root => [...root.querySelectorAll('[data-role="sweep"] tbody tr')].map(row => [
    Number(row.dataset.cap),
    ...[...row.querySelectorAll('[data-value]')].map(cell => Number(cell.dataset.value)),
])"""


def explorer(**settings):
    return sv.BucketExplorer([2.5e6] * 200, backward=100, latency=0.5, bandwidth=10, **settings)


def settle(page):
    page.wait_for_selector(".stepviz:not([data-stale])")


def same_as(page, made):
    sweep = made.sweep[["completion", "queued", "last_transfer"]].reset_index()
    assert page.locator(".stepviz").evaluate(ROWS) == sweep.to_numpy().tolist()
    chosen = made.sweep.loc[made.value["cap"]]
    for name in ("completion", "exposed", "queued", "last_transfer"):
        shown = page.locator(f'[data-figure="{name}"] [data-value]').get_attribute("data-value")
        assert float(shown) == chosen[name]


def test_the_numbers_are_pythons(knob_page):
    made = explorer(cap=5)
    page = knob_page(made.panel)
    same_as(page, made)
    words = page.locator('[data-role="words"]').inner_text()
    assert "Small caps cost latency" in words
    assert "Large caps cost overlap" in words
    assert "Within 1 % of it" in words


@pytest.mark.parametrize("delay", [0, 100])
def test_the_curve_is_taken_hold_of(knob_page, delay):
    made = explorer(cap=5)
    page = knob_page(made.panel, delay=delay)
    chart = page.locator(".bk-chart")
    box = chart.bounding_box()
    y = box["y"] + 90
    page.mouse.move(box["x"] + 120, y)
    page.wait_for_function("window.tracks > 0")  # every cap is answered
    page.evaluate("window.commits.length = 0")
    page.mouse.down()
    seen = set()
    for x in range(120, int(box["width"]) - 30, 40):
        page.mouse.move(box["x"] + x, y)
        assert page.locator(".stepviz[data-stale]").count() == 0
        seen.add(page.locator('[data-role="headline"]').inner_text())
    assert len(seen) > 4
    assert page.evaluate("window.commits.length") == 0
    page.mouse.up()
    page.wait_for_function("window.commits.length === 1")
    page.wait_for_timeout(2 * delay + 200)
    assert made.value["cap"] > 100
    same_as(page, made)
    assert made.editor.schedule.completion == made.sweep.loc[made.value["cap"], "completion"]


@pytest.mark.parametrize("knob", ["cap", "first_bucket", "bandwidth", "latency", "compute"])
def test_each_slider_has_its_effect(knob_page, knob):
    made = explorer(cap=20)
    page = knob_page(made.panel)
    before = made.value[knob]
    slider = page.locator(f'[data-knob="{knob}"]')
    slider.focus()
    page.keyboard.press("ArrowLeft" if knob == "compute" else "ArrowRight")
    page.wait_for_timeout(300)
    settle(page)
    assert made.value[knob] != before
    same_as(page, made)


def test_it_has_names_and_fits_a_narrow_cell(knob_page):
    page = knob_page(explorer().panel, context={"viewport": {"width": 430, "height": 900}})
    assert page.get_by_role("slider", name="bucket cap").count() == 1
    slider = page.get_by_role("slider", name="first bucket")
    assert slider.get_attribute("aria-valuetext") == "as the cap"
    wide = page.evaluate("(r => r.scrollWidth - r.clientWidth)(document.querySelector('.stepviz'))")
    assert wide <= 0
