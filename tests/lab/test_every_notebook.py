"""Every notebook of the course, from top to bottom in a real JupyterLab with no network.

No cell fails, no view stays empty, nothing is said on the console or on stderr, and neither page
nor kernel asks another machine for anything.
"""

from __future__ import annotations

from pathlib import Path

import pytest

COURSE = sorted(path.name for path in (Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))

# In the kernel: whatever is asked of another machine fails, and is remembered.
NO_NETWORK = """
import sys
elsewhere = []
def _watch(event, arguments):
    if event == "socket.getaddrinfo":
        host = arguments[0]
    elif event in ("socket.connect", "socket.sendto") and isinstance(arguments[1], tuple):
        host = arguments[1][0]
    else:  # other events, and sockets in the file system
        return
    if host not in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "", None):
        elsewhere.append(f"{event} {host}")
        raise OSError("there is no network in this test")
sys.addaudithook(_watch)
"""

# JupyterLab draws a cell's output when it comes into view.
SHOW_ALL = """async () => {
    const { content } = window.jupyterapp.shell.currentWidget;
    for (let k = 0; k < content.widgets.length; k++) await content.scrollToItem(k, 'start');
}"""

# What a view that failed, or was never drawn, looks like. A viewer still asks for its lanes.
BROKEN = """() => [...document.querySelectorAll('.jp-OutputArea-output')].flatMap(output => {
    const text = output.textContent.trim();
    const type = output.getAttribute('data-mime-type') ?? '';
    if (/Error displaying widget|Loading widget|Javascript Error/.test(text)) return [text];
    if (type.includes('stderr')) return ['on stderr: ' + text];
    if (type.includes('widget') && !output.querySelector('.jupyter-widgets')) return ['empty view'];
    if (output.querySelector('.tv[data-waiting]') !== null) return ['a viewer without lanes'];
    return [];
})"""


@pytest.mark.parametrize("name", COURSE)
def test_it_runs_without_an_error_and_without_a_network(open_notebook, name):
    notebook = open_notebook(f"notebooks/{name}")
    assert notebook.kernel(NO_NETWORK + "print('watching')") == "watching"
    assert notebook.run_all() == []
    notebook.page.evaluate(SHOW_ALL)
    for _ in range(150):
        broken = notebook.page.evaluate(BROKEN)
        if not broken:
            break
        notebook.page.wait_for_timeout(100)
    assert broken == []
    assert notebook.page.locator(".stepviz").count() > 0
    assert notebook.kernel("print(elsewhere)") == "[]"


def test_what_is_asked_of_another_machine_would_be_seen(open_notebook, page_problems):
    ask = "import urllib.request\nurllib.request.urlopen('http://192.0.2.1/', timeout=1)"
    image = "from IPython.display import HTML\nHTML('<img src=\"http://192.0.2.1/x.png\">')"
    notebook = open_notebook(cells=[image, ask])  # a cell that fails is the last that runs
    notebook.kernel(NO_NETWORK)
    (error,) = notebook.run_all()
    assert "no network in this test" in error
    assert notebook.kernel("print(elsewhere)") == "['socket.getaddrinfo 192.0.2.1']"
    notebook.page.locator("img[src*='192.0.2.1']").wait_for(state="attached")
    for _ in range(100):
        if any("request to another host: http://192.0.2.1/x.png" in one for one in page_problems):
            break
        notebook.page.wait_for_timeout(100)
    assert any("request to another host: http://192.0.2.1/x.png" in one for one in page_problems)
    page_problems.clear()
