"""What a viewer asks about lanes: where a name is, and what an interval is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from stepviz.indices import as_index
from stepviz.traces.lanes.packing import BoolArray, IntArray, Lane, joined
from stepviz.traces.lanes.pathway import BESIDE, NOBODY, NOWHERE, Pathway
from stepviz.traces.lanes.scene import CODE_OF, SHOWN_KINDS, RankLanes, Scene, Track

#: Names listed of a run of intervals.
_MOST_NAMES: Final = 5


@dataclass(frozen=True, eq=False)
class Matches:
    """Where a text is found: by code of name whether it is, and all intervals, by start."""

    text: str
    named: BoolArray
    lane: IntArray
    start: IntArray
    finish: IntArray
    name: IntArray
    kind: npt.NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.start)

    def following(self, start: int, lane: int, *, forward: bool = True) -> int:
        """Return the place of the match after (or before) one at a time in a lane, around the end.

        Matches are in order of start, then of lane.
        """
        low = int(np.searchsorted(self.start, start, side="left"))
        high = int(np.searchsorted(self.start, start, side="right"))
        before = low + int(np.searchsorted(self.lane[low:high], lane, side="left"))
        after = low + int(np.searchsorted(self.lane[low:high], lane, side="right"))
        return (after if forward else before - 1) % len(self)

    def frame(self, scene: Scene) -> pd.DataFrame:
        """Return one row per match: rank, lane, name, kind, and absolute times in ns."""
        used, where = np.unique(self.lane, return_inverse=True)
        tracks = [scene.track_of(number) for number in used.tolist()]
        ranks = np.array([rank.rank for rank, _ in tracks], dtype=np.int64)
        lanes = np.array(["" if one is None else one.name for _, one in tracks], dtype=object)
        return pd.DataFrame(
            {
                "rank": ranks[where],
                "lane": lanes[where],
                "name": np.array(scene.names, dtype=object)[self.name],
                "kind": np.array(SHOWN_KINDS, dtype=object)[self.kind],
                "start_ns": self.start + scene.origin_ns,
                "finish_ns": self.finish + scene.origin_ns,
                "duration_ns": self.finish - self.start,
            }
        )


def search(scene: Scene, text: str, hidden: BoolArray | None = None) -> Matches:
    """Find all intervals whose name holds a text, in capitals or not.

    Parameters
    ----------
    scene
        The lanes.
    text
        What to look for.
    hidden
        By code of kind, whether it is passed over.
    """
    wanted = text.casefold()
    named = np.array([wanted in name.casefold() for name in scene.names], dtype=np.bool_)
    lanes: list[IntArray] = []
    work: list[Lane] = []
    for number in scene.recorded.tolist():
        lane = scene.lane(number)
        chosen = named[lane.name]
        if hidden is not None:
            chosen = chosen & ~hidden[lane.kind]
        if bool(chosen.any()):
            work.append(lane.take(chosen))
            lanes.append(np.full(len(work[-1]), number, dtype=np.int64))
    found = joined(work)
    where = np.concatenate([np.empty(0, dtype=np.int64), *lanes])
    order = np.lexsort((where, found.start))
    found = found.take(order)
    return Matches(text, named, where[order], found.start, found.finish, found.name, found.kind)


def explain(scene: Scene, number: int, start: int, finish: int) -> dict[str, Any]:
    """Say what lies in a lane between two times, in plain data.

    Returns
    -------
    dict
        rank, lane, count and, of a single interval, name, kind, start_ns and duration_ns with
        what is known besides in `more` (pairs of words); of several their time in all and by
        name (`names`: name, count, ns).
    """
    rank, track = scene.track_of(number)
    lane = scene.lane(number)
    work = lane.take(lane.within(start, finish))
    inside = (work.start >= start) & (work.finish <= finish)
    if bool(inside.any()):
        work = work.take(inside)
    said: dict[str, Any] = {
        "rank": rank.rank,
        "lane": "summary" if track is None else track.name,
        "count": len(work),
    }
    if len(work) == 1:
        said |= {
            "name": scene.names[int(work.name[0])],
            "kind": SHOWN_KINDS[int(work.kind[0])],
            "start_ns": int(work.start[0]),
            "duration_ns": int(work.finish[0] - work.start[0]),
            "more": _more(scene, rank, track, int(work.row[0]), int(work.kind[0])),
        }
    elif len(work):
        said |= {
            "start_ns": int(work.start.min()),
            "duration_ns": int(work.finish.max() - work.start.min()),
            "busy_ns": int((work.finish - work.start).sum()),
            "names": _by_name(scene, work),
        }
    return said


def explain_piece(scene: Scene, path: Pathway, place: int) -> dict[str, Any]:
    """Say what one piece of the critical path is, in plain data as `explain` does."""
    lane = path.lane
    row = int(lane.row[place])
    at = int(path.at[row])
    at = BESIDE - at if at <= BESIDE else at
    track = None if at == NOWHERE else scene.track_of(at)[1]
    more = []
    if path.frame is not None:
        for column, word in (("origin", "link into it"), ("launched", "launched")):
            if column in path.frame and str(path.frame[column].iat[row]):
                more.append([word, str(path.frame[column].iat[row])])
    return {
        "rank": None if path.rank[row] == NOBODY else int(path.rank[row]),
        "lane": "critical path" if track is None else f"critical path, {track.name}",
        "count": 1,
        "name": scene.names[int(lane.name[place])],
        "kind": SHOWN_KINDS[int(lane.kind[place])],
        "start_ns": int(lane.start[place]),
        "duration_ns": int(lane.finish[place] - lane.start[place]),
        "more": more,
    }


def _by_name(scene: Scene, work: Lane) -> list[list[Any]]:
    codes, place, counts = np.unique(work.name, return_inverse=True, return_counts=True)
    time = np.bincount(as_index(place), weights=(work.finish - work.start).astype(np.float64))
    order = np.argsort(-time, kind="stable")[:_MOST_NAMES]
    return [[scene.names[int(codes[k])], int(counts[k]), int(time[k])] for k in order]


def _more(
    scene: Scene, rank: RankLanes, track: Track | None, row: int, kind: int
) -> list[list[str]]:
    """Say what else is known of one interval: pairs of words."""
    if track is None or row < 0:
        return []
    if track.role == "exchange":
        return _of_exchange(scene, row, waiting=kind == CODE_OF["wait"])
    part = scene.step._ranks[rank.rank]
    event = part.events.iloc[row]
    more = [["on" if track.role == "device" else "in", track.title]]
    calls = part.calls
    for at in np.flatnonzero(calls["row"] == row)[:1].tolist():
        more.append(["collective", str(calls["collective"][at])])
        more += _size(int(calls["bytes"][at])) + _group(str(calls["label"][at]))
    more.append(["category", str(event["cat"])])
    if int(event["correlation"]) >= 0:
        more.append(["correlation", str(int(event["correlation"]))])
    return more


def _of_exchange(scene: Scene, row: int, *, waiting: bool) -> list[list[str]]:
    exchange, call = scene.parts[row]
    more = []
    if exchange.joint and scene.step.clash is None:
        last = max(exchange.calls.values(), key=lambda one: one.arrival)
        arrived = min(max(call.arrival, exchange.last_arrival), call.finish)
        more = [
            ["wait", _ms(arrived - call.arrival)],
            ["transfer", _ms(call.finish - arrived)],
        ]
        if waiting:
            more.append(["waiting for", f"rank {last.rank}"])
        more.append(["ranks", str(len(exchange.calls))])
    elif len(scene.ranks) > 1:
        more = [["wait and transfer", "not told apart: not joined over ranks"]]
    return more + _size(exchange.bytes) + _group(exchange.label)


def _group(label: str) -> list[list[str]]:
    return [["group", label]] if label else []


def _size(count: int) -> list[list[str]]:
    """Say a size in bytes, in the unit that fits."""
    if count < 0:
        return []
    size = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return [["bytes", f"{size:.4g} {unit}"]]
        size /= 1000
    return []


def _ms(ns: int) -> str:
    return f"{ns / 1e6:.6g} ms"
