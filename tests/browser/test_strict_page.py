"""The modules as they are sent, in a page as strict and as coloured as VS Code's.

Its notebooks show a widget in a page that may forbid eval, foreign scripts and every request.
anywidget loads a widget's module from a blob, so that much is allowed wherever it runs. Chromium
reports whatever a policy forbids on the console, which fails the test.
"""

from __future__ import annotations

import pytest

import stepviz as sv
from stepviz.widgets.bundle import packed_module
from tests.browser.conftest import HTML, ORIGIN, SETTLED, STATIC, STUB_MODEL
from tests.browser.driver import RELEASE, Editor

# Styles are let in because anywidget puts the widget's style sheet into the page.
POLICY = (
    "default-src 'none'; script-src blob:; style-src 'unsafe-inline'; img-src data: blob:; "
    "connect-src 'none'"
)

# What VS Code sets on its pages: a class on the body, and its theme as variables.
THEMES = {
    "vscode-light": ("#ffffff", "#3b3b3b"),
    "vscode-dark": ("#1f1f1f", "#cccccc"),
    "vscode-high-contrast": ("#000000", "#ffffff"),
    "vscode-high-contrast vscode-high-contrast-light": ("#ffffff", "#292929"),
}


def strict_page(page, name, state, policy=POLICY):
    def answer(route):
        if route.request.url == ORIGIN + "/":
            headers = {"content-security-policy": policy}
            route.fulfill(content_type="text/html", body=HTML, headers=headers)
        else:
            route.fulfill(status=204)

    page.route(ORIGIN + "/**", answer)
    page.goto(ORIGIN + "/")
    page.add_style_tag(content=(STATIC / f"{name}.css").read_text(encoding="utf-8"))
    module = packed_module(f"{name}.js")
    page.evaluate(STUB_MODEL, {"esm": module, "state": state, "kernel": None})
    page.evaluate(SETTLED)


def test_the_policy_is_in_force(page, page_problems):
    strict_page(page, "editor", {"value": RELEASE})
    # later, since what the test itself evaluates may do more than the page
    evaluated = """() => new Promise(done => setTimeout(() => {
        try { eval('1'); done('allowed'); } catch (error) { done(error.name); } }))"""
    assert page.evaluate(evaluated) == "EvalError"
    page.evaluate("() => fetch('/x').catch(() => null)")
    assert any("connect-src" in problem for problem in page_problems)
    page_problems.clear()


def test_the_editor_is_dragged_and_exported(page):
    strict_page(page, "editor", {"value": RELEASE})
    editor = Editor(page)
    assert editor.completion == "750 ms"
    editor.drag("exchange", "end", -25)
    assert editor.completion == "725 ms"
    assert editor.values()[-1]["phases"][4]["duration"] == 325
    # A picture is drawn in the page itself, and saved from a blob.
    editor.role("export").click()
    for role in ("save-svg", "save-png"):
        with page.expect_download():
            editor.role(role).click()


WIDGETS = {
    "tokens": sv.TokenComparison,
    "planner": sv.RunPlanner,
    "viewer": lambda: sv.TraceViewer(sv.sample_run("long tail").step()),
}


@pytest.mark.parametrize("name", WIDGETS)
def test_the_others_are_drawn(page, name):
    widget = WIDGETS[name]()
    state = {key: value for key, value in widget.get_state().items() if key != "layout"}
    strict_page(page, name, {**state, "_esm": "", "_css": ""})
    page.locator(".stepviz").wait_for()
    widget.close()


def as_rgb(color):
    return f"rgb({int(color[1:3], 16)}, {int(color[3:5], 16)}, {int(color[5:7], 16)})"


@pytest.mark.parametrize("theme", THEMES)
def test_it_takes_the_colours_of_vs_code(page, theme):
    background, text = THEMES[theme]
    strict_page(page, "editor", {"value": RELEASE})
    page.emulate_media(color_scheme="light" if background != "#ffffff" else "dark")
    page.evaluate(
        """([theme, background, text]) => {
            document.body.className = theme;
            document.documentElement.style.setProperty('--vscode-editor-background', background);
            document.documentElement.style.setProperty('--vscode-editor-foreground', text);
        }""",
        [theme, background, text],
    )
    shown = page.locator(".stepviz").evaluate("""element => {
        const { backgroundColor, color, colorScheme } = getComputedStyle(element);
        return [backgroundColor, color, colorScheme];
    }""")
    scheme = "light" if background == "#ffffff" else "dark"
    # The page's own scheme counts, whatever the system's is.
    assert shown == [as_rgb(background), as_rgb(text), scheme]
