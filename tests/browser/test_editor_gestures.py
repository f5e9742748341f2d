"""Dragging bars: what a gesture changes, says, commits, and gives back."""

from __future__ import annotations

import pytest

from tests.browser.driver import RELEASE, SS_FF, Editor, phase, timeline


@pytest.fixture
def lesson(editor_page):
    return Editor(editor_page(RELEASE))


def test_the_headline_of_the_lesson(lesson):
    assert lesson.completion == "750 ms"
    assert lesson.text("exposed") == "50 ms"
    assert lesson.text("plain-sum") == "1,050 ms"
    assert lesson.text("plain-maximum") == "600 ms"
    struck = lesson.role("plain-sum").evaluate("e => getComputedStyle(e).textDecorationLine")
    assert struck == "line-through"


def test_the_optimizer_at_50_gives_700(lesson):
    lesson.drag("optimizer", "end", -50, release=False)
    assert lesson.completion == "700 ms"  # already while it is held
    assert "−50 ms" in lesson.text("change")
    assert "1.071×" in lesson.text("change")
    assert "−6.7 %" in lesson.text("change")
    assert lesson.values() == []
    lesson.page.mouse.up()
    [value] = lesson.values()
    assert lesson.phase("optimizer")["duration"] == 50.0
    assert [p for p in value["phases"] if p["phase"] != "optimizer"] == [
        p for p in RELEASE["phases"] if p["phase"] != "optimizer"
    ]


def test_exchange_less_25_gives_725_in_the_release_model(lesson):
    lesson.drag("exchange", "end", -25)
    assert lesson.completion == "725 ms"
    assert lesson.text("exposed") == "25 ms"
    assert lesson.text("plain-sum") == "1,025 ms"
    assert lesson.phase("exchange")["duration"] == 325.0
    assert len(lesson.values()) == 1


def test_exchange_less_25_gives_750_in_the_ss_ff_model_and_says_why(editor_page):
    editor = Editor(editor_page(SS_FF))
    editor.drag("exchange", "end", -25)
    assert editor.completion == "750 ms"
    assert editor.phase("exchange")["duration"] == 325.0
    assert "held by backward (FF +50)" in editor.message
    assert "only moves its start" in editor.message


def test_shortening_a_phase_with_float_says_who_leads(lesson):
    lesson.drag("backward", "end", -25, release=False)
    assert lesson.completion == "750 ms"
    assert "50 ms of float" in lesson.message
    assert "optimizer waits for exchange" in lesson.message
    lesson.page.mouse.up()


def test_the_body_sets_a_release_and_dropped_left_clears_it(lesson):
    lesson.drag("exchange", "body", 80)
    assert lesson.phase("exchange")["release"] == 380.0
    assert lesson.completion == "830 ms"
    assert lesson.root.locator('[data-pin="exchange"]').count() == 1
    lesson.drag("exchange", "body", -200, release=False)
    # Held by forward's finish + 100: that arrow lights up, the bar stays where it is held.
    assert lesson.root.locator(".sv-arrow.sv-lit").count() == 1
    assert lesson.completion == "750 ms"
    lesson.page.mouse.up()
    assert lesson.phase("exchange")["release"] == 0.0
    assert lesson.root.locator('[data-pin="exchange"]').count() == 0
    assert len(lesson.values()) == 2


def test_a_pin_is_removed_by_clicking_it(editor_page):
    phases = [p | {"release": 380.0} if p["phase"] == "exchange" else p for p in RELEASE["phases"]]
    editor = Editor(editor_page(RELEASE | {"phases": phases}))
    assert editor.completion == "830 ms"
    editor.root.locator('[data-pin="exchange"] .sv-pin-hit').click()
    assert editor.completion == "750 ms"
    assert editor.phase("exchange")["release"] == 0.0


def test_the_left_end_moves_the_start_and_keeps_the_end(lesson):
    lesson.drag("exchange", "start", 50)
    assert lesson.phase("exchange") | {"duration": 300.0, "release": 350.0} == lesson.phase(
        "exchange"
    )
    assert lesson.completion == "750 ms"


def test_a_diamond_is_lengthened_by_its_right_handle(lesson):
    lesson.drag("input", "end", 80)
    assert lesson.phase("input")["duration"] == 80.0
    assert lesson.completion == "830 ms"


def test_a_hair_of_a_bar_can_be_lengthened(editor_page):
    phases = [phase("hair", "host", 0.4), phase("rest", "forward", 900.0)]
    editor = Editor(editor_page(timeline(phases, [])))
    assert editor.bar("hair").locator('[data-handle="end"]').bounding_box()["width"] >= 8
    editor.choose("hair")
    editor.drag("hair", "end", 99.6)
    assert editor.phase("hair")["duration"] == 100.0


@pytest.mark.parametrize("handle", ["start", "end"])
def test_grips_are_at_least_eight_pixels_wide_where_there_is_room(lesson, handle):
    box = lesson.bar("exchange").locator(f'[data-handle="{handle}"]').bounding_box()
    assert box["width"] >= 8


def test_escape_restores_what_was_there(lesson):
    lesson.drag("exchange", "end", -25, release=False)
    assert lesson.completion == "725 ms"
    lesson.page.keyboard.press("Escape")
    assert lesson.completion == "750 ms"
    lesson.page.mouse.up()
    assert lesson.values() == []
    assert lesson.value == RELEASE


def test_pointercancel_restores_what_was_there(lesson):
    lesson.drag("exchange", "end", -25, release=False)
    lesson.role("chart").evaluate(
        "svg => svg.dispatchEvent(new PointerEvent('pointercancel', {pointerId: 1}))"
    )
    assert lesson.completion == "750 ms"
    lesson.page.mouse.up()
    assert lesson.values() == []


def test_secondary_buttons_do_nothing(lesson):
    x, y = lesson.grip("exchange", "end")
    lesson.page.mouse.move(x, y)
    lesson.page.mouse.down(button="right")
    lesson.page.mouse.move(x - 60, y, steps=4)
    lesson.page.mouse.up(button="right")
    assert lesson.completion == "750 ms"
    assert lesson.values() == []


def test_values_snap_to_whole_ms_and_alt_frees_them(lesson):
    lesson.drag("exchange", "end", -33.4)
    assert lesson.phase("exchange")["duration"] % 1 == 0
    lesson.page.keyboard.down("Alt")
    lesson.drag("exchange", "end", -20.37, release=False)
    assert "free" in (lesson.root.locator(".sv-tip").text_content() or "")
    lesson.page.mouse.up()
    lesson.page.keyboard.up("Alt")
    assert lesson.phase("exchange")["duration"] % 1 != 0


def test_undo_redo_and_reset(lesson):
    lesson.drag("exchange", "end", -25)
    lesson.drag("optimizer", "end", -50)
    assert lesson.completion == "675 ms"
    lesson.role("undo").click()
    assert lesson.completion == "725 ms"
    lesson.role("undo").click()
    assert lesson.completion == "750 ms"
    assert lesson.role("undo").is_disabled()
    lesson.role("redo").click()
    lesson.role("redo").click()
    assert lesson.completion == "675 ms"
    lesson.role("reset").click()
    assert lesson.completion == "750 ms"
    lesson.role("undo").click()
    assert lesson.completion == "675 ms"


def test_scenarios_are_kept_and_switched(lesson):
    lesson.role("keep").click()
    lesson.drag("exchange", "end", -25)
    lesson.role("keep").click()
    names = lesson.root.locator("[data-scenario]").all_text_contents()
    assert names == ["A", "B"]
    lesson.root.locator('[data-scenario="A"]').click()
    assert lesson.completion == "750 ms"
    lesson.root.locator('[data-scenario="B"]').click()
    assert lesson.completion == "725 ms"


def test_several_bars_scale_together(lesson):
    lesson.page.keyboard.down("Shift")
    lesson.choose("forward")
    lesson.choose("backward")
    lesson.page.keyboard.up("Shift")
    lesson.role("factor").fill("0.9")
    lesson.role("scale-apply").click()
    assert lesson.phase("forward")["duration"] == pytest.approx(180)
    assert lesson.phase("backward")["duration"] == pytest.approx(360)
    assert len(lesson.values()) == 1


def test_a_box_over_the_background_chooses_the_bars_it_touches(lesson):
    box = lesson.bar("backward").bounding_box()
    mouse = lesson.page.mouse
    mouse.move(box["x"] + 300, box["y"] - 22)
    mouse.down()
    mouse.move(box["x"] + 120, box["y"] + 130, steps=8)
    mouse.up()
    chosen = lesson.root.locator(".sv-selected").evaluate_all(
        "all => all.map(e => e.dataset.phase)"
    )
    assert set(chosen) == {"backward", "exchange"}


def test_exact_numbers_are_typed(lesson):
    lesson.choose("exchange")
    lesson.role("duration").fill("300.125")
    lesson.role("duration").press("Enter")
    assert lesson.phase("exchange")["duration"] == 300.125
    assert lesson.completion == "700.13 ms"
    lesson.role("duration").fill("nonsense")
    lesson.role("duration").press("Enter")
    assert lesson.role("duration").input_value() == "300.125"
    lesson.role("duration").fill("-5")
    lesson.role("duration").press("Enter")
    assert lesson.role("duration").input_value() == "300.125"
    assert lesson.role("message").get_attribute("data-level") == "refused"
    assert len(lesson.values()) == 1


def test_the_inspector_of_the_lessons_exchange(lesson):
    lesson.choose("exchange")
    assert lesson.text("start") == "300"
    assert lesson.text("finish") == "650"
    assert lesson.text("latest-start") == "300"
    assert lesson.text("total-float") == "0"
    assert lesson.text("drag") == "50"
    assert lesson.text("starts-when") == "forward has finished + 100 ms (FS)"
    assert "backward leads" in lesson.text("takeover")
    lesson.choose("backward")
    assert lesson.text("total-float") == "50"
    assert lesson.text("drag") == "0"


def test_phases_are_added_renamed_retyped_and_deleted(lesson):
    lesson.choose("backward")
    lesson.role("add").click()
    lesson.role("new-name").fill("recompute")
    lesson.role("new-duration").fill("40")
    lesson.role("add-apply").click()
    assert lesson.phase("recompute")["lane"] == "compute"
    lesson.role("name").fill("again")
    lesson.role("name").press("Enter")
    lesson.root.locator('[data-role="inspector"] select[data-role="kind"]').select_option(
        "recompute"
    )
    assert lesson.phase("again")["kind"] == "recompute"
    lesson.focus("again")
    lesson.page.keyboard.press("Delete")
    assert lesson.value == RELEASE


def test_markup_in_names_stays_text(editor_page):
    name = '<img src=x onerror="window.hit = 1"><b>bold</b>'
    value = timeline(
        [phase(name, "forward", 200.0, lane=name), phase("b", "backward", 50.0)], [], name=name
    )
    editor = Editor(editor_page(value))
    page = editor.page
    page.locator("[data-phase]").first.locator('[data-handle="body"]').click()
    editor.role("table-toggle").click()
    editor.role("filter").click()
    editor.role("python").click()
    assert page.locator(".stepviz img, .stepviz b >> text=bold").count() == 0
    assert page.evaluate("window.hit") is None
    assert name in editor.text("caption")


def test_zoom_fit_and_pan_belong_to_the_view(lesson):
    before = lesson.px_per_ms
    lesson.role("zoom-in").click()
    assert lesson.px_per_ms == pytest.approx(before * 1.5)
    x0 = float(lesson.root.get_attribute("data-x0"))
    box = lesson.root.locator(".sv-head-svg").bounding_box()
    mouse = lesson.page.mouse
    mouse.move(box["x"] + 400, box["y"] + 10)
    mouse.down()
    mouse.move(box["x"] + 500, box["y"] + 10, steps=4)
    assert float(lesson.root.get_attribute("data-x0")) > x0  # already while it is held
    mouse.up()
    lesson.role("fit").click()
    assert lesson.px_per_ms == pytest.approx(before)
    mouse.move(box["x"] + 400, box["y"] + 60)
    lesson.page.keyboard.down("Control")
    mouse.wheel(0, -200)
    lesson.page.keyboard.up("Control")
    assert lesson.px_per_ms > before
    assert lesson.page.evaluate("window.commits") == []


def test_filters_hide_bars_but_not_their_effect(lesson):
    lesson.role("filter").click()
    lesson.root.locator('[data-filter="kind:exchange"]').uncheck()
    assert lesson.root.locator('[data-phase="exchange"]').count() == 0
    assert lesson.completion == "750 ms"


def test_the_edits_are_shown_as_python(lesson):
    lesson.drag("optimizer", "end", -50)
    lesson.role("python").click()
    code = lesson.role("code").input_value()
    assert "with_duration" in code
    assert "optimizer" in code
    assert "50" in code


def test_the_picture_is_saved_as_svg(lesson):
    lesson.role("export").click()
    with lesson.page.expect_download() as download:
        lesson.role("save-svg").click()
    text = download.value.path().read_text(encoding="utf-8")
    assert text.startswith("<svg")
    assert "750 ms" in text
    assert "exchange 350" in text


def test_the_completion_is_measured_at_a_target(lesson):
    lesson.choose("backward")
    lesson.role("target-toggle").click()
    assert lesson.value["target"] == "backward"
    assert lesson.completion == "600 ms"
    assert "completion of backward" in lesson.text("caption")
    lesson.role("target-toggle").click()
    assert lesson.completion == "750 ms"


def test_several_ranks_make_a_collective(lesson):
    lesson.choose("exchange")
    lesson.role("rank").fill("0, 1")
    lesson.role("rank").press("Enter")
    assert lesson.phase("exchange")["members"] == [0, 1]
    assert lesson.root.locator('[data-phase="exchange"]').count() == 2
    lesson.role("rank").fill("0")
    lesson.role("rank").press("Enter")
    assert lesson.value == RELEASE
    lesson.role("rank").fill("first")
    lesson.role("rank").press("Enter")
    assert lesson.role("message").get_attribute("data-level") == "refused"
    assert lesson.value == RELEASE


@pytest.mark.parametrize("width", [1400, 1120, 900, 640])
def test_what_is_said_during_a_drag_does_not_move_the_drawing(editor_page, width):
    page = editor_page(SS_FF, context={"viewport": {"width": width, "height": 900}})
    editor = Editor(page)
    editor.choose("exchange")
    before = editor.role("chart").bounding_box()
    editor.drag("exchange", "end", -25, release=False)
    assert "held by" in editor.message
    assert editor.role("chart").bounding_box() == before
    page.mouse.up()
    editor.drag("optimizer", "end", -50, release=False)
    assert "×" in editor.text("change")
    assert editor.role("chart").bounding_box() == before
    page.mouse.up()
