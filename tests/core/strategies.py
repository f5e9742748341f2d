"""Random timelines: all four link types, leads and lags, releases, milestones, lanes, groups."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

import stepviz as sv
from stepviz.core.vocabulary import KINDS, LINK_TYPES

TIMES = st.one_of(
    st.just(0.0),
    st.integers(0, 20).map(float),
    st.floats(0, 1000, allow_nan=False, allow_subnormal=False),
)
LAGS = st.one_of(st.just(0.0), st.integers(-8, 8).map(float), st.floats(-50, 50, allow_nan=False))


@st.composite
def timelines(
    draw: st.DrawFn,
    *,
    most: int = 8,
    types: tuple[str, ...] = LINK_TYPES,
    lanes: bool = True,
    targets: bool = True,
) -> sv.Timeline:
    """Draw a timeline that has a meaning: dependencies point along the row order."""
    n = draw(st.integers(1, most))
    phases: list[dict[str, Any]] = []
    for i in range(n):
        group = lanes and draw(st.integers(0, 5)) == 0
        phases.append(
            {
                "phase": f"p{i}",
                "kind": draw(st.sampled_from(KINDS)),
                "rank": None if group else draw(st.integers(0, 2)) if lanes else 0,
                "members": [0, 1] if group else None,
                "lane": draw(st.sampled_from((None, "a", "b"))) if lanes else None,
                "duration": draw(TIMES),
                "release": draw(st.one_of(st.just(0.0), TIMES)),
            }
        )
    pairs = [(i, j) for j in range(n) for i in range(j)]
    chosen = draw(st.lists(st.sampled_from(pairs), max_size=2 * n)) if pairs else []
    dependencies = [(f"p{i}", f"p{j}", draw(st.sampled_from(types)), draw(LAGS)) for i, j in chosen]
    target = draw(st.one_of(st.none(), st.sampled_from([p["phase"] for p in phases])))
    return sv.Timeline(phases, dependencies, target if targets else None)


def random_timeline(rng: np.random.Generator, n: int, m: int) -> sv.Timeline:
    """Make a random network without lanes: all link types, leads and lags, releases."""
    phases = [
        {
            "phase": f"p{i}",
            "duration": float(rng.choice([0.0, rng.integers(1, 30), rng.uniform(0, 30)])),
            "release": float(rng.choice([0.0, 0.0, 0.0, rng.uniform(0, 60)])),
        }
        for i in range(n)
    ]
    dependencies = []
    for _ in range(m if n > 1 else 0):
        i, j = sorted(rng.choice(n, 2, replace=False).tolist())
        lag = float(rng.choice([0.0, rng.integers(-10, 10), rng.uniform(-10, 20)]))
        dependencies.append((f"p{i}", f"p{j}", str(rng.choice(LINK_TYPES)), lag))
    return sv.Timeline(phases, dependencies)
