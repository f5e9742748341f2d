"""The options of a capture as a form, with its bar, its buttons and the table of runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final

import traitlets

from stepviz.errors import CaptureError
from stepviz.recording.options import Options, Told, told
from stepviz.widgets.knobs import Knob, KnobWidget, Picture, Settings

#: What one tries first, under the headings of the page; all else is folded.
_FIRST: Final = {
    "ranks": ("run", "ranks"),
    "bucket_cap_mb": ("run", "bucket cap"),
    "accumulation": ("run", "accumulation"),
    "steps": ("run", "recorded steps"),
    "slow_rank": ("slow", "slow rank"),
    "slow_ms": ("slow", "it sleeps"),
    "slow_phase": ("slow", "in its"),
    "input_delay_ms": ("slow", "input delay"),
    "latency_ms": ("fabric", "per message"),
    "ms_per_mib": ("fabric", "per MiB"),
}
_MODEL: Final = (
    *("layers", "width", "heads", "vocabulary", "sequence", "microbatch", "prompt_fraction"),
    *("padding_fraction", "packing_fraction", "seed"),
)
_TRAINING: Final = (
    *("no_sync", "static_graph", "find_unused_parameters", "gradient_as_bucket_view", "dtype"),
    *("optimizer", "fused", "checkpointing", "workers", "prefetch"),
)
_UNITS: Final = {"_ms": "ms", "_mb": "MiB", "_s": "s", "_mib": "ms"}


class CaptureForm(KnobWidget):
    """The form, the bar and the table; see `CapturePanel`."""

    _bundle: ClassVar[str] = "capture"
    _error: ClassVar[type[CaptureError]] = CaptureError

    _job = traitlets.Dict().tag(sync=True)
    _table = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        settings: Mapping[str, Any],
        *,
        missing: str = "",
        heard: Callable[..., None],
    ) -> None:
        self._heard = heard
        self._missing = missing
        super().__init__(settings)
        self.tell("idle")

    @property
    def options(self) -> Options:
        """The options as they are set."""
        return Options.of(self.value)

    def tell(self, state: str, share: float = 0.0, words: str = "", problem: str = "") -> None:
        """Show how far a capture is: idle, running, stopping, done, stopped or failed."""
        sentence, _, rest = problem.partition("\n")
        self._job = {
            "state": state,
            "share": round(share, 3),
            "words": words,
            "problem": sentence,
            "lines": rest,
            "missing": self._missing,
        }

    def list_runs(self, rows: list[dict[str, Any]], chosen: int, said: str = "") -> None:
        """Show the table of runs, and what became of one of them."""
        turn = self._table.get("turn", 0) + 1
        self._table = {"rows": rows, "chosen": chosen, "said": said, "turn": turn}

    def __repr__(self) -> str:
        return f"<CaptureForm: {self._shown['picture']['code']}>"

    # As a widget with knobs

    def _knobs(self) -> list[Knob]:
        known = told()
        first = [_knob(name, *known[name], *where) for name, where in _FIRST.items()]
        rest = [
            _knob(name, what, default, _folded(name), name.replace("_", " "))
            for name, (what, default) in known.items()
            if name not in _FIRST
        ]
        return [*first, *sorted(rest, key=lambda knob: ("model", "ddp", "how").index(knob.group))]

    def _opening(self) -> Settings:
        return Options().as_dict()

    def _stops(self, settings: Settings) -> dict[str, list[Any]]:  # noqa: ARG002  # nothing slides
        return {}

    def _completed(self, given: Any) -> Settings:
        if not isinstance(given, Mapping):
            msg = f"value is {given!r}: give a mapping from options to their values"
            raise CaptureError(msg)
        return Options.of({**self._known, **given}).as_dict()

    def _picture(self, settings: Settings) -> Picture:
        options = Options.of(settings)
        changed = written_options(options)
        code = f"sv.capture({', '.join(f'{name}={value!r}' for name, value in changed.items())})"
        emulated = (
            "The network is emulated: gloo's exchange, then a sleep." if options.emulated else ""
        )
        return {"code": code, "emulated": emulated, "spoken": ""}

    def _asked(self, widget: object, content: Any, buffers: object) -> None:
        asked = content.get("ask") if isinstance(content, dict) else None
        if asked == "run":
            # What was typed last may not have been let go yet.
            self.set_state({"value": content.get("value", self.value)})
            if "problem" not in self._shown:
                self._heard("run", None)
        elif asked in ("stop", "choose", "remove"):
            self._heard(asked, content.get("run"))
        elif asked == "rename":
            self._heard(asked, content.get("run"), str(content.get("label", "")))
        else:
            super()._asked(widget, content, buffers)


def written_options(options: Options, beside: Options | None = None) -> dict[str, Any]:
    """Return the options that differ from others, by default from the defaults, as one types them.

    Parameters
    ----------
    options, beside : Options
        Whose, and what they are held against.
    """
    plain, other = options.as_dict(), (beside or Options()).as_dict()
    return {name: _short(value) for name, value in plain.items() if value != other[name]}


def _short(value: Any) -> Any:
    """Write 4.0 as 4, also in a list."""
    if isinstance(value, list):
        return [_short(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _folded(name: str) -> str:
    return "model" if name in _MODEL else "ddp" if name in _TRAINING else "how"


def _knob(name: str, what: Told, default: Any, group: str, label: str) -> Knob:
    kinds = {"flag": "switch", "word": "choice", "caps": "list"}
    unit = next((unit for end, unit in _UNITS.items() if name.endswith(end)), "")
    if name == "slow_ms":
        unit = "ms an update"
    written = "none" if default is None else default
    return Knob(
        name,
        label,
        kinds.get(what.kind, "number"),
        unit=unit,
        help=f"{name}: {what.help}; by default {written}",
        choices=tuple((word, word) for word in what.words),
        group=group,
        track=False,
    )
