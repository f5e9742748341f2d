"""A step as a viewer shows it: its ranks, their tracks, and the lanes in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from stepviz.core.vocabulary import COMPUTE, KINDS
from stepviz.traces.joining.joins import Call, Exchange
from stepviz.traces.lanes.packing import BoolArray, IntArray, Lane, foremost, innermost, pack
from stepviz.traces.rank_trace import RankStep
from stepviz.traces.reading.rows import DEVICE, HOST
from stepviz.traces.reading.track_names import Tracks
from stepviz.traces.step import Step

#: Kinds a lane may show; the code of a kind is its place here.
SHOWN_KINDS: Final = (*KINDS, "wait", "before the step", "unexplained", "idle")
CODE_OF: Final = {kind: code for code, kind in enumerate(SHOWN_KINDS)}
_ABOUT_EXCHANGES: Final = "every exchange of the rank: its wait, then its transfer"
#: What a rank's summary shows where several run at once, the foremost first.
_FOREMOST: Final = (
    *COMPUTE,
    "exchange",
    "wait",
    "optimizer",
    "checkpoint",
    "input",
    "host",
    "other",
)


@dataclass(frozen=True)
class Track:
    """A stream or a thread: lanes `first` to `first + rows`, and one that shows the innermost.

    `number` is that of the rank's track; −1 for the exchanges, which are no track of the file.
    """

    name: str
    title: str
    role: str
    first: int
    rows: int
    flat: int
    number: int


@dataclass(frozen=True)
class RankLanes:
    """One rank: its window (ns from the step's start), its tracks, and the lane that sums it up."""

    rank: int
    start: int
    finish: int
    summary: int
    tracks: tuple[Track, ...]


@dataclass(frozen=True, eq=False)
class _Given:
    """A track before it is spread over lanes."""

    name: str
    title: str
    role: str
    lane: Lane
    number: int = -1
    main: bool = False


@dataclass
class _Names:
    """Names by code, each once over all ranks."""

    texts: list[str] = field(default_factory=list)
    _codes: dict[str, int] = field(default_factory=dict)

    def code(self, text: str) -> int:
        code = self._codes.setdefault(text, len(self.texts))
        if code == len(self.texts):
            self.texts.append(text)
        return code


class Scene:
    """The lanes of a step, in ns from its first rank's start.

    Parameters
    ----------
    step
        The step to show.

    Attributes
    ----------
    origin_ns
        The step's start, absolute; lanes count from it.
    begin_ns
        Where lanes begin: at most 0, earlier where the host ran ahead of the device.
    span_ns
        Its length, from the first rank's start to the last rank's end.
    names
        Names by code.
    ranks
        What each rank shows.
    """

    def __init__(self, step: Step) -> None:
        self.step = step
        windows = step.windows
        self.origin_ns = int(windows["start_ns"].min())
        self.span_ns = max(1, int(windows["finish_ns"].max()) - self.origin_ns)
        hosts = [part.window.host_start_ns for part in step._ranks.values()]
        self.begin_ns = min(0, min(hosts) - self.origin_ns)
        self._names = _Names()
        self._kind_names = [self._names.code(kind) for kind in SHOWN_KINDS]
        self._lanes: list[Lane | Callable[[], Lane]] = []
        #: By lane of a rank: the rank's place in `ranks`.
        self.rank_of: list[int] = []
        #: The exchanges' parts, by the `row` of lanes of role "exchange".
        self.parts: list[tuple[Exchange, Call]] = []
        self.ranks: list[RankLanes] = []
        calls = self._calls()
        for rank, part in step._ranks.items():
            self.ranks.append(self._rank(rank, part, calls.get(rank, [])))

    @property
    def names(self) -> list[str]:
        """Names by code."""
        return self._names.texts

    def name_code(self, text: str) -> int:
        """Return the code of a name, making one where it is new."""
        return self._names.code(text)

    def __len__(self) -> int:
        return len(self._lanes)

    def lane(self, number: int) -> Lane:
        """Return a lane; what is derived from others is made when first asked for."""
        lane = self._lanes[number]
        if not isinstance(lane, Lane):
            lane = self._lanes[number] = lane()
        return lane

    @cached_property
    def recorded(self) -> IntArray:
        """The numbers of the lanes that hold intervals themselves, not a view of other lanes."""
        return np.array(
            [
                number
                for rank in self.ranks
                for track in rank.tracks
                for number in range(track.first, track.first + track.rows)
            ],
            dtype=np.int64,
        )

    @cached_property
    def intervals(self) -> int:
        """How many intervals there are in all."""
        return sum(len(self.lane(int(number))) for number in self.recorded)

    def track_of(self, number: int) -> tuple[RankLanes, Track | None]:
        """Return the rank and the track of a lane; a rank's summary belongs to no track."""
        rank = self.ranks[self.rank_of[number]]
        for track in rank.tracks:
            if track.first <= number < track.first + track.rows or number == track.flat:
                return rank, track
        return rank, None

    # Building

    def _add(self, rank_place: int, lane: Lane | Callable[[], Lane]) -> int:
        self._lanes.append(lane)
        self.rank_of.append(rank_place)
        return len(self._lanes) - 1

    def _calls(self) -> dict[int, list[int]]:
        """List by rank the places in `parts` of its exchanges."""
        found: dict[int, list[int]] = {}
        for exchange in self.step._joined.exchanges:
            for rank, call in exchange.calls.items():
                found.setdefault(rank, []).append(len(self.parts))
                self.parts.append((exchange, call))
        return found

    def _rank(self, rank: int, part: RankStep, calls: list[int]) -> RankLanes:
        place = len(self.ranks)
        exchanges = self._exchanges(calls)
        given = [_Given("exchanges", _ABOUT_EXCHANGES, "exchange", exchanges)] if calls else []
        given += self._recorded(part)
        tracks = [self._track(place, one) for one in given]
        # A rank does what its device does; where it has none, what its main thread does.
        on_device = [one.lane for one in given if one.role == "device"]
        driving = [one.lane for one in given if one.main]
        working = on_device or driving
        summary = self._add(place, lambda: self._summary([*working, exchanges]))
        window = part.window
        return RankLanes(
            rank=rank,
            start=window.start_ns - self.origin_ns,
            finish=window.finish_ns - self.origin_ns,
            summary=summary,
            tracks=tuple(tracks),
        )

    def _track(self, place: int, given: _Given) -> Track:
        rows = pack(given.lane)
        first = len(self._lanes)
        for row in rows:
            self._add(place, row)
        flat = first if len(rows) == 1 else self._add(place, lambda: innermost(rows))
        return Track(given.name, given.title, given.role, first, len(rows), flat, given.number)

    def _summary(self, lanes: list[Lane]) -> Lane:
        # Of exchange the joined parts tell more than the rows do: what of it was waiting.
        moved = CODE_OF["exchange"]
        *working, exchanges = lanes
        kept = [lane.take(lane.kind != moved) for lane in working]
        order = [CODE_OF[kind] for kind in _FOREMOST]
        return foremost([*kept, exchanges], order, self._kind_names)

    def _exchanges(self, calls: list[int]) -> Lane:
        """Return a rank's exchanges, their waits apart where the ranks' clocks can tell."""
        told = self.step.clash is None
        rows: list[tuple[int, int, int, int, int]] = []
        for number in calls:
            exchange, call = self.parts[number]
            name = self._names.code(exchange.name)
            arrived = min(max(call.arrival, exchange.last_arrival), call.finish)
            if not (told and exchange.joint):
                arrived = call.arrival
            elif arrived > call.arrival:
                rows.append((call.arrival, arrived, CODE_OF["wait"], name, number))
            rows.append((arrived, call.finish, CODE_OF["exchange"], name, number))
        table = np.array(rows, dtype=np.int64).reshape(len(rows), 5)
        start, finish = table[:, 0] - self.origin_ns, table[:, 1] - self.origin_ns
        return Lane.of(start, finish, table[:, 2], table[:, 3], table[:, 4])

    def _recorded(self, part: RankStep) -> list[_Given]:
        """List the streams and threads that work in the step."""
        events = part.events
        start = events["start_ns"].to_numpy()
        finish = events["finish_ns"].to_numpy()
        end = self.origin_ns + self.span_ns
        inside = (finish >= self.origin_ns + self.begin_ns) & (start <= end)
        rows = np.flatnonzero(inside & _among(events["cat"], DEVICE | HOST))
        device = _among(events["cat"], DEVICE)[rows]
        lane = Lane.of(
            start[rows] - self.origin_ns,
            finish[rows] - self.origin_ns,
            _codes(events["kind"].iloc[rows], CODE_OF, CODE_OF["other"]),
            self._name_codes(events["name"].iloc[rows]),
            rows,
        )
        track = events["track"].to_numpy()[rows]
        order = np.argsort(track, kind="stable")
        numbers, first = np.unique(track[order], return_index=True)
        found = []
        for number, mine in zip(numbers.tolist(), np.split(order, first)[1:], strict=True):
            role = "device" if bool(device[mine].any()) else "host"
            found.append((number, role, lane.take(mine)))
        found.sort(key=lambda one: _order(part, *one))
        names = _named(part, {number: role for number, role, _ in found})
        return [
            _Given(*names[number], role, work, number, main=number == part.main)
            for number, role, work in found
        ]

    def _name_codes(self, names: pd.Series) -> IntArray:
        used = names.cat.remove_unused_categories().cat
        lookup = np.array([self._names.code(str(text)) for text in used.categories], dtype=np.int64)
        found: IntArray = lookup[used.codes.to_numpy()]
        return found


def _among(values: pd.Series, wanted: frozenset[str]) -> BoolArray:
    """Say which values of a categorical column are among some."""
    chosen = np.array([str(one) in wanted for one in values.cat.categories], dtype=np.bool_)
    found: BoolArray = np.append(chosen, False)[
        values.cat.codes.to_numpy()
    ]  # missing ones have code −1
    return found


def _codes(values: pd.Series, code_of: dict[str, int], other: int) -> npt.NDArray[np.uint8]:
    lookup = [code_of.get(str(one), other) for one in values.cat.categories]
    codes = np.array([*lookup, other], dtype=np.uint8)
    found: npt.NDArray[np.uint8] = codes[values.cat.codes.to_numpy()]
    return found


def _named(part: RankStep, tracks: dict[int, str]) -> dict[int, tuple[str, str]]:
    """Return by track (with its role) a name that fits beside a lane, and all the file says."""
    said = part.rows.tracks
    titles = {
        track: said.name[track] or f"{'stream' if role == 'device' else 'thread'} {said.tid[track]}"
        for track, role in tracks.items()
    }
    names = {
        track: "main thread" if track == part.main else _short(title)
        for track, title in titles.items()
    }
    often = Counter(names.values())
    return {
        track: (name if often[name] == 1 else f"{name} · {_apart(said, track, title)}", title)
        for (track, name), title in zip(names.items(), titles.values(), strict=True)
    }


def _short(title: str) -> str:
    """Return the telling part: thread 1 (pt_autograd_0) → autograd 0, thread 7 (x) → thread 7."""
    outer, _, inner = title.partition("(")
    inner = inner.rstrip(") ")
    telling = outer.startswith("thread") and inner.startswith("pt_")
    return inner.removeprefix("pt_").replace("_", " ") if telling else outer.strip() or title


def _apart(said: Tracks, track: int, title: str) -> str:
    """Tell tracks of one name apart: threads by their number, streams by their device."""
    return (said.pid if title.startswith("stream") else said.tid)[track]


def _order(part: RankStep, track: int, role: str, lane: Lane) -> tuple[int, int, Any]:
    """Sort streams before threads, streams by number, the main thread before its helpers."""
    if role == "device":
        said = part.rows.tracks.tid[track]
        number = int(said) if said.lstrip("-").isdigit() else 2**31
        return (0, number, track)
    return (1, 0 if track == part.main else 1, -len(lane))
