"""What a document says beside its events, also where its JSON is broken."""

from __future__ import annotations

import re
from typing import Final

import msgspec
from msgspec import Raw

from stepviz.traces.reading.salvage import value_of
from stepviz.traces.reading.tidying import Tidied, versions

#: What is kept of it.
KEYS: Final = (
    "distributedInfo",
    "baseTimeNanoseconds",
    "stepviz",
    "deviceProperties",
    "schemaVersion",
    "cuda_driver_version",
    "cuda_runtime_version",
    "hip_driver_version",
    "hip_runtime_version",
)

_MEMBERS: Final = msgspec.json.Decoder(dict[str, Raw])
_VALUE: Final = msgspec.json.Decoder(Raw)


def members_of(text: bytes, tidied: Tidied) -> tuple[dict[str, Raw] | None, bytes]:
    """Return the members of a JSON object and what follows it; None where it is broken."""
    for whole, counts in versions(text):
        members, end = value_of(whole, _MEMBERS.decode)
        if members is not None:
            tidied.add(counts)
            return members, whole[end:]
    return None, b""


def wanted_members(text: bytes) -> dict[str, Raw]:
    """Return what broken JSON still says of `KEYS`."""
    found = {}
    for key in KEYS:
        for match in re.finditer(rb'"%b"\s*:' % key.encode(), text):
            value, _ = value_of(text[match.end() :], _VALUE.decode)
            if value is not None:
                found[key] = value
    return found
