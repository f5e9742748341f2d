"""Exchanges of ranks as columns, with no file behind them."""

from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from stepviz.traces.joining.exchanges import COLUMNS
from stepviz.traces.joining.matching import RankCalls, match
from stepviz.traces.joining.step_exchanges import Part, step_exchanges
from stepviz.traces.table import Table

#: Far from zero, as real clocks are: floats would lose 256 ns here.
ORIGIN = 1_712_195_495_502_094_500


def frame_of(rows):
    """Return exchanges of one rank, from dicts of what matters; the rest is filled in."""
    filled = {
        "row": 0, "collective": "all-reduce", "group": "0", "label": "default_pg",
        "emulated": False, "elements": -1, "bytes": -1, "place": 0, "queue": 0, "ready_ns": 0,
        "launched_ns": -1, "arrival_ns": 0, "finish_ns": 0, "origin": "inferred",
        "during": "backward", "on_device": True, "sequence": -1, "members": None,
        "group_size": -1, "peer": -1, "out_bytes": -1,
    }  # fmt: skip
    records = [filled | {"row": at} | row for at, row in enumerate(rows)]
    kinds = {name: type(value) if isinstance(value, int) else object
             for name, value in filled.items()}  # fmt: skip
    frame = pd.DataFrame(records, columns=list(COLUMNS)).astype(kinds)
    return table_of(frame.sort_values(["arrival_ns", "row"], kind="stable"))


def table_of(frame):
    """Return the columns of a frame as arrays."""
    return Table({name: column.to_numpy() for name, column in frame.items()})


def matched(frames, *, steps=(0,), world=None):
    """Match frames by rank."""
    calls = {rank: RankCalls(frame, list(steps), world) for rank, frame in frames.items()}
    return match(calls)


def gathered(frames, windows):
    """Return the columns of the one step of these frames."""
    found = matched(frames)
    parts = {
        rank: Part(frame, np.arange(len(frame)), *windows[rank]) for rank, frame in frames.items()
    }
    return step_exchanges(found, parts)


def calls_by_rank(data, world):
    """Draw a step in which ranks meet in groups: frames, windows, and calls to solve by hand.

    No two points of a rank are at one time, so that what comes before what is beyond doubt.
    """
    ranks = list(range(world))
    starts = [3 * data.draw(st.integers(0, 200)) for _ in ranks]
    now, free = list(starts), list(starts)
    rows = {rank: [] for rank in ranks}
    exchanges = data.draw(st.integers(0, 6)) if world > 1 else 0
    for number in range(exchanges):
        members = sorted(data.draw(st.sets(st.sampled_from(ranks), min_size=2)))
        beside = data.draw(st.booleans())
        arrivals = {}
        for rank in members:
            gap = 1 + 3 * data.draw(st.integers(1, 100))
            at = (now[rank] if beside else max(now[rank], free[rank])) + gap
            arrivals[rank] = now[rank] = at
        last = max(arrivals.values())
        for rank in members:
            end = last + 2 + 3 * data.draw(st.integers(1, 60))
            taken = {t for row in rows[rank] for t in (row["arrival_ns"], row["finish_ns"])}
            while end in taken or end == now[rank]:
                end += 1
            free[rank] = max(free[rank], end)
            rows[rank].append({
                "arrival_ns": arrivals[rank], "finish_ns": end, "members": tuple(members),
                "group": str(members), "number": number,
            })  # fmt: skip
    windows, frames = {}, {}
    calls = {"arrival": {}, "finish": {}, "number": {}, "order": {}}
    for rank in ranks:
        taken = {row["finish_ns"] for row in rows[rank]}
        mine = sorted(rows[rank], key=lambda row: row["arrival_ns"])
        high = max([free[rank], now[rank], *taken]) + 1 + data.draw(st.integers(0, 100))
        windows[rank] = (ORIGIN + starts[rank], ORIGIN + high)
        calls["order"][rank] = list(range(len(mine)))
        for at, row in enumerate(mine):
            calls["arrival"][rank, at] = ORIGIN + row["arrival_ns"]
            calls["finish"][rank, at] = ORIGIN + row["finish_ns"]
            calls["number"][rank, at] = row["number"]
        told = [
            {k: v + ORIGIN if k.endswith("_ns") else v for k, v in row.items() if k != "number"}
            for row in mine
        ]
        frames[rank] = frame_of(told)
    return frames, windows, calls
