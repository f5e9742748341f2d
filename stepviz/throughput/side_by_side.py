"""Two ways to run the same work, under every numerator: what improved, and what did not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import pandas as pd

from stepviz.errors import ThroughputError
from stepviz.throughput.figures import card, number_text, percent
from stepviz.throughput.flop_conventions import CONVENTIONS, known_convention
from stepviz.throughput.rates import NUMERATORS
from stepviz.throughput.sequence_lengths import NO_LENGTH
from stepviz.throughput.token_counts import TokenCounts
from stepviz.throughput.utilization import Mfu, mfu

#: Nearer than this is the same: what two decimals of a log would show as equal.
SAME: Final = 1e-3

_NAMES: Final = {
    "allocated": "processed positions per second",
    "real": "real positions per second",
    "executed": "executed positions per second",
    "scored": "scored targets per second",
    "sequences": "sequences per second",
    "updates": "updates per second",
}
_ABOUT_TARGETS: Final = (
    "Scored targets per second is a density of supervision: it says nothing about learning or the "
    "time to a quality."
)
_ABOUT_PACKING: Final = (
    "This is evidence about these two batches: kernels that skip padding already gain less by "
    "packing, and packed sequences need their boundaries in attention and in the loss."
)


@dataclass(frozen=True, repr=False)
class CountComparison:
    """Two timed counts, quantity by quantity.

    Parameters
    ----------
    table : DataFrame
        Indexed by quantity: `before`, `after`, `ratio` (after ÷ before), `unit`, `change` (better,
        worse, unchanged).
    words : tuple of str
        What did and what did not improve.
    """

    table: pd.DataFrame
    words: tuple[str, ...]

    def __repr__(self) -> str:
        return "\n".join(self.words)

    def _repr_html_(self) -> str:
        rows = [
            (
                f"{name}, {row['unit']}",
                f"{number_text(row['before'])} → {number_text(row['after'])} ({row['change']})",
            )
            for name, row in self.table.iterrows()
        ]
        return card("Before and after", [(str(name), text) for name, text in rows], self.words)


def throughput_table(
    counts: TokenCounts,
    *,
    shape: Any = None,
    peak: Any = None,
    sequence: float | None = None,
    devices: int = 1,
) -> pd.DataFrame:
    """Return one timed count under every numerator, and every FLOP convention that can be told.

    Parameters
    ----------
    counts : TokenCounts
        With seconds.
    shape, peak, devices : optional
        With a model and a peak there is a utilization per convention; see `mfu`.
    sequence : float, optional
        Length of a row; without it only conventions that need none, and `packed`, whose lengths
        the counts may know, are told.

    Returns
    -------
    DataFrame
        Indexed by quantity: `value`, `unit`, `counts` (what exactly that is).

    Raises
    ------
    ThroughputError
        Where the counts are not timed.

    Examples
    --------
    >>> update = TokenCounts(allocated=8, scored=2, scope="update", seconds=0.004)
    >>> throughput_table(update)["value"].to_dict()
    {'processed positions per second': 2000.0, 'executed positions per second': 2000.0,
    'scored targets per second': 500.0, 'updates per second': 250.0, 'time per update': 4.0}
    """
    _counted(counts, "counts")
    rows = [
        (_NAMES[str(of)], row["value"], row["unit"], row["counts"])
        for of, row in counts.rates().iterrows()
    ]
    if counts.updates:
        rows.append(("time per update", counts.ms_per_update, "ms", "wall time ÷ updates"))
    if shape is not None and peak is not None:
        rate = counts.rate("executed")
        for name, convention in CONVENTIONS.items():
            length: Any = sequence
            if name == "packed" and counts.mean_length is not None:
                length = counts
            if length is None and name not in NO_LENGTH:
                continue
            found = mfu(
                shape,
                convention=name,
                tokens_per_second=rate,
                sequence=length,
                peak=peak,
                devices=devices,
            )
            rows.append((f"{found.kind} ({name})", found.value, "of peak", convention.includes))
    table = pd.DataFrame(rows, columns=["quantity", "value", "unit", "counts"])
    return table.set_index("quantity")


def compare_counts(
    before: TokenCounts,
    after: TokenCounts,
    *,
    shape: Any = None,
    peak: Any = None,
    convention: str = "packed",
    sequence: Any = None,
    devices: int = 1,
) -> CountComparison:
    r"""Return how every rate of two timed counts differs, with words for it.

    Parameters
    ----------
    before, after : TokenCounts
        Of the same scope, with seconds.
    shape, peak, devices : optional
        With a model and a peak there is a utilization too; see `mfu`.
    convention : str
        Of that utilization; `packed` takes the lengths from the counts.
    sequence : int, optional
        Length for another convention.

    Returns
    -------
    CountComparison

    Raises
    ------
    ThroughputError
        Where one is not timed, or they are of different scopes.

    Examples
    --------
    >>> padded = TokenCounts(allocated=8, scored=2, scope="update", seconds=0.004)
    >>> packed = TokenCounts(allocated=6, scored=2, scope="update", seconds=0.003)
    >>> print("\n".join(compare_counts(padded, packed).words[:3]))
    Processed positions per second: 2,000 before and after, unchanged.
    Executed positions per second: 2,000 before and after, unchanged.
    Scored targets per second: from 500 to 667, 1.33 times as many.
    """
    _counted(before, "before")
    _counted(after, "after")
    if before.scope != after.scope:
        msg = f"one count is of one {before.scope}, the other of one {after.scope}: time the same"
        raise ThroughputError(msg)
    rows: dict[str, tuple[float, float, str]] = {}
    for of, name in _NAMES.items():
        if getattr(before, of) is not None and getattr(after, of) is not None:
            rows[name] = (before.rate(of).value, after.rate(of).value, NUMERATORS[of][0])
    if before.updates and after.updates:
        rows["time per update"] = (before.ms_per_update, after.ms_per_update, "ms")
    utilizations = _utilizations(before, after, shape, peak, convention, sequence, devices)
    if utilizations:
        kind = f"{utilizations[0].kind} ({convention})"
        rows[kind] = (utilizations[0].value, utilizations[1].value, "of peak")
    changes = [change_of(name, old, new) for name, (old, new, _) in rows.items()]
    table = pd.DataFrame(
        {
            "before": [row[0] for row in rows.values()],
            "after": [row[1] for row in rows.values()],
            "ratio": [row[1] / row[0] if row[0] else float("nan") for row in rows.values()],
            "unit": [row[2] for row in rows.values()],
            "change": changes,
        },
        index=pd.Index(list(rows), name="quantity"),
    )
    said = _words(table)
    said += list(dict.fromkeys(g for one in utilizations for g in one.guards))
    if before.scored is not None and after.scored is not None:
        useful = [counts.scored / (counts.updates or 1) for counts in (before, after)]  # type: ignore[operator]  # not None
        if useful[0] != useful[1]:
            said.append(
                f"They do not score the same targets ({number_text(useful[0])} and "
                f"{number_text(useful[1])}), so their times are of different work."
            )
    return CountComparison(table, tuple(said))


def _counted(value: object, name: str) -> None:
    if not isinstance(value, TokenCounts):
        msg = (
            f"{name} is {value!r}: give timed TokenCounts, such as "
            "count_tokens(batch, seconds=0.25)"
        )
        raise ThroughputError(msg)


def _utilizations(
    before: TokenCounts,
    after: TokenCounts,
    shape: Any,
    peak: Any,
    convention: str,
    sequence: Any,
    devices: int,
) -> list[Mfu]:
    if shape is None or peak is None:
        return []
    known_convention(convention)
    return [
        mfu(
            shape,
            convention=convention,
            tokens_per_second=counts.rate("executed"),
            sequence=counts if sequence is None and convention == "packed" else sequence,
            peak=peak,
            devices=devices,
        )
        for counts in (before, after)
    ]


def change_of(name: str, old: float, new: float) -> str:
    """Return better, worse or unchanged; of times per update the shorter is better."""
    if abs(new - old) <= SAME * max(abs(old), abs(new)):
        return "unchanged"
    return "better" if (new > old) != (name == "time per update") else "worse"


def _words(table: pd.DataFrame) -> list[str]:
    said = []
    for name, row in table.iterrows():
        text = percent if row["unit"] == "of peak" else number_text
        unit = " ms" if row["unit"] == "ms" else ""
        old, new = text(row["before"]) + unit, text(row["after"]) + unit
        label = str(name)[0].upper() + str(name)[1:]
        if row["change"] == "unchanged":
            said.append(f"{label}: {old} before and after, unchanged.")
        elif row["unit"] == "ms":
            said.append(f"{label}: from {old} to {new}, {number_text(row['ratio'])} of it.")
        elif row["unit"] == "of peak":
            said.append(f"{label}: from {old} to {new}.")
        else:
            said.append(f"{label}: from {old} to {new}, {number_text(row['ratio'])} times as many.")
    changed = table["change"] != "unchanged"
    targets, positions = _NAMES["scored"], _NAMES["allocated"]
    if targets in table.index and changed[targets]:
        said.append(_ABOUT_TARGETS)
        if positions in table.index and not changed[positions]:
            said.append(_ABOUT_PACKING)
    return said
