"""The built modules of the widgets in real Chromium on a stub model: no Jupyter, half a second."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import stepviz as sv
from stepviz.widgets import capture_panel

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page, Route

    from stepviz.widgets.knobs import KnobWidget
    from stepviz.widgets.quiz import Quiz
    from stepviz.widgets.viewer_answers import Answers

STATIC = Path(__file__).resolve().parents[2] / "stepviz" / "widgets" / "static"
STUB_MODEL = (Path(__file__).parent / "stub_model.js").read_text(encoding="utf-8")

# Every request to this origin is answered from memory; nothing listens there. An address on
# 127.0.0.1 is a secure context, so the clipboard works as in a real notebook server.
ORIGIN = "http://127.0.0.1:1"
HTML = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>editor</title>
<style>body { margin: 0; } #root { padding: 8px; }</style></head><body><div id="root"></div></body>
</html>"""


# Two frames on, a view has seen its size and drawn for it.
SETTLED = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


def prepare(page: Page, name: str, problems: list[str]) -> None:
    """Open an empty page of our own with a widget's style sheet in it."""

    def answer(route: Route) -> None:
        if route.request.url == ORIGIN + "/":
            route.fulfill(content_type="text/html", body=HTML)
        elif route.request.url == ORIGIN + "/favicon.ico":
            route.fulfill(status=204)
        else:
            problems.append(f"request for a file the bundle lacks: {route.request.url}")
            route.abort()

    page.route(ORIGIN + "/**", answer)
    page.goto(ORIGIN + "/")
    page.add_style_tag(content=(STATIC / f"{name}.css").read_text(encoding="utf-8"))


def load_module(
    page: Page, name: str, state: dict[str, Any], kernel: dict[str, Any] | None = None
) -> None:
    """Run a widget's module on a stub model."""
    esm = (STATIC / f"{name}.js").read_text(encoding="utf-8")
    page.evaluate(STUB_MODEL, {"esm": esm, "state": state, "kernel": kernel})


# What the viewer asks goes to Python and back, as through a kernel that is some way off.
ASK = """(delay) => {
  const wait = () => new Promise(done => setTimeout(done, delay));
  const bytes = text => new DataView(Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer);
  window.onSend = async (content) => {
    if (delay) await wait();
    const [answer, buffers] = await window.askPython(content);
    if (delay) await wait();
    window.stub.custom(answer, buffers.map(bytes));
  };
}"""


@pytest.fixture
def viewer_page(new_page: Callable[..., Page], page_problems: list[str]) -> Callable[..., Page]:
    """Load the viewer's bundle on a stub model that Python answers: ``viewer_page(answers)``.

    ``answers`` is what a `TraceViewer` answers with (`viewer_answers.Answers`), ``delay`` the
    milliseconds each way; further keywords are traits. Returns once the first lanes are drawn.
    """

    def load(
        answers: Answers,
        *,
        delay: int = 0,
        context: dict[str, Any] | None = None,
        drawn: bool = True,
        **state: Any,
    ) -> Page:
        page = new_page(**context or {})
        prepare(page, "viewer", page_problems)

        def ask(question: dict[str, Any]) -> list[Any]:
            content, buffers = answers.answer(question)
            return [content, [base64.b64encode(one).decode("ascii") for one in buffers]]

        page.expose_function("askPython", ask)
        page.evaluate(ASK, delay)
        load_module(page, "viewer", {"_scene": answers.overview(), "_selected": None, **state})
        if drawn:
            page.wait_for_selector(".tv:not([data-waiting])")
            page.evaluate(SETTLED)
        return page

    return load


# Settings and questions go to a real widget in Python and back, as through a kernel some way off.
PYTHON = """(delay) => {
  const wait = () => new Promise(done => setTimeout(done, delay));
  window.tracks = 0; // answered so far
  window.onSend = async (content) => {
    if (delay) await wait();
    const answers = await window.askPython(content);
    if (delay) await wait();
    for (const answer of answers) window.stub.custom(answer, []);
    window.tracks += answers.length;
  };
  window.setPython = async (changes) => {
    if (delay) await wait();
    const state = await window.tellPython(changes);
    if (delay) await wait();
    window.stub.fromPython(state);
  };
}"""


@pytest.fixture
def knob_page(new_page: Callable[..., Page], page_problems: list[str]) -> Callable[..., Page]:
    """Load a widget with knobs on a stub model that the widget itself answers.

    ``page = knob_page(sv.TokenComparison())``; ``delay`` is the milliseconds each way, and with
    ``answering=False`` nobody answers.
    """

    def load(
        widget: KnobWidget,
        *,
        delay: int = 0,
        answering: bool = True,
        context: dict[str, Any] | None = None,
    ) -> Page:
        page = new_page(**context or {})
        prepare(page, widget._bundle, page_problems)
        said: list[Any] = []
        widget.send = lambda content, buffers=None: said.append(content)

        def state() -> dict[str, Any]:
            names = ("value", "_shown", "_form", "_job", "_table")
            return {name: getattr(widget, name) for name in names if widget.has_trait(name)}

        def ask(content: dict[str, Any]) -> list[Any]:
            widget._asked(None, content, None)
            answers = [*said] if answering else []
            said.clear()
            return answers

        def tell(changes: dict[str, Any]) -> dict[str, Any]:
            if not answering:
                return {}
            widget.set_state(changes)
            # What is refused stays as it was typed: ipywidgets sends no value back.
            return {name: held for name, held in state().items() if name not in ("value", "_form")}

        page.expose_function("askPython", ask)
        page.expose_function("tellPython", tell)
        page.evaluate(PYTHON, delay)
        reply = "(changes) => { window.setPython(changes); return null; }"
        load_module(page, widget._bundle, state(), {"delay": 0, "reply": reply})
        page.wait_for_selector(".kn-numbers > *")
        page.evaluate(SETTLED)
        return page

    return load


@pytest.fixture
def editor_page(new_page: Callable[..., Page], page_problems: list[str]) -> Callable[..., Page]:
    """Load the editor's bundle on a stub model: ``page = editor_page(value, **state)``.

    ``value`` is the timeline as plain JSON and further keywords are further traits of the model
    (``selected=…``, ``scenarios=…``). Two keywords are not traits:

    ``context``
        options of the browser context, such as ``{"has_touch": True, "color_scheme": "dark"}``.
    ``kernel``
        ``{"delay": milliseconds, "reply": "(changes, state) => ({trait: value})"}``: a pretended
        kernel that answers each commit after the delay. Without it nobody answers.

    What the page offers to the test (``window.commits``, ``window.stub``) is described at the top
    of ``stub_model.js``.
    """

    def load(
        value: dict[str, Any],
        *,
        context: dict[str, Any] | None = None,
        kernel: dict[str, Any] | None = None,
        **state: Any,
    ) -> Page:
        page = new_page(**context or {})
        prepare(page, "editor", page_problems)
        load_module(page, "editor", {"value": value, **state}, kernel)
        page.evaluate(SETTLED)
        return page

    return load


@pytest.fixture
def quiz_page(new_page: Callable[..., Page], page_problems: list[str]) -> Callable[..., Page]:
    """Load a quiz on a stub model without a kernel: ``quiz_page(sv.Quiz(…), value=…)``."""

    def load(quiz: Quiz, *, context: dict[str, Any] | None = None, **state: Any) -> Page:
        page = new_page(**context or {})
        prepare(page, "quiz", page_problems)
        held = {name: getattr(quiz, name) for name in ("value", "revealed", "_quiz")}
        load_module(page, "quiz", {**held, **state})
        return page

    return load


@pytest.fixture
def capturing(monkeypatch: pytest.MonkeyPatch) -> sv.CapturePanel:
    """A capture panel with two runs, where captures could be made."""
    monkeypatch.setattr(capture_panel, "why_none_here", lambda: "")
    return sv.CapturePanel(runs={"base": sv.sample_run(), "slow": sv.sample_run("slow rank")})


@pytest.fixture
def listeners_of() -> Callable[[Page, str], list[str]]:
    """List the event types listened to on an object: ``listeners_of(page, "document")``.

    ``expression`` is JavaScript for the object. Compare before and after a view is removed to
    prove that nothing leaks.
    """

    def listeners(page: Page, expression: str) -> list[str]:
        session = page.context.new_cdp_session(page)
        found = session.send("Runtime.evaluate", {"expression": expression})
        answer = session.send(
            "DOMDebugger.getEventListeners", {"objectId": found["result"]["objectId"]}
        )
        session.detach()
        return sorted(listener["type"] for listener in answer["listeners"])

    return listeners
