"""A step's intervals as a page carries them, for the viewer to be looked at without Python."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from stepviz.traces.lanes.blocks import merged
from stepviz.traces.lanes.packing import IntArray, Lane
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
        The most intervals that are kept: where there are more, short neighbours become one.
    """
    scene = answers.scene
    pixel, notes = _resolution(scene, most)
    lanes: dict[int, _Kept] = {}
    for rank in scene.ranks:
        lanes[rank.summary] = _kept(scene, rank.summary, pixel)
        for track in rank.tracks:
            fine = 1 if track.role == "exchange" else pixel
            for number in {*range(track.first, track.first + track.rows), track.flat}:
                lanes[number] = _kept(scene, number, fine)
    path = answers.path
    table, more = _table(answers)
    given = {
        "lanes": {str(number): _columns(scene, number, kept) for number, kept in lanes.items()},
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
    return packed_json(given), [*notes, *more]


@dataclass(frozen=True, eq=False)
class _Kept:
    """A lane as a page has it; None in `count` and `busy`: each interval is there itself."""

    lane: Lane
    count: IntArray | None = None
    busy: IntArray | None = None


def _kept(scene: Scene, number: int, pixel: int) -> _Kept:
    lane = scene.lane(number)
    if pixel == 1:
        return _Kept(lane)
    blocks = merged([lane], scene.begin_ns, scene.span_ns, pixel)
    held = Lane(blocks.start, blocks.finish, blocks.kind, blocks.name, blocks.row)
    return _Kept(held, blocks.count, blocks.busy_ns)


def _resolution(scene: Scene, most: int) -> tuple[int, list[str]]:
    """Return how long neighbours are, ns, that become one interval; 1 where none have to."""
    if scene.intervals <= most:
        return 1, []
    numbers = [
        number
        for rank in scene.ranks
        for track in rank.tracks
        for number in range(track.first, track.first + track.rows)
        if track.role != "exchange"
    ]
    pixel = 256
    while pixel < scene.span_ns:
        pixel *= 2
        left = sum(len(_kept(scene, number, pixel).lane) for number in numbers)
        if left <= most:
            break
    said = (
        f"Of {scene.intervals:,} intervals this page holds {left:,}: neighbours shorter than "
        f"{pixel / 1000:,.4g} µs are one in it, called as the longest of them, and only that name "
        "is found. A viewer in a notebook shows and finds them all."
    )
    return pixel, [said]


def _plain(lane: Lane) -> dict[str, list[int]]:
    """Return the columns: starts as steps from one to the next, lengths, kinds, names."""
    return {
        "start": np.diff(lane.start, prepend=0).tolist(),
        "length": (lane.finish - lane.start).tolist(),
        "kind": lane.kind.tolist(),
        "name": lane.name.tolist(),
    }


def _columns(scene: Scene, number: int, kept: _Kept) -> dict[str, Any]:
    """Return a lane with what is known besides: categories, correlations, words for some."""
    rank, track = scene.track_of(number)
    said: dict[str, Any] = _plain(kept.lane) | {
        "rank": rank.rank,
        "lane": "summary" if track is None else track.name,
    }
    if kept.count is not None and kept.busy is not None:
        said |= {"count": kept.count.tolist(), "busy": kept.busy.tolist()}
    if track is None:
        return said
    if track.role == "exchange":
        return said | {"more": _words(scene, rank, track, kept.lane, range(len(kept.lane)))}
    return said | _of_events(scene, rank, track, kept.lane)


def _words(
    scene: Scene, rank: RankLanes, track: Track, lane: Lane, places: Iterable[int]
) -> dict[str, list[list[str]]]:
    return {str(k): _more(scene, rank, track, int(lane.row[k]), int(lane.kind[k])) for k in places}


def _of_events(scene: Scene, rank: RankLanes, track: Track, lane: Lane) -> dict[str, Any]:
    part = scene.step._ranks[rank.rank]
    events = part.events
    rows = lane.row
    called = np.flatnonzero(np.isin(rows, part.calls["row"])).tolist()
    known = {name: code for code, name in enumerate(_categories(scene))}
    cats = events["cat"].cat.categories
    codes = np.array([known[str(name)] for name in cats], dtype=np.int64)
    return {
        "cat": codes[events["cat"].cat.codes.to_numpy()[rows]].tolist(),
        "correlation": events["correlation"].to_numpy()[rows].tolist(),
        "where": ["on" if track.role == "device" else "in", track.title],
        "more": _words(scene, rank, track, lane, called),
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
