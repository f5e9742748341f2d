"""Run a notebook in a real JupyterLab and take pictures of it, light and dark.

    .venv/bin/python -m tools.screenshot notebooks/01_a_step_is_a_graph.ipynb

The notebook is copied first, so running it changes nothing in the checkout. Pictures of each
widget in it go to ``screenshots/``; with ``--page``, pictures of the whole window too.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tools import jupyter_lab
from tools.find_chromium import FLAGS, require_chromium

ROOT = Path(__file__).resolve().parents[1]

# the editor once it knows its scale, the viewer once its lanes have come; knobs and quizzes
WIDGETS = "[data-px-per-ms], .tv:not([data-waiting]), .stepviz.kn, .stepviz.qz"

THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}

SET_THEME = """async (theme) => {
    await window.jupyterapp.commands.execute('apputils:change-theme', { theme });
}"""
# the splash covers the window while the theme loads
THEME_IS = """dark => document.body.dataset.jpThemeLight === String(!dark)
    && !document.querySelector('#jupyterlab-splash')"""


def take(page: Page, name: str, out: Path, *, whole_page: bool) -> list[Path]:
    """Take the pictures of a notebook that has run; returns their paths."""
    taken = []
    editors = page.locator(WIDGETS)
    for theme, title in THEMES.items():
        page.evaluate(SET_THEME, title)
        page.wait_for_function(THEME_IS, arg=theme == "dark")
        for index in range(editors.count()):
            path = out / f"{name}-{index}-{theme}.png"
            editors.nth(index).scroll_into_view_if_needed()
            editors.nth(index).screenshot(path=path)
            taken.append(path)
        if whole_page or editors.count() == 0:
            path = out / f"{name}-{theme}.png"
            page.screenshot(path=path)
            taken.append(path)
    return taken


def main() -> None:
    """Read the command line and do it."""
    parser = argparse.ArgumentParser(description="Run a notebook and take pictures of it.")
    parser.add_argument("notebook", type=Path)
    parser.add_argument("--out", type=Path, default=ROOT / "screenshots")
    parser.add_argument("--width", type=int, default=1400, help="of the window, pixels")
    parser.add_argument("--height", type=int, default=1000, help="of the window, pixels")
    parser.add_argument("--page", action="store_true", help="the whole window too")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)

    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        root = Path(scratch) / "root"
        root.mkdir()
        (root / args.notebook.name).write_bytes(args.notebook.read_bytes())
        chromium = playwright.chromium.launch(executable_path=require_chromium(), args=list(FLAGS))
        viewport = {"width": args.width, "height": args.height}
        page = chromium.new_page(viewport=viewport)  # type: ignore[arg-type] # wants its own dict
        with jupyter_lab.serve(root, Path(scratch)) as url:
            jupyter_lab.open_notebook(page, url, args.notebook.name)
            for error in jupyter_lab.run_all(page):
                print(f"a cell failed: {error}")
            for path in take(page, args.notebook.stem, args.out, whole_page=args.page):
                print(path)
            jupyter_lab.close_sessions(page, url)
        chromium.close()


if __name__ == "__main__":
    main()
