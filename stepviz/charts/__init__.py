"""Charts as plain Altair objects, to compose, save and theme like any other.

Altair is loaded when a chart is first made; ``pip install 'stepviz[charts]'`` brings it. What a
chart shows is in its data, unrounded. In JupyterLab without a network, Altair's default renderer
stays empty; call `offline` once, in the first cell. Charts put together with ``|`` or ``&`` share
their colours unless ``resolve_scale(color="independent")`` follows.
"""

from stepviz.charts.choice_charts import plan_chart, roofline_chart, sweep_chart
from stepviz.charts.drawing import offline
from stepviz.charts.step_charts import before_after_chart, sensitivity_chart, timeline_chart
from stepviz.charts.step_drawings import timeline_svg

__all__ = [
    "before_after_chart",
    "offline",
    "plan_chart",
    "roofline_chart",
    "sensitivity_chart",
    "sweep_chart",
    "timeline_chart",
    "timeline_svg",
]
