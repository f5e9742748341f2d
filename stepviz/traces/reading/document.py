"""One profiler file from disk to plain JSON objects, or one clear error.

Numbers with a decimal point stay text here, so that `exact` can turn times into whole
nanoseconds. Whole files are read for now; only one is in memory at a time.
"""

from __future__ import annotations

import gc
import gzip
import json
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stepviz.errors import TraceError

#: What a folder is searched for.
SUFFIXES = (".json", ".json.gz")

#: An escape that may be half a character: no text in the sense of Unicode, and unprintable.
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")

_GZIP_MAGIC = b"\x1f\x8b"
_ZIP_MAGIC = b"PK\x03\x04"


@dataclass(frozen=True)
class RawTrace:
    """The JSON of one file: events, everything beside them, and what was mended."""

    path: Path
    events: list[dict[str, Any]]
    metadata: dict[str, Any]
    size: int
    repairs: list[str] = field(default_factory=list)


def read_trace(path: Path) -> RawTrace:
    """Read one file of the PyTorch profiler.

    Parameters
    ----------
    path
        A ``.json`` file, compressed with gzip or not; the content decides, not the name.

    Returns
    -------
    RawTrace
        Its events as they stand in the file, decimals as text.

    Raises
    ------
    TraceError
        Naming the file, what is wrong and what to do.
    """
    repairs: list[str] = []
    data = _bytes_of(path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("utf-8-sig", errors="replace")
        repairs.append(f"bytes that are not UTF-8 were replaced: {text.count(chr(0xFFFD))}")
    size = len(data)
    del data
    document = _parse(path, text)
    if _SURROGATE.search(text):
        document, count = cleaned(document)
        if count:
            repairs.append(f"texts with halves of characters (surrogates) were mended: {count}")
    del text
    if isinstance(document, list):
        events, metadata = document, {}
    elif isinstance(document, dict) and isinstance(document.get("traceEvents"), list):
        events = document.pop("traceEvents")
        metadata = document
    else:
        msg = (
            f"{path} is JSON but no profiler trace: it has no list of traceEvents; "
            "pass files written by torch.profiler's export_chrome_trace"
        )
        raise TraceError(msg)
    if not events:
        msg = f"{path} holds no events (traceEvents is empty); record it again, or leave it out"
        raise TraceError(msg)
    records = [event for event in events if isinstance(event, dict)]
    if len(records) < len(events):
        repairs.append(f"entries that are no events were dropped: {len(events) - len(records)}")
    return RawTrace(path, records, metadata, size, repairs)


def _bytes_of(path: Path) -> bytes:
    if path.is_dir():
        msg = f"{path} is a folder, not a file; pass it alone, as one capture, or pass its files"
        raise TraceError(msg)
    try:
        data = path.read_bytes()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        if path.is_symlink() and not path.exists():
            reason = f"it is a link that leads nowhere: {reason}"
        msg = f"{path} cannot be opened ({reason}); check the path and its permissions"
        raise TraceError(msg) from error
    if not data:
        msg = f"{path} is empty (0 bytes): the run ended before it was written; leave it out"
        raise TraceError(msg)
    if data.startswith(_ZIP_MAGIC):
        msg = f"{path} is a zip archive; unpack it and pass the folder"
        raise TraceError(msg)
    if not data.startswith(_GZIP_MAGIC):
        return data
    try:
        return gzip.decompress(data)
    except EOFError as error:
        msg = (
            f"{path} is truncated: the gzip data ends too early, so the file was not written "
            "to its end; copy it again, or leave it out"
        )
        raise TraceError(msg) from error
    except (OSError, zlib.error) as error:
        msg = f"{path} is damaged: the gzip data cannot be unpacked ({error}); copy it again"
        raise TraceError(msg) from error


def _parse(path: Path, text: str) -> object:
    try:
        with _collector_paused():
            return json.loads(text, parse_float=str, parse_constant=str)
    except json.JSONDecodeError as error:
        if not text.strip():
            msg = f"{path} is blank; leave it out"
        elif not text.lstrip().startswith(("{", "[")):
            msg = f"{path} is no JSON, so no profiler trace; leave it out"
        elif error.pos >= len(text.rstrip()) - 1 or error.msg.startswith("Unterminated string"):
            msg = (
                f"{path} is truncated: its JSON ends in the middle of something "
                f"(after line {error.lineno}, column {error.colno}); copy it again, or leave it out"
            )
        else:
            near = re.sub(r"\s+", " ", text[max(0, error.pos - 20) : error.pos + 20])
            msg = (
                f"{path} is broken JSON at line {error.lineno}, column {error.colno} "
                f"({error.msg}, near {near!r}); mend that place, or leave the file out"
            )
        raise TraceError(msg) from error
    except (ValueError, RecursionError) as error:
        msg = f"{path} is JSON that cannot be read ({error}); leave it out"
        raise TraceError(msg) from error


def cleaned(value: Any) -> tuple[Any, int]:
    """Return JSON with lone surrogates in its texts replaced, and in how many texts they were."""
    if isinstance(value, str):
        good = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return good, int(good != value)
    if isinstance(value, list):
        pairs = [cleaned(item) for item in value]
        return [item for item, _ in pairs], sum(count for _, count in pairs)
    if isinstance(value, dict):
        keys = [cleaned(key) for key in value]
        pairs = [cleaned(item) for item in value.values()]
        count = sum(n for _, n in keys) + sum(n for _, n in pairs)
        return {key: item for (key, _), (item, _) in zip(keys, pairs, strict=True)}, count
    return value, 0


@contextmanager
def _collector_paused() -> Iterator[None]:
    # Millions of small containers and not one cycle: the collector only costs time here.
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
