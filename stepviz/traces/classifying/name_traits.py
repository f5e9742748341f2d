"""What names tell by themselves, asked once in a process: all ranks and steps have the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from enum import IntFlag, auto
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from stepviz.traces.classifying import patterns

_POLL: Final = re.compile(r"(Event|Stream)Query", re.IGNORECASE)
_WHOLE_DEVICE: Final = re.compile(r"(Device|Context|Ctx)_?Synchronize", re.IGNORECASE)
_WAIT_CALL: Final = re.compile(r"StreamWaitEvent", re.IGNORECASE)
_WAIT_ROW: Final = re.compile(r"Stream Wait Event", re.IGNORECASE)


class Trait(IntFlag):
    """Something that a name tells."""

    STEP = auto()  # marks a step
    EVALUATE = auto()  # the engine's row around all work for one gradient
    MODULE = auto()  # the call of a Python module
    REGION = auto()  # an annotation that names a kind, or marks a step
    EXCHANGE_REGION = auto()  # copies between devices from inside it are a collective's
    EXCHANGE_HOST = auto()  # exchange on a thread
    EXCHANGE_EMULATED = auto()  # exchange of an emulated network
    LAUNCH = auto()  # launches an exchange
    BUCKET = auto()  # launches the exchange of a bucket of gradients
    GRAPH_LAUNCH = auto()  # launches a whole graph
    WAITING_CALL = auto()  # a call that waits for a device
    POLL = auto()  # asks whether a device is done; a loop of them waits
    WHOLE_DEVICE = auto()  # waits for all of a device
    WAIT_CALL = auto()  # makes a stream wait for an event
    WAIT_ROW = auto()  # a stream's recorded wait for an event


_TESTS: Final[tuple[tuple[Trait, Callable[[str], object]], ...]] = (
    (Trait.STEP, patterns.STEP.match),
    (Trait.EVALUATE, lambda name: name.startswith(patterns.EVALUATE)),
    (Trait.MODULE, lambda name: name.startswith(patterns.MODULE)),
    (Trait.REGION, lambda name: patterns.STEP.match(name) or patterns.annotation_kind(name)),
    (Trait.EXCHANGE_REGION, patterns.EXCHANGE_REGION.match),
    (Trait.EXCHANGE_HOST, patterns.EXCHANGE_HOST.match),
    (Trait.EXCHANGE_EMULATED, patterns.EXCHANGE_EMULATED.match),
    (Trait.LAUNCH, patterns.LAUNCH.match),
    (Trait.BUCKET, patterns.BUCKET.match),
)
#: One of these words is in every name that has one of these traits.
_CALL_WORDS: Final = ("synchronize", "query", "graphlaunch", "wait")
_CALL_TESTS: Final[tuple[tuple[Trait, Callable[[str], object]], ...]] = (
    (Trait.GRAPH_LAUNCH, patterns.GRAPH_LAUNCH.search),
    (Trait.WAITING_CALL, patterns.WAITING_CALL.search),
    (Trait.POLL, _POLL.search),
    (Trait.WHOLE_DEVICE, _WHOLE_DEVICE.search),
    (Trait.WAIT_CALL, _WAIT_CALL.search),
    (Trait.WAIT_ROW, _WAIT_ROW.search),
)


@lru_cache(maxsize=1 << 14)
def traits_of(name: str) -> int:
    """Return all traits of a name."""
    found = 0
    # Most names are those of operators, and none of these tests is about them.
    for trait, test in () if name.startswith(patterns.ATEN) else _TESTS:
        if test(name):
            found |= trait.value
    # To search a kernel's long name for many words in any case takes long.
    plain = name.casefold()
    if any(word in plain for word in _CALL_WORDS):
        for trait, test in _CALL_TESTS:
            if test(name):
                found |= trait.value
    return found


def traits(names: Iterable[str]) -> npt.NDArray[np.int64]:
    """Return the traits of each of many names."""
    return np.fromiter(map(traits_of, names), dtype=np.int64)
