"""What ears get of each widget: names, few words at the right time, and tables for the pictures."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

import stepviz as sv
from tests.browser.driver import Editor, chain
from tests.browser.reach import LISTEN, open_widget, settle
from tests.browser.traces import Viewer


def cells(table):
    return table.evaluate(
        """table => [...table.querySelectorAll('tbody tr')].map(row =>
          [...row.children].map(cell => cell.textContent))"""
    )


# Tables


def test_the_editors_tables_follow_what_is_dragged(request):
    page = open_widget(request, "editor")
    editor = Editor(page)
    editor.role("table-toggle").click()
    before = {row[0]: row for row in cells(editor.role("phases"))}
    assert before["optimizer"][4:7] == ["650", "750", "100"]
    arrows = cells(editor.role("arrows"))
    assert ["backward", "exchange", "SS", "100", "0", "yes", "assumed"] in arrows
    assert len(arrows) == len(editor.value["dependencies"])
    editor.drag("optimizer", "end", -50)
    after = {row[0]: row for row in cells(editor.role("phases"))}
    assert after["optimizer"][4:7] == ["650", "700", "50"]
    editor.page.locator("[data-table-arrow]").nth(1).click()
    expect(editor.role("arrow-meaning")).to_be_visible()


def test_the_viewers_tables_are_of_what_is_in_sight(request):
    page = open_widget(request, "viewer")
    viewer = Viewer(page)
    viewer.focus()
    page.keyboard.press("t")
    page.wait_for_selector('[data-role="sight"] tbody tr')
    rows = cells(viewer.role("sight"))
    lanes = {name.strip() for name in page.locator(".tv-names .tv-name-text").all_inner_texts()}
    assert 20 < len(rows) <= 400
    assert {row[0] for row in rows} <= lanes
    wide = viewer.role("sight").locator("caption").inner_text()
    assert "In sight:" in wide
    assert "shorter pieces left out" in wide
    path = cells(viewer.role("table"))
    assert len(path) > 3

    for _ in range(6):
        page.keyboard.press("w")
    viewer.settle()
    page.wait_for_function(
        "was => document.querySelector('[data-role=sight] caption').innerText !== was", arg=wide
    )
    start, finish = viewer.range
    page.wait_for_function(
        """([start, finish]) => [...document.querySelectorAll('[data-role=sight] .tv-at')]
          .every(at => { const ms = parseFloat(at.innerText.replace('−', '-').replace(',', ''));
            return ms * 1e6 < finish; })""",
        arg=[start, finish],
    )
    first = viewer.role("sight").locator(".tv-at").first
    first.click()
    assert viewer.chosen["start"] <= finish


def test_masks_are_counted_in_a_table(knob_page):
    tokens = sv.TokenComparison()
    page = knob_page(tokens)
    page.get_by_text("The masks as a table").click()
    table = page.locator('[data-role="cells"]')
    # the lesson: two rows of four with one pad each; packed, six positions in one row
    rows = cells(table)
    for name, expected in (("as it is", 8), ("packed", 6)):
        own = [row for row in rows if name in row[0]]
        assert sum(int(cell) for row in own for cell in row[2:]) == expected
    page.locator('[data-knob="padding"]').first.focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    settle(page)
    page.wait_for_function(
        "was => document.querySelector('[data-role=cells] tbody').innerText !== was",
        arg="\n".join("\t".join(row) for row in rows),
    )


def test_how_each_number_of_a_plan_came_is_in_a_table(knob_page):
    planner = sv.RunPlanner()
    page = knob_page(planner)
    page.get_by_text("The same as a table").click()
    rows = {row[0]: row[1:] for row in cells(page.locator('[data-role="ways"]'))}
    assert rows["The answer"][:2] == ["6.33 days", "6N_all, elapsed"]
    assert rows["Work"][0] == "4.2e21 FLOP"
    assert rows["Work"][2] == planner.plan.flops.how


PICTURES = {"editor": 2, "viewer": 1, "tokens": 2, "planner": 2, "buckets": 1}


@pytest.mark.parametrize("name", PICTURES)
def test_every_picture_has_a_name(request, name):
    page = open_widget(request, name)
    if name == "editor":
        Editor(page).choose("exchange")
    found = page.locator(".stepviz").evaluate(
        """root => [...root.querySelectorAll('svg, canvas, [role=img], [role=application]')]
          .filter(e => e.checkVisibility() && !e.closest('[aria-hidden=true]')
            && !e.parentElement.closest('[role=img]'))
          .map(e => e.getAttribute('aria-label') ?? '')"""
    )
    assert len(found) >= PICTURES[name]
    assert all(len(label) > 5 for label in found)


# Few words, and none twice


def spoken(page):
    page.wait_for_timeout(900)  # longer than anything waits before it is said
    return [one for one in page.evaluate("window.spoken") if one.strip()]


def test_going_through_many_pieces_says_the_last_one(request):
    page = open_widget(request, "viewer")
    viewer = Viewer(page)
    viewer.focus()
    page.keyboard.press("Enter")
    page.wait_for_function("window.stub.model.get('_selected') !== null")
    expect(viewer.role("live")).not_to_be_empty()
    page.evaluate(LISTEN)
    page.evaluate(
        """() => {
          const lanes = document.querySelector('[data-role=lanes]');
          for (let k = 0; k < 25; k++) lanes.dispatchEvent(
            new KeyboardEvent('keydown', { key: 'ArrowRight', shiftKey: true, bubbles: true }));
        }"""
    )
    said = spoken(page)
    assert len(said) == 1
    assert viewer.chosen["name"] in said[0]


def test_a_key_held_down_in_the_editor_says_one_result(editor_page):
    editor = Editor(editor_page(chain(40)))
    editor.focus("p0.3")
    editor.page.evaluate(LISTEN)
    editor.page.evaluate(
        """() => {
          const press = (type, repeat) => document.activeElement.dispatchEvent(new KeyboardEvent(
            type, { key: ']', code: 'BracketRight', repeat, bubbles: true, cancelable: true }));
          for (let k = 0; k < 30; k++) press('keydown', k > 0);
          press('keyup', false);
        }"""
    )
    said = spoken(editor.page)
    assert len(said) == 1
    assert "p0.3" in said[0]


def test_a_refusal_is_said_once(request):
    page = open_widget(request, "editor")
    editor = Editor(page)
    editor.choose("exchange")
    page.evaluate(LISTEN)
    editor.role("duration").fill("nonsense")
    page.keyboard.press("Enter")
    expect(editor.role("message")).to_contain_text("can’t be read as a number")
    assert len([one for one in spoken(page) if "nonsense" in one]) == 1
    assert editor.role("message").get_attribute("role") is None  # an alert would say it again


@pytest.mark.parametrize(("name", "knob"), [("tokens", "padding"), ("planner", "mfu")])
def test_a_slider_that_is_dragged_is_said_once_it_rests(request, name, knob):
    page = open_widget(request, name)
    slider = page.locator(f'input[type="range"][data-knob="{knob}"]')
    slider.focus()
    page.evaluate(LISTEN)
    slider.evaluate(
        """slider => {
          for (let k = 0; k < 3; k++) {
            slider.value = Number(slider.value) + 1;
            slider.dispatchEvent(new Event('input'));
          }
          slider.dispatchEvent(new Event('change'));
        }"""
    )
    settle(page)
    page.wait_for_function("window.spoken.some(one => one.trim())")
    assert len(spoken(page)) == 1
    assert slider.get_attribute("aria-valuetext")


# Calm, and in the reader's own colours


@pytest.mark.parametrize("name", ["editor", "viewer", "tokens", "planner", "buckets", "capture"])
def test_nothing_moves_by_itself_for_those_who_want_it_calm(request, name):
    page = open_widget(request, name, reduced_motion="reduce")
    moving = page.locator(".stepviz").evaluate(
        """root => [root, ...root.querySelectorAll('*')]
          .filter(e => !e.closest('.tv-probes')).flatMap(e => [[e, ''], [e, '::before']])
          .map(([e, part]) => [e, getComputedStyle(e, part || undefined)])
          .filter(([, style]) => style.animationName !== 'none'
            || style.transitionDuration.split(',').some(time => parseFloat(time) > 0))
          .map(([e]) => e.outerHTML.slice(0, 100))"""
    )
    assert moving == []


def test_the_viewer_is_there_at_once_for_those_who_want_it_calm(request):
    page = open_widget(request, "viewer", reduced_motion="reduce")
    viewer = Viewer(page)
    viewer.focus()
    ranges = page.evaluate(
        """async () => {
          const root = document.querySelector('.tv'), seen = [];
          document.activeElement.dispatchEvent(
            new KeyboardEvent('keydown', { key: 'w', bubbles: true }));
          for (let k = 0; k < 6; k++) {
            await new Promise(requestAnimationFrame);
            await new Promise(done => setTimeout(done));
            seen.push(root.dataset.start);
          }
          return seen;
        }"""
    )
    assert len(set(ranges)) == 1


INKS = """canvas => {
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  const found = new Map();
  for (let k = 0; k < data.length; k += 4) {
    const ink = `${data[k]},${data[k + 1]},${data[k + 2]}`;
    found.set(ink, (found.get(ink) ?? 0) + 1);
  }
  return [...found].filter(([, count]) => count > 400).map(([ink]) => ink);
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_high_contrast_has_the_readers_colours_whatever_the_theme(request, scheme):
    page = open_widget(request, "viewer", "high contrast", color_scheme=scheme)
    Viewer(page).settle()
    inks = page.locator("canvas.tv-canvas").evaluate(INKS)
    ground = {"light": "255,255,255", "dark": "0,0,0"}[scheme]
    assert ground in inks
    assert len(inks) > 4  # kinds keep their fills

    page = open_widget(request, "editor", "high contrast", color_scheme=scheme)
    looks = page.locator(".stepviz").evaluate(
        """root => {
          const of = (selector, what) => getComputedStyle(root.querySelector(selector))[what];
          return {
            ground: getComputedStyle(root).backgroundColor, lane: of('.sv-lane-name', 'fill'),
            edge: of('.sv-bar > .sv-fill', 'stroke'),
            forward: of('.sv-k-forward > .sv-fill', 'fill'),
            backward: of('.sv-k-backward > .sv-fill', 'fill'),
          };
        }"""
    )
    paper, ink = ("rgb(255, 255, 255)", "rgb(0, 0, 0)")[:: 1 if scheme == "light" else -1]
    assert (looks["ground"], looks["lane"], looks["edge"]) == (paper, ink, ink)
    assert looks["forward"] != looks["backward"]
