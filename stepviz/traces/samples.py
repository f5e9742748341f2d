"""The small runs that ship with stepviz."""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import Final

from stepviz.errors import TraceError, near
from stepviz.traces.loading import load_run
from stepviz.traces.runs import Run

#: The folder of each, under `stepviz/data`.
FOLDERS: Final = {
    "base": "sample_run",
    "slow rank": "slow_rank",
    "bucket sweep": "bucket_sweep",
    "late input": "late_input",
    "contention": "contention",
    "pipeline": "pipeline",
    "FSDP": "fsdp",
    "long tail": "long_tail",
    "short tail": "short_tail",
}


def sample_run(name: str = "base") -> Run:
    """Load a run that ships with stepviz: recorded ones, and two made for teaching.

    Recorded are two or three steps on one CPU, mostly of two ranks of a small GPT-like model under
    DDP, over gloo with an emulated network (a real all-reduce per bucket, then a sleep).

    Parameters
    ----------
    name : str
        "base", "slow rank", "bucket sweep", "late input", "contention", "pipeline", "FSDP",
        "long tail" or "short tail".

        The base run has a slow network, so that exchange shows (``tools/make_sample_run.py``). In
        "slow rank" rank 1 sleeps for 15 ms in the middle of each backward
        (``tools/make_sample_runs.py``). From "bucket sweep" `predict_buckets` can tell other caps;
        in "late input" each step waits for its batch; in "contention" the network is real, and
        takes the cores from backward. "pipeline" has four stages and six microbatches, "FSDP" four
        blocks sharded over four ranks, both with emulated compute. "long tail" and "short tail"
        were not recorded: they are the lesson's step of 750 ms, and that of 780 ms without an
        exposed tail, as twelve steps each with a little noise (``tools/make_lesson_runs.py``).

    Raises
    ------
    TraceError
        Where no sample has that name.

    Examples
    --------
    >>> import stepviz as sv
    >>> sv.sample_run().ranks
    [0, 1]
    >>> int(sv.sample_run("slow rank").step().slowest["rank"]["most_own_time"])
    1
    """
    if not isinstance(name, str) or name not in FOLDERS:
        msg = f"there is no sample run {name!r}: {near(str(name), FOLDERS)}"
        raise TraceError(msg)
    with as_file(files("stepviz") / "data" / FOLDERS[name]) as folder:
        return load_run(folder)
