"""The coarse level: what a step would be, by own times and collectives alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from stepviz.core.checks import ms_text
from stepviz.errors import ChangeError
from stepviz.traces.graph.answers import (
    BEFORE_STEP,
    Trust,
    WhatIf,
    guessed_shares,
    path_frame,
    shares,
)
from stepviz.traces.graph.beyond import apart_said
from stepviz.traces.graph.coarse_model import CoarseModel, Lengths, coarse_model
from stepviz.traces.graph.edits import Edit, matching
from stepviz.traces.graph.programs import Program, classes, first_of_class, in_order, left_said
from stepviz.traces.joining.step_exchanges import StepExchanges
from stepviz.traces.rank_trace import RankStep

IntArray = npt.NDArray[np.int64]

#: The kind of what a rank does outside collectives.
OWN: Final = "own"
EXCHANGE: Final = "exchange"


class Coarse:
    """Each rank's own times and the collectives of a step."""

    def __init__(
        self, ranks: Mapping[int, RankStep], exchanges: StepExchanges, clocks: str
    ) -> None:
        self._ranks = dict(ranks)
        self._windows = {
            rank: (part.window.start_ns, part.window.finish_ns) for rank, part in ranks.items()
        }
        self._exchanges = exchanges
        self._clocks = clocks

    @cached_property
    def model(self) -> CoarseModel:
        """The model, its lengths as observed."""
        return coarse_model(self._windows, self._exchanges)

    def path(self) -> pd.DataFrame:
        """Return the observed critical path."""
        return path_of(self.model, self.model.lengths)

    def replay(self) -> WhatIf:
        """Solve the unedited model."""
        model = self.model
        time, ends = model.solve(model.lengths)
        error = max(int(np.abs(time - model.observed).max()), int(np.abs(ends - model.ends).max()))
        return self._answer("nothing changed", model.lengths, error)

    def what_if(self, edits: Iterable[Edit]) -> WhatIf:
        """Solve the model with other lengths."""
        lengths, did = self.model.lengths, []
        for edit in edits:
            lengths, said = edited(self.model, lengths, edit)
            did.append(said)
        return self._answer(", ".join(did), lengths)

    def no_stragglers(self) -> WhatIf:
        """Solve the model with no own time longer than the median of ranks that do alike."""
        model, lengths = self.model, self.model.lengths
        joint = np.flatnonzero(model.exchanges.ranks[model.exchanges.number] > 1)
        ordered: dict[int, IntArray] = {}
        programs: dict[int, Program] = {}
        for at, rank in enumerate(model.ranks.tolist()):
            mine = joint[model.rank[joint] == at]
            known = self._ranks[rank].trace.exchanges.take(model.exchanges.row[mine])
            sizes = model.exchanges.ranks[model.exchanges.number[mine]]
            order, programs[rank] = in_order(known, sizes.tolist())
            ordered[rank] = mine[order]
        numbers = classes(programs)
        number = np.array([numbers[rank] for rank in model.ranks.tolist()], dtype=np.int64)
        gap, tail = lengths.gap.copy(), lengths.tail.copy()
        for each in range(int(number.max(initial=-1)) + 1):
            calls = np.array([ordered[rank] for rank, n in numbers.items() if n == each])
            gap[calls] = np.minimum(gap[calls], _median(gap[calls]))
            like = number == each
            tail[like] = np.minimum(tail[like], _median(tail[like]))
        start = first_of_class(lengths.start, number)
        changed = replace(lengths, start=start, gap=gap, tail=tail)
        did = f"no rank slower than the median, none starts late{left_said(numbers)}"
        return self._answer(did, changed)

    def _answer(self, did: str, lengths: Lengths, error: int | None = None) -> WhatIf:
        model = self.model
        path = path_of(model, lengths)
        residual, unexplained = shares(path)
        inferred, assumed = guessed_shares(path)
        return WhatIf(
            level="coarse",
            did=did,
            completion_ns=int(model.solve(lengths)[1].max()),
            baseline_ns=int(model.ends.max()),
            critical_path=path,
            trust=Trust(
                "coarse",
                residual,
                unexplained,
                clocks=self._clocks,
                beyond=tuple(filter(None, (apart_said(model.exchanges.ranks.tolist()),))),
                inferred_share=inferred,
                assumed_share=assumed,
            ),
            largest_error_ns=error,
        )


def path_of(model: CoarseModel, lengths: Lengths) -> pd.DataFrame:
    """Walk back from the last end; the pieces partition the step to the ns."""
    time, ends = model.solve(lengths)
    ranks, calls = len(model.ranks), len(model.rank)
    exchanges, number = model.exchanges, model.exchanges.number
    who = int(np.argmax(ends))
    pieces: list[dict[str, Any]] = []

    def add(rank: int | None, kind: str, name: str, low: int, high: int) -> None:
        if high > low:
            joint = rank is None or kind == EXCHANGE
            pieces.append(
                {
                    "rank": pd.NA if rank is None else rank,
                    "kind": kind,
                    "name": name,
                    "start_ns": model.origin + low,
                    "finish_ns": model.origin + high,
                    "origin": "assumed" if kind == OWN else "recorded",
                    "on": "link" if joint else "",
                }
            )

    point = int(model.last[who])
    add(int(model.ranks[who]), OWN, "→ end", int(time[point]), int(ends[who]))
    while point >= ranks:
        call = point - ranks
        if call < calls:
            who, previous = int(model.rank[call]), int(model.before[call])
            name = f"→ {exchanges.names[number[call]]}"
            add(int(model.ranks[who]), OWN, name, int(time[previous]), int(time[point]))
            point = previous
            continue
        call -= calls
        at = int(number[call])
        members = np.arange(exchanges.bounds[at], exchanges.bounds[at + 1])
        arrived = time[ranks + members]
        # Among several that are last the rank itself goes on.
        late = call if time[ranks + call] == arrived.max() else int(members[np.argmax(arrived)])
        late = call if model.early[call] else late
        alone = int(model.ranks[model.rank[call]]) if len(members) == 1 else None
        began = int(time[ranks + late])
        add(alone, EXCHANGE, exchanges.names[at], began, int(time[point]))
        point = ranks + late
    add(int(model.ranks[point]), BEFORE_STEP, BEFORE_STEP, 0, int(time[point]))
    return path_frame(pieces[::-1])


def edited(model: CoarseModel, lengths: Lengths, edit: Edit) -> tuple[Lengths, str]:
    """Return other lengths, and in words what was changed.

    Raises
    ------
    ChangeError
        Where nothing matches, or it is about work that this level does not know.
    """
    mine = np.ones(len(model.ranks), dtype=bool)
    if edit.rank is not None:
        mine = model.ranks == edit.rank
    whose = "all ranks" if edit.rank is None else f"rank {edit.rank}"
    if edit.start_together:
        start = np.where(mine, 0, lengths.start)
        told = "start together" if edit.rank is None else "starts with the first"
        return replace(lengths, start=start), f"{whose} {told}"
    if edit.delay_input_ns is not None:
        start = lengths.start + np.where(mine, edit.delay_input_ns, 0)
        return replace(lengths, start=start), f"{whose} {edit.delay_input_ns / 1e6:g} ms later"
    if edit.own_time and edit.factor is not None:
        gap = np.where(mine[model.rank], _scaled(lengths.gap, edit.factor), lengths.gap)
        tail = np.where(mine, _scaled(lengths.tail, edit.factor), lengths.tail)
        return replace(lengths, gap=gap, tail=tail), f"{edit.said()} x {edit.factor:g}"
    wanted = _transfers(model, edit)
    chosen = wanted & mine[model.rank]
    if edit.rank is not None:
        chosen &= (model.exchanges.ranks == 1)[model.exchanges.number]
    if not chosen.any():
        msg = f"{edit.said()}: there is none on the coarse level of this step"
        if wanted.any() and edit.rank is not None:
            what = replace(edit, rank=None).said()
            msg = (
                f"rank {edit.rank} has no work of its own that is {what}: a collective's transfer "
                "belongs to all of its members, so leave rank= out"
            )
        raise ChangeError(msg)
    if edit.factor is not None:
        changed, said = _scaled(lengths.transfer, edit.factor), f"x {edit.factor:g}"
    elif edit.shorten_ns is not None:
        changed = _shortened(model, lengths, chosen, edit)
        said = f"{edit.shorten_ns / 1e6:g} ms shorter in all, pro rata"
    else:
        changed = np.full_like(lengths.transfer, edit.set_ns or 0)
        said = f"set to {(edit.set_ns or 0) / 1e6:g} ms"
    transfer = np.where(chosen, changed, lengths.transfer)
    return replace(lengths, transfer=transfer), f"{edit.said()} {said}"


def _transfers(model: CoarseModel, edit: Edit) -> npt.NDArray[np.bool_]:
    """Return which calls' transfers are meant."""
    unknown = [kind for kind in edit.kinds if kind != EXCHANGE]
    if unknown or not (edit.kinds or edit.names):
        what = f"kind {unknown[0]!r}" if unknown else "single pieces of own time"
        msg = (
            f"the coarse level knows no {what}, only exchange and each rank's own time: "
            "use own_time=, or level='fine'"
        )
        raise ChangeError(msg)
    names, kinds = model.exchanges.names, model.exchanges.collective
    wanted = np.ones(len(names), dtype=bool)
    if edit.names:
        there = "among the exchanges, all that the coarse level knows,"
        found = matching(edit.names, [*names, *kinds], there)
        wanted = np.array(
            [name in found or kind in found for name, kind in zip(names, kinds, strict=True)]
        )
    return wanted[model.exchanges.number]


def _shortened(
    model: CoarseModel, lengths: Lengths, chosen: npt.NDArray[np.bool_], edit: Edit
) -> IntArray:
    """Return transfers that are shorter by so much in all: each exchange lasts once."""
    shorten = edit.shorten_ns or 0
    each = np.zeros(len(model.exchanges), dtype=np.int64)
    np.maximum.at(each, model.exchanges.number[chosen], lengths.transfer[chosen])
    lasts = int(each.sum())
    if shorten > lasts:
        msg = (
            f"can't shorten {edit.said()} by {ms_text(shorten / 1e6)} ms: it lasts "
            f"{ms_text(lasts / 1e6)} ms in all"
        )
        raise ChangeError(msg)
    return _scaled(lengths.transfer, 1 - shorten / max(lasts, 1))


def _scaled(values: IntArray, factor: float) -> IntArray:
    scaled: IntArray = np.rint(values * factor).astype(np.int64)
    return scaled


def _median(values: IntArray) -> IntArray:
    """Return the median over the first axis."""
    usual: IntArray = np.rint(np.median(values, axis=0)).astype(np.int64)
    return usual
