"""The trace viewer as one uses it: look, move, ask, choose; in real Chromium, answered by Python.

The step is that of `two_ranks`: 902 µs from the first rank's start; on rank 0 the all-reduce waits
100 µs for rank 1 and then moves for 195 µs.
"""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

import stepviz as sv
from stepviz.widgets.viewer_answers import Answers
from tests.browser.traces import Viewer, with_path
from tests.traces.synthetic import two_ranks

US = 1000
EVIL = "<img src=x onerror='document.title=\"taken over\"'>"
FORWARD, BACKWARD, EXCHANGE = [27, 91, 151], [133, 58, 223], [176, 77, 3]
DARK_FORWARD = [29, 115, 173]
WAIT = {"light": [184, 132, 97], "dark": [143, 106, 84]}


@pytest.fixture(scope="module")
def step(tmp_path_factory):
    folder = tmp_path_factory.mktemp("two-ranks")
    for rank, document in two_ranks().items():
        for event in document["traceEvents"]:
            if event["name"] == "multi_tensor_apply":
                event["name"] = EVIL
        (folder / f"rank{rank}.json").write_text(json.dumps(document))
    return sv.load_run(folder).step(2)


@pytest.fixture
def answers(step):
    return with_path(
        Answers(step),
        [
            (0, "host", "between rows", 0, 100 * US),
            (0, "forward", "gemm", 100 * US, 300 * US),
            (1, "backward", "gemm", 300 * US, 750 * US),
            (1, "unexplained", "unexplained", 750 * US, 812 * US),
            (1, "optimizer", EVIL, 812 * US, 902 * US),
        ],
    )


@pytest.fixture
def lanes(answers):
    """Return by rank and name of a track its first lane; a rank's own is under ''."""
    found = {}
    for rank in answers.scene.ranks:
        found[rank.rank, ""] = rank.summary
        for track in rank.tracks:
            found[rank.rank, track.name] = track.first
    return found


@pytest.fixture
def viewer(viewer_page, answers):
    return Viewer(viewer_page(answers))


def length(viewer):
    start, finish = viewer.range
    return finish - start


def test_it_says_what_it_shows_and_draws_every_lane(viewer, lanes):
    assert "2 ranks" in viewer.root.inner_text()
    label = viewer.role("lanes").get_attribute("aria-label")
    assert "2 ranks" in label
    assert "critical path of 5 pieces" in label
    assert viewer.role("lanes").get_attribute("role") == "application"
    names = viewer.root.locator(".tv-names").inner_text().split("\n")
    for name in ("rank 0", "rank 1", "exchanges", "stream 7", "stream 20", "main thread"):
        assert any(name in one for one in names), name
    assert viewer.inks(200 * US, lanes[0, "stream 7"]) == FORWARD
    assert viewer.inks(400 * US, lanes[0, "stream 7"]) == BACKWARD
    assert viewer.inks(700 * US, lanes[1, "stream 20"]) == EXCHANGE


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_kinds_have_the_editors_colours_in_both_themes(viewer_page, answers, lanes, theme):
    viewer = Viewer(viewer_page(answers, context={"color_scheme": theme}))
    assert viewer.inks(550 * US, lanes[0, "exchanges"]) == WAIT[theme]
    forward = {"light": FORWARD, "dark": DARK_FORWARD}[theme]
    assert viewer.inks(200 * US, lanes[0, "stream 7"]) == forward


def test_a_theme_that_changes_is_followed(viewer, lanes):
    assert viewer.inks(550 * US, lanes[0, "exchanges"]) == WAIT["light"]
    viewer.page.emulate_media(color_scheme="dark")
    viewer.page.wait_for_timeout(300)
    assert viewer.inks(550 * US, lanes[0, "exchanges"]) == WAIT["dark"]


def test_hovering_tells_all_that_is_known(viewer, lanes):
    viewer.page.mouse.move(*viewer.place(200 * US, lanes[0, "stream 7"]))
    tip = viewer.role("tip")
    tip.get_by_text("correlation").wait_for()
    said = tip.inner_text()
    for word in ("gemm", "forward", "rank 0", "stream 7", "0.1 ms", "200 µs"):
        assert word in said, word
    viewer.page.mouse.move(*viewer.place(550 * US, lanes[0, "exchanges"]))
    tip.get_by_text("waiting for").wait_for()
    said = tip.inner_text()
    for word in ("all-reduce", "wait", "transfer", "0.195 ms", "rank 1", "4 kB"):
        assert word in said, word
    viewer.page.wait_for_function(
        "e => e.textContent.includes('all-reduce, wait, rank 0, exchanges')",
        arg=viewer.role("live").element_handle(),
    )
    viewer.page.mouse.move(2, 2)
    assert tip.is_hidden()


def test_names_from_a_trace_are_text(viewer, lanes):
    viewer.page.mouse.move(*viewer.place(860 * US, lanes[0, "stream 7"]))
    viewer.role("tip").get_by_text("correlation").wait_for()
    assert EVIL in viewer.role("tip").inner_text()
    viewer.click(860 * US, lanes[0, "stream 7"])
    viewer.focus()
    viewer.page.keyboard.press("t")
    viewer.role("table").get_by_text(EVIL).wait_for()
    assert viewer.root.locator("img").count() == 0
    assert viewer.page.title() != "taken over"


def test_a_click_chooses_and_python_hears_of_it(viewer, lanes):
    viewer.click(200 * US, lanes[0, "stream 7"])
    assert viewer.chosen == {
        "start": 100 * US, "finish": 300 * US, "lane": lanes[0, "stream 7"], "name": "gemm",
        "kind": "forward",
    }  # fmt: skip
    viewer.role("details").get_by_text("correlation").wait_for()
    expect(viewer.role("live")).to_contain_text("gemm")
    assert len(viewer.page.evaluate("window.commits")) == 1
    viewer.page.keyboard.press("Escape")
    assert viewer.chosen is None


def test_dragging_moves_and_shift_measures(viewer, lanes):
    before = viewer.range
    x, y = viewer.place(450 * US, lanes[0, "stream 7"])
    mouse = viewer.page.mouse
    viewer.page.keyboard.press("Escape")
    viewer.focus()
    for _ in range(2):
        viewer.page.keyboard.press("w")
    viewer.settle()
    before = viewer.range
    mouse.move(x, y)
    mouse.down()
    mouse.move(x - 100, y, steps=5)
    mouse.up()
    width = viewer.root.locator("canvas").bounding_box()["width"]
    moved = 100 * (before[1] - before[0]) / width
    assert viewer.range[0] == pytest.approx(before[0] + moved, rel=1e-6)
    assert length(viewer) == pytest.approx(before[1] - before[0])
    assert viewer.chosen is None  # no click
    before = viewer.range
    viewer.page.keyboard.down("Shift")
    mouse.move(x, y)
    mouse.down()
    mouse.move(x + 100, y, steps=5)
    mouse.up()
    viewer.page.keyboard.up("Shift")
    assert viewer.range == before
    chosen = viewer.chosen
    assert chosen["lane"] is None
    assert chosen["finish"] - chosen["start"] == pytest.approx(moved, abs=2)
    viewer.page.keyboard.press("f")
    viewer.settle()
    assert viewer.range == pytest.approx((chosen["start"], chosen["finish"]), abs=2)


def test_the_wheel_zooms_at_the_pointer_with_ctrl_and_is_the_pages_without(viewer, lanes):
    time = 300 * US
    x, y = viewer.place(time, lanes[0, "stream 7"])
    before = length(viewer)
    viewer.page.mouse.move(x, y)
    viewer.page.evaluate("""() => { window.passed = [];
      document.addEventListener('wheel', e => window.passed.push(e.defaultPrevented)); }""")
    viewer.page.mouse.wheel(0, 120)
    viewer.page.wait_for_timeout(60)
    assert length(viewer) == before
    viewer.page.keyboard.down("Control")
    viewer.page.mouse.wheel(0, -120)
    viewer.page.keyboard.up("Control")
    viewer.settle()
    assert length(viewer) < before / 1.3
    assert viewer.place(time, lanes[0, "stream 7"])[0] == pytest.approx(x, abs=0.5)
    assert viewer.page.evaluate("window.passed") == [False, True]


def test_keys_move_and_zoom_and_stay_in_the_viewer(viewer):
    page = viewer.page
    page.evaluate("""() => { window.heard = [];
      document.addEventListener('keydown', e => window.heard.push(e.key)); }""")
    viewer.focus()
    whole = viewer.range

    def press(*keys):
        for key in keys:
            page.keyboard.press(key)
        viewer.settle()
        return viewer.range

    closer = press("w", "w")
    assert closer[1] - closer[0] == pytest.approx((whole[1] - whole[0]) / 2.25, rel=1e-6)
    assert press("d")[0] > closer[0]
    assert press("a") == pytest.approx(closer)
    assert press("ArrowRight")[0] > closer[0]
    assert press("ArrowLeft") == pytest.approx(closer)
    assert press("s", "-")[0] == pytest.approx(whole[0], rel=1e-3)
    assert press("+", "+", "0") == pytest.approx(whole)
    assert press("=", "Home") == pytest.approx(whole)
    for key in ("b", "x", "m", "d", "d"):  # a notebook's own
        page.keyboard.press(key)
    assert page.evaluate("window.heard") == []
    shield = "document.activeElement.getAttribute('data-lm-suppress-shortcuts')"
    assert page.evaluate(shield) == "true"
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.dataset.role") == "search"
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.dataset.role") == "lanes"


def test_pieces_are_gone_through_by_keys(viewer, lanes):
    viewer.click(200 * US, lanes[0, "stream 7"])
    page = viewer.page
    page.keyboard.press("Shift+ArrowRight")
    assert (viewer.chosen["start"], viewer.chosen["kind"]) == (300 * US, "backward")
    page.keyboard.press("Shift+ArrowLeft")
    assert viewer.chosen["start"] == 100 * US
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Shift+ArrowDown")
    assert viewer.chosen["lane"] == lanes[0, "stream 20"]
    expect(viewer.role("live")).to_contain_text("rank 0, stream 20")


def test_a_search_counts_marks_and_goes_from_match_to_match(viewer, lanes):
    page = viewer.page
    viewer.focus()
    page.keyboard.press("/")
    page.keyboard.type("allreduce")
    page.wait_for_function(
        "e => /^\\d+$/.test(e.textContent)", arg=viewer.role("search-count").element_handle()
    )
    total = int(viewer.text("search-count"))
    assert total >= 4  # a launch and a kernel on each rank
    viewer.settle()
    red, green, blue = viewer.inks(400 * US, lanes[0, "stream 7"])
    assert red == green == blue  # what is not meant is grey
    assert viewer.inks(700 * US, lanes[1, "stream 20"]) == EXCHANGE
    visited = []
    said = ""
    for _ in range(total + 1):
        page.keyboard.press("Enter")
        page.wait_for_function(
            "([e, before]) => e.textContent.includes(' of ') && e.textContent !== before",
            arg=[viewer.role("search-count").element_handle(), said],
        )
        said = viewer.text("search-count")
        viewer.settle()
        chosen = viewer.chosen
        assert "allreduce" in chosen["name"].lower()
        assert viewer.range[0] <= chosen["start"] <= viewer.range[1]
        visited.append((chosen["lane"], chosen["start"]))
    assert len(set(visited)) == total
    assert visited[0] == visited[-1]
    page.keyboard.press("Shift+Enter")
    page.wait_for_function("at => stub.model.get('_selected').start === at", arg=visited[-2][1])
    page.keyboard.press("Escape")
    assert viewer.text("search-count") == ""


def test_nothing_found_is_said(viewer):
    viewer.role("search").fill("no such kernel")
    viewer.role("search-count").get_by_text("none").wait_for()


def test_kinds_are_left_out_by_the_legend(viewer, lanes):
    backward = viewer.root.locator('[data-kind="backward"]')
    assert backward.get_attribute("aria-pressed") == "true"
    background = viewer.inks(50 * US, lanes[0, "stream 7"])
    backward.click()
    viewer.settle()
    assert backward.get_attribute("aria-pressed") == "false"
    assert viewer.inks(430 * US, lanes[0, "stream 7"]) == background
    assert viewer.inks(200 * US, lanes[0, "stream 7"]) == FORWARD
    assert viewer.asked("blocks")[-1]["hidden"] != []
    viewer.root.locator('[data-kind="exchange"]').click(modifiers=["Shift"])
    viewer.settle()
    assert viewer.inks(230 * US, lanes[0, "stream 7"]) == background
    assert viewer.inks(700 * US, lanes[1, "stream 20"]) == EXCHANGE


def test_a_rank_is_folded_and_unfolded(viewer, lanes):
    rank = viewer.root.locator('.tv-names [data-role="rank"]').first
    shown = viewer.root.locator(f'.tv-names [data-lane="{lanes[0, "stream 7"]}"]')
    assert rank.get_attribute("aria-expanded") == "true"
    rank.click()
    shown.wait_for(state="detached")
    assert rank.get_attribute("aria-expanded") == "false"
    assert viewer.page.evaluate("document.activeElement.textContent") == "rank 0"
    viewer.page.keyboard.press("ArrowRight")  # as in every tree
    shown.wait_for()
    assert viewer.inks(200 * US, lanes[0, "stream 7"]) == FORWARD


LINE = """([root, x, from, to]) => {
  const canvas = root.querySelector('canvas'), box = canvas.getBoundingClientRect();
  const dark = ([r, g, b]) => r < 60 && g < 60 && b < 60;
  const context = canvas.getContext('2d');
  let count = 0;
  for (let y = Math.round(from - box.top); y < to - box.top; y++) {
    const row = context.getImageData(Math.round(x - box.left) - 1, y, 3, 1).data;
    count += [0, 4, 8].some(k => dark([...row.slice(k, k + 3)]));
  }
  return count / (to - from);
}"""


def test_the_path_is_drawn_from_rank_to_rank(viewer, lanes):
    page = viewer.page

    def line(time):
        x, from_ = viewer.place(time, lanes[0, "stream 7"])
        _, to = viewer.place(time, lanes[1, "stream 7"])
        return page.evaluate(LINE, [viewer.root.element_handle(), x, from_, to - 14])

    assert line(300 * US) > 0.9  # where it goes on from rank 0 to rank 1
    assert line(500 * US) < 0.3
    viewer.role("path").click()
    page.wait_for_timeout(100)
    assert line(300 * US) < 0.3


def test_the_path_is_walked_by_keys_and_read_as_a_table(viewer, lanes):
    page = viewer.page
    viewer.focus()
    seen = []
    for _ in range(5):
        page.keyboard.press("]")
        page.wait_for_function("n => window.commits.length === n", arg=len(seen) + 1)
        seen.append(viewer.chosen)
    assert [one["start"] for one in seen] == [0, 100 * US, 300 * US, 750 * US, 812 * US]
    assert [one["kind"] for one in seen][1:3] == ["forward", "backward"]
    assert seen[2]["lane"] == lanes[1, "stream 7"]
    page.keyboard.press("[")
    page.wait_for_function("window.stub.model.get('_selected').start === 750000")
    page.keyboard.press("t")
    table = viewer.role("table").locator("table")
    table.locator("tbody tr").nth(4).wait_for()
    assert table.locator("th").all_inner_texts()[:5] == [
        "rank",
        "kind",
        "name",
        "start",
        "duration",
    ]
    assert "sum to the step" in table.locator("caption").inner_text()
    row = table.locator("tbody tr").nth(2)
    assert row.locator("td").all_inner_texts()[:5] == ["1", "backward", "gemm", "0.3 ms", "450 µs"]
    row.locator("button").click()
    viewer.settle()
    assert viewer.range[0] < 300 * US < 750 * US < viewer.range[1]


def test_a_step_without_a_path_says_so(viewer_page, answers):
    answers.path = type(answers.path).missing("the critical path is not computed yet")
    viewer = Viewer(viewer_page(answers))
    assert viewer.text("note") == "the critical path is not computed yet"
    viewer.focus()
    viewer.page.keyboard.press("t")
    assert "No critical path" in viewer.role("table").inner_text()


def test_less_motion_means_none(viewer_page, answers):
    viewer = Viewer(viewer_page(answers, context={"reduced_motion": "reduce"}))
    before = length(viewer)
    viewer.focus()
    seen = viewer.page.evaluate("""() => new Promise(done => {
      const root = document.querySelector('.tv'), seen = new Set();
      const key = new KeyboardEvent('keydown', { key: 'w', bubbles: true, cancelable: true });
      document.querySelector('[data-role=lanes]').dispatchEvent(key);
      let k = 0;
      const look = () => { seen.add(root.dataset.start);
        if (++k < 8) requestAnimationFrame(look); else done(seen.size); };
      requestAnimationFrame(look);
    })""")
    assert seen <= 2  # before and after
    assert length(viewer) == pytest.approx(before / 1.5)
