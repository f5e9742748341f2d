"""Trace files of one rank: scrubbed, stripped of what nobody reads, written in one piece.

Names of hosts, users and paths are taken out, process and thread ids made small, and arguments
that no reader of stepviz needs dropped: what is left is a fifth of the file. Numbers keep the
text they were written in, so that no time is rounded on the way.
"""

from __future__ import annotations

import gzip
import json
import os
import platform
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from stepviz.files import whole_file
from stepviz.recording.partners import partners

#: The same ids in every file, however the machine numbered its processes.
FIRST_ID: Final = 1000
#: Top-level keys that say something about the run and nothing about the machine's owner.
KEPT_KEYS: Final = (
    "schemaVersion",
    "deviceProperties",
    "record_shapes",
    "distributedInfo",
    "displayTimeUnit",
    "baseTimeNanoseconds",
)
_NAMES: Final = ("thread_name", "process_name", "process_labels", "process_sort_index")
#: Of a path only the last part says what a row is.
_PATH: Final = re.compile(r"(?<![\w.])(?:~|[A-Za-z]:)?(?:[/\\][\w.+@ -]+)+[/\\](?=[\w.+@-])")


class _Text(str):
    """A number as it was written."""

    __slots__ = ()


def write_trace(
    trace: Path, target: Path, record: Mapping[str, Any], *, pid: int | None = None
) -> int:
    """Scrub an exported trace, put the record into it and give it its name at the very end.

    Parameters
    ----------
    trace : Path
        What the profiler exported, as plain JSON.
    target : Path
        The file to write, ``.json.gz``.
    record : mapping
        What goes under the key ``stepviz``.
    pid : int, optional
        The process the trace is of; this one unless given.

    Returns
    -------
    int
        Its size in bytes.
    """
    document = json.loads(trace.read_bytes(), parse_float=_Text)
    clean = scrubbed(document, record, os.getpid() if pid is None else pid)
    text = json.dumps(clean, separators=(",", ":"))
    packed = gzip.compress(_bare(text).encode(), compresslevel=6, mtime=0)
    return write_whole(target, packed)


def write_whole(target: Path, content: bytes) -> int:
    """Write a file so that nobody ever sees half of it; return its size in bytes."""
    with whole_file(target) as file:
        file.write(content)
    return len(content)


def scrubbed(document: Mapping[str, Any], record: Mapping[str, Any], pid: int) -> dict[str, Any]:
    """Return a trace without names of hosts, users and paths, and without dead weight."""
    # The reader's own list of what it looks at.
    from stepviz.traces.reading.events import Args

    kept = frozenset(Args.__struct_encode_fields__)
    ids: dict[Any, int] = {pid: FIRST_ID}
    host = platform.node()
    names: dict[str, str] = {}
    events = []
    others = partners(document)
    for place, event in enumerate(document["traceEvents"]):
        if event.get("ph") == "M" and event.get("name") not in _NAMES:
            continue
        clean = {key: value for key, value in event.items() if key != "args"}
        if event.get("pid") == pid:
            clean["pid"] = FIRST_ID
            if isinstance(event.get("tid"), int):
                clean["tid"] = ids.setdefault(event["tid"], FIRST_ID + len(ids))
        name = str(event.get("name", ""))
        if name not in names:
            names[name] = _impersonal(name, host)
        clean["name"] = names[name]
        args = {k: v for k, v in event.get("args", {}).items() if k in kept}
        if event.get("ph") == "M":
            args = _named(event, args, clean)
        elif not _sized(name):
            args.pop("Input Dims", None)
            args.pop("Input type", None)
        args |= others.get(place, {})
        if args:
            clean["args"] = args
        events.append(_marked(clean))
    found = {key: _marked(document[key]) for key in KEPT_KEYS if key in document}
    return {**found, "stepviz": record, "traceEvents": events}


def _named(
    event: Mapping[str, Any], args: dict[str, Any], clean: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what a thread or process may be called: what it does, not whose it is."""
    said = str(event.get("args", {}).get("name", ""))
    if event["name"] == "thread_name" and not said.startswith("stream"):
        found = re.search(r"\((pt_\w+|emulated \w+)\)", said)
        kind = found[1] if found else "python"
        return {"name": f"thread {clean.get('tid')} ({kind})"}
    if event["name"] == "process_name":
        return {"name": "python"}
    return {k: v for k, v in args.items() if k in ("name", "labels")}


def _sized(name: str) -> bool:
    """Say whether a reader needs to know how large an event's tensors are."""
    return name.startswith(("c10d::", "gloo:")) or "AccumulateGrad" in name


def _impersonal(name: str, host: str) -> str:
    name = _PATH.sub("", name)
    if len(host) > 3 and host not in ("localhost", "host"):
        name = re.sub(rf"\b{re.escape(host)}\b", "host", name)
    return name


def _marked(value: Any) -> Any:
    if isinstance(value, _Text):
        return f"\0{value}\0"
    if isinstance(value, dict):
        return {key: _marked(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_marked(item) for item in value]
    return value


def _bare(text: str) -> str:
    """Undo the quotes around numbers kept as text."""
    return text.replace('"\\u0000', "").replace('\\u0000"', "")
