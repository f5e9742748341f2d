"""The run planner on a page, answered by the real widget: typed, solved, read."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

import stepviz as sv
from tests.browser.saved import open_from_disk


def settle(page):
    page.wait_for_selector(".stepviz:not([data-stale])")


def field(page, name):
    return page.locator(f'input[type="text"][data-knob="{name}"]')


def type_in(page, name, text):
    field(page, name).fill(text)
    page.keyboard.press("Enter")
    settle(page)


def value_of(page, selector):
    return float(page.locator(selector).get_attribute("data-value"))


def same_as(page, planner):
    plan = planner.plan
    assert value_of(page, '[data-role="answer"]') == float(planner.answer)
    for name, expected in (
        ("active", plan.days),
        ("elapsed", plan.elapsed_days),
        ("flops", plan.flops),
        ("rate", plan.rate),
        ("tokens_per_second", plan.tokens_per_second),
    ):
        assert value_of(page, f'[data-figure="{name}"] [data-value]') == float(expected)
    for name, row in plan.breakdown().iterrows():
        if row["days"]:
            assert value_of(page, f'[data-part="{name}"] [data-value]') == row["days"]


def test_the_lessons_run_is_what_one_sees_first(knob_page):
    planner = sv.RunPlanner()
    page = knob_page(planner)
    assert page.locator('[data-role="answer"]').inner_text().startswith("6.33 days")
    headline = page.locator('[data-role="headline"]').inner_text()
    assert (
        headline
        == "6.33 days in all at 40.00 % MFU; from 5.27 days at 48.00 % to 7.91 days at 32.00 %."
    )
    assert field(page, "parameters").input_value() == "7B"
    assert field(page, "tokens").input_value() == "100B"
    assert field(page, "mfu").input_value() == "40"
    figures = page.locator(".pl-figures").inner_text()
    for text in ("4.2e21", "7.68e15", "FLOP/s", "6N_all, active"):
        assert text in figures
    same_as(page, planner)


@pytest.mark.parametrize("unknown", ["devices", "mfu", "tokens", "parameters", "peak"])
def test_another_number_is_solved_for(knob_page, unknown):
    planner = sv.RunPlanner()
    page = knob_page(planner)
    page.locator('[data-knob="unknown"]').select_option(unknown)
    settle(page)
    type_in(page, "days", "9")
    assert planner.value["unknown"] == unknown
    assert planner.value["days"] == 9
    assert field(page, unknown).get_attribute("readonly") is not None
    assert float(planner.plan.elapsed_days) == pytest.approx(9)
    same_as(page, planner)


def test_numbers_are_typed_as_people_write_them(knob_page):
    planner = sv.RunPlanner()
    page = knob_page(planner)
    type_in(page, "parameters", "70B")
    type_in(page, "tokens", "1.4T")
    type_in(page, "mfu", "42,5")
    page.locator('[data-knob="device"]').select_option("H100 SXM")
    settle(page)
    page.locator("summary").first.click()
    type_in(page, "checkpoint_seconds", "90")
    given = planner.value
    assert (given["parameters"], given["tokens"], given["mfu"]) == (70e9, 1.4e12, 0.425)
    assert (given["device"], given["checkpoint_seconds"]) == ("H100 SXM", 90)
    assert page.locator('[data-part="checkpoints"]').count() == 1
    same_as(page, planner)


def test_what_has_no_meaning_is_said_beside_the_last_good_numbers(knob_page):
    planner = sv.RunPlanner()
    page = knob_page(planner)
    field(page, "tokens").fill("lots")
    page.keyboard.press("Enter")
    page.wait_for_function(
        "document.querySelector('[data-role=status]').textContent.includes(\"tokens is 'lots'\")"
    )
    assert page.locator(".stepviz[data-stale]").count() == 1
    assert planner.value["tokens"] == 100e9
    type_in(page, "tokens", "200B")
    assert page.locator('[data-role="status"]').is_hidden()
    same_as(page, planner)


def test_a_slider_moves_the_field_and_the_numbers(knob_page):
    planner = sv.RunPlanner()
    page = knob_page(planner)
    page.locator('input[type="range"][data-knob="mfu"]').focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    settle(page)
    page.wait_for_function(
        "document.querySelector('[data-role=answer]').textContent.includes('5.06')"
    )
    assert field(page, "mfu").input_value() == "50"
    page.wait_for_timeout(100)
    same_as(page, planner)


def test_the_picture_has_a_table_with_the_same_numbers(knob_page):
    planner = sv.RunPlanner(downtime_days=1)
    page = knob_page(planner)
    grid = planner._shown["picture"]["sensitivity"]
    cells = page.locator('[data-role="grid"] td').evaluate_all(
        "cells => cells.map(cell => Number(cell.dataset.value))"
    )
    expected = planner.plan.sensitivity(
        mfu=grid["mfu"], devices=[line["devices"] for line in grid["lines"]]
    )
    assert cells == expected["elapsed_days"].tolist()
    assert page.locator(".pl-chart .pl-line").count() == 5


def test_it_fits_a_narrow_cell(knob_page):
    page = knob_page(sv.RunPlanner(), context={"viewport": {"width": 430, "height": 900}})
    wide = page.evaluate("(r => r.scrollWidth - r.clientWidth)(document.querySelector('.stepviz'))")
    assert wide <= 0


# JupyterLab keeps Enter from a field: no change event comes of it.
NO_ENTER = """() => window.addEventListener("keydown", (event) => {
    if (event.key === "Enter") event.preventDefault();
}, { capture: true })"""


@pytest.mark.parametrize("then", ["Enter", "Tab", None])
def test_who_types_on_at_once_loses_nothing(then, knob_page):
    planner = sv.RunPlanner()
    page = knob_page(planner)
    page.evaluate(NO_ENTER)
    page.locator('[data-knob="unknown"]').select_option("devices")
    settle(page)
    field(page, "mfu").fill("50")
    expect(page.locator('[data-role="answer"]')).to_contain_text("46.2963")  # once it rests
    # Back to what it was: when the field is left, the browser says nothing of a change.
    for name, text in (("mfu", "40"), ("days", "5")):
        field(page, name).fill(text)
        if then is not None:
            page.keyboard.press(then)
    settle(page)
    expect(page.locator('[data-role="answer"]')).to_contain_text("81.0185")
    assert (planner.value["mfu"], planner.value["days"]) == (0.4, 5)
    assert field(page, "mfu").input_value() == "40"


def test_a_field_follows_its_slider_though_it_has_the_focus(knob_page):
    planner = sv.RunPlanner()
    page = knob_page(planner)
    type_in(page, "mfu", "50.0")
    assert field(page, "mfu").input_value() == "50.0"  # as it was written
    slider = page.locator('input[type="range"][data-knob="mfu"]')
    slider.evaluate("""(slider) => {
        slider.value = String(Number(slider.value) - 5);
        for (const name of ["input", "change"]) slider.dispatchEvent(new Event(name));
    }""")  # as a finger does, which takes the focus from nobody
    settle(page)
    assert planner.value["mfu"] == 0.25
    assert field(page, "mfu").input_value() == "25"
    assert field(page, "mfu").evaluate("(field) => field === document.activeElement")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "mfu is empty: give a number"),
        ("1e999", "mfu is '1e999': give a number"),
        ("250", "mfu is 250 %: give more than 0 % and at most 100 %"),
        ("-5", "mfu is -5 %: give more than 0 % and at most 100 %"),
        ("0", "mfu is 0 %: give more than 0 % and at most 100 %"),
    ],
)
@pytest.mark.parametrize("saved", [False, True])
def test_a_share_is_refused_in_the_unit_of_its_field(
    saved, text, words, knob_page, new_page, tmp_path
):
    if saved:
        sv.RunPlanner().save_html(tmp_path / "page.html")
        page = new_page()
        open_from_disk(page, tmp_path / "page.html")
    else:
        page = knob_page(sv.RunPlanner())
    field(page, "mfu").fill(text)
    page.keyboard.press("Enter")
    expect(page.locator('[data-role="status"]')).to_contain_text(words)
