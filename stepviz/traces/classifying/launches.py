"""When a device's work was launched: to tell a device that waits from a host that is late."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from stepviz.traces.classifying.name_traits import Trait, traits
from stepviz.traces.classifying.windows import Window
from stepviz.traces.reading.masks import among, of_codes
from stepviz.traces.reading.rows import CALLS, DEVICE
from stepviz.traces.table import Table

IntArray = npt.NDArray[np.int64]

#: A row that starts on a device idle for this long was not held by the row before it.
IDLE_NS: Final = 20_000
#: From the start of a launch to the start of its row on an idle device, where too few tell.
USUAL_LAG_NS: Final = 25_000
#: No launch lag is called ordinary beyond this.
LONGEST_LAG_NS: Final = 50_000
#: So many rows must tell.
FEWEST: Final = 8


@dataclass(frozen=True)
class Launches:
    """Launches of one rank's step: starts of its device rows, when each was launched, waits.

    `starts` is sorted; `launched` is −1 where the launch is not in the file. `waiting` holds
    start and end of the host calls that wait for the device, sorted by end.
    """

    ordinary: int
    starts: IntArray
    launched: IntArray
    waiting: IntArray

    def late(self, start: int, launched: int) -> bool:
        """Say whether a row started when it did because it was launched only just before."""
        return launched >= 0 and start - launched <= self.ordinary

    def launch_of(self, start: int) -> int:
        """Return when the first row that starts at `start` was launched, −1 if nothing tells."""
        low, high = np.searchsorted(self.starts, [start, start + 1])
        known = self.launched[low:high]
        known = known[known >= 0]
        return int(known.min()) if len(known) else -1

    def let_go(self, moment: int, launched: int, within: int) -> bool:
        """Say whether a call that waited until just after `moment` came before a launch."""
        at = int(np.searchsorted(self.waiting[:, 1], moment, side="left"))
        while at < len(self.waiting) and self.waiting[at, 1] <= min(launched, moment + within):
            if self.waiting[at, 0] < moment:
                return True
            at += 1
        return False


#: A rank without a device.
NO_LAUNCHES: Final = Launches(
    USUAL_LAG_NS,
    np.empty(0, dtype=np.int64),
    np.empty(0, dtype=np.int64),
    np.empty((0, 2), dtype=np.int64),
)


def ordinary_lag(events: Table) -> int:
    """Return how long a launch usually takes to start its row on a device that is idle, ns.

    Twice the median over rows that found the device idle, so that only what takes longer
    than a launch does is put down to something else.
    """
    device = np.flatnonzero(among(events["cat"], DEVICE))
    start, finish = events["start_ns"], events["finish_ns"]
    launcher = events["launcher"]
    device = device[np.argsort(start[device], kind="stable")]
    if len(device) < FEWEST:
        return USUAL_LAG_NS
    reach = np.maximum.accumulate(finish[device])
    alone = np.flatnonzero(start[device][1:] - reach[:-1] >= IDLE_NS) + 1
    rows = device[alone]
    rows = rows[launcher[rows] >= 0]
    lags = start[rows] - start[launcher[rows]]
    lags = lags[lags >= 0]
    if len(lags) < FEWEST:
        return USUAL_LAG_NS
    return int(min(2 * np.median(lags), LONGEST_LAG_NS))


def launches(events: pd.DataFrame, window: Window, ordinary: int) -> Launches:
    """Return the launches of one step on one rank; exchange is left out."""
    if window.measured != "device":
        return NO_LAUNCHES
    start, finish = events["start_ns"].to_numpy(), events["finish_ns"].to_numpy()
    inside = (start < window.finish_ns) & (finish >= window.start_ns)
    device = among(events["cat"], DEVICE)
    own = np.flatnonzero(inside & device & ~among(events["kind"], ("exchange",)))
    own = own[np.argsort(start[own], kind="stable")]
    launcher = events["launcher"].to_numpy()[own]
    launched = np.where(launcher >= 0, start[launcher], -1)
    names = events["name"].array
    waits = traits(map(str, names.categories.tolist())) & Trait.WAITING_CALL > 0
    calls = inside & among(events["cat"], CALLS) & of_codes(waits, names.codes)
    waiting = np.column_stack((start[calls], finish[calls]))
    waiting = waiting[np.argsort(waiting[:, 1], kind="stable")]
    return Launches(ordinary, start[own], launched, waiting)
