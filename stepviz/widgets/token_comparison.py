"""One fixture under every convention at once: which numerator improved, and which did not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

import pandas as pd

from stepviz.errors import ThroughputError, near
from stepviz.throughput.checks import real, share, whole
from stepviz.throughput.counting import count_tokens
from stepviz.throughput.figures import number_text
from stepviz.throughput.layouts import LESSON_MS_PER_POSITION
from stepviz.throughput.loss_reductions import loss_denominators
from stepviz.throughput.model_shapes import ModelShape
from stepviz.throughput.packing_cases import PackingCase, packed_case, slider_case, timed_case
from stepviz.throughput.peak_catalogue import Peak, roof_of
from stepviz.throughput.token_counts import TokenCounts
from stepviz.widgets.drawings import tokens_svg
from stepviz.widgets.knobs import Knob, KnobWidget, Picture, Settings
from stepviz.widgets.pages import Piece, model_of
from stepviz.widgets.token_page import layout_of, model_given, tokens_given
from stepviz.widgets.token_pictures import case_picture, case_table, losses_picture

#: The lesson's device and a model of its size, for a utilization to be told at all.
_LESSON_PEAK: Final = 300e12
_LESSON_MODEL: Final = {
    "layers": 32,
    "hidden": 4096,
    "heads": 32,
    "ffn": 11008,
    "gated": True,
    "vocab": 32000,
    "name": "a dense 7B model",
}
#: Losses of two ranks' microbatches whose reductions all differ.
_LESSON_LOSSES: Final = (((2.0, 2.0, 2.0, 2.0), (6.0,)), ((1.0, 1.0, 1.0), (5.0,)))

_MOST_PACKED: Final = 8
_ACCUMULATIONS: Final = (1, 2, 4, 8, 16, 32)

#: Beyond these a batch made by sliders can't be drawn, or an update is none.
_MOST: Final = {"sequences": 64, "length": 256, "packing": 512, "accumulation": 4096}

_MADE: Final = (
    Knob("sequences", "sequences", show="count", help="Rows of the padded batch.", group="batch"),
    Knob(
        "length",
        "row length",
        show="count",
        unit="positions",
        help="Each padded row.",
        group="batch",
    ),
    Knob(
        "padding", "padding", show="percent", help="Share of the padded rows, about.", group="batch"
    ),
    Knob(
        "spread",
        "lengths differ",
        show="percent",
        help="0: all sequences of one length; 100 %: as different as that padding allows.",
        group="batch",
    ),
    Knob("prompt", "prompt share", show="percent", help="Positions not scored.", group="batch"),
)
_PACKING: Final = Knob(
    "packing",
    "packing",
    show="count",
    unit="per row",
    help="The most sequences in a packed row; 1 leaves the batch as it is.",
    group="change",
)
_ALWAYS: Final = (
    Knob(
        "accumulation",
        "accumulation",
        show="count",
        unit="per update",
        help="Such microbatches in one update, one after the other.",
        group="change",
    ),
    Knob(
        "skips_padding",
        "kernels skip padding",
        kind="switch",
        help="Then padding takes no time, and packing gains none.",
        group="change",
    ),
)
_OPENING: Final = {
    "sequences": 2,
    "length": 4,
    "padding": 0.25,
    "spread": 0.0,
    "prompt": 2 / 3,
    "packing": 2,
    "accumulation": 1,
    "skips_padding": False,
}


@dataclass(frozen=True)
class _Given:
    """A batch of the user's own, or none, and how it was timed."""

    batch: Any
    seconds: float | None
    after: Any
    after_seconds: float | None
    pad_id: int | None

    def __post_init__(self) -> None:
        """Refuse what cannot be compared."""
        if self.batch is None and (self.seconds, self.after, self.after_seconds) != (None,) * 3:
            msg = "there is no batch that these seconds belong to: give batch, then seconds"
            raise ThroughputError(msg)
        lone = (self.after is None) != (self.after_seconds is None)
        if lone or (self.after is not None and self.seconds is None):
            msg = (
                "two layouts are compared by their measured times: give after with seconds and "
                "after_seconds, or leave after out to see the batch packed"
            )
            raise ThroughputError(msg)
        for batch, pad_id in ((self.batch, self.pad_id), (self.after, None)):
            if batch is not None:
                count_tokens(batch, scope="microbatch", pad_id=pad_id)
        for name in ("seconds", "after_seconds"):
            if getattr(self, name) is not None:
                real(getattr(self, name), name, above=0)

    def case(self, settings: Settings) -> PackingCase:
        if self.batch is None:
            return slider_case(**settings)
        if self.after is not None:
            both = (float(self.seconds or 0), float(self.after_seconds or 0))
            return timed_case(self.batch, self.after, both, **settings)
        return packed_case(self.batch, seconds=self.seconds, pad_id=self.pad_id, **settings)

    def about_time(self) -> str:
        if self.after is not None:
            return "Both times are measured."
        if self.seconds is not None:
            return "The time as it is was measured; packed, the same per executed position."
        return f"Assumed: {LESSON_MS_PER_POSITION:g} ms per executed position, as in the lesson."


class TokenComparison(KnobWidget):
    """A batch as it is and packed, under every name that is called "tokens per second".

    It opens with the lesson's fixture: 8 positions with 2 scored targets in 4 ms, packed into 6
    in 3 ms. Processed positions per second stay 2,000; scored targets go from 500 to 667.

    Parameters
    ----------
    batch : mapping, optional
        A microbatch of your own, as for `count_tokens`, instead of one made by sliders.
    seconds : float, optional
        How long it took, s. Without it 0.5 ms per executed position are assumed, as in the
        lesson.
    after : mapping, optional
        The same work in another layout, with `after_seconds`; without it the batch is packed and
        its time predicted from the executed positions.
    after_seconds : float, optional
        How long that took, s.
    pad_id : int, optional
        The id of padding, where the batch has no mask.
    shape, peak, devices : optional
        Model and device of the utilizations, as for `mfu`; a dense 7B model at 300 TFLOP/s unless
        given.
    losses : list of list of list of float, optional
        Token losses by rank and microbatch, as for `loss_denominators`.
    layout : ipywidgets.Layout or dict, optional
        As for any widget.
    **settings
        Where the sliders are at first: sequences, length, padding, spread, prompt, packing,
        accumulation, skips_padding.

    Raises
    ------
    ThroughputError
        A batch with nothing to count, or a setting out of range.
    TypeError
        An unknown argument.

    Examples
    --------
    >>> import stepviz as sv
    >>> tokens = sv.TokenComparison()
    >>> tokens.table.loc["scored targets per second", ["before", "after"]].round(1).tolist()
    [500.0, 666.7]
    >>> tokens.value = {"accumulation": 8}
    >>> [c.ms_per_update for c in tokens.counts]
    [32.0, 24.0]
    """

    _bundle: ClassVar[str] = "tokens"
    _error: ClassVar[type[ThroughputError]] = ThroughputError

    def __init__(
        self,
        batch: Any = None,
        *,
        seconds: float | None = None,
        after: Any = None,
        after_seconds: float | None = None,
        pad_id: int | None = None,
        shape: Any = None,
        peak: Any = None,
        devices: int = 1,
        losses: Any = None,
        layout: Any = None,
        **settings: Any,
    ) -> None:
        self._given = _Given(batch, seconds, after, after_seconds, pad_id)
        self._shape = ModelShape(**_LESSON_MODEL) if shape is None else shape  # type: ignore[arg-type]  # numbers
        self._peak = _LESSON_PEAK if peak is None else peak
        roof_of(self._peak)
        self._devices = whole(devices, "devices", least=1)
        self._losses = _LESSON_LOSSES if losses is None else losses
        loss_denominators(self._losses)
        known = [knob.name for knob in self._knobs()]
        for name in settings:
            if name not in known:
                options = ("batch", "seconds", "after", "after_seconds", "pad_id", "shape", "peak")
                every = (*known, *options, "devices", "losses", "layout")
                msg = f"TokenComparison has no argument {name!r} here: {near(name, every, most=20)}"
                raise TypeError(msg)
        super().__init__(settings, layout=layout)

    def load(
        self,
        batch: Any = None,
        *,
        seconds: float | None = None,
        after: Any = None,
        after_seconds: float | None = None,
        pad_id: int | None = None,
    ) -> None:
        """Show another batch; without one, a batch made by sliders.

        Parameters
        ----------
        batch, seconds, after, after_seconds, pad_id
            As when the widget is made.
        """
        held = self._given, self._known
        self._given = _Given(batch, seconds, after, after_seconds, pad_id)
        opening = self._opening()
        self._known = opening | {name: held[1][name] for name in opening if name in held[1]}
        try:
            self._picture(self._known)
        except ThroughputError:
            self._given, self._known = held
            raise
        with self.hold_sync():
            self._form = self._described()
            self._reopen(dict(self._known))

    # What it knows

    @property
    def counts(self) -> tuple[TokenCounts, TokenCounts]:
        """The counts of one update, as it is and packed."""
        return self._given.case(self.value).counts

    @property
    def batches(self) -> tuple[Any, Any]:
        """The two batches: one microbatch as it is, and packed."""
        case = self._given.case(self.value)
        return case.before, case.after

    @property
    def table(self) -> pd.DataFrame:
        """Every rate and utilization: `before`, `after`, `ratio`, `unit`, `change`, `counts`."""
        return case_table(self._given.case(self.value), self._shape, self._peak, self._devices)

    @property
    def words(self) -> tuple[str, ...]:
        """What did and what did not improve."""
        return self._given.case(self.value).compared().words

    @property
    def losses(self) -> pd.DataFrame:
        """The losses under each reduction in use; see `loss_denominators`."""
        return loss_denominators(self._losses)

    def __repr__(self) -> str:
        return f"<TokenComparison. {' '.join(self.words[:1])} {' '.join(self._of_targets())}>"

    def _of_targets(self) -> list[str]:
        return [words for words in self.words if words.startswith("Scored targets per second: ")]

    def _repr_html_(self) -> str:
        return self._given.case(self.value).compared()._repr_html_()

    def _piece(self) -> Piece:
        given = self._given
        data = {
            "batch": None if given.batch is None else layout_of(given.batch, given.pad_id),
            "after": None if given.after is None else layout_of(given.after, None),
            "seconds": given.seconds,
            "after_seconds": given.after_seconds,
            "ms_per_position": LESSON_MS_PER_POSITION,
            "packing": list(range(1, _MOST_PACKED + 1)),
            "accumulation": list(_ACCUMULATIONS),
            "most": _MOST,
            "model": model_given(self._shape, self._peak, self._devices),
            "about": self._about(),
            "losses": losses_picture(self._losses),
        }
        return Piece((model_of(self, "tokens"),), "page_tokens", tokens_given(data))

    _titled = True

    def _title(self) -> str:
        return "Did throughput improve? Name the token."

    def _picture_svg(self) -> str:
        return tokens_svg(self._now()[1])

    # As a widget with knobs

    def _names(self) -> list[str]:
        return [knob.name for knob in self._knobs()]

    def _knobs(self) -> list[Knob]:
        if self._given.batch is None:
            return [*_MADE, _PACKING, *_ALWAYS]
        return [*([] if self._given.after is not None else [_PACKING]), *_ALWAYS]

    def _opening(self) -> Settings:
        return {name: _OPENING[name] for name in self._names()}

    def _stops(self, settings: Settings) -> dict[str, list[Any]]:
        stops: dict[str, list[Any]] = {
            "packing": list(range(1, _MOST_PACKED + 1)),
            "accumulation": list(_ACCUMULATIONS),
        }
        if self._given.batch is None:
            length = settings["length"]
            mean = max(1, round(length * (1 - settings["padding"])))
            stops |= {
                "sequences": list(range(1, 13)),
                "length": list(range(2, 33)),
                "padding": [k / length for k in range(length)],
                "spread": [0.0, 0.25, 0.5, 0.75, 1.0],
                "prompt": [k / mean for k in range(mean + 1)],
            }
        return {name: held for name, held in stops.items() if name in settings}

    def _completed(self, given: Any) -> Settings:
        settings = super()._completed(given)
        for name, most in (
            ("sequences", 64),
            ("length", 256),
            ("packing", 512),
            ("accumulation", 4096),
        ):
            if name in settings:
                settings[name] = whole(settings[name], name, least=2 if name == "length" else 1)
                if settings[name] > most:
                    msg = f"{name} is {settings[name]:,}: at most {most} can be drawn here"
                    raise ThroughputError(msg)
        for name in ("padding", "spread", "prompt"):
            if name in settings:
                settings[name] = share(settings[name], name)
        if not isinstance(settings["skips_padding"], bool):
            msg = f"skips_padding is {settings['skips_padding']!r}: give True or False"
            raise ThroughputError(msg)
        return settings

    def _picture(self, settings: Settings) -> Picture:
        case = self._given.case(settings)
        table = case_table(case, self._shape, self._peak, self._devices)
        after = "after" if self._given.after is not None else "packed"
        picture = case_picture(case, table, ("as it is", after), self._given.pad_id)
        return {**picture, "about": self._about(), "losses": losses_picture(self._losses)}

    def _about(self) -> list[str]:
        model = getattr(self._shape, "name", "") or "your model"
        roof = roof_of(self._peak)
        per = f" × {self._devices} devices" if self._devices > 1 else ""
        device = f" ({self._peak.device})" if isinstance(self._peak, Peak) else ""
        rate = f"{number_text(roof / 1e12, 4)} TFLOP/s{device}{per}"
        return [self._given.about_time(), f"Utilization of {model} on {rate}."]
