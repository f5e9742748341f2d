"""Timelines from a recipe, and the costs and contention that go into them."""

from stepviz.builders.accumulation import accumulated
from stepviz.builders.bucket_rules import ddp_buckets
from stepviz.builders.bucket_sweeps import bucket_sweep
from stepviz.builders.built import BuiltTimeline
from stepviz.builders.chaining import step_times, steps
from stepviz.builders.checkpointing import checkpointed
from stepviz.builders.contention import Contention
from stepviz.builders.contention_fits import ContentionFit, fit_contention
from stepviz.builders.cost_fits import ExtrapolationWarning, FittedCost, fit_cost
from stepviz.builders.costs import AlphaBeta, CostModel, Ring, Tree, bus_factor
from stepviz.builders.ddp_steps import bucket_queue, ddp
from stepviz.builders.lesson_models import lesson
from stepviz.builders.loaders import input_pipeline
from stepviz.builders.pipelines import pipeline, pipeline_bubble
from stepviz.builders.sharding import sharded, zero_memory

__all__ = [
    "AlphaBeta",
    "BuiltTimeline",
    "Contention",
    "ContentionFit",
    "CostModel",
    "ExtrapolationWarning",
    "FittedCost",
    "Ring",
    "Tree",
    "accumulated",
    "bucket_queue",
    "bucket_sweep",
    "bus_factor",
    "checkpointed",
    "ddp",
    "ddp_buckets",
    "fit_contention",
    "fit_cost",
    "input_pipeline",
    "lesson",
    "pipeline",
    "pipeline_bubble",
    "sharded",
    "step_times",
    "steps",
    "zero_memory",
]
