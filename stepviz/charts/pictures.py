"""Drawings as pictures: SVG turned into PNG by what Altair saves with."""

from __future__ import annotations

from typing import Any

from stepviz.errors import StepvizError


def png_of(drawing: str, *, scale: float = 2.0) -> bytes:
    """Return an SVG drawing as PNG.

    Parameters
    ----------
    drawing : str
        SVG that loads nothing.
    scale : float
        Pixels per unit.

    Raises
    ------
    StepvizError
        Where vl-convert is not installed, or `scale` is no number from 0.1 to 10.
    """
    if isinstance(scale, bool) or not isinstance(scale, int | float) or not 0.1 <= scale <= 10:
        msg = f"scale is {scale!r}: give a number from 0.1 to 10, such as 2"
        raise StepvizError(msg)
    try:
        import vl_convert  # a compiled converter that only this needs
    except ModuleNotFoundError:
        msg = (
            "a PNG needs vl-convert, which is not installed: pip install 'stepviz[charts]', or "
            "save an SVG, which needs nothing"
        )
        raise StepvizError(msg) from None
    converter: Any = vl_convert
    return bytes(converter.svg_to_png(drawing, scale=scale))
