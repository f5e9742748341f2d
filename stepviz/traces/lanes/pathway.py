"""The critical path among the lanes: which lane each of its pieces runs in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from stepviz.errors import StepvizError
from stepviz.indices import as_index
from stepviz.traces.lanes.packing import BoolArray, IntArray, Lane
from stepviz.traces.lanes.scene import CODE_OF, RankLanes, Scene, Track

#: Where a piece runs in no lane: time that no row of the trace holds.
NOWHERE: Final = -1
#: Where it is known in which track that time lies: this less the track's first lane.
BESIDE: Final = -2
#: The rank of a piece that belongs to several.
NOBODY: Final = -1


@dataclass(frozen=True, eq=False)
class Pathway:
    """The pieces of the path in order: as a lane, their ranks, and the lanes they run in.

    `rank` is `NOBODY` for what belongs to several ranks, `shown` the rank it is drawn on. `frame`
    is the step's own, for tables; `why_not` says why there is no path.
    """

    lane: Lane
    rank: IntArray
    shown: IntArray
    at: IntArray
    frame: pd.DataFrame | None
    why_not: str

    def ranks(self) -> list[int]:
        """Return the ranks that have a part in it, who has the largest first."""
        order = self.lane.row
        time = (self.lane.finish - self.lane.start)[np.argsort(order, kind="stable")]
        ranks, place = np.unique(self.shown, return_inverse=True)
        share = np.bincount(as_index(place), weights=time, minlength=len(ranks))
        found: list[int] = ranks[np.argsort(-share, kind="stable")].tolist()
        return found

    @classmethod
    def missing(cls, why_not: str) -> Pathway:
        """Return a path of no pieces."""
        none = np.empty(0, dtype=np.int64)
        return cls(Lane.of([], [], [], []), none, none, none, None, why_not)


def pathway(scene: Scene) -> Pathway:
    """Place the critical path of a step among its lanes."""
    try:
        frame = scene.step.critical_path
    except StepvizError as error:
        return Pathway.missing(str(error))
    return placed(scene, frame)


def placed(scene: Scene, frame: pd.DataFrame) -> Pathway:
    """Place pieces among the lanes.

    Parameters
    ----------
    scene
        The lanes.
    frame
        The pieces: rank (missing for a transfer between ranks), kind, name, start_ns, finish_ns
        (absolute), and where known row, the place among the rank's events.
    """
    start = frame["start_ns"].to_numpy(dtype=np.int64) - scene.origin_ns
    finish = frame["finish_ns"].to_numpy(dtype=np.int64) - scene.origin_ns
    # A piece without a name is called by its kind.
    names = frame["name"].astype(object).where(frame["name"].astype(str) != "", frame["kind"])
    code = np.array([scene.name_code(str(name)) for name in names], dtype=np.int64)
    kinds = [CODE_OF.get(str(kind), CODE_OF["other"]) for kind in frame["kind"]]
    said = frame["rank"].astype("Int64")
    rank = np.asarray(said.fillna(NOBODY), dtype=np.int64)
    # A transfer belongs to all its members: it is drawn where the path came from.
    shown = np.asarray(said.ffill().bfill().fillna(NOBODY), dtype=np.int64)
    track_of = (
        frame["track"].to_numpy(dtype=np.int64) if "track" in frame else np.full(len(frame), -1)
    )
    row = frame["row"].to_numpy(dtype=np.int64) if "row" in frame else np.full(len(frame), -1)
    at = np.full(len(frame), NOWHERE, dtype=np.int64)
    middle = start + (finish - start) // 2
    for lanes in scene.ranks:
        mine = np.flatnonzero(shown == lanes.rank)
        if len(mine) == 0:
            continue
        # What is known to be a row is no other one, whatever is called as it.
        known = row[mine] >= 0
        by_track = mine[np.argsort(track_of[mine], kind="stable")]
        numbers, first = np.unique(track_of[by_track], return_index=True)
        beside = dict(zip(numbers.tolist(), np.split(by_track, first)[1:], strict=True))
        for track in lanes.tracks:
            if track.number >= 0 and track.number in beside:
                at[beside[track.number]] = BESIDE - track.first
            named = mine if track.role == "exchange" else mine[~known]
            _place_by_name(scene, track, named, middle, code, at)
        found = _lanes_of_rows(scene, lanes, row[mine[known]])
        at[mine[known][found >= 0]] = found[found >= 0]
    order = np.lexsort((finish, start))
    return Pathway(
        lane=Lane.of(start, finish, kinds, code, np.arange(len(frame))).take(order),
        rank=rank,
        shown=shown,
        at=at,
        frame=frame,
        why_not="",
    )


def _lanes_of_rows(scene: Scene, lanes: RankLanes, row: IntArray) -> IntArray:
    """Return the lane of each row of a rank, −1 for none."""
    numbers = [
        number
        for track in lanes.tracks
        if track.role != "exchange"  # whose rows count something else
        for number in range(track.first, track.first + track.rows)
    ]
    held = [scene.lane(number).row for number in numbers]
    rows = np.concatenate([*held, np.empty(0, dtype=np.int64)])
    lane_of = np.full(max(int(rows.max(initial=-1)), int(row.max(initial=-1))) + 2, -1)
    lane_of[rows] = np.repeat(numbers, [len(each) for each in held])
    found: IntArray = lane_of[row]
    return found


def _place_by_name(
    scene: Scene, track: Track, pieces: IntArray, middle: IntArray, code: IntArray, at: IntArray
) -> None:
    """Place pieces in the lanes of a track where they lie in an interval of their name."""
    lanes = {number: scene.lane(number) for number in range(track.first, track.first + track.rows)}
    names = np.unique(np.concatenate([lane.name for lane in lanes.values()]))
    pieces = pieces[np.isin(code[pieces], names)]
    if len(pieces):
        # Deeper rows last: of two with one name, one in the other, the inner one works.
        for number, lane in lanes.items():
            at[pieces[_inside(lane, middle[pieces], code[pieces])]] = number


def _inside(lane: Lane, middle: IntArray, code: IntArray) -> BoolArray:
    """Say which pieces lie in an interval of this lane that bears their name."""
    if len(lane) == 0:
        return np.zeros(len(middle), dtype=np.bool_)
    at = np.searchsorted(lane.start, middle, side="right") - 1
    held: BoolArray = (at >= 0) & (lane.finish[at] >= middle) & (lane.name[at] == code)
    return held
