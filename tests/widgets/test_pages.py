"""Pages, drawings and pictures of widgets, as files; what a browser makes of them is elsewhere."""

from __future__ import annotations

import builtins
import json
import os
import re
from xml.etree import ElementTree as ET

import pytest

import stepviz as sv
from stepviz import files
from stepviz.charts.pictures import png_of
from stepviz.errors import StepvizError
from stepviz.widgets import pages

EVIL = "</script><script>window.bad=1</script><!--<script> \u2028 & \ud800"
DATA = re.compile(r'<script type="application/json">(.*?)</script>', re.DOTALL)


def widgets():
    step = sv.lesson()
    return {
        "editor": sv.TimelineEditor(step.with_duration("exchange", 325), baseline=step),
        "viewer": sv.TraceViewer(sv.sample_run().step()),
        "tokens": sv.TokenComparison(accumulation=4),
        "planner": sv.RunPlanner(),
        "buckets": sv.BucketExplorer([20 * 2**20] * 12, latency=0.5),
        "capture": sv.CapturePanel(runs={"base": sv.sample_run()}),
        "quiz": sv.Quiz("When?", answer=725, unit="ms"),
    }


@pytest.fixture(scope="module")
def made():
    return widgets()


NAMES = ("editor", "viewer", "tokens", "planner", "buckets", "capture", "quiz")


def embedded(text):
    """Return what a page carries for its widgets."""
    return [json.loads(one) for one in DATA.findall(text)]


@pytest.mark.parametrize("name", NAMES)
def test_a_page_has_all_it_needs_in_it(name, made, tmp_path):
    path = tmp_path / "page.html"
    made[name].save_html(path)
    text = path.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert "default-src 'none'" in text
    assert not re.search(r"""(src|href)\s*=\s*["']?(https?:)?//""", text)
    assert "@import" not in text
    assert text.count("<script") == 2  # what it carries, and the one that runs
    (data,) = embedded(text)
    bundles = [model["bundle"] for model in data["models"]]
    assert len(bundles) == (2 if name in ("buckets", "capture") else 1)
    assert all("_esm" not in model["state"] for model in data["models"])
    assert path.stat().st_size < 500_000


def test_the_page_holds_the_widget_as_it_is_now(made):
    (data,) = embedded(pages.fragment(made["editor"]).html)
    state = data["models"][0]["state"]
    assert state["value"] == made["editor"].value
    assert state["_answer"]["completion"] == 725.0


@pytest.mark.parametrize("name", NAMES)
def test_a_drawing_is_sound_and_loads_nothing(name, made, tmp_path):
    path = tmp_path / "drawing.svg"
    made[name].save_svg(path)
    root = ET.parse(path).getroot()  # noqa: S314  # of our own making
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert float(root.get("width")) >= 600
    assert root.get("aria-label")
    assert "http" not in path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")


def test_the_drawing_of_a_timeline_says_what_the_editor_says(made):
    text = " ".join(ET.fromstring(made["editor"]._picture_svg()).itertext())  # noqa: S314  # ours
    assert "725 ms" in text
    assert "−25 ms · 1.034×, was 750 ms" in text
    assert "exchange: 300 to 625 ms" in text


def test_a_picture_is_made_from_the_drawing(made, tmp_path):
    path = tmp_path / "picture.png"
    made["quiz"].save_png(path, scale=1)
    small = path.stat().st_size
    assert path.read_bytes().startswith(b"\x89PNG")
    made["quiz"].save_png(path, scale=3)
    assert path.stat().st_size > small


@pytest.mark.parametrize("scale", [0, -1, True, "2", float("nan"), 100])
def test_a_scale_without_meaning_is_refused(scale, made, tmp_path):
    with pytest.raises(StepvizError, match=r"give a number from 0\.1 to 10"):
        made["quiz"].save_png(tmp_path / "picture.png", scale=scale)


def test_without_the_converter_it_says_what_to_install(monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **more):
        if name == "vl_convert":
            raise ModuleNotFoundError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(StepvizError, match=r"pip install 'stepviz\[charts\]'"):
        png_of("<svg/>")


def test_text_from_elsewhere_ends_no_script_and_no_title():
    text = pages.page(EVIL, [pages.Part(f"<p>{pages.escaped(EVIL)}</p>")])
    assert text.count("<script") == 0
    assert "window.bad=1</script>" not in text
    text.encode("utf-8")
    data = pages.json_text({"name": EVIL})
    assert "<" not in data
    assert "\u2028" not in data
    assert json.loads(data) == {"name": EVIL}


def test_numbers_that_json_lacks_are_refused_not_written():
    with pytest.raises(ValueError, match="JSON"):
        pages.json_text({"ms": float("nan")})


def test_each_bundle_can_stand_in_a_page():
    static = files.Path(pages.__file__).parent / "static"
    names = sorted(path.name for path in static.glob("*.js"))
    assert "page.js" in names
    for name in names:
        assert pages._function(name).startswith("(() => {")


def test_something_else_is_no_part_of_a_page():
    with pytest.raises(StepvizError, match="a page shows widgets of stepviz"):
        pages.fragment(sv.lesson())


def test_a_file_is_there_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    files.write_text(path, "before")
    monkeypatch.setattr(
        files.Path, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "full"))
    )
    with pytest.raises(StepvizError, match="cannot be written: full"):
        files.write_text(path, "after")
    assert [one.name for one in tmp_path.iterdir()] == ["page.html"]
    assert path.read_text(encoding="utf-8") == "before"


def test_a_bad_path_is_said_in_a_sentence(made, tmp_path):
    quiz = made["quiz"]
    with pytest.raises(StepvizError, match="is a folder"):
        quiz.save_html(tmp_path)
    with pytest.raises(StepvizError, match="there is no folder"):
        quiz.save_html(tmp_path / "nowhere" / "page.html")
    with pytest.raises(StepvizError, match="saved under a path"):
        quiz.save_html(3)
    with pytest.raises(StepvizError, match="saved under a path"):
        quiz.save_svg("")
    file = tmp_path / "file"
    file.write_text("", encoding="utf-8")
    with pytest.raises(StepvizError, match="there is no folder"):
        quiz.save_svg(file / "drawing.svg")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_said_in_a_sentence(made, tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(StepvizError, match="cannot be written: Permission denied"):
        made["quiz"].save_html(tmp_path / "page.html")


def test_a_new_file_has_the_rights_of_new_files_and_an_old_one_keeps_its_own(tmp_path):
    plain = tmp_path / "plain"
    plain.write_text("", encoding="utf-8")
    files.write_text(tmp_path / "new", "x")
    assert (tmp_path / "new").stat().st_mode == plain.stat().st_mode
    plain.chmod(0o640)
    files.write_text(plain, "y")
    assert plain.stat().st_mode & 0o777 == 0o640


def test_a_link_stays_one_and_leads_to_what_is_new(tmp_path):
    (tmp_path / "run-3.html").write_text("old", encoding="utf-8")
    (tmp_path / "latest.html").symlink_to("run-3.html")
    files.write_text(tmp_path / "latest.html", "new")
    assert (tmp_path / "latest.html").is_symlink()
    assert (tmp_path / "run-3.html").read_text(encoding="utf-8") == "new"


def test_what_is_no_ordinary_file_or_not_to_be_written_is_left_alone(made, tmp_path):
    pipe, kept = tmp_path / "pipe", tmp_path / "kept.html"
    os.mkfifo(pipe)
    with pytest.raises(StepvizError, match="is no ordinary file"):
        made["quiz"].save_html(pipe)
    assert pipe.is_fifo()
    kept.write_text("signed off", encoding="utf-8")
    kept.chmod(0o400)
    with pytest.raises(StepvizError, match="is read-only"):
        made["quiz"].save_html(kept)
    assert kept.read_text(encoding="utf-8") == "signed off"


@pytest.mark.parametrize("title", [5, "", " \n"])
def test_a_title_is_a_text(made, tmp_path, title):
    with pytest.raises(StepvizError, match=r"title is .*: give a text"):
        made["quiz"].save_html(tmp_path / "page.html", title=title)
    assert not list(tmp_path.iterdir())
