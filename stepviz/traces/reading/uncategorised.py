"""Rows without a category, as Ascend's profiler writes those of its hardware.

There the name of the process says what a row is: its hardware's tasks, its collectives, or
the calls of its runtime. Rows of other processes (an analysis of overlaps) repeat these.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from stepviz.traces.reading.masks import among
from stepviz.traces.reading.track_names import Tracks
from stepviz.traces.table import Table, Words

_HARDWARE: Final = "Ascend Hardware"
_RUNTIME: Final = "CANN"
_COLLECTIVES: Final = re.compile(r"^(HCCL|Communication)")
_COPY: Final = re.compile(r"^(MEMCPY|SDMA)", re.IGNORECASE)
#: Tasks of a stream that only order it.
_ORDER: Final = re.compile(
    r"^(EVENT|NOTIFY|STREAM_WAIT|WRITE_VALUE|MEM_WRITE_VALUE|CAPTURE)", re.IGNORECASE
)

#: The collective as a whole; beside it stand its parts, which are no more work.
_WHOLE: Final = re.compile(r"^hcom_", re.IGNORECASE)


def with_categories(
    events: Table, tracks: Tracks, processes: Mapping[int | str, Sequence[str]]
) -> Words | None:
    """Return the category of each row, found by its process where the file says none.

    None where the file says all that its processes could.

    Parameters
    ----------
    events
        Rows with name, cat and track.
    tracks
        The threads and streams.
    processes
        The names of each process, by pid.
    """
    said = {str(pid): names for pid, names in processes.items()}
    if not any(_HARDWARE in names for names in said.values()):
        return None
    bare = among(events["cat"], ("",))
    if not bare.any():
        return None
    found = np.array(list(events["cat"]), dtype=object)
    track, names = events["track"], events["name"]
    words, codes = names.categories, names.codes
    for at, pid in enumerate(tracks.pid):
        process = next((name for name in said.get(pid, ()) if name), "")
        rows = np.flatnonzero(bare & (track == at))
        for code in np.unique(codes[rows]).tolist():
            found[rows[codes[rows] == code]] = _category(process, words[code])
    words, codes = np.unique(found.astype(str), return_inverse=True)
    return Words(codes, words.tolist())


def _category(process: str, name: str) -> str:
    if process == _RUNTIME:
        return "privateuse1_runtime"
    if process == _HARDWARE:
        if _ORDER.match(name):
            return "npu_sync"
        return "gpu_memcpy" if _COPY.match(name) else "kernel"
    return "collective_comm" if _COLLECTIVES.match(process) and _WHOLE.match(name) else ""
