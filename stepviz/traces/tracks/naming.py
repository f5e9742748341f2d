"""How exported tracks are called, numbered and coloured."""

from __future__ import annotations

from typing import Final

from stepviz.traces.reading.rows import FOUND

#: Categories of slices that were not recorded but found; `load_run` passes them over.
STEP: Final = f"{FOUND}step"
PATH: Final = f"{FOUND}critical path"
PATH_KIND: Final = f"{FOUND}critical path, by kind"
KIND: Final = f"{FOUND}kind"
EXCHANGE: Final = f"{FOUND}exchange"

#: Processes are numbered above all tracks, since a thread with its process's number is special.
PATH_PROCESS: Final = 999_999
FIRST_RANK: Final = 1_000_000

#: Perfetto colours by name; these are colours that chrome://tracing knows.
COLOUR: Final = {
    "input": "rail_load",
    "forward": "thread_state_running",
    "backward": "thread_state_runnable",
    "recompute": "rail_animation",
    "optimizer": "thread_state_iowait",
    "exchange": "bad",
    "wait": "terrible",
    "checkpoint": "olive",
    "host": "yellow",
    "idle": "white",
    "unexplained": "grey",
    "other": "generic_work",
}


def process_of(rank: int) -> int:
    """Return the number of a rank's process."""
    return FIRST_RANK + rank


def coloured(kind: str) -> str:
    """Return the colour of a kind, none for one that has none."""
    return COLOUR.get(kind, "")
