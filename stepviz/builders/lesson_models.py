"""The lesson's step: one timeline of 750 ms under three dependency models.

All three draw the same picture (forward 0-200, backward 200-600, exchange 300-650, optimizer
650-750) and give different answers to the same change, because they disagree on what holds the
exchange. Which one is right is a question to the job, not to the picture.
"""

from __future__ import annotations

from typing import Any, Literal

from stepviz.core.timeline import Timeline
from stepviz.errors import TimelineError, near

Model = Literal["release", "ss-ff", "buckets"]
Scenario = Literal["base", "late-input", "contended"]

#: ms; in the contended scenario overlap slows backward and the exchange ends earlier.
FORWARD, OPTIMIZER = 200.0, 100.0
BACKWARD = {"base": 400.0, "late-input": 400.0, "contended": 480.0}
EXCHANGE = {"base": 350.0, "late-input": 350.0, "contended": 330.0}
INPUT_READY = {"base": 0.0, "late-input": 80.0, "contended": 0.0}
BUCKETS = 7


def lesson(model: Model = "release", scenario: Scenario = "base") -> Timeline:
    """Return the lesson's training step.

    Parameters
    ----------
    model : {"release", "ss-ff", "buckets"}
        What holds the exchange. `release`: it starts 100 ms after forward has finished (gradients
        are there by then) and backward does not hold it. `ss-ff`: it starts 100 ms after backward
        starts and ends 50 ms after backward ends, or later. `buckets`: seven buckets of 50 ms on
        one link, each ready when its segment of backward is done.
    scenario : {"base", "late-input", "contended"}
        `late-input`: the input is ready at 80 ms. `contended`: overlap costs compute, backward
        takes 480 ms, and the exchange 330. The lesson's 780 ms for it belongs to the release
        model; in the other two the exchange is held by the end of backward, which is later, so
        the same durations give 830 and 827.14 ms.

    Returns
    -------
    Timeline
        One rank; every dependency is `assumed`.

    Examples
    --------
    >>> lesson().completion, lesson("release", "late-input").completion
    (750.0, 830.0)
    """
    models = {"release": _release, "ss-ff": _ss_ff, "buckets": _buckets}
    if not isinstance(model, str) or model not in models:
        msg = f"there is no lesson model {model!r}: {near(model, models)}"
        raise TimelineError(msg)
    if not isinstance(scenario, str) or scenario not in BACKWARD:
        msg = f"there is no lesson scenario {scenario!r}: {near(scenario, BACKWARD)}"
        raise TimelineError(msg)
    backward, exchange, links = models[model](BACKWARD[scenario], EXCHANGE[scenario])
    phases = [
        _phase("input", "input", "input", 0.0, INPUT_READY[scenario]),
        _phase("forward", "forward", "compute", FORWARD),
        *backward,
        _phase("optimizer", "optimizer", "compute", OPTIMIZER),
        *exchange,
    ]
    last_backward, last_exchange = backward[-1]["phase"], exchange[-1]["phase"]
    dependencies = [
        ("input", "forward"),
        ("forward", backward[0]["phase"]),
        *links,
        (last_backward, "optimizer"),
        (last_exchange, "optimizer"),
    ]
    said = "" if scenario == "base" else f", {scenario.replace('-', ' ')}"
    return Timeline(phases, dependencies, name=f"lesson, {model} model{said}")


_Parts = tuple[list[dict[str, Any]], list[dict[str, Any]], list[tuple[Any, ...]]]


def _phase(
    name: str, kind: str, lane: str, duration: float, release: float = 0.0
) -> dict[str, Any]:
    return {
        "phase": name,
        "kind": kind,
        "rank": 0,
        "lane": lane,
        "duration": duration,
        "release": release,
    }


def _release(backward: float, exchange: float) -> _Parts:
    return (
        [_phase("backward", "backward", "compute", backward)],
        [_phase("exchange", "exchange", "link", exchange)],
        [("forward", "exchange", "FS", 100.0)],
    )


def _ss_ff(backward: float, exchange: float) -> _Parts:
    return (
        [_phase("backward", "backward", "compute", backward)],
        [_phase("exchange", "exchange", "link", exchange)],
        [("backward", "exchange", "SS", 100.0), ("backward", "exchange", "FF", 50.0)],
    )


def _buckets(backward: float, exchange: float) -> _Parts:
    # The first bucket is ready after a quarter of backward, the last one at its end.
    shares = [0.25] + [0.75 / (BUCKETS - 1)] * (BUCKETS - 1)
    segments = [
        _phase(f"backward {i}", "backward", "compute", backward * share)
        for i, share in enumerate(shares, 1)
    ]
    buckets = [
        _phase(f"exchange {i}", "exchange", "link", exchange / BUCKETS)
        for i in range(1, BUCKETS + 1)
    ]
    order = [(f"backward {i}", f"backward {i + 1}") for i in range(1, BUCKETS)]
    ready = [(f"backward {i}", f"exchange {i}") for i in range(1, BUCKETS + 1)]
    return segments, buckets, [*order, *ready]
