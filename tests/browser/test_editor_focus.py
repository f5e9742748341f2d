"""The keyboard stays in the editor, on the same thing where it can, so that undo is at hand."""

from __future__ import annotations

import pytest

from tests.browser.driver import RELEASE, Editor
from tests.browser.test_editor_arrows import choose_arrow

PLACE = """() => { const at = document.activeElement;
  return at.closest('.stepviz') === null ? 'outside'
    : at.dataset.phase ?? at.dataset.role ?? at.dataset.scenario ?? at.dataset.tablePhase
      ?? (at.classList.contains('stepviz') ? 'root' : at.outerHTML); }"""


@pytest.fixture
def lesson(editor_page):
    return Editor(editor_page(RELEASE))


def place(editor: Editor) -> str:
    return editor.page.evaluate(PLACE)


def background(editor: Editor) -> None:
    box = editor.role("chart").bounding_box()
    editor.page.mouse.click(box["x"] + box["width"] - 20, box["y"] + box["height"] - 4)


def rename(editor: Editor) -> None:
    editor.choose("exchange")
    editor.role("name").fill("reduce")
    editor.role("name").press("Enter")


def delete_from_the_list(editor: Editor) -> None:
    editor.choose("exchange")
    editor.root.locator("[data-list-row] .sv-x").first.click()


def open_from_the_list(editor: Editor) -> None:
    editor.choose("exchange")
    editor.root.locator("[data-list-row] .sv-open").first.click()


def delete_the_arrow(editor: Editor) -> None:
    open_from_the_list(editor)
    editor.role("delete-arrow").click()


def delete_the_phase(editor: Editor) -> None:
    editor.choose("exchange")
    editor.role("delete").click()


def undo_everything(editor: Editor) -> None:
    editor.drag("optimizer", "end", -50)
    background(editor)
    editor.role("undo").click()


def switch(editor: Editor) -> None:
    editor.role("keep").click()
    editor.root.locator("[data-scenario]").click()


def name_in_the_table(editor: Editor) -> None:
    editor.role("table-toggle").click()
    editor.role("table").get_by_text("backward", exact=True).first.focus()
    editor.page.keyboard.press("Enter")


def close_a_panel(editor: Editor) -> None:
    editor.focus("backward")
    editor.page.keyboard.press("n")
    editor.page.keyboard.press("Escape")


@pytest.mark.parametrize(
    ("act", "expected"),
    [
        (lambda editor: choose_arrow(editor, 4), "root"),
        (background, "root"),
        (lambda editor: editor.role("caption").click(), "root"),
        (rename, "name"),
        (delete_from_the_list, "exchange"),
        (open_from_the_list, "root"),
        (delete_the_arrow, "exchange"),
        (delete_the_phase, "root"),
        (undo_everything, "root"),
        (lambda editor: editor.role("keep").click(), "keep"),
        (switch, "A"),
        (name_in_the_table, "backward"),
        (close_a_panel, "backward"),
    ],
    ids=["arrow", "background", "caption", "rename", "x in the list", "open an arrow",
         "delete an arrow", "delete a phase", "undo", "keep", "scenario", "table", "panel"],
)  # fmt: skip
def test_where_the_keyboard_is_afterwards(lesson, act, expected):
    act(lesson)
    assert place(lesson) == expected


def test_undo_is_at_hand_after_a_deletion(lesson):
    delete_the_phase(lesson)
    assert len(lesson.value["phases"]) == 4
    lesson.page.keyboard.press("Control+z")
    assert lesson.value == RELEASE
    choose_arrow(lesson, 4)
    lesson.page.keyboard.press("Delete")
    assert len(lesson.value["dependencies"]) == 4
    lesson.page.keyboard.press("Control+z")
    assert lesson.value == RELEASE
    undo_everything(lesson)
    lesson.page.keyboard.press("Control+y")
    assert lesson.completion == "700 ms"


def test_what_is_being_typed_outlives_another_timeline(lesson):
    lesson.choose("exchange")
    lesson.role("duration").focus()
    lesson.page.keyboard.press("Control+a")
    lesson.page.keyboard.type("32")
    phases = [p | {"duration": 90.0} if p["phase"] == "optimizer" else p for p in RELEASE["phases"]]
    lesson.page.evaluate(
        "value => window.stub.fromPython({value, _revision: {page: '', number: 9}})",
        RELEASE | {"phases": phases},
    )
    assert place(lesson) == "duration"
    assert lesson.role("duration").input_value() == "32"
    assert lesson.values() == []


def test_a_toolbar_is_one_stop_and_the_arrows_go_on(lesson):
    for bar in lesson.root.locator('[role="toolbar"]').all():
        assert bar.locator('button[tabindex="0"], select[tabindex="0"]').count() == 1
        assert bar.locator("button:not([tabindex]), select:not([tabindex])").count() == 0
    lesson.role("zoom-out").focus()
    lesson.page.keyboard.press("ArrowRight")
    assert place(lesson) == "fit"
    lesson.page.keyboard.press("End")
    assert place(lesson) == "help"
    lesson.page.keyboard.press("ArrowRight")
    assert place(lesson) == "add"


# What was refused, and what is typed


def type_into(editor: Editor, role: str, typed: str) -> None:
    editor.role(role).fill(typed)
    editor.role(role).press("Enter")


@pytest.mark.parametrize(
    ("role", "typed", "why"),
    [
        ("duration", "abc", "“abc” can’t be read as a number"),
        ("duration", "", "Nothing is written there"),
        ("duration", "NaN", "“NaN” can’t be read"),
        ("duration", "1e400", "“1e400” is more than can be reckoned with"),
        ("duration", "350*0.9", "can’t be read as a number"),
        ("duration", "-5", "0 or more"),
        ("release", "soon", "can’t be read as a number"),
        ("rank", "x", "“x” is no rank"),
        ("rank", "0,0", "Rank 0 is there twice"),
        ("rank", "1.5", "“1.5” is no rank"),
        ("rank", "", "needs a rank"),
        ("name", "", "a name that is not empty"),
        ("name", "forward", "already a phase called"),
    ],
)
def test_what_can_not_be_read_is_said_and_the_old_value_kept(lesson, role, typed, why):
    lesson.choose("exchange")
    before = lesson.role(role).input_value()
    type_into(lesson, role, typed)
    assert why in lesson.message
    assert lesson.role("message").get_attribute("data-level") == "refused"
    assert lesson.role(role).input_value() == before
    assert lesson.values() == []
    type_into(lesson, "duration", "300")  # and once something goes well it is forgotten
    assert lesson.role("message").get_attribute("data-level") != "refused"


def test_a_reason_stays_to_be_read_and_goes_with_the_next_edit(lesson):
    lesson.drag("backward", "end", -25)
    assert "float" in lesson.message
    lesson.page.keyboard.press("Control+z")
    assert "float" not in lesson.message
    lesson.drag("backward", "end", -25)
    lesson.drag("optimizer", "end", -50)
    assert "float" not in lesson.message
    lesson.draw_arrow("optimizer", "finish", "forward", "start")
    assert lesson.role("message").get_attribute("data-level") == "refused"
    lesson.role("undo").click()
    assert lesson.role("message").get_attribute("data-level") != "refused"


def test_a_lag_that_can_not_be_read_is_said_too(lesson):
    choose_arrow(lesson, 4)
    type_into(lesson, "lag", "a bit")
    assert "“a bit” can’t be read" in lesson.message
    assert lesson.role("lag").input_value() == "100"


# Several phases


def test_several_chosen_phases_are_one_thing(lesson):
    lesson.focus("forward")
    lesson.page.keyboard.press("Space")
    assert "forward chosen, 1 phase" in lesson.text("live")
    lesson.focus("backward")
    lesson.page.keyboard.press("Space")
    assert "backward chosen, 2 phases" in lesson.text("live")
    assert lesson.text("several") == "2 phases"
    assert lesson.text("together") == "600 ms"
    assert lesson.role("name").count() == 0
    assert lesson.text("delete") == "delete 2"
    lesson.role("factor").fill("0.5")
    lesson.role("scale-apply").click()
    assert lesson.text("together") == "300 ms"
    lesson.role("inspector-toggle").click()
    assert lesson.role("factor").is_visible()
    lesson.role("inspector-toggle").click()
    assert lesson.role("factor").is_visible()
    lesson.role("delete").click()
    assert [p["phase"] for p in lesson.value["phases"]] == ["input", "optimizer", "exchange"]


def test_hidden_phases_are_not_scaled_or_deleted_with_others(lesson):
    lesson.focus("forward")
    lesson.page.keyboard.press("Control+a")
    lesson.role("filter").click()
    lesson.root.locator('[data-filter="kind:optimizer"]').uncheck()
    assert "1 hidden phase is no longer chosen" in lesson.message
    lesson.page.keyboard.press("Escape")
    assert lesson.text("several") == "4 phases"
    lesson.role("factor").fill("0.5")
    lesson.role("scale-apply").click()
    assert lesson.phase("optimizer")["duration"] == 100.0
    assert lesson.phase("exchange")["duration"] == 175.0
    lesson.focus("forward")
    lesson.page.keyboard.press("Control+a")
    assert lesson.text("several") == "4 phases"


# Neighbours


def at(editor: Editor, x: float, y: float) -> str:
    return editor.page.evaluate(
        """([x, y]) => { const e = document.elementFromPoint(x, y);
          const { of, seam, handle } = e.dataset;
          return seam ? `${seam} end`
            : `${of ?? e.closest('[data-phase]')?.dataset.phase} ${handle}`; }""",
        [x, y],
    )


@pytest.mark.parametrize("offset", [-5, -2, -1, 0, 1, 2])
def test_the_seam_of_two_neighbours_is_the_left_ones_end(lesson, offset):
    box = lesson.bar("forward").locator('[data-handle="body"]').bounding_box()
    x, y = box["x"] + box["width"] + offset, box["y"] + box["height"] / 2
    assert at(lesson, x, y) == "forward end"
    mouse = lesson.page.mouse
    mouse.move(x, y)
    mouse.down()
    mouse.move(x + 20 * lesson.px_per_ms, y, steps=5)
    mouse.up()
    assert lesson.phase("forward")["duration"] == 220.0
    assert lesson.phase("backward") == RELEASE["phases"][2]


def test_a_chosen_bars_ends_lie_over_its_neighbours(lesson):
    lesson.choose("backward")
    box = lesson.bar("backward").locator('[data-handle="body"]').bounding_box()
    y = box["y"] + box["height"] / 2
    assert at(lesson, box["x"] - 3, y) == "backward start"
    assert at(lesson, box["x"] + 2, y) == "backward start"
    lesson.drag("optimizer", "body", 0)
    lesson.choose("forward")
    assert at(lesson, box["x"] + 2, y) == "forward end"


# What more would buy


def test_what_more_would_buy_keeps_up_with_a_drag(lesson):
    lesson.choose("exchange")
    assert "50 ms more counts in full" in lesson.text("takeover")
    lesson.drag("exchange", "body", 80, release=False)
    during = lesson.text("takeover"), lesson.text("drag")
    lesson.page.mouse.up()
    assert (lesson.text("takeover"), lesson.text("drag")) == during
    assert "130 ms" in during[0]
    lesson.drag("exchange", "end", -30, release=False)
    during = lesson.text("takeover"), lesson.text("drag")
    lesson.page.mouse.up()
    assert (lesson.text("takeover"), lesson.text("drag")) == during
    assert during[1] == "100"
