"""What a notebook program is handed: the mime bundle of a widget, and the state it may save.

JupyterLab, Notebook 7 and VS Code all make a widget of these alone, with anywidget's front end.
"""

from __future__ import annotations

import json
import re

import anywidget
import pytest
from ipywidgets import embed

import stepviz as sv
from stepviz.widgets.bundle import packed_module

VIEW = "application/vnd.jupyter.widget-view+json"

MAKE = {
    "TimelineEditor": lambda: sv.TimelineEditor(sv.lesson()),
    "TraceViewer": lambda: sv.TraceViewer(sv.sample_run("long tail").step()),
    "TokenComparison": sv.TokenComparison,
    "RunPlanner": sv.RunPlanner,
    "BucketExplorer": lambda: sv.BucketExplorer([2.5e6] * 20, bandwidth=10, latency=0.5),
    "CapturePanel": lambda: sv.CapturePanel(runs={"a": sv.sample_run("long tail")}),
}


@pytest.fixture(params=MAKE)
def widget(request):
    made = MAKE[request.param]()
    yield made
    made.close()


def parts(widget):
    """The widget, or the widgets in it where it is a box."""
    if isinstance(widget, anywidget.AnyWidget):
        return [widget]
    return [part for child in widget.children for part in parts(child)]


def test_a_widget_shows_itself_by_its_view_and_in_words(widget):
    shown = widget._repr_mimebundle_()
    bundle = shown[0] if isinstance(shown, tuple) else shown
    assert bundle[VIEW]["version_major"] == 2
    assert bundle[VIEW]["model_id"] == widget.model_id
    # for hosts without widgets, and for screen readers of the file
    assert type(widget).__name__ in bundle["text/plain"]
    assert len(bundle["text/plain"]) < 200
    json.dumps(bundle, allow_nan=False)


def test_its_state_is_plain_and_its_module_is_text(widget):
    assert parts(widget)
    for part in parts(widget):
        state = part.get_state()
        assert (state["_model_module"], state["_view_module"]) == ("anywidget", "anywidget")
        # what a program must have, or fetch: a version that reads this state
        assert re.fullmatch(r"~0\.\d+\.\*|~?0\.\d+\.\d+", state["_view_module_version"])
        # Not a path, which only anywidget's own development server could serve, nor an address.
        assert "export default" in state["_esm"]
        assert not re.search(r"https?:|\bfrom\s*[\"']|import\s*[\"']", state["_esm"])
        assert "\n" in state["_css"]


def test_what_is_saved_makes_the_widget_again(widget):
    # Of this one and what is in it: tests before this may have left boxes of closed parts.
    saved = embed.dependency_state([widget], drop_defaults=False)
    states = json.loads(json.dumps(saved, allow_nan=False))
    for part in parts(widget):
        state = states[part.model_id]["state"]
        assert state["_esm"].startswith("//")
        names = set(state) & {"value", "_scene", "_shown"}
        assert names, type(part).__name__


@pytest.mark.parametrize("name", ["buckets", "capture", "editor", "planner", "tokens", "viewer"])
def test_the_loader_needs_no_more_than_what_loads_it(name):
    # Programs forbid eval and requests; anywidget itself loads a module from a blob.
    loader = packed_module(f"{name}.js")
    assert not re.search(r"\beval\b|new Function|fetch\(|XMLHttpRequest|WebSocket", loader)
