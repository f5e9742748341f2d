"""The small real run that ships with stepviz."""

from __future__ import annotations

from importlib.resources import as_file, files

from stepviz.traces.loading import load_run
from stepviz.traces.runs import Run


def sample_run() -> Run:
    """Load the run that ships with stepviz: two ranks of a small GPT-like model on one CPU.

    DDP over gloo with an emulated slow network (a real all-reduce per bucket, then a sleep),
    three steps. Made by ``tools/make_sample_run.py``.

    Examples
    --------
    >>> import stepviz as sv
    >>> sv.sample_run().ranks
    [0, 1]
    """
    with as_file(files("stepviz") / "data" / "sample_run") as folder:
        return load_run(folder)
