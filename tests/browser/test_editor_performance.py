"""A drag among a thousand bars leaves time for the rest of a frame, and every frame is right."""

from __future__ import annotations

import os
import re

import pytest

import stepviz as sv
from tests.browser.driver import Editor, chain

FRAME = 16.7  # ms at 60 per second
DRAGGED = "p0.2"
MOVES = 120

# Real pointer events as the page gets them; the time is that of the editor's own scripts, with
# whatever it leaves for the next frame or for later.
DRAG = """([name, moves]) => new Promise(resolve => {
  const root = document.querySelector('.stepviz');
  const svg = root.querySelector('[data-role=chart]');
  const grip = root.querySelector(`[data-phase="${name}"] [data-handle=end]`);
  const box = grip.getBoundingClientRect();
  const step = Math.max(1.01 * Number(root.dataset.pxPerMs), 1);
  const x = box.left + box.width / 2, y = box.top + box.height / 2;
  const send = (target, type, dx) => target.dispatchEvent(new PointerEvent(type, {
    clientX: x + dx, clientY: y, pointerId: 1, isPrimary: true, button: 0, buttons: 1,
    bubbles: true, cancelable: true, pointerType: 'mouse' }));
  svg.setPointerCapture = () => {};
  const ours = { requestAnimationFrame, setTimeout };
  let later = 0;
  for (const [call, wait] of Object.entries(ours)) {
    window[call] = (listener, ...rest) => wait.call(window, (...given) => {
      const begun = performance.now();
      listener(...given);
      later += performance.now() - begun;
    }, ...rest);
  }
  send(grip, 'pointerdown', 0);
  send(svg, 'pointermove', 5);
  const times = [], said = [];
  let k = 0;
  const frame = () => {
    if (k > 0) {
      times[k - 1] += later;
      said.push([root.querySelector('.sv-tip text').textContent,
        root.querySelector('[data-role=completion]').textContent]);
    }
    later = 0;
    if (k === moves) {
      send(svg, 'pointerup', 5 + k * step);
      Object.assign(window, ours);
      times.sort((a, b) => a - b);
      resolve({ p95: times[Math.ceil(0.95 * times.length) - 1], median: times[times.length >> 1],
        said });
      return;
    }
    const begun = performance.now();
    send(svg, 'pointermove', 5 + ++k * step);
    times.push(performance.now() - begun);
    ours.requestAnimationFrame.call(window, () => ours.setTimeout.call(window, frame));
  };
  frame();
})"""


def amount(text):
    return float(text.replace(",", ""))


def length_in(tip):
    """The length that the hand has given the bar, as the tip at the hand says it."""
    return amount(re.search(r"([\d.,]+) ms", tip)[1])


@pytest.mark.alone
def test_a_thousand_bars_drag_within_a_frame_and_each_frame_is_right(editor_page, record_property):
    value = chain(1000)
    editor = Editor(editor_page(value))
    step = sv.Timeline.from_dict(value)
    said = []
    # The best of a few: what else the machine does is not what is measured here.
    best = None
    for _ in range(6):
        result = editor.page.evaluate(DRAG, [DRAGGED, MOVES])
        said += result["said"]
        best = result if best is None else min(best, result, key=lambda one: one["p95"])
        if best["p95"] < FRAME:
            break
    record_property("median_ms", best["median"])
    record_property("p95_ms", best["p95"])

    assert len({completion for _, completion in said}) > 100  # every move was drawn
    for tip, completion in said:  # what was on the screen together
        truth = step.with_duration(DRAGGED, length_in(tip)).completion
        assert abs(amount(completion.removesuffix(" ms")) - truth) <= 0.005 + 1e-9, tip
    # Where others keep the cores busy, a frame takes as much longer as there is work for each.
    assert best["p95"] < FRAME * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
