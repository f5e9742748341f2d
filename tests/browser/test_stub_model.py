"""The test bed itself: a stub model that behaves as ipywidgets' does, and pages that watch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page

STUB_MODEL = (Path(__file__).parent / "stub_model.js").read_text(encoding="utf-8")

COUNTER = """export default {
  initialize({ signal }) {
    signal.addEventListener("abort", () => { window.modelClosed = true; });
  },
  render({ model, el, signal }) {
    const draw = () => { el.textContent = model.get("value"); };
    model.on("change:value", draw);
    document.addEventListener("keydown", draw, { signal });
    el.addEventListener("click", () => {
      model.set("value", model.get("value") + 1); model.save_changes(); });
    draw();
    return () => model.off("change:value", draw);
  } };"""


@pytest.fixture
def counter_page(page: Page) -> Callable[..., Page]:
    def load(kernel: dict[str, object] | None = None) -> Page:
        page.set_content('<div id="root"></div>')
        page.evaluate(STUB_MODEL, {"esm": COUNTER, "state": {"value": 1}, "kernel": kernel})
        return page

    return load


def test_a_commit_holds_what_changed_and_reaches_every_view(counter_page):
    page = counter_page()
    page.evaluate("stub.addView()")
    page.click(".stub-view >> nth=0")
    assert page.evaluate("commits") == [{"value": 2}]
    assert page.locator(".stub-view").all_text_contents() == ["2", "2"]


def test_saving_nothing_commits_nothing(counter_page):
    page = counter_page()
    page.evaluate("stub.model.save_changes()")
    assert page.evaluate("commits") == []


def test_the_pretended_kernel_answers_after_its_delay(counter_page):
    page = counter_page({"delay": 50, "reply": "changes => ({value: changes.value * 10})"})
    page.click(".stub-view")
    assert page.locator(".stub-view").text_content() == "2"
    page.wait_for_function("document.querySelector('.stub-view').textContent === '20'")
    assert page.evaluate("commits.length") == 1


def test_python_can_set_a_trait(counter_page):
    page = counter_page()
    page.evaluate("stub.fromPython({value: 7})")
    assert page.locator(".stub-view").text_content() == "7"
    assert page.evaluate("commits") == []


def test_closing_leaves_no_listener(counter_page, listeners_of):
    page = counter_page()
    assert listeners_of(page, "document") == ["keydown"]
    page.evaluate("stub.closeModel()")
    assert listeners_of(page, "document") == []
    assert page.evaluate("stub.listeners") == {"change:value": []}
    assert page.evaluate("modelClosed") is True


def test_a_request_to_another_host_is_refused_and_reported(page, page_problems):
    page.set_content("<img src='http://elsewhere.invalid/a.png'>", wait_until="load")
    assert any("elsewhere.invalid" in problem for problem in page_problems)
    page_problems.clear()


def test_errors_in_the_page_are_reported(page, page_problems):
    page.set_content("<script>console.error('first'); throw new Error('second')</script>")
    page.wait_for_function("document.readyState === 'complete'")
    assert [p.split(": ", 1)[1] for p in page_problems] == ["first", "second"]
    page_problems.clear()
