"""A drag among a thousand bars leaves time for the rest of a frame."""

from __future__ import annotations

import pytest

from tests.browser.driver import Editor, chain

FRAME = 16.7  # ms at 60 per second

# Real pointer events as the page gets them; the time is that of the editor's own scripts.
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
  send(grip, 'pointerdown', 0);
  send(svg, 'pointermove', 5);
  const times = [], texts = new Set();
  let k = 0;
  const frame = () => {
    const begun = performance.now();
    send(svg, 'pointermove', 5 + ++k * step);
    times.push(performance.now() - begun);
    texts.add(root.querySelector('[data-role=completion]').textContent);
    if (k < moves) requestAnimationFrame(() => setTimeout(frame));
    else { send(svg, 'pointerup', 5 + k * step); times.sort((a, b) => a - b);
      resolve({ p95: times[Math.ceil(0.95 * times.length) - 1], median: times[times.length >> 1],
        texts: texts.size }); }
  };
  frame();
})"""


@pytest.mark.alone
def test_a_thousand_bars_drag_within_a_frame(editor_page, record_property):
    editor = Editor(editor_page(chain(1000)))
    # The best of a few: what else the machine does is not what is measured here.
    best = editor.page.evaluate(DRAG, ["p0.2", 120])
    for _ in range(5):
        if best["p95"] < FRAME:
            break
        again = editor.page.evaluate(DRAG, ["p0.2", 120])
        best = min(best, again, key=lambda result: result["p95"])
    record_property("p95_ms", best["p95"])
    assert best["texts"] > 100  # every move was drawn
    assert best["p95"] < FRAME
