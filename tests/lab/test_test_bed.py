"""The test bed itself: kernels answer, errors are seen, and a slow line is slow."""

from __future__ import annotations

import pytest

# A widget that asks its kernel for the next number and measures how long the answer took.
ECHO = '''
import anywidget, traitlets
class Echo(anywidget.AnyWidget):
    _esm = """export default { render({ model, el }) {
      el.className = "echo"; let asked = 0;
      model.on("change:answer", () => { el.textContent = String(performance.now() - asked); });
      el.addEventListener("click", () => {
        asked = performance.now(); model.set("question", model.get("question") + 1);
        model.save_changes(); });
      el.textContent = "ready"; } }"""
    question = traitlets.Int(0).tag(sync=True)
    answer = traitlets.Int(0).tag(sync=True)
    @traitlets.observe("question")
    def _answer(self, change):
        self.answer = change.new
echo = Echo()
echo
'''


def test_cells_run_and_their_errors_are_seen(open_notebook):
    notebook = open_notebook(cells=["seven = 7", "1 / 0"])
    assert notebook.run_all() == ["ZeroDivisionError: division by zero"]
    assert notebook.kernel("print(seven)") == "7"
    with pytest.raises(RuntimeError, match="NameError: name 'eight'"):
        notebook.kernel("eight")


@pytest.mark.parametrize("latency", [0, 150])
def test_the_line_is_as_slow_as_asked(open_notebook, latency):
    notebook = open_notebook(cells=[ECHO], latency=latency)
    assert notebook.run_all() == []
    echo = notebook.page.locator(".echo")
    echo.click()
    notebook.page.wait_for_function("document.querySelector('.echo').textContent !== 'ready'")
    took = float(echo.text_content())
    assert took >= 2 * latency
    assert took < 2 * latency + 1000
    assert notebook.kernel("print(echo.question)") == "1"
