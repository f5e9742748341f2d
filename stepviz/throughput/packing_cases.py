"""One batch as it is and packed, timed and counted under every convention at once."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from stepviz.errors import ThroughputError
from stepviz.throughput.batches import fields_of
from stepviz.throughput.checks import real, share, whole
from stepviz.throughput.counting import count_tokens
from stepviz.throughput.flop_conventions import CONVENTIONS
from stepviz.throughput.layouts import LESSON_MS_PER_POSITION, Batch, made_batch
from stepviz.throughput.repacking import repacked
from stepviz.throughput.side_by_side import CountComparison, change_of, compare_counts
from stepviz.throughput.tallies import Rules, read_layout
from stepviz.throughput.token_counts import TokenCounts
from stepviz.throughput.utilization import mfu


@dataclass(frozen=True)
class PackingCase:
    """The same work in two layouts of its rows, both timed as updates.

    Parameters
    ----------
    before, after : mapping
        The batches: one microbatch each.
    counts : (TokenCounts, TokenCounts)
        Of one update each, with seconds.
    accumulation : int
        Microbatches in an update.
    """

    before: Any
    after: Any
    counts: tuple[TokenCounts, TokenCounts]
    accumulation: int

    @property
    def widths(self) -> tuple[int, int]:
        """Positions in the longest row of each."""
        return row_width(self.before), row_width(self.after)

    def compared(self) -> CountComparison:
        """Return every rate before and after, with words for what improved."""
        return compare_counts(*self.counts)

    def utilizations(self, shape: Any, peak: Any, *, devices: int = 1) -> pd.DataFrame:
        """Return the utilization under every FLOP convention, before and after.

        Attention is counted over a whole row, `packed` apart, which knows the boundaries.

        Parameters
        ----------
        shape, peak, devices
            As for `mfu`.

        Returns
        -------
        DataFrame
            Indexed by convention: `before`, `after` (fractions), `ratio`, `change`, `kind` (MFU or
            HFU), `includes`, `guards` (what cannot be, or what the number does not say).
        """
        sides = []
        for counts, width in zip(self.counts, self.widths, strict=True):
            rate = counts.rate("executed")
            sides.append(
                [
                    mfu(
                        shape,
                        convention=name,
                        tokens_per_second=rate,
                        sequence=counts if name == "packed" else width,
                        peak=peak,
                        devices=devices,
                    )
                    for name in CONVENTIONS
                ]
            )
        both = [(one.value, other.value) for one, other in zip(*sides, strict=True)]
        return pd.DataFrame(
            {
                "before": [before for before, _ in both],
                "after": [after for _, after in both],
                "ratio": [after / before if before else math.nan for before, after in both],
                "change": [
                    change_of(name, *pair) for name, pair in zip(CONVENTIONS, both, strict=True)
                ],
                "kind": [one.kind for one in sides[0]],
                "includes": [convention.includes for convention in CONVENTIONS.values()],
                "guards": [
                    "; ".join(dict.fromkeys((*one.guards, *other.guards)))
                    for one, other in zip(*sides, strict=True)
                ],
            },
            index=pd.Index(list(CONVENTIONS), name="convention"),
        )

    def trap(self) -> str:
        """Say what an update's tokens over one microbatch's time would be; "" where they agree."""
        counts = self.counts[0]
        try:
            counts.timed((counts.seconds or 0.0) / self.accumulation, "microbatch")
        except ThroughputError as error:
            return str(error)
        return ""


def packed_case(
    batch: Any,
    *,
    packing: int = 1,
    accumulation: int = 1,
    seconds: float | None = None,
    ms_per_position: float = LESSON_MS_PER_POSITION,
    skips_padding: bool = False,
    pad_id: int | None = None,
) -> PackingCase:
    """Return a batch as it is, and with `packing` of its sequences in a row.

    Time goes with the positions that kernels run over, the same per position in both.

    Parameters
    ----------
    batch : mapping
        One microbatch, as for `count_tokens`.
    packing : int
        The most sequences in a row; 1 leaves the batch as it is.
    accumulation : int
        Such microbatches in an update.
    seconds : float, optional
        How long the batch took as it is, s: what a position takes follows from it.
    ms_per_position : float
        ms per executed position, where it was not timed.
    skips_padding : bool
        Whether kernels skip padding.
    pad_id : int, optional
        The id of padding, where there is no mask.
    """
    passes = whole(accumulation, "accumulation", least=1)
    most = whole(packing, "packing", least=1)
    after = batch if most == 1 else repacked(batch, most, pad_id=pad_id)
    parts = [
        _counted(one, passes, skips_padding=skips_padding, pad_id=pad)
        for one, pad in ((batch, pad_id), (after, pad_id if after is batch else None))
    ]
    ran = [counts.executed or 0 for counts in parts]
    if seconds is None:
        each = real(ms_per_position, "ms_per_position", above=0) / 1000
    else:
        each = real(seconds, "seconds", above=0) * passes / ran[0]
    sides = [counts.timed(n * each) for counts, n in zip(parts, ran, strict=True)]
    return PackingCase(batch, after, (sides[0], sides[1]), passes)


def timed_case(
    before: Any,
    after: Any,
    seconds: tuple[float, float],
    *,
    accumulation: int = 1,
    skips_padding: bool = False,
) -> PackingCase:
    """Return two batches with the measured time of a microbatch of each, in s."""
    passes = whole(accumulation, "accumulation", least=1)
    sides = []
    for batch, each in zip((before, after), seconds, strict=True):
        counts = _counted(batch, passes, skips_padding=skips_padding, pad_id=None)
        sides.append(counts.timed(real(each, "seconds", above=0) * passes))
    return PackingCase(before, after, (sides[0], sides[1]), passes)


def slider_case(
    *,
    sequences: int = 2,
    length: int = 4,
    padding: float = 0.25,
    spread: float = 0.0,
    prompt: float = 2 / 3,
    packing: int = 2,
    accumulation: int = 1,
    skips_padding: bool = False,
    ms_per_position: float = LESSON_MS_PER_POSITION,
) -> PackingCase:
    """Return a case made from knobs; as they are, the lesson's two batches.

    Parameters
    ----------
    sequences, length : int
        Rows of the batch that is padded, and positions in each.
    padding : float
        Share of its positions that are padding, about: lengths are whole.
    spread : float
        From 0, all sequences of one length, to 1, as different as that share allows.
    prompt : float
        Share of each sequence that is prompt.
    packing, accumulation, skips_padding, ms_per_position
        As for `packed_case`.

    Examples
    --------
    >>> [(c.allocated, c.scored, 1000 * c.seconds) for c in slider_case().counts]
    [(8, 2, 4.0), (6, 2, 3.0)]
    """
    number = whole(sequences, "sequences", least=1)
    room = whole(length, "length", least=2)
    mean = room * (1 - share(padding, "padding"))
    widest = max(0.0, min(mean - 1, room - mean)) * share(spread, "spread")
    steps = np.linspace(-1, 1, number) if number > 1 else np.zeros(1)
    sizes = np.clip(np.rint(mean + widest * steps), 1, room).astype(int)
    prompts = np.clip(np.rint(sizes * share(prompt, "prompt")), 0, sizes).astype(int)
    batch: Batch = made_batch(prompts.tolist(), (sizes - prompts).tolist(), length=room)
    return packed_case(
        batch,
        packing=packing,
        accumulation=accumulation,
        ms_per_position=ms_per_position,
        skips_padding=skips_padding,
    )


#: Most rows whose masks are listed.
MOST_ROWS: Final = 24


def role_runs(roles: pd.DataFrame, rows: int = MOST_ROWS) -> list[list[tuple[int, int, str, int]]]:
    """Return the masks of the first rows as runs of equal positions.

    Parameters
    ----------
    roles : DataFrame
        As `token_roles` returns it.
    rows : int
        How many rows.

    Returns
    -------
    list of list of (start, length, what, sequence)
        By row; `what` is prompt, completion (not scored: nothing predicts it), target or padding;
        `sequence` is −1 in padding.
    """
    shown = roles[roles["row"] < rows]
    what = np.where(shown["scored"], "target", shown["role"]).astype(object)
    row = shown["row"].to_numpy()
    sequence = shown["sequence"].fillna(-1).to_numpy(dtype=np.int64)
    first = shown["first"].to_numpy()
    changed = np.ones(len(shown), bool)
    changed[1:] = (what[1:] != what[:-1]) | (row[1:] != row[:-1])
    changed[1:] |= (sequence[1:] != sequence[:-1]) | first[1:]
    begins = np.flatnonzero(changed)
    ends = np.append(begins[1:], len(shown))
    at = shown["position"].to_numpy()
    found: list[list[tuple[int, int, str, int]]] = [[] for _ in range(int(row.max(initial=-1)) + 1)]
    for k, end in zip(begins.tolist(), ends.tolist(), strict=True):
        found[row[k]].append((int(at[k]), end - k, str(what[k]), int(sequence[k])))
    return found


def row_width(batch: Any) -> int:
    """Return the positions in the longest row of a batch."""
    lengths: Iterable[int] = read_layout(fields_of(batch), Rules()).rows.lengths.tolist()
    return max(lengths, default=0)


def _counted(batch: Any, passes: int, *, skips_padding: bool, pad_id: int | None) -> TokenCounts:
    one = count_tokens(batch, scope="microbatch", skips_padding=skips_padding, pad_id=pad_id)
    return TokenCounts.over_time([one] * passes, scope="update")
