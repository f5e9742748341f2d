"""A real JupyterLab (or Notebook 7) on this machine alone, and what to say to its page.

Serves the tests in ``tests/lab`` and ``tools/screenshot.py``. Nothing of the user's own Jupyter is
read or written, and nothing asks for the network.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Page

START_SECONDS = 60

# What each program calls itself in its settings, and where it shows a notebook.
PROGRAMS = {
    "jupyterlab": ("LabApp", "lab/tree/{}?reset"),
    "notebook": ("JupyterNotebookApp", "notebooks/{}"),
}

NOTIFICATION_SETTINGS = "@jupyterlab/apputils-extension/notification.jupyterlab-settings"

KERNEL_IS_IDLE = """() => window.jupyterapp?.shell.currentWidget?.context?.sessionContext
    ?.session?.kernel?.status === 'idle'"""

RUN_ALL = """async () => {
    await window.jupyterapp.commands.execute('notebook:run-all-cells');
    const cells = window.jupyterapp.shell.currentWidget.content.model.sharedModel.toJSON().cells;
    return cells.filter(cell => cell.cell_type === 'code').flatMap(cell => cell.outputs)
      .filter(output => output.output_type === 'error')
      .map(output => `${output.ename}: ${output.evalue}`);
}"""

RUN_IN_KERNEL = """async (code) => {
    const { session } = window.jupyterapp.shell.currentWidget.context.sessionContext;
    const future = session.kernel.requestExecute({ code, store_history: false });
    let printed = '', error = null;
    future.onIOPub = ({ header, content }) => {
      if (header.msg_type === 'stream') printed += content.text;
      if (header.msg_type === 'error') error = `${content.ename}: ${content.evalue}`;
    };
    await future.done;
    return { printed, error };
}"""

# Delays every message between page and kernel, each way, so that a test can be on a slow line.
LATENCY = """(() => { const Socket = window.WebSocket, delay = %d;
  window.WebSocket = class extends Socket {
    send(data) { setTimeout(() => super.send(data), delay); }
    set onmessage(listener) {
      super.onmessage = listener && (event => setTimeout(() => listener.call(this, event), delay));
    }
    get onmessage() { return super.onmessage; }
  }; })()"""


def free_port() -> int:
    """Return a port on 127.0.0.1 that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextlib.contextmanager
def serve(
    root: Path, scratch: Path, program: str = "jupyterlab", python: str = sys.executable
) -> Iterator[str]:
    """Run JupyterLab, or another of `PROGRAMS`, on the notebooks below ``root``.

    Yields its address. ``scratch`` receives settings, run-time files and the server's log;
    ``python`` is the interpreter of the environment that serves.

    Raises
    ------
    RuntimeError
        When the server does not answer in a minute; the end of its log is in the message.
    """
    settings = scratch / "settings" / NOTIFICATION_SETTINGS
    settings.parent.mkdir(parents=True)
    # else a pop-up that asks about news may cover the widget
    settings.write_text('{"fetchNews": "false", "checkForUpdates": false}', encoding="utf-8")
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    options = {
        "ServerApp.ip": "127.0.0.1",
        "ServerApp.port": port,
        "ServerApp.port_retries": 0,
        "ServerApp.root_dir": root,
        "IdentityProvider.token": "",
        "ServerApp.password": "",
        "ServerApp.disable_check_xsrf": True,
        f"{PROGRAMS[program][0]}.expose_app_in_browser": True,
    }
    flags = [
        "--no-browser",
        "--allow-root",
        *(f"--{key}={value}" for key, value in options.items()),
    ]
    environment = os.environ | {
        "JUPYTER_CONFIG_DIR": str(scratch / "config"),
        "JUPYTER_DATA_DIR": str(scratch / "data"),
        "JUPYTER_RUNTIME_DIR": str(scratch / "run"),
        "JUPYTERLAB_SETTINGS_DIR": str(scratch / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(scratch / "workspaces"),
        "IPYTHONDIR": str(scratch / "ipython"),
    }
    log_path = scratch / "lab.log"
    with log_path.open("w", encoding="utf-8") as log:
        server = subprocess.Popen(
            [python, "-m", program, *flags], env=environment, stdout=log, stderr=log
        )
    try:
        wait_for(url + "/api", server, log_path)
        yield url
    finally:
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def wait_for(url: str, server: subprocess.Popen[bytes], log_path: Path) -> None:
    """Return when the server answers at ``url``."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        with contextlib.suppress(OSError), urllib.request.urlopen(url):  # noqa: S310 - our own server
            return
        time.sleep(0.1)
    log_end = log_path.read_text(encoding="utf-8")[-3000:]
    msg = f"the server did not answer at {url}. The end of its log:\n{log_end}"
    raise RuntimeError(msg)


def put_notebook(page: Page, url: str, name: str, cells: list[str]) -> None:
    """Write a notebook of code cells through the server."""
    notebook = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}
        },
        "cells": [
            {
                "cell_type": "code",
                "id": f"cell-{number}",
                "metadata": {},
                "source": source,
                "outputs": [],
                "execution_count": None,
            }
            for number, source in enumerate(cells)
        ],
    }
    answer = page.context.request.put(
        f"{url}/api/contents/{name}",
        data=json.dumps({"type": "notebook", "format": "json", "content": notebook}),
    )
    if not answer.ok:
        msg = f"JupyterLab did not take the notebook {name}: {answer.status} {answer.text()}"
        raise RuntimeError(msg)


def open_notebook(page: Page, url: str, name: str, program: str = "jupyterlab") -> None:
    """Show a notebook and wait for its kernel."""
    page.goto(f"{url}/{PROGRAMS[program][1].format(name)}")
    page.wait_for_function(KERNEL_IS_IDLE, timeout=90_000)


def run_all(page: Page) -> list[str]:
    """Run every cell of the shown notebook; returns the errors its cells ended with."""
    errors: list[str] = page.evaluate(RUN_ALL)
    return errors


def run_in_kernel(page: Page, code: str) -> str:
    """Run code in the shown notebook's kernel; returns what it printed.

    Raises
    ------
    RuntimeError
        With the kernel's error, when the code raised one.
    """
    answer: dict[str, Any] = page.evaluate(RUN_IN_KERNEL, code)
    if answer["error"] is not None:
        raise RuntimeError(answer["error"])
    return str(answer["printed"])


def close_sessions(page: Page, url: str) -> None:
    """End all kernels of the server: they outlive the pages that started them."""
    for session in page.context.request.get(f"{url}/api/sessions").json():
        page.context.request.delete(f"{url}/api/sessions/{session['id']}")
