"""A step's intervals as a page carries them, for the viewer to be looked at without Python."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from stepviz.traces.lanes.packing import IntArray, Lane, innermost
from stepviz.traces.lanes.questions import _more
from stepviz.traces.lanes.scene import RankLanes, Scene, Track
from stepviz.widgets.packing import packed_json
from stepviz.widgets.viewer_answers import _LONGEST_NAME, _TABLE_ROWS, PATH, Answers

#: So many recorded intervals make a page of about a megabyte.
MOST: Final = 120_000
#: Rows of the path's table in a page.
_MOST_PIECES: Final = 20_000


def viewer_given(answers: Answers, most: int = MOST) -> tuple[str, list[str]]:
    """Return a step's lanes, packed for ``page/viewer.ts``, and what was left out, in sentences.

    Parameters
    ----------
    answers : Answers
        Of the step.
    most : int
        The most recorded intervals that are kept: exchanges and the device's before the host's,
        long ones before short ones.
    """
    scene = answers.scene
    least, left = _shortest_kept(scene, most)
    lanes: dict[int, Lane] = {}
    for rank in scene.ranks:
        lanes[rank.summary] = scene.lane(rank.summary)
        for track in rank.tracks:
            rows = [
                _kept(scene.lane(number), track, least)
                for number in range(track.first, track.first + track.rows)
            ]
            lanes |= {track.first + k: row for k, row in enumerate(rows)}
            if track.flat not in lanes:
                whole = least.get(track.role, 0) == 0
                lanes[track.flat] = scene.lane(track.flat) if whole else innermost(rows)
    path = answers.path
    table, notes = _table(answers)
    given = {
        "lanes": {str(number): _columns(scene, number, lane) for number, lane in lanes.items()},
        "recorded": scene.recorded.tolist(),
        "path": {
            **_plain(path.lane),
            "row": path.lane.row.tolist(),
            "rank": path.rank.tolist(),
            "at": path.at.tolist(),
            "shown": path.shown.tolist(),
            "table": table,
            "origin": _texts(path.frame, "origin"),
            "launched": _texts(path.frame, "launched"),
        },
        "names": [name[:_LONGEST_NAME] for name in scene.names],
        "cats": _categories(scene),
        "number": PATH,
        "rows": _TABLE_ROWS,
    }
    return packed_json(given), [*left, *notes]


def _shortest_kept(scene: Scene, most: int) -> tuple[dict[str, int], list[str]]:
    """Return by role the shortest interval that is kept, ns, and what that leaves out."""
    by_role: dict[str, list[IntArray]] = {"exchange": [], "device": [], "host": []}
    for rank in scene.ranks:
        for track in rank.tracks:
            for number in range(track.first, track.first + track.rows):
                lane = scene.lane(number)
                by_role[track.role].append(lane.finish - lane.start)
    none = np.empty(0, dtype=np.int64)
    lengths = {role: np.concatenate([none, *held]) for role, held in by_role.items()}
    room = most - len(lengths["exchange"])
    least: dict[str, int] = {}
    said = []
    for role, where in (("device", "on devices"), ("host", "on the host")):
        held = np.sort(lengths[role])[::-1]
        fit = max(room, 0)
        if len(held) > fit:
            least[role] = int(held[fit - 1]) + 1 if fit else int(held[0]) + 1
            gone = int(np.count_nonzero(held < least[role]))
            said.append(
                f"{gone:,} of {len(held):,} intervals {where}, those shorter than "
                f"{least[role] / 1000:,.4g} µs, are not in this page, which holds {most:,} at most;"
                " a viewer in a notebook shows them all."
            )
            room -= len(held) - gone
        else:
            room -= len(held)
    return least, said


def _kept(lane: Lane, track: Track, least: dict[str, int]) -> Lane:
    shortest = least.get(track.role, 0)
    return lane if shortest == 0 else lane.only(lane.finish - lane.start >= shortest)


def _plain(lane: Lane) -> dict[str, list[int]]:
    """Return the columns: starts as steps from one to the next, lengths, kinds, names."""
    return {
        "start": np.diff(lane.start, prepend=0).tolist(),
        "length": (lane.finish - lane.start).tolist(),
        "kind": lane.kind.tolist(),
        "name": lane.name.tolist(),
    }


def _columns(scene: Scene, number: int, lane: Lane) -> dict[str, Any]:
    """Return a lane with what is known besides: categories, correlations, words for some."""
    rank, track = scene.track_of(number)
    said: dict[str, Any] = _plain(lane) | {
        "rank": rank.rank,
        "lane": "summary" if track is None else track.name,
    }
    if track is None:
        return said
    if track.role == "exchange":
        told = {
            str(k): _more(scene, rank, track, int(lane.row[k]), int(lane.kind[k]))
            for k in range(len(lane))
        }
        return said | {"more": told}
    return said | _of_events(scene, rank, track, lane)


def _of_events(scene: Scene, rank: RankLanes, track: Track, lane: Lane) -> dict[str, Any]:
    part = scene.step._ranks[rank.rank]
    events = part.events
    rows = lane.row
    called = set(part.calls["row"].tolist())
    more = {
        str(k): _more(scene, rank, track, row, int(lane.kind[k]))
        for k, row in enumerate(rows.tolist())
        if row in called
    }
    known = {name: code for code, name in enumerate(_categories(scene))}
    cats = events["cat"].cat.categories
    codes = np.array([known[str(name)] for name in cats], dtype=np.int64)
    return {
        "cat": codes[events["cat"].cat.codes.to_numpy()[rows]].tolist(),
        "correlation": events["correlation"].to_numpy()[rows].tolist(),
        "where": ["on" if track.role == "device" else "in", track.title],
        "more": more,
    }


def _categories(scene: Scene) -> list[str]:
    """Return every category of the step's events, each once."""
    found: dict[str, None] = {}
    for part in scene.step._ranks.values():
        found.update(dict.fromkeys(map(str, part.events["cat"].cat.categories)))
    return list(found)


def _texts(frame: Any, column: str) -> list[str]:
    return [] if frame is None or column not in frame else [str(one) for one in frame[column]]


def _table(answers: Answers) -> tuple[list[Any], list[str]]:
    """Return the rows of the path's table, as `Answers` writes them."""
    rows: list[Any] = []
    total = 1
    while len(rows) < min(total, _MOST_PIECES):
        content, _ = answers.answer({"ask": "path", "from": len(rows)})
        total = int(content["total"])
        if not content["rows"]:
            break
        rows += content["rows"]
    if total > len(rows) and rows:
        return rows, [f"The table of the path ends after {len(rows):,} of {total:,} pieces."]
    return rows, []
