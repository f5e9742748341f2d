"""Whom a send over gloo went to: its row does not say, but the call that made it does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

#: The call, the row of what it did, and how NCCL's rows name the other rank.
_CALLS: Final = (
    ("c10d::send", "gloo:send", "Dst Rank"),
    ("c10d::recv_", "gloo:recv", "Src Rank"),
)
#: Where the rank is among the inputs of a call: after tensors and group.
_PLACE: Final = 2


def partners(document: Mapping[str, Any]) -> dict[int, dict[str, int]]:
    """Return arguments to add to rows of a trace, by their place in ``traceEvents``.

    The k-th call made the k-th row. Nothing is said where there are not as many of both, or where
    there are several process groups, in which calls number ranks anew.
    """
    if document.get("distributedInfo", {}).get("pg_count", 1) != 1:
        return {}
    found: dict[int, dict[str, int]] = {}
    events = document["traceEvents"]
    for call, row, key in _CALLS:
        calls, rows = _places(events, call), _places(events, row)
        ranks = [_rank(events[place]) for place in calls]
        if len(calls) != len(rows) or None in ranks:
            continue
        found |= {
            place: {key: rank} for place, rank in zip(rows, ranks, strict=True) if rank is not None
        }
    return found


def _places(events: list[Mapping[str, Any]], name: str) -> list[int]:
    """Return where events of a name are, by when they began."""
    places = [at for at, event in enumerate(events) if event.get("name") == name]
    return sorted(places, key=lambda at: float(events[at].get("ts", 0)))


def _rank(event: Mapping[str, Any]) -> int | None:
    inputs = event.get("args", {}).get("Concrete Inputs")
    if not isinstance(inputs, list) or len(inputs) <= _PLACE:
        return None
    said = str(inputs[_PLACE])
    return int(said) if said.isdecimal() else None
