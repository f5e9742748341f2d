"""A closed widget is gone: from Python, with its layout, and from a box that the page may keep."""

from __future__ import annotations

import gc
import weakref

import comm
import ipywidgets
import pytest
from comm.base_comm import BaseComm
from ipywidgets.widgets import widget as widget_module

import stepviz as sv

MAKE = {
    "TimelineEditor": lambda **more: sv.TimelineEditor(sv.lesson(), **more),
    "TraceViewer": lambda **more: sv.TraceViewer(sv.sample_run("long tail").step(), **more),
    "TokenComparison": sv.TokenComparison,
    "RunPlanner": sv.RunPlanner,
    "Quiz": lambda **more: sv.Quiz("How long?", answer=750, **more),
    "BucketExplorer": lambda **more: sv.BucketExplorer([2.5e6] * 20, latency=0.5, **more),
    "CapturePanel": lambda **more: sv.CapturePanel(runs={"a": sv.sample_run("long tail")}, **more),
}
BOXES = ("BucketExplorer", "CapturePanel")


@pytest.mark.parametrize("name", MAKE)
def test_nothing_stays_in_python(name):
    registered = set(widget_module._instances)
    made = MAKE[name]()
    gone = weakref.ref(made)
    assert len(widget_module._instances) > len(registered)
    made.close()
    made.close()  # twice does no harm
    assert set(widget_module._instances) == registered
    del made
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("name", MAKE)
def test_a_layout_that_was_given_stays_open(name):
    layout = ipywidgets.Layout(width="50%")
    made = MAKE[name](layout=layout)
    assert made.layout is layout
    made.close()
    assert layout.comm is not None
    layout.close()


@pytest.mark.parametrize("name", [name for name in MAKE if name not in BOXES])
def test_all_of_a_kind_hand_over_one_text(name):
    # A page keeps the text of each module that it loads; Chromium keeps one where they are alike.
    first, second = MAKE[name](), MAKE[name]()
    assert first._esm == second._esm
    assert first._css == second._css
    first.close()
    second.close()


class Kept(BaseComm):
    """A comm whose messages stay here."""

    def __init__(self, **options):
        self.sent = []
        super().__init__(**options)

    def publish_msg(self, msg_type, data=None, **_):
        self.sent.append((msg_type, (data or {}).get("state")))


@pytest.mark.parametrize("name", BOXES)
def test_a_box_is_empty_before_it_closes(name, monkeypatch):
    # A page's model knows its state and that before its last change, and JupyterLab may keep it.
    monkeypatch.setattr(comm, "create_comm", Kept)
    box = MAKE[name]()
    sent = box.comm.sent
    box.close()
    assert [kind for kind, _ in sent[-3:]] == ["comm_msg", "comm_msg", "comm_close"]
    assert [state for _, state in sent[-3:-1]] == [{"children": []}] * 2
