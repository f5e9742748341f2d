"""The trace viewer seen from Python: what it refuses, what it sends and answers, what it frees."""

from __future__ import annotations

import gc
import json
import weakref

import comm
import ipywidgets
import numpy as np
import pytest
from comm.base_comm import BaseComm, CommManager
from ipywidgets.widgets import widget as widget_module

import stepviz as sv
from stepviz.traces.lanes.questions import explain
from stepviz.widgets.viewer_answers import PATH, Answers


class FakeComm(BaseComm):
    """A comm whose messages stay here, with their buffers."""

    def __init__(self, *arguments, **options):
        self.sent = []
        super().__init__(*arguments, **options)

    def publish_msg(self, msg_type, data=None, buffers=None, **_):
        message = json.loads(json.dumps({"type": msg_type, **(data or {})}, allow_nan=False))
        self.sent.append((message, [bytes(one) for one in buffers or []]))


@pytest.fixture(autouse=True)
def _fake_comms(monkeypatch):
    manager = CommManager()
    monkeypatch.setattr(comm, "create_comm", FakeComm)
    monkeypatch.setattr(comm, "get_comm_manager", lambda: manager)


@pytest.fixture(scope="module")
def step():
    return sv.sample_run().step()


@pytest.fixture(scope="module")
def answers(step):
    return Answers(step)


@pytest.fixture
def viewer(step):
    made = sv.TraceViewer(step)
    made.comm.sent.clear()
    yield made
    made.close()


def ask(viewer, what, **question):
    """Ask as a page does; the answer and its buffers as they would travel."""
    content = {"ask": what, "id": "page:1", "page": "page", **question}
    message = {"method": "custom", "content": json.loads(json.dumps(content))}
    viewer._handle_msg({"content": {"data": message}, "buffers": []})
    sent, buffers = viewer.comm.sent[-1]
    assert sent["method"] == "custom"
    return sent["content"], buffers


def blocks_of(content, buffers):
    """Read the columns of an answer: one array a column, and the bounds of its lanes."""
    lanes = len(content["lanes"])
    bounds = np.frombuffer(buffers[0], "<i4", lanes + 1)
    count = int(bounds[-1])
    words = np.frombuffer(buffers[0], "<i4", 4 * count, 4 * (lanes + 1)).reshape(4, count)
    small = np.frombuffer(buffers[0], "u1", 3 * count, 4 * (lanes + 1) + 16 * count)
    return bounds, words, small.reshape(3, count)


def everything(viewer, pixel, **more):
    scene = viewer._answers.scene
    lanes = [PATH, *range(len(scene))]
    return ask(viewer, "blocks", start=scene.begin_ns, finish=scene.span_ns, pixel=pixel,
               lanes=lanes, **more)  # fmt: skip


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (sv.sample_run, "run.step()"),
        (sv.lesson, "TimelineEditor"),
        (lambda: "traces/", "sv.load_run('traces/').step()"),
        (lambda: None, "run.step()"),
    ],
)
def test_what_is_no_step_is_refused_with_what_to_write(make, words):
    with pytest.raises(sv.TraceError) as caught:
        sv.TraceViewer(make())
    assert words in str(caught.value)


def test_an_unknown_argument_is_named_with_near_ones(step):
    with pytest.raises(TypeError, match=r"no argument 'heigth'.*did you mean 'height'"):
        sv.TraceViewer(step, heigth=300)


def test_it_is_a_widget_and_says_what_it_shows(viewer):
    assert "application/vnd.jupyter.widget-view+json" in viewer._repr_mimebundle_()[0]
    assert repr(viewer).startswith("<TraceViewer of Step 6 of sample_run")
    assert "TraceViewer of Step 6" in viewer._repr_mimebundle_()[0]["text/plain"]


def test_no_interval_is_sent_before_it_is_asked_for(viewer):
    state = {key: value for key, value in viewer.get_state().items() if key not in ("_esm", "_css")}
    assert len(json.dumps(state, default=str)) < 4000
    assert state["_scene"]["intervals"] > 3000


def test_an_answer_holds_what_is_seen_and_no_more(viewer):
    scene = viewer._answers.scene
    main = next(track for track in scene.ranks[0].tracks if track.name == "main thread")
    lane = scene.lane(main.first + 2)
    start, finish = 20_000_000, 30_000_000
    content, buffers = ask(
        viewer, "blocks", start=start, finish=finish, pixel=1, lanes=[main.first + 2]
    )
    seen = (lane.finish >= start) & (lane.start <= finish)
    bounds, words, small = blocks_of(content, buffers)
    assert bounds.tolist() == [0, int(seen.sum())]
    assert (words[0] + content["start"] == lane.start[seen]).all()
    assert (words[1] + content["start"] == lane.finish[seen]).all()
    assert (small[0] == lane.kind[seen]).all()
    told = {int(code): name for code, name in content["names"].items()}
    assert {told[code] for code in words[2].tolist()} <= {scene.names[c] for c in lane.name[seen]}


def test_a_screen_is_small_however_much_there_is(viewer):
    scene = viewer._answers.scene
    pixel = scene.span_ns // 1000
    content, buffers = everything(viewer, pixel)
    bounds, words, _ = blocks_of(content, buffers)
    # Nothing is lost: a lane's counts sum to its intervals.
    for k, number in enumerate(content["lanes"]):
        held = scene.lane(number) if number != PATH else viewer._answers.path.lane
        inside = (held.finish >= scene.begin_ns) & (held.start <= scene.span_ns)
        assert int(words[3][bounds[k] : bounds[k + 1]].sum()) == int(inside.sum())
        assert bounds[k + 1] - bounds[k] <= 2 * 1001 + 2
    assert len(buffers[1]) == 8 * (bounds[1] - bounds[0])


def test_long_ranges_travel_in_coarser_units(answers):
    content, _ = answers.answer(
        {"ask": "blocks", "id": 1, "start": 0, "finish": 10**12, "pixel": 10**9, "lanes": [0]}
    )
    assert content["unit"] > 1
    assert 10**12 / content["unit"] < 2**31


def test_names_are_told_once_to_each_page(step):
    answers = Answers(step)
    question = {"ask": "blocks", "id": "1", "start": 0, "finish": 10**8, "pixel": 1, "lanes": [0]}
    first, _ = answers.answer(question | {"page": "a"})
    again, _ = answers.answer(question | {"page": "a"})
    other, _ = answers.answer(question | {"page": "b"})
    assert first["names"] == other["names"] != {}
    assert again["names"] == {}


@pytest.mark.parametrize(
    "question",
    [
        {"ask": "nonsense"},
        {"ask": "blocks"},
        {"ask": "blocks", "start": 0, "finish": 1, "pixel": 1, "lanes": [10**9]},
        {"ask": "blocks", "start": 0, "finish": 1, "pixel": 1, "lanes": [-2]},
        {"ask": "blocks", "start": "x", "finish": None, "pixel": 1, "lanes": []},
        {"ask": "blocks", "start": 0, "finish": 1, "pixel": 1, "lanes": [0], "hidden": [99]},
        {"ask": "explain", "lane": 10**6, "start": 0, "finish": 1},
        {"ask": "find", "text": "a", "go": "next"},
    ],
)
def test_a_question_without_meaning_is_answered_as_such(viewer, question):
    content, buffers = ask(viewer, **{"what": question.pop("ask"), **question})
    assert content["id"] == "page:1"
    assert content["error"]
    assert buffers == []


def test_hidden_kinds_are_not_sent_and_matches_are_marked(viewer):
    scene = viewer._answers.scene
    codes = {name: code for code, name in enumerate(viewer._scene["kinds"])}
    content, buffers = everything(viewer, 1, hidden=[codes["forward"]], find="aten::add")
    _, words, small = blocks_of(content, buffers)
    assert codes["forward"] not in set(small[0].tolist())
    named = np.array(["aten::add" in scene.names[code].casefold() for code in words[2].tolist()])
    assert (small[1].astype(bool) == named).all()
    assert named.any()


def test_a_search_agrees_with_the_rows_themselves(viewer, step):
    found = viewer.find("ATEN::MM")
    expected = []
    begin = viewer._answers.scene.origin_ns
    end = begin + viewer._answers.scene.span_ns
    for rank, part in step._ranks.items():
        events = part.events
        named = events["name"].astype(str).str.casefold().str.contains("aten::mm", regex=False)
        inside = (events["finish_ns"] >= begin) & (events["start_ns"] <= end)
        times = events.loc[named & inside, ["start_ns", "finish_ns"]]
        expected += [(rank, *row) for row in times.itertuples(index=False)]
    got = list(found[["rank", "start_ns", "finish_ns"]].itertuples(index=False, name=None))
    assert sorted(got) == sorted(expected) != []
    assert found["start_ns"].is_monotonic_increasing
    assert (found["duration_ns"] == found["finish_ns"] - found["start_ns"]).all()
    assert viewer._query["text"] == "ATEN::MM"
    with pytest.raises(sv.TraceError, match="text of one letter"):
        viewer.find("")


def test_views_are_moved_to_absolute_times(viewer):
    origin = viewer._answers.scene.origin_ns
    viewer.show(start_ns=origin + 5, finish_ns=np.int64(origin + 1005))
    assert (viewer._view["start"], viewer._view["finish"]) == (5, 1005)
    number = viewer._view["number"]
    viewer.show()
    assert (viewer._view["start"], viewer._view["finish"]) == (0, viewer._answers.scene.span_ns)
    assert viewer._view["number"] > number
    for wrong in (
        {"start_ns": 0, "finish_ns": 5},
        {"start_ns": 1.5},
        {"start_ns": origin + 9, "finish_ns": origin},
    ):
        with pytest.raises(sv.TraceError, match="ns"):
            viewer.show(**wrong)


def select(viewer, **state):
    message = {"method": "update", "state": {"_selected": state or None}, "buffer_paths": []}
    viewer._handle_msg({"content": {"data": message}, "buffers": []})


def test_what_is_chosen_is_read_in_python_with_absolute_times(viewer):
    scene = viewer._answers.scene
    seen = []
    viewer.observe(lambda change: seen.append(change["new"]), names="selection")
    track = scene.ranks[1].tracks[0]
    select(viewer, lane=track.first, start=100, finish=300, name="all-reduce 0", kind="exchange")
    assert viewer.selection == {
        "rank": 1, "lane": "exchanges", "name": "all-reduce 0", "kind": "exchange",
        "start_ns": scene.origin_ns + 100, "finish_ns": scene.origin_ns + 300,
    }  # fmt: skip
    select(viewer, lane=None, start=0, finish=1000, name="", kind="")
    assert viewer.selection == {"start_ns": scene.origin_ns, "finish_ns": scene.origin_ns + 1000}
    select(viewer)
    assert viewer.selection is None
    select(viewer, lane=10**9, start="x", finish=None)
    assert viewer.selection is None
    assert len(seen) == 3


def test_what_an_interval_is(viewer):
    scene = viewer._answers.scene
    exchanges = scene.ranks[0].tracks[0].first
    lane = scene.lane(exchanges)
    content, _ = ask(
        viewer, "explain", lane=exchanges, start=int(lane.start[0]), finish=int(lane.finish[0])
    )
    assert content["name"] == "all-reduce 0"
    assert content["rank"] == 0
    assert dict(content["more"])["bytes"] == "1.383 MB"
    main = scene.ranks[0].tracks[1]
    many = explain(scene, main.first + 3, 0, scene.span_ns)
    inner = scene.lane(main.first + 3)
    assert many["count"] == len(inner)
    assert sum(count for _, count, _ in many["names"]) <= many["count"]
    assert many["busy_ns"] == int((inner.finish - inner.start).sum())


def test_the_path_is_answered_piece_by_piece_and_as_a_table(viewer, step):
    frame = step.critical_path
    content, _ = ask(viewer, "path")
    assert content["total"] == len(frame)
    assert [row[3] + viewer._answers.scene.origin_ns for row in content["rows"]] == frame[
        "start_ns"
    ].tolist()[: len(content["rows"])]
    piece, _ = ask(viewer, "piece", at=0, by=1)
    assert piece["start_ns"] == int(frame["start_ns"].iloc[1]) - viewer._answers.scene.origin_ns


def test_a_step_without_a_path_says_why(step, monkeypatch):
    def refuse(_):
        msg = "the ranks' clocks disagree"
        raise sv.TraceError(msg)

    monkeypatch.setattr(type(step), "critical_path", property(refuse))
    made = Answers(step)
    assert made.overview()["path"] == {
        "pieces": 0, "ranks": [], "why": "the ranks' clocks disagree",
    }  # fmt: skip
    content, buffers = made.answer(
        {"ask": "blocks", "id": 1, "start": 0, "finish": 10, "pixel": 1, "lanes": [PATH]}
    )
    assert "error" not in content
    assert len(buffers[1]) == 0
    assert made.answer({"ask": "path", "id": 2})[0]["rows"] == []


def test_a_closed_viewer_is_freed(step):
    before = len(widget_module._instances)
    made = sv.TraceViewer(step)
    ref = weakref.ref(made)
    made.close()
    del made
    gc.collect()
    assert ref() is None
    assert len(widget_module._instances) == before


def test_a_shared_layout_stays_open(step):
    layout = ipywidgets.Layout(width="50%")
    made = sv.TraceViewer(step, layout=layout, height=300)
    assert made.height == 300
    made.close()
    assert layout.comm is not None
    layout.close()
