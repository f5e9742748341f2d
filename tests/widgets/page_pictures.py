"""Compare the pictures that a page computes with Python's own."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from stepviz.errors import StepvizError
from stepviz.widgets.knobs import KnobWidget
from tests.widgets import frontend

Answer = dict[str, Any]


def in_page(widget: KnobWidget, settings: Sequence[Mapping[str, Any]]) -> list[Answer]:
    """Let the page's own code, in Node, answer settings as it does in a saved page."""
    piece = widget._piece()
    asked = {
        "kernel": piece.kernel.removeprefix("page_"),
        "given": piece.given,
        "settings": [{**widget.value, **one} for one in settings],
    }
    said = frontend.build("--run", "page/crosscheck.ts", text=json.dumps(asked, allow_nan=False))
    answers: list[Answer] = json.loads(said)
    return answers


def in_python(widget: KnobWidget, given: Mapping[str, Any]) -> Answer:
    """Answer settings as the widget does, in the JSON that a page gets."""
    try:
        settings = widget._completed(given)
        picture = {**widget._picture(settings), "stops": widget._stops(settings)}
    except StepvizError as error:
        return {"problem": str(error)}
    plain: Answer = json.loads(json.dumps({"picture": picture}))
    return plain


def difference(page: Any, python: Any, where: str = "") -> str:
    """Say where two answers differ, "" where they do not: texts as they are, numbers to 1e-9."""
    if isinstance(python, dict) and isinstance(page, dict):
        if set(python) != set(page):
            return f"{where}: {sorted(set(python) ^ set(page))} in one of them only"
        told = (difference(page[key], python[key], f"{where}.{key}") for key in python)
        return next(filter(None, told), "")
    if isinstance(python, list) and isinstance(page, list):
        if len(python) != len(page):
            return f"{where}: {len(page)} instead of {len(python)}"
        told = (
            difference(a, b, f"{where}[{k}]")
            for k, (a, b) in enumerate(zip(page, python, strict=True))
        )
        return next(filter(None, told), "")
    number = isinstance(python, int | float) and not isinstance(python, bool)
    if number and isinstance(page, int | float) and not isinstance(page, bool):
        same = math.isclose(page, python, rel_tol=1e-9, abs_tol=1e-9)
    else:
        same = page == python
    return "" if same else f"{where}: {page!r} in the page, {python!r} in Python"


def assert_alike(widget: KnobWidget, settings: Sequence[Mapping[str, Any]]) -> int:
    """Check that a page answers all settings as Python does; return how many have a meaning."""
    pages = in_page(widget, settings)
    meant = 0
    for one, page in zip(settings, pages, strict=True):
        python = in_python(widget, one)
        assert not difference(page, python), f"{dict(one)} {difference(page, python)}"
        meant += "picture" in python
    return meant
