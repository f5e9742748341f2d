"""The notebooks as somebody meets them: open one, run it, drag its bars.

The numbers are the lesson's, worked out by hand: forward ends at 200 and backward at 600 ms;
exchange runs from 300 to 650, and the optimizer's 100 ms end the step at 750. In the release model
exchange starts 100 ms after forward whatever backward does, so 25 ms off exchange are 25 ms off the
step. In SS+FF its finish lags backward's by 50 ms, so exchange merely starts later.
"""

from __future__ import annotations

import pytest

from tests.lab.quizzes import answer_all
from tests.lab.start_notebook import (
    START,
    drag_the_optimizer_to_50_ms,
    wait_for_completion,
    wait_for_kernel,
)


@pytest.mark.parametrize("latency", [0, 75, 150])
def test_the_optimizer_dragged_to_50_ms_ends_the_step_at_700(open_notebook, latency):
    drag_the_optimizer_to_50_ms(open_notebook(START, latency=latency))


def test_exchange_25_ms_shorter_saves_25_in_one_model_and_nothing_in_the_other(open_notebook):
    start = open_notebook(START)
    assert start.run_all() == []

    release = start.editor("editor")
    start.drag_end(release, "exchange", -25)
    wait_for_completion(start, release, 725)
    wait_for_kernel(start, "editor.schedule.completion", "725.0")

    ss_ff = start.editor("held")
    start.drag_end(ss_ff, "exchange", -25)
    wait_for_kernel(start, "held.timeline.phases.loc['exchange', 'duration']", "325.0")
    assert start.kernel("print(held.schedule.completion)") == "750.0"
    wait_for_completion(start, ss_ff, 750)
    # and the page says why
    message = ss_ff.locator('[data-role="message"]').text_content()
    assert "held by backward (FF" in message
    assert answer_all(start) == 7


def test_the_notebook_about_waits_finds_the_slow_rank_on_the_path(open_notebook):
    notebook = open_notebook("notebooks/06_whose_fault_is_the_wait.ipynb")
    assert notebook.run_all() == []
    page = notebook.page
    page.wait_for_selector(".tv:not([data-waiting])")
    # Search for what the path named, as the text proposes.
    page.locator(".tv [data-role='lanes']").scroll_into_view_if_needed()
    page.locator(".tv [data-role='lanes']").focus()
    page.keyboard.press("/")
    page.keyboard.type("planted")
    page.keyboard.press("Enter")
    count = page.locator(".tv [data-role='search-count']").element_handle()
    page.wait_for_function("count => count.textContent.includes(' of ')", arg=count)
    # The clock that was set off is put right, and the same rank is named.
    named = "aligned.step().slowest['rank']['most_own_time'], aligned.clock['moved'].any()"
    assert notebook.kernel(f"print({named})") == "1 True"
    assert answer_all(notebook) == 4
