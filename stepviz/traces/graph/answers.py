"""What a step's graph answers: a completion, the path to it, and how far both can be trusted.

Both levels give these values: the fine one is the graph of all rows, the coarse one knows each
rank's own time and its collectives only.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol

import numpy as np
import pandas as pd

from stepviz.traces.graph.edits import Edit

Level = Literal["fine", "coarse"]

#: Columns of a critical path, a piece a row, in order of time.
PATH_COLUMNS: Final = (
    "rank",  # missing for a transfer, which belongs to all members
    "kind",  # a kind of work, or wait, unexplained, "before the step"
    "name",
    "start_ns",
    "finish_ns",
    "duration_ns",
    "origin",  # how the link into this piece is known: recorded, inferred, assumed, unexplained
    "launched",  # of device work: in the step, before it, by an earlier step, not in the file
    "on",  # device, host, link; "" for what is none of these
    "track",  # of the rank's rows, −1 where there is none
    "row",  # of the rank's events, −1 where the piece is not one row
    "residual",  # whether this is delay that no work explains
)

#: Kinds of pieces that are no kind of work.
BEFORE_STEP: Final = "before the step"
UNEXPLAINED: Final = "unexplained"
WAIT: Final = "wait"

_MS: Final = 1_000_000
#: Smaller shares read 0.0 %.
_LEAST_SAID: Final = 0.0005


@dataclass(frozen=True)
class Thresholds:
    """Beyond these, in ns, what lies between two pieces of work counts as unexplained.

    From `guessed_share` on, what of a path follows on links that no file records is spoken of.
    """

    host_gap_ns: int = 1_000_000
    lag_ns: int = 50_000
    stream_gap_ns: int = 10_000
    guessed_share: float = 0.02

    def __str__(self) -> str:
        return (
            f"unexplained: a host gap over {self.host_gap_ns / _MS:g} ms, a launch or sync lag "
            f"over {self.lag_ns / 1000:g} µs, a stream gap over {self.stream_gap_ns / 1000:g} µs "
            "that no edge explains"
        )


THRESHOLDS: Final = Thresholds()


@dataclass(frozen=True)
class Trust:
    """How far an answer holds.

    `residual_share` is the part of the path that is delay no work explains, `unexplained_share`
    what of it lies beyond the thresholds; `inferred_share` and `assumed_share` what of it follows
    on links that no file records (the path's `origin`). `clocks` says how far ranks' clocks
    disagree, or that nothing compares some, "" where they may agree. `beyond` says what else bounds
    it, in sentences: how much of the gain no row tells of; how much of what was changed ran before
    the step began, where no edit reaches; how many exchanges no other rank is known to take part
    in, so that they keep what they waited.
    """

    level: Level
    residual_share: float
    unexplained_share: float
    thresholds: Thresholds = THRESHOLDS
    clocks: str = ""
    beyond: tuple[str, ...] = ()
    inferred_share: float = 0.0
    assumed_share: float = 0.0

    @property
    def guessed(self) -> str:
        """Which part of the path rests on links that no file records; "" where it is small."""
        inferred, assumed = self.inferred_share, self.assumed_share
        # What is said of the coarse level says already that it assumes.
        least = max(self.thresholds.guessed_share, 2 * _LEAST_SAID)
        if self.level == "coarse" or inferred + assumed < least:
            return ""
        found = (("inferred from calls and times", inferred), ("assumed", assumed))
        how = [f"{word} ({100 * part:.1f} %)" for word, part in found if part >= _LEAST_SAID]
        whole = f"{100 * (inferred + assumed):.1f} %"
        said = " or ".join(how) if len(how) > 1 else how[0].rpartition(" (")[0]
        return f"{whole} of the path follows on links that no file records, {said}"

    @property
    def sentence(self) -> str:
        """All of it in one sentence."""
        known = {
            "fine": "from the graph of all rows",
            "coarse": "from own times and collectives alone, as if no work ran beside a collective",
        }[self.level]
        said = (
            f"{known}; of the path {100 * self.residual_share:.1f} % is delay that no work "
            f"explains, {100 * self.unexplained_share:.1f} % is unexplained altogether"
        )
        return "; ".join(filter(None, (said, self.guessed, *self.beyond, self.clocks)))

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True, eq=False)
class WhatIf:
    """What a step would be: its completion, its critical path, and how far to trust both.

    `did` says in words what was changed. `largest_error_ns` is known for the replay of the
    unedited graph: how far any of its points is from where it was observed.
    """

    level: Level
    did: str
    completion_ns: int
    baseline_ns: int
    critical_path: pd.DataFrame
    trust: Trust
    largest_error_ns: int | None = None

    @property
    def gain_ns(self) -> int:
        """How much sooner the step would end, ns."""
        return self.baseline_ns - self.completion_ns

    @property
    def completion_ms(self) -> float:
        """The completion, ms from the step's start."""
        return self.completion_ns / _MS

    @property
    def gain_ms(self) -> float:
        """How much sooner the step would end, ms."""
        return self.gain_ns / _MS

    @property
    def speedup(self) -> float:
        """How many times as fast the step would be."""
        return self.baseline_ns / self.completion_ns if self.completion_ns else float("inf")

    @property
    def owners(self) -> pd.DataFrame:
        """The critical path by owner: stretches of one rank, and transfers between."""
        return owners(self.critical_path)

    def __repr__(self) -> str:
        return (
            f"<{self.did} ({self.level}): {self.completion_ms:.6g} ms, "
            f"gain {self.gain_ms:.4g} ms; {self.trust.sentence}>"
        )

    def _repr_html_(self) -> str:
        table = self.owners.assign(ms=lambda frame: (frame["duration_ns"] / _MS).round(3))
        return (
            f"<p><b>{html.escape(self.did)}</b> ({self.level}): {self.completion_ms:.6g} ms, gain "
            f"{self.gain_ms:.4g} ms, {self.speedup:.3g} times as fast<br>"
            f"{html.escape(self.trust.sentence)}; {html.escape(str(self.trust.thresholds))}</p>"
            f"{table[['rank', 'what', 'ms']].to_html(border=0, index=False)}"
        )


class Answering(Protocol):
    """A level of a step's graph: what both the fine and the coarse one answer.

    Both are made of the step's ranks and exchanges, and of what `Trust.clocks` is to say.
    """

    def path(self) -> pd.DataFrame:
        """Return the observed critical path (columns: `PATH_COLUMNS`), times in ns as recorded."""
        ...

    def replay(self) -> WhatIf:
        """Solve the unedited graph."""
        ...

    def what_if(self, edits: Iterable[Edit]) -> WhatIf:
        """Solve the graph with other durations, edits made one after the other."""
        ...

    def no_stragglers(self) -> WhatIf:
        """Solve the graph with no rank slower than the median."""
        ...


def path_frame(pieces: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Make a critical path of its pieces, in order of time; duration_ns is added.

    What a piece doesn't say of launched, on, track, row and residual is filled in.
    """
    filled = {"launched": "", "on": "", "track": -1, "row": -1, "residual": False}
    known = [name for name in PATH_COLUMNS if name != "duration_ns"]
    # A step that takes no time any more has a path of no pieces.
    frame = pd.DataFrame([filled | dict(piece) for piece in pieces], columns=known)
    return path_of_arrays({str(name): column.array for name, column in frame.items()})


def path_of_arrays(given: Mapping[str, Any]) -> pd.DataFrame:
    """Make a critical path of its columns as arrays, all but duration_ns."""
    columns = dict(given)
    for name in ("start_ns", "finish_ns", "track", "row"):
        columns[name] = np.asarray(columns[name], dtype=np.int64)
    columns["duration_ns"] = columns["finish_ns"] - columns["start_ns"]
    columns["rank"] = pd.array(columns["rank"], dtype="Int64")
    columns["residual"] = np.asarray(columns["residual"], dtype=bool)
    return pd.DataFrame({name: columns[name] for name in PATH_COLUMNS})


def shares(path: pd.DataFrame) -> tuple[float, float]:
    """Return which part of a path is delay that no work explains, and which is unexplained."""
    whole = int(path["duration_ns"].sum())
    if whole == 0:
        return 0.0, 0.0
    residual = int(path.loc[path["residual"], "duration_ns"].sum())
    unexplained = int(path.loc[path["kind"] == UNEXPLAINED, "duration_ns"].sum())
    return residual / whole, unexplained / whole


def guessed_shares(path: pd.DataFrame) -> tuple[float, float]:
    """Return which part of a path follows on links that are inferred, and on assumed ones."""
    whole = int(path["duration_ns"].sum())
    if whole == 0:
        return 0.0, 0.0
    lasts = path["duration_ns"].groupby(path["origin"]).sum()
    return int(lasts.get("inferred", 0)) / whole, int(lasts.get("assumed", 0)) / whole


def owners(path: pd.DataFrame) -> pd.DataFrame:
    """Gather a path by owner: rank, what (before the step, own, transfer), start, finish, ns."""
    what = pd.Series("own", index=path.index).mask(path["on"] == "link", "transfer")
    what = what.mask(path["kind"] == BEFORE_STEP, BEFORE_STEP)
    rank = path["rank"].fillna(-1).astype("int64")
    run = ((what != what.shift()) | (rank != rank.shift())).cumsum()
    gathered = path.assign(what=what).groupby(run, sort=False)
    frame = gathered.agg(
        rank=("rank", "first"),
        what=("what", "first"),
        start_ns=("start_ns", "first"),
        finish_ns=("finish_ns", "last"),
    )
    frame["duration_ns"] = frame["finish_ns"] - frame["start_ns"]
    return frame.reset_index(drop=True)
