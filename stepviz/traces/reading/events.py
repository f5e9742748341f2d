"""Single events of a file, decoded into typed structs: strictly, and where need be loosely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct, field

from stepviz.traces.reading.words import plain, whole_or_missing

#: A value that is not there.
NOTHING: Final = Raw(b"")


class Args(Struct, gc=False):
    """The arguments that analysis needs; what else there is costs no memory."""

    correlation: int = -1
    external: int = field(default=-1, name="External id")
    external_old: int = field(default=-1, name="external id")
    sequence: int = field(default=-1, name="Sequence number")
    fwd_thread: int = field(default=-1, name="Fwd thread id")
    rank: Raw = NOTHING
    name: Raw = NOTHING
    labels: Raw = NOTHING
    stream: Raw = NOTHING
    wait_on_stream: Raw = NOTHING
    record_correlation: Raw = field(default=NOTHING, name="wait_on_cuda_event_record_corr_id")
    collective: Raw = field(default=NOTHING, name="Collective name")
    group: Raw = field(default=NOTHING, name="Process Group Name")
    description: Raw = field(default=NOTHING, name="Process Group Description")
    ranks: Raw = field(default=NOTHING, name="Process Group Ranks")
    elements: Raw = field(default=NOTHING, name="In msg nelems")
    out_elements: Raw = field(default=NOTHING, name="Out msg nelems")
    group_size: Raw = field(default=NOTHING, name="Group size")
    dtype: Raw = NOTHING
    seq: Raw = field(default=NOTHING, name="Seq")
    src_rank: Raw = field(default=NOTHING, name="Src Rank")
    dst_rank: Raw = field(default=NOTHING, name="Dst Rank")
    dims: Raw = field(default=NOTHING, name="Input Dims")
    types: Raw = field(default=NOTHING, name="Input type")


#: Of an event without arguments.
NO_ARGS: Final = Args()


class Event(Struct, gc=False):
    """One event; times stay text until they are whole nanoseconds."""

    ph: str = ""
    cat: str = ""
    name: str = ""
    pid: int | str = ""
    tid: int | str = ""
    ts: Raw = NOTHING
    dur: Raw = NOTHING
    id: Raw = NOTHING
    args: Args | None = None


class _LooseEvent(Struct, gc=False):
    ph: Any = ""
    cat: Any = ""
    name: Any = ""
    pid: Any = ""
    tid: Any = ""
    ts: Raw = NOTHING
    dur: Raw = NOTHING
    id: Raw = NOTHING
    args: Raw = NOTHING


@dataclass
class Oddities:
    """What loose decoding met: entries that are no events, fields that are no ids."""

    no_events: int = 0
    odd_tracks: int = 0


_EVENTS: Final = msgspec.json.Decoder(list[Event])
_EVENT: Final = msgspec.json.Decoder(Event)
_RAWS: Final = msgspec.json.Decoder(list[Raw])
_LOOSE: Final = msgspec.json.Decoder(_LooseEvent)
_MEMBERS: Final = msgspec.json.Decoder(dict[str, Raw])
_WHOLE_FIELDS: Final = {
    "correlation": "correlation",
    "External id": "external",
    "external id": "external_old",
    "Sequence number": "sequence",
    "Fwd thread id": "fwd_thread",
}
_RAW_FIELDS: Final = {
    encoded: own
    for own, encoded in zip(Args.__struct_fields__, Args.__struct_encode_fields__, strict=True)
    if encoded not in _WHOLE_FIELDS
}


def decoded(block: bytes, odd: Oddities) -> list[Event]:
    """Return the events of a JSON list.

    Raises
    ------
    msgspec.DecodeError, RecursionError
        Where it is no JSON, or nested too deeply; fields of odd types are no error.
    """
    try:
        return _EVENTS.decode(block)
    except msgspec.ValidationError:
        pass
    found = []
    for raw in _RAWS.decode(block):
        try:
            found.append(_EVENT.decode(raw))
        except msgspec.ValidationError:
            event = _loosely(raw, odd)
            if event is not None:
                found.append(event)
    return found


def _loosely(raw: Raw, odd: Oddities) -> Event | None:
    """Return an event whose fields are of odd types, None where the entry is no event."""
    try:
        loose = _LOOSE.decode(raw)
    except msgspec.ValidationError:
        odd.no_events += 1
        return None
    loose.pid, loose.tid = _without_point(loose.pid), _without_point(loose.tid)
    if loose.ph == "X":
        odd.odd_tracks += not (_names_track(loose.pid) and _names_track(loose.tid))
    return Event(
        ph=loose.ph if isinstance(loose.ph, str) else "",
        cat=str(loose.cat),
        name=str(loose.name),
        pid=loose.pid if _names_track(loose.pid) else str(loose.pid),
        tid=loose.tid if _names_track(loose.tid) else str(loose.tid),
        ts=loose.ts,
        dur=loose.dur,
        id=loose.id,
        args=_loose_args(loose.args),
    )


def _loose_args(raw: Raw) -> Args | None:
    try:
        members = _MEMBERS.decode(raw)
    except msgspec.DecodeError:
        return None
    values: dict[str, Any] = {
        _WHOLE_FIELDS[key]: whole_or_missing(plain(value))
        for key, value in members.items()
        if key in _WHOLE_FIELDS
    }
    values.update({_RAW_FIELDS[key]: value for key, value in members.items() if key in _RAW_FIELDS})
    return Args(**values)


def _without_point(value: Any) -> Any:
    """Return a whole number that is written with a point as one; anything else as it is."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _names_track(value: object) -> bool:
    return isinstance(value, (int, str)) and not isinstance(value, bool)
