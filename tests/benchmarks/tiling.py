"""Longer traces from a real one: the same rows k times, one after the other, and still valid.

    python -m tests.benchmarks.tiling shared/traces/ddp-v100-nccl-1of1 /tmp/tiled --megabytes 100

Every copy is shifted in time by whole microseconds, so that fractions stay as they are; its
correlation and External ids, flow ids, sequence numbers and step numbers continue where the copy
before it ended. Files of several ranks are shifted alike, so that their collectives still match.
With `--cut`, one step is cut out and repeated, so that the smallest trace has one step.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

#: What continues in each copy, by its key; values below 1 mean "none" and stay.
_IDS: Final = (
    "correlation",
    "External id",
    "external id",
    "id",
    "Ev Idx",
    "Record function id",
    "wait_on_cuda_event_record_corr_id",
)
_KEYS: Final = "|".join(re.escape(key) for key in (*_IDS, "Sequence number", "Seq"))
_NUMBER: Final = re.compile(
    rf'"(?:(ts)": ?(\d+)|({_KEYS})": ?([1-9]\d*)(?=[,\s}}])|(ProfilerStep#)(\d+))'
)
_EVENTS: Final = re.compile(r'"traceEvents"\s*:\s*\[')

TIME, ID, SEQUENCE, CALL, STEP = range(5)
_CLASS: Final = {
    "ts": TIME,
    **dict.fromkeys(_IDS, ID),
    "Sequence number": SEQUENCE,
    "Seq": CALL,
}
_LEVEL: Final = 1  # of compression: as fast as may be


@dataclass(frozen=True)
class Tile:
    """The repeated rows of one file as a template, its numbers, and what is written once."""

    head: str
    template: str
    numbers: np.ndarray[Any, np.dtype[np.int64]]
    classes: np.ndarray[Any, np.dtype[np.int64]]
    once: list[str]
    tail: str
    events: int
    period_us: int

    @property
    def strides(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """By class of number: how far the next copy's are from this one's."""
        found = np.zeros(5, dtype=np.int64)
        for at in (ID, SEQUENCE, CALL):
            found[at] = 1 + self.numbers[self.classes == at].max(initial=0)
        steps = self.numbers[self.classes == STEP]
        found[STEP] = 1 + np.ptp(steps) if len(steps) else 0
        found[TIME] = self.period_us
        return found

    def copies(self, times: int, strides: np.ndarray[Any, np.dtype[np.int64]]) -> Iterator[str]:
        """Yield the text of each copy's rows."""
        by_number = strides[self.classes]
        for k in range(times):
            yield self.template % tuple((self.numbers + k * by_number).tolist())


def tile_of(path: Path, step: int | None = None) -> Tile:
    """Read one file; with `step`, keep only what that step's host range started or launched."""
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    text = raw.decode()
    begin = _EVENTS.search(text)
    if begin is None:
        msg = f"{path} has no traceEvents"
        raise SystemExit(msg)
    rows, end = _rows(text, begin.end())
    kept = [(row, piece) for row, piece in rows if row.get("ph") in {"X", "s", "f", "t"}]
    once = [piece for row, piece in rows if row.get("ph") not in {"X", "s", "f", "t"}]
    spans = [piece for row, piece in kept if row.get("cat") == "Trace"]
    kept = [(row, piece) for row, piece in kept if row.get("cat") != "Trace"]
    if step is not None:
        kept = _step_alone([row for row, _ in kept], [piece for _, piece in kept], step)
    times = [(float(row["ts"]), float(row["ts"]) + float(row.get("dur", 0))) for row, _ in kept]
    # Devices run on after the host's range: the longest stretch of any track decides.
    period = _longest([row for row, _ in kept]) if step is not None else _span(times)
    template, numbers, classes = _template([piece for _, piece in kept])
    return Tile(
        head=text[: begin.end()],
        template=template,
        numbers=numbers,
        classes=classes,
        once=[*spans, *once],
        tail=text[end:],
        events=len(kept),
        period_us=period,
    )


def _rows(text: str, at: int) -> tuple[list[tuple[dict[str, Any], str]], int]:
    """Return each event with its own text, and where the list ends."""
    decode = json.JSONDecoder().raw_decode
    found = []
    while True:
        while text[at] in " \n\r\t,":
            at += 1
        if text[at] == "]":
            return found, at
        row, end = decode(text, at)
        found.append((row, text[at:end]))
        at = end


def _span(times: list[tuple[float, float]]) -> int:
    return math.ceil(max(end for _, end in times) - min(start for start, _ in times)) + 1000


def _longest(rows: list[dict[str, Any]]) -> int:
    """Return the longest stretch of any thread or stream, so that copies do not overlap on it."""
    reach: dict[tuple[object, object], tuple[float, float]] = {}
    for row in rows:
        if row["ph"] == "X":
            key = (row["pid"], row["tid"])
            low, high = reach.get(key, (math.inf, -math.inf))
            reach[key] = min(low, row["ts"]), max(high, row["ts"] + row["dur"])
    return max(math.ceil(high - low) + 1 for low, high in reach.values())


def _step_alone(
    rows: list[dict[str, Any]], pieces: list[str], step: int
) -> list[tuple[dict[str, Any], str]]:
    marks = [
        row
        for row in rows
        if row.get("name") == f"ProfilerStep#{step}" and row.get("cat") != "gpu_user_annotation"
    ]
    if not marks:
        msg = f"no ProfilerStep#{step} in this trace"
        raise SystemExit(msg)
    low, high = marks[0]["ts"], marks[0]["ts"] + marks[0]["dur"]
    launched = {
        row["args"]["correlation"]
        for row in rows
        if row["ph"] == "X"
        and low <= row["ts"] < high
        and "correlation" in row.get("args", {})
        and "stream" not in row["args"]
    }
    kept = []
    for row, piece in zip(rows, pieces, strict=True):
        args = row.get("args", {})
        if row["ph"] != "X" and row.get("cat") == "ac2g":
            stays = row.get("id") in launched
        elif "stream" in args:
            stays = args.get("correlation") in launched
        elif row.get("cat") == "gpu_user_annotation":
            stays = False
        else:
            stays = low <= row["ts"] < high
        if stays:
            kept.append((row, piece))
    return kept


def _template(
    pieces: list[str],
) -> tuple[str, np.ndarray[Any, np.dtype[np.int64]], np.ndarray[Any, np.dtype[np.int64]]]:
    numbers: list[int] = []
    classes: list[int] = []

    def take(found: re.Match[str]) -> str:
        ts, at, key, number, mark, step = found.groups()
        numbers.append(int(at or number or step))
        classes.append(STEP if mark else _CLASS[ts or key])
        return f'"{mark}%d' if mark else f'"{ts or key}": %d'

    text = _NUMBER.sub(take, ", ".join(pieces).replace("%", "%%"))
    return text, np.array(numbers, dtype=np.int64), np.array(classes, dtype=np.int64)


def _shifted_once(piece: str, by_us: int) -> str:
    """Move the recording's end, and lengthen its span, to hold all copies."""
    row = json.loads(piece)
    key = "dur" if row.get("ph") == "X" else "ts"
    if row.get("ph") == "X" or str(row.get("name", "")).startswith("Record Window End"):
        return re.sub(
            rf'("{key}": ?)(\d+)', lambda m: f"{m.group(1)}{int(m.group(2)) + by_us}", piece
        )
    return piece


def write(tile: Tile, target: Path, times: int, strides: Any = None) -> int:
    """Write one tiled file; return its size as raw JSON in bytes."""
    strides = tile.strides if strides is None else strides
    size = 0
    beyond = (times - 1) * int(strides[TIME])
    zipped = target.suffix == ".gz"
    with gzip.open(target, "wb", _LEVEL) if zipped else target.open("wb") as out:
        between = tile.head
        for copy in tile.copies(times, strides):
            size += out.write((between + copy).encode())
            between = ", "
        end = "".join(", " + _shifted_once(piece, beyond) for piece in tile.once) + tile.tail
        return size + out.write(end.encode())


def tile(
    source: Path,
    target: Path,
    *,
    times: int | None = None,
    megabytes: float | None = None,
    events: int | None = None,
    cut: int | None = None,
    plain: bool = False,
) -> tuple[int, int]:
    """Tile a file, or all files of a folder, into a folder.

    Parameters
    ----------
    source, target
        A trace file or a folder of them; the folder to write to.
    times, megabytes, events
        How often; or how much raw JSON, or how many rows with a duration and flows, there are to
        be at least in all files together.
    cut
        Repeat this step alone.
    plain
        Write no .gz.

    Returns
    -------
    tuple of int
        Events and bytes of raw JSON written.
    """
    files = sorted(source.glob("*.json*")) if source.is_dir() else [source]
    tiles = {path.name: tile_of(path, cut) for path in files}
    if times is None:
        size = sum(len(each.template) for each in tiles.values())
        count = sum(each.events for each in tiles.values())
        times = math.ceil((megabytes or 0) * 1e6 / size)
        times = max(1, times, math.ceil((events or 0) / count))
    # All ranks move alike.
    strides = np.max([each.strides for each in tiles.values()], axis=0)
    target.mkdir(parents=True, exist_ok=True)
    written = 0
    for name, each in tiles.items():
        called = name.removesuffix(".gz") if plain else name
        written += write(each, target / called, times, strides)
    return times * sum(each.events for each in tiles.values()), written


def main() -> None:
    """Tile from a shell."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m tests.benchmarks.tiling")
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument("--times", type=int)
    how.add_argument("--megabytes", type=float)
    how.add_argument("--events", type=int)
    parser.add_argument("--cut", type=int, metavar="STEP", help="repeat this step alone")
    parser.add_argument("--plain", action="store_true", help="write .json, not .json.gz")
    options = parser.parse_args()
    count, size = tile(**vars(options))
    sys.stdout.write(f"{count:,} events, {size / 1e6:.1f} MB of raw JSON in {options.target}\n")


if __name__ == "__main__":
    main()
