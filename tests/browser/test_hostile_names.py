"""Names from traces are untrusted: in no page and no drawing do they do anything."""

from __future__ import annotations

import itertools
import json
from xml.etree import ElementTree as ET

import pytest
from playwright.sync_api import expect

import stepviz as sv
from tests.browser.saved import HOSTILE, downloaded, drawn, nothing_left, open_from_disk
from tests.traces.synthetic import two_ranks


def hostile_step():
    """Return a timeline whose every text is hostile."""
    phases = [
        {"phase": name, "kind": "host", "rank": 0, "lane": f"{name} lane", "duration": 10.0 + k}
        for k, name in enumerate(HOSTILE)
    ]
    links = list(itertools.pairwise(HOSTILE))
    return sv.Timeline(phases, links, name=HOSTILE[0])


def hostile_run(folder):
    """Write and load a run whose kernels are called so."""
    for rank, document in two_ranks().items():
        names = iter([*HOSTILE] * 20)
        for event in document["traceEvents"]:
            if event.get("cat") in ("kernel", "cpu_op") and "all_reduce" not in event["name"]:
                event["name"] = next(names)
        (folder / f"rank{rank}.json").write_text(json.dumps(document), encoding="utf-8")
    return sv.load_run(folder)


@pytest.fixture
def widgets(tmp_path):
    folder = tmp_path / HOSTILE[1].replace("/", "_")
    folder.mkdir()
    run = hostile_run(folder)
    batch = {"input_ids": [[1, 2, 3]], "labels": [[-100, 2, 3]]}
    shape = sv.ModelShape(layers=2, hidden=8, heads=2, ffn=16, vocab=100, name=HOSTILE[0])
    return {
        "editor": lambda: sv.TimelineEditor(hostile_step(), scenarios={HOSTILE[1]: hostile_step()}),
        "viewer": lambda: sv.TraceViewer(run.step(2)),
        "tokens": lambda: sv.TokenComparison(batch, shape=shape, peak=1e12),
        "planner": sv.RunPlanner,
        "buckets": lambda: sv.BucketExplorer([(name, 5e8) for name in HOSTILE]),
        "capture": lambda: sv.CapturePanel(runs={HOSTILE[0]: run, HOSTILE[1]: run}),
        "quiz": lambda: sv.Quiz(HOSTILE[0], answer=HOSTILE[1], choices=list(HOSTILE[1:3])),
    }


NAMES = ("editor", "viewer", "tokens", "planner", "buckets", "capture", "quiz")


@pytest.mark.parametrize("guarded", [True, False], ids=["guarded", "escaped alone"])
@pytest.mark.parametrize("name", NAMES)
def test_in_a_page_they_are_text(name, guarded, widgets, new_page, tmp_path):
    path = tmp_path / "page.html"
    widgets[name]().save_html(path, title=HOSTILE[0])
    page = new_page()
    asked = open_from_disk(page, path, guarded=guarded)
    expect(page.locator("h1")).to_have_text(HOSTILE[0])
    assert page.title() == HOSTILE[0]
    page.wait_for_timeout(150)  # what an image or a frame would have done by now
    nothing_left(page, asked, path)
    assert page.locator("script").count() == 1


@pytest.mark.parametrize("name", NAMES)
def test_in_a_drawing_they_are_text(name, widgets, tmp_path):
    path = tmp_path / "drawing.svg"
    widgets[name]().save_svg(path)
    root = ET.parse(path).getroot()  # noqa: S314  # of our own making
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert tags <= {"svg", "rect", "text", "line", "path", "title"}
    assert not [k for element in root.iter() for k in element.attrib if k.startswith("on")]


def test_the_editor_shows_them_as_they_are(widgets, new_page, tmp_path):
    path = tmp_path / "page.html"
    widgets["editor"]().save_html(path)
    page = new_page()
    asked = open_from_disk(page, path)
    held = page.locator("[data-phase]").evaluate_all("all => all.map(one => one.dataset.phase)")
    assert set(HOSTILE) <= set(held)
    nothing_left(page, asked, path)


# What no XML file can hold, however it is written.
ILLEGAL = "\x00 bell\x07 esc\x1b \ufffe \uffff"


@pytest.mark.parametrize("name", ["editor", "tokens", "capture"])
def test_the_buttons_draw_signs_that_no_xml_file_can_hold(name, new_page, tmp_path):
    shape = sv.ModelShape(layers=2, hidden=8, heads=2, ffn=16, vocab=100, name=ILLEGAL)
    step = sv.Timeline([{"phase": ILLEGAL, "kind": "host", "rank": 0, "duration": 10.0}], [])
    made = {
        "editor": lambda: sv.TimelineEditor(step),
        "tokens": lambda: sv.TokenComparison(shape=shape, peak=1e12),
        "capture": lambda: sv.CapturePanel(runs={ILLEGAL: sv.sample_run()}),
    }
    path = tmp_path / "page.html"
    made[name]().save_html(path)
    page = new_page()
    asked = open_from_disk(page, path)
    if name == "editor":
        page.locator('[data-role="export"]').click()
    for kind in ("svg", "png"):
        content = downloaded(page, page.locator(f'[data-role="save-{kind}"]').first)
        assert kind == "png" or "bell\ufffd esc" in drawn(content)
    nothing_left(page, asked, path)
