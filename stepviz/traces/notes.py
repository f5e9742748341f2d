"""What a step's timeline gathers, leaves out or cannot know, in sentences."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pandas as pd

from stepviz.traces.classifying.windows import Window
from stepviz.traces.folding.pieces import Piece, stops
from stepviz.traces.joining.joins import Joined
from stepviz.traces.reading.masks import among, of_codes
from stepviz.traces.reading.rows import CALLS, DEVICE

#: Exposed time of the rows and of the timeline may differ by this part of a step unsaid.
EXPOSED_PART: Final = 0.01

#: Calls that make a kernel, each its own.
_KERNEL_LAUNCH: Final = re.compile(
    r"(cu|cuda|hip|mu|musa)(Module)?Launch(Cooperative)?Kernel", re.ASCII
)

_MS: Final = 1_000_000


def about_exchanges(joined: Joined) -> list[str]:
    """Say what is special about a step's exchanges, and which stay with their rank."""
    said = []
    if any(exchange.emulated for exchange in joined.exchanges):
        said.append("the exchange runs on an emulated fabric: a real all-reduce, then a sleep")
    for why, group in joined.unmatched.frame().groupby("why", sort=False):
        noun = "exchange stays with its" if len(group) == 1 else "exchanges stay with their"
        said.append(f"{len(group)} {noun} rank: {why}")
    return said


def about_recording(recorded: Mapping[str, Any]) -> list[str]:
    """Say how stepviz's recorder made a run: where, on what network, at what cost."""
    said = []
    placement, emulated = recorded.get("placement"), recorded.get("emulated")
    if isinstance(placement, dict):
        where = f"{placement.get('backend')} on {placement.get('device')}"
        said.append(f"recorded by stepviz with {where}: {placement.get('why')}")
    if isinstance(emulated, dict):
        said.append(
            f"the network is emulated: {emulated.get('latency_ms')} ms a message and "
            f"{emulated.get('ms_per_mib')} ms a MiB"
        )
    planted = recorded.get("planted")
    if isinstance(planted, dict):
        said.append(
            f"rank {planted.get('slow_rank')} was made slow: it sleeps {planted.get('slow_ms')} ms "
            f"in {planted.get('slow_phase')}"
        )
    costs = recorded.get("costs")
    plain = costs.get("bare") if isinstance(costs, dict) else None
    if isinstance(costs, dict) and isinstance(plain, dict):
        # What stands in a file may be anything.
        values = [plain.get(key) for key in ("median_ms", "low_ms", "high_ms")]
        values += [costs.get(f"{name}_ms") for name in ("hook", "hook_noise")]
        values += [costs.get(f"{name}_ms") for name in ("profiler", "profiler_noise")]
        if all(isinstance(value, int | float) for value in values):
            middle, low, high, hook, hook_noise, profiler, profiler_noise = values
            said.append(
                f"a step without hook and profiler takes {middle:.1f} ms (quartiles {low:.1f} and "
                f"{high:.1f}); the hook costs {hook:+.1f} ± {hook_noise:.1f} ms, the profiler "
                f"{profiler:+.1f} ± {profiler_noise:.1f} ms"
            )
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


def about_lost(parts: Mapping[int, tuple[pd.DataFrame, int]]) -> list[str]:
    """Say on which ranks kernels are missing that the host launched: profilers drop some.

    Parameters
    ----------
    parts
        By rank: its events, and the place of the step.
    """
    lost = []
    for rank, (rows, place) in parts.items():
        names = rows["name"].array
        launches = np.array([bool(_KERNEL_LAUNCH.match(str(name))) for name in names.categories])
        calls = np.flatnonzero(
            of_codes(launches, names.codes)
            & among(rows["cat"], CALLS)
            & (rows["place"].to_numpy() == place)
        )
        launcher, parent = rows["launcher"].to_numpy(), rows["parent"].to_numpy()
        ran = np.isin(calls, launcher)
        # One call may be made of another, and only one of the two have the kernel.
        inner = np.isin(parent[calls], calls)
        ran |= np.isin(calls, parent[calls[ran & inner]]) | np.isin(parent[calls], calls[ran])
        without = int((~ran).sum())
        if without:
            lost.append(f"{without} of {len(calls)} on rank {rank}")
    if not lost:
        return []
    note = (
        f"kernels that the host launched are not in the file: {_few(lost)}; what the device did "
        "then looks like standing still"
    )
    return [note]


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
        "collective on all ranks when it ends on the first, joins short gaps to work, and calls "
        "no kernel compute whose pass nothing tells"
    )
    return [note]
