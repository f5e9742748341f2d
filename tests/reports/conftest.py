"""Reports of runs, written and read again."""

from __future__ import annotations

import json

import pytest

import stepviz as sv
from tests.reports.parsed import Report


@pytest.fixture
def written(tmp_path):
    """Write the report of a run to a file; return it as parsed."""

    def write(run, **options):
        path = sv.report(run, tmp_path / "step.html", **options)
        return Report(path.read_text(encoding="utf-8"))

    return write


@pytest.fixture
def synthetic(tmp_path):
    """Load documents as a run, from a folder of a name."""

    def load(documents, folder="run"):
        (tmp_path / folder).mkdir()
        for rank, one in enumerate(documents):
            (tmp_path / folder / f"rank{rank}.json").write_text(json.dumps(one))
        return sv.load_run(tmp_path / folder)

    return load
