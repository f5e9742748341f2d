"""What of a trace travels, and what a view does while Python is far, silent, or wrong."""

from __future__ import annotations

import pytest

from stepviz.widgets.viewer_answers import PATH, Answers
from tests.browser.traces import Viewer, large_step

BLANK = """root => {
  const canvas = root.querySelector('canvas');
  const { data } = canvas.getContext('2d').getImageData(0, 60, canvas.width, canvas.height - 60);
  let coloured = 0;
  for (let k = 0; k < data.length; k += 4) {
    const [r, g, b] = data.slice(k, k + 3);
    coloured += Math.max(r, g, b) - Math.min(r, g, b) > 60;
  }
  return coloured / (data.length / 4);
}"""


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    return Answers(large_step(tmp_path_factory.mktemp("step"), 20_000))


def coloured(viewer):
    """Say which share of the lanes has a kind's colour."""
    return viewer.page.evaluate(BLANK, viewer.root.element_handle())


def test_only_what_is_seen_is_asked_for(viewer_page, answers):
    viewer = Viewer(viewer_page(answers, height=200))
    viewer.focus()
    for _ in range(6):
        viewer.page.keyboard.press("w")
    viewer.settle()
    asked = viewer.asked("blocks")[-1]
    start, finish = viewer.range
    width = finish - start
    # The screen and one more on each side; the lanes in sight, and as many above and below.
    assert asked["start"] >= start - 1.6 * width
    assert asked["finish"] <= finish + 1.6 * width
    assert len(asked["lanes"]) < len(answers.scene)
    assert asked["lanes"][0] == PATH
    content, buffers = answers.answer(asked)
    assert "error" not in content
    blocks = (len(buffers[0]) - 4 * (len(asked["lanes"]) + 1)) // 19
    assert blocks < len(asked["lanes"]) * 3 * 1400
    assert len(viewer.page.evaluate("window.messages")) < 30


def test_a_small_move_asks_for_nothing(viewer_page, answers):
    viewer = Viewer(viewer_page(answers))
    viewer.focus()
    for _ in range(5):
        viewer.page.keyboard.press("w")
    viewer.settle()
    before = len(viewer.asked("blocks"))
    viewer.page.keyboard.press("d")
    viewer.settle()
    assert len(viewer.asked("blocks")) == before


@pytest.mark.parametrize("delay", [75, 150])
def test_there_is_something_to_see_while_python_is_far(viewer_page, answers, delay):
    viewer = Viewer(viewer_page(answers, delay=delay))
    assert coloured(viewer) > 0.05
    surface = viewer.root.locator(".tv-surface").bounding_box()
    x, y = surface["x"] + surface["width"] / 2, surface["y"] + 100
    viewer.page.mouse.move(x, y)
    answered = len(viewer.asked("blocks"))
    # In one frame, long before an answer can be there: twenty steps closer.
    waiting = viewer.page.evaluate(
        """([x, y]) => new Promise(done => {
          const surface = document.querySelector('.tv-surface');
          for (let k = 0; k < 20; k++) surface.dispatchEvent(new WheelEvent('wheel', {
            clientX: x, clientY: y, deltaY: -60, ctrlKey: true, bubbles: true, cancelable: true }));
          requestAnimationFrame(() => requestAnimationFrame(() => done(
            document.querySelector('.tv').hasAttribute('data-waiting'))));
        })""",
        [x, y],
    )
    assert waiting is True  # the question is on its way
    stale = coloured(viewer)
    viewer.settle()
    assert stale > coloured(viewer) / 2 > 0
    # One question at a time, however many moves there were.
    assert len(viewer.asked("blocks")) - answered <= 3


def test_a_silent_python_is_said_to_be_and_forgiven(viewer_page, answers):
    page = viewer_page(answers)
    viewer = Viewer(page)
    page.evaluate(
        "() => { window.kept = window.onSend; window.onSend = m => (window.held ??= []).push(m); }"
    )
    viewer.focus()
    for _ in range(6):
        page.keyboard.press("w")
    viewer.role("status").get_by_text("Python is not answering").wait_for(timeout=6000)
    assert coloured(viewer) > 0.02  # what there is stays
    page.evaluate(
        "() => { window.onSend = window.kept; for (const m of window.held) window.onSend(m); }"
    )
    viewer.settle()
    page.wait_for_function("e => e.textContent === ''", arg=viewer.role("status").element_handle())


def test_a_question_that_fails_is_not_asked_for_ever(viewer_page, answers, page_problems):
    page = viewer_page(answers)
    viewer = Viewer(page)
    page.evaluate("""() => { window.onSend = ({ id }) =>
      setTimeout(() => window.stub.custom({ id, error: 'ValueError: no' }, [])); }""")
    viewer.focus()
    for _ in range(5):
        page.keyboard.press("w")
    page.wait_for_timeout(900)
    assert len(viewer.asked("blocks")) < 6
    assert coloured(viewer) > 0.02


def test_python_moves_every_view_and_searches_in_it(viewer_page, answers):
    page = viewer_page(answers, height=300)
    page.evaluate("window.stub.addView()")
    views = [Viewer(page, 0), Viewer(page, 1)]
    for view in views:
        view.settle()
    page.evaluate("stub.fromPython({ _view: { start: 1000000, finish: 3000000, number: 1 } })")
    page.evaluate("stub.fromPython({ _query: { text: 'aten::mm', number: 1 } })")
    for view in views:
        view.settle()
        assert view.range == pytest.approx((1e6, 3e6))
        page.wait_for_function(
            "e => e.textContent === '4,000'", arg=view.role("search-count").element_handle()
        )
    # Views look where they want; what is chosen is one.
    views[1].focus()
    page.keyboard.press("d")
    views[1].settle()
    assert views[0].range == pytest.approx((1e6, 3e6))
    assert views[1].range[0] > 1e6
    page.evaluate("stub.fromPython({ height: 220 })")
    page.wait_for_function("document.querySelector('.tv-frame').clientHeight < 225")


def test_a_view_that_is_hidden_draws_when_it_is_shown(viewer_page, answers):
    page = viewer_page(answers)
    page.evaluate("() => { document.querySelector('#root').style.display = 'none'; }")
    page.evaluate("window.stub.addView()")
    page.wait_for_timeout(100)
    page.evaluate("() => { document.querySelector('#root').style.display = ''; }")
    viewer = Viewer(page, 1)
    page.wait_for_function("document.querySelectorAll('.tv')[1].dataset.start !== undefined")
    viewer.settle()
    assert coloured(viewer) > 0.05


def test_nothing_is_left_of_a_view_that_is_gone(viewer_page, answers, listeners_of):
    page = viewer_page(answers)
    counts = "Object.fromEntries(Object.entries(stub.listeners).map(([k, v]) => [k, v.length]))"
    before = [listeners_of(page, "document"), listeners_of(page, "window"), page.evaluate(counts)]
    page.evaluate("window.stub.addView()")
    Viewer(page, 1).settle()
    page.evaluate("window.stub.removeView(1)")
    after = [listeners_of(page, "document"), listeners_of(page, "window"), page.evaluate(counts)]
    assert after == before
    page.evaluate("window.stub.closeModel()")
    assert set(page.evaluate(counts).values()) == {0}
    assert page.locator(".tv").count() == 0
