"""Build the documentation: the guides in ``docs/`` and the API reference; any warning fails.

    .venv/bin/python -m tools.build_docs

Nothing is downloaded. The pages go to ``build/docs``, what they are made from to
``build/docs-source``: the guides as they are, and a page for each room of the package.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tools import api_pages

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
#: A guide's link to a file of the repository that is no page, which only readers of the repository
#: can follow.
OUT_OF_DOCS = re.compile(r"(?<!!)\[([^\]]+)\]\(\.\./[^)]+\)")


def write_sources(to: Path) -> None:
    """Lay out what Sphinx reads."""
    shutil.rmtree(to, ignore_errors=True)
    (to / "api").mkdir(parents=True)
    for path in sorted(DOCS.iterdir()):
        if path.suffix == ".md":
            text = OUT_OF_DOCS.sub(r"\1", path.read_text(encoding="utf-8"))
            (to / path.name).write_text(text, encoding="utf-8")
        elif path.suffix == ".png":
            shutil.copy2(path, to)
    for page in api_pages.pages():
        text = api_pages.as_text(page)
        (to / "api" / f"{page.room}.rst").write_text(text, encoding="utf-8")


def build(source: Path, out: Path) -> int:
    """Run Sphinx; returns its exit status, which is not 0 where it warned."""
    shutil.rmtree(out, ignore_errors=True)
    flags = ["-W", "--keep-going", "--quiet", "-b", "html", "-c", str(DOCS)]
    doctrees = ["-d", str(source.with_name(source.name + "-trees"))]
    command = [sys.executable, "-m", "sphinx", *flags, *doctrees, str(source), str(out)]
    # from the root, where the settings find the tools
    return subprocess.run(command, check=False, cwd=ROOT).returncode


def main() -> None:
    """Read the command line and do it."""
    parser = argparse.ArgumentParser(description="Build the documentation.")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "docs")
    args = parser.parse_args()
    out = args.out.absolute()
    source = out.with_name(out.name + "-source")
    write_sources(source)
    if status := build(source, out):
        sys.exit(status)
    print(f"built: {out / 'index.html'}")


if __name__ == "__main__":
    main()
