"""stepviz: what would make this training step finish sooner, and did it?

Every public name loads its room, and what that needs, when first used; so importing is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from stepviz.errors import (
    CaptureError,
    ChangeError,
    CostError,
    StepvizError,
    ThroughputError,
    TimelineError,
    TraceError,
)

if TYPE_CHECKING:
    from stepviz import builders as builders
    from stepviz import charts as charts
    from stepviz.builders.lesson_models import lesson
    from stepviz.core.changes import (
        Change,
        delay_input,
        remove,
        scale,
        set_duration,
        set_lag,
        set_release,
        shorten,
        shrink_tail,
        together,
    )
    from stepviz.core.comparison import compare
    from stepviz.core.schedule import Schedule
    from stepviz.core.timeline import Timeline
    from stepviz.evidence import (
        fit_contention,
        fit_cost,
        predict_buckets,
        rank_changes,
        run_throughput,
        verdict,
    )
    from stepviz.recording.captures import capture
    from stepviz.recording.experiments import experiment
    from stepviz.recording.recorder import Recorder
    from stepviz.reports import report
    from stepviz.throughput.counting import count_tokens, tokens_per_update
    from stepviz.throughput.diagnosis import diagnose
    from stepviz.throughput.flop_conventions import conventions, flops_per_token
    from stepviz.throughput.layouts import token_roles
    from stepviz.throughput.loss_reductions import loss_denominators
    from stepviz.throughput.matmul_counts import matmuls
    from stepviz.throughput.model_shapes import ModelShape
    from stepviz.throughput.peak_catalogue import peak, peak_table
    from stepviz.throughput.plans import TrainingPlan
    from stepviz.throughput.rates import Rate
    from stepviz.throughput.side_by_side import compare_counts, throughput_table
    from stepviz.throughput.token_counts import TokenCounts
    from stepviz.throughput.translations import mfu_table, translate
    from stepviz.throughput.utilization import mfu
    from stepviz.traces import (
        TraceWarning,
        add_pattern,
        list_patterns,
        load_run,
        remove_pattern,
        sample_run,
    )
    from stepviz.widgets import (
        BucketExplorer,
        CapturePanel,
        Quiz,
        RunPlanner,
        TimelineEditor,
        TokenComparison,
        TraceViewer,
    )

__version__ = "0.1.0"

#: Rooms that are used by their own name.
_ROOMS = ("builders", "charts")

#: Where each public name lives.
_HOMES = {
    "BucketExplorer": "stepviz.widgets.bucket_explorer",
    "CapturePanel": "stepviz.widgets.capture_panel",
    "Change": "stepviz.core.changes",
    "ModelShape": "stepviz.throughput.model_shapes",
    "Quiz": "stepviz.widgets.quiz",
    "Rate": "stepviz.throughput.rates",
    "Recorder": "stepviz.recording.recorder",
    "RunPlanner": "stepviz.widgets.run_planner",
    "Schedule": "stepviz.core.schedule",
    "Timeline": "stepviz.core.timeline",
    "TimelineEditor": "stepviz.widgets",
    "TokenComparison": "stepviz.widgets.token_comparison",
    "TokenCounts": "stepviz.throughput.token_counts",
    "TraceViewer": "stepviz.widgets.trace_viewer",
    "TraceWarning": "stepviz.traces",
    "TrainingPlan": "stepviz.throughput.plans",
    "add_pattern": "stepviz.traces",
    "capture": "stepviz.recording.captures",
    "compare": "stepviz.core.comparison",
    "compare_counts": "stepviz.throughput.side_by_side",
    "conventions": "stepviz.throughput.flop_conventions",
    "count_tokens": "stepviz.throughput.counting",
    "delay_input": "stepviz.core.changes",
    "diagnose": "stepviz.throughput.diagnosis",
    "experiment": "stepviz.recording.experiments",
    "fit_contention": "stepviz.evidence",
    "fit_cost": "stepviz.evidence",
    "flops_per_token": "stepviz.throughput.flop_conventions",
    "lesson": "stepviz.builders.lesson_models",
    "list_patterns": "stepviz.traces",
    "load_run": "stepviz.traces",
    "loss_denominators": "stepviz.throughput.loss_reductions",
    "matmuls": "stepviz.throughput.matmul_counts",
    "mfu": "stepviz.throughput.utilization",
    "mfu_table": "stepviz.throughput.translations",
    "peak": "stepviz.throughput.peak_catalogue",
    "peak_table": "stepviz.throughput.peak_catalogue",
    "predict_buckets": "stepviz.evidence",
    "rank_changes": "stepviz.evidence",
    "remove": "stepviz.core.changes",
    "remove_pattern": "stepviz.traces",
    "report": "stepviz.reports",
    "run_throughput": "stepviz.evidence",
    "sample_run": "stepviz.traces",
    "scale": "stepviz.core.changes",
    "set_duration": "stepviz.core.changes",
    "set_lag": "stepviz.core.changes",
    "set_release": "stepviz.core.changes",
    "shorten": "stepviz.core.changes",
    "shrink_tail": "stepviz.core.changes",
    "throughput_table": "stepviz.throughput.side_by_side",
    "together": "stepviz.core.changes",
    "token_roles": "stepviz.throughput.layouts",
    "tokens_per_update": "stepviz.throughput.counting",
    "translate": "stepviz.throughput.translations",
    "verdict": "stepviz.evidence",
}

__all__ = [
    "BucketExplorer",
    "CaptureError",
    "CapturePanel",
    "Change",
    "ChangeError",
    "CostError",
    "ModelShape",
    "Quiz",
    "Rate",
    "Recorder",
    "RunPlanner",
    "Schedule",
    "StepvizError",
    "ThroughputError",
    "Timeline",
    "TimelineEditor",
    "TimelineError",
    "TokenComparison",
    "TokenCounts",
    "TraceError",
    "TraceViewer",
    "TraceWarning",
    "TrainingPlan",
    "add_pattern",
    "capture",
    "compare",
    "compare_counts",
    "conventions",
    "count_tokens",
    "delay_input",
    "diagnose",
    "experiment",
    "fit_contention",
    "fit_cost",
    "flops_per_token",
    "lesson",
    "list_patterns",
    "load_run",
    "loss_denominators",
    "matmuls",
    "mfu",
    "mfu_table",
    "peak",
    "peak_table",
    "predict_buckets",
    "rank_changes",
    "remove",
    "remove_pattern",
    "report",
    "run_throughput",
    "sample_run",
    "scale",
    "set_duration",
    "set_lag",
    "set_release",
    "shorten",
    "shrink_tail",
    "throughput_table",
    "together",
    "token_roles",
    "tokens_per_update",
    "translate",
    "verdict",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"stepviz.{name}")
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    msg = f"module 'stepviz' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return sorted([*__all__, *_ROOMS])
