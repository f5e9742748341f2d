"""What a page carries packed: JSON, compressed, as text."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any


def packed_json(data: Any) -> str:
    """Return plain data as base64 of deflated JSON; the page reads it with `unpacked`."""
    plain = json.dumps(data, allow_nan=False, separators=(",", ":")).encode("ascii")
    return base64.b64encode(zlib.compress(plain, 9)).decode("ascii")
