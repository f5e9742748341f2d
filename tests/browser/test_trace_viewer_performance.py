"""A hundred thousand intervals pan and zoom at thirty frames a second or better."""

from __future__ import annotations

import pytest

from stepviz.widgets.viewer_answers import Answers
from tests.browser.traces import Viewer, large_step

INTERVALS = 100_000
FRAME = 1000 / 30  # ms

# Times every callback of an animation frame: the viewer draws in them.
TIMED = """() => {
  const ask = window.requestAnimationFrame.bind(window);
  window.spent = 0;
  window.requestAnimationFrame = run => ask(now => {
    const begun = performance.now();
    run(now);
    window.spent += performance.now() - begun;
  });
}"""

# Real pointer and wheel events, one a frame; `spent` is what the viewer's scripts took for each.
GESTURE = """([kind, moves]) => new Promise(resolve => {
  const surface = document.querySelector('.tv-surface');
  const box = surface.getBoundingClientRect();
  const x = box.left + box.width / 2, y = box.top + 200;
  const send = (type, dx) => surface.dispatchEvent(new PointerEvent(type, {
    clientX: x + dx, clientY: y, pointerId: 1, isPrimary: true, button: 0, buttons: 1,
    bubbles: true, cancelable: true, pointerType: 'mouse' }));
  const wheel = delta => surface.dispatchEvent(new WheelEvent('wheel', {
    clientX: x, clientY: y, deltaY: delta, ctrlKey: true, bubbles: true, cancelable: true }));
  const times = [], gaps = [], seen = new Set();
  const root = document.querySelector('.tv');
  let k = 0, before = performance.now();
  if (kind === 'pan') send('pointerdown', 0);
  const step = () => {
    const now = performance.now();
    if (k > 0) {
      times.push(window.spent);
      gaps.push(now - before);
      seen.add(root.dataset.start + root.dataset.finish);
    }
    before = now;
    window.spent = 0;
    if (k === moves) {
      if (kind === 'pan') send('pointerup', 0);
      const middle = list => list.sort((a, b) => a - b)[list.length >> 1];
      const slow = list => list[Math.ceil(0.95 * list.length) - 1];
      resolve({ frames: seen.size, script: middle(times), script95: slow(times),
        frame: middle(gaps), frame95: slow(gaps),
        fps: 1000 * gaps.length / gaps.reduce((a, b) => a + b, 0) });
      return;
    }
    k++;
    const begun = performance.now();
    if (kind === 'pan') send('pointermove', 240 * Math.sin(k / 9));
    else wheel(k <= moves / 2 ? -60 : 60);
    window.spent += performance.now() - begun;
    setTimeout(() => requestAnimationFrame(() => setTimeout(step)));
  };
  step();
})"""


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    made = Answers(large_step(tmp_path_factory.mktemp("large"), INTERVALS))
    assert made.scene.intervals >= INTERVALS
    return made


def unfolded(viewer_page, answers):
    """Return a page with every lane on it."""
    page = viewer_page(answers, height=620, context={"viewport": {"width": 1400, "height": 900}})
    viewer = Viewer(page)
    for _ in range(20):
        closed = viewer.root.locator(".tv-names [aria-expanded=false]")
        if closed.count() == 0:
            break
        closed.first.click()
    viewer.settle()
    page.evaluate(TIMED)
    return viewer


@pytest.mark.alone
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["pan", "zoom"])
def test_a_hundred_thousand_intervals_move_at_thirty_frames_a_second(
    viewer_page, answers, record_property, kind
):
    viewer = unfolded(viewer_page, answers)
    if kind == "pan":
        viewer.focus()
        for _ in range(2):
            viewer.page.keyboard.press("w")
        viewer.settle()
    # The best of a few: what else the machine does is not what is measured here.
    best = viewer.page.evaluate(GESTURE, [kind, 120])
    for _ in range(5):
        if best["script95"] < FRAME / 2 and best["fps"] >= 40:
            break
        again = viewer.page.evaluate(GESTURE, [kind, 120])
        best = max(best, again, key=lambda result: result["fps"])
    for name, value in best.items():
        record_property(name, round(value, 2))
    assert best["frames"] > 100  # every move was drawn
    assert best["script95"] < FRAME
    assert best["fps"] >= 30
