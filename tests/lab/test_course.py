"""The notebooks about tokens, plans and changes, with their main gesture made by a reader.

What the page and the kernel must say afterwards is the lesson's, worked out by hand: 8 positions
in 4 ms and 6 in 3 ms are 2,000 a second both; 6·7e9·100e9 FLOP at 64 · 300e12 · 20 % FLOP/s are
12.66 days.
"""

from __future__ import annotations


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


def says(notebook, place, text):
    """Wait until a place on the page says so."""
    notebook.page.wait_for_function(
        "([place, text]) => place.textContent.includes(text)",
        arg=[place.element_handle(), text],
    )


def test_which_token_moves_is_found_by_turning_knobs(open_notebook):
    notebook = open_notebook("notebooks/06_which_token.ipynb")
    assert notebook.run_all() == []
    widget = notebook.cell("tokens = sv.TokenComparison()").locator(".stepviz.tk")
    widget.scroll_into_view_if_needed()
    says(notebook, widget.locator(".tk-card").nth(0), "2,000")
    says(notebook, widget.locator(".tk-card").nth(1), "667")

    # Eight microbatches to an update: the rates stay, and the trap is named.
    press(notebook, widget.locator('[data-knob="accumulation"]'), "ArrowRight", times=3)
    says(notebook, widget.locator('[data-role="words"]'), "8 times")
    eventually(notebook, "tokens.value['accumulation']", "8")
    rates = "tokens.table.loc['{} per second', ['before', 'after']].round(2).tolist()"
    eventually(notebook, rates.format("processed positions"), "[2000.0, 2000.0]")
    eventually(notebook, rates.format("scored targets"), "[500.0, 666.67]")

    # Kernels that skip padding take 3 ms for the padded batch's 8 positions too.
    widget.locator('[data-knob="skips_padding"]').check()
    eventually(notebook, rates.format("processed positions"), "[2666.67, 2000.0]")
    eventually(notebook, rates.format("scored targets"), "[666.67, 666.67]")
    says(notebook, widget.locator(".tk-card").nth(0), "worse")
