"""Do two runs do the same useful work in an update? Only then may their step times be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from stepviz.errors import ThroughputError, near
from stepviz.evidence.measured import Measured, known_counts
from stepviz.throughput.figures import number_text
from stepviz.throughput.rates import NUMERATORS

#: Batches of other tokens differ by chance; beyond this part the work is another one.
_SAME: Final = 0.01
_UPDATES: Final = "updates"
_TOKENS: Final = ("scored", "executed", "allocated", "real")

Known = Literal["counted", "stated", "not known"]
COUNTED: Final = "counted"
STATED: Final = "stated"
NOT_KNOWN: Final = "not known"


@dataclass(frozen=True)
class Work:
    """What is counted as useful, and how much of it one update of each side holds.

    `known` says whether that was counted, or is what the user stated, or is not known; then `why`
    says what lacks.
    """

    convention: str
    before: float
    after: float
    note: str
    known: Known
    why: str = ""

    @property
    def factor(self) -> float:
        """Time per useful work is step time times this, for after ÷ before."""
        return self.before / self.after

    @property
    def unit(self) -> str:
        """The unit of the rate."""
        return NUMERATORS[self.convention][0]


def useful_work(
    before: Sequence[Measured],
    after: Sequence[Measured],
    convention: object,
    *,
    same: bool = False,
) -> Work:
    """Return what to compare by, or refuse.

    Parameters
    ----------
    before, after
        Runs of each side; those of one side hold the same work.
    convention : str or None
        A numerator of `Rate`; None where both sides must hold the same work.
    same : bool
        The user's word that they do; counts can still say otherwise.

    Raises
    ------
    ThroughputError
        Where useful work differs and no convention was named, or the named one is not known.
    """
    if convention is not None and same:
        msg = (
            "same_work and convention answer one question: give same_work where an update holds "
            "the same useful work on both sides, a convention where it does not"
        )
        raise ThroughputError(msg)
    if convention is not None:
        return _by_convention(before, after, convention)
    others = (*before[1:], *after)
    for one in others:
        _refuse_other(before[0], one, same=same)
    known = [known_counts(side[0].counts) for side in (before, after)]
    counted = [bool(known_counts(one.counts)) for one in (*before, *after)]
    shared = _shared(known[0], known[1])
    if all(counted) and shared and shared[0] in _TOKENS:
        name = shared[0]
        held = ", ".join(f"{known[0][n]:,} {n}" for n in shared)
        note = f"an update holds the same on both sides: {held}"
        return Work(name, known[0][name], known[1][name], note, COUNTED)
    if same:
        return Work(_UPDATES, 1, 1, "an update holds the same on both sides, as you say", STATED)
    who = "not every run says" if any(counted) else "no run says"
    why = f"{who} how many tokens an update holds"
    if all(counted):
        why = "the runs count different things in an update"
        if shared:
            why = (
                f"an update holds {known[0][shared[0]]:,} rows, and nothing says how long they are"
            )
    note = (
        f"{why}: taken to be the same, as {_alike(before[0])}, but that is not known. Where it "
        "is, say same_work=True (--same-work); else count it with sv.Recorder, or give counts= "
        "(--tokens)"
    )
    return Work(_UPDATES, 1, 1, note, NOT_KNOWN, why)


def _shared(first: Mapping[str, int], second: Mapping[str, int]) -> list[str]:
    """Return which counts tell whether the work is the same: tokens, else rows."""
    both = [name for name in _TOKENS if name in first and name in second]
    rows = [name for name in ("sequences",) if name in first and name in second]
    return both or rows


def _alike(one: Measured) -> str:
    passes = f"{one.passes} forward pass{'' if one.passes == 1 else 'es'}"
    return f"ranks ({one.ranks}) and {passes} an update are"


def _by_convention(
    before: Sequence[Measured], after: Sequence[Measured], convention: object
) -> Work:
    if convention not in NUMERATORS:
        msg = f"there is no convention {convention!r}: {near(convention, NUMERATORS, most=9)}"
        raise ThroughputError(msg)
    name = str(convention)
    said = f"useful work is counted as {NUMERATORS[name][1]}"
    if name == _UPDATES:
        return Work(name, 1, 1, said, STATED)
    held = [_held(side, name) for side in (before, after)]
    return Work(name, held[0], held[1], said, COUNTED)


def _held(side: Sequence[Measured], name: str) -> float:
    """Return how much of what was named an update of a side holds."""
    counts = []
    for one in side:
        known = known_counts(one.counts)
        if not known.get(name):
            have = ", ".join(known) or "none"
            msg = (
                f"{one.name} does not say how many {name} an update holds (known: {have}): give "
                "counts=(before, after) as TokenCounts, or convention='updates'"
            )
            raise ThroughputError(msg)
        counts.append(known[name])
    if max(counts) - min(counts) > _SAME * counts[0]:
        shown = ", ".join(f"{count:,}" for count in counts)
        msg = (
            f"the runs of one side hold different useful work in an update ({shown} {name}), so "
            "they are not captures of one configuration: compare them apart"
        )
        raise ThroughputError(msg)
    return float(counts[0])


def _refuse_other(before: Measured, after: Measured, *, same: bool) -> None:
    first, second = known_counts(before.counts), known_counts(after.counts)
    shared = _shared(first, second)
    other = [n for n in shared if abs(second[n] - first[n]) > _SAME * max(first[n], 1)]
    if other:
        shown = ", ".join(f"{first[n]:,} → {second[n]:,} {n}" for n in other)
        alike = [n for n in shared if n not in other]
        msg = (
            f"the useful work of an update differs ({shown}), so step times alone can't be "
            f"compared. Say what counts: convention={_choices([*other, *alike])}"
        )
        raise ThroughputError(msg, factor=_factor(first[other[0]], second[other[0]]))
    if same:
        return
    if not shared:
        _refuse_structure(before, after)
    if None not in (before.gradients, after.gradients) and before.gradients != after.gradients:
        msg = (
            f"the models differ: {before.gradients:,} and {after.gradients:,} bytes of gradients, "
            "so an update is not the same useful work. Say what counts, such as "
            f"convention={_choices([*shared, _UPDATES])}"
        )
        raise ThroughputError(msg)


def _factor(before: int, after: int) -> float | None:
    return None if not after else before / after


def _refuse_structure(before: Measured, after: Measured) -> None:
    for what, one, two in (
        ("ranks", before.ranks, after.ranks),
        ("forward passes in an update", before.passes, after.passes),
    ):
        if one != two:
            msg = (
                f"{before.name} has {number_text(one)} {what} and {after.name} "
                f"{number_text(two)}, and no run says how many tokens an update holds, so it may "
                "not be the same useful work. Give counts=(before, after) as TokenCounts "
                "(--tokens), or say same_work=True (--same-work) where it is"
            )
            raise ThroughputError(msg)


def _choices(names: Sequence[str]) -> str:
    return " or ".join(repr(name) for name in dict.fromkeys(names))
