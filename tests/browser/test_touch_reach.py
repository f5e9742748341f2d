"""Fingers reach what a mouse does: targets are large enough, drags are not taken for scrolling."""

from __future__ import annotations

import pytest

import stepviz as sv
from tests.browser.driver import Editor
from tests.browser.reach import SMALL, WIDGETS, open_widget, settle
from tests.browser.traces import Viewer

PHONE = {"has_touch": True, "is_mobile": True}


def small(page):
    return page.evaluate(SMALL)


@pytest.mark.parametrize("how", [{}, PHONE], ids=["mouse", "touch"])
@pytest.mark.parametrize("name", WIDGETS)
def test_targets_are_large_enough(request, name, how):
    page = open_widget(request, name, **how)
    for summary in page.locator(".stepviz summary").all():
        if summary.is_visible():
            summary.click()
    settle(page)
    # Rows of names are as high as their lanes for a mouse; the arrow keys fold them too.
    found = [one for one in small(page) if how or "tv-name" not in one]
    # In a running text a link is as high as its line, for a mouse.
    assert [one for one in found if how or ("sv-term" not in one and "sv-link" not in one)] == []


def test_the_editors_parts_are_large_enough_for_fingers(request):
    page = open_widget(request, "editor", **PHONE)
    editor = Editor(page)
    editor.role("table-toggle").tap()
    editor.bar("backward").locator('[data-handle="body"]').tap()
    assert small(page) == []
    for panel in ("help", "python", "filter", "add", "export"):
        editor.role(panel).first.tap()
        assert small(page) == [], panel
        editor.role("close").tap()


class Fingers:
    """Touches as the page gets them from a screen."""

    def __init__(self, page):
        self.session = page.context.new_cdp_session(page)

    def __call__(self, kind, *points):
        self.session.send(
            "Input.dispatchTouchEvent",
            {
                "type": kind,
                "touchPoints": [{"x": x, "y": y, "id": k} for k, (x, y) in points],
            },
        )

    def drag(self, start, by, steps=10):
        x, y = start
        self("touchStart", (0, (x, y)))
        for k in range(1, steps + 1):
            self("touchMove", (0, (x + by[0] * k / steps, y + by[1] * k / steps)))
        self("touchEnd")


def high(page):
    """Give the page more than fits, so that it could be scrolled away."""
    page.evaluate("document.querySelector('#root').style.padding = '300px 8px 3000px'")
    page.evaluate("window.scrollTo(0, 250)")
    settle(page)


def test_a_finger_moves_through_the_sweep_and_the_page_stays(knob_page):
    made = sv.BucketExplorer([2.5e6] * 200, backward=100, latency=0.5, bandwidth=10, cap=5)
    page = knob_page(made.panel, context={"has_touch": True})
    high(page)
    box = page.locator(".bk-chart").bounding_box()
    y = box["y"] + box["height"] / 2
    page.evaluate("window.commits.length = 0")
    Fingers(page).drag((box["x"] + box["width"] * 0.3, y), (box["width"] * 0.4, 12))
    page.wait_for_function("window.commits.length > 0")
    settle(page)
    assert page.evaluate("window.scrollY") == 250
    assert made.value["cap"] > 5
    figure = page.locator('[data-figure="completion"] [data-value]')
    expected = made.sweep.loc[made.value["cap"]]["completion"]
    assert float(figure.get_attribute("data-value")) == expected


def test_what_a_finger_chose_before_the_page_scrolled_reaches_python(knob_page):
    made = sv.BucketExplorer([2.5e6] * 200, backward=100, latency=0.5, bandwidth=10, cap=5)
    page = knob_page(made.panel, context={"has_touch": True})
    high(page)
    box = page.locator(".bk-chart").bounding_box()
    x, y = box["x"] + box["width"] * 0.8, box["y"] + box["height"] / 2
    Fingers(page).drag((x, y), (0, -160))
    page.wait_for_function("window.scrollY > 250")  # upwards is the page's
    settle(page)
    shown = page.locator("tr[data-chosen]").get_attribute("data-cap")
    assert float(shown) == made.value["cap"]


def test_fingers_move_and_zoom_the_lanes_and_the_page_stays(request):
    page = open_widget(request, "viewer", has_touch=True)
    high(page)
    viewer = Viewer(page)
    viewer.settle()
    box = page.locator(".tv-surface").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + 120
    fingers = Fingers(page)

    start, finish = viewer.range
    fingers("touchStart", (0, (x - 40, y)), (1, (x + 40, y)))
    for k in range(1, 11):
        fingers("touchMove", (0, (x - 40 - 8 * k, y)), (1, (x + 40 + 8 * k, y)))
    fingers("touchEnd")
    viewer.settle()
    closer = viewer.range
    assert closer[1] - closer[0] == pytest.approx((finish - start) / 3, rel=0.02)

    fingers.drag((x + 100, y), (-200, 6))
    viewer.settle()
    moved = viewer.range
    assert moved[1] - moved[0] == pytest.approx(closer[1] - closer[0])
    per_px = (closer[1] - closer[0]) / box["width"]
    assert moved[0] - closer[0] == pytest.approx(200 * per_px, rel=0.05)
    assert page.evaluate("window.scrollY") == 250


def test_a_tap_chooses_a_piece(request):
    page = open_widget(request, "viewer", has_touch=True)
    viewer = Viewer(page)
    viewer.focus()
    page.keyboard.press("Enter")  # the first piece in sight
    page.wait_for_function("window.stub.model.get('_selected') !== null")
    there = viewer.chosen
    page.keyboard.press("Escape")
    viewer.settle()
    middle = (there["start"] + there["finish"]) / 2
    page.touchscreen.tap(*viewer.place(middle, there["lane"]))
    page.wait_for_function("window.stub.model.get('_selected') !== null")
    assert viewer.chosen["lane"] == there["lane"]
    assert viewer.chosen["start"] <= middle <= viewer.chosen["finish"]
