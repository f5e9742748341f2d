"""Timelines from a recipe, and the costs and contention that go into them."""

from stepviz.builders.bucket_rules import ddp_buckets
from stepviz.builders.built import BuiltTimeline
from stepviz.builders.contention import Contention
from stepviz.builders.contention_fits import ContentionFit, fit_contention
from stepviz.builders.cost_fits import ExtrapolationWarning, FittedCost, fit_cost
from stepviz.builders.costs import AlphaBeta, CostModel, Ring, Tree, bus_factor
from stepviz.builders.ddp_steps import bucket_queue, ddp
from stepviz.builders.pipelines import pipeline, pipeline_bubble

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
    "bucket_queue",
    "bus_factor",
    "ddp",
    "ddp_buckets",
    "fit_contention",
    "fit_cost",
    "pipeline",
    "pipeline_bubble",
]
