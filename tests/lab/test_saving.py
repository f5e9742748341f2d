"""Widgets saved from a real JupyterLab: by their buttons, and as pages that then need nobody."""

from __future__ import annotations

from tests.browser.saved import downloaded, drawn

CELL = """import stepviz as sv
planner = sv.RunPlanner(mfu=0.5)
planner"""


def test_the_buttons_save_what_is_on_the_screen_and_python_the_page(open_notebook, new_page):
    notebook = open_notebook(cells=[CELL])
    assert notebook.run_all() == []
    root = notebook.page.locator(".stepviz.kn")
    root.locator('[data-role="answer"]').wait_for()
    texts = drawn(downloaded(notebook.page, root.locator('[data-role="save-svg"]')))
    answer = notebook.kernel("print(float(planner.answer))")
    assert f"{float(answer):.2f} days" in texts
    picture = downloaded(notebook.page, root.locator('[data-role="save-png"]'))
    assert picture.startswith(b"\x89PNG")
    path = notebook.kernel(
        "import pathlib; planner.save_html('plan.html'); print(pathlib.Path('plan.html').resolve())"
    )
    page = new_page()
    page.context.set_offline(True)
    page.goto(f"file://{path}")
    shown = page.locator('[data-role="answer"]')
    shown.wait_for()
    assert shown.get_attribute("data-value") == answer
