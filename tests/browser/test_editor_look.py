"""How the editor looks: what must be seen is seen, nothing false is written, nothing jumps."""

from __future__ import annotations

import re

import pytest

from tests.browser.driver import (
    RELEASE,
    SS_FF,
    Editor,
    chain,
    ddp,
    dependency,
    phase,
    timeline,
)

EVERY_FRAME = """async prepare => {
  if (prepare) document.querySelector('#root').style.display = 'none';
  const index = await window.stub.addView();
  if (prepare) document.querySelector('#root').style.display = '';
  const root = document.querySelectorAll('.stepviz')[index];
  const tops = [];
  for (let frame = 0; frame < 30; frame++) {
    await new Promise(requestAnimationFrame);
    await new Promise(painted => setTimeout(painted));
    const top = e => e.getBoundingClientRect().top;
    if (root.clientWidth > 0) tops.push(top(root.querySelector('.sv-chart')) - top(root));
  }
  return [...new Set(tops)]; }"""

TOP = """root => root.querySelector('.sv-chart').getBoundingClientRect().top
  - root.getBoundingClientRect().top"""


def sized(editor_page, value, width, **state):
    return Editor(
        editor_page(value, context={"viewport": {"width": width, "height": 900}}, **state)
    )


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("width", [1200, 1000, 620])
@pytest.mark.parametrize("value", [RELEASE, ddp(4)], ids=["one rank", "two ranks"])
def test_the_chart_stands_still_from_the_first_frame(editor_page, value, width, hidden):
    editor = sized(editor_page, value, width)
    assert len(editor.page.evaluate(EVERY_FRAME, hidden)) == 1
    ranks = editor.root.locator(".sv-side-exposed").inner_text()
    assert ("rank" in ranks) == (value is not RELEASE)


@pytest.mark.parametrize("width", [1400, 1068, 1000, 700, 600, 360])
def test_what_a_drag_says_does_not_move_the_chart(editor_page, width):
    editor = sized(editor_page, SS_FF, width)
    before = editor.root.evaluate(TOP)
    editor.drag("exchange", "end", -60, release=False)
    assert "held by backward" in editor.message
    assert editor.root.evaluate(TOP) == before
    editor.page.mouse.up()
    editor.drag("optimizer", "end", -50, release=False)
    assert "−50 ms" in editor.text("change")
    assert editor.root.evaluate(TOP) == before


def test_two_editors_share_a_row(editor_page):
    page = editor_page(RELEASE, context={"viewport": {"width": 1400, "height": 900}})
    page.add_style_tag(content="#root { display: flex; }")
    page.evaluate("window.stub.addView()")
    page.wait_for_timeout(100)
    boxes = [Editor(page, view).root.bounding_box() for view in (0, 1)]
    assert boxes[0]["y"] == boxes[1]["y"]
    assert boxes[0]["width"] == pytest.approx(boxes[1]["width"], abs=1)
    assert boxes[1]["x"] + boxes[1]["width"] <= 1400
    second = Editor(page, 1)
    second.drag("exchange", "end", -25)
    assert second.completion == "725 ms"


OVER_THE_EDGE = """root => {
  const edge = root.getBoundingClientRect().right;
  const parts = '.sv-top *, .sv-chart > *, .sv-axis text, .sv-foot text, .sv-sum *, '
    + '.sv-inspector *';
  const box = e => e.getBoundingClientRect();
  return [...root.querySelectorAll(parts)]
    .filter(e => box(e).width > 0 && box(e).right > edge + 0.5)
    .map(e => e.getAttribute('class') ?? e.textContent); }"""


@pytest.mark.parametrize("width", [360, 600, 1000])
@pytest.mark.parametrize(
    "value",
    [
        RELEASE,
        ddp(4),
        timeline(
            [phase("a", "forward", 1e6), phase("b", "backward", 3.9e6)], [dependency("a", "b")]
        ),
    ],
    ids=["lesson", "two ranks", "long"],
)
def test_nothing_runs_off_the_edge(editor_page, value, width):
    editor = sized(editor_page, value, width)
    assert editor.root.evaluate(OVER_THE_EDGE) == []
    assert editor.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_the_tools_leave_the_chart_the_room_on_a_narrow_page(editor_page):
    assert sized(editor_page, RELEASE, 600).root.evaluate(TOP) < 150


def ticks(editor):
    return editor.root.locator(".sv-axis text:not(.sv-unit)").all_text_contents()


def test_small_numbers_are_not_rounded_to_nothing(editor_page):
    tiny = [phase("a", "forward", 1e-4), phase("b", "backward", 3.21e-4)]
    editor = Editor(editor_page(timeline(tiny, [dependency("a", "b")])))
    assert editor.completion == "0.000421 ms"
    assert "0.0001 forward + 0.000321 backward = 0.000421 ms" in editor.text("breakdown")
    assert ticks(editor)[:3] == ["0", "0.00005", "0.0001"]
    editor.choose("a")
    assert editor.role("duration").input_value() == "0.0001"


def test_the_axis_tells_its_ticks_apart_when_zoomed(editor_page):
    editor = Editor(editor_page(RELEASE))
    for _ in range(16):
        editor.role("zoom-in").click()
    labels = ticks(editor)
    assert len(labels) > 3
    assert len(set(labels)) == len(labels)


def test_what_rounding_leaves_is_not_shown(editor_page):
    # 0.1 + 0.2 is a little more than 0.3 in floating point: 5.6e-17 ms would be "exposed".
    phases = [
        phase("forward", "forward", 0.3),
        phase("first", "exchange", 0.1, lane="link"),
        phase("second", "exchange", 0.2, lane="link"),
    ]
    editor = Editor(editor_page(timeline(phases, [dependency("first", "second")])))
    assert editor.text("exposed") == "0 ms"
    assert editor.text("breakdown") == "0.3 forward = 0.3 ms"
    assert "exposed" not in editor.text("legend")
    assert "−0" not in re.findall(r"−[\d.]+", editor.text("levers"))


def struck(editor):
    return [
        editor.role(role).evaluate("e => getComputedStyle(e).textDecorationLine") == "line-through"
        for role in ("plain-sum", "plain-maximum")
    ]


def test_only_wrong_answers_are_struck_out(editor_page):
    lesson = Editor(editor_page(RELEASE))
    assert struck(lesson) == [True, True]
    assert lesson.text("verdict") == "not the sum, not the maximum"

    steps = [phase("a", "forward", 20.0), phase("b", "exchange", 30.0, lane="link")]
    serial = Editor(editor_page(timeline(steps, [dependency("a", "b")])))
    assert struck(serial) == [False, True]
    assert serial.text("verdict") == "here the sum is right: nothing overlaps"

    # 20 of lag and 20 of overlap: the sum is the completion, but not for want of overlap.
    steps = [*steps, phase("c", "forward", 20.0, release=45.0)]
    chance = Editor(editor_page(timeline(steps, [dependency("a", "b", "FS", 20.0)])))
    assert chance.completion == "70 ms"
    assert struck(chance) == [False, True]
    assert chance.text("verdict") == "here the sum is right by chance"

    hidden = Editor(editor_page(timeline(steps[:2], [])))
    assert struck(hidden) == [True, False]
    assert hidden.text("verdict") == "here the maximum is right"

    nothing = Editor(editor_page(timeline([phase("a", "input", 0.0)], [])))
    assert struck(nothing) == [False, False]
    assert "right" not in nothing.text("verdict")
    assert nothing.text("levers-meaning") == "Nothing here has a length."


def pills(editor):
    return sorted(editor.root.locator(".sv-pill text").all_text_contents())


@pytest.mark.parametrize("width", [600, 700, 880, 1000, 1068, 1400, 1600])
def test_the_lags_of_the_lesson_are_always_written(editor_page, width):
    assert pills(sized(editor_page, RELEASE, width)) == ["FS +100"]
    assert pills(sized(editor_page, SS_FF, width)) == ["FF +50", "SS +100"]


def test_a_lag_is_written_whole_or_not_at_all(editor_page):
    editor = sized(editor_page, SS_FF, 1000)
    for _ in range(4):
        editor.role("zoom-in").click()
        plot = editor.root.evaluate("""root => {
          const left = root.querySelector('.sv-body').getBoundingClientRect().left;
          return [left + Number(root.dataset.x0 ?? 0), left
            + Number(root.querySelector('.sv-body').getAttribute('width'))]; }""")
        for box in (pill.bounding_box() for pill in editor.root.locator(".sv-pill rect").all()):
            assert box["x"] + box["width"] <= plot[1]
            names = editor.root.locator(".sv-lane-name").first.bounding_box()
            assert box["x"] >= names["x"] + names["width"]


def test_the_rank_that_the_headline_speaks_of_can_be_gone_to(editor_page):
    editor = Editor(editor_page(ddp(2, ranks=40)))
    bar = editor.bar("r36 backward 0")
    scroller = editor.root.locator(".sv-scroll")
    seen = "e => e.getBoundingClientRect().bottom"
    assert bar.evaluate(seen) > scroller.evaluate(seen)
    assert editor.text("go-to-rank") == "rank 36"
    assert "40 ranks" in editor.text("more")
    editor.role("onward").click()
    assert bar.evaluate(seen) < scroller.evaluate(seen)
    scroller.evaluate("e => { e.scrollTop = 0; }")
    editor.role("go-to-rank").click()
    assert bar.evaluate(seen) < scroller.evaluate(seen)


@pytest.mark.parametrize("height", [None, 300, 417])
def test_no_row_is_cut_in_two(editor_page, height):
    editor = Editor(editor_page(chain(500), height=height))
    end = editor.root.locator(".sv-scroll").evaluate("e => e.getBoundingClientRect().bottom")
    bars = editor.root.locator(".sv-fill").evaluate_all(
        "all => all.map(e => e.getBoundingClientRect()).map(box => [box.top, box.bottom])"
    )
    assert [box for box in bars if box[0] < end < box[1]] == []


def test_dense_rows_caption_only_what_matters(editor_page):
    editor = Editor(editor_page(chain(500)))
    captions = "all => all.filter(e => e.textContent !== '').map(e => e.parentNode.dataset.phase)"
    notes = editor.root.locator(".sv-bars .sv-note")
    critical = editor.root.locator(".sv-bar.sv-critical").evaluate_all(
        "all => all.map(e => e.dataset.phase)"
    )
    captioned = notes.evaluate_all(captions)
    assert captioned
    assert set(captioned) <= set(critical)
    assert "p0.11" not in captioned
    editor.focus("p0.11")
    editor.page.keyboard.press("Space")
    assert "p0.11" in notes.evaluate_all(captions)


def test_the_legend_tells_only_what_is_drawn(editor_page):
    lesson = Editor(editor_page(RELEASE))
    assert "on the critical path" in lesson.text("legend")
    assert "float" in lesson.text("legend")
    assert "last rank" not in lesson.text("legend")
    assert "baseline" not in lesson.text("legend")
    lesson.drag("exchange", "end", -25)
    lesson.page.keyboard.press("Escape")
    assert "baseline" in lesson.text("legend")
    assert "last rank" in Editor(editor_page(ddp(4))).text("legend")


def test_the_hint_names_the_mouse_and_goes_after_the_first_edit(editor_page):
    editor = Editor(editor_page(RELEASE))
    assert editor.message.startswith("Drag a bar")
    editor.drag("optimizer", "end", -50)
    assert editor.message == ""


def test_a_page_from_right_to_left_has_its_time_from_left_to_right(editor_page):
    page = editor_page(RELEASE)
    page.evaluate("document.documentElement.dir = 'rtl'")
    editor = Editor(page)
    assert editor.root.evaluate("e => getComputedStyle(e).direction") == "ltr"
    editor.drag("exchange", "end", -25)
    assert editor.completion == "725 ms"
    assert editor.role("name").get_attribute("dir") == "auto"


def test_the_hatch_leaves_the_label_free(editor_page):
    alone = timeline([phase("exchange", "exchange", 50.0)], [])
    bar = Editor(editor_page(alone)).bar("exchange")
    # A second outline inside the first, filled by the even-odd rule: a hole.
    assert bar.locator(".sv-hatch").get_attribute("fill-rule") == "evenodd"
    assert bar.locator(".sv-hatch").get_attribute("d").count("M") == 2
