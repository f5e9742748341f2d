"""What one measured run says about itself, in the numbers that two runs are compared by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from stepviz.core.intervals import intersect, total, union
from stepviz.core.vocabulary import COMPUTE
from stepviz.errors import CostError
from stepviz.evidence.device_work import own_work
from stepviz.evidence.records import counts_of, parameters_of, timings
from stepviz.throughput.token_counts import TokenCounts
from stepviz.traces import Run, Step
from stepviz.traces.joining.spreads import cut_alike

Floats = NDArray[np.float64]

#: So many traced steps are enough for what only a trace tells.
_MOST_STEPS: Final = 40
#: Forward beside less exchange than this part of it counts as free of it.
_HARDLY: Final = 0.02
_MS: Final = 1e6


@dataclass(frozen=True)
class Measured:
    """One run's measurements; times in ms.

    `steps` are step times in the order they were taken, one array a block, without profiler
    where `bare`, and `forward` those of its forward pass where they are told; `traced` has a row
    per compared traced step: update (the slowest rank's), exposed (mean of ranks), exposed_least
    (on the rank with the least), and every kind of the breakdown (mean of ranks). `operators`
    has total ms and count per step and rank of each (kind, name). `odd` names odd steps.
    """

    name: str
    steps: list[Floats]
    bare: bool
    forward: list[Floats]
    traced: pd.DataFrame
    operators: pd.DataFrame
    device: bool
    forward_alone: bool
    odd: list[int]
    ranks: int
    passes: int
    gradients: int | None
    counts: TokenCounts | None
    began_ns: int
    doubts: list[str] = field(default_factory=list)

    @property
    def count(self) -> int:
        """How many step times there are."""
        return sum(len(block) for block in self.steps)

    @property
    def all_steps(self) -> Floats:
        """All step times."""
        return np.concatenate(self.steps)


def measured(run: Run) -> Measured:
    """Measure a run: its recorded step times, and what its compared traced steps show."""
    table = run.steps
    alike = table[cut_alike(table)]
    clash = run.clash
    column = "duration_ns" if clash is None else "longest_ns"
    bare = timings(run)
    steps = [block / _MS for block in bare] if bare else [alike[column].to_numpy() / _MS]
    numbers = [int(n) for n in alike.index]
    if len(numbers) > _MOST_STEPS:
        numbers = [numbers[k] for k in np.linspace(0, len(numbers) - 1, _MOST_STEPS).astype(int)]
    rows, passes = [], []
    for number in numbers:
        step = run.step(number)
        rows.append(_traced(step, float(alike[column][number]) / _MS))
        passes.append(_passes(step))
    doubts = [] if clash is None else [f"{run.name}: {clash}"]
    if (run.files["status"] == "refused").any():
        doubts.append(f"{run.name}: not all of its files could be read")
    operators, device, alone = _operators(run, numbers)
    return Measured(
        name=run.name,
        steps=[block.astype(np.float64) for block in steps],
        bare=bool(bare),
        forward=[block / _MS for block in timings(run, "forward_ns")] if bare else [],
        traced=pd.DataFrame(rows, index=pd.Index(numbers, name="step")),
        operators=operators,
        device=device,
        forward_alone=alone,
        odd=[int(n) for n in table.index[table["odd"]]],
        ranks=len(run.ranks),
        passes=int(np.median(passes)),
        gradients=_gradients(run),
        counts=counts_of(run),
        began_ns=int(table["start_ns"].min()),
        doubts=doubts,
    )


def _traced(step: Step, update: float) -> dict[str, float]:
    parts = step.breakdown()
    exposed = parts.loc[["exchange", "wait"]].sum()
    kinds = {str(kind): float(ms) for kind, ms in parts.mean(axis=1).items()}
    return {
        "update": update,
        "exposed": float(exposed.to_numpy().mean()),
        "exposed_least": float(exposed.to_numpy().min()),
        **kinds,
    }


def _passes(step: Step) -> int:
    """Return how many forward passes an update has: how often forward follows something else."""
    found = []
    for part in step._ranks.values():
        kinds = [piece.kind for piece in part.pieces if piece.kind in COMPUTE]
        turns = sum(
            1
            for k, kind in enumerate(kinds)
            if kind == "forward" and (k == 0 or kinds[k - 1] == "backward")
        )
        found.append(turns)
    return int(np.median(found))


def _gradients(run: Run) -> int | None:
    try:
        return int(parameters_of(run)["bytes"].sum())
    except CostError:
        return None


def _operators(run: Run, numbers: list[int]) -> tuple[pd.DataFrame, bool, bool]:
    """Return compute work by kind and name, whether it ran on a device, and if forward is alone.

    Alone means that hardly any exchange runs beside it.
    """
    frames, device, beside, forward = [], False, 0, 0
    wanted = set(numbers)
    for rank, part in run._ranks.items():
        events = part.events
        own, on_device = own_work(events)
        device |= on_device
        places = [k for k, window in enumerate(part.windows) if window.step in wanted]
        kept = own.notna() & events["kind"].isin(COMPUTE) & events["place"].isin(places)
        work = events[kept]
        frames.append(
            pd.DataFrame(
                {
                    "rank": rank,
                    "step": [part.windows[k].step for k in work["place"]],
                    "kind": work["kind"].astype(object).to_numpy(),
                    "name": work["name"].astype(object).to_numpy(),
                    "ms": own[kept].to_numpy() / _MS,
                }
            )
        )
        spans = work.loc[work["kind"].eq("forward").to_numpy(), ["start_ns", "finish_ns"]]
        covered = union(spans.to_numpy(dtype=np.int64))
        calls = np.column_stack((part.exchanges["arrival_ns"], part.exchanges["finish_ns"]))
        beside += int(total(intersect(covered, union(calls))))
        forward += int(total(covered))
    rows = pd.concat(frames, ignore_index=True)
    by = rows.groupby(["rank", "step", "kind", "name"], sort=False)["ms"].agg(["sum", "size"])
    # Of every rank the middle step, then the mean over ranks.
    typical = by.groupby(["rank", "kind", "name"]).median()
    found: pd.DataFrame = typical.groupby(["kind", "name"]).mean()
    found = found.rename(columns={"sum": "ms", "size": "count"})
    return found, device, bool(forward) and beside <= _HARDLY * forward


def same_operators(before: Measured, after: Measured, kinds: tuple[str, ...]) -> dict[str, Any]:
    """Return how long the operators took that both runs have equally often, ms a step and rank.

    Returns
    -------
    dict
        before, after (ms), share (their part of all such work before), names (how many); empty
        where there are none.
    """
    frames = [side.operators for side in (before, after)]
    chosen = [frame[frame.index.get_level_values("kind").isin(kinds)] for frame in frames]
    both = chosen[0].add_suffix("_before").join(chosen[1].add_suffix("_after"), how="inner")
    both = both[both["count_before"] == both["count_after"]]
    whole = float(chosen[0]["ms"].sum())
    if both.empty or whole <= 0 or both["ms_before"].sum() <= 0:
        return {}
    return {
        "before": float(both["ms_before"].sum()),
        "after": float(both["ms_after"].sum()),
        "share": float(both["ms_before"].sum()) / whole,
        "names": len(both),
    }


def known_counts(counts: TokenCounts | None) -> Mapping[str, int]:
    """Return the counts that are known, by name."""
    if counts is None:
        return {}
    names = ("allocated", "real", "executed", "scored", "sequences")
    return {name: getattr(counts, name) for name in names if getattr(counts, name) is not None}
