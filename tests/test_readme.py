"""The README's and the tour's Python runs from top to bottom and says what its comments say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import stepviz as sv

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
PAGES = [README, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("name", ["README.md", "docs/tour.md"])
def test_its_python_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it writes a file
    text = (ROOT / name).read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) >= 4
    names = {}
    for block in blocks:
        # The reader's folder is not there; the sample that its comment names is.
        code = block.replace('sv.load_run("traces/")', "sv.sample_run()")
        exec(compile(code, name, "exec"), names)  # noqa: S102 - our own text
    assert names["editor"].schedule.completion == 750.0
    assert names["run"].ranks == [0, 1]


def test_the_tour_knows_all_that_the_readme_tries():
    """One is copied from the other; neither may go on alone."""
    tour = (ROOT / "docs" / "tour.md").read_text(encoding="utf-8")
    lines = {line.strip() for line in tour.splitlines()}
    blocks = re.findall(
        r"```(?:python|py|sh)\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL
    )
    tried = [line.strip() for block in blocks for line in block.splitlines() if line.strip()]
    assert [line for line in tried if line not in lines and not line.startswith("make ")] == []


def test_the_numbers_of_the_tour():
    step = sv.lesson()
    changes = {"e": sv.shorten("exchange", 100), "b": sv.shorten("backward", 100)}
    assert sv.compare(step, changes)["gain"].tolist() == [50.0, 0.0, 100.0]
    assert step.apply(sv.set_duration("optimizer", 50)).completion == 700.0
    found = [
        sv.lesson(model).apply(sv.shorten(kind="exchange", ms=25)).completion
        for model in ("release", "ss-ff", "buckets")
    ]
    assert [round(ms, 2) for ms in found] == [725.0, 750.0, 746.43]


def test_the_numbers_about_changes_and_tokens():
    pipeline = sv.builders.pipeline(
        schedule="1f1b", stages=4, microbatches=8, forward=1, backward=2
    )
    assert pipeline.completion == 33.0
    ranked = sv.rank_changes(sv.lesson(), ms=100)["gain"]
    assert ranked[["exchange", "backward", "backward + exchange"]].tolist() == [50.0, 0.0, 100.0]
    assert sv.verdict(sv.sample_run("long tail"), sv.sample_run("short tail")).decision == "revert"
    rates = sv.TokenComparison().table
    assert rates.loc["scored targets per second", ["before", "after"]].round().tolist() == [
        500,
        667,
    ]
    plan = sv.TrainingPlan(parameters=7e9, tokens=100e9, devices=64, peak=300e12, mfu=0.4)
    assert plan.band()["days"].round(2).tolist() == [5.27, 6.33, 7.91]
    llama = sv.ModelShape(
        layers=32, hidden=4096, heads=32, kv_heads=8, ffn=14336, gated=True, vocab=128256
    )
    h100 = sv.peak("H100 SXM", "bf16")
    used = sv.mfu(llama, convention="palm", tokens_per_second=8192, sequence=8192, peak=h100)
    found = [100 * used.value, 100 * sv.translate(used, "palm", "causal").value]
    assert [round(value, 2) for value in found] == [50.56, 42.62]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_file_it_links_to_is_there(page):
    text = page.read_text(encoding="utf-8")
    linked = re.findall(r"\]\(([^)#:\s]+)\)", text)
    assert [path for path in linked if not (page.parent / path).exists()] == []


def test_the_readme_leads_to_every_notebook_and_guide():
    text = README.read_text(encoding="utf-8")
    for notebook in sorted((ROOT / "notebooks").glob("*.ipynb")):
        assert f"(notebooks/{notebook.name})" in text
    assert "(docs/tour.md)" in text
    assert "(docs/binder.md)" in text


def test_contributing_names_every_room_and_no_file_that_is_gone():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (tree,) = re.findall(r"```\nstepviz/\n(.*?)```", text, re.DOTALL)
    rooms = {path.name for path in (ROOT / "stepviz").iterdir() if path.is_dir()} - {"__pycache__"}
    assert [room for room in sorted(rooms) if f"  {room}/" not in tree] == []
    named = re.findall(r"`((?:[\w.-]+/)+[\w.-]*)`", text)
    assert "tests/builders/test_wrong_inputs.py" in named
    made = (".venv", "build/")
    gone = [
        path
        for path in named
        if "NAME" not in path and not path.startswith(made) and not (ROOT / path).exists()
    ]
    assert gone == []
