"""HTML as values: what is not markup of ours is escaped in the one place that writes it."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

#: Elements without an end tag.
_VOID: Final = frozenset({"br", "col", "hr"})


@dataclass(frozen=True)
class Element:
    """An element: its name, attributes and content. Made by `element`."""

    name: str
    attributes: tuple[tuple[str, str], ...]
    inside: tuple[Content, ...]


@dataclass(frozen=True)
class Trusted:
    """HTML that stands as it is: somebody else has escaped what is in it."""

    html: str


Content: TypeAlias = Element | Trusted | str

#: Makes text fit to be shown: without folders, without signs that deceive.
Clean: TypeAlias = Callable[[str], str]


def element(name: str, *inside: Content, **attributes: str | int | None) -> Element:
    """Return an element.

    Parameters
    ----------
    name : str
    *inside : Element, Trusted or str
        What it holds; text is escaped when it is written.
    **attributes : str, int or None
        ``class_`` and ``data_ns`` stand for class and data-ns; None leaves one out.

    Examples
    --------
    >>> markup(element("td", "a <b>", class_="name", data_ns=3), str)
    '<td class="name" data-ns="3">a &lt;b&gt;</td>'
    """
    named = tuple(
        (key.rstrip("_").replace("_", "-"), str(value))
        for key, value in attributes.items()
        if value is not None
    )
    return Element(name, named, inside)


def listed(items: Iterable[Content], name: str = "ul") -> Element:
    """Return a list of items."""
    return element(name, *(element("li", item) for item in items))


def markup(content: Content, clean: Clean) -> str:
    """Write content as HTML; every text and every attribute is cleaned and escaped here.

    Parameters
    ----------
    content : Element, Trusted or str
    clean : callable
        From text to text (see `cleaning.Cleaner`).
    """
    if isinstance(content, Trusted):
        return content.html
    if isinstance(content, str):
        return html.escape(clean(content))
    named = "".join(f' {key}="{html.escape(clean(value))}"' for key, value in content.attributes)
    if content.name in _VOID:
        return f"<{content.name}{named}>"
    inside = "".join(markup(one, clean) for one in content.inside)
    return f"<{content.name}{named}>{inside}</{content.name}>"
