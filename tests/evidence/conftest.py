"""The makers of traces are found beside the tests; so are the traces handed to this project."""

import sys
from pathlib import Path

import pytest

for folder in ("evidence", "traces"):
    path = str(Path(__file__).parent.parent / folder)
    if path not in sys.path:
        sys.path.insert(0, path)

HANDED = Path(__file__).resolve().parents[3] / "shared" / "traces"


@pytest.fixture(scope="session")
def handed():
    """Return the path of a handed trace folder; skip where it is not there."""

    def find(name):
        if not (HANDED / name).exists():
            pytest.skip(f"the handed traces are not beside this checkout: no shared/traces/{name}")
        return HANDED / name

    return find
