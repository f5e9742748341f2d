"""The token comparison on a page, answered by the real widget: what is read, dragged and heard."""

from __future__ import annotations

import pytest

import stepviz as sv
from stepviz.throughput.layouts import token_roles

NUMBERS = """root => {
    const rows = [...root.querySelectorAll('[data-role="conventions"] tbody tr')];
    const cells = row => [...row.querySelectorAll('[data-value]')];
    return Object.fromEntries(rows.map(row => [
        row.dataset.quantity,
        cells(row).flatMap(cell => [Number(cell.dataset.value), cell.textContent]),
    ]));
}"""


def settle(page):
    page.wait_for_selector(".stepviz:not([data-stale])")


def same_as(page, tokens):
    """Whether every number on the page is the one that Python has."""
    shown = page.locator(".stepviz").evaluate(NUMBERS)
    table = tokens.table
    assert set(shown) == set(table.index)
    for name, row in table.iterrows():
        before, _, after, _ = shown[name]
        assert (before, after) == (row["before"], row["after"]), name


def slide(page, knob, keys):
    page.locator(f'[data-knob="{knob}"]').first.focus()
    for key in keys:
        page.keyboard.press(key)


def test_the_lesson_is_what_one_sees_first(knob_page):
    tokens = sv.TokenComparison()
    page = knob_page(tokens)
    cards = page.locator(".tk-card").all_inner_texts()
    assert "2,000" in cards[0] and "unchanged" in cards[0]
    assert "500" in cards[1] and "667" in cards[1] and "better" in cards[1]
    assert "unchanged" in page.locator('[data-role="headline"]').inner_text()
    assert page.locator('[data-side="before"] .tk-cell').count() == 8
    assert page.locator('[data-side="after"] .tk-cell').count() == 6
    assert page.locator('[data-side="before"] .tk-target').count() == 2
    assert page.locator('[data-side="before"] .tk-padding').count() == 2
    assert page.locator('[data-side="after"] .tk-bound').count() == 1
    losses_of = page.locator("details", has=page.locator('[data-role="losses"]'))
    assert losses_of.get_attribute("open") is None  # it would answer what the lesson asks
    losses_of.locator("summary").click()
    losses = page.locator('[data-role="losses"]').inner_text()
    for text in ("2.444", "22 ÷ 9", "3.5", "2.4", "1.692", "22 ÷ 13"):
        assert text in losses
    same_as(page, tokens)


@pytest.mark.parametrize("width", [360, 470, 680, 890, 1100, 1400])
def test_every_number_fits_its_card(knob_page, width):
    page = knob_page(sv.TokenComparison(), context={"viewport": {"width": width, "height": 900}})
    over = page.locator(".tk-card").evaluate_all(
        "cards => cards.map(card => card.scrollWidth - card.clientWidth)"
    )
    assert len(over) == 5
    assert max(over) <= 0


@pytest.mark.parametrize("delay", [0, 100])
def test_a_drag_shows_pythons_numbers_at_every_stop(knob_page, delay):
    tokens = sv.TokenComparison(length=12, sequences=4, packing=4)
    page = knob_page(tokens, delay=delay)
    slider = page.locator('[data-knob="padding"]')
    slider.hover()
    page.wait_for_function("window.tracks > 0")  # the whole track has come
    box = slider.bounding_box()
    y = box["y"] + box["height"] / 2
    page.evaluate("window.commits.length = 0")
    page.mouse.move(box["x"] + box["width"] * 0.26, y)
    page.mouse.down()
    for k in range(8):
        page.mouse.move(box["x"] + box["width"] * (0.26 + 0.07 * k), y, steps=2)
        # no waiting: each stop is answered from the track
        assert page.locator(".stepviz[data-stale]").count() == 0
        setting = page.locator('[data-knob="padding"] + output').inner_text()
        there = sv.TokenComparison(
            **{**tokens.value, "padding": round(float(setting.split()[0]) / 100 * 12) / 12}
        )
        same_as(page, there)
    assert page.evaluate("window.commits.length") == 0
    page.mouse.up()
    page.wait_for_function("window.commits.length === 1")
    page.wait_for_timeout(2 * delay + 100)
    assert tokens.value["padding"] > 0.6
    same_as(page, tokens)


def test_keys_turn_the_knobs_and_the_result_is_said(knob_page):
    tokens = sv.TokenComparison()
    page = knob_page(tokens)
    slide(page, "accumulation", ["ArrowRight"] * 3)
    page.wait_for_function(
        "document.querySelector('[data-role=trap]')?.textContent.includes('8 times')"
    )
    settle(page)
    assert tokens.value["accumulation"] == 8
    same_as(page, tokens)
    page.wait_for_function(
        "document.querySelector('[data-role=live]').textContent.includes('32 ms to 24 ms')"
    )
    page.locator('[data-knob="skips_padding"]').focus()
    page.keyboard.press("Space")
    settle(page)
    assert tokens.value["skips_padding"] is True
    same_as(page, tokens)


def test_sliders_and_masks_have_names(knob_page):
    page = knob_page(sv.TokenComparison())
    assert page.get_by_role("slider").count() == 7
    for name, text in (("padding", "25 %"), ("packing", "2 per row")):
        slider = page.get_by_role("slider", name=name)
        assert slider.get_attribute("aria-valuetext") == text
    drawn = page.locator('[data-side="before"] svg').get_attribute("aria-label")
    assert drawn == "row 1: 2 prompt, 1 scored, 1 padding; row 2: 2 prompt, 1 scored, 1 padding"
    # on the focused element itself: see frontend/knobs/keys.ts
    bare = ":is(input, select, button, summary, [tabindex]):not([data-lm-suppress-shortcuts])"
    assert page.locator(f".stepviz {bare}").count() == 0


def test_masks_are_drawn_token_by_token(knob_page):
    tokens = sv.TokenComparison(sequences=5, length=16, spread=1.0, prompt=0.5, packing=3)
    page = knob_page(tokens)
    for side, batch in zip(("before", "after"), tokens.batches, strict=True):
        roles = token_roles(batch)
        what = roles["role"].where(~roles["scored"], "target")
        drawn = page.locator(f'[data-side="{side}"] .tk-cell').evaluate_all(
            "cells => cells.map(cell => cell.classList[1].slice(3))"
        )
        assert drawn == what.tolist()


def test_python_sets_it_and_loads_a_batch(knob_page):
    tokens = sv.TokenComparison()
    page = knob_page(tokens)
    tokens.value = {"accumulation": 4}
    page.evaluate(
        "(s) => window.stub.fromPython(s)", {"value": tokens.value, "_shown": tokens._shown}
    )
    same_as(page, tokens)
    tokens.load({"input_ids": [[5, 6, 7], [8, 9, 0]], "attention_mask": [[1, 1, 1], [1, 1, 0]]})
    state = {"_form": tokens._form, "value": tokens.value, "_shown": tokens._shown}
    page.evaluate("(s) => window.stub.fromPython(s)", state)
    assert page.get_by_role("slider").count() == 2
    assert page.locator('[data-side="before"] .tk-cell').count() == 6


def test_a_silent_kernel_is_said(knob_page):
    page = knob_page(sv.TokenComparison(), answering=False)
    slide(page, "accumulation", ["ArrowRight"])
    page.wait_for_selector(".stepviz[data-stale]")
    page.wait_for_function(
        "document.querySelector('[data-role=status]').textContent.includes('not answering')"
    )


def test_two_views_keep_in_step_and_a_removed_one_leaves_nothing(knob_page):
    tokens = sv.TokenComparison()
    page = knob_page(tokens)
    page.evaluate("window.stub.addView()")
    page.wait_for_function("document.querySelectorAll('.tk-card').length === 10")
    slide(page, "packing", ["ArrowLeft"])
    page.wait_for_function(
        "[...document.querySelectorAll('[data-knob=packing] + output')]"
        ".every(o => o.textContent === '1 per row')"
    )
    page.evaluate("window.stub.closeModel()")
    counts = page.evaluate("Object.values(window.stub.listeners).map(l => l.length)")
    assert set(counts) == {0}


def test_it_fits_a_narrow_cell_in_every_theme(knob_page):
    for context in (
        {"viewport": {"width": 420, "height": 900}},
        {"color_scheme": "dark", "forced_colors": "active", "reduced_motion": "reduce"},
    ):
        page = knob_page(sv.TokenComparison(sequences=8, length=32), context=context)
        wide = page.evaluate(
            "(r => r.scrollWidth - r.clientWidth)(document.querySelector('.stepviz'))"
        )
        assert wide <= 0
