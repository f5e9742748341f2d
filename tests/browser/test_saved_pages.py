"""Saved pages, opened from a disk with the network off: they drag, recompute and undo.

Every number that a page computes is held against the one that Python has.
"""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest
from playwright.sync_api import expect

import stepviz as sv
from tests.browser.driver import Editor
from tests.browser.reach import findings
from tests.browser.saved import downloaded, drawn, nothing_left, open_from_disk
from tests.browser.traces import Viewer

ROWS = """root => Object.fromEntries(
    [...root.querySelectorAll('[data-role="conventions"] tbody tr')].map(row => [
        row.dataset.quantity,
        [...row.querySelectorAll('[data-value]')].map(cell => Number(cell.dataset.value)),
    ]))"""
PNG = b"\x89PNG\r\n\x1a\n"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def saved_page(new_page, tmp_path):
    """Save a widget, open the file, and when the test is over see that nothing left the page."""
    opened = []

    def load(widget, **context):
        path = tmp_path / "page.html"
        widget.save_html(path)
        page = new_page(**context)
        opened.append((page, open_from_disk(page, path), path))
        return page

    yield load
    for page, asked, path in opened:
        nothing_left(page, asked, path)


def settle(page):
    page.wait_for_selector(".stepviz.kn:not([data-stale])")


def slide(page, knob, keys):
    page.locator(f'[data-knob="{knob}"]').first.focus()
    for key in keys:
        page.keyboard.press(key)
    settle(page)


def ms(value):
    """Write a completion as the editor does."""
    return f"{value:,.2f}".rstrip("0").rstrip(".") + " ms"


def value_of(page, selector):
    return float(page.locator(selector).first.get_attribute("data-value"))


def test_a_lesson_drags_undoes_takes_an_arrow_and_saves_a_drawing(saved_page):
    step = sv.lesson()
    page = saved_page(sv.TimelineEditor(step))
    editor = Editor(page)
    assert editor.completion == "750 ms"
    editor.drag("exchange", "end", -25)
    expected = step.with_duration("exchange", 325)
    assert editor.completion == f"{expected.completion:g} ms" == "725 ms"
    assert "1.034×" in editor.text("change")
    editor.role("undo").click()
    assert editor.completion == "750 ms"
    editor.role("redo").click()
    assert editor.completion == "725 ms"
    editor.draw_arrow("backward", "finish", "exchange", "start")
    serial = expected.connect("backward", "exchange")
    assert editor.completion == f"{serial.completion:,g} ms"
    assert serial.completion > expected.completion
    page.wait_for_timeout(3200)  # a kernel would be said to be silent by now
    assert "kernel" not in editor.root.inner_text().lower()
    editor.role("export").click()
    texts = drawn(downloaded(page, editor.role("save-svg")))
    assert f"{serial.completion:,g} ms" in texts
    assert "exchange" in texts
    assert downloaded(page, editor.role("save-png")).startswith(PNG)


def test_touch_and_dark_work_in_a_page_too(saved_page):
    page = saved_page(
        sv.TimelineEditor(sv.lesson()),
        has_touch=True,
        color_scheme="dark",
        viewport={"width": 420, "height": 800},
    )
    editor = Editor(page)
    assert editor.completion == "750 ms"
    red, green, blue = page.evaluate(
        """() => getComputedStyle(document.body).backgroundColor.match(/[0-9]+/g).slice(0, 3)
            .map(Number)"""
    )
    assert max(red, green, blue) < 80


def test_a_step_is_looked_into(saved_page):
    made = sv.TraceViewer(sv.sample_run().step())
    page = saved_page(made)
    viewer = Viewer(page)
    page.wait_for_selector(".tv:not([data-waiting])")
    viewer.settle()
    scene = made._answers.scene
    start, finish = viewer.range
    assert start <= scene.begin_ns
    assert finish >= scene.span_ns
    lane = scene.ranks[0].tracks[0].first
    held = scene.lane(lane)
    middle = (int(held.start[0]) + int(held.finish[0])) / 2
    viewer.click(middle, lane)
    name = scene.names[int(held.name[0])]
    expect(viewer.role("details")).to_contain_text(name)
    expect(viewer.role("details")).to_contain_text("transfer")  # what only Python knew
    viewer.focus()
    page.keyboard.press("w")
    page.keyboard.press("w")
    viewer.settle()
    start, finish = viewer.range
    assert finish - start < 0.6 * scene.span_ns
    viewer.root.locator('input[type="search"], .tv-search input').first.fill("all_reduce")
    found = len(made.find("all_reduce"))
    expect(viewer.root.locator(".tv-search")).to_contain_text(f"{found:,}")
    texts = drawn(downloaded(page, viewer.root.locator('[data-role="save-svg"]')))
    assert "sample_run" in texts
    assert downloaded(page, viewer.root.locator('[data-role="save-png"]')).startswith(PNG)


def test_tokens_are_counted_anew(saved_page):
    tokens = sv.TokenComparison()
    page = saved_page(tokens)
    slide(page, "sequences", ["ArrowRight"] * 3)
    slide(page, "accumulation", ["ArrowRight"] * 2)
    page.locator('[data-knob="skips_padding"]').check()
    settle(page)
    tokens.value = {"sequences": 5, "accumulation": 4, "skips_padding": True}
    shown = page.locator(".stepviz").evaluate(ROWS)
    table = tokens.table
    assert set(shown) == set(table.index)
    for name, row in table.iterrows():
        assert shown[name] == pytest.approx([row["before"], row["after"]], rel=1e-12), name
    assert "4 times too high" in page.locator('[data-role="trap"]').inner_text()
    texts = drawn(downloaded(page, page.locator('[data-role="save-svg"]')))
    assert "Name the token" in texts
    assert downloaded(page, page.locator('[data-role="save-png"]')).startswith(PNG)


def test_a_plan_is_solved_anew_and_nonsense_is_refused(saved_page):
    planner = sv.RunPlanner()
    page = saved_page(planner)
    field = page.locator('input[type="text"][data-knob="mfu"]')
    field.fill("50")
    page.keyboard.press("Enter")
    settle(page)
    planner.value = {"mfu": 0.5}
    assert value_of(page, '[data-role="answer"]') == pytest.approx(float(planner.answer), rel=1e-12)
    page.locator('select[data-knob="unknown"]').select_option("devices")
    page.locator('input[type="text"][data-knob="days"]').fill("3")
    page.keyboard.press("Enter")
    settle(page)
    planner.value = {"unknown": "devices", "days": 3}
    assert value_of(page, '[data-role="answer"]') == pytest.approx(float(planner.answer), rel=1e-12)
    page.locator('input[type="text"][data-knob="tokens"]').fill("many")
    page.keyboard.press("Enter")
    expect(page.locator('[data-role="status"]')).to_contain_text("tokens is 'many': give a number")
    texts = drawn(downloaded(page, page.locator('[data-role="save-svg"]')))
    assert "How long will the run take" in texts


def test_caps_are_swept_anew_and_the_editor_follows(saved_page):
    made = sv.BucketExplorer([20 * 2**20] * 12, latency=0.5)
    page = saved_page(made)
    slide(page, "cap", ["ArrowRight"] * 6)
    slide(page, "latency", ["End"])
    cap = float(
        page.locator('tr[data-chosen="true"], tr[data-chosen=""]').first.get_attribute("data-cap")
    )
    stops = made.panel._stops(made.panel.value)["latency"]
    made.value = {"cap": cap, "latency": stops[-1]}
    expected = made.sweep.loc[cap, "completion"]
    assert value_of(page, '[data-figure="completion"] [data-value]') == pytest.approx(expected)
    editor = Editor(page, view=1)
    expect(editor.role("completion")).to_have_text(ms(expected))
    editor.bar("optimizer").scroll_into_view_if_needed()
    editor.drag("optimizer", "end", 10)
    changed = made.timeline.with_duration("optimizer", 20).completion
    expect(editor.role("completion")).to_have_text(ms(changed))
    editor.role("undo").click()
    expect(editor.role("completion")).to_have_text(ms(expected))


def test_runs_are_compared_and_capturing_is_said_to_need_a_kernel(saved_page):
    runs = {"base": sv.sample_run(), "slow": sv.sample_run("slow rank")}
    panel = sv.CapturePanel(runs=runs)
    page = saved_page(panel)
    assert "needs a notebook with a kernel" in page.locator(".stepviz.cp").inner_text()
    assert page.locator('[data-role="run"]').get_attribute("aria-disabled") == "true"
    editor = Editor(page, view=1)
    before = editor.completion
    page.locator(".stepviz.cp").get_by_text("slow", exact=True).first.click()
    slow = runs["slow"].step().timeline().completion
    expect(editor.role("completion")).to_have_text(ms(slow))
    assert editor.completion != before


def test_a_question_is_answered(saved_page):
    quiz = sv.Quiz(
        "When does the step end?", answer=725, unit="ms", wrong={775: "That is more."}, why="Path."
    )
    page = saved_page(quiz)
    for typed, said in (("775", "That is more."), ("0.725 s", "Path.")):
        page.locator('.stepviz.qz [data-role="field"]').fill(typed)
        page.keyboard.press("Enter")
        expect(page.locator(".stepviz.qz")).to_contain_text(said)
    texts = drawn(downloaded(page, page.locator('[data-role="save-svg"]')))
    assert "When does the step end?" in texts
    assert "0.725 s" in texts
    assert "Path." in texts
    assert downloaded(page, page.locator('[data-role="save-png"]')).startswith(PNG)


def test_a_question_with_choices_is_drawn_with_the_chosen_one_marked(saved_page):
    choices = ("the link", "the loader")
    wrong = {"the link": "It waits as well."}
    page = saved_page(sv.Quiz("What is late?", choices=choices, answer="the loader", wrong=wrong))
    page.get_by_label("the link").check()
    page.get_by_role("button", name="Check").click()
    drawing = downloaded(page, page.locator('[data-role="save-svg"]'))
    assert [drawn(drawing).count(choice) for choice in choices] == [1, 1]
    assert drawn(drawing).count("✗") == 2  # beside the choice, and beside what is said of it
    assert drawing.count(b"<circle") == len(choices) + 1  # a ring for each, a dot in one
    # Words are no wider than on the screen: a space after them stays one.
    texts = {text.text: text for text in ET.fromstring(drawing).iter(f"{SVG}text")}  # noqa: S314  # of our own making
    said, why = texts["Not that:"], texts["It waits as well."]
    assert float(said.get("x")) + float(said.get("textLength")) < float(why.get("x")) - 2


def test_several_widgets_share_a_page(new_page, tmp_path):
    from stepviz.widgets import pages

    parts = [
        "<p>Before.</p>",
        pages.fragment(sv.TimelineEditor(sv.lesson())),
        pages.fragment(sv.RunPlanner()),
        pages.fragment(sv.TimelineEditor(sv.lesson().with_duration("optimizer", 50))),
    ]
    path = tmp_path / "several.html"
    path.write_text(pages.page("Several", parts), encoding="utf-8")
    page = new_page()
    asked = open_from_disk(page, path)
    expect(page.locator('[data-role="completion"]')).to_have_text(["750 ms", "700 ms"])
    Editor(page, view=0).drag("exchange", "end", -25)
    expect(page.locator('[data-role="completion"]')).to_have_text(["725 ms", "700 ms"])
    assert page.title() == "Several"
    nothing_left(page, asked, path)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "name", ["editor", "viewer", "tokens", "planner", "buckets", "capture", "quiz"]
)
def test_axe_finds_nothing_serious_in_a_page(name, scheme, new_page, tmp_path):
    made = {
        "editor": lambda: sv.TimelineEditor(sv.lesson()),
        "viewer": lambda: sv.TraceViewer(sv.sample_run().step()),
        "tokens": sv.TokenComparison,
        "planner": sv.RunPlanner,
        "buckets": lambda: sv.BucketExplorer([20 * 2**20] * 12),
        "capture": lambda: sv.CapturePanel(runs={"base": sv.sample_run()}),
        "quiz": lambda: sv.Quiz("Is this so?", choices=["yes", "no"], answer="yes"),
    }[name]()
    path = tmp_path / "page.html"
    made.save_html(path)
    # A policy that lets run one script only would keep axe out; it stays for everything else.
    page = new_page(color_scheme=scheme, bypass_csp=True)
    open_from_disk(page, path)
    page.wait_for_selector(".stepviz:not([data-waiting])")
    assert page.locator("h1").count() == 1
    assert findings(page, "html") == []
