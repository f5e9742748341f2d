"""Bring the notebooks and their texts in step: of each pair, the one edited last is the truth.

    make notebooks

A notebook's JSON is hard to review, so each has its text in ``notebooks/text``, by jupytext, as
``[tool.jupytext]`` in ``pyproject.toml`` says. Edit either of them and run this; outputs go.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jupytext.cli import jupytext

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = ROOT / "notebooks"
TEXTS = NOTEBOOKS / "text"

KERNEL = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def without_outputs(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return a notebook as it is kept: no outputs, and no traces of who ran it where."""
    cells = []
    for number, cell in enumerate(notebook["cells"]):
        kept = {"cell_type": cell["cell_type"], "id": f"cell-{number:02d}"}
        folded = cell["metadata"].get("jupyter", {}).get("source_hidden", False)
        kept["metadata"] = {"jupyter": {"source_hidden": True}} if folded else {}
        if cell["cell_type"] == "code":
            kept |= {"execution_count": None, "outputs": []}
        cells.append(kept | {"source": cell["source"]})
    return {"cells": cells, "metadata": KERNEL, "nbformat": 4, "nbformat_minor": 5}


def clean(path: Path) -> bool:
    """Rewrite a notebook as it is kept; says whether that changed it."""
    before = path.read_text(encoding="utf-8")
    kept = without_outputs(json.loads(before))
    after = json.dumps(kept, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    if after != before:
        path.write_text(after, encoding="utf-8")
    return after != before


def main() -> None:
    """Bring every pair in step, and say which notebooks changed."""
    names = {path.stem for path in [*NOTEBOOKS.glob("*.ipynb"), *TEXTS.glob("*.md")]}
    for name in sorted(names):
        notebook, text = NOTEBOOKS / f"{name}.ipynb", TEXTS / f"{name}.md"
        last = max((one for one in (notebook, text) if one.exists()), key=_edited)
        before = notebook.read_bytes() if notebook.exists() else b""
        jupytext(["--quiet", "--sync", str(last)])
        clean(notebook)
        if notebook.read_bytes() != before:
            print(f"notebooks/{notebook.name} changed")


def _edited(path: Path) -> int:
    return path.stat().st_mtime_ns


if __name__ == "__main__":
    main()
