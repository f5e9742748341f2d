"""The fine level: one graph over all rows of all ranks of a step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from stepviz.traces.graph.answers import WhatIf
from stepviz.traces.graph.edits import Edit
from stepviz.traces.joining.clocks import Clash
from stepviz.traces.joining.joins import Exchange
from stepviz.traces.rank_trace import RankStep


class Fine:
    """The graph of all rows of a step."""

    def __init__(
        self, ranks: Mapping[int, RankStep], exchanges: Sequence[Exchange], clash: Clash | None
    ) -> None:
        self._ranks = ranks
        self._exchanges = exchanges
        self._clash = clash

    def path(self) -> pd.DataFrame:
        """Return the observed critical path."""
        raise NotImplementedError

    def replay(self) -> WhatIf:
        """Solve the unedited graph."""
        raise NotImplementedError

    def what_if(self, edits: Iterable[Edit]) -> WhatIf:
        """Solve the graph with other durations."""
        raise NotImplementedError

    def no_stragglers(self) -> WhatIf:
        """Solve the graph with no rank slower than the median."""
        raise NotImplementedError
