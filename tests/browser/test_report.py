"""A report opened from a disk, as whoever gets the ticket does: it reads, drags and prints."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

import stepviz as sv
from tests.browser.driver import Editor
from tests.browser.reach import findings
from tests.traces.synthetic import two_ranks

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = (
    '<img src=x onerror="window.pwned=1"></script><script>window.pwned=1</script>'
    '<svg onload=window.pwned=1><a href="javascript:window.pwned=1">{{7*7}}${alert(1)}'
)


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> Path:
    return sv.report(sv.sample_run(), tmp_path_factory.mktemp("report") / "step.html")


@pytest.fixture
def opened(new_page):
    """Open a file from the disk with the network off; wait until its timeline can be dragged."""

    def load(path, **options):
        scripts = options.get("java_script_enabled", True)
        page = new_page(offline=True, **options)
        page.goto(path.as_uri())
        if scripts:
            page.wait_for_selector(".stepviz[data-px-per-ms]")
        return page

    return load


def test_it_drags_and_takes_back_without_a_kernel(opened, base):
    page = opened(base)
    editor = Editor(page)
    timeline = sv.sample_run().step().timeline()
    before = editor.completion
    schedule = timeline.schedule()
    assert float(before.split()[0].replace(",", "")) == pytest.approx(schedule.completion, abs=0.01)
    longest = timeline.phases[timeline.phases["kind"] == "forward"]["duration"].idxmax()
    phases = timeline.to_dict()["phases"]
    name = phases[longest]["phase"] if isinstance(longest, int) else str(longest)
    editor.bar(name).scroll_into_view_if_needed()
    editor.drag(name, "end", 20)
    page.wait_for_function(
        "before => document.querySelector('[data-role=completion]').textContent.trim() !== before",
        arg=before,
    )
    longer = float(editor.completion.split()[0].replace(",", ""))
    assert longer > schedule.completion + 5
    page.keyboard.press("Control+z")
    expect(editor.role("completion")).to_have_text(before)


def test_names_of_strangers_do_nothing(opened, tmp_path, page_problems):
    """Kernels, process groups, devices, folders and files named like markup and script."""
    documents = two_ranks()
    for one in documents.values():
        one["distributedInfo"]["pg_config"][0]["pg_desc"] = HOSTILE
        one["deviceProperties"] = [{"id": 0, "name": HOSTILE}]
        for event in one["traceEvents"]:
            if event["name"] in ("gemm", "multi_tensor_apply", "aten::mm"):
                event["name"] = f"{event['name']} {HOSTILE}"
            if "Process Group Description" in event["args"]:
                event["args"]["Process Group Description"] = HOSTILE
    folder = tmp_path / "<img src=x onerror=window.pwned=1>"
    folder.mkdir()
    for rank, one in documents.items():
        (folder / f"rank{rank}<svg onload=window.pwned=1>.json").write_text(json.dumps(one))
    path = sv.report(sv.load_run(folder), tmp_path / "step.html")
    requests = []
    page = opened(path)
    page.on("request", lambda request: requests.append(request.url))
    editor = Editor(page)
    editor.root.locator("[data-phase]").first.focus()
    page.keyboard.press("Enter")
    assert "gemm <img src=x onerror" in page.locator("#names").inner_text()
    assert page.evaluate("window.pwned") is None
    assert page.locator(".report img, .report iframe, .report a[href^=javascript]").count() == 0
    assert page.locator("script").count() == 1  # ours: the timeline's data are taken out by it
    assert requests == []
    assert page_problems == []
    assert page.locator("#files tbody th").first.inner_text().startswith("rank0<svg onload")
    assert "<img src=x" in page.locator("h1").inner_text()


def test_paper_shows_the_drawing(opened, base):
    page = opened(base)
    still, live = page.locator(".still svg"), page.locator(".stepviz")
    expect(still).to_be_hidden()
    expect(live).to_be_visible()
    page.emulate_media(media="print")
    expect(still).to_be_visible()
    expect(live).to_be_hidden()
    assert page.locator("nav").is_hidden()
    assert page.pdf()[:5] == b"%PDF-"


def test_without_scripts_it_reads(opened, base):
    page = opened(base, java_script_enabled=False)
    expect(page.locator(".still svg")).to_be_visible()
    expect(page.locator(".report .live").first).to_be_hidden()
    expect(page.get_by_role("heading", level=1)).to_contain_text("step 6")
    assert page.get_by_role("table").count() >= 12


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_follows_the_readers_theme(opened, base, scheme):
    page = opened(base, color_scheme=scheme)
    paper, ink = page.evaluate(
        """() => {
            const light = (color) => Math.max(...color.match(/\\d+/g).slice(0, 3).map(Number));
            const style = getComputedStyle(document.body);
            return [light(style.backgroundColor), light(style.color)];
        }"""
    )
    assert (paper > 240 and ink < 40) if scheme == "light" else (paper < 40 and ink > 230)


@pytest.mark.parametrize("width", [360, 768])
def test_a_narrow_page_scrolls_tables_alone(opened, base, width):
    page = opened(base, viewport={"width": width, "height": 800})
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= width
    # What scrolls can be reached from the keyboard.
    assert page.locator(".scroll:not([tabindex='0'])").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("media", ["screen", "print"])
def test_axe_finds_nothing_serious(opened, base, scheme, media):
    page = opened(base, color_scheme=scheme)
    page.emulate_media(media=media)
    assert findings(page, "html") == []
