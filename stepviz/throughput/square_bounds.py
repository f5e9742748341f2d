"""What a sum of squared lengths can be, given how many positions and sequences there are."""

from __future__ import annotations

from stepviz.errors import ThroughputError


def least_squares_sum(positions: int, sequences: int | None) -> int:
    """Return the least Σ L² of so many positions: as evenly shared out as whole lengths can be.

    Examples
    --------
    >>> least_squares_sum(7, 3)  # 2, 2 and 3
    17
    >>> least_squares_sum(7, None)  # seven sequences of 1
    7
    """
    if not sequences:
        return positions
    each, longer = divmod(positions, sequences)
    return (sequences - longer) * each**2 + longer * (each + 1) ** 2


def refuse_impossible_squares(
    squared: int | None, positions: int | None, sequences: int | None, *, exactly: bool
) -> None:
    """Raise where no lengths have this Σ L².

    The least is that of equal lengths, the most that of one sequence with all positions.

    Parameters
    ----------
    squared, positions, sequences : int, optional
        Σ L², Σ L, and how many lengths; None where not known.
    exactly : bool
        Whether there are just so many positions, or at most.

    Raises
    ------
    ThroughputError
        With the bound that is broken.
    """
    if squared is None or positions is None:
        return
    where = f"squared_lengths is {squared:,}"
    what = "real" if exactly else "allocated"
    if squared > positions**2:
        msg = (
            f"{where}, and {positions:,} {what} positions make at most {positions**2:,}, in one "
            "sequence: give Σ L² over the sequences, each L its real positions"
        )
        raise ThroughputError(msg)
    least = least_squares_sum(positions, sequences)
    if exactly and squared < least:
        shared = f" in {sequences:,} sequences" if sequences else ""
        msg = (
            f"{where}, and {positions:,} real positions{shared} make at least {least:,}, all of "
            "them equally long: give Σ L² over the sequences, each L its real positions"
        )
        raise ThroughputError(msg)
