"""What axe-core says of every widget: nothing serious, in any theme and any state."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.driver import Editor
from tests.browser.reach import THEMES, WIDGETS, findings, open_widget, settle
from tests.browser.traces import Viewer
from tests.widgets.colours import contrast

THEME = pytest.mark.parametrize("theme", THEMES)


@THEME
@pytest.mark.parametrize("name", WIDGETS)
def test_a_widget_as_it_opens(request, name, theme):
    assert findings(open_widget(request, name, theme)) == []


def test_axe_finds_what_is_wrong(request):
    page = open_widget(request, "planner")
    page.evaluate(
        """() => {
          const field = document.querySelector('.stepviz input[type=text]');
          field.removeAttribute('aria-label');
          field.closest('label').replaceWith(field);
        }"""
    )
    settle(page)  # the form has another width now, and all is drawn anew
    page.evaluate("document.querySelector('.pl-headline').style.color = '#999'")
    found = " ".join(findings(page))
    assert "color-contrast (serious)" in found
    assert "label (critical)" in found


PANELS = ["help", "python", "filter", "add", "export"]


@THEME
def test_the_editors_panels(request, theme):
    page = open_widget(request, "editor", theme)
    editor = Editor(page)
    for name in PANELS:
        editor.role(name).first.click()
        expect(editor.role("panel")).to_be_visible()
        assert findings(page) == [], name
        page.keyboard.press("Escape")
        expect(editor.role("panel")).to_be_hidden()


@THEME
def test_the_editor_at_work(request, theme):
    page = open_widget(request, "editor", theme)
    editor = Editor(page)
    editor.role("table-toggle").click()
    editor.role("keep").click()  # a scenario to compare with
    editor.choose("exchange")
    assert findings(page) == []
    editor.role("duration").fill("nonsense")
    page.keyboard.press("Enter")
    expect(editor.role("message")).to_have_attribute("data-level", "refused")
    assert findings(page) == []
    editor.drag("exchange", "end", -60)  # held by backward, which is said
    editor.drag("optimizer", "end", -50)
    assert findings(page) == []
    page.locator("[data-table-arrow]").first.click()
    expect(editor.role("arrow-meaning")).to_be_visible()
    assert findings(page) == []
    editor.focus("backward")
    page.keyboard.press("Control+a")
    assert findings(page) == []


@THEME
@pytest.mark.parametrize("name", ["editor", "viewer"])
def test_a_pressed_button_is_read_under_the_pointer(request, name, theme):
    page = open_widget(request, name, theme)
    role = {"editor": "table-toggle", "viewer": "table-button"}[name]
    tool = page.locator(f'.stepviz [data-role="{role}"]')
    tool.click()  # which leaves the pointer on it
    expect(tool).to_have_attribute("aria-pressed", "true")
    inks = tool.evaluate(
        """async tool => {
          await Promise.all(tool.getAnimations().map(animation => animation.finished));
          const style = getComputedStyle(tool);
          return [style.color, style.backgroundColor].map(colour => '#' + colour
            .match(/\\d+/g).slice(0, 3).map(n => Number(n).toString(16).padStart(2, '0')).join(''));
        }"""
    )
    assert contrast(*inks) >= 3


@THEME
def test_the_viewer_at_work(request, theme):
    page = open_widget(request, "viewer", theme)
    viewer = Viewer(page)
    viewer.focus()
    page.keyboard.press("]")
    page.wait_for_function("window.stub.model.get('_selected') !== null")
    viewer.role("search").fill("nothing is called that")
    expect(viewer.role("search-count")).to_have_text("none")
    page.locator(".tv-kind").last.click()
    viewer.role("table-button").click()
    page.wait_for_selector('[data-role="table"] tbody tr')
    page.wait_for_selector('[data-role="sight"] tbody tr')
    settle(page)
    assert findings(page) == []
    piece = page.locator(".tv-surface").bounding_box()
    assert piece is not None
    page.mouse.move(piece["x"] + piece["width"] / 2, piece["y"] + 34)  # on the critical path
    expect(viewer.role("tip")).to_be_visible()
    assert findings(page) == []
    viewer.role("help-button").click()
    expect(viewer.role("help")).to_be_visible()
    assert findings(page) == []


@THEME
@pytest.mark.parametrize("name", ["tokens", "planner", "buckets", "capture"])
def test_folded_parts_are_unfolded(request, name, theme):
    page = open_widget(request, name, theme)
    folded = page.locator(".stepviz summary")
    assert folded.count() > 0
    for k in range(folded.count()):
        if folded.nth(k).is_visible():
            folded.nth(k).click()
    settle(page)
    assert findings(page) == []


@THEME
def test_the_planner_refuses(request, theme):
    page = open_widget(request, "planner", theme)
    page.locator('input[type="text"][data-knob="tokens"]').fill("lots")
    page.keyboard.press("Enter")
    expect(page.locator('[data-role="status"]')).to_be_visible()
    assert findings(page) == []


@THEME
def test_a_capture_runs_and_fails(request, capturing, theme):
    page = open_widget(request, "capture", theme)

    def tell(*given, **more):
        capturing.form.tell(*given, **more)
        page.evaluate("state => window.stub.fromPython(state)", {"_job": capturing.form._job})

    tell("running", 0.35, "pass 3 of 21, gloo on cpu")
    assert findings(page) == []
    tell("failed", problem="rank 1 of 2 failed: boom\n  last lines:\n    out of memory")
    expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_role("alert").locator("summary").click()
    assert findings(page) == []


@THEME
def test_a_quiz_is_answered(request, theme):
    page = open_widget(request, "quiz", theme)
    for answer in ("750", "more", "725"):
        page.locator('[data-role="field"]').fill(answer)
        page.keyboard.press("Enter")
        expect(page.locator('[data-role="verdict"]')).not_to_be_empty()
        assert findings(page) == [], answer
    page.locator('[data-role="others"] summary').click()
    assert findings(page) == []
