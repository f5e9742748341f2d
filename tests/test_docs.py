"""The reference covers what is public, and the documentation builds without a warning."""

from __future__ import annotations

import importlib
import re

import pytest

import stepviz as sv
from tools import api_pages

sphinx = pytest.importorskip("sphinx", reason="builds the documentation")

from tools import build_docs  # noqa: E402 - only where there is something to build with


def test_the_reference_covers_every_public_name():
    documented = {id(value) for value in api_pages.documented().values()}
    rooms = [sv, *(importlib.import_module(f"stepviz.{room}") for room in api_pages.public_rooms())]
    left_out = [
        f"{room.__name__}.{name}"
        for room in rooms
        for name in room.__all__
        if id(getattr(room, name)) not in documented
    ]
    assert left_out == []
    assert {"builders", "charts"} <= set(api_pages.public_rooms())


def test_it_covers_what_public_names_hand_out():
    found = {name.rpartition(".")[2] for name in api_pages.documented()}
    assert {"Run", "Step", "WhatIf", "Verdict", "Peak"} <= found


@pytest.mark.slow
def test_it_builds_without_a_warning_and_asks_for_nothing_from_elsewhere(tmp_path):
    source, out = tmp_path / "source", tmp_path / "docs"
    build_docs.write_sources(source)
    assert build_docs.build(source, out) == 0
    pages = {path: path.read_text(encoding="utf-8") for path in out.rglob("*.html")}
    everything = "\n".join(pages.values())
    for name, value in api_pages.documented().items():
        assert f'id="{name}"' in everything, name
        if isinstance(value, type):
            for member in api_pages.members(value):
                assert f'id="{name}.{member}"' in everything, f"{name}.{member}"
    loaded = re.findall(r'<(?:script|img|link)[^>]*\b(?:src|href)="(https?:[^"]+)"', everything)
    assert loaded == []
