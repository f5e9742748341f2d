"""The built front end, as text: one ES module and one style sheet, with nothing to download."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def bundle_text(name: str) -> str:
    """Return a file of the built front end, read once for all widgets of a process.

    Parameters
    ----------
    name : {"editor.js", "editor.css"}
        The file in ``stepviz/widgets/static``.

    Returns
    -------
    str
        Its text, which a widget hands over as it is: given a path instead, anywidget would watch
        the file and keep every widget alive, closed or not.
    """
    return files("stepviz.widgets").joinpath("static", name).read_text(encoding="utf-8")
