"""What the API reference covers, found by looking, and its pages as reStructuredText.

All of `stepviz.__all__` and of the rooms that users call by name, and every class of ours that one
of these hands out, however deep: `load_run` gives a `Run`, whose `step()` is a `Step`. Each room
has a page.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import typing
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import stepviz

PROPERTIES = (property, functools.cached_property)


@dataclass
class Page:
    """One room of the package: what it is, and what of it is documented, by full name."""

    room: str
    about: str
    functions: dict[str, Any] = field(default_factory=dict)
    classes: dict[str, type] = field(default_factory=dict)


def public_rooms() -> list[str]:
    """Return the rooms that users call by name, as `stepviz.builders`."""
    return [name for name in dir(stepviz) if name not in stepviz.__all__]


def named() -> dict[str, Any]:
    """Return everything with a public name, by its shortest one."""
    found = {f"stepviz.{name}": getattr(stepviz, name) for name in stepviz.__all__}
    known = {id(value) for value in found.values()}
    for room in public_rooms():
        module = importlib.import_module(f"stepviz.{room}")
        for name in module.__all__:
            value = getattr(module, name)
            if id(value) not in known:
                found[f"stepviz.{room}.{name}"] = value
    return found


def is_ours(value: Any) -> bool:
    """Whether a class or function was written here."""
    module = getattr(value, "__module__", None) or ""
    return module.partition(".")[0] == "stepviz"


def is_public(cls: type) -> bool:
    """Whether a class is exported by stepviz itself."""
    return cls.__name__ in stepviz.__all__ and getattr(stepviz, cls.__name__) is cls


def members(cls: type) -> dict[str, Any]:
    """Return the documented methods and properties of a class, by name.

    Its ancestors' are among them, but for those of an ancestor that has a public name itself, and
    for those by which it does its duty to a library it builds on, as a widget's `set_state`.
    """
    found: dict[str, Any] = {}
    duties = {name for ancestor in cls.__mro__ if not is_ours(ancestor) for name in vars(ancestor)}
    for ancestor in reversed(cls.__mro__):
        if not is_ours(ancestor) or (ancestor is not cls and is_public(ancestor)):
            continue
        for name, value in vars(ancestor).items():
            if name.startswith("_") or name in duties:
                continue
            plain = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
            if (inspect.isfunction(plain) or isinstance(plain, PROPERTIES)) and plain.__doc__:
                found[name] = plain
            else:
                found.pop(name, None)
    return found


def called(value: Any) -> Any:
    """Return the function that runs when a member is used."""
    if isinstance(value, property):
        return value.fget
    return value.func if isinstance(value, functools.cached_property) else value


def classes_in(hint: Any) -> Iterator[type]:
    """Find our public classes in a type, within containers and unions too."""
    for part in typing.get_args(hint):
        yield from classes_in(part)
    if inspect.isclass(hint) and is_ours(hint) and not hint.__name__.startswith("_"):
        yield hint


def handed_out(function: Any) -> Iterator[type]:
    """Find the classes of ours among what a function returns."""
    function = inspect.unwrap(function)
    hint = getattr(function, "__annotations__", {}).get("return")
    if isinstance(hint, str):
        try:
            hint = eval(hint, function.__globals__)  # noqa: S307 - our own annotation
        except (NameError, TypeError):
            return  # for type checkers alone: an import of theirs, or a subscript

    yield from classes_in(hint)


def shortest_name(cls: type) -> str:
    """Return where users find a class: in the nearest package that exports it."""
    parts = cls.__module__.split(".")
    for depth in range(1, len(parts)):
        package = ".".join(parts[:depth])
        if cls.__name__ in getattr(importlib.import_module(package), "__all__", ()):
            return f"{package}.{cls.__name__}"
    return f"{cls.__module__}.{cls.__name__}"


def documented() -> dict[str, Any]:
    """Return all that the reference covers, by the name it is found under."""
    found = named()
    names = {id(value): name for name, value in found.items()}
    waiting = list(found.values())
    while waiting:
        value = waiting.pop()
        if inspect.isclass(value):
            functions = [called(member) for member in members(value).values()]
        else:
            functions = [value]
        for function in functions:
            for cls in handed_out(function):
                if id(cls) not in names:
                    name = names[id(cls)] = shortest_name(cls)
                    found[name] = cls
                    waiting.append(cls)
    return found


def pages() -> list[Page]:
    """Return the pages, rooms in the order of their names."""
    found: dict[str, Page] = {}
    for name, value in sorted(documented().items(), key=lambda item: item[0].rpartition(".")[2]):
        room = value.__module__.split(".")[1]
        if room not in found:
            about = inspect.getdoc(importlib.import_module(f"stepviz.{room}")) or ""
            found[room] = Page(room, about)
        kept = found[room].classes if inspect.isclass(value) else found[room].functions
        kept[name] = value
    return [found[room] for room in sorted(found)]


def heading(text: str, line: str) -> list[str]:
    """Return a heading."""
    return [text, line * len(text), ""]


def as_text(page: Page) -> str:
    """Write a page in reStructuredText."""
    lines = [*heading(page.room, "="), page.about, ""]
    if page.functions:
        lines += heading("Functions", "-")
        for name in page.functions:
            lines += [f".. autofunction:: {name}", ""]
    if page.classes:
        lines += heading("Classes", "-")
        for name, cls in page.classes.items():
            lines += [f".. autoclass:: {name}"]
            shown = ", ".join(sorted(members(cls)))
            lines += [f"   :members: {shown}", ""] if shown else [""]
    return "\n".join(lines)
