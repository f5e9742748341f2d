"""Real notebooks in a real JupyterLab in a real browser: some ten seconds a test, so only a few."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tools import jupyter_lab

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Locator, Page

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"

# The fixture that runs each program.
SERVERS = {"jupyterlab": "lab", "notebook": "notebook_7"}

# JupyterLab draws a cell when it comes into view.
SHOW_CELL = """async (start) => {
    const { content } = window.jupyterapp.shell.currentWidget;
    const { cells } = content.model.sharedModel;
    await content.scrollToItem(cells.findIndex(cell => cell.source.includes(start)), 'start');
}"""


@dataclass(frozen=True)
class Notebook:
    """A notebook shown by JupyterLab, and gestures on the editor in it."""

    page: Page

    def run_all(self) -> list[str]:
        """Run every cell; returns the errors they ended with."""
        return jupyter_lab.run_all(self.page)

    def kernel(self, code: str) -> str:
        """Run code in the kernel; returns what it printed, stripped."""
        return jupyter_lab.run_in_kernel(self.page, code).strip()

    def cell(self, source: str) -> Locator:
        """Return the first code cell that holds this source, brought into view."""
        self.page.evaluate(SHOW_CELL, source)
        return self.page.locator(".jp-CodeCell", has_text=source).first

    def editor(self, variable: str) -> Locator:
        """Return the root of the editor that the cell `variable = sv.TimelineEditor(…)` shows."""
        root = self.cell(f"{variable} = sv.TimelineEditor(").locator("[data-px-per-ms]")
        root.scroll_into_view_if_needed()
        return root

    def completion(self, editor: Locator) -> str:
        """Return what the editor says the completion is, in words."""
        return (editor.locator('[data-role="completion"]').text_content() or "").strip()

    def shows(self, view: Locator, milliseconds: float) -> None:
        """Wait until an editor says that this is the completion."""
        self.page.wait_for_function(
            "([element, pattern]) => new RegExp(pattern).test(element.textContent)",
            arg=[
                view.locator('[data-role="completion"]').element_handle(),
                rf"^\s*{re.escape(str(milliseconds))}(\.0+)?\s*ms",
            ],
        )

    def eventually(self, expression: str, expected: str) -> None:
        """Ask the kernel until it has heard: what the page sent is on its way."""
        answer = None
        for _ in range(100):
            answer = self.kernel(f"print({expression})")
            if answer == expected:
                return
            self.page.wait_for_timeout(100)
        assert answer == expected, f"the kernel says {expression} is {answer}"

    def end_of(self, editor: Locator, phase: str) -> tuple[float, float]:
        """Return where a bar's end handle is, in pixels of the window, once it keeps still.

        Cells above render late, and then push the ones below. A collective is drawn on each of its
        ranks: this is the first.
        """
        handle = editor.locator(f'[data-phase="{phase}"] [data-handle="end"]').first
        handle.scroll_into_view_if_needed()
        last = None
        while True:
            box = handle.bounding_box()
            assert box is not None, f"the end of {phase} is not on the page"
            if box == last:
                return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
            last = box
            self.page.wait_for_timeout(100)

    def drag_end(self, editor: Locator, phase: str, by_ms: float, steps: int = 12) -> None:
        """Drag a bar's end handle to the right (or left, when negative) and let go."""
        px_per_ms = float(editor.get_attribute("data-px-per-ms") or "nan")
        x, y = self.end_of(editor, phase)
        mouse = self.page.mouse
        mouse.move(x, y)
        mouse.down()
        mouse.move(x + by_ms * px_per_ms, y, steps=steps)
        mouse.up()


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a JupyterLab that serves a copy of the notebooks."""
    root = tmp_path_factory.mktemp("lab-root")
    shutil.copytree(NOTEBOOKS, root / "notebooks")
    with jupyter_lab.serve(root, tmp_path_factory.mktemp("lab")) as url:
        yield url


@pytest.fixture(scope="session")
def notebook_7(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a Notebook 7 with nothing to show yet."""
    root, scratch = tmp_path_factory.mktemp("notebook-root"), tmp_path_factory.mktemp("notebook")
    with jupyter_lab.serve(root, scratch, "notebook") as url:
        yield url


@pytest.fixture
def open_notebook(
    request: pytest.FixtureRequest, new_page: Callable[..., Page]
) -> Iterator[Callable[..., Notebook]]:
    """Open a notebook: ``open_notebook("notebooks/x.ipynb")`` or ``open_notebook(cells=[...])``.

    ``latency`` delays each message between page and kernel by so many milliseconds each way;
    ``program="notebook"`` shows it in Notebook 7.
    """
    opened: list[tuple[Page, str]] = []

    def show(
        path: str = "",
        *,
        cells: list[str] | None = None,
        latency: int = 0,
        program: str = "jupyterlab",
    ) -> Notebook:
        url: str = request.getfixturevalue(SERVERS[program])
        page = new_page(viewport={"width": 1400, "height": 1000})
        opened.append((page, url))
        if latency:
            page.add_init_script(jupyter_lab.LATENCY % latency)
        if cells is not None:
            path = f"cells-{len(opened)}.ipynb"
            jupyter_lab.put_notebook(page, url, path, cells)
        jupyter_lab.open_notebook(page, url, path, program)
        return Notebook(page)

    yield show
    for url in dict.fromkeys(url for _, url in opened):
        jupyter_lab.close_sessions(opened[0][0], url)
