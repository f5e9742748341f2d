"""Colours can be told apart and read: by contrast, in both themes, and without one kind of cone."""

from __future__ import annotations

import re
from itertools import combinations

import pytest

from stepviz.charts.drawing import COLORS
from stepviz.core.vocabulary import KINDS
from tests.widgets.colours import FRONTEND, apart, contrast, labels, linear, oklab, variables

SHEETS = ("base.css", "viewer/viewer.css", "tokens/tokens.css")
THEMES = ("light", "dark")
#: Pages the widgets stand on: JupyterLab's, and VS Code's.
PAGES = {"light": ("#ffffff",), "dark": ("#111111", "#1f1f1f")}
#: Text of the hosts themselves.
FOREGROUND = {"light": "#000000", "dark": "#ffffff"}
#: As far apart as this, two fills side by side can't be taken for one another; 2 is just noticed.
TOLD_APART = 8


def colours(theme):
    return variables(*SHEETS)[theme]


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("kind", [*KINDS, "wait", "before", "unexplained"])
def test_what_a_kind_is_drawn_in_stands_out_from_the_page(kind, theme):
    fill = colours(theme)[f"--sv-{kind}"]
    assert contrast(fill, PAGES[theme][0]) >= 3
    # VS Code's dark page is lighter: what says how long work took stands out from it as well
    if kind in KINDS:
        assert all(contrast(fill, page) >= 3 for page in PAGES[theme])


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("vision", ["all cones", "protanopia", "deuteranopia", "tritanopia"])
def test_kinds_are_told_apart_without_one_kind_of_cone(theme, vision):
    fills = {kind: colours(theme)[f"--sv-{kind}"] for kind in KINDS}
    alike = {
        (one, other): round(apart(fills[one], fills[other], vision), 1)
        for one, other in combinations(fills, 2)
        if apart(fills[one], fills[other], vision) < TOLD_APART
    }
    assert alike == {}


def test_the_eyes_are_those_of_the_literature():
    # white is white to everybody, and red and green of one lightness are only told by some
    for vision in ("protanopia", "deuteranopia", "tritanopia"):
        assert apart("#ffffff", "#000000", vision) == pytest.approx(100, abs=0.5)
    assert apart("#c0504d", "#5f8a3a", "all cones") > 20
    assert apart("#c0504d", "#5f8a3a", "deuteranopia") < 11
    assert apart("#c0504d", "#5f8a3a", "tritanopia") > 20
    assert oklab(linear("#ffffff")) == pytest.approx([1, 0, 0], abs=1e-4)
    assert contrast("#ffffff", "#767676") == pytest.approx(4.54, abs=0.005)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("kind", [*KINDS, "wait"])
def test_what_is_written_on_a_bar_can_be_read(kind, theme):
    assert contrast(labels(theme)[kind], colours(theme)[f"--sv-{kind}"]) >= 4.5


@pytest.mark.parametrize("theme", THEMES)
def test_the_viewer_writes_on_its_bars_so_that_it_can_be_read(theme):
    fills = colours(theme)
    source = (FRONTEND / "viewer" / "palette.ts").read_text(encoding="utf-8")
    bound, dark, light = re.search(
        r'luminance\(fill\) > ([\d.]+) \? "(#\w+)" : "(#\w+)"', source
    ).groups()
    for kind in KINDS:
        fill = fills[f"--sv-{kind}"]
        ink = dark if linear(fill) @ [0.2126, 0.7152, 0.0722] > float(bound) else light
        assert contrast(ink, fill) >= 4.5, kind
    for kind in ("wait", "before", "unexplained", "idle"):
        assert contrast(FOREGROUND[theme], fills[f"--sv-{kind}"]) >= 4.5, kind


TEXT = [
    ("--sv-dim", ("--sv-row", "--sv-card", "--sv-control", "--sv-hover")),
    ("--sv-ink", ("--sv-row", "--sv-card")),
    ("--sv-accent", ("--sv-card", "--sv-control")),
    ("--sv-better", ("--sv-better-bg",)),
    ("--sv-worse", ("--sv-worse-bg",)),
    ("--sv-refused", ("--sv-refused-bg", "--sv-control")),
    ("--sv-why", ("--sv-why-bg",)),
    ("--sv-exposed", ("--sv-card",)),
]


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize(("ink", "grounds"), TEXT, ids=[ink for ink, _ in TEXT])
def test_text_can_be_read(ink, grounds, theme):
    known = colours(theme)
    for ground in (*PAGES[theme], *(known[name] for name in grounds)):
        assert contrast(known[ink], ground) >= 4.5, (ink, ground)


@pytest.mark.parametrize("theme", THEMES)
def test_what_is_drawn_besides_bars_stands_out(theme):
    known = colours(theme)
    for name in (
        "--sv-accent",
        "--sv-dim",
        "--sv-ink",
        "--sv-field-line",
        "--tk-edge",
        "--tk-target",
    ):
        assert all(contrast(known[name], page) >= 3 for page in PAGES[theme]), name
    # the signs in a mask, and its cells beside one another
    assert contrast("#ffffff" if theme == "light" else "#06121c", known["--tk-target"]) >= 4.5
    assert contrast(known["--sv-field-line"], known["--sv-control"]) >= 3


def test_charts_have_the_colours_of_a_light_page():
    light = colours("light")
    assert {kind: light[f"--sv-{kind}"] for kind in COLORS} == dict(COLORS)
