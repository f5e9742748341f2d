"""Widgets that are boxes of other widgets of ours: closed with what is in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import ipywidgets


class PartsBox(ipywidgets.VBox):  # type: ignore[misc]  # ipywidgets has no types
    """A box that owns its parts, and its layout unless it was given one.

    Parameters
    ----------
    children : sequence of widgets
        What is in it at first, from top to bottom.
    layout : ipywidgets.Layout or dict, optional
        As for any widget.
    """

    #: Names of the attributes that hold the parts, shown or not.
    _parts: ClassVar[tuple[str, ...]] = ()

    _own_layout = False

    def __init__(self, children: Sequence[ipywidgets.Widget], layout: Any = None) -> None:
        self._own_layout = layout is None
        super().__init__(children=children, **({} if layout is None else {"layout": layout}))

    def close(self) -> None:
        """Close the widget and free it, here and in the page."""
        layout = self.layout if self._own_layout and self.comm is not None else None
        if self.comm is not None:
            # JupyterLab may keep a closed box, which keeps what it held now and one change before.
            self.children: Sequence[ipywidgets.Widget] = ()
            self.send_state("children")
        super().close()
        if layout is not None:
            layout.close()  # ipywidgets leaves it open, since users may share theirs
        for name in self._parts:
            part = self.__dict__.get(name)  # missing where it could not be made
            if part is not None:
                part.close()
