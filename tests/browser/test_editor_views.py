"""Views: in step with each other, hidden and shown, on touch screens, in every theme, and gone."""

from __future__ import annotations

import pytest

from tests.browser.driver import RELEASE, SS_FF, Editor, ddp


def test_two_views_are_in_step_and_keep_their_own_zoom(editor_page):
    page = editor_page(RELEASE)
    page.evaluate("window.stub.addView()")
    first, second = Editor(page, 0), Editor(page, 1)
    first.drag("exchange", "end", -25, release=False)
    assert second.completion == "725 ms"  # while it is dragged in the other
    page.mouse.up()
    assert (first.completion, second.completion) == ("725 ms", "725 ms")
    before = first.px_per_ms
    second.role("zoom-in").click()
    assert second.px_per_ms == pytest.approx(1.5 * before)
    assert first.px_per_ms == before
    second.role("undo").click()
    assert (first.completion, second.completion) == ("750 ms", "750 ms")
    assert len(first.values()) == 2


def test_ids_do_not_clash_between_views(editor_page):
    page = editor_page(RELEASE)
    page.evaluate("window.stub.addView()")
    ids = page.locator("[id]").evaluate_all("all => all.map(e => e.id)")
    assert len(ids) == len(set(ids))


def test_python_chooses_and_sets_the_timeline(editor_page):
    page = editor_page(RELEASE, selected=None)
    editor = Editor(page)
    page.evaluate("window.stub.fromPython({selected: 'backward'})")
    assert editor.role("name").input_value() == "backward"
    page.evaluate("doc => window.stub.fromPython({value: doc})", SS_FF)
    editor.choose("exchange")
    assert "backward" in editor.text("starts-when")
    assert page.evaluate("window.stub.model.get('selected')") == "exchange"


def test_nothing_is_left_behind(editor_page, listeners_of):
    page = editor_page(RELEASE)
    objects = ("document", "window", "document.body", "document.documentElement")
    before = {name: listeners_of(page, name) for name in objects}
    page.evaluate("window.stub.addView()")
    editor = Editor(page, 1)
    editor.drag("exchange", "end", -25, release=False)
    meanwhile = {name: listeners_of(page, name) for name in objects}
    # one for keys, ahead of the host's on the document
    assert meanwhile == {**before, "window": sorted([*before["window"], "keydown"])}
    page.evaluate("window.stub.removeView(1)")
    assert page.locator(".stepviz").count() == 1
    assert {name: listeners_of(page, name) for name in objects} == before
    page.mouse.up()
    # The view closed during its own drag: nothing was committed, and the other view goes on.
    other = Editor(page, 0)
    assert other.completion == "750 ms"
    assert other.values() == []
    other.drag("optimizer", "end", -50)
    assert other.completion == "700 ms"
    page.evaluate("window.stub.closeModel()")
    assert page.locator(".stepviz").count() == 0
    assert page.evaluate("Object.values(window.stub.listeners).flat().length") == 0


def test_a_hidden_view_draws_when_it_is_shown(editor_page):
    page = editor_page(RELEASE)
    page.evaluate("document.querySelector('#root').style.display = 'none'")
    page.evaluate("window.stub.addView()")
    page.evaluate("document.querySelector('#root').style.display = ''")
    editor = Editor(page, 1)
    editor.bar("exchange").wait_for(state="visible")
    editor.drag("exchange", "end", -25)
    assert editor.completion == "725 ms"


def test_it_follows_the_width_of_its_place(editor_page):
    page = editor_page(RELEASE)
    editor = Editor(page)
    wide = editor.px_per_ms
    page.set_viewport_size({"width": 620, "height": 900})
    page.wait_for_function(
        "wide => Number(document.querySelector('.stepviz').dataset.pxPerMs) < wide", arg=wide
    )
    inspector = editor.role("inspector").bounding_box()
    chart = editor.role("chart").bounding_box()
    assert inspector["y"] > chart["y"] + chart["height"]
    overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert overflow <= 0
    editor.drag("exchange", "end", -25)
    assert editor.completion == "725 ms"


def fingers(page):
    """Touch events of one debugging session: another would not know the fingers already down."""
    session = page.context.new_cdp_session(page)

    def touch(kind: str, points: list[tuple[float, float]]) -> None:
        session.send(
            "Input.dispatchTouchEvent",
            {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]},
        )

    return touch


def test_a_finger_drags_a_bar_in_any_direction(editor_page):
    page = editor_page(RELEASE, context={"has_touch": True})
    editor = Editor(page)
    x, y = editor.grip("optimizer", "end")
    touch = fingers(page)
    touch("touchStart", [(x, y)])
    for step in range(1, 11):
        touch("touchMove", [(x - 5 * editor.px_per_ms * step, y + 4 * step)])
    assert editor.completion == "700 ms"
    touch("touchEnd", [])
    assert editor.phase("optimizer")["duration"] == 50.0
    assert len(editor.values()) == 1


def test_two_fingers_zoom(editor_page):
    page = editor_page(RELEASE, context={"has_touch": True})
    editor = Editor(page)
    before = editor.px_per_ms
    box = editor.role("chart").bounding_box()
    x, y = box["x"] + 400, box["y"] + box["height"] - 12
    touch = fingers(page)
    touch("touchStart", [(x - 40, y), (x + 40, y)])
    for step in range(1, 9):
        touch("touchMove", [(x - 40 - 5 * step, y), (x + 40 + 5 * step, y)])
    touch("touchEnd", [])
    assert editor.px_per_ms > 1.5 * before
    assert editor.values() == []


def test_the_grips_are_wider_for_fingers(editor_page):
    mouse = Editor(editor_page(RELEASE))
    finger = Editor(editor_page(RELEASE, context={"has_touch": True, "is_mobile": True}))
    widths = [
        editor.bar("exchange").locator('[data-handle="end"]').bounding_box()["width"]
        for editor in (mouse, finger)
    ]
    assert widths[1] > widths[0]


CONTRAST = """root => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgb = colour => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3); };
  const light = c => { const [r, g, b] = rgb(c).map(v => { v /= 255;
    return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p);
    return (x + 0.05) / (y + 0.05); };
  const out = {};
  for (const bar of root.querySelectorAll('[data-phase]'))
    out[bar.dataset.phase] = ratio(getComputedStyle(bar.querySelector('.sv-fill')).fill,
      getComputedStyle(bar.querySelector('.sv-label')).fill);
  const background = getComputedStyle(root).backgroundColor;
  for (const name of ['.sv-caption', '.sv-lane-name', '.sv-note', '.sv-exposed',
    '.sv-answer[data-wrong]', '.sv-completion-now', '.sv-axis text', '.sv-message']) {
    const style = getComputedStyle(root.querySelector(name));
    out[name] = ratio(background, root.querySelector(name).namespaceURI.endsWith('svg')
      ? style.fill : style.color); }
  for (const trend of ['same', 'better', 'worse']) {
    const pill = root.querySelector('[data-role=change]'); pill.style.transition = 'none';
    pill.dataset.trend = trend; const style = getComputedStyle(pill);
    out['pill ' + trend] = ratio(style.backgroundColor, style.color); }
  return out; }"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_light_and_dark(editor_page, scheme):
    kinds = RELEASE | {
        "phases": [
            *RELEASE["phases"],
            *(
                dict(RELEASE["phases"][1], phase=kind, kind=kind, lane=kind)
                for kind in ("recompute", "checkpoint", "host", "other")
            ),
        ]
    }
    page = editor_page(kinds, context={"color_scheme": scheme})
    ratios = Editor(page).root.evaluate(CONTRAST)
    assert {name: round(ratio, 2) for name, ratio in ratios.items() if ratio < 4.5} == {}


def test_a_hosts_theme_switches_it_live(editor_page):
    page = editor_page(RELEASE)
    editor = Editor(page)
    ink = "root => getComputedStyle(root.querySelector('.sv-completion')).stroke"
    light = editor.root.evaluate(ink)
    page.evaluate("document.body.dataset.jpThemeLight = 'false'")
    assert editor.root.evaluate(ink) != light
    page.evaluate("document.body.dataset.jpThemeLight = 'true'")
    assert editor.root.evaluate(ink) == light


def test_forced_colours_and_reduced_motion_draw_without_errors(editor_page):
    page = editor_page(RELEASE, context={"forced_colors": "active", "reduced_motion": "reduce"})
    editor = Editor(page)
    editor.drag("exchange", "end", -25)
    assert editor.completion == "725 ms"
    assert editor.role("change").evaluate("e => getComputedStyle(e).transitionDuration") == "0s"


def test_a_silent_kernel_is_said(editor_page):
    page = editor_page(RELEASE, kernel={"delay": 10, "reply": "() => null"})
    editor = Editor(page)
    editor.drag("exchange", "end", -25)
    page.wait_for_function(
        "/kernel/.test(document.querySelector('[data-role=message]').textContent)", timeout=8000
    )
    assert editor.completion == "725 ms"  # the edit stays


LABELS = """root => {
  const seen = root.querySelector('.sv-scroll').getBoundingClientRect().bottom;
  const names = [...root.querySelectorAll('.sv-names .sv-lane-name')];
  const plot = Math.max(...names.map(e => e.getBoundingClientRect().right)) - 1;
  const boxes = [...root.querySelectorAll('.sv-bars .sv-label, .sv-bars .sv-note, .sv-pill, '
    + '.sv-names text, .sv-strip .sv-label')]
    .filter(e => e.textContent !== '' && e.getBoundingClientRect().width > 0)
    // What begins left of the plot is clipped there, under the lanes' names.
    .filter(e => e.closest('.sv-names') || e.getBoundingClientRect().left >= plot)
    // And what is scrolled out of the rows is not seen.
    .filter(e => !e.closest('.sv-scroll') || e.getBoundingClientRect().bottom <= seen)
    .map(e => ({ text: e.textContent, box: e.getBoundingClientRect() }));
  const clashes = [];
  boxes.sort((a, b) => a.box.left - b.box.left);
  for (let i = 0; i < boxes.length; i++) for (let j = i + 1; j < boxes.length; j++) {
    const a = boxes[i].box, b = boxes[j].box;
    if (b.left >= a.right - 1) break;
    if (a.top < b.bottom - 2 && b.top < a.bottom - 2)
      clashes.push(`${boxes[i].text} / ${boxes[j].text}`);
  }
  const spilled = [...root.querySelectorAll('.sv-bars .sv-label')].filter(e => {
    const label = e.getBoundingClientRect();
    const bar = e.parentNode.querySelector('.sv-fill').getBoundingClientRect();
    return e.textContent !== '' && (label.left < bar.left - 1 || label.right > bar.right + 1);
  }).map(e => e.textContent);
  return { clashes, spilled, count: boxes.length }; }"""


@pytest.mark.parametrize(
    ("value", "bars"),
    [(RELEASE, 5), (SS_FF, 5), (ddp(11), 53), (ddp(28, ranks=8), 478)],
    ids=["5 release", "5 ss-ff", "50", "500"],
)
@pytest.mark.parametrize("width", [1400, 760])
def test_labels_do_not_collide(editor_page, value, bars, width):
    assert len(value["phases"]) == bars
    editor = Editor(editor_page(value, context={"viewport": {"width": width, "height": 1000}}))
    found = editor.root.evaluate(LABELS)
    assert found["clashes"] == []
    assert found["spilled"] == []
    assert found["count"] > 8
    editor.role("zoom-in").click()
    editor.role("zoom-in").click()
    found = editor.root.evaluate(LABELS)
    assert found["clashes"] == []
    assert found["spilled"] == []


def test_many_arrows_are_thinned_and_it_says_so(editor_page):
    editor = Editor(editor_page(ddp(28, ranks=8)))
    note = editor.role("arrow-note")
    assert "arrows · show all" in note.text_content()
    few = editor.root.locator(".sv-arrow").count()
    note.click()
    assert editor.root.locator(".sv-arrow").count() > few
    note.click()
    assert editor.root.locator(".sv-arrow").count() == few
