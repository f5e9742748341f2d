"""Widgets as pages: one HTML file that needs neither a kernel nor a network.

A page holds the same bundles that a notebook gets, the traits of each widget as JSON, and, where
Python computes a widget's numbers, a module that computes them in the page. Text may come from
traces: it is escaped, and a content security policy lets no other script run and nothing load.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from stepviz.errors import StepvizError
from stepviz.files import write_bytes, write_text
from stepviz.widgets.bundle import bundle_text

#: Traits that are a notebook's concern.
_NOT_SAVED: Final = frozenset(
    {
        *("_esm", "_css", "_anywidget_id", "_dom_classes", "layout", "tabbable", "tooltip"),
        *("_model_module", "_model_module_version", "_model_name"),
        *("_view_module", "_view_module_version", "_view_name", "_view_count"),
    }
)
_EXPORT: Final = re.compile(r"export \{\s*(\w+) as default\s*\};\s*$")

_SHEET: Final = """\
:root { color-scheme: light dark; }
body { margin: 0 auto; padding: 20px 16px 40px; max-width: 1360px; color: CanvasText;
  background: Canvas; font: 15px/1.5 system-ui, "Segoe UI", sans-serif; }
h1 { margin: 0 0 12px; font-size: 24px; line-height: 1.25; overflow-wrap: anywhere; }
h1.sv-page-heard { position: absolute; width: 1px; height: 1px; margin: 0; overflow: hidden;
  clip-path: inset(50%); white-space: nowrap; }
.sv-page-part { margin: 12px 0 4px; }
.sv-page-note { margin: 6px 0 14px; color: light-dark(#5c6670, #a2abb4); font-size: 13px; }
.sv-page-foot { margin-top: 28px; color: light-dark(#5c6670, #a2abb4); font-size: 12.5px; }
"""


@dataclass(frozen=True)
class Model:
    """One widget model of a page.

    Parameters
    ----------
    bundle : str
        Its files in ``static``, without their endings.
    state : mapping
        Its traits, as a page sees them.
    """

    bundle: str
    state: Mapping[str, Any]


@dataclass(frozen=True)
class Piece:
    """A widget as it stands in a page.

    Parameters
    ----------
    models : tuple of Model
        Shown one below the other.
    kernel : str
        The module in ``static`` that answers in Python's place; "" where none has to.
    given : object
        What it computes from, as plain data.
    notes : tuple of str
        What this page leaves out, in sentences.
    """

    models: tuple[Model, ...]
    kernel: str = ""
    given: Any = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Part:
    """A piece of a page: HTML, and the bundles that its widgets need.

    Parameters
    ----------
    html : str
        Trusted: whoever made it has escaped what came from elsewhere.
    bundles : tuple of str
        Names of widgets' files in ``static``.
    kernels : tuple of str
        Names of modules there that answer in Python's place.
    """

    html: str
    bundles: tuple[str, ...] = field(default=())
    kernels: tuple[str, ...] = field(default=())


def model_of(widget: Any, bundle: str) -> Model:
    """Return a widget's traits as a page needs them."""
    state = {name: value for name, value in widget.get_state().items() if name not in _NOT_SAVED}
    return Model(bundle, state)


def fragment(widget: Any) -> Part:
    """Return one widget as a part of a page, to hand to `page` among others.

    Parameters
    ----------
    widget : TimelineEditor, TraceViewer, TokenComparison, RunPlanner, BucketExplorer, …
        Any widget of ours; the part shows it as it is now.

    Raises
    ------
    StepvizError
        Something else than a widget of ours.

    Examples
    --------
    >>> import stepviz as sv
    >>> part = fragment(sv.TimelineEditor(sv.lesson()))
    >>> part.bundles
    ('editor',)
    """
    find = getattr(widget, "_piece", None)
    if not callable(find):
        msg = (
            f"a page shows widgets of stepviz, such as a TimelineEditor, not a "
            f"{type(widget).__name__}"
        )
        raise StepvizError(msg)
    piece: Piece = find()
    data = {
        "models": [{"bundle": one.bundle, "state": dict(one.state)} for one in piece.models],
        "kernel": piece.kernel,
        "given": piece.given,
    }
    notes = "".join(f'<p class="sv-page-note">{escaped(note)}</p>' for note in piece.notes)
    text = (
        f'<div class="sv-page-part"><script type="application/json">{json_text(data)}</script>'
        f"<noscript>This widget needs JavaScript.</noscript></div>{notes}"
    )
    bundles = tuple(dict.fromkeys(one.bundle for one in piece.models))
    return Part(text, bundles, (piece.kernel,) if piece.kernel else ())


def page(title: str, parts: Iterable[Part | str], *, css: str = "", heading: bool = True) -> str:
    """Return a whole HTML page of parts: one text that needs no network and no kernel.

    Parameters
    ----------
    title : str
        Its title, escaped here.
    parts : iterable of Part or str
        From `fragment`, or trusted HTML: scripts in it do not run.
    css : str
        More styles, trusted.
    heading : bool
        Whether the title stands on top.

    Examples
    --------
    >>> text = page("<What & why>", ["<p>Nothing to drag here.</p>"])
    >>> "&lt;What &amp; why&gt;" in text
    True
    """
    listed = [Part(part) if isinstance(part, str) else part for part in parts]
    bundles = dict.fromkeys(name for part in listed for name in part.bundles)
    kernels = dict.fromkeys(name for part in listed for name in part.kernels)
    sheets = [_SHEET, *(bundle_text(f"{name}.css") for name in bundles), css]
    script = _script(bundles, kernels) if bundles else ""
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:; "
        f"base-uri 'none'; form-action 'none'; script-src {_hash(script)}"
    )
    body = "\n".join(part.html for part in listed)
    top = f"<h1>{escaped(title)}</h1>\n" if heading else ""
    style = "\n".join(sheets).replace("</", "<\\/")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escaped(title)}</title>\n<style>\n{style}\n</style>\n</head>\n<body>\n"
        f"{top}{body}\n{f'<script>{script}</script>' if script else ''}\n</body>\n</html>\n"
    )


def escaped(text: str) -> str:
    """Return text as it may stand anywhere in HTML; what no file can hold is replaced."""
    return html.escape(text.encode("utf-8", "replace").decode("utf-8"))


def json_text(data: Any) -> str:
    r"""Return JSON that may stand inside a script element, whatever texts are in it.

    Examples
    --------
    >>> json_text({"name": "</script>"})
    '{"name":"\\u003c/script\\u003e"}'
    """
    plain = json.dumps(data, allow_nan=False, separators=(",", ":"))  # ASCII: no U+2028 either
    for sign in "<>&":
        plain = plain.replace(sign, f"\\u{ord(sign):04x}")
    return plain


def _script(bundles: Iterable[str], kernels: Iterable[str]) -> str:
    """Return the one script of a page: plain, since pages from a disk import no modules."""
    lines = ['"use strict";', "(() => {", "const widgets = {}, kernels = {};"]
    lines += [f'widgets["{name}"] = {_function(f"{name}.js")};' for name in bundles]
    lines += [f'kernels["{name}"] = {_function(f"{name}.js")};' for name in kernels]
    lines += [f"{_function('page.js')}(document, widgets, kernels);", "})();"]
    return "\n".join(lines)


def _function(name: str) -> str:
    """Return a bundle as an expression whose value is its default export."""
    source = bundle_text(name)
    export = _EXPORT.search(source)
    if export is None:
        msg = f"stepviz/widgets/static/{name} has no default export: build it again (make bundle)"
        raise StepvizError(msg)
    body = source[: export.start()]
    for ends in ("</script", "<!--"):
        if ends in body.lower():
            msg = f"stepviz/widgets/static/{name} holds {ends!r}, which ends a page's script"
            raise StepvizError(msg)
    return f"(() => {{\n{body}return {export[1]};\n}})()"


def _hash(script: str) -> str:
    """Return what a policy calls the one script that may run."""
    if not script:
        return "'none'"
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


class Saved:
    """What every widget can be saved as: a page, a drawing, a picture."""

    def _piece(self) -> Piece:
        """Return the widget as it stands in a page."""
        raise NotImplementedError

    def _picture_svg(self) -> str:
        """Return the widget as a drawing, SVG."""
        raise NotImplementedError

    def _title(self) -> str:
        """Return what a page of it is called."""
        return type(self).__name__

    #: Whether the widget itself says so on top.
    _titled: ClassVar[bool] = False

    def save_html(self, path: str | os.PathLike[str], *, title: str | None = None) -> None:
        """Write the widget, as it is now, as a page that works without a kernel or a network.

        Parameters
        ----------
        path : path
            Of the file, such as ``"step.html"``; one that is there is replaced once the new one
            is whole.
        title : str, optional
            The page's title, shown on top; by default what the widget says of itself.

        Raises
        ------
        StepvizError
            Where the file cannot be written, or the title is no text.
        """
        if title is not None and not (isinstance(title, str) and title.strip()):
            msg = f"title is {title!r}: give a text, or leave it out"
            raise StepvizError(msg)
        name, seen = (self._title(), not self._titled) if title is None else (title, True)
        top = [] if seen else [f'<h1 class="sv-page-heard">{escaped(name)}</h1>']
        said = "Saved with stepviz; it needs neither a kernel nor a network."
        foot = f'<p class="sv-page-foot">{said}</p>'
        write_text(path, page(name, [*top, fragment(self), foot], heading=seen))

    def save_svg(self, path: str | os.PathLike[str]) -> None:
        """Write the widget, as it is now, as a drawing; no browser is needed.

        Parameters
        ----------
        path : path
            Of the file, such as ``"step.svg"``.

        Raises
        ------
        StepvizError
            Where the file cannot be written.
        """
        write_text(path, self._picture_svg())

    def save_png(self, path: str | os.PathLike[str], *, scale: float = 2.0) -> None:
        """Write the widget, as it is now, as a picture; needs ``stepviz[charts]``.

        Parameters
        ----------
        path : path
            Of the file, such as ``"step.png"``.
        scale : float
            Pixels per unit of the drawing.

        Raises
        ------
        StepvizError
            Where the file cannot be written, or what draws it is not installed.
        """
        from stepviz.charts.pictures import png_of  # most widgets are never saved

        write_bytes(path, png_of(self._picture_svg(), scale=scale))
