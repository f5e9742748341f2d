"""What a step's timeline gathers, leaves out or cannot know, in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pandas as pd

from stepviz.traces.classifying.windows import Window
from stepviz.traces.folding.pieces import Piece, stops
from stepviz.traces.joining.joins import Joined
from stepviz.traces.reading.rows import DEVICE

#: Exposed time of the rows and of the timeline may differ by this part of a step unsaid.
EXPOSED_PART: Final = 0.01

_MS: Final = 1_000_000


def about_exchanges(joined: Joined) -> list[str]:
    """Say what is special about a step's exchanges, and which stay with their rank."""
    said = []
    if any(exchange.emulated for exchange in joined.exchanges):
        said.append("the exchange runs on an emulated fabric: a real all-reduce, then a sleep")
    for why, group in joined.unmatched.groupby("why", sort=False):
        noun = "exchange stays with its" if len(group) == 1 else "exchanges stay with their"
        said.append(f"{len(group)} {noun} rank: {why}")
    return said


def about_stops(pieces: Mapping[int, list[Piece]]) -> list[str]:
    """Say on which ranks backward stood still without a reason in the trace."""
    stopped = {rank: stops(found) for rank, found in pieces.items()}
    values = [f"{ns / _MS:.3g} ms on rank {rank}" for rank, ns in stopped.items() if ns]
    if not values:
        return []
    note = (
        f"stops between two gradients count as backward: {_few(values)}, which no row explains "
        "and no exchange could hold"
    )
    return [note]


def about_launches(events: Mapping[int, pd.DataFrame], windows: Mapping[int, Window]) -> list[str]:
    """Say on which ranks rows of the device cannot tell whose they are."""
    on_host, in_part = [], []
    for rank, rows in events.items():
        window = windows[rank]
        inside = (rows["start_ns"] < window.finish_ns) & (rows["finish_ns"] > window.start_ns)
        here = rows[inside & rows["cat"].isin(list(DEVICE))]
        lost = int((here["source"] < 0).sum())
        if lost and window.measured == "host":
            on_host.append(f"rank {rank}")
        elif 0 < lost < len(here):
            in_part.append(f"{lost} of {len(here)} on rank {rank}")
    said = []
    if on_host:
        said.append(
            f"no device row has its launch in the file ({_few(on_host)}), so the step is measured "
            "on the host"
        )
    if in_part:
        said.append(
            f"device rows without a launch in the file count in the step they run in, and end "
            f"none: {_few(in_part)}"
        )
    return said


def _few(values: list[str], most: int = 3) -> str:
    more = f" and {len(values) - most} more" if len(values) > most else ""
    return ", ".join(values[:most]) + more


def about_exposed(rows: pd.Series, fold: pd.Series, completion_ns: int) -> list[str]:
    """Say where the timeline's exposed exchange is not what the rows say, both in ms."""
    apart = (fold - rows).abs()
    far = apart[apart > EXPOSED_PART * completion_ns / _MS]
    if far.empty:
        return []
    order = apart[far.index].sort_values(ascending=False).index
    values = _few([f"{rows[r]:.2f} and {fold[r]:.2f} ms on rank {r}" for r in order])
    note = (
        f"exposed exchange by the rows and in the timeline: {values}; the timeline ends a "
        "collective on all ranks when it ends on the first, and joins short gaps to work"
    )
    return [note]
