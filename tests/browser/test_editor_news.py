"""Another timeline comes from Python: in the midst of a gesture it waits; what is chosen stays."""

from __future__ import annotations

import pytest

from tests.browser.driver import RELEASE, Editor, dependency, phase, timeline
from tests.browser.test_editor_arrows import choose_arrow

FOUR = timeline(
    [
        phase("first", "forward", 300.0, lane="one"),
        phase("second", "backward", 300.0, lane="two"),
        phase("third", "optimizer", 300.0, lane="three"),
        phase("fourth", "host", 200.0, lane="four"),
    ],
    [dependency("first", "second"), dependency("second", "third"), dependency("first", "fourth")],
)
#: The same in another order: rows of the one are wrong in the other.
TURNED = FOUR | {
    "phases": [FOUR["phases"][row] for row in (2, 0, 1, 3)],
    "dependencies": FOUR["dependencies"][::-1],
}
OTHER = timeline([phase("other", "forward", 10.0)], [])


@pytest.fixture
def four(editor_page):
    return Editor(editor_page(FOUR))


def news(editor: Editor, value) -> None:
    revision = {"page": "", "number": 9}
    editor.page.evaluate(
        "news => window.stub.fromPython(news)", {"value": value, "_revision": revision}
    )


def ends(editor: Editor) -> list[tuple[str, str]]:
    return [(link["source"], link["target"]) for link in editor.value["dependencies"]]


def middle(locator) -> tuple[float, float]:
    box = locator.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def press_and_go(editor: Editor, start, name: str) -> None:
    """Press, and go to the left quarter of a bar, without letting go."""
    box = editor.bar(name).locator('[data-handle="body"]').bounding_box()
    editor.page.mouse.move(*start)
    editor.page.mouse.down()
    editor.page.mouse.move(box["x"] + 20, box["y"] + 10, steps=6)


def press_port(editor: Editor) -> None:
    editor.choose("fourth")
    port = editor.root.locator('[data-port="finish"][data-of="fourth"]').first
    press_and_go(editor, middle(port), "third")


def press_arrow_end(editor: Editor) -> None:
    choose_arrow(editor, 0)
    press_and_go(editor, middle(editor.root.locator('[data-arrow-end="target"]')), "third")


def press_background(editor: Editor) -> None:
    box = editor.role("chart").bounding_box()
    start = (box["x"] + box["width"] - 20, box["y"] + box["height"] - 4)
    press_and_go(editor, start, "second")


def press_bar(editor: Editor) -> None:
    editor.drag("fourth", "end", 50, release=False)


def press_lane(editor: Editor) -> None:
    editor.page.keyboard.down("Alt")
    editor.drag("fourth", "body", 50, release=False)


def press_keys(editor: Editor) -> None:
    editor.focus("fourth")
    editor.page.keyboard.press("a")
    while "third" not in editor.message:
        editor.page.keyboard.press("ArrowDown")


PRESSES = [press_port, press_arrow_end, press_background, press_bar, press_lane, press_keys]


@pytest.mark.parametrize("press", PRESSES, ids=lambda press: press.__name__)
@pytest.mark.parametrize("value", [TURNED, OTHER], ids=["turned", "other"])
def test_news_waits_for_the_end_of_a_gesture(four, press, value):
    press(four)
    before = four.completion
    news(four, value)
    assert four.completion == before
    assert four.bar("fourth").count() == 1
    if press is press_keys:
        four.page.keyboard.press("Enter")
    else:
        x, y = middle(four.bar("third").locator('[data-handle="body"]'))
        if press in (press_port, press_arrow_end):
            four.page.mouse.move(x - 40, y, steps=2)
        four.page.mouse.up()
    four.page.keyboard.up("Alt")
    phases = [found["phase"] for found in four.value["phases"]]
    assert phases == [found["phase"] for found in value["phases"]]
    drawn = four.root.locator("[data-phase]").evaluate_all("all => all.map(e => e.dataset.phase)")
    assert set(drawn) == set(phases)
    made = {press_port: ("fourth", "third"), press_keys: ("fourth", "third")}
    if value is OTHER:
        assert ends(four) == []
        if press in (*made, press_arrow_end, press_bar):
            assert four.role("message").get_attribute("data-level") == "refused"
            assert "no longer" in four.message
    elif press in made:
        assert ends(four) == [*ends_of(TURNED), made[press]]
    elif press is press_arrow_end:
        assert sorted(ends(four)) == [("first", "fourth"), ("first", "third"), ("second", "third")]
    else:
        assert ends(four) == ends_of(TURNED)
    # And it still works.
    last = phases[-1]
    was = four.phase(last)["duration"]
    four.drag(last, "end", 5)
    assert four.phase(last)["duration"] != was


def ends_of(value) -> list[tuple[str, str]]:
    return [(link["source"], link["target"]) for link in value["dependencies"]]


@pytest.mark.parametrize("value", [TURNED, OTHER], ids=["turned", "other"])
def test_news_between_press_and_first_move_is_taken_at_once(four, value):
    for press in ("end", "body"):
        x, y = four.grip("second", press)
        four.page.mouse.move(x, y)
        four.page.mouse.down()
        news(four, value)
        four.page.mouse.move(x + 40, y, steps=4)
        four.page.mouse.up()
        assert four.bar("other").count() == (1 if value is OTHER else 0)
        if value is OTHER:
            assert "no longer there" in four.message
            news(four, FOUR)
        else:
            assert four.phase("third") == FOUR["phases"][2]
    four.drag("second", "end", 5)
    assert four.values() != []


def test_both_views_hold_still(editor_page):
    page = editor_page(FOUR)
    page.evaluate("window.stub.addView()")
    one, other = Editor(page, 0), Editor(page, 1)
    press_port(one)
    news(one, OTHER)
    assert other.bar("fourth").count() == 1
    other.focus("second")
    page.keyboard.press("BracketRight")
    assert "not finished" in other.message
    page.mouse.up()
    for view in (one, other):
        assert view.bar("other").count() == 1
        assert view.bar("fourth").count() == 0


def test_a_chosen_arrow_is_followed_not_its_row(editor_page):
    page = editor_page(FOUR)
    page.evaluate("window.stub.addView()")
    one, other = Editor(page, 0), Editor(page, 1)
    choose_arrow(one, 1)
    assert one.text("arrow-meaning").startswith("third starts")
    choose_arrow(other, 0)
    other.role("delete-arrow").click()
    assert one.text("arrow-meaning").startswith("third starts")
    other.role("undo").click()
    news(one, TURNED)
    assert one.text("arrow-meaning").startswith("third starts")
    one.role("arrow-type").select_option("SS")
    assert "second has started" in one.text("arrow-meaning")
    other.role("undo").click()
    assert "second has finished" in one.text("arrow-meaning")
    one.role("delete-arrow").click()
    assert ("second", "third") not in ends(one)
    assert one.role("arrow-meaning").count() == 0


def test_an_undone_delete_does_not_choose_another_arrow(four):
    choose_arrow(four, 0)
    four.page.keyboard.press("Delete")
    choose_arrow(four, 0)
    four.role("undo").click()
    assert four.text("arrow-meaning").startswith("third starts")
    four.role("delete-arrow").click()
    assert ends(four) == [("first", "second"), ("first", "fourth")]


def test_a_renamed_phase_stays_chosen_in_every_view_also_when_it_is_undone(editor_page):
    page = editor_page(RELEASE)
    page.evaluate("window.stub.addView()")
    one, other = Editor(page, 0), Editor(page, 1)
    for view in (other, one):
        view.focus("exchange")
        page.keyboard.press("Enter")
    one.role("name").fill("reduce")
    one.role("name").press("Enter")
    assert one.role("name").input_value() == other.role("name").input_value() == "reduce"
    assert page.evaluate("window.stub.model.get('selected')") == "reduce"
    page.keyboard.press("Escape")
    page.keyboard.press("Control+z")
    assert one.role("name").input_value() == other.role("name").input_value() == "exchange"
    assert page.evaluate("window.stub.model.get('selected')") == "exchange"


def test_each_view_has_a_choice_of_its_own(editor_page):
    page = editor_page(RELEASE)
    page.evaluate("window.stub.addView()")
    one, other = Editor(page, 0), Editor(page, 1)
    other.focus("forward")
    page.keyboard.press("Control+a")
    one.choose("backward")
    assert other.root.locator(".sv-selected").count() == 5
    assert one.root.locator(".sv-selected").count() == 1
    assert page.evaluate("window.stub.model.get('selected')") == "backward"
    page.evaluate("window.stub.fromPython({selected: 'input'})")  # Python chooses for all
    assert one.role("name").input_value() == other.role("name").input_value() == "input"
