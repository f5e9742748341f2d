"""The knobs and the sweep of the bucket explorer."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Final

import pandas as pd

from stepviz.builders.bucket_sweeps import bucket_sweep, default_caps, gradients_behind
from stepviz.builders.contention import Contention
from stepviz.builders.costs import AlphaBeta
from stepviz.builders.ddp_steps import ddp
from stepviz.core.checks import as_real
from stepviz.core.timeline import Timeline
from stepviz.errors import CostError, TimelineError
from stepviz.throughput.figures import number_text
from stepviz.widgets.bucket_page import buckets_given
from stepviz.widgets.bucket_pictures import sweep_picture, unsplit_note
from stepviz.widgets.drawings import sweep_svg
from stepviz.widgets.knobs import Knob, KnobWidget, Picture, Settings
from stepviz.widgets.pages import Piece, model_of

#: torch's cap, MiB.
_TORCH_CAP: Final = 25.0
_LATENCIES: Final = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
#: A bandwidth is turned in steps of √2, so far to either side.
_STEPS: Final = 8
_OPENING: Final = {"first_bucket": None, "bandwidth": 25.0, "latency": 0.1, "compute": 1.0}

_KNOBS: Final = (
    Knob(
        "cap",
        "bucket cap",
        show="number",
        unit="MiB",
        group="buckets",
        help="A bucket is closed once it has reached it.",
    ),
    Knob(
        "first_bucket",
        "first bucket",
        show="number",
        unit="MiB",
        group="buckets",
        track=False,
        choices=((None, "as the cap"),),
        help="A cap of its own for the bucket launched first.",
    ),
    Knob("bandwidth", "bandwidth", unit="GB/s", group="link", track=False, help="Large messages'."),
    Knob("latency", "latency", unit="ms", group="link", track=False, help="Of every collective."),
    Knob(
        "compute",
        "compute beside exchange",
        show="percent",
        group="link",
        track=False,
        help="Compute's speed while an exchange runs beside it.",
    ),
    Knob("backward", "backward", unit="ms", group="step", track=False, help="Without contention."),
)


@dataclass(frozen=True)
class StepGiven:
    """What is exchanged, and the rest of the step.

    Parameters
    ----------
    parameters
        As for `ddp`.
    forward, optimizer : float
        ms.
    lead : float
        How long before the last recorded bucket the first was ready, ms: no backward is shorter.
    """

    parameters: Any
    forward: float
    optimizer: float
    lead: float = 0.0


class BucketPanel(KnobWidget):
    """Sliders, and the completion over the bucket cap; see `BucketExplorer`."""

    _bundle: ClassVar[str] = "buckets"
    _error: ClassVar[type[TimelineError]] = TimelineError

    def __init__(self, given: StepGiven, settings: Mapping[str, Any]) -> None:
        self._given = given
        self._caps = default_caps(gradients_behind(given.parameters))
        self._start = dict(settings)
        self._swept = lru_cache(maxsize=64)(self._sweep)
        super().__init__({})

    def sweep(self, settings: Settings | None = None) -> pd.DataFrame:
        """Return the sweep at these settings, the current ones unless given."""
        s = self.value if settings is None else settings
        names = ("first_bucket", "bandwidth", "latency", "compute", "backward")
        return self._swept(self._tried(s["cap"]), *(s[name] for name in names))

    def timeline(self) -> Timeline:
        """Return the step at the chosen cap."""
        s = self.value
        step = ddp(
            self._given.parameters,
            backward=s["backward"],
            forward=self._given.forward,
            optimizer=self._given.optimizer,
            bucket_cap_mb=s["cap"],
            first_bucket_mb=s["first_bucket"],
            cost=AlphaBeta(s["latency"], s["bandwidth"]),
        )
        named = step.with_name(f"cap {number_text(s['cap'])} MiB")
        return named if s["compute"] == 1 else named.apply(Contention(compute=s["compute"]))

    def __repr__(self) -> str:
        return f"<BucketPanel: {self._shown['picture']['headline']}>"

    def _piece(self) -> Piece:
        given, stops = self._given, self._stops(self.value)
        data = buckets_given(given.parameters, given.forward, given.optimizer, stops)
        return Piece((model_of(self, "buckets"),), "page_buckets", data)

    _titled = True

    def _title(self) -> str:
        return "Which bucket cap?"

    def _picture_svg(self) -> str:
        return sweep_svg(self._now()[1])

    # As a widget with knobs

    def _knobs(self) -> list[Knob]:
        return list(_KNOBS)

    def _opening(self) -> Settings:
        cap = min(_TORCH_CAP, self._caps[-1])
        return {"cap": cap, **_OPENING, "backward": 200.0, **self._start}

    def _stops(self, settings: Settings) -> dict[str, list[Any]]:
        begun = self._opening()
        around = [2 ** (k / 2) for k in range(-_STEPS, _STEPS + 1)]
        backward = [begun["backward"] * factor for factor in around]
        return {
            "cap": list(self._tried(settings["cap"])),
            "first_bucket": [None, 0.25, 1.0, 4.0, 16.0],
            "bandwidth": [begun["bandwidth"] * factor for factor in around],
            "latency": sorted({*_LATENCIES, begun["latency"]}),
            "compute": [k / 20 for k in range(10, 21)],
            "backward": [ms for ms in backward if ms >= self._given.lead],
        }

    def _tried(self, cap: float) -> tuple[float, ...]:
        torchs = {_TORCH_CAP} if self._caps[-1] > _TORCH_CAP else set()
        return tuple(sorted({*self._caps, *torchs, self._opening()["cap"], cap}))

    def _completed(self, given: Any) -> Settings:
        settings = super()._completed(given)
        for name, value in settings.items():
            if value is None and name == "first_bucket":
                continue
            number = as_real(value)
            if number is None or not math.isfinite(number):
                msg = f"{name} is {value!r}: give a number"
                raise TimelineError(msg)
        return settings

    def _picture(self, settings: Settings) -> Picture:
        try:
            sweep = self.sweep(settings)
        except CostError as error:
            raise TimelineError(str(error)) from None
        first = settings["first_bucket"]
        told = {name: settings[name] for name in ("latency", "backward", "compute")}
        picture = sweep_picture(sweep, settings["cap"], **told)
        note = unsplit_note(self._given.parameters, settings["cap"], first)
        return {**picture, "notes": [note] if note else []}

    def _sweep(
        self,
        caps: tuple[float, ...],
        first_bucket: float | None,
        bandwidth: float,
        latency: float,
        compute: float,
        backward: float,
    ) -> pd.DataFrame:
        return bucket_sweep(
            self._given.parameters,
            caps,
            backward=backward,
            forward=self._given.forward,
            optimizer=self._given.optimizer,
            first_bucket_mb=first_bucket,
            cost=AlphaBeta(latency, bandwidth),
            contention=None if compute == 1 else Contention(compute=compute),
        )
