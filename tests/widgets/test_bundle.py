"""The committed bundle is the one its sources give, is small, and asks nothing of a network."""

from __future__ import annotations

import json
import re

import pytest

from stepviz.widgets.bundle import bundle_text, packed_module
from tests.widgets import frontend

WIDGETS = ("buckets", "capture", "editor", "planner", "quiz", "tokens", "viewer")
MODULES = tuple(f"{name}.js" for name in WIDGETS)
#: What only a saved page carries.
PAGES = tuple(
    f"page{name}.js" for name in ("", "_buckets", "_capture", "_planner", "_tokens", "_viewer")
)
SHEETS = tuple(f"{name}.css" for name in WIDGETS)
FILES = (*MODULES, *PAGES, *SHEETS)


@pytest.fixture(scope="module")
def rebuilt(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bundle")
    frontend.build("--outdir", str(folder))
    return folder


@pytest.mark.parametrize("name", FILES)
def test_the_committed_bundle_is_fresh(rebuilt, name):
    built = (rebuilt / name).read_bytes()
    assert built == (frontend.STATIC / name).read_bytes(), (
        "the bundle is stale: run `npm run build` in stepviz/widgets/frontend and commit static/"
    )


def test_nothing_else_is_built(rebuilt):
    assert sorted(path.name for path in rebuilt.iterdir()) == sorted(FILES)
    assert sorted(path.name for path in frontend.STATIC.iterdir()) == sorted(FILES)


@pytest.mark.parametrize("name", MODULES)
def test_what_each_widget_carries_stays_small(name):
    # It is sent, and saved in notebooks, once for every instance.
    assert len(packed_module(name).encode()) < 100_000
    assert len(bundle_text(name.replace(".js", ".css")).encode()) < 40_000


@pytest.mark.browser
@pytest.mark.parametrize("name", MODULES)
def test_the_packed_module_is_the_module(new_page, name):
    page = new_page()
    keys = """async (code) => {
        const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
        const found = (await import(url)).default;
        const module = typeof found === "function" ? await found() : found;
        return Object.keys(module).sort();
    }"""
    packed, plain = (page.evaluate(keys, code) for code in (packed_module(name), bundle_text(name)))
    assert packed == plain
    assert "render" in packed


@pytest.mark.parametrize("name", FILES)
def test_nothing_is_loaded_from_elsewhere(name):
    text = bundle_text(name)
    names_of_formats = (
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
        "http://www.w3.org/1999/xhtml",
        "http://www.w3.org/2000/xmlns/",
    )
    urls = set(re.findall(r"https?://[^\s\"'`)]+", text))
    assert urls <= set(names_of_formats), urls
    assert not re.search(r"\bimport\s*\(|^\s*import\s|@import|url\(\s*[\"']?//", text, re.MULTILINE)
    assert not re.search(r"/(home|root|tmp|work|Users)/", text)  # no paths of a builder's machine


def without_brackets(selector):
    """A selector without what stands in brackets, which may hold commas and brackets in turn."""
    while "(" in selector:
        selector = re.sub(r"\([^()]*\)", "", selector)
    return selector


@pytest.mark.parametrize("name", SHEETS)
def test_every_rule_is_the_widgets_own(name):
    # The style sheet goes into the notebook's page, where everything else lives too.
    css = re.sub(r"/\*.*?\*/", "", bundle_text(name), flags=re.DOTALL)
    selectors = [s.strip() for s in re.findall(r"(?:^|[{}])\s*([^{}@;]+?)\s*\{", css)]
    assert len(selectors) > 10
    foreign = [
        part
        for selector in selectors
        if not re.fullmatch(r"(from|to|[\d.]+%)(\s*,\s*(from|to|[\d.]+%))*", selector)
        for part in without_brackets(selector).split(",")
        if ".stepviz" not in part
    ]
    assert foreign == []


def test_the_lock_file_names_no_registry():
    lock = (frontend.FRONTEND / "package-lock.json").read_text(encoding="utf-8")
    assert "http" not in lock
    package = json.loads((frontend.FRONTEND / "package.json").read_text(encoding="utf-8"))
    assert "dependencies" not in package
    assert all(re.fullmatch(r"[\d.]+", v) for v in package["devDependencies"].values())


@pytest.mark.slow
def test_the_front_end_type_checks():
    frontend.check_types()


def test_the_front_ends_own_tests_pass():
    frontend.build("--test")


@pytest.mark.browser
def test_a_page_unpacks_a_module_once_for_all_its_widgets(new_page):
    # What a page has loaded it keeps, also when the widget is gone.
    page = new_page()
    count = """async (code) => {
        const load = async () => (await import(URL.createObjectURL(
            new Blob([code], { type: "text/javascript" })))).default;
        const made = URL.createObjectURL;
        let unpacked = 0;
        const first = load();
        URL.createObjectURL = (blob) => { unpacked += 1; return made(blob); };
        const all = [await first, await load(), await load()];
        URL.createObjectURL = made;
        return [new Set(all).size, unpacked];
    }"""
    # two of the addresses are those of the second and the third load
    assert page.evaluate(count, packed_module("quiz.js")) == [1, 3]
