"""A user's program under ``mypy --strict``: what the main names return, checked and run."""

from typing import Any, assert_type

import stepviz as sv
from stepviz import builders
from stepviz.evidence import Verdict
from stepviz.traces import Run, Step

timeline = sv.lesson()
assert_type(timeline, sv.Timeline)
assert_type(timeline.schedule(), sv.Schedule)
assert_type(timeline.completion, float)
assert_type(timeline.to_dict(), dict[str, Any])

change = sv.shorten("exchange", 100)
assert_type(change, sv.Change)
assert_type(timeline.apply(change), sv.Timeline)
assert_type(sv.together(change, sv.set_duration("optimizer", 50)), sv.Change)

run = sv.sample_run()
assert_type(run, Run)
assert_type(run.ranks, list[int])
step = run.step()
assert_type(step, Step)
assert_type(step.timeline(), sv.Timeline)
assert_type(step.completion_ns, int)
assert_type(step.replay().completion_ns, int)
assert_type(step.residual_share, float)

found = sv.verdict(sv.sample_run("long tail"), sv.sample_run("short tail"))
assert_type(found, Verdict)

plan = sv.TrainingPlan(parameters=7e9, tokens=100e9, devices=64, peak=300e12, mfu=0.4)
assert_type(plan, sv.TrainingPlan)

shape = sv.ModelShape(layers=32, hidden=4096, heads=32, kv_heads=8, ffn=14336, vocab=128256)
used = sv.mfu(
    shape,
    convention="palm",
    tokens_per_second=8192,
    sequence=8192,
    peak=sv.peak("H100 SXM", "bf16"),
)
assert_type(sv.translate(used, "palm", "causal").value, float)
assert_type(sv.translate(0.5, "palm", "causal", shape=shape, sequence=8192), float)

assert_type(
    builders.pipeline(schedule="1f1b", stages=4, microbatches=8, forward=1, backward=2).completion,
    float,
)

editor = sv.TimelineEditor(timeline)
assert_type(editor.timeline, sv.Timeline)
assert_type(editor.schedule, sv.Schedule)
