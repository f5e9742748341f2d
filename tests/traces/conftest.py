"""Where the handed traces are, and short ways to write traces of our own."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

import stepviz as sv

#: Real traces handed to this project beside its repository; not part of it.
HANDED = Path(__file__).resolve().parents[3] / "shared" / "traces"


@pytest.fixture(scope="session")
def handed():
    """Return the path of a handed trace folder or file; skip where it is not there."""

    def find(name: str) -> Path:
        path = HANDED / name
        if not path.exists():
            pytest.skip(f"the handed traces are not beside this checkout: no shared/traces/{name}")
        return path

    return find


@pytest.fixture
def write_trace(tmp_path):
    """Write a trace (dict or list) as JSON, compressed where the name says so."""

    def write(name: str, document: object, folder: Path = tmp_path) -> Path:
        path = folder / name
        data = json.dumps(document).encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write


@pytest.fixture
def load(write_trace):
    """Load documents by rank."""

    def read(documents, **options):
        for rank, trace in documents.items():
            path = write_trace(f"rank{rank}.json", trace)
        return sv.load_run(path.parent, **options)

    return read
