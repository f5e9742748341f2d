"""A training plan as a form: any one number solved for, with a band and what comes on top."""

from __future__ import annotations

from dataclasses import fields, replace
from numbers import Real
from typing import Any, ClassVar, Final

from stepviz.errors import ThroughputError, near
from stepviz.throughput.figures import Quantity, number_text, percent
from stepviz.throughput.peak_catalogue import Peak, peak, peak_table
from stepviz.throughput.plan_solving import UNKNOWNS
from stepviz.throughput.plans import TrainingPlan
from stepviz.widgets.drawings import plan_svg
from stepviz.widgets.knobs import Knob, KnobWidget, Picture, Settings
from stepviz.widgets.pages import Piece, model_of
from stepviz.widgets.plan_pictures import plan_picture
from stepviz.widgets.planner_page import planner_given

#: The lesson's run.
_LESSON: Final = {
    "parameters": 7e9,
    "tokens": 100e9,
    "devices": 64,
    "peak": 300e12,
    "mfu": 0.4,
}
_SOLVE: Final = {
    "days": "how many days it takes",
    "devices": "devices",
    "mfu": "MFU",
    "tokens": "tokens",
    "parameters": "parameters",
    "peak": "peak of a device",
}
_OWN_PEAK: Final = "a figure of my own"

_WORK: Final = (
    Knob("parameters", "parameters", "number", unit="N", group="run", help="Active ones: 7B."),
    Knob("tokens", "tokens", "number", unit="D", group="run", help="Trained on: 100B, epochs too."),
    Knob("devices", "devices", "number", group="run", help="All that share the work."),
)
_SPEED: Final = (
    Knob(
        "peak",
        "peak per device",
        "number",
        unit="FLOP/s",
        group="run",
        help="Dense, as 989.4T.",
    ),
    Knob("mfu", "MFU", "number", "percent", "%", group="run", help="Under the plan's convention."),
    Knob("mfu_low", "MFU at worst", "number", "percent", "%", group="run", help="A fifth below."),
    Knob("mfu_high", "MFU at best", "number", "percent", "%", group="run", help="A fifth above."),
    Knob("days", "days", "number", unit="days", group="run", help="That it may take."),
    Knob(
        "days_are",
        "days are",
        "choice",
        group="run",
        choices=(
            ("elapsed", "elapsed, with what comes on top"),
            ("active", "active, updates alone"),
        ),
    ),
)
_ON_TOP: Final = (
    Knob("checkpoint_seconds", "checkpoint stops", "number", unit="s each", group="top"),
    Knob("checkpoint_every", "every", "number", unit="s of training", group="top"),
    Knob("evaluation_seconds", "evaluation stops", "number", unit="s each", group="top"),
    Knob("evaluation_every", "every", "number", unit="s of training", group="top"),
    Knob("failures_per_device_day", "failures", "number", unit="per device-day", group="top"),
    Knob("restart_seconds", "a restart takes", "number", unit="s", group="top"),
    Knob("downtime_days", "downtime", "number", unit="days in all", group="top"),
)
_COSTS: Final = (
    Knob("price_per_device_hour", "device-hour", "number", unit="currency", group="cost"),
    Knob("watts_per_device", "power", "number", unit="W per device", group="cost"),
    Knob("power_usage_effectiveness", "hall ÷ machines", "number", unit="(PUE)", group="cost"),
    Knob("price_per_kwh", "kWh", "number", unit="currency", group="cost"),
)
#: These may be left empty.
_OPTIONAL: Final = (
    "mfu_low",
    "mfu_high",
    "price_per_device_hour",
    "watts_per_device",
    "price_per_kwh",
)
_STOPS: Final = {"mfu": [k / 20 for k in range(1, 17)], "devices": [2**k for k in range(15)]}
_PASSED: Final = tuple(knob.name for knob in (*_ON_TOP, *_COSTS))


class RunPlanner(KnobWidget):
    """How long a run takes, or what it takes to make it so long: a `TrainingPlan` as a form.

    It opens with the lesson's run: 7B parameters, 100B tokens, 64 devices of 300 TFLOP/s, 40 %
    MFU: 6.33 days.

    Parameters
    ----------
    plan : TrainingPlan, optional
        What to begin with; its shape, convention and what its MFU includes stay as they are. The
        number that it lacks is solved for.
    layout : ipywidgets.Layout or dict, optional
        As for any widget.
    **settings
        Numbers of `TrainingPlan` by name, and `unknown` (what is solved for), `days`, `days_are`
        (elapsed or active), `device` (a name of the catalogue, for its dense bf16 peak),
        `mfu_low`, `mfu_high`.

    Raises
    ------
    ThroughputError
        A number without meaning, or a plan that nothing solves.
    TypeError
        An unknown argument.

    Examples
    --------
    >>> import stepviz as sv
    >>> planner = sv.RunPlanner()
    >>> planner.answer
    6.33 days (6N_all, elapsed)
    >>> planner.value = {"unknown": "mfu", "days": 5}
    >>> planner.answer
    0.506 of peak (6N_all)
    >>> planner.plan.devices
    64
    """

    _bundle: ClassVar[str] = "planner"
    _error: ClassVar[type[ThroughputError]] = ThroughputError

    def __init__(
        self, plan: TrainingPlan | None = None, *, layout: Any = None, **settings: Any
    ) -> None:
        if plan is not None and not isinstance(plan, TrainingPlan):
            msg = f"plan is {type(plan).__name__}: give a TrainingPlan, or its numbers by name"
            raise ThroughputError(msg)
        self._base = TrainingPlan() if plan is None else plan
        begun = {} if plan is None else _settings_of(plan)
        known = self._opening()
        for name in settings:
            if name not in known:
                msg = (
                    f"RunPlanner has no argument {name!r}: {near(name, ['plan', *known], most=30)}"
                )
                raise TypeError(msg)
        if isinstance(settings.get("peak"), Peak):
            settings["peak"] = settings["peak"].flops
        super().__init__({**begun, **settings}, layout=layout)

    @property
    def plan(self) -> TrainingPlan:
        """The plan with all its numbers, the one that was solved for among them."""
        return self._solved(self.value)[0]

    @property
    def answer(self) -> Quantity:
        """What was solved for."""
        return self._solved(self.value)[1]

    def __repr__(self) -> str:
        return f"<RunPlanner: {self._shown['picture']['headline']}>"

    def _repr_html_(self) -> str:
        return self.plan._repr_html_()

    # As a widget with knobs

    def _knobs(self) -> list[Knob]:
        shaped = self._base.shape is not None
        solve = [
            (name, text) for name, text in _SOLVE.items() if not shaped or name != "parameters"
        ]
        devices = tuple((name, name or _OWN_PEAK) for name in ("", *_catalogue()))
        return [
            Knob("unknown", "Solve for", "choice", choices=tuple(solve), group="ask"),
            *(knob for knob in _WORK if not shaped or knob.name != "parameters"),
            Knob(
                "device", "device", "choice", choices=devices, group="run", help="Dense bf16 peak."
            ),
            *_SPEED,
            *_ON_TOP,
            *_COSTS,
        ]

    def _opening(self) -> Settings:
        opening: Settings = {
            "unknown": "days",
            **_LESSON,
            "device": "",
            "mfu_low": None,
            "mfu_high": None,
            "days": 7,
            "days_are": "elapsed",
            **{name: getattr(TrainingPlan(), name) for name in _PASSED},
        }
        if self._base.shape is not None:
            del opening["parameters"]
        return opening

    def _stops(self, settings: Settings) -> dict[str, list[Any]]:
        return {name: list(held) for name, held in _STOPS.items() if name != settings["unknown"]}

    def _piece(self) -> Piece:
        stops = {name: list(held) for name, held in _STOPS.items()}
        about = self._about(self.plan)
        given = planner_given(self._base, about, stops, _catalogue(), _OPTIONAL)
        return Piece((model_of(self, "planner"),), "page_planner", given)

    _titled = True

    def _title(self) -> str:
        return "How long will the run take?"

    def _picture_svg(self) -> str:
        return plan_svg(self._now()[1])

    def _completed(self, given: Any) -> Settings:
        settings = super()._completed(given)
        for knob in self._knobs():
            name, value = knob.name, settings[knob.name]
            if knob.kind == "choice":
                options = [option for option, _ in knob.choices]
                if value not in options:
                    msg = f"{name} is {value!r}: {near(value, options, most=12)}"
                    raise ThroughputError(msg)
            elif value is None and (name in _OPTIONAL or name == settings["unknown"]):
                continue
            elif isinstance(value, bool) or not isinstance(value, Real):
                written = "empty" if value is None else repr(value)
                msg = f"{name} is {written}: give a number"
                raise ThroughputError(msg)
            elif (
                knob.show == "percent" and name != settings["unknown"] and not 0 < float(value) <= 1
            ):
                msg = (
                    f"{name} is {100 * value:g} %: give more than 0 % and at most 100 % "
                    "(in Python 40 % is 0.4)"
                )
                raise ThroughputError(msg)
        return settings

    def _picture(self, settings: Settings) -> Picture:
        plan, answer = self._solved(settings)
        picture = plan_picture(plan, settings["unknown"], answer)
        solved: dict[str, float] = {"peak": plan.peak_flops, settings["unknown"]: float(answer)}
        return {**picture, "solved": solved, "about": self._about(plan)}

    def _about(self, plan: TrainingPlan) -> str:
        said = f"FLOPs under {plan.convention}: {plan.flops_per_token.how}."
        if plan.included:
            said += f" The MFU includes {', '.join(plan.included)}."
        return said

    def _solved(self, settings: Settings) -> tuple[TrainingPlan, Quantity]:
        """Return the plan with everything in it, and what was solved for."""
        unknown = settings["unknown"]
        given: dict[str, Any] = {name: settings[name] for name in _PASSED}
        for name in ("parameters", "tokens", "devices", "mfu"):
            if name in settings:
                given[name] = None if name == unknown else settings[name]
        device = settings["device"]
        given["peak"] = peak(device, "bf16") if device else settings["peak"]
        if unknown == "peak":
            given["peak"] = None
        low, high = settings["mfu_low"], settings["mfu_high"]
        if (low is None) != (high is None):
            msg = "the MFU's range has one end: give both, at worst and at best, or neither"
            raise ThroughputError(msg)
        if low is not None and low > high:
            msg = (
                f"the MFU at worst, {percent(low)}, is above that at best, {percent(high)}: "
                "give the lower one as the worst"
            )
            raise ThroughputError(msg)
        given["mfu_range"] = None if low is None else (low, high)
        plan = replace(self._base, **given)
        if unknown == "days":
            return plan, plan.days if settings["days_are"] == "active" else plan.elapsed_days
        wanted = {"elapsed": "elapsed_days", "active": "days"}[settings["days_are"]]
        answer = plan.solve_for(unknown, **{wanted: settings["days"]})
        if unknown == "mfu" and float(answer) > 1:
            days = number_text(settings["days"])
            msg = (
                f"it would take an MFU of {percent(float(answer))}, more than the devices can do: "
                f"give it more than {days} days, more devices, or less work"
            )
            raise ThroughputError(msg)
        found: dict[str, Any] = {unknown: float(answer)}
        if unknown == "mfu":
            found["mfu_range"] = None  # it was of a guess; this is what it takes
        return replace(plan, **found), answer


def _catalogue() -> list[str]:
    """Return the devices that have a dense bf16 peak."""
    table = peak_table()
    return [str(device) for device, precision in table.index if precision == "bf16"]


def _settings_of(plan: TrainingPlan) -> Settings:
    """Return a plan's numbers as settings, and what it lacks as the unknown."""
    held = {field.name: getattr(plan, field.name) for field in fields(plan)}
    found: Settings = {name: held[name] for name in _PASSED}
    lacks = [
        name
        for name in UNKNOWNS
        if name != "days" and held[name] is None and not (name == "parameters" and plan.shape)
    ]
    if len(lacks) > 1:
        msg = f"this plan lacks {' and '.join(lacks)}: give all but one, which is solved for"
        raise ThroughputError(msg)
    for name in ("parameters", "tokens", "devices"):
        if held[name] is not None:
            found[name] = held[name]
    if plan.mfu is not None:
        found["mfu"] = plan.utilization
    if plan.peak is not None:
        found["peak"] = plan.peak_flops
    if plan.mfu_range is not None:
        found["mfu_low"], found["mfu_high"] = plan.mfu_range
    return {**found, "unknown": lacks[0]} if lacks else found
