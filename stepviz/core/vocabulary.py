"""The closed vocabularies of a timeline: kinds, dependency types, origins, categories."""

from __future__ import annotations

from typing import Final, Literal, get_args

Kind = Literal[
    "input",
    "forward",
    "backward",
    "exchange",
    "optimizer",
    "recompute",
    "checkpoint",
    "host",
    "other",
]
LinkType = Literal["FS", "SS", "FF", "SF"]
Origin = Literal["assumed", "recorded", "inferred"]

KINDS: Final[tuple[str, ...]] = get_args(Kind)

#: Work of the model itself: what exchange may hide behind.
COMPUTE: Final[tuple[str, ...]] = ("forward", "backward", "recompute")

#: The four categories of the two wrong answers, plain sum and plain maximum.
CATEGORIES: Final[dict[str, tuple[str, ...]]] = {
    "input": ("input",),
    "compute": COMPUTE,
    "exchange": ("exchange",),
    "optimizer": ("optimizer",),
}

#: The code of a type is its place here; the solver reads both ends from it.
LINK_TYPES: Final[tuple[str, ...]] = get_args(LinkType)

#: Where a dependency may come from; `lane` is only ever added by a schedule.
ORIGINS: Final[tuple[str, ...]] = get_args(Origin)
LANE_ORIGIN: Final = "lane"
