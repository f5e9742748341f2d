"""How Perfetto reads a JSON trace, in small: what it would drop, and what arrows bind to.

Its rules: events in order of time, of equal times in the order of the file; a thread is found by
its number alone; a slice that begins inside another of its thread and ends after it is dropped;
a slice that ended is closed when the next begins at its end or later, unless both have no length;
an arrow's start and end bind to the innermost slice open on their thread; no time is negative.
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path


@dataclass
class Slice:
    name: str
    cat: str
    pid: int
    tid: int
    start: int
    finish: int
    args: dict
    depth: int


@dataclass
class Opened:
    """What Perfetto would show."""

    slices: list[Slice] = field(default_factory=list)
    arrows: list[tuple[Slice, Slice, str]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    processes: dict[int, str] = field(default_factory=dict)
    threads: dict[int, str] = field(default_factory=dict)
    document: dict = field(default_factory=dict)

    def on(self, process: str, thread: str) -> list[Slice]:
        """Return the slices of one track, in order of time."""
        return [
            s for s in self.slices
            if self.processes[s.pid] == process and self.threads[s.tid] == thread
        ]  # fmt: skip


def whole_ns(value: Decimal | int) -> int:
    """Return µs as ns; more than three decimals are a fault of the file."""
    ns = Decimal(value) * 1000
    assert ns == int(ns), f"{value} µs are no whole ns"
    return int(ns)


def open_trace(path: Path) -> Opened:
    """Read a file as Perfetto does."""
    raw = path.read_bytes()
    raw = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    document = json.loads(raw, parse_float=Decimal)
    opened = Opened(document=document)
    process_of: dict[int, int] = {}
    timed = []
    for event in document["traceEvents"]:
        tid = event["tid"]
        if event["ph"] == "M":
            assert "ts" not in event
            if event["name"] == "process_name":
                opened.processes[event["pid"]] = event["args"]["name"]
            if event["name"] == "thread_name":
                assert tid not in opened.threads, f"thread {tid} is named twice"
                opened.threads[tid] = event["args"]["name"]
            continue
        assert process_of.setdefault(tid, event["pid"]) == event["pid"], "a thread in two processes"
        assert tid != event["pid"], "a thread with its process's number is its main thread"
        timed.append((whole_ns(event["ts"]), event))
    stacks: dict[int, list[Slice]] = defaultdict(list)
    begun: dict[tuple, Slice] = {}
    for at, event in sorted(timed, key=lambda pair: pair[0]):
        if at < 0:
            opened.faults.append(f"negative time: {event}")
        stack = stacks[event["tid"]]
        if event["ph"] == "X":
            _add(opened, stack, at, event)
            continue
        if not stack:
            opened.faults.append(f"no slice is open for {event}")
            continue
        key = (event["id"], event["cat"], event["name"])
        if event["ph"] == "s":
            if key in begun:
                opened.faults.append(f"two arrows have one number: {event}")
            begun[key] = stack[-1]
        else:
            assert event["ph"] == "f"
            assert event["bp"] == "e"
            if key not in begun:
                opened.faults.append(f"an arrow ends before it starts: {event}")
            else:
                opened.arrows.append((begun[key], stack[-1], event["cat"]))
    return opened


def _add(opened: Opened, stack: list[Slice], at: int, event: dict) -> None:
    length = whole_ns(event["dur"])
    while stack and (
        stack[-1].finish < at
        or (stack[-1].finish == at and not (stack[-1].start == at and length == 0))
    ):
        stack.pop()
    if any(held.finish < at + length for held in stack if at < held.finish):
        opened.faults.append(f"dropped, since it crosses {stack[-1]}: {event}")
        return
    found = Slice(
        event["name"], event["cat"], event["pid"], event["tid"], at, at + length,
        event.get("args", {}), len(stack),
    )  # fmt: skip
    stack.append(found)
    opened.slices.append(found)
