"""The editor seen from Python: its traits, what it refuses, what it sends, what it frees."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import weakref
from typing import Any

import comm
import ipywidgets
import pytest
import traitlets
from comm.base_comm import BaseComm, CommManager
from ipywidgets.widgets import widget as widget_module

import stepviz as sv


class FakeComm(BaseComm):
    """A comm whose messages stay here."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.sent: list[dict[str, Any]] = []
        super().__init__(*arguments, **options)

    def publish_msg(self, msg_type: str, data: Any = None, **_: Any) -> None:
        # As on the wire: a copy, and standard JSON.
        self.sent.append(
            json.loads(json.dumps({"type": msg_type, **(data or {})}, allow_nan=False))
        )


@pytest.fixture(autouse=True)
def _fake_comms(monkeypatch):
    manager = CommManager()
    monkeypatch.setattr(comm, "create_comm", FakeComm)
    monkeypatch.setattr(comm, "get_comm_manager", lambda: manager)


@pytest.fixture
def editor():
    made = sv.TimelineEditor(sv.lesson())
    made.comm.sent.clear()
    yield made
    made.close()


def updates(editor: sv.TimelineEditor) -> list[dict[str, Any]]:
    """What was sent to the page, a dict of traits for each message."""
    return [m["state"] for m in editor.comm.sent if m.get("method") == "update"]


def from_page(editor: sv.TimelineEditor, **state: Any) -> None:
    """A message from the page."""
    state = json.loads(json.dumps(state))
    message = {"method": "update", "state": state, "buffer_paths": []}
    editor._handle_msg({"content": {"data": message}, "buffers": []})


def shorter(ms: float = 325.0) -> dict[str, Any]:
    return sv.lesson().with_duration("exchange", ms).to_dict()


CYCLE = {
    "phases": [{"phase": "a", "duration": 1}, {"phase": "b", "duration": 1}],
    "dependencies": [{"source": "a", "target": "b"}, {"source": "b", "target": "a"}],
}


# What it is


def test_the_value_is_the_timelines_plain_data(editor):
    assert editor.value == sv.lesson().to_dict()
    assert editor.timeline == sv.lesson()
    assert editor.schedule.completion == 750
    assert editor.selected is None
    assert editor.baseline == sv.lesson()
    assert dict(editor.scenarios) == {"A": sv.lesson()}
    assert editor.height is None


def test_plain_data_does_for_a_timeline():
    editor = sv.TimelineEditor(sv.lesson().to_dict(), baseline=sv.lesson("ss-ff").to_dict())
    assert editor.timeline == sv.lesson()
    assert editor.baseline == sv.lesson("ss-ff")


def test_it_says_what_it_shows():
    editor = sv.TimelineEditor(sv.lesson())
    said = "<TimelineEditor of Timeline 'lesson, release model': 5 phases, 5 dependencies, "
    assert repr(editor) == said + "completion 750 ms>"


def test_the_baseline_is_always_a_scenario():
    fast = sv.lesson().with_duration("exchange", 300)
    editor = sv.TimelineEditor(sv.lesson(), scenarios={"fast": fast}, height=300)
    assert list(editor.scenarios) == ["A", "fast"]
    assert editor.height == 300
    editor = sv.TimelineEditor(fast, baseline=sv.lesson(), scenarios={"A": fast})
    assert list(editor.scenarios) == ["B", "A"]
    assert editor.scenarios["B"] == sv.lesson()
    editor = sv.TimelineEditor(fast, baseline=sv.lesson(), scenarios={"as it is": sv.lesson()})
    assert list(editor.scenarios) == ["as it is"]


def test_a_misspelt_argument_is_a_type_error():
    with pytest.raises(TypeError, match=r"no argument 'heigth'.*'height'"):
        sv.TimelineEditor(sv.lesson(), heigth=300)


def test_no_timeline_no_editor():
    with pytest.raises(sv.TimelineError, match="cycle"):
        sv.TimelineEditor(CYCLE)
    with pytest.raises(sv.TimelineError, match="NoneType"):
        sv.TimelineEditor(None)
    with pytest.raises(sv.TimelineError, match="scenario 'x'"):
        sv.TimelineEditor(sv.lesson(), scenarios={"x": CYCLE})


def test_the_front_end_travels_as_text(editor):
    state = editor.get_state()
    assert "export default" in state["_esm"]
    assert ".stepviz" in state["_css"]
    assert type(editor._esm) is str


def test_no_trait_hides_one_of_ipywidgets():
    ours = {name for name in vars(sv.TimelineEditor) if not name.startswith("_")}
    theirs = set(dir(ipywidgets.DOMWidget))
    assert ours & theirs == {"close", "notify_change", "set_state"}  # these extend theirs


def test_importing_stepviz_does_not_import_widgets():
    code = "import stepviz, sys; print({'anywidget', 'stepviz.widgets'} & set(sys.modules))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "set()"


# Set from Python


def test_setting_the_timeline_sends_one_message_with_its_schedule(editor):
    editor.timeline = sv.lesson().with_duration("exchange", 325)
    (state,) = updates(editor)
    assert set(state) == {"value", "_revision", "_answer"}
    assert state["_answer"]["revision"] == state["_revision"]
    assert state["_revision"]["page"] == ""
    assert state["_answer"]["completion"] == 725
    assert editor.schedule.completion == 725


def test_the_answer_is_standard_json():
    timeline = sv.lesson().connect("forward", "backward", "SS").with_target("backward")
    editor = sv.TimelineEditor(timeline)
    latest = editor._answer["latest_start"]
    assert latest[[*timeline.phases.index].index("optimizer")] is None  # infinite
    json.dumps(editor.get_state(["value", "_answer", "scenarios", "baseline"]), allow_nan=False)


@pytest.mark.parametrize(
    "bad",
    [
        CYCLE,
        {"phases": []},
        {"phases": [{"phase": "a", "duration": float("nan")}]},
        {"phases": [{"phase": "a", "duration": -1}]},
        {"phases": [{"phase": "a", "duration": 1}] * 2},
        "not a timeline",
        None,
        7,
    ],
)
def test_a_bad_value_raises_and_the_last_good_one_stays(editor, bad):
    before = editor.value
    with pytest.raises(sv.TimelineError):
        editor.value = bad
    with pytest.raises(sv.TimelineError), editor.hold_trait_notifications():
        editor.value = bad
    assert editor.value is before
    assert editor.timeline == sv.lesson()
    assert updates(editor) == []
    editor.value = shorter()
    assert editor.schedule.completion == 725


def test_incomplete_data_is_completed(editor):
    editor.value = {"phases": [{"phase": "a", "duration": 3}]}
    assert editor.value["dependencies"] == []
    assert editor.value["phases"][0]["kind"] == "other"
    assert editor.schedule.completion == 3


def test_selecting_a_phase(editor):
    editor.selected = "exchange"
    assert updates(editor) == [{"selected": "exchange"}]
    with pytest.raises(sv.TimelineError, match="'exchange'"):
        editor.selected = "exchagne"
    assert editor.selected == "exchange"
    editor.timeline = sv.lesson().without("exchange")
    assert editor.selected is None
    assert updates(editor)[-1]["selected"] is None


def test_scenarios_and_baseline_travel_as_plain_data(editor):
    fast = sv.lesson().with_duration("exchange", 300)
    editor.scenarios = {**editor.scenarios, "fast": fast}
    editor.baseline = fast
    assert updates(editor) == [
        {"scenarios": {"A": sv.lesson().to_dict(), "fast": fast.to_dict()}},
        {"baseline": fast.to_dict()},
    ]
    with pytest.raises(sv.TimelineError, match="scenario 'x'"):
        editor.scenarios = {"x": CYCLE}
    with pytest.raises(sv.TimelineError, match="names are non-empty"):
        editor.scenarios = {"": fast}
    with pytest.raises(TypeError):
        editor.scenarios["in place"] = fast
    assert list(editor.scenarios) == ["A", "fast"]


def test_height_is_a_number_of_pixels(editor):
    with pytest.raises(traitlets.TraitError):
        editor.height = 10
    with pytest.raises(traitlets.TraitError):
        editor.height = "tall"
    assert editor.height is None


# From the page


def test_a_commit_is_answered_once_and_not_sent_back(editor):
    seen = []
    editor.observe(
        lambda change: seen.append(change["new"]["phases"][4]["duration"]), names="value"
    )
    from_page(editor, value=shorter(), _revision={"page": "p", "number": 3})
    assert seen == [325]
    assert editor.schedule.completion == 725
    (state,) = updates(editor)
    assert set(state) == {"_answer"}
    assert state["_answer"]["revision"] == {"page": "p", "number": 3}
    assert state["_answer"]["error"] is None
    table = editor.schedule.table
    assert state["_answer"]["start"] == table["start"].tolist()
    assert state["_answer"]["total_float"] == table["total_float"].tolist()


def test_a_commit_that_changes_nothing_is_answered_too(editor):
    from_page(editor, value=editor.value, _revision={"page": "p", "number": 1})
    assert updates(editor)[-1]["_answer"]["revision"] == {"page": "p", "number": 1}
    from_page(editor, _revision={"page": "p", "number": 2})  # after a link inside the page
    assert updates(editor)[-1]["_answer"]["revision"] == {"page": "p", "number": 2}


def test_nonsense_from_the_page_is_answered_and_put_right(editor):
    seen = []
    editor.observe(seen.append, names="value")
    mine = {"page": "p", "number": 1}
    from_page(editor, value=CYCLE, _revision=mine)
    assert seen == []
    assert editor.timeline == sv.lesson()
    (state,) = updates(editor)
    assert state["value"] == sv.lesson().to_dict()
    assert state["_revision"]["page"] == ""
    assert state["_answer"]["revision"] == state["_revision"]
    assert state["_answer"]["rejected"] == mine
    assert "cycle" in state["_answer"]["error"]
    from_page(editor, value=shorter(), _revision={"page": "p", "number": 2})
    assert editor.schedule.completion == 725


def test_bad_scenarios_from_the_page_do_not_cost_the_edit(editor):
    from_page(editor, value=shorter(), _revision={"page": "p", "number": 1}, scenarios={"x": CYCLE})
    assert editor.schedule.completion == 725
    assert list(editor.scenarios) == ["A"]
    last = updates(editor)[-1]
    assert list(last["scenarios"]) == ["A"]
    assert "scenario 'x'" in last["_answer"]["error"]


def test_scenarios_kept_in_the_page_are_timelines_here(editor):
    from_page(editor, scenarios={"A": sv.lesson().to_dict(), "B": shorter()}, baseline=shorter())
    assert editor.scenarios["B"].completion == 725
    assert editor.baseline.completion == 725
    assert all("scenarios" not in state for state in updates(editor))


def test_selection_from_the_page(editor):
    from_page(editor, selected="exchange")
    assert editor.selected == "exchange"
    from_page(editor, selected="no such phase")
    assert editor.selected is None
    renamed = sv.lesson().with_phase("exchange", rename="all-reduce").to_dict()
    from_page(editor, selected="all-reduce", _revision={"page": "p", "number": 1}, value=renamed)
    assert editor.selected == "all-reduce"


def test_an_observer_may_set_the_timeline_while_it_hears_of_a_commit(editor):
    def whole(change):
        exchange = change["new"]["phases"][4]["duration"]
        editor.timeline = sv.lesson().with_duration("exchange", round(exchange))

    editor.observe(whole, names="value")
    from_page(editor, value=shorter(325.4), _revision={"page": "p", "number": 1})
    assert editor.value["phases"][4]["duration"] == 325
    first, second = updates(editor)
    assert first["_answer"]["revision"] == {"page": "p", "number": 1}
    assert second["value"]["phases"][4]["duration"] == 325
    assert second["_answer"]["revision"] == second["_revision"]
    assert second["_revision"]["page"] == ""


# With other widgets


def test_two_editors_linked(editor):
    other = sv.TimelineEditor(sv.lesson("ss-ff"))
    link = ipywidgets.link((editor, "value"), (other, "value"))
    assert other.timeline == sv.lesson()
    from_page(editor, value=shorter(), _revision={"page": "p", "number": 1})
    assert other.schedule.completion == 725
    assert updates(other)[-1]["_revision"]["page"] == ""
    other.timeline = sv.lesson()
    assert editor.schedule.completion == 750
    link.unlink()


def test_interactive_output_calls_back(editor):
    seen = []
    ipywidgets.interactive_output(lambda value: seen.append(value["name"]), {"value": editor})
    editor.timeline = sv.lesson("ss-ff")
    assert len(seen) == 2


def test_shown_twice_and_in_a_box(editor):
    assert "application/vnd.jupyter.widget-view+json" in editor._repr_mimebundle_()[0]
    assert ipywidgets.HBox([editor, editor]).children == (editor, editor)


# The end


def test_closed_editors_are_freed():
    registered = len(widget_module._instances)
    gone = []
    for _ in range(50):
        editor = sv.TimelineEditor(sv.lesson())
        editor.observe(lambda change: None, names="value")
        editor.timeline = sv.lesson().with_duration("exchange", 325)
        gone.append(weakref.ref(editor))
        editor.close()
        editor.close()  # twice does no harm
    del editor
    gc.collect()
    assert [ref for ref in gone if ref() is not None] == []
    assert len(widget_module._instances) == registered


def test_a_layout_of_ones_own_survives():
    layout = ipywidgets.Layout(width="50%")
    editor = sv.TimelineEditor(sv.lesson(), layout=layout)
    assert editor.layout is layout
    editor.close()
    assert layout.comm is not None
    layout.close()
