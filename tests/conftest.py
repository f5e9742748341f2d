"""What every layer of the tests shares: the browser, and pages that report what went wrong."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import hypothesis
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, ConsoleMessage, Page

HERE = Path(__file__).parent

# A time, a browser or a process may come late on a busy machine: tests of these are tried again,
# and the summary names each that was. All others have one try.
AGAIN = pytest.mark.flaky(reruns=2, reruns_delay=1)

# What a folder's tests need, so that no test has to say so itself.
FOLDER_MARKS = {
    "browser": (pytest.mark.browser, AGAIN),
    "lab": (pytest.mark.lab, pytest.mark.alone, pytest.mark.slow, AGAIN),
    "recording": (AGAIN,),
}

# No deadline: a busy machine is no bug, and what must be fast has a test of its own.
hypothesis.settings.register_profile("stepviz", deadline=None)
hypothesis.settings.register_profile("stepviz-ci", deadline=None, derandomize=True, database=None)
hypothesis.settings.load_profile("stepviz-ci" if os.environ.get("CI") else "stepviz")


def pytest_configure() -> None:
    """Put the environment's own commands first on PATH: set-up may have installed Node there."""
    scripts = str(Path(sys.executable).parent)
    os.environ["PATH"] = os.pathsep.join([scripts, os.environ.get("PATH", "")])


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test with what its folder needs, before ``-m`` chooses among them."""
    for item in items:
        folder = item.path.relative_to(HERE).parts[0] if item.path.is_relative_to(HERE) else ""
        for mark in FOLDER_MARKS.get(folder, ()):
            item.add_marker(mark)
        if item.get_closest_marker("alone") and not item.get_closest_marker("flaky"):
            item.add_marker(AGAIN)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Headless Chromium, started once per test process."""
    # Imported here: most tests never start a browser and should not pay for Playwright.
    from playwright.sync_api import sync_playwright

    from tools.find_chromium import FLAGS, require_chromium

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=require_chromium(), args=list(FLAGS))
        yield chromium
        chromium.close()


@pytest.fixture
def page_problems() -> Iterator[list[str]]:
    """What went wrong in the test's pages; anything left here at the end fails the test.

    A test that provokes an error on purpose checks it and then calls ``page_problems.clear()``.
    """
    problems: list[str] = []
    yield problems
    assert not problems, "the page reported: " + "; ".join(problems)


@pytest.fixture
def new_page(browser: Browser, page_problems: list[str]) -> Iterator[Callable[..., Page]]:
    """Open a fresh page, ``new_page(**options_of_browser.new_context)``.

    Errors thrown in the page, errors on its console and every request to another host than
    127.0.0.1 become ``page_problems``; such requests are refused as well.
    """
    contexts = []

    def is_elsewhere(url: str) -> bool:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https", "ws", "wss"} and parts.hostname != "127.0.0.1"

    def on_console(message: ConsoleMessage) -> None:
        if message.type == "error":
            page_problems.append(f"console error: {message.text}")

    def open_page(**options: Any) -> Page:
        context = browser.new_context(**{"viewport": {"width": 1400, "height": 900}} | options)
        contexts.append(context)
        context.set_default_timeout(15_000)
        page = context.new_page()
        page.on("pageerror", lambda error: page_problems.append(f"page error: {error}"))
        page.on("console", on_console)
        page.on(
            "request",
            lambda request: (
                page_problems.append(f"request to another host: {request.url}")
                if is_elsewhere(request.url)
                else None
            ),
        )
        context.route(is_elsewhere, lambda route: route.abort())
        return page

    yield open_page
    for context in contexts:
        context.close()


@pytest.fixture
def page(new_page: Callable[..., Page]) -> Page:
    """One fresh page of 1400 by 900 pixels."""
    return new_page()
