"""The notebook that predicts a change and makes it, as somebody runs it."""

from __future__ import annotations

import pytest

from tests.lab.quizzes import answer_all


def test_what_was_predicted_is_made_here_and_compared(open_notebook):
    pytest.importorskip("torch", reason="makes the changes for real")
    notebook = open_notebook("notebooks/03_predict_then_check.ipynb")
    assert notebook.run_all() == []
    # Torch is here, so the table is this machine's, not the recorded one.
    assert notebook.kernel("print(found is table, len(found))") == "False 4"
    decided = "set(found['verdict']) <= {'keep', 'revert', \"can't tell\"}"
    assert notebook.kernel(f"print({decided})") == "True"
    # 0.25 MiB makes 11 messages of 2.5 ms where backward hides about as much as six take.
    assert notebook.kernel("print(found['predicted_ms'].idxmax())") == "cap 0.25"
    notebook.cell("explorer = sv.BucketExplorer(").scroll_into_view_if_needed()
    assert notebook.kernel("print(explorer.value['cap'])") == "0.5"
    assert answer_all(notebook) == 5
