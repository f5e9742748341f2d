"""Sharded data parallelism: ZeRO 1-3 and FSDP, unit by unit, and what each rank then holds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from stepviz.builders.arguments import as_amount, as_count, as_flag, as_ms, each_ms
from stepviz.builders.built import BuiltTimeline, Draft, held, of_rank
from stepviz.builders.costs import CostModel, as_cost, each_cost
from stepviz.builders.parameters import gradients_of
from stepviz.builders.passes import COMPUTE, LINK, add_inputs
from stepviz.core.checks import as_real
from stepviz.errors import TimelineError


@dataclass
class _Recipe:
    """What the parts of a sharded step share while it is put together."""

    draft: Draft
    ranks: int
    sizes: list[float]
    cost: CostModel
    gather_lane: str
    scatter_lane: str
    #: ms by collective and unit, asked for once.
    lasts: dict[tuple[str, int], float] = field(default_factory=dict)

    def compute(self, name: str, kind: str, ms: float, after: Sequence[str | None]) -> list[str]:
        """Add a phase of compute on each rank, each after all that `after` names for it."""
        found = []
        for rank in range(self.ranks):
            phase = of_rank(name, rank, self.ranks)
            found.append(self.draft.phase(phase, kind, ms, lane=COMPUTE, rank=rank))
        for phase in found:
            for source in after:
                self.draft.link(source, phase)
        return found

    def exchange(self, name: str, collective: str, unit: int, lane: str) -> str:
        """Add a collective of one unit over all ranks."""
        if (collective, unit) not in self.lasts:
            every = each_cost(self.cost, self.sizes, collective, of="unit")
            self.lasts.update({(collective, k): ms for k, ms in enumerate(every)})
        ms = self.lasts[collective, unit]
        return self.draft.phase(name, "exchange", ms, lane=lane, members=range(self.ranks))

    def chain(self, before: Sequence[str], after: Sequence[str]) -> None:
        """Let each rank's phase in `after` wait for its own in `before`."""
        for source, target in zip(before, after, strict=True):
            self.draft.link(source, target)


def sharded(
    units: Any,
    *,
    stage: int = 3,
    backward: float | Sequence[float],
    forward: float | Sequence[float] = 0.0,
    optimizer: float = 0.0,
    input: float = 0.0,  # noqa: A002 - the field's word for it
    cost: Any,
    prefetch: int = 1,
    rate_limit: int | None = 2,
    reshard_after_forward: bool = True,
    shared_stream: bool = False,
    microbatches: int = 1,
    no_sync: bool = False,
    shards: int | None = None,
    element_bytes: float = 2.0,
    optimizer_bytes: float = 12.0,
    ranks: int = 1,
) -> BuiltTimeline:
    """Return a step of sharded data parallelism, unit by unit.

    Stages 1 and 2 reduce-scatter a unit's gradients after its backward (stage 1 in the last pass
    only, since it keeps whole gradients) and all-gather the updated parameters after the
    optimizer: 2Ψ bytes. Stage 3, which is FSDP, gathers each unit before its forward and again
    before its backward, and reduce-scatters its gradients: 3Ψ. (Rajbhandari et al., ZeRO, 2020.)

    Parameters
    ----------
    units : sizes in bytes, or anything that `ddp` takes
        Parameters of each wrapped unit as they are exchanged, in forward order.
    stage : {1, 2, 3}
        ZeRO's stage.
    backward, forward : float, or one per unit
        ms of a microbatch; one number is shared out by bytes.
    optimizer, input : float
        ms of a rank's shard of the update; ms of a microbatch's input.
    cost : CostModel, float or callable
        As for `ddp`; asked for all-gather and reduce-scatter.
    prefetch : int
        Stage 3: how many units ahead an all-gather may start, counted in the order of compute;
        0 lets it wait until the unit before is done. FSDP runs one ahead.
    rate_limit : int or None
        Stage 3: how many units may be gathered at once; the next gather waits until one is freed.
        FSDP allows two; None takes the limit away.
    reshard_after_forward : bool
        Stage 3: False keeps gathered parameters until backward, which then gathers nothing.
    shared_stream : bool
        Whether all-gathers and reduce-scatters queue on one lane, as in early FSDP, or on two,
        each at the full bandwidth of `cost`.
    microbatches : int
        Passes to an update. Stage 3 gathers on each.
    no_sync : bool
        Stages 2 and 3: keep whole gradients and reduce-scatter on the last pass only.
    shards : int, optional
        Ranks the state is sharded over, for `.memory`; by default those of `cost`.
    element_bytes, optimizer_bytes : float
        Bytes of a parameter, and of its gradient, as exchanged, and of its optimizer state (12 is
        mixed-precision Adam's), for `.memory`.
    ranks : int
        How many ranks to draw.

    Returns
    -------
    BuiltTimeline
        Phases of several passes are named ``pass i …``.

    Examples
    --------
    Four units of 10 ms in forward and 20 in backward, each collective 5 ms: only the first
    gather and the last scatter show.

    >>> step = sharded([1] * 4, forward=40, backward=80, cost=5)
    >>> step.completion, sharded([1] * 4, forward=40, backward=80, cost=5, prefetch=0).completion
    (130.0, 165.0)
    """
    if as_real(stage) not in (1, 2, 3):
        msg = f"stage is {stage!r}: give 1, 2 or 3"
        raise TimelineError(msg)
    parts = gradients_of(units)
    sizes = [part.nbytes for part in parts]
    model, a = as_cost(cost), as_count(microbatches, "microbatches")
    depth = as_count(prefetch, "prefetch", least=0)
    limit = None if rate_limit is None else as_count(rate_limit, "rate_limit")
    one = as_flag(shared_stream, "shared_stream")
    again = as_flag(reshard_after_forward, "reshard_after_forward")
    if limit is not None and not again and limit < len(sizes):
        limit = None  # units are freed in backward only, so no forward gather could wait for one
    fwd, bwd = _per_unit(forward, sizes, "forward"), _per_unit(backward, sizes, "backward")
    whole = as_flag(no_sync, "no_sync") or stage == 1
    draft = Draft()
    recipe = _Recipe(
        draft,
        as_count(ranks, "ranks"),
        sizes,
        model,
        LINK if one else "all-gather",
        LINK if one else "reduce-scatter",
    )
    lasts: list[str] = []
    scattered: str | None = None
    for i in range(1, a + 1):
        label = f"pass {i} " if a > 1 else ""
        uses = [("forward", u, fwd[u]) for u in range(len(sizes))]
        uses += [("backward", u, bwd[u]) for u in reversed(range(len(sizes)))]
        scatter = i == a or not whole
        inputs = add_inputs(draft, recipe.ranks, as_ms(input, "input"), label)
        lasts, done = _pass(
            recipe,
            uses,
            inputs,
            lasts,
            label,
            gathers=stage == 3,
            again=again,
            depth=depth,
            limit=limit,
            scatter=scatter,
        )
        scattered = done or scattered
    updates = recipe.compute("optimizer", "optimizer", as_ms(optimizer, "optimizer"), [scattered])
    recipe.chain(lasts, updates)
    if stage < 3:
        for u in range(len(sizes)):
            name = recipe.exchange(f"all-gather {u + 1}", "all-gather", u, recipe.gather_lane)
            for update in updates:
                draft.link(update, name)
    shown = model.ranks if shards is None else as_count(shards, "shards")
    each = as_amount(element_bytes, "element_bytes", "bytes", above=0)
    state = as_amount(optimizer_bytes, "optimizer_bytes", "bytes")
    memory = _state_rows(math.fsum(sizes), each, state, stage, shown, whole=whole)
    if stage == 3:
        count = len(sizes) if not again else min(limit or math.inf, depth + 1, len(sizes))
        formula = "all units" if not again else "min(rate_limit, prefetch + 1) of the largest units"
        memory.append(held(None, "gathered units", count, max(sizes), formula))
    kind = f"ZeRO-{stage}" if stage < 3 else "FSDP"
    return draft.timeline(f"{kind}, {len(sizes)} units", memory=memory)


def _pass(
    recipe: _Recipe,
    uses: list[tuple[str, int, float]],
    inputs: list[str],
    before: list[str],
    label: str,
    *,
    gathers: bool,
    again: bool,
    depth: int,
    limit: int | None,
    scatter: bool,
) -> tuple[list[str], str | None]:
    """Add one forward and backward over all units; return its last compute and last scatter.

    Rows stand in the order in which a host would launch them, which is the order of the lanes: a
    gather that is `depth` ahead comes before the scatter of the unit that is running.
    """
    draft = recipe.draft
    computed: list[list[str]] = []
    gathered: dict[int, str] = {}
    scattered: str | None = None

    def gather(k: int) -> None:
        kind, unit, _ = uses[k]
        if not gathers or k in gathered or (kind == "backward" and not again):
            return
        name = f"{label}{kind} all-gather {unit + 1}"
        gathered[k] = recipe.exchange(name, "all-gather", unit, recipe.gather_lane)

    for k, (kind, unit, ms) in enumerate(uses):
        for ahead in range(k, min(k + depth, len(uses) - 1) + 1):
            gather(ahead)
        phases = recipe.compute(f"{label}{kind} {unit + 1}", kind, ms, [gathered.get(k)])
        if k:
            recipe.chain(computed[-1], phases)
        else:
            recipe.chain(inputs, phases)
            if before:
                recipe.chain(before, phases)
        computed.append(phases)
        if kind == "backward" and scatter:
            name = f"{label}reduce-scatter {unit + 1}"
            scattered = recipe.exchange(name, "reduce-scatter", unit, recipe.scatter_lane)
            for phase in phases:
                draft.link(phase, scattered)
    for k, name in gathered.items():
        ahead_of = computed[k - max(depth, 1)] if k >= max(depth, 1) else before
        for phase in ahead_of:
            # A gather may start with the unit `depth` before its own, or after the one before.
            early = depth and k >= depth
            draft.link(phase, name, "SS" if early else "FS")
        if limit is not None and k >= limit:
            for phase in computed[k - limit]:
                draft.link(phase, name)
    return computed[-1], scattered


def zero_memory(
    parameters: float,
    *,
    ranks: int,
    stage: int = 3,
    parameter_bytes: float = 2.0,
    gradient_bytes: float = 2.0,
    optimizer_bytes: float = 12.0,
) -> pd.DataFrame:
    """Return what a rank holds of parameters, gradients and optimizer state under ZeRO.

    Parameters
    ----------
    parameters : float
        Ψ, how many.
    ranks : int
        Over how many the state is sharded.
    stage : {0, 1, 2, 3}
        0 is plain data parallelism; 1 shards the optimizer's state, 2 gradients too, 3 parameters
        too.
    parameter_bytes, gradient_bytes, optimizer_bytes : float
        Bytes per parameter; the defaults are mixed-precision Adam's 2 + 2 + 12 (a 4-byte copy of
        the parameters and two moments). (Rajbhandari et al., ZeRO, 2020.)

    Returns
    -------
    DataFrame
        Indexed by what is held: `bytes`, with a last row `total`.

    Examples
    --------
    7.5 billion parameters on 64 ranks, GB a rank:

    >>> [
    ...     float(zero_memory(7.5e9, ranks=64, stage=stage).loc["total", "bytes"].round(-7) / 1e9)
    ...     for stage in range(4)
    ... ]
    [120.0, 31.41, 16.64, 1.88]
    """
    if as_real(stage) not in (0, 1, 2, 3):
        msg = f"stage is {stage!r}: give 0, 1, 2 or 3"
        raise TimelineError(msg)
    psi, n = as_amount(parameters, "parameters", "parameters"), as_count(ranks, "ranks")
    each = {
        "parameters": (as_amount(parameter_bytes, "parameter_bytes", "bytes"), stage >= 3),
        "gradients": (as_amount(gradient_bytes, "gradient_bytes", "bytes"), stage >= 2),
        "optimizer state": (as_amount(optimizer_bytes, "optimizer_bytes", "bytes"), stage >= 1),
    }
    found = {what: psi * size / (n if cut else 1) for what, (size, cut) in each.items()}
    found["total"] = math.fsum(found.values())
    return pd.DataFrame({"bytes": pd.Series(found, dtype="float64")}).rename_axis("what")


def _state_rows(
    nbytes: float, each: float, state: float, stage: int, shards: int | None, *, whole: bool
) -> list[dict[str, Any]]:
    """Return parameters, gradients and optimizer state as rows of memory."""
    rows = []
    for what, size, cut in (
        ("parameters", each, stage == 3),
        ("gradients", each, stage >= 2 and not whole),
        ("optimizer state", state, True),
    ):
        formula = f"{size:g}Ψ" + ("/N" if cut else "")
        total = nbytes / each * size
        if cut:
            rows.append(held(None, what, 1, None if shards is None else total / shards, formula))
        else:
            rows.append(held(None, what, 1, total, formula))
    return rows


def _per_unit(value: Any, sizes: list[float], name: str) -> list[float]:
    """Return the ms of each unit, one number shared out by bytes."""
    if as_real(value) is None:
        return each_ms(value, len(sizes), name, "unit")
    total, bytes_ = as_ms(value, name), math.fsum(sizes)
    if not bytes_:
        return [total / len(sizes)] * len(sizes)
    return [total * (size / bytes_) for size in sizes]
