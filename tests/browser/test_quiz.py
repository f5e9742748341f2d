"""The quiz's real bundle in real Chromium: answer first, then see why."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

import stepviz as sv

STEP = {
    "question": "The exchange gets 25 ms faster. When does the step end?",
    "answer": 725,
    "unit": "ms",
    "wrong": {
        750: "That is the step as it was: here `exchange` does hold the optimizer.",
        775: "That is 25 ms more.",
    },
    "why": "All of the 25 ms are exposed.",
}
CHOICE = {
    "question": "When does the step end?",
    "choices": [1050, 600, 750],
    "unit": "ms",
    "answer": 750,
    "wrong": {1050: "That adds up what overlaps."},
    "why": "The update waits for the gradients.",
}


def role(page, name):
    return page.locator(f'.stepviz.qz [data-role="{name}"]')


def answer(page, typed):
    role(page, "field").fill(typed)
    page.keyboard.press("Enter")


def test_nothing_is_given_away_at_first(quiz_page):
    page = quiz_page(sv.Quiz(**STEP))
    root = page.locator(".stepviz.qz")
    for hidden in ("725", "750", "775", "exposed"):
        assert hidden not in root.inner_text()
    shown = root.get_by_role("button")
    assert shown.all_inner_texts() == ["Check"]
    assert role(page, "field").input_value() == ""
    expect(role(page, "others")).to_be_hidden()


def test_a_mistake_is_named_and_the_right_answer_explained(quiz_page):
    page = quiz_page(sv.Quiz(**STEP))
    answer(page, "0.75 s")
    verdict = role(page, "verdict")
    expect(verdict).to_contain_text("Not that: That is the step as it was")
    assert verdict.locator("code").inner_text() == "exchange"
    assert "725" not in page.locator(".stepviz.qz").inner_text()
    assert role(page, "why").count() == 0
    assert page.evaluate("window.commits") == [{"value": 750}]
    assert role(page, "field").input_value() == "0.75 s"  # as it was typed

    # What was said of one answer is gone while the next one is written.
    role(page, "field").press_sequentially("1")
    expect(verdict).to_be_empty()

    answer(page, "725")
    expect(verdict).to_contain_text("Right: 725 ms")
    expect(role(page, "why")).to_have_text("All of the 25 ms are exposed.")
    assert page.evaluate("window.commits.at(-1)") == {"value": 725}
    expect(role(page, "reveal")).to_be_hidden()
    role(page, "others").locator("summary").click()
    expect(role(page, "others")).to_contain_text("775 ms")

    role(page, "again").click()
    assert page.evaluate("window.commits.at(-1)") == {"value": None}
    expect(verdict).to_be_empty()
    expect(role(page, "field")).to_have_value("")
    expect(role(page, "field")).to_be_focused()
    expect(role(page, "others")).to_be_hidden()


def test_an_unknown_wrong_answer_may_have_the_answer_shown(quiz_page):
    page = quiz_page(sv.Quiz(**STEP))
    answer(page, "650")
    verdict = role(page, "verdict")
    expect(verdict).to_contain_text("Think again")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(role(page, "reveal")).to_be_focused()
    page.keyboard.press("Enter")
    expect(verdict).to_contain_text("The answer: 725 ms")
    expect(role(page, "why")).to_be_visible()
    expect(verdict).to_be_focused()
    assert page.evaluate("window.commits.at(-1)") == {"revealed": True}


def test_what_cant_be_read_is_no_answer(quiz_page):
    page = quiz_page(sv.Quiz(**STEP))
    for typed, words in (
        ("", "Write a number first."),
        ("<b>soon</b>", "“<b>soon</b>” can't be read"),
        ("7 MiB", "Give it in ms: “MiB” is another unit."),
    ):
        answer(page, typed)
        expect(role(page, "verdict")).to_contain_text(words)
        expect(role(page, "field")).to_have_attribute("aria-invalid", "true")
        expect(role(page, "field")).to_be_focused()
    assert page.evaluate("window.commits") == []
    expect(role(page, "reveal")).to_be_hidden()
    role(page, "field").fill("8")
    assert role(page, "field").get_attribute("aria-invalid") is None


def test_a_choice_is_made_with_keys(quiz_page):
    page = quiz_page(sv.Quiz(**CHOICE))
    group = page.get_by_role("radiogroup", name="When does the step end?")
    assert group.get_by_role("radio").count() == 3
    page.get_by_role("button", name="Check").click()
    expect(role(page, "verdict")).to_have_text("Choose one first.")
    page.get_by_role("radio", name="1,050 ms").focus()
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    expect(role(page, "verdict")).to_contain_text("That adds up what overlaps.")
    wrong, _, right = page.locator(".qz-choice").all()
    assert wrong.get_attribute("data-state") == "wrong"
    assert right.get_attribute("data-state") is None
    page.keyboard.press("ArrowUp")  # round to the last one
    expect(role(page, "verdict")).to_be_empty()
    page.keyboard.press("Enter")
    expect(role(page, "verdict")).to_contain_text("Right: 750 ms")
    assert right.get_attribute("data-state") == "right"
    assert [c["value"] for c in page.evaluate("window.commits")] == ["1,050 ms", "750 ms"]


def test_python_gives_shows_and_resets_an_answer(quiz_page):
    page = quiz_page(sv.Quiz(**STEP), value=750)
    expect(role(page, "field")).to_have_value("750")
    expect(role(page, "verdict")).to_contain_text("Not that")
    page.evaluate("window.stub.fromPython({ revealed: true })")
    expect(role(page, "verdict")).to_contain_text("The answer: 725 ms")
    page.evaluate("window.stub.fromPython({ value: null, revealed: false })")
    expect(role(page, "verdict")).to_be_empty()
    expect(role(page, "field")).to_have_value("")


def test_two_views_keep_in_step_and_leave_nothing_behind(quiz_page):
    page = quiz_page(sv.Quiz(**CHOICE))
    page.evaluate("window.stub.addView()")
    first, second = page.locator(".stepviz.qz").all()
    first.get_by_role("radio", name="600 ms").check()
    first.get_by_role("button", name="Check").click()
    expect(second.locator('[data-role="verdict"]')).to_contain_text("Think again")
    expect(second.get_by_role("radio", name="600 ms")).to_be_checked()
    second.get_by_role("radio", name="750 ms").check()
    expect(first.get_by_role("radio", name="600 ms")).to_be_checked()  # groups of their own
    page.evaluate("window.stub.closeModel()")
    counts = page.evaluate("Object.values(window.stub.listeners).map(l => l.length)")
    assert set(counts) == {0}


def test_everything_has_a_name_and_is_heard(quiz_page):
    page = quiz_page(sv.Quiz(**STEP))
    field = page.get_by_role("textbox", name="your answer, in ms")
    described = field.get_attribute("aria-describedby")
    verdict = page.locator(f"#{described}")
    assert verdict.get_attribute("role") == "status"
    assert page.get_by_role("region", name=STEP["question"]).count() == 1
    bare = ":is(input, button, summary, [tabindex]):not([data-lm-suppress-shortcuts])"
    assert page.locator(f".stepviz {bare}").count() == 0


def test_markup_in_a_question_stays_text(quiz_page, page_problems):
    evil = "<img src=x onerror=window.hit=1>"
    texts = {"question": evil, "why": evil, "wrong": {"no": evil}}
    page = quiz_page(sv.Quiz(**{**texts, "choices": ["no", evil], "answer": evil}))
    page.get_by_role("radio").first.check()
    page.get_by_role("button", name="Check").click()
    page.get_by_role("radio").last.check()
    page.get_by_role("button", name="Check").click()
    expect(role(page, "why")).to_have_text(evil)
    assert page.locator(".stepviz img").count() == 0
    assert page.evaluate("window.hit") is None


@pytest.mark.parametrize(
    "context",
    [
        {"viewport": {"width": 320, "height": 800}},
        {"color_scheme": "dark", "forced_colors": "active"},
    ],
    ids=["narrow", "high contrast"],
)
def test_it_fits(quiz_page, context):
    page = quiz_page(sv.Quiz(**CHOICE), value="1,050 ms", revealed=True, context=context)
    wide = page.evaluate("(r => r.scrollWidth - r.clientWidth)(document.querySelector('.stepviz'))")
    assert wide <= 0
    expect(role(page, "why")).to_be_visible()


def test_a_saved_page_asks_and_judges_by_itself(new_page, tmp_path):
    path = tmp_path / "quiz.html"
    sv.Quiz(**STEP).save_html(path)
    page = new_page()
    page.goto(path.as_uri())
    answer(page, "750 ms")
    expect(role(page, "verdict")).to_contain_text("That is the step as it was")
    answer(page, "0.725 s")
    expect(role(page, "why")).to_have_text(STEP["why"])
