"""Dependencies by hand: drawing, re-attaching, their lag, deleting, and what is refused."""

from __future__ import annotations

import pytest

from tests.browser.driver import RELEASE, Editor, dependency, phase, timeline

TWO = timeline(
    [
        phase("first", "forward", 300.0, lane="one"),
        phase("second", "backward", 300.0, lane="two"),
        phase("third", "optimizer", 300.0, lane="three"),
    ],
    [],
)


@pytest.fixture
def two(editor_page):
    return Editor(editor_page(TWO))


@pytest.mark.parametrize(
    ("end", "side", "type_", "completion"),
    [
        ("finish", "start", "FS", "600 ms"),
        ("start", "start", "SS", "300 ms"),
        ("finish", "finish", "FF", "300 ms"),
        ("start", "finish", "SF", "300 ms"),
    ],
)
def test_the_ends_chosen_give_the_type(two, end, side, type_, completion):
    two.draw_arrow("first", end, "second", side)
    assert two.value["dependencies"] == [dependency("first", "second", type_)]
    assert two.completion == completion
    assert two.root.locator('[data-dependency="0"]').count() == 1
    assert len(two.values()) == 1


def test_a_cycle_is_refused_with_a_sentence_and_nothing_changes(editor_page):
    editor = Editor(editor_page(RELEASE))
    editor.draw_arrow("optimizer", "finish", "forward", "start")
    assert editor.role("message").get_attribute("data-level") == "refused"
    assert "optimizer" in editor.message
    assert "forward" in editor.message
    assert editor.value == RELEASE
    assert editor.values() == []
    assert editor.completion == "750 ms"
    editor.drag("optimizer", "end", -50)  # and it still works
    assert editor.completion == "700 ms"


def test_dropped_on_nothing_no_arrow_is_made(two):
    two.choose("first")
    port = two.root.locator('[data-port="finish"]').first.bounding_box()
    mouse = two.page.mouse
    mouse.move(port["x"] + 8, port["y"] + 8)
    mouse.down()
    mouse.move(port["x"] + 200, port["y"] - 60, steps=5)
    mouse.up()
    assert two.values() == []


def choose_arrow(editor: Editor, row: int) -> None:
    point = editor.root.locator(f'[data-dependency="{row}"] .sv-line').evaluate(
        """path => { const p = path.getPointAtLength(path.getTotalLength() / 2);
           const q = p.matrixTransform(path.getScreenCTM()); return [q.x, q.y]; }"""
    )
    editor.page.mouse.click(*point)


def test_an_arrow_is_chosen_edited_and_deleted(two):
    two.draw_arrow("first", "finish", "second", "start")
    two.page.keyboard.press("Escape")
    choose_arrow(two, 0)
    assert "second starts at the earliest when first has finished" in two.text("arrow-meaning")
    two.role("lag").fill("25")
    two.role("lag").press("Enter")
    assert two.value["dependencies"][0]["lag"] == 25.0
    assert two.completion == "625 ms"
    two.role("arrow-type").select_option("SS")
    assert two.value["dependencies"][0]["type"] == "SS"
    two.role("delete-arrow").click()
    assert two.value["dependencies"] == []


def test_the_label_is_dragged_to_change_the_lag(editor_page):
    editor = Editor(editor_page(RELEASE))
    row = len(RELEASE["dependencies"]) - 1
    box = editor.root.locator(f'[data-lag="{row}"]').bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    mouse = editor.page.mouse
    mouse.move(x, y)
    mouse.down()
    mouse.move(x + 40 * editor.px_per_ms, y, steps=8)
    mouse.up()
    assert editor.value["dependencies"][row]["lag"] == 140.0
    assert editor.completion == "790 ms"
    assert len(editor.values()) == 1


@pytest.mark.parametrize(
    ("side", "to", "at", "expected"),
    [
        ("target", "third", 0.2, dependency("first", "third", "FS")),
        ("target", "second", 0.8, dependency("first", "second", "FF")),
        ("source", "third", 0.2, dependency("third", "second", "SS")),
    ],
)
def test_either_end_is_attached_elsewhere(two, side, to, at, expected):
    two.draw_arrow("first", "finish", "second", "start")
    grip = two.root.locator(f'[data-arrow-end="{side}"]').bounding_box()
    body = two.bar(to).locator('[data-handle="body"]').bounding_box()
    mouse = two.page.mouse
    mouse.move(grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2)
    mouse.down()
    mouse.move(body["x"] + 20, body["y"] + 10, steps=5)
    mouse.move(body["x"] + at * body["width"], body["y"] + body["height"] / 2, steps=5)
    mouse.up()
    assert two.value["dependencies"] == [expected]


def test_the_binding_arrow_of_the_chosen_bar_is_lit(editor_page):
    editor = Editor(editor_page(RELEASE))
    editor.choose("optimizer")
    lit = editor.root.locator(".sv-arrow.sv-lit")
    assert lit.get_attribute("data-dependency") == "3"  # exchange, not backward
    assert "sv-critical" in (lit.get_attribute("class") or "")


def test_critical_arrows_are_marked(editor_page):
    editor = Editor(editor_page(RELEASE))
    rows = editor.root.locator(".sv-arrow.sv-critical").evaluate_all(
        "all => all.map(e => Number(e.dataset.dependency))"
    )
    assert set(rows) == {0, 3, 4}


def test_a_collective_is_drawn_on_each_rank_and_edited_as_one(editor_page):
    value = timeline(
        [
            phase("a", "backward", 100.0, rank=0),
            phase("b", "backward", 140.0, rank=1),
            phase("sum", "exchange", 50.0, rank=None, lane="link", members=[0, 1]),
        ],
        [dependency("a", "sum"), dependency("b", "sum")],
    )
    editor = Editor(editor_page(value))
    bars = editor.root.locator('[data-phase="sum"]')
    assert bars.evaluate_all("all => all.map(e => e.dataset.rank)") == ["0", "1"]
    # Rank 0 arrives 40 ms before rank 1: its wait is shown, rank 1 has none.
    waits = bars.locator(".sv-wait").evaluate_all(
        "all => all.map(e => Number(e.getAttribute('width')))"
    )
    assert waits[0] == pytest.approx(40 * editor.px_per_ms, abs=0.1)
    assert waits[1] == pytest.approx(0, abs=0.1)
    editor.drag("sum", "end", 30)
    assert editor.completion == "220 ms"
    assert len(editor.values()) == 1
    widths = bars.locator('[data-handle="body"]').evaluate_all(
        "all => all.map(e => e.getAttribute('width'))"
    )
    assert widths[0] == widths[1]
