"""What a page of the trace viewer asks, and what it is told: plain data and binary buffers.

A question is a dict with `ask` (what), `id` (repeated in the answer) and `page` (who). Answers
carry no more than one screen shows. Lane −1 is the critical path.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pandas as pd

from stepviz.traces.lanes.blocks import merged
from stepviz.traces.lanes.packing import Lane
from stepviz.traces.lanes.pathway import Pathway, pathway
from stepviz.traces.lanes.questions import Matches, explain, explain_piece, search
from stepviz.traces.lanes.scene import SHOWN_KINDS, Scene
from stepviz.traces.step import Step

#: The number by which a page asks for the critical path.
PATH: Final = -1
#: Pages whose names are remembered; another one is told names again.
_PAGES: Final = 8
_LONGEST_NAME: Final = 1000
#: Rows of the path's table in one answer.
_TABLE_ROWS: Final = 200
#: Times travel as int32; beyond this range their unit is coarser than 1 ns.
_REACH: Final = 2**30

Answer = tuple[dict[str, Any], list[bytes]]


class Answers:
    """Answers questions about one step."""

    def __init__(self, step: Step) -> None:
        self.scene = Scene(step)
        self.path: Pathway = pathway(self.scene)
        self._told: OrderedDict[str, set[int]] = OrderedDict()
        self._found: tuple[object, Matches] | None = None
        self._asked: dict[str, Callable[[dict[str, Any]], Answer]] = {
            "blocks": self._blocks,
            "find": self._find,
            "explain": self._explain,
            "path": self._path_table,
            "piece": self._piece,
        }

    def overview(self) -> dict[str, Any]:
        """Return what a page knows from the start: the ranks, tracks and lanes, no intervals."""
        scene = self.scene
        kinds = np.zeros(len(SHOWN_KINDS), dtype=np.bool_)
        for number in scene.recorded.tolist():
            kinds[np.unique(scene.lane(number).kind)] = True
        kinds[np.unique(self.path.lane.kind)] = True
        return {
            "title": f"step {scene.step.number} of {scene.step._run_name}",
            "begin": scene.begin_ns,
            "span": scene.span_ns,
            "intervals": scene.intervals,
            "kinds": list(SHOWN_KINDS),
            "present": np.flatnonzero(kinds).tolist(),
            "ranks": [
                {
                    "rank": rank.rank,
                    "start": rank.start,
                    "finish": rank.finish,
                    "summary": rank.summary,
                    "tracks": [
                        [track.name, track.title, track.role, track.first, track.rows, track.flat]
                        for track in rank.tracks
                    ],
                }
                for rank in scene.ranks
            ],
            "path": {
                "pieces": len(self.path.lane),
                "ranks": self.path.ranks(),
                "why": self.path.why_not,
            },
            "doubt": "" if scene.step.clash is None else str(scene.step.clash),
        }

    def answer(self, question: dict[str, Any]) -> Answer:
        """Answer one question; what is wrong with it is the answer then."""
        told = {"id": question.get("id")}
        try:
            answer = self._asked[str(question.get("ask"))]
            content, buffers = answer(question)
        except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
            return {**told, "error": f"{type(error).__name__}: {error}"}, []
        return told | content, buffers

    def find(self, text: str, hidden: list[int] | None = None) -> Matches:
        """Find all intervals whose name holds a text; the last answer is kept."""
        key = (text, tuple(hidden or ()))
        if self._found is None or self._found[0] != key:
            self._found = (key, search(self.scene, text, _mask(hidden)))
        return self._found[1]

    def selection(self, chosen: object) -> dict[str, Any] | None:
        """Return in Python's words what a page says was chosen, None where it means nothing."""
        if not isinstance(chosen, dict):
            return None
        try:
            start, finish = int(chosen["start"]), int(chosen["finish"])
            number = chosen.get("lane")
            said: dict[str, Any] = {}
            if number is not None and int(number) != PATH:
                self._lane(int(number))
                rank, track = self.scene.track_of(int(number))
                said = {"rank": rank.rank, "lane": "summary" if track is None else track.name}
            elif number is not None:
                said = {"rank": chosen.get("rank"), "lane": "critical path"}
            said |= {word: str(chosen[word]) for word in ("name", "kind") if chosen.get(word)}
        except (KeyError, TypeError, ValueError, OverflowError):
            return None
        origin = self.scene.origin_ns
        return said | {"start_ns": start + origin, "finish_ns": finish + origin}

    def _blocks(self, question: dict[str, Any]) -> Answer:
        start, finish = int(question["start"]), int(question["finish"])
        numbers = [int(number) for number in question["lanes"]]
        text = str(question.get("find") or "")
        hidden = question.get("hidden")
        blocks = merged(
            [self._lane(number) for number in numbers],
            start,
            finish,
            max(1, int(question["pixel"])),
            hidden=_mask(hidden),
            found=self.find(text, hidden).named if text else None,
        )
        unit = 1
        while (finish - start) // unit > _REACH:
            unit *= 2
        on_path = np.empty((2, 0), dtype="<i4")
        if PATH in numbers:
            k = numbers.index(PATH)
            rows = blocks.row[blocks.bounds[k] : blocks.bounds[k + 1]]
            on_path = np.array([self.path.at[rows], self.path.shown[rows]], dtype="<i4")
        content = {
            "start": start,
            "finish": finish,
            "unit": unit,
            "lanes": numbers,
            "names": self._names(str(question.get("page")), blocks.name),
        }
        return content, [blocks.packed(start, unit), on_path.tobytes()]

    def _lane(self, number: int) -> Lane:
        if number == PATH:
            return self.path.lane
        if not 0 <= number < len(self.scene):
            msg = f"there is no lane {number}"
            raise ValueError(msg)
        return self.scene.lane(number)

    def _names(self, page: str, used: np.ndarray[Any, np.dtype[np.int64]]) -> dict[str, str]:
        """Return by code the names that a page has not been told yet."""
        told = self._told.setdefault(page, set())
        self._told.move_to_end(page)
        while len(self._told) > _PAGES:
            self._told.popitem(last=False)
        new = [code for code in np.unique(used).tolist() if code not in told]
        told.update(new)
        return {str(code): self.scene.names[code][:_LONGEST_NAME] for code in new}

    def _find(self, question: dict[str, Any]) -> Answer:
        """Count matches, and go to the one after or before a place, or to the first in sight."""
        text = str(question["text"])
        if not text:
            return {"count": 0}, []
        matches = self.find(text, question.get("hidden"))
        content: dict[str, Any] = {"count": len(matches)}
        if len(matches) and question.get("go"):
            place = matches.following(
                int(question["start"]), int(question["lane"]), forward=question["go"] == "next"
            )
            content |= {
                "place": place,
                "lane": int(matches.lane[place]),
                "start": int(matches.start[place]),
                "finish": int(matches.finish[place]),
                "name": self.scene.names[int(matches.name[place])][:_LONGEST_NAME],
                "kind": int(matches.kind[place]),
            }
        return content, []

    def _explain(self, question: dict[str, Any]) -> Answer:
        number = int(question["lane"])
        start, finish = int(question["start"]), int(question["finish"])
        if number == PATH:
            lane = self.path.lane
            found = lane.within(start, finish)
            inside = [
                k
                for k in range(found.start, found.stop)
                if lane.start[k] >= start and lane.finish[k] <= finish
            ]
            if not inside:
                return {"count": 0}, []
            longest = max(inside, key=lambda k: int(lane.finish[k] - lane.start[k]))
            return explain_piece(self.scene, self.path, longest) | {"count": len(inside)}, []
        self._lane(number)
        return explain(self.scene, number, start, finish), []

    def _piece(self, question: dict[str, Any]) -> Answer:
        """Go along the path: the piece at a time, or the one after or before it."""
        lane = self.path.lane
        if len(lane) == 0:
            return {"count": 0}, []
        place = int(np.searchsorted(lane.start, int(question["at"]), side="right")) - 1
        place = min(max(place + int(question["by"]), 0), len(lane) - 1)
        row = int(lane.row[place])
        said = explain_piece(self.scene, self.path, place)
        return said | {"at": int(self.path.at[row]), "shown": int(self.path.shown[row])}, []

    def _path_table(self, question: dict[str, Any]) -> Answer:
        """Return some rows of the path's table, as texts ready to be shown."""
        frame = self.path.frame
        if frame is None:
            return {"rows": [], "total": 0}, []
        first = max(0, int(question.get("from", 0)))
        part = frame.iloc[first : first + _TABLE_ROWS]
        rows = [
            [
                "" if pd.isna(row["rank"]) else str(int(row["rank"])),
                str(row["kind"]),
                str(row["name"])[:_LONGEST_NAME],
                int(row["start_ns"]) - self.scene.origin_ns,
                int(row["finish_ns"]) - int(row["start_ns"]),
                str(row.get("origin", "")),
                str(row.get("launched", "")),
            ]
            for row in part.to_dict("records")
        ]
        return {"rows": rows, "total": len(frame), "from": first}, []


def _mask(codes: object) -> np.ndarray[Any, np.dtype[np.bool_]] | None:
    """Return by code of kind whether it is among some; None for none."""
    if not isinstance(codes, list) or not codes:
        return None
    mask = np.zeros(len(SHOWN_KINDS), dtype=np.bool_)
    mask[[int(code) for code in codes]] = True
    return mask
