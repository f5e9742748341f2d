"""Every notebook of the course runs from top to bottom where torch is not installed."""

from __future__ import annotations

from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat", reason="reads notebooks")
nbclient = pytest.importorskip("nbclient", reason="runs notebooks")

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
COURSE = sorted(FOLDER.glob("*.ipynb"))
#: As where it is not installed: an import of it fails.
WITHOUT_TORCH = "import sys\n\nsys.modules['torch'] = None"


def name_of(path):
    return path.stem


@pytest.mark.slow
@pytest.mark.parametrize("path", COURSE, ids=name_of)
def test_it_runs_without_torch(path):
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(WITHOUT_TORCH))
    client = nbclient.NotebookClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        resources={"metadata": {"path": str(FOLDER)}},
    )
    client.execute()  # a cell that fails raises


@pytest.mark.parametrize("path", COURSE, ids=name_of)
def test_it_stores_no_output_and_ends_with_a_check(path):
    notebook = nbformat.read(path, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.outputs for cell in code] == [[]] * len(code)
    assert [cell.execution_count for cell in code] == [None] * len(code)
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    assert "predict" in text.lower()
    if path.stem != "05_your_own_trace":  # it ends with the reader's own run
        assert "Check yourself" in text
