"""Take the README's picture anew: the editor in a real JupyterLab, in the middle of a drag.

    .venv/bin/python -m tools.make_picture

The exchange's end is held at 325 ms, so the picture shows the lesson's first answer: 725.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from playwright.sync_api import FloatRect, Page, sync_playwright

from tools import jupyter_lab
from tools.find_chromium import FLAGS, require_chromium

ROOT = Path(__file__).resolve().parents[1]
CELL = "import stepviz as sv\n\neditor = sv.TimelineEditor(sv.lesson())\neditor"
SHORTER_MS = 25
SETTLED_MS = 500
EDGE_PX = 3


def hold(page: Page) -> None:
    """Drag the end of the exchange to the left, and keep it."""
    editor = page.locator("[data-px-per-ms]")
    handle = editor.locator('[data-phase="exchange"] [data-handle="end"]')
    handle.scroll_into_view_if_needed()
    page.wait_for_timeout(SETTLED_MS)  # until the page has stopped laying itself out
    box = handle.bounding_box()
    if box is None:
        msg = "the editor shows no end of the exchange"
        raise RuntimeError(msg)
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(
        x - SHORTER_MS * float(editor.get_attribute("data-px-per-ms") or "nan"), y, steps=10
    )
    page.wait_for_timeout(SETTLED_MS)


def inside(page: Page) -> FloatRect:
    """Return where the editor is, without the edge of the cell below it."""
    box = page.locator("[data-px-per-ms]").bounding_box()
    if box is None:
        msg = "the editor has gone"
        raise RuntimeError(msg)
    return {**box, "height": box["height"] - EDGE_PX}


def main() -> None:
    """Read the command line and do it."""
    parser = argparse.ArgumentParser(description="Take the README's picture of the editor.")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "editor.png")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        root, scratch = Path(folder) / "root", Path(folder) / "lab"
        root.mkdir()
        with jupyter_lab.serve(root, scratch) as url:
            chromium = playwright.chromium.launch(
                executable_path=require_chromium(), args=list(FLAGS)
            )
            page = chromium.new_page(viewport={"width": 1280, "height": 1200})
            jupyter_lab.put_notebook(page, url, "picture.ipynb", [CELL])
            jupyter_lab.open_notebook(page, url, "picture.ipynb")
            page.evaluate("window.jupyterapp.commands.execute('application:toggle-left-area')")
            if errors := jupyter_lab.run_all(page):
                raise RuntimeError(errors[0])
            hold(page)
            page.screenshot(path=args.out, clip=inside(page))
            page.mouse.up()
            jupyter_lab.close_sessions(page, url)
            chromium.close()
    print(f"taken: {args.out}")


if __name__ == "__main__":
    main()
