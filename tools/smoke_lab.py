"""Run `make lab` without a browser, see the start notebook served, and end it.

    python3 tools/smoke_lab.py

For CI and for fresh machines: it sets up what `make lab` sets up, so it may take minutes the first
time. Needs nothing but the Python that runs it.
"""

import argparse
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
POLL_SECONDS = 0.5
END_SECONDS = 30


def free_port() -> int:
    """Return a port on 127.0.0.1 that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def get(url: str) -> tuple[str, bytes]:
    """Return where a request ended up, and what came."""
    with urllib.request.urlopen(url, timeout=10) as answer:  # noqa: S310 - our own server
        return answer.url, answer.read()


def refuse(text: str) -> None:
    """Stop with a sentence."""
    sys.exit(f"smoke test of `make lab`: {text}")


def look(url: str, lab: "subprocess.Popen[bytes]", seconds: float) -> str:
    """Wait for the server; return the notebook that its front page leads to."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and lab.poll() is None:
        with contextlib.suppress(urllib.error.URLError, ConnectionError, TimeoutError):
            shown, page = get(url + "/")
            if b"jupyter-config-data" not in page:
                refuse(f"{shown} is no page of JupyterLab")
            _, separator, notebook = shown.partition("/lab/tree/")
            if not separator:
                refuse(f"it opens {shown}, and no notebook")
            return notebook.partition("?")[0]
        time.sleep(POLL_SECONDS)
    refuse(f"nothing answered at {url}" + ("" if lab.poll() is None else ": make has ended"))
    raise AssertionError


def main() -> None:
    """Start it, look, end it."""
    parser = argparse.ArgumentParser(description="Run `make lab` without a browser and look.")
    parser.add_argument("--seconds", type=float, default=900, help="to wait, set-up included")
    args = parser.parse_args()
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    flags = "--no-browser --IdentityProvider.token= --ServerApp.port_retries=0 --ip=127.0.0.1"
    command = ["make", "lab", f"PORT={port}", f"LAB_ARGS={flags}"]
    # a process group of its own: what make starts ends with it
    lab = subprocess.Popen(command, cwd=ROOT, start_new_session=True)
    try:
        notebook = look(url, lab, args.seconds)
        _, found = get(f"{url}/api/contents/{notebook}?content=1")
        cells = json.loads(found)["content"]["cells"]
        _, kernels = get(f"{url}/api/kernelspecs")
        if "python3" not in json.loads(kernels)["kernelspecs"]:
            refuse("there is no Python kernel")
        print(f"`make lab` serves {notebook}, {len(cells)} cells, at {url}")
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(lab.pid, signal.SIGTERM)
        try:
            lab.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(lab.pid, signal.SIGKILL)
            lab.wait()


if __name__ == "__main__":
    main()
