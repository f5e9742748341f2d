"""Keys alone reach every control of every widget, one sees where they are, and they get out."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.driver import Editor
from tests.browser.reach import THEMES, WIDGETS, Walk, open_widget, settle
from tests.browser.traces import Viewer


def unfold(page):
    """Open what is folded, where a widget folds things."""
    for summary in page.locator(".stepviz summary").all():
        if summary.is_visible():
            summary.click()
    settle(page)


def go_along_what_has_one_stop(walk, name):
    """Walk with the arrows where Tab stops but once, as in a toolbar."""
    page = walk.page
    for bar in page.locator(".stepviz [role=toolbar]").all():
        walk.along(bar.locator('[tabindex="0"]'), "ArrowRight")
    if name == "editor":
        bars = page.locator(".stepviz [data-phase]")
        assert walk.along(page.locator('.stepviz [data-phase][tabindex="0"]'), "Home") >= 1
        page.keyboard.press("Home")
        first = page.locator(".stepviz [data-phase]:focus")
        assert walk.along(first, "ArrowDown") == bars.count()
    if name == "viewer":
        names = page.locator(".tv-names button")
        assert walk.along(names.first, "ArrowDown", most=200) >= names.count()


@pytest.mark.parametrize("name", WIDGETS)
def test_every_control_is_reached_and_seen_and_left(request, name):
    page = open_widget(request, name)
    if name not in ("editor", "viewer"):
        unfold(page)
    walk = Walk(page)
    stops = walk.through("Tab")
    assert [stop["what"] for stop in stops if not stop["seen"]] == []
    there = [stop["number"] for stop in stops]
    assert len(set(there)) == len(there), "Tab goes in circles"
    back = walk.through("Shift+Tab")
    assert [stop["number"] for stop in back] == there[::-1]
    go_along_what_has_one_stop(walk, name)
    assert walk.missed() == []


@pytest.mark.parametrize("theme", ["dark", "high contrast"])
@pytest.mark.parametrize("name", ["editor", "viewer", "planner"])
def test_one_sees_where_the_keys_are_in_every_theme(request, name, theme):
    assert theme in THEMES
    stops = Walk(open_widget(request, name, theme)).through("Tab")
    assert stops
    assert [stop["what"] for stop in stops if not stop["seen"]] == []


def test_a_panel_takes_the_keys_and_gives_them_back(request):
    page = open_widget(request, "editor")
    editor = Editor(page)
    editor.focus("backward")
    for key, held in (("?", "close"), ("n", "new-name")):
        page.keyboard.press(key)
        assert page.evaluate("document.activeElement.dataset.role") == held
        assert page.evaluate("document.activeElement.closest('[role=dialog]') !== null")
        page.keyboard.press("Escape")
        expect(editor.role("panel")).to_be_hidden()
        assert page.evaluate("document.activeElement.dataset.phase") == "backward"


def test_the_viewers_help_takes_the_keys_and_gives_them_back(request):
    page = open_widget(request, "viewer")
    viewer = Viewer(page)
    viewer.focus()
    page.keyboard.press("?")
    assert page.evaluate("document.activeElement.dataset.role") == "help"
    before = viewer.range
    page.keyboard.press("ArrowRight")  # scrolls the help, moves no lanes
    page.keyboard.press("Escape")
    expect(viewer.role("help")).to_be_hidden()
    assert page.evaluate("document.activeElement.dataset.role") == "lanes"
    assert viewer.range == before


def test_every_row_of_the_viewers_names_folds_by_keys(request):
    page = open_widget(request, "viewer")
    first = page.locator(".tv-names button").first
    first.focus()
    for key, is_open in (("ArrowLeft", "false"), ("ArrowRight", "true")):
        page.keyboard.press(key)
        expect(first).to_have_attribute("aria-expanded", is_open)


def test_a_range_is_measured_by_keys(request):
    page = open_widget(request, "viewer")
    viewer = Viewer(page)
    viewer.focus()
    page.keyboard.press("m")
    expect(viewer.role("live")).to_contain_text("Choose a piece first")
    page.keyboard.press("]")
    page.wait_for_function("window.stub.model.get('_selected') !== null")
    first = viewer.chosen
    page.keyboard.press("m")
    expect(viewer.role("live")).to_contain_text("Measuring from")
    for _ in range(2):
        start = viewer.chosen["start"]
        page.keyboard.press("]")
        page.wait_for_function("was => window.stub.model.get('_selected').start > was", arg=start)
    last = viewer.chosen
    page.keyboard.press("m")
    assert viewer.chosen["lane"] is None
    assert (viewer.chosen["start"], viewer.chosen["finish"]) == (first["start"], last["finish"])


@pytest.mark.parametrize("name", ["tokens", "planner", "buckets"])
def test_an_answer_that_comes_late_leaves_the_keys_where_they_are(request, name):
    page = open_widget(request, name)
    slider = page.locator('.stepviz input[type="range"]').first
    slider.focus()
    page.keyboard.press("ArrowRight")
    settle(page)
    table = page.locator(".stepviz .kn-numbers summary").last
    table.focus()
    page.keyboard.press("Enter")
    slider.evaluate(
        """slider => {
          slider.value = Number(slider.value) + 1;
          slider.dispatchEvent(new Event('input'));
          slider.dispatchEvent(new Event('change'));
        }"""
    )
    settle(page)
    assert table.evaluate("summary => summary === document.activeElement")
    assert table.evaluate("summary => summary.parentElement.open")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.matches('.kn-scroll')")
