"""Public docstrings say what their signatures say, in the sections that NumPy's style knows."""

from __future__ import annotations

import inspect
from inspect import Parameter

import pytest

from tools import api_pages

numpydoc = pytest.importorskip("numpydoc.docscrape", reason="reads docstrings")

DOCUMENTED = api_pages.documented()
FUNCTIONS = {name: value for name, value in DOCUMENTED.items() if inspect.isroutine(value)}
CLASSES = {name: value for name, value in DOCUMENTED.items() if inspect.isclass(value)}
METHODS = {
    f"{name}.{member}": function
    for name, cls in CLASSES.items()
    for member, function in api_pages.members(cls).items()
    if inspect.isfunction(function)
}

POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD, Parameter.VAR_POSITIONAL)


def taken(function) -> list[Parameter]:
    """Return the parameters that a user may give."""
    found = inspect.signature(function).parameters.values()
    return [p for p in found if p.name not in {"self", "cls"} and not p.name.startswith("_")]


def documented_in(text, *sections) -> list[str]:
    doc = numpydoc.NumpyDocString(inspect.cleandoc(text))
    return [
        name.strip().lstrip("*")
        for section in sections
        for entry in doc[section]
        for name in entry.name.split(",")
    ]


def differences(function, text) -> list[str]:
    """Say how a docstring's parameters differ from those of the signature.

    Those that are given by position stand in its order; keyword-only ones may be grouped by what
    they mean. Where a signature takes any keyword, the docstring may name more, and `unknown` is
    a keyword that is only taken to be refused in a sentence.
    """
    parameters = taken(function)
    told = documented_in(text, "Parameters", "Other Parameters")
    any_keyword = [p for p in parameters if p.kind is Parameter.VAR_KEYWORD]
    wanted = [p.name for p in parameters if p not in any_keyword]
    said = [f"{name} is not documented" for name in wanted if name not in told]
    extra = [name for name in told if name not in wanted]
    if not any_keyword:
        said += [f"{name} is no parameter" for name in extra]
    elif any_keyword[0].name != "unknown" and not extra:
        said.append(f"nothing is said about **{any_keyword[0].name}")
    by_position = [p.name for p in parameters if p.kind in POSITIONAL and p.name in told]
    if [name for name in told if name in by_position] != by_position:
        said.append(f"the order is {by_position}")
    return said


def test_there_is_something_to_look_at():
    assert len(FUNCTIONS) > 60
    assert len(CLASSES) > 30
    assert len(METHODS) > 80


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_documents_its_parameters(name):
    assert differences(FUNCTIONS[name], FUNCTIONS[name].__doc__) == []


@pytest.mark.parametrize("name", METHODS)
def test_a_method_documents_all_of_its_parameters_or_says_it_in_a_sentence(name):
    text = METHODS[name].__doc__
    if documented_in(text, "Parameters"):
        assert differences(METHODS[name], text) == []


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_that_says_how_it_is_made_says_all(name):
    text = CLASSES[name].__doc__
    assert text
    if documented_in(text, "Parameters"):
        assert differences(CLASSES[name], text) == []


@pytest.mark.filterwarnings("error:Unknown section")
@pytest.mark.parametrize("name", [*FUNCTIONS, *CLASSES, *METHODS])
def test_sections_are_those_of_the_style_and_in_its_order(name):
    value = (FUNCTIONS | CLASSES | METHODS)[name]
    text = inspect.cleandoc(value.__doc__)
    doc = numpydoc.NumpyDocString(text)  # warns of a section it does not know
    order = [f"{title}\n{'-' * len(title)}\n" for title in doc.sections if title.istitle()]
    places = [text.find(heading) for heading in order if heading in text]
    assert places == sorted(places)
    summary = text.splitlines()[0]
    assert summary.endswith((".", "?", ":"))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_that_returns_a_frame_says_what_is_in_it(name):
    function = FUNCTIONS[name]
    if "DataFrame" in str(function.__annotations__.get("return")):
        doc = numpydoc.NumpyDocString(inspect.cleandoc(function.__doc__))
        assert doc["Returns"], "add a section Returns"
        assert " ".join(doc["Returns"][0].desc), "say which columns"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_has_an_example(name):
    """Those that record need torch, or minutes; `tests/test_package.py` runs all others."""
    text = FUNCTIONS[name].__doc__
    assert ">>> " in text
    skipped = [line for line in text.splitlines() if "+SKIP" in line]
    needs_a_folder = 'load_run("traces/")' in text
    assert not skipped or needs_a_folder or FUNCTIONS[name].__module__.startswith("stepviz.record")
