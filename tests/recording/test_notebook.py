"""Captures from a real kernel: the bar moves; interrupt and restart leave no process."""

from __future__ import annotations

import re
import time

import pytest

from tests.recording.helpers import QUICK, ROOT, capture_processes, require_torch

client = pytest.importorskip("jupyter_client", reason="kernels are driven by jupyter_client")
# kernels, and what they start, share the machine with nothing
pytestmark = [pytest.mark.slow, pytest.mark.alone]
LONG = {**QUICK, "progress": None, "steps": 500}


@pytest.fixture
def kernel():
    """Return a kernel's manager and client, as a notebook has them."""
    require_torch()
    pytest.importorskip("ipykernel")
    manager, talk = client.manager.start_new_kernel(kernel_name="python3", cwd=str(ROOT))
    yield manager, talk
    talk.stop_channels()
    manager.shutdown_kernel(now=True)


def values_shown(talk, until=None, timeout=120) -> tuple[list[float], list[str], list[dict]]:
    """Read what a cell shows, until it is idle or `until` says so: values, texts, errors."""
    values, texts, errors = [], [], []
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        message = talk.get_iopub_msg(timeout=timeout)
        content, kind = message["content"], message["msg_type"]
        if kind in ("display_data", "update_display_data"):
            html = content["data"].get("text/html", "")
            values += [
                float(found) for found in re.findall(r'<progress[^>]*value="([\d.]+)"', html)
            ]
            texts.append(content["data"]["text/plain"])
        if kind == "error":
            errors.append(content)
        idle = kind == "status" and content["execution_state"] == "idle"
        if (idle and texts + errors) or (until is not None and until(values)):
            return values, texts, errors
    pytest.fail(f"the cell took longer than {timeout} s: {texts[-3:]}")


def cell(tmp_path, **options) -> str:
    return f"import stepviz as sv\nrun = sv.capture(out={str(tmp_path / 'run')!r}, **{options!r})"


@pytest.mark.usefixtures("nothing_left")
def test_a_cells_bar_moves_to_its_end(kernel, tmp_path):
    _, talk = kernel
    talk.execute(cell(tmp_path, **{**QUICK, "progress": None, "steps": 20}))
    values, texts, errors = values_shown(talk)
    assert errors == []
    assert values == sorted(values)
    assert len(set(values)) >= 4
    assert values[-1] == 1
    assert any("gloo on cpu" in text for text in texts)
    assert re.search(r"captured 2 ranks in \d+ s: .*run$", texts[-1])
    assert len(list((tmp_path / "run").iterdir())) == 2


@pytest.mark.usefixtures("nothing_left")
def test_an_interrupted_cell_ends_every_process(kernel, tmp_path):
    manager, talk = kernel
    talk.execute(cell(tmp_path, **LONG))
    values_shown(talk, until=lambda values: values and values[-1] > 0.16)
    assert len(capture_processes(tmp_path)) >= 3
    manager.interrupt_kernel()
    _, texts, errors = values_shown(talk, timeout=20)
    assert [error["ename"] for error in errors] == ["KeyboardInterrupt"]
    assert texts[-1] == "interrupted"
    assert capture_processes(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("nothing_left")
def test_a_restarted_kernel_leaves_no_process(kernel, tmp_path):
    manager, talk = kernel
    talk.execute(cell(tmp_path, **LONG))
    values_shown(talk, until=lambda values: values and values[-1] > 0.16)
    assert len(capture_processes(tmp_path)) >= 3
    manager.restart_kernel(now=True)
    until = time.monotonic() + 10
    while capture_processes(tmp_path) and time.monotonic() < until:
        time.sleep(0.1)
    assert capture_processes(tmp_path) == []
