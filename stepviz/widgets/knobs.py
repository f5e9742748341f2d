"""What widgets with knobs share: the page turns them, Python answers each setting with a picture.

No number is computed in the page. When a slider is picked up, Python answers for every stop of it
at once, so that dragging shows Python's own numbers without asking again, however far the kernel
is. What has not been answered yet is marked as stale.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, TypeAlias

import anywidget
import traitlets

from stepviz.errors import StepvizError, near
from stepviz.widgets.bundle import bundle_text, packed_module
from stepviz.widgets.pages import Saved

Settings: TypeAlias = dict[str, Any]
Picture: TypeAlias = dict[str, Any]

#: What a broken message can raise while it is read.
_BAD = (ValueError, TypeError, KeyError, OverflowError)


@dataclass(frozen=True)
class Knob:
    """One setting, as the page shows it.

    Parameters
    ----------
    name : str
        Its key in `value`.
    label : str
        What it is called.
    kind : {"slider", "switch", "number", "choice"}
        How it is set. A slider's stops come with each picture, since they may depend on the rest.
    show : {"percent", "count", "number", "text"}
        How its value is written.
    unit : str
        After the number.
    help : str
        What it means, in a sentence.
    choices : tuple of (value, text)
        Of a choice; of a slider, stops that have a name.
    group : str
        The heading it stands under.
    track : bool
        Whether the page asks for the pictures at all its stops; not where these take long.
    """

    name: str
    label: str
    kind: str = "slider"
    show: str = "number"
    unit: str = ""
    help: str = ""
    choices: tuple[tuple[Any, str], ...] = ()
    group: str = ""
    track: bool = True


class SettingsTrait(traitlets.TraitType[Settings, Any]):
    """Every knob's setting; some may be given, the others stay."""

    info_text = "a mapping from knobs to settings"

    def validate(self, obj: KnobWidget, value: Any) -> Settings:
        """Complete, check, and remember the picture that was made on the way."""
        return obj._settled(value)


class KnobWidget(Saved, anywidget.AnyWidget):
    """A widget whose settings Python answers with pictures; see the module."""

    #: Names of the bundle's files.
    _bundle: ClassVar[str] = ""
    #: What a setting without meaning raises.
    _error: ClassVar[type[StepvizError]] = StepvizError

    _esm = traitlets.Unicode().tag(sync=True)
    _css = traitlets.Unicode().tag(sync=True)

    value = SettingsTrait().tag(sync=True)
    """Every setting by name, for `observe`, `link` and `jslink`. Type: dict.

    Assign a mapping to change it; settings that it leaves out stay. Name the trait when
    observing: ``widget.observe(f, names="value")``.
    """

    _shown = traitlets.Dict().tag(sync=True)
    _form: traitlets.List[Any] = traitlets.List().tag(sync=True)

    _own_layout = False

    def __init__(self, settings: Mapping[str, Any], *, layout: Any = None) -> None:
        self._edition = 0
        self._drawn: tuple[Settings, Picture] | None = None
        self._own_layout = layout is None
        self._known: Settings = self._opening()
        super().__init__(
            value=dict(settings),
            _form=self._described(),
            **({} if layout is None else {"layout": layout}),
        )
        self._show()
        self.on_msg(self._asked)

    @traitlets.default("_esm")
    def _default_esm(self) -> str:
        return packed_module(f"{self._bundle}.js")

    @traitlets.default("_css")
    def _default_css(self) -> str:
        return bundle_text(f"{self._bundle}.css")

    # What a widget says of itself

    def _knobs(self) -> list[Knob]:
        """Return its knobs, in the order in which they are shown."""
        raise NotImplementedError

    def _opening(self) -> Settings:
        """Return every knob's setting at first."""
        raise NotImplementedError

    def _stops(self, settings: Settings) -> dict[str, list[Any]]:
        """Return where each slider stops, given the rest."""
        raise NotImplementedError

    def _picture(self, settings: Settings) -> Picture:
        """Return what the page shows for these settings, as plain data.

        Raises
        ------
        StepvizError
            Where they have no meaning together.
        """
        raise NotImplementedError

    def _described(self) -> list[dict[str, Any]]:
        return [asdict(knob) for knob in self._knobs()]

    # What was set

    def _settled(self, given: Any) -> Settings:
        """Return settings completed with those there are, and keep their picture."""
        if self._drawn is not None and given is self._drawn[0]:
            return self._known
        settings = self._completed(given)
        picture = self._picture(settings)
        self._drawn = (settings, {**picture, "stops": self._stops(settings)})
        self._known = settings
        return settings

    def _completed(self, given: Any) -> Settings:
        if not isinstance(given, Mapping):
            msg = f"value is {given!r}: give a mapping from settings to their values"
            raise self._error(msg)
        for name in given:
            if name not in self._known:
                msg = f"there is no setting {name!r}: {near(name, self._known, most=12)}"
                raise self._error(msg)
        return {**self._known, **given}

    def _reopen(self, settings: Settings) -> None:
        """Show settings anew: what they are applied to has changed, so no answer holds any more."""
        self._edition += 1
        self._drawn = None
        self.value = settings
        self._show()

    def _show(self) -> None:
        settings, picture = self._now()
        self._shown = {"value": settings, "picture": picture, "edition": self._edition}

    def _now(self) -> tuple[Settings, Picture]:
        if self._drawn is None:  # a widget without settings was never given a meaning
            msg = "this widget has no settings yet"
            raise self._error(msg)
        return self._drawn

    @traitlets.observe("value")
    def _changed(self, _change: Any) -> None:
        self._show()

    # What the page sends

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Take what the page sent; settings without meaning are answered with the reason."""
        given = {name: data for name, data in sync_data.items() if name not in ("_shown", "_form")}
        if "value" in given:
            before = self._drawn, self._known
            try:
                given["value"] = self._settled(given["value"])
            except _BAD as error:
                self._drawn, self._known = before
                wanted = given.pop("value")
                said = {"value": wanted, "problem": str(error), "edition": self._edition}
                self._shown = said
        super().set_state(given)
        if "value" in given and "problem" in self._shown:
            self._show()  # back at the settings of before, which is no change

    def _asked(self, _widget: object, content: Any, _buffers: object) -> None:
        if not isinstance(content, dict) or content.get("ask") != "track":
            return
        answer: dict[str, Any] = {"id": content.get("id"), "edition": self._edition}
        try:
            answer["pictures"] = self._track(content["value"], content["knob"])
        except _BAD as error:
            answer["error"] = str(error)
        self.send(answer)

    def _track(self, given: Any, knob: str) -> list[list[Any]]:
        """Return settings and picture at every stop of one slider."""
        settings = self._completed(given)
        found = []
        for stop in self._stops(settings)[knob]:
            there = {**settings, knob: stop}
            try:
                picture = {**self._picture(there), "stops": self._stops(there)}
            except StepvizError:
                continue  # asked for by itself it says why
            found.append([there, picture])
        return found

    def close(self) -> None:
        """Close the widget and free it, here and in the page."""
        layout = self.layout if self._own_layout and self.comm is not None else None
        super().close()
        if layout is not None:
            layout.close()  # ipywidgets leaves it open, since users may share theirs
