"""Changes as values: say what would be different, apply it to any timeline, compare several.

A change knows nothing of a timeline until it is applied. Applied, it returns the new timeline and
a sentence that says what it did there. A change that matches nothing raises `ChangeError` with
near names.
"""

from __future__ import annotations

from stepviz.core.changes.base import Change, Names, Selection, as_number, one_name
from stepviz.core.changes.durations import Scale, SetDuration, Shorten
from stepviz.core.changes.placement import SetLag, SetRelease, Together
from stepviz.core.changes.training import DelayInput, ShrinkTail
from stepviz.errors import ChangeError

__all__ = [
    "Change",
    "delay_input",
    "remove",
    "scale",
    "set_duration",
    "set_lag",
    "set_release",
    "shorten",
    "shrink_tail",
    "together",
]


def shorten(
    phase: Names = None,
    ms: float | None = None,
    *,
    kind: Names = None,
    rank: int | None = None,
) -> Change:
    """Shorten phases by `ms` ms in all; over several phases, in proportion to their durations.

    Parameters
    ----------
    phase : str or list of str, optional
        Phases by name.
    ms : float
        Total cut, ms. Negative lengthens.
    kind : str or list of str, optional
        Phases by kind, instead of by name.
    rank : int, optional
        Only phases of this rank alone, not its collectives.

    Returns
    -------
    Change
        For `Timeline.apply` and `compare`.

    Raises
    ------
    ChangeError
        At once for a number or kind without meaning; when applied, where nothing matches or
        the phases last less than `ms`.

    Examples
    --------
    >>> from stepviz.builders.lesson_models import lesson
    >>> lesson().apply(shorten("exchange", 25)).completion
    725.0
    """
    return Shorten(Selection.of(phase, kind, rank), as_number(ms, "ms", least=None))


def scale(
    phase: Names = None,
    factor: float | None = None,
    *,
    kind: Names = None,
    rank: int | None = None,
) -> Change:
    """Multiply durations by `factor`.

    Parameters
    ----------
    phase : str or list of str, optional
        Phases by name.
    factor : float
        0 or more.
    kind, rank
        As in `shorten`.

    Returns
    -------
    Change
        For `Timeline.apply` and `compare`.

    Examples
    --------
    >>> from stepviz.builders.lesson_models import lesson
    >>> lesson().apply(scale(kind="backward", factor=0.5)).completion
    750.0
    """
    return Scale(Selection.of(phase, kind, rank), as_number(factor, "factor"))


def set_duration(
    phase: Names = None,
    ms: float | None = None,
    *,
    kind: Names = None,
    rank: int | None = None,
) -> Change:
    """Set the duration of each chosen phase to `ms` ms.

    Parameters
    ----------
    phase : str or list of str, optional
        Phases by name.
    ms : float
        What each lasts from now on, ms.
    kind, rank
        As in `shorten`.

    Returns
    -------
    Change
        For `Timeline.apply` and `compare`.

    Examples
    --------
    >>> from stepviz.builders.lesson_models import lesson
    >>> lesson().apply(set_duration("optimizer", 50)).completion
    700.0
    """
    return SetDuration(Selection.of(phase, kind, rank), as_number(ms, "ms"))


def remove(phase: Names = None, *, kind: Names = None, rank: int | None = None) -> Change:
    """Take the work of phases away.

    They last 0 ms, and their dependencies and lags still hold. To take a phase out together with
    its dependencies, use `Timeline.without`.

    Parameters
    ----------
    phase, kind, rank
        As in `shorten`.

    Returns
    -------
    Change
        For `Timeline.apply` and `compare`.

    Examples
    --------
    >>> from stepviz.builders.lesson_models import lesson
    >>> lesson().apply(remove(kind="exchange")).completion
    700.0
    """
    return Scale(Selection.of(phase, kind, rank), 0.0)


def set_release(phase: str, ms: float) -> Change:
    """Let `phase` start at `ms` ms or later; 0 takes the pin out.

    Parameters
    ----------
    phase : str
        Its name.
    ms : float
        Counted from the step's start.

    Returns
    -------
    Change
        For `Timeline.apply` and `compare`.

    Examples
    --------
    >>> from stepviz.builders.lesson_models import lesson
    >>> lesson().apply(set_release("exchange", 350)).completion
    800.0
    """
    return SetRelease(one_name(phase, "phase"), as_number(ms, "ms"))


def set_lag(source: str, target: str, ms: float, type: str | None = None) -> Change:  # noqa: A002 - the field's word for it
    """Set the lag of a dependency to `ms` ms.

    Parameters
    ----------
    source, target : str
        The phases at its ends.
    ms : float
        May be negative.
    type : {"FS", "SS", "FF", "SF"}, optional
        Which one, where there are several between the two.

    Returns
    -------
    Change
        For `Timeline.apply` and `compare`.

    Examples
    --------
    >>> from stepviz.builders.lesson_models import lesson
    >>> lesson("ss-ff").apply(set_lag("backward", "exchange", 80, type="FF")).completion
    780.0
    """
    ends = one_name(source, "source"), one_name(target, "target")
    return SetLag(*ends, as_number(ms, "ms", least=None), type)


def delay_input(ms: float, *, rank: int | None = None) -> Change:
    """Let the input be ready `ms` ms later, on each rank or on one.

    The first input phase of a rank moves: its release, and the lags that lead to it.

    Parameters
    ----------
    ms : float
        How much later, ms.
    rank : int, optional
        Only there; on all ranks unless given.

    Returns
    -------
    Change
        For `Timeline.apply` and `compare`.

    Examples
    --------
    >>> from stepviz.builders.lesson_models import lesson
    >>> lesson().apply(delay_input(20)).completion
    770.0
    """
    Selection.of(None, "input", rank)
    return DelayInput(as_number(ms, "ms"), rank)


def shrink_tail(ms: float) -> Change:
    """End the exchange that is exposed after compute `ms` ms earlier.

    Not the same change as a faster exchange: in a model in which a dependency holds the finish
    (FF), a shorter exchange only starts later. This one also moves what holds the tail. On
    several ranks, each tail loses `ms` ms, or all of it where it is shorter; a collective is cut
    once for all its members.

    Parameters
    ----------
    ms : float
        How much earlier, ms.

    Returns
    -------
    Change
        For `Timeline.apply` and `compare`.

    Raises
    ------
    ChangeError
        When applied: where no rank has that long a tail.

    Examples
    --------
    >>> from stepviz.builders.lesson_models import lesson
    >>> for change in (shrink_tail(25), shorten("exchange", 25)):
    ...     lesson("ss-ff").apply(change).completion
    725.0
    750.0
    """
    return ShrinkTail(as_number(ms, "ms"))


def together(*changes: Change) -> Change:
    """Make several changes, one after the other, as one.

    Parameters
    ----------
    *changes : Change
        In the order in which they are made.

    Returns
    -------
    Change
        For `Timeline.apply` and `compare`.

    Raises
    ------
    ChangeError
        Where one of them is no change.

    Examples
    --------
    >>> from stepviz.builders.lesson_models import lesson
    >>> both = together(shorten("exchange", 25), set_duration("optimizer", 50))
    >>> lesson().apply(both).completion
    675.0
    """
    for change in changes:
        if not isinstance(change, Change):
            msg = f"{change!r} is not a change: make one with shorten, scale, …"
            raise ChangeError(msg)
    return Together(changes)
