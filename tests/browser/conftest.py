"""The editor's built module in real Chromium on a stub model: no Jupyter, half a second a test."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page, Route

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

        def answer(route: Route) -> None:
            if route.request.url == ORIGIN + "/":
                route.fulfill(content_type="text/html", body=HTML)
            elif route.request.url == ORIGIN + "/favicon.ico":
                route.fulfill(status=204)
            else:
                page_problems.append(f"request for a file the bundle lacks: {route.request.url}")
                route.abort()

        page.route(ORIGIN + "/**", answer)
        page.goto(ORIGIN + "/")
        page.add_style_tag(content=(STATIC / "editor.css").read_text(encoding="utf-8"))
        esm = (STATIC / "editor.js").read_text(encoding="utf-8")
        page.evaluate(
            STUB_MODEL, {"esm": esm, "state": {"value": value, **state}, "kernel": kernel}
        )
        page.evaluate(SETTLED)
        return page

    return load


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
