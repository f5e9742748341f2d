"""The length that attention is counted for: one, or those of the segments packed into a row."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real
from typing import Any, Final

from stepviz.errors import ThroughputError
from stepviz.throughput.checks import one_number, real
from stepviz.throughput.token_counts import TokenCounts

#: These count no attention.
NO_LENGTH: Final = ("6N_all", "6N_noemb")


def plain_sequence(sequence: Any) -> Any:
    """Return a length, counts or None as they are, and lengths of segments as a tuple.

    Raises
    ------
    ThroughputError
        Where it is none of these.
    """
    sequence = one_number(sequence)
    if sequence is None or isinstance(sequence, Real | TokenCounts):
        return sequence
    if isinstance(sequence, str | bytes) or not isinstance(sequence, Iterable):
        msg = f"sequence is {sequence!r}: give a length, or the lengths of packed segments"
        raise ThroughputError(msg)
    return tuple(sequence)


def length_for(convention: str, sequence: Any, of: str = "executed") -> float:
    """Return the length that a convention's attention term uses.

    Parameters
    ----------
    convention : str
    sequence : int, iterable of int, or TokenCounts
        A length; for `packed` also the lengths of the segments, or counts that know them.
    of : {"executed", "real", "allocated"}
        Which positions of counts share Σ L²: those that the rate counts, so that FLOPs per token
        × tokens hold just Σ L², however much of them is padding.

    Raises
    ------
    ThroughputError
        Where it is no length, or segments are given to a convention that has one length.
    """
    sequence = plain_sequence(sequence)
    if isinstance(sequence, Real):
        return real(sequence, "sequence", above=0)
    if sequence is None:
        msg = f"{convention!r} counts attention: give sequence=, the length of the sequences"
        raise ThroughputError(msg)
    if convention != "packed":
        msg = (
            f"{convention!r} counts sequences of one length, and several were given: use "
            "convention='packed', whose attention term is their ΣL²/ΣL, or give one length"
        )
        raise ThroughputError(msg)
    if isinstance(sequence, TokenCounts):
        over = getattr(sequence, of) or sequence.real
        if sequence.squared_lengths is None or not over:
            msg = "these counts know no lengths: give real= and squared_lengths=, or the segments"
            raise ThroughputError(msg)
        return sequence.squared_lengths / over
    total = whole_row(sequence)
    return sum(float(length) ** 2 for length in sequence) / total


def whole_row(sequence: Any) -> float:
    """Return the length of a row, from the lengths of its segments too.

    Raises
    ------
    ThroughputError
        Where it is none, or counts of rows that may differ.
    """
    sequence = plain_sequence(sequence)
    if isinstance(sequence, Real):
        return real(sequence, "sequence", above=0)
    if sequence is None or isinstance(sequence, TokenCounts):
        what = "no sequence" if sequence is None else "counts of many rows"
        msg = f"{what} to count attention for: give the length of a row, or those of its segments"
        raise ThroughputError(msg)
    total = sum(real(length, "a segment's length", least=0) for length in sequence)
    if not total:
        msg = "the segments hold no position: give their lengths"
        raise ThroughputError(msg)
    return total


def length_under(convention: str, sequence: Any) -> Any:
    """Return what a convention takes of a row: its segments where it can, else all of it."""
    if isinstance(sequence, tuple) and convention not in ("packed", *NO_LENGTH):
        return whole_row(sequence)
    return sequence
