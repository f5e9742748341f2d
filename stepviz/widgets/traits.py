"""Traits that hold timelines: checked at once, kept as values, sent as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Protocol

import traitlets

from stepviz.core.timeline import Timeline
from stepviz.errors import TimelineError, near

Document = dict[str, Any]


def as_timeline(given: object) -> Timeline:
    """Read a timeline, or its plain data; anything else is a `TimelineError`."""
    if isinstance(given, Timeline):
        return given
    return Timeline.from_dict(given)  # type: ignore[arg-type]  # it refuses what is no mapping


class HoldsDocument(Protocol):
    """A widget that remembers the timeline behind its document."""

    _parsed: tuple[Document, Timeline]


class DocumentTrait(traitlets.TraitType[Document, Any]):
    """A timeline as plain data. Bad data raises the core's error, and the old value stays.

    The check runs on assignment, not as a cross validation: those wait inside
    ``hold_trait_notifications`` and would then leave the bad value behind.
    """

    info_text = "a timeline's plain data, as Timeline.to_dict returns it"

    def validate(self, obj: HoldsDocument, value: Any) -> Document:
        """Check, complete and remember; the same document again costs nothing."""
        known, _ = obj._parsed
        if value is known:
            return obj._parsed[0]
        timeline = as_timeline(value)
        document = timeline.to_dict()
        obj._parsed = (document, timeline)
        return document


class TimelineTrait(traitlets.TraitType[Timeline, Any]):
    """A timeline; its plain data is accepted too, and is what travels."""

    info_text = "a Timeline"

    def __init__(self) -> None:
        super().__init__()
        self.tag(
            sync=True,
            to_json=lambda timeline, _: timeline.to_dict(),
            from_json=lambda data, _: as_timeline(data),
        )

    def validate(self, _obj: object, value: Any) -> Timeline:
        """Read a timeline from whatever was given."""
        return as_timeline(value)


class ScenariosTrait(traitlets.TraitType[Mapping[str, Timeline], Any]):
    """Timelines by name, read-only: assign a new mapping to change them."""

    info_text = "a mapping from names to timelines"

    def __init__(self) -> None:
        super().__init__()
        self.tag(
            sync=True,
            to_json=lambda named, _: {name: timeline.to_dict() for name, timeline in named.items()},
            from_json=lambda data, _: read_scenarios(data),
        )

    def validate(self, _obj: object, value: Any) -> Mapping[str, Timeline]:
        """Read every timeline, and refuse all if one is bad."""
        return read_scenarios(value)


def read_scenarios(given: object) -> Mapping[str, Timeline]:
    """Return timelines by name, or raise a `TimelineError` that names the bad one."""
    if not isinstance(given, Mapping):
        msg = f"scenarios map names to timelines, but this is {type(given).__name__}"
        raise TimelineError(msg)
    named: dict[str, Timeline] = {}
    for name, value in given.items():
        if not isinstance(name, str) or not name.strip():
            msg = f"a scenario is called {name!r}: names are non-empty strings"
            raise TimelineError(msg)
        try:
            named[name] = as_timeline(value)
        except TimelineError as error:
            msg = f"scenario {name!r}: {error}"
            raise TimelineError(msg) from None
    return MappingProxyType(named)


class PhaseTrait(traitlets.TraitType[str | None, Any]):
    """The name of a phase of the widget's timeline, or None."""

    default_value = None
    allow_none = True
    info_text = "the name of a phase"

    def validate(self, obj: HoldsDocument, value: Any) -> str:
        """Refuse a name that is no phase now."""
        names = phase_names(obj._parsed[0])
        if value not in names:
            msg = f"there is no phase {value!r} to select: {near(value, names)}"
            raise TimelineError(msg)
        return str(value)


def phase_names(document: Document) -> list[str]:
    """Return the names of a document's phases, in order."""
    return [phase["phase"] for phase in document["phases"]]
