"""The lessons, with their main gesture made by a reader, and their questions answered.

What the page and the kernel must say afterwards is the lesson's, worked out by hand: 8 positions
in 4 ms and 6 in 3 ms are 2,000 a second both; 6·7e9·100e9 FLOP at 64 · 300e12 · 20 % FLOP/s are
12.66 days.
"""

from __future__ import annotations

from playwright.sync_api import expect

from tests.lab.quizzes import answer_all


def eventually(notebook, expression, expected):
    """Ask the kernel until it has heard: what the page sent is on its way."""
    answer = None
    for _ in range(50):
        answer = notebook.kernel(f"print({expression})")
        if answer == expected:
            return
        notebook.page.wait_for_timeout(100)
    assert answer == expected


def press(notebook, slider, key, times=1):
    """Put the focus on a slider, wait until its values have come, and press a key."""
    slider.focus()
    notebook.page.wait_for_timeout(1500)
    for _ in range(times):
        notebook.page.keyboard.press(key)


def test_which_token_moves_is_found_by_turning_knobs(open_notebook):
    notebook = open_notebook("notebooks/07_which_token.ipynb")
    assert notebook.run_all() == []
    widget = notebook.cell("tokens = sv.TokenComparison()").locator(".stepviz.tk")
    widget.scroll_into_view_if_needed()
    expect(widget.locator(".tk-card").nth(0)).to_contain_text("2,000")
    expect(widget.locator(".tk-card").nth(1)).to_contain_text("667")

    # Eight microbatches to an update: the rates stay, and the trap is named.
    press(notebook, widget.locator('[data-knob="accumulation"]'), "ArrowRight", times=3)
    expect(widget.locator('[data-role="words"]')).to_contain_text("8 times")
    eventually(notebook, "tokens.value['accumulation']", "8")
    rates = "tokens.table.loc['{} per second', ['before', 'after']].round(2).tolist()"
    eventually(notebook, rates.format("processed positions"), "[2000.0, 2000.0]")
    eventually(notebook, rates.format("scored targets"), "[500.0, 666.67]")

    # Kernels that skip padding take 3 ms for the padded batch's 8 positions too.
    widget.locator('[data-knob="skips_padding"]').check()
    eventually(notebook, rates.format("processed positions"), "[2666.67, 2000.0]")
    eventually(notebook, rates.format("scored targets"), "[666.67, 666.67]")
    expect(widget.locator(".tk-card").nth(0)).to_contain_text("worse")
    assert answer_all(notebook) == 5


def test_how_many_days_follow_the_slider_and_the_question_turned_round(open_notebook):
    notebook = open_notebook("notebooks/08_how_many_days.ipynb")
    assert notebook.run_all() == []
    widget = notebook.cell("planner = sv.RunPlanner()").locator(".stepviz.pl")
    widget.scroll_into_view_if_needed()
    answer = widget.locator('[data-role="answer"]')
    expect(answer).to_contain_text("6.33 days")

    # 40 to 50 %, in steps of 5; then 20 % as typed.
    press(notebook, widget.locator('input[type="range"][data-knob="mfu"]'), "ArrowRight", times=2)
    expect(answer).to_contain_text("5.06 days")
    widget.locator('input[type="text"][data-knob="mfu"]').fill("20")
    notebook.page.keyboard.press("Enter")
    expect(answer).to_contain_text("12.66 days")
    eventually(notebook, "round(float(planner.answer), 2)", "12.66")

    # 4.2e21 FLOP in 5 days at 300e12 · 40 % each: 81.02 devices.
    widget.locator('[data-knob="unknown"]').select_option("devices")
    for knob, text in (("mfu", "40"), ("days", "5")):
        widget.locator(f'input[type="text"][data-knob="{knob}"]').fill(text)
        notebook.page.keyboard.press("Enter")
    eventually(notebook, "round(float(planner.answer), 2)", "81.02")
    expect(answer).to_contain_text("81")
    assert answer_all(notebook) == 5


def test_a_shorter_tail_is_dragged_and_the_cap_is_swept(open_notebook):
    notebook = open_notebook("notebooks/04_a_shorter_tail_a_slower_step.ipynb")
    assert notebook.run_all() == []

    # The contended step: backward 480 to 450 ms, and it is as long as it was without overlap.
    editor = notebook.editor("editor")
    expect(editor.locator('[data-role="completion"]')).to_contain_text("780")
    notebook.drag_end(editor, "backward", -30)
    expect(editor.locator('[data-role="completion"]')).to_contain_text("750")
    eventually(notebook, "editor.schedule.completion", "750.0")

    # 200 buckets end 150.5 ms after backward's start, 100 buckets 101; forward is 50, the
    # optimizer 10.
    cell = notebook.cell("explorer = sv.BucketExplorer(")
    panel = cell.locator(".stepviz.bk")
    panel.scroll_into_view_if_needed()
    press(notebook, panel.locator('[data-knob="cap"]'), "Home")
    expect(panel.locator('[data-role="headline"]')).to_contain_text("210.5 ms with 200 buckets")
    press(notebook, panel.locator('[data-knob="cap"]'), "ArrowRight", times=2)
    expect(panel.locator('[data-role="headline"]')).to_contain_text("161 ms with 100 buckets")
    eventually(notebook, "explorer.timeline.completion", "161.0")
    # the step beside it is the chosen one
    chosen = cell.locator('[data-px-per-ms] [data-role="completion"]')
    expect(chosen).to_contain_text("161")

    # Beside exchange compute runs slower: another cap is best, with a longer tail.
    press(notebook, panel.locator('[data-knob="compute"]'), "ArrowLeft", times=5)
    eventually(notebook, "explorer.value['compute']", "0.75")
    expect(panel.locator('[data-role="headline"]')).not_to_contain_text("161 ms")
    larger = "explorer.sweep['completion'].idxmin() > 4 * explorer.sweep['exposed'].idxmin()"
    eventually(notebook, larger, "True")
    assert answer_all(notebook) == 5


def test_what_the_budget_hides_is_free_and_what_it_does_not_is_paid(open_notebook):
    notebook = open_notebook("notebooks/02_overlap_has_a_budget.ipynb")
    assert notebook.run_all() == []
    editor = notebook.editor("editor")
    completion = editor.locator('[data-role="completion"]')
    # Exchange may begin at 300, backward ends at 600, the optimizer takes 100.
    notebook.drag_end(editor, "exchange", 150)
    expect(completion).to_contain_text("900")
    notebook.drag_end(editor, "exchange", -250)
    expect(completion).to_contain_text("700")
    eventually(notebook, "editor.timeline.phases.loc['exchange', 'duration']", "250.0")
    eventually(notebook, "editor.schedule.completion", "700.0")

    # Of seven buckets only the last one counts.
    buckets = notebook.editor("buckets")
    completion = buckets.locator('[data-role="completion"]')
    notebook.drag_end(buckets, "exchange 1", -25)
    eventually(notebook, "buckets.timeline.phases.loc['exchange 1', 'duration']", "25.0")
    expect(completion).to_contain_text("750")
    notebook.drag_end(buckets, "exchange 7", -25)
    expect(completion).to_contain_text("725")
    assert answer_all(notebook) == 4


def test_a_bar_of_a_trace_is_dragged_from_the_observed_completion(open_notebook):
    notebook = open_notebook("notebooks/05_your_own_trace.ipynb")
    assert notebook.run_all() == []
    editor = notebook.editor("editor")
    expect(editor.locator('[data-role="completion"]')).to_contain_text("80.55")
    notebook.drag_end(editor, "all-reduce 2", -5)
    # On the path through the link, what the bar loses the step loses.
    durations = "step.timeline().phases['duration'] - editor.timeline.phases['duration']"
    eventually(notebook, f"bool(3 < ({durations})['all-reduce 2'] < 7)", "True")
    gained = f"step.timeline().completion - editor.schedule.completion - ({durations}).sum()"
    assert abs(float(notebook.kernel(f"print({gained})"))) < 1e-9
    assert answer_all(notebook) == 4


def test_a_change_is_tried_on_a_trace_before_it_is_ranked(open_notebook):
    notebook = open_notebook("notebooks/09_choose_a_change_from_evidence.ipynb")
    assert notebook.run_all() == []
    editor = notebook.editor("editor")
    completion = editor.locator('[data-role="completion"]')
    expect(completion).to_contain_text("80.55")
    # The other rank's forward is as long, and the first bucket needs both.
    notebook.drag_end(editor, "r0 forward", -5)
    lost = "(step.timeline().phases['duration'] - editor.timeline.phases['duration']).sum()"
    eventually(notebook, f"bool(3 < {lost} < 7)", "True")
    gain = "step.timeline().completion - editor.schedule.completion"
    assert float(notebook.kernel(f"print({gain})")) < 0.1
    notebook.drag_end(editor, "all-reduce 2", -5)
    eventually(notebook, f"bool(3 < {gain} < 7)", "True")
    assert notebook.kernel("print([found.decision for found in verdicts.values()])") == (
        "['revert', \"can't tell\", 'keep']"
    )
    assert answer_all(notebook) == 5
