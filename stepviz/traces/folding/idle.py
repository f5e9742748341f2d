"""Gaps in which a rank's own work stands still, and what in the trace may have caused each.

A trace shows what happened beside a gap, seldom why; so every cause is a candidate with its
evidence, those first that cover more of the gap.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from stepviz.core.intervals import clip, intersect, subtract, total, union
from stepviz.traces.classifying.patterns import WAITING_CALL
from stepviz.traces.classifying.windows import Window
from stepviz.traces.folding.host_rows import HostRows, host_rows
from stepviz.traces.folding.repeats import repeats
from stepviz.traces.joining.joins import Exchange
from stepviz.traces.rank_trace import RankStep
from stepviz.traces.reading.rows import CALLS, DEVICE

IntArray = npt.NDArray[np.int64]

#: By default only gaps of this part of the step are shown …
SHOWN_PART: Final = 100
#: … and of this length at least.
SHOWN_NS: Final = 20_000
#: What covers less of a gap than this is no candidate for it.
LEAST_SHARE: Final = 0.1

COLUMNS: Final = (
    "rank",
    "start_ns",
    "finish_ns",
    "duration_ns",
    "candidates",
    "evidence",
    "repeats",
)

_LATE: Final = "late launch"
_UNTOLD: Final = "host gap without rows"
#: What it means that the host was at such work.
_HOST: Final = {
    "input": "input not ready",
    "checkpoint": "checkpoint",
    "optimizer": "optimizer work on the host",
}
_MS: Final = 1_000_000


class _Cause(NamedTuple):
    """A candidate: how much of the gap it covers, ns, its name, and what shows it."""

    covered: int
    name: str
    evidence: str


def idle_frame(
    ranks: Mapping[int, RankStep],
    exchanges: Sequence[Exchange],
    *,
    told: bool,
    longer_than_ns: int | None = None,
) -> pd.DataFrame:
    """Return the gaps of a step, a row each, in order of rank and time (see `COLUMNS`).

    Parameters
    ----------
    ranks
        The step by rank.
    exchanges
        Those of the step.
    told
        Whether clocks agree, so that a wait can be told from a transfer.
    longer_than_ns
        Only gaps of this length; by default a 100th of the step, 20 µs at least.
    """
    records = []
    for rank, part in ranks.items():
        # Events may have to be read again: they are taken once.
        window, events = part.window, part.events
        least = longer_than_ns
        if least is None:
            least = max(SHOWN_NS, window.duration_ns // SHOWN_PART)
        by_step = still(events, part.trace.windows, part.main)
        numbers = [other.step for other in part.trace.windows]
        found = by_step[numbers.index(window.step)]
        found = found[found[:, 1] - found[:, 0] >= max(least, 1)]
        if len(found) == 0:
            continue
        host = host_rows(events, window, part.main)
        own = [exchange for exchange in exchanges if rank in exchange.calls]
        again = repeats(found, by_step, numbers, window.step)
        for (start, finish), repeated in zip(found.tolist(), again, strict=True):
            causes = _by_exchange(rank, start, finish, own, told=told)
            causes += _by_launch(part, events, start, finish)
            # What waits for an exchange needs no work of the host to be explained.
            causes += _by_host(host, start, finish, _running(rank, own))
            causes = [c for c in causes if c.covered >= LEAST_SHARE * (finish - start)]
            causes.sort(key=_order(causes))
            if not causes:
                causes = [_Cause(0, "nothing in the trace tells", "no row lies in the gap")]
            records.append(
                {
                    "rank": rank,
                    "start_ns": start,
                    "finish_ns": finish,
                    "duration_ns": finish - start,
                    "candidates": ", ".join(dict.fromkeys(cause.name for cause in causes)),
                    "evidence": "; ".join(cause.evidence for cause in causes),
                    "repeats": repeated,
                }
            )
    frame = pd.DataFrame(records, columns=list(COLUMNS))
    # Where there are no gaps nothing else tells what the columns are.
    return frame.astype(dict.fromkeys(COLUMNS[:4], "int64"))


def _order(causes: Sequence[_Cause]) -> Callable[[_Cause], int]:
    """Put first what covers more; how it came, and what no row tells, after what rows name."""
    named = [cause.covered for cause in causes if cause.name not in (_LATE, _UNTOLD)]
    most = max(named, default=0)

    def key(cause: _Cause) -> int:
        if not named or cause.name not in (_LATE, _UNTOLD):
            return -cause.covered
        return -min(cause.covered, most - (1 if cause.name == _LATE else 2))

    return key


def still(events: pd.DataFrame, windows: Sequence[Window], main: int) -> list[IntArray]:
    """Return by window when a rank's own work stands still: its device's, or its main thread's.

    Exchange is no own work: a device that only exchanges waits for other ranks, or for the link.
    """
    busy = {
        measured: _busy(events, measured, main)
        for measured in {window.measured for window in windows}
    }
    found = []
    for window in windows:
        spans = busy[window.measured]
        first = np.searchsorted(spans[:, 1], window.start_ns, side="right")
        beyond = np.searchsorted(spans[:, 0], window.finish_ns, side="left")
        whole = np.array([[window.start_ns, window.finish_ns]], dtype=np.int64)
        whole = whole if window.duration_ns > 0 else whole[:0]
        found.append(subtract(whole, clip(spans[first:beyond], window.start_ns, window.finish_ns)))
    return found


def _busy(events: pd.DataFrame, measured: str, main: int) -> IntArray:
    cat, own = events["cat"], (events["kind"] != "exchange").to_numpy()
    if measured == "device":
        working = cat.isin(list(DEVICE)).to_numpy() & own
    else:
        track = events["track"].to_numpy()
        operator = (cat == "cpu_op").to_numpy()
        # An autograd thread of its own works while the main thread stands still.
        helping = np.unique(track[operator & (events["kind"] == "backward").to_numpy()])
        threads = np.union1d(helping, [main])
        working = (operator | _busy_calls(events)) & np.isin(track, threads) & own
        # Rows whose launches are not in the file are work, too.
        working |= cat.isin(list(DEVICE)).to_numpy() & own
    return union(events.loc[working, ["start_ns", "finish_ns"]].to_numpy(dtype=np.int64))


def _busy_calls(events: pd.DataFrame) -> npt.NDArray[np.bool_]:
    calls = events["cat"].isin(list(CALLS)).to_numpy()
    names = events["name"].astype("category").cat
    waiting = np.array([bool(WAITING_CALL.search(str(n))) for n in names.categories], dtype=bool)
    return np.asarray(calls & ~waiting[names.codes.to_numpy()])


def _by_exchange(
    rank: int, start: int, finish: int, exchanges: Sequence[Exchange], *, told: bool
) -> list[_Cause]:
    causes = []
    for exchange in exchanges:
        call = exchange.calls[rank]
        low, high = max(start, call.arrival), min(finish, call.finish)
        if high <= low:
            continue
        if not (told and exchange.joint):
            why = "it stays with this rank" if told else "clocks disagree"
            said = (
                f"{exchange.name} runs for {_of(high - low, start, finish)}, and its wait can't be "
                f"told from its transfer, since {why}"
            )
            causes.append(_Cause(high - low, f"exchange {exchange.name}", said))
            continue
        turn = min(max(exchange.last_arrival, low), high)
        last = max(exchange.calls.values(), key=lambda c: (c.arrival, -c.rank))
        if turn > low:
            name = f"waiting for rank {last.rank}"
            causes.append(
                _Cause(
                    turn - low,
                    name,
                    f"{exchange.name} waits {_of(turn - low, start, finish)} for rank {last.rank}, "
                    f"which arrives {_ms(last.arrival - call.arrival)} after this rank",
                )
            )
        if high > turn:
            causes.append(
                _Cause(
                    high - turn,
                    f"transfer of {exchange.name}",
                    f"{exchange.name} transfers for {_of(high - turn, start, finish)}",
                )
            )
    return causes


def _running(rank: int, exchanges: Sequence[Exchange]) -> IntArray:
    calls = [exchange.calls[rank] for exchange in exchanges]
    return union(np.array([(c.arrival, c.finish) for c in calls], dtype=np.int64).reshape(-1, 2))


def _by_launch(part: RankStep, events: pd.DataFrame, start: int, finish: int) -> list[_Cause]:
    """Say when the work that ends the gap was launched: only then, or long before."""
    if part.window.measured != "device" or finish >= part.window.finish_ns:
        return []
    begins = events["start_ns"].to_numpy()
    rows = np.flatnonzero((begins == finish) & events["cat"].isin(list(DEVICE)).to_numpy())
    rows = rows[(events["kind"].iloc[rows] != "exchange").to_numpy()]
    if len(rows) == 0:
        return []
    row = int(rows[0])
    name, call = _short(events["name"].iat[row]), int(events["launcher"].to_numpy()[row])
    if call < 0:
        return [_Cause(0, "launch not in the file", f"the launch of {name} is not in the file")]
    launched = int(begins[call])
    if launched < start:
        said = (
            f"{name}, which ends it, had been launched {_ms(start - launched)} before the gap, so "
            "the device held it"
        )
        # Only what else is seen tells what for; it covers no more than that.
        return [_Cause(int(LEAST_SHARE * (finish - start)) + 1, "held on the device", said)]
    late = finish - launched
    slow = late > part.trace.ordinary_lag
    only = "" if slow else "only "
    longer = ", longer than a launch usually takes" if slow else ""
    said = (
        f"{name}, which ends it, was launched {only}{_ms(late)} before it began{longer}: "
        f"{_of(launched - start, start, finish)} into the gap"
    )
    return [_Cause(launched - start, _LATE, said)]


def _by_host(host: HostRows, start: int, finish: int, waited: IntArray) -> list[_Cause]:
    causes = []
    rest = np.array([[start, finish]], dtype=np.int64)
    left_over = subtract(rest, waited)
    for kind, cause in _HOST.items():
        spans, name = host.at_kind(kind, start, finish)
        if len(spans):
            covered = int(total(spans))
            said = f"the host is in {_short(name)} for {_of(covered, start, finish)}"
            causes.append(_Cause(covered, cause, said))
            rest = subtract(rest, spans)
    for spans, names, cause, said in (
        (*host.waiting(start, finish), "host waits for the device", "the host waits in"),
        (*host.working(start, finish), "host work", "the host is at"),
        (*host.in_python(start, finish), "Python on the host", "Python is in"),
    ):
        own = rest if len(spans) == 0 else subtract(rest, spans)
        covered = int(total(rest)) - (int(total(own)) if len(own) else 0) if len(rest) else 0
        if covered:
            words = ", ".join(_short(name) for name in names)
            evidence = f"{said} {words} for {_of(covered, start, finish)}"
            causes.append(_Cause(covered, cause, evidence))
        rest = own
    rest = intersect(rest, left_over) if len(rest) else rest
    left = int(total(rest)) if len(rest) else 0
    around = host.around(start, finish)
    inside = f", inside {_short(around)}" if around else ""
    said = f"no row of the main thread tells of {_of(left, start, finish)}{inside}"
    return [*causes, _Cause(left, _UNTOLD, said)]


def _short(name: object) -> str:
    text = str(name)
    return text if len(text) <= 60 else text[:57] + "…"


def _ms(ns: int) -> str:
    return f"{ns / 1e9:.3g} s" if ns >= 1000 * _MS else f"{ns / _MS:.3g} ms"


def _of(covered: int, start: int, finish: int) -> str:
    if finish - start >= 1000 * _MS:
        return f"{covered / 1e9:.3g} of {(finish - start) / 1e9:.3g} s"
    return f"{covered / _MS:.3g} of {(finish - start) / _MS:.3g} ms"
