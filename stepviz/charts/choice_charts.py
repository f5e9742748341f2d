"""Choices as charts: the bucket cap, what a link gives, how long a run takes."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from stepviz.charts.drawing import ACCENT, NEAR, WIDTH, load_altair
from stepviz.errors import StepvizError
from stepviz.throughput.plans import TrainingPlan

if TYPE_CHECKING:
    import altair as alt


def sweep_chart(sweep: pd.DataFrame) -> alt.VConcatChart:
    """Return a sweep over the bucket cap: the completion, and below it what the tail is made of.

    Parameters
    ----------
    sweep : DataFrame
        As `stepviz.builders.bucket_sweep` returns it. Caps near the best are shaded.

    Returns
    -------
    altair.VConcatChart

    Raises
    ------
    StepvizError
        A frame that is no sweep.

    Examples
    --------
    >>> from stepviz import builders
    >>> link = builders.AlphaBeta(latency=0.5, bandwidth=10)
    >>> swept = builders.bucket_sweep([2.5e6] * 40, [1, 5, 25], backward=30, cost=link)
    >>> chart = sweep_chart(swept)  # chart.save("sweep.svg") writes it
    """
    altair = load_altair()
    needed = ["completion", "queued", "last_transfer", "buckets", "near_best"]
    if not isinstance(sweep, pd.DataFrame) or any(name not in sweep.columns for name in needed):
        msg = "give the frame of builders.bucket_sweep(parameters, backward=...)"
        raise StepvizError(msg)
    data = sweep.rename_axis("cap_mb").reset_index()
    x = altair.X("cap_mb:Q", title="bucket cap, MiB", scale=altair.Scale(type="log", nice=False))
    tooltip = ["cap_mb", "buckets", "completion", "queued", "last_transfer"]
    base = altair.Chart(data, width=WIDTH)
    best = data.loc[[data["completion"].idxmin()]]
    top = altair.layer(
        altair.Chart(_near_spans(data)).mark_rect(color=NEAR).encode(x=x, x2="to:Q"),
        base.mark_line(color=ACCENT, point=True).encode(
            x=x,
            y=altair.Y("completion:Q", title="completion, ms", scale=altair.Scale(zero=False)),
            tooltip=tooltip,
        ),
        altair.Chart(best)
        .mark_point(filled=True, size=130, color=ACCENT)
        .encode(x=x, y="completion:Q", tooltip=tooltip),
    ).properties(title="Completion, and the caps within reach of the best")
    costs = data.melt(
        id_vars=["cap_mb", "buckets"], value_vars=["queued", "last_transfer"], var_name="cost"
    ).rename(columns={"value": "ms"})
    costs["cost"] = costs["cost"].map(
        {"queued": "waiting for the link", "last_transfer": "last bucket's transfer"}
    )
    bottom = (
        altair.Chart(costs, width=WIDTH, height=140)
        .mark_area()
        .encode(
            x=x,
            y=altair.Y("ms:Q", title="exposed tail, ms", stack="zero"),
            color=altair.Color("cost:N", scale=altair.Scale(range=["#b04d03", "#a69328"])),
            tooltip=["cap_mb", "buckets", "cost", "ms"],
        )
    )
    chart: alt.VConcatChart = altair.vconcat(top, bottom)
    return chart


def roofline_chart(
    cost: Any,
    sizes: Iterable[float] | None = None,
    *,
    collective: str = "all-reduce",
    points: pd.DataFrame | None = None,
) -> alt.LayerChart:
    """Return the bandwidth that a cost model reaches over sizes, under its two roofs.

    Small messages are held by the latency, n/α, large ones by the bandwidth, B.

    Parameters
    ----------
    cost : CostModel
        Of `stepviz.builders`: `AlphaBeta`, `Ring`, `Tree`, or a fitted one.
    sizes : iterable of float, optional
        Bytes; from 1 kB to 1 GB unless given.
    collective : str
        Which of them.
    points : DataFrame, optional
        Measured ones: `bytes` and `transfer_ns` or `ms`, as a step's `collectives`.

    Returns
    -------
    altair.LayerChart

    Raises
    ------
    StepvizError
        Something that is no cost model.

    Examples
    --------
    >>> from stepviz import builders
    >>> chart = roofline_chart(builders.Ring(ranks=8, latency=0.02, bandwidth=100))
    """
    altair = load_altair()
    if not (callable(getattr(cost, "table", None)) and callable(getattr(cost, "ms", None))):
        msg = f"cost is {type(cost).__name__}: give a cost model, such as builders.AlphaBeta(...)"
        raise StepvizError(msg)
    asked = np.geomspace(1e3, 1e9, 61).tolist() if sizes is None else [float(n) for n in sizes]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a roof is drawn beyond what was measured, on purpose
        model = cost.table(asked, collective).reset_index()
        latency, large = cost.ms(0.0, collective), cost.ms(1e12, collective)
    model["roof"] = "model"
    roofs = [model[["bytes", "algorithm_bandwidth", "roof"]]]
    limit = 1e6 / (large - latency) if large > latency else np.inf
    if np.isfinite(limit):
        roofs.append(_roof(asked, [limit] * len(asked), "bandwidth"))
    if latency > 0:
        rates = [min(n / latency / 1e6, 10 * limit) for n in asked]
        roofs.append(_roof(asked, rates, "latency"))
    log = altair.Scale(type="log", nice=False)
    x = altair.X("bytes:Q", title="bytes", scale=log, axis=altair.Axis(format="~s"))
    y = altair.Y("algorithm_bandwidth:Q", title="algorithm bandwidth, GB/s", scale=log)
    kinds = ["model", "bandwidth", "latency"]
    lines = (
        altair.Chart(pd.concat(roofs, ignore_index=True), width=WIDTH)
        .mark_line()
        .encode(
            x=x,
            y=y,
            color=altair.Color(
                "roof:N",
                sort=kinds,
                scale=altair.Scale(domain=kinds, range=[ACCENT, "#b04d03", "#7b8691"]),
            ),
            strokeDash=altair.StrokeDash(
                "roof:N", scale=altair.Scale(domain=kinds, range=[[1, 0], [6, 3], [2, 3]])
            ),
            tooltip=["bytes", "algorithm_bandwidth", "roof"],
        )
    )
    layers = [lines]
    if points is not None:
        seen = altair.Chart(_measured_rates(points)).mark_point(color="black", opacity=0.5)
        tooltip = ["bytes", "ms", "algorithm_bandwidth"]
        layers.append(seen.encode(x=x, y=y, tooltip=tooltip))
    chart: alt.LayerChart = altair.layer(*layers)
    return chart


def plan_chart(plan: TrainingPlan) -> alt.LayerChart:
    """Return a plan's elapsed days over MFU, a line per number of devices, its range shaded.

    Parameters
    ----------
    plan : TrainingPlan
        With all its numbers.

    Returns
    -------
    altair.LayerChart

    Raises
    ------
    StepvizError
        Something else, or a plan that lacks a number.

    Examples
    --------
    >>> plan = TrainingPlan(parameters=7e9, tokens=100e9, devices=64, peak=300e12, mfu=0.4)
    >>> chart = plan_chart(plan)
    """
    altair = load_altair()
    if not isinstance(plan, TrainingPlan):
        msg = f"plan is {type(plan).__name__}: give a TrainingPlan"
        raise StepvizError(msg)
    own = plan.utilization
    grid = plan.sensitivity(mfu=sorted({*(k / 20 for k in range(2, 17)), own}))
    band = plan.band()
    span = pd.DataFrame({"low": [band["mfu"].min()], "high": [band["mfu"].max()]})
    here = pd.DataFrame(
        {
            "mfu": [own],
            "elapsed_days": [float(plan.elapsed_days)],
            "devices": [plan.given("devices")],
        }
    )
    x = altair.X("mfu:Q", title=f"MFU ({plan.convention})", axis=altair.Axis(format="%"))
    y = altair.Y("elapsed_days:Q", title="elapsed days", scale=altair.Scale(type="log", nice=False))
    tooltip = ["mfu", "devices", "days", "elapsed_days"]
    chart: alt.LayerChart = altair.layer(
        altair.Chart(span).mark_rect(color=NEAR).encode(x=altair.X("low:Q"), x2="high:Q"),
        altair.Chart(grid, width=WIDTH)
        .mark_line()
        .encode(
            x=x,
            y=y,
            color=altair.Color("devices:O"),
            size=altair.condition(
                altair.datum.devices == plan.devices, altair.value(4), altair.value(1.5)
            ),
            tooltip=tooltip,
        ),
        altair.Chart(here)
        .mark_point(filled=True, size=110, color="black")
        .encode(x=x, y=y, tooltip=["mfu", "devices", "elapsed_days"]),
    )
    return chart


def _near_spans(data: pd.DataFrame) -> pd.DataFrame:
    """Return the stretches of caps that are near the best, as from and to."""
    near = data["near_best"].to_numpy(dtype=bool)
    caps = data["cap_mb"].to_numpy()
    edges = np.diff(np.concatenate(([0], near.astype(int), [0])))
    begins, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) - 1
    return pd.DataFrame({"cap_mb": caps[begins], "to": caps[ends]})


def _roof(sizes: list[float], rates: list[float], name: str) -> pd.DataFrame:
    return pd.DataFrame({"bytes": sizes, "algorithm_bandwidth": rates, "roof": name})


def _measured_rates(points: pd.DataFrame) -> pd.DataFrame:
    if "bytes" not in points.columns or not {"ms", "transfer_ns"} & set(points.columns):
        msg = "points needs the columns 'bytes' and 'transfer_ns' or 'ms'"
        raise StepvizError(msg)
    ms = points["ms"] if "ms" in points.columns else points["transfer_ns"] / 1e6
    seen = pd.DataFrame(
        {"bytes": points["bytes"].astype("float64"), "ms": ms.astype("float64")}
    ).reset_index(drop=True)
    seen = seen[(seen["bytes"] > 0) & (seen["ms"] > 0)].reset_index(drop=True)
    return seen.assign(algorithm_bandwidth=seen["bytes"] / seen["ms"] / 1e6)
