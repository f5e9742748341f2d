"""Predict, then check: changes predicted from one capture, then made for real, in turns."""

from __future__ import annotations

import json
import math
import os
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from stepviz.errors import CaptureError, CostError, near
from stepviz.evidence.change_predictions import ChangePredictor
from stepviz.evidence.decisions import CANT_TELL, KEEP, REVERT
from stepviz.evidence.intervals import difference
from stepviz.evidence.records import option, rank_timings
from stepviz.recording.captures import _begun, _keep, _needs_torch, _run, _target
from stepviz.recording.options import PLAN, Options
from stepviz.recording.progress_bars import bar_here
from stepviz.recording.tethers import remove
from stepviz.traces import Run, load_run

Floats = npt.NDArray[np.float64]

#: The configuration that all others are changes of.
BASE: Final = "as captured"
_FEWEST_ROUNDS: Final = 3
#: What a change may not change: how many processes there are, and what they run on.
_FIXED: Final = ("ranks", "device", "threads", "port", "patience_s", "timeout_s", "steps", "timed")
COLUMNS: Final = (
    "predicted_ms",
    "low_ms",
    "high_ms",
    "measured_ms",
    "raw_ms",
    "error",
    "inside",
    "base_ms",
    "change_ms",
    "noise_ms",
    "verdict",
    "forward_ratio",
    "how",
)


def experiment(
    changes: Mapping[str, Mapping[str, Any]] | None = None,
    *,
    caps: Iterable[Any] = (),
    rounds: int = 6,
    block: int = 3,
    out: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Capture a configuration, predict changes from that alone, make them, and compare.

    Parameters
    ----------
    changes : dict, optional
        By name, the options of `capture` that each changes: ``{"no delay": {"input_delay_ms":
        0}, "fused": {"fused": True}}``.
    caps : iterable, optional
        Bucket caps, MiB: short for changes of `bucket_cap_mb`.
    rounds : int
        How often each configuration takes its turn, at least 3.
    block : int
        Steps in a turn that count; one more before them follows another configuration and does
        not.
    out : path, optional
        As `capture`'s: where the traces of the captured configuration stay.
    progress : bool, optional
        As `capture`'s.
    **options
        As `capture`'s: the configuration that is captured, and that the changes start from.

    Returns
    -------
    DataFrame
        Indexed by change: `predicted_ms` with `low_ms` and `high_ms`; `measured_ms`; `error`,
        predicted over measured less 1 (`raw_ms`, before the machine's speed was taken out);
        `inside`, whether the interval holds what was measured;
        `base_ms`, the captured configuration in the same rounds; `change_ms`, measured less that;
        `noise_ms`, half the 95 % interval of this change, and half of what taking the machine's
        speed out moved it by; `verdict`: keep (it is faster), revert,
        or can't tell; `forward_ratio` (see Notes); `how` it was predicted, or why not (then
        predicted_ms is NaN).

    Raises
    ------
    CaptureError
        As `capture`; also for a change of what can't be changed in one process.

    Notes
    -----
    All configurations train in one process a rank and take turns, in an order shuffled anew each
    round, because a machine's moods last longer than a step. Predictions never see a change's own
    measurement: the capture says how many ms a change adds, and that is put on top of the
    captured configuration's step in the same rounds. What is compared are pairs: a block of the
    change and the block of the captured configuration in the same round. Forward is the reference
    for the machine's speed, on the rank where it is shortest, since no change here touches it
    there: all blocks together say how much longer a step is where forward is 1 ms longer (its
    compute by no larger part than forward), and each block is put on the captured configuration's
    usual forward by that, where rounds then agree better. `raw_ms` is without it, and
    `forward_ratio` says how far forward was off.

    Examples
    --------
    >>> import stepviz as sv
    >>> sv.experiment(caps=[1, 8], latency_ms=8, ms_per_mib=3)  # doctest: +SKIP
    """
    base = Options.of(options)
    asked = _asked(changes, caps)
    configs = {BASE: base, **{name: _changed(base, name, one) for name, one in asked.items()}}
    if rounds < _FEWEST_ROUNDS or block < 1:
        msg = f"rounds={rounds}, block={block}: at least {_FEWEST_ROUNDS} rounds of 1 step"
        raise CaptureError(msg)
    run, answers = _made(configs, base, rounds, block, out=out, progress=progress)
    alone = {
        name: max(answer["optimizer_ns"][name] for answer in answers) / 1e6 for name in configs
    }
    predictor = ChangePredictor(run, alone)
    blocks = {name: _blocks(answers, name, rounds) for name in configs}
    passes = {name: one.accumulation for name, one in configs.items()}
    forward = {
        name: np.array([np.median(block) for block in one["forward_ns"]]) / passes[name]
        for name, one in blocks.items()
    }
    raw = {name: one["step_ns"] for name, one in blocks.items()}
    steps = alike_speed(raw, forward, _compute_share(run))
    rows = {
        name: {
            **_row(predictor, name, one, steps, raw),
            "raw_ms": float(np.median(np.concatenate(blocks[name]["step_ns"]))),
            "forward_ratio": float(np.median(forward[name]) / np.median(forward[BASE])),
        }
        for name, one in asked.items()
    }
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=list(COLUMNS))
    frame.attrs["notes"] = [
        f"captured: {run.name}",
        f"{rounds} rounds of {block} steps, in turns in one process a rank",
        *(["the network is emulated: this says nothing about a real one"] if base.emulated else []),
    ]
    return frame.rename_axis("change")


def _asked(changes: Any, caps: Iterable[Any]) -> dict[str, dict[str, Any]]:
    if changes is not None and not isinstance(changes, Mapping):
        msg = f"changes is {type(changes).__name__}: give a dict of options by name of the change"
        raise CaptureError(msg)
    found = {f"cap {cap}": {"bucket_cap_mb": cap} for cap in caps}
    for name, one in (changes or {}).items():
        if not isinstance(one, Mapping):
            msg = f"changes[{name!r}] is {one!r}: give the options that it changes, as a dict"
            raise CaptureError(msg)
        found[str(name)] = dict(one)
    if not found:
        msg = "nothing to try: give changes={'no delay': {'input_delay_ms': 0}} or caps=[1, 8]"
        raise CaptureError(msg)
    if BASE in found:
        msg = f"{BASE!r} is what the captured configuration is called; give the change another name"
        raise CaptureError(msg)
    return found


def _changed(base: Options, name: str, change: Mapping[str, Any]) -> Options:
    for key in change:
        if key in _FIXED:
            msg = f"{name!r} changes {key}, which all configurations of an experiment share"
            raise CaptureError(msg)
        if key not in asdict(base):
            msg = f"{name!r} changes {key!r}, which is no option; {near(key, asdict(base))}"
            raise CaptureError(msg)
    return Options.of({**asdict(base), **change})


def _made(
    configs: Mapping[str, Options],
    base: Options,
    rounds: int,
    block: int,
    *,
    out: str | os.PathLike[str] | None,
    progress: bool | None,
) -> tuple[Run, list[dict[str, Any]]]:
    """Capture and take turns; return the run and what each rank timed."""
    target = _target(out, overwrite=False)
    _needs_torch()
    bar = bar_here(wanted=progress)
    work = _begun(target)
    plan = {
        "rounds": rounds,
        "block": block,
        "seed": base.seed,
        "options": {name: one.as_dict() for name, one in configs.items()},
    }
    (work / PLAN).write_text(json.dumps(plan))
    try:
        _run(base, work, bar, output=False)
        answers = [
            json.loads((work / f"rounds-rank{rank}.json").read_text()) for rank in range(base.ranks)
        ]
        target = _keep(work / "files", target)
    except BaseException as error:
        bar.close("interrupted" if isinstance(error, KeyboardInterrupt) else "experiment failed")
        raise
    finally:
        remove(work)
    bar.close(f"tried {len(configs) - 1} changes; the capture is {target}")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return load_run(target), answers


def _blocks(answers: list[dict[str, Any]], name: str, rounds: int) -> dict[str, list[Floats]]:
    """Return a configuration's times, ms, an array a round: the slowest rank's step, and forward.

    Forward is that of the rank where it is shortest: a slow rank may sleep in it.
    """
    found: dict[str, list[Floats]] = {"step_ns": [], "forward_ns": []}
    for number in range(rounds):
        for what, blocks in found.items():
            ranks = [
                [r[what] for r in a["rows"] if r["name"] == name and r["round"] == number]
                for a in answers
            ]
            pick = np.max if what == "step_ns" else np.min
            blocks.append(pick(np.array(ranks, dtype=np.float64), axis=0) / 1e6)
    return found


def _compute_share(run: Run) -> float | None:
    """Return how many times a microbatch's forward a step without exchange takes; None unknown."""
    step, forward = rank_timings(run, "step_ns", "alone"), rank_timings(run, "forward_ns", "alone")
    if not step or not min(forward.values(), default=0):
        return None
    passes = int(option(run, "accumulation", default=1))
    return passes * float(np.median([step[rank] / forward[rank] for rank in step]))


def alike_speed(
    steps: Mapping[str, list[Floats]],
    forward: Mapping[str, Floats],
    most: float | None = None,
) -> dict[str, list[Floats]]:
    """Return step times as they would be at one speed of the machine (see `experiment`).

    Parameters
    ----------
    steps
        By configuration, an array a round.
    forward
        By configuration, forward's typical time in each round.
    most
        How many times forward all compute of a step takes: what a slower machine stretches. By
        default the whole step.
    """
    off, longer = [], []
    for name, blocks in steps.items():
        typical = _typical(blocks)
        off.append(_bounded(forward[name] - np.median(forward[name])))
        longer.append(_bounded(typical - np.median(typical)))
    x, y = np.concatenate(off), np.concatenate(longer)
    power = float(x @ x)
    usual = float(np.median(forward[BASE]))
    # A slower machine makes no step shorter, and none longer by a larger part than forward.
    if most is None:
        most = float(np.median(_typical(steps[BASE]))) / usual if usual > 0 else 0.0
    slope = min(max(float(x @ y) / power, 0.0), most) if power > 0 else 0.0
    found = {
        name: [
            np.maximum(block - slope * (one - usual), 0.1 * block)
            for block, one in zip(blocks, forward[name], strict=True)
        ]
        for name, blocks in steps.items()
    }
    # What forward saw need not be what the step met: then it would only add its own noise.
    return found if _unrest(found) < _unrest(steps) else {n: list(b) for n, b in steps.items()}


def _typical(blocks: list[Floats]) -> Floats:
    return np.array([np.median(block) for block in blocks])


def _unrest(steps: Mapping[str, list[Floats]]) -> float:
    """Return how far apart the rounds are in what they say of the changes."""
    base = _typical(steps[BASE])
    apart = [np.log(_typical(blocks) / base) for name, blocks in steps.items() if name != BASE]
    return sum(float(np.median(np.abs(one - np.median(one)))) for one in apart)


def _bounded(away: Floats) -> Floats:
    """Return deviations with the largest pulled in, so that one block does not decide."""
    room = 3 * 1.4826 * float(np.median(np.abs(away)))
    return np.clip(away, -room, room)


def compared(
    before: list[Floats],
    after: list[Floats],
    raw_before: list[Floats],
    raw_after: list[Floats],
) -> dict[str, Any]:
    """Return what a change did, by blocks of both at one speed of the machine and as they were.

    Where taking the machine's speed out moves the answer, half of that is noise as well.
    """
    base = float(np.median(np.concatenate(before)))
    between = difference(before, after, paired=True)
    raw = difference(raw_before, raw_after, paired=True)
    moved = base * abs(between.ratio - raw.ratio) / 2
    noise = math.hypot(base * (between.high - between.low) / 2, moved)
    change = base * (between.ratio - 1)
    decided = between.decided and abs(change) > moved
    return {
        "measured_ms": base + change,
        "base_ms": base,
        "change_ms": change,
        "noise_ms": noise,
        "verdict": CANT_TELL if not decided else REVERT if change > 0 else KEEP,
    }


def _row(
    predictor: ChangePredictor,
    name: str,
    change: Mapping[str, Any],
    steps: Mapping[str, list[Floats]],
    raw: Mapping[str, list[Floats]],
) -> dict[str, Any]:
    row = compared(steps[BASE], steps[name], raw[BASE], raw[name])
    base, measured = row["base_ms"], row["measured_ms"]
    try:
        effect = predictor.effect(name, change)
    except CostError as error:
        nothing = dict.fromkeys(("predicted_ms", "low_ms", "high_ms", "error"), math.nan)
        return {**row, **nothing, "inside": None, "how": str(error)}
    predicted = base + effect.ms
    half = math.hypot(effect.half_ms, row["noise_ms"])
    return {
        **row,
        "predicted_ms": predicted,
        "low_ms": max(predicted - half, 0.0),
        "high_ms": predicted + half,
        "error": predicted / measured - 1,
        "inside": abs(predicted - measured) <= half,
        "how": effect.how,
    }
