"""The traces' makers are the tests' own: found beside them."""

import sys
from pathlib import Path

for folder in ("evidence", "traces"):
    path = str(Path(__file__).parent.parent / folder)
    if path not in sys.path:
        sys.path.insert(0, path)
