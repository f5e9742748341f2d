"""What a capture panel's page shows: the runs that were kept, and that capturing needs a kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from stepviz.traces import Run
from stepviz.widgets.packing import packed_json
from stepviz.widgets.pages import Model

_SAID: Final = (
    "A saved page cannot capture: that needs a notebook with a kernel. The runs below are those "
    "that were there when it was saved."
)


def runs_given(runs: Mapping[str, Run]) -> str:
    """Return the timeline of each run's median step, in order, packed for ``page/capture.ts``."""
    return packed_json([run.step().timeline().to_dict() for run in runs.values()])


def seen_in_page(form: Model) -> Model:
    """Return the form as a page shows it: without knobs, since they would change nothing."""
    job = {"state": "idle", "share": 0.0, "words": "", "problem": "", "lines": "", "missing": _SAID}
    table = {**form.state["_table"], "fixed": True, "said": ""}
    return Model(form.bundle, {**form.state, "_form": [], "_job": job, "_table": table})
