"""What a user can do to a phase, and at what cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from stepviz.core.changes.base import as_number
from stepviz.core.checks import as_names, as_real, ms_text
from stepviz.errors import ChangeError, near


@dataclass(frozen=True)
class Feasible:
    """How much of a phase or kind could go, ms (None: all of it), and what that would cost."""

    ms: float | None = None
    cost: Any = None


def read_feasible(given: Any, lasts: Mapping[str, float]) -> dict[str, Feasible]:
    """Return what was marked, by name.

    Parameters
    ----------
    given
        Names, or a mapping from a name to ms, to (ms, cost), or to a dict of `ms` and `cost`.
    lasts
        What may be named, and how long it lasts, ms.
    """
    if given is None:
        return {}
    found: dict[str, Feasible] = {}
    if isinstance(given, Mapping):
        found = {str(name): _one(name, value) for name, value in given.items()}
    else:
        names = as_names(given) if isinstance(given, Iterable) else None
        if names is None:
            msg = (
                f"feasible is {given!r}: give names, or a dict such as "
                "{'exchange': (25, 'a day'), 'optimizer': 50}"
            )
            raise ChangeError(msg)
        found = {name: Feasible() for name in names}
    for name, mark in found.items():
        if name not in lasts:
            msg = f"feasible names {name!r}, which is not here: {near(name, lasts)}"
            raise ChangeError(msg)
        if mark.ms is not None and mark.ms > lasts[name] * (1 + 1e-12):
            msg = (
                f"feasible takes {ms_text(mark.ms)} ms off {name!r}, which lasts "
                f"{ms_text(lasts[name])} ms"
            )
            raise ChangeError(msg)
    return found


def _one(name: object, value: Any) -> Feasible:
    if isinstance(value, Mapping):
        unknown = [key for key in value if key not in ("ms", "cost")]
        if unknown:
            msg = f"feasible[{name!r}] has {unknown[0]!r}: it may have 'ms' and 'cost'"
            raise ChangeError(msg)
        return Feasible(_ms(name, value.get("ms")), value.get("cost"))
    if isinstance(value, tuple | list):
        if len(value) != 2:
            msg = f"feasible[{name!r}] is {value!r}: give ms, or (ms, cost)"
            raise ChangeError(msg)
        return Feasible(_ms(name, value[0]), value[1])
    return Feasible(_ms(name, value))


def _ms(name: object, value: Any) -> float | None:
    if value is None or value is True:
        return None
    if as_real(value) is None:
        msg = f"feasible[{name!r}] is {value!r}: give ms, (ms, cost), or True for all of it"
        raise ChangeError(msg)
    return as_number(value, f"feasible[{name!r}]")
