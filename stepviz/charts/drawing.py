"""What all charts share: Altair, loaded late, colours, and how they are shown offline."""

from __future__ import annotations

from typing import Any, Final

from stepviz.errors import StepvizError

#: Fills as the editor has on a light page: apart from each other for colour-blind readers too.
COLORS: Final = {
    "input": "#1495fa",
    "forward": "#1b5b97",
    "backward": "#853adf",
    "exchange": "#b04d03",
    "optimizer": "#12947c",
    "recompute": "#a69328",
    "checkpoint": "#f052b8",
    "host": "#3c2a0c",
    "other": "#5a494e",
    "wait": "#b88461",
    "idle": "#e4e7eb",
    "unexplained": "#8f959b",
}
ACCENT: Final = "#0b62c4"
NEAR: Final = "#fff0c2"
WIDTH: Final = 640
#: Altair's own limit of rows in a chart.
MOST: Final = 5000


def offline(*, interactive: bool = False) -> Any:
    """Show charts without a network from here on, or within a ``with``.

    Parameters
    ----------
    interactive : bool
        Keep tooltips and zooming, which puts 0.9 MB into the notebook for each chart; otherwise
        charts are pictures of some kB.

    Returns
    -------
    context manager
        The renderer of before comes back when it is left; without ``with`` it stays.

    Examples
    --------
    >>> with offline():
    ...     chart = sv.charts.timeline_chart(sv.lesson())
    """
    altair = load_altair()
    if interactive:
        return altair.renderers.enable("jupyter", offline=True)
    return altair.renderers.enable("svg")


def load_altair() -> Any:
    """Return the module, or say what to install."""
    try:
        import altair as alt
    except ModuleNotFoundError:
        msg = "charts need Altair, which is not installed: pip install 'stepviz[charts]'"
        raise StepvizError(msg) from None
    return alt


def colors(names: list[str]) -> Any:
    """Return the scale of kinds and parts that these names have everywhere."""
    return load_altair().Scale(domain=names, range=[COLORS[name] for name in names])
