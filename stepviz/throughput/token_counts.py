"""What a batch, an update or a run held: every count under a name of its own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final

import pandas as pd

from stepviz.errors import ThroughputError
from stepviz.throughput.checks import listed, real, whole
from stepviz.throughput.figures import card, number_text, percent
from stepviz.throughput.rates import NUMERATORS, Rate, known_numerator
from stepviz.throughput.scopes import known_scope, refuse_mismatch
from stepviz.throughput.square_bounds import refuse_impossible_squares

#: Counts that add up, over time and over ranks.
ADDITIVE: Final = ("allocated", "real", "executed", "scored", "sequences", "squared_lengths")
#: These are part of the allocated positions.
_PARTS: Final = ("real", "executed", "scored")


@dataclass(frozen=True, kw_only=True, repr=False)
class TokenCounts:
    """The counts that are all called "tokens", apart; None where one is not known.

    Parameters
    ----------
    allocated : int, optional
        Rows × padded length, `input_ids.numel()`.
    real : int, optional
        Positions that are no padding, `attention_mask.sum()`.
    executed : int, optional
        Positions that the kernels ran over; the allocated ones unless given.
    scored : int, optional
        Targets that the loss counts: labels ≠ −100 after the shift.
    updates : int, optional
        Optimizer steps that were applied; 1 in the scope of an update.
    sequences : int, optional
        Rows, or the segments packed into them.
    squared_lengths : int, optional
        Σ L² over the sequences, L their real positions: what attention inside their boundaries
        pays for, beside Σ L for the rest.
    scope : {"microbatch", "update", "run"}
        What the counts, and the seconds, belong to. A run is any stretch of several.
    seconds : float, optional
        The interval, in s, that holds exactly this work.
    microbatches : int, optional
        Passes that these counts hold; 1 in the scope of a microbatch.
    notes : tuple of str
        What a reader of these counts must know.

    Raises
    ------
    ThroughputError
        A negative or fractional count, a part greater than the whole, Σ L² that no lengths have,
        an unknown scope.

    Examples
    --------
    >>> padded = TokenCounts(allocated=8, scored=2, scope="update", seconds=0.004)
    >>> packed = TokenCounts(allocated=6, scored=2, scope="update", seconds=0.003)
    >>> padded.rate("allocated").value, packed.rate("allocated").value
    (2000.0, 2000.0)
    >>> padded.rate("scored"), packed.rate("scored")
    (500 targets/s (scored, update), 667 targets/s (scored, update))
    """

    allocated: int | None = None
    real: int | None = None
    executed: int | None = None
    scored: int | None = None
    updates: int | None = None
    sequences: int | None = None
    squared_lengths: int | None = None
    scope: str = "microbatch"
    seconds: float | None = None
    microbatches: int | None = None
    notes: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        """Check every count, and fill in what follows from the others."""
        known_scope(self.scope)
        for name in (*ADDITIVE, "updates", "microbatches"):
            if getattr(self, name) is not None:
                self._set(name, whole(getattr(self, name), name))
        if self.seconds is not None:
            self._set("seconds", real(self.seconds, "seconds", above=0))
        if self.executed is None:
            self._set("executed", self.allocated)
        self._set("notes", tuple(listed(self.notes, "notes")))
        for name in _PARTS:
            part = getattr(self, name)
            if part is not None and self.allocated is not None and part > self.allocated:
                msg = (
                    f"{part:,} {name} of {self.allocated:,} allocated positions: give at most as "
                    "many"
                )
                raise ThroughputError(msg)
        if self.sequences == 0 and (self.real or self.squared_lengths):
            msg = "there are real positions and 0 sequences: give the sequences that hold them"
            raise ThroughputError(msg)
        refuse_impossible_squares(
            self.squared_lengths,
            self.allocated if self.real is None else self.real,
            self.sequences,
            exactly=self.real is not None,
        )
        for name, scope in (("updates", "update"), ("microbatches", "microbatch")):
            if self.scope != scope:
                continue
            if getattr(self, name) not in (None, 1):
                msg = f"{getattr(self, name)} {name} in the scope of one {scope}: use scope='run'"
                raise ThroughputError(msg)
            self._set(name, 1)

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    # Shares

    @property
    def padding_share(self) -> float | None:
        """Part of the allocated positions that is padding."""
        return None if self.real is None or not self.allocated else 1 - self.real / self.allocated

    @property
    def scored_share(self) -> float | None:
        """Part of the allocated positions whose target is scored."""
        return None if self.scored is None or not self.allocated else self.scored / self.allocated

    @property
    def mean_length(self) -> float | None:
        """Σ L² ÷ Σ L: the length of sequence that costs the same attention per position."""
        if self.squared_lengths is None or not self.real:
            return None
        return self.squared_lengths / self.real

    # Time

    def timed(
        self,
        seconds: float,
        scope: str | None = None,
        *,
        accumulation: int | None = None,
        updates: int | None = None,
    ) -> TokenCounts:
        """Return these counts with the interval that holds their work.

        Parameters
        ----------
        seconds : float
            How long it took, s.
        scope : {"microbatch", "update", "run"}, optional
            What was timed; what was counted, unless given.
        accumulation : int, optional
            Microbatches in an update, where the counts do not know.
        updates : int, optional
            Updates in the run, where the counts do not know.

        Raises
        ------
        ThroughputError
            Where another scope was timed than was counted; with the factor, `error.factor`, that
            the rate would be wrong by.

        Examples
        --------
        >>> update = TokenCounts(allocated=131_072, scope="update", microbatches=8)
        >>> update.timed(0.5, "microbatch")
        Traceback (most recent call last):
            ...
        stepviz.errors.ThroughputError: the count is of one update and the time of one microbatch:
        the rate would be 8 times too high. Time one update, or count one microbatch
        """
        known = self.microbatches if self.scope == "update" else None
        if self.scope == "run" and self.microbatches and self.updates:
            known = self.microbatches // self.updates
        refuse_mismatch(
            self.scope,
            self.scope if scope is None else known_scope(scope),
            microbatches=known or _optional(accumulation, "accumulation"),
            updates=(self.updates if self.scope == "run" else None)
            or _optional(updates, "updates"),
        )
        return replace(self, seconds=seconds)

    def rate(self, of: str = "executed") -> Rate:
        """Return one of the counts per second.

        Parameters
        ----------
        of : {"allocated", "real", "executed", "scored", "sequences", "updates"}

        Raises
        ------
        ThroughputError
            Where that count or the interval is not known.
        """
        known_numerator(of)
        count = getattr(self, of)
        if count is None:
            msg = f"how many {of} there were is not known: give {of}= to TokenCounts"
            raise ThroughputError(msg)
        return Rate(count, self._interval(), of, self.scope)

    def rates(self) -> pd.DataFrame:
        """Return every rate whose count is known, indexed by what is counted.

        Returns
        -------
        DataFrame
            `value`, `unit`, `counts` (what exactly that is).
        """
        found = [self.rate(of) for of in NUMERATORS if getattr(self, of) is not None]
        return pd.DataFrame(
            {
                "value": [rate.value for rate in found],
                "unit": [rate.unit for rate in found],
                "counts": [rate.convention for rate in found],
            },
            index=pd.Index([rate.of for rate in found], name="numerator"),
        )

    @property
    def ms_per_update(self) -> float:
        """Wall time of an update, ms.

        Raises
        ------
        ThroughputError
            Where there is no update, or no interval.
        """
        if not self.updates:
            msg = "how many updates there were is not known: give updates=, or scope='update'"
            raise ThroughputError(msg)
        return 1000 * self._interval() / self.updates

    def _interval(self) -> float:
        if self.seconds is None:
            msg = f"this {self.scope} was not timed: counts.timed(seconds) gives it an interval"
            raise ThroughputError(msg)
        return self.seconds

    # Several together

    @staticmethod
    def over_time(parts: Iterable[TokenCounts], scope: str = "run") -> TokenCounts:
        """Return what several stretches, one after the other, held together.

        Counts and seconds add, so that a rate of the sum is the ratio of sums. A count that one
        part does not know is not known of the sum.

        Parameters
        ----------
        parts : iterable of TokenCounts
            Of one scope.
        scope : {"run", "update"}
            What they are together; `update`: the parts are all its microbatches, and the seconds
            are dropped, since an update also holds what is between and after its microbatches.
        """
        several, inner = _of_one_scope(parts)
        known_scope(scope)
        if scope == "microbatch" or (scope == "update" and inner != "microbatch"):
            msg = f"several of scope {inner!r}, one after the other, are no {scope}: use 'run'"
            raise ThroughputError(msg)
        seconds = None if scope == "update" else _sum(several, "seconds")
        updates = 1 if scope == "update" else _sum(several, "updates")
        return TokenCounts(
            **{name: _sum(several, name) for name in ADDITIVE},  # type: ignore[arg-type]  # ints
            microbatches=_sum(several, "microbatches"),  # type: ignore[arg-type]  # an int
            updates=updates,  # type: ignore[arg-type]  # an int
            seconds=seconds,
            scope=scope,
            notes=_notes(several),
        )

    @staticmethod
    def over_ranks(parts: Iterable[TokenCounts]) -> TokenCounts:
        """Return what data-parallel ranks held together, at the same time.

        Counts add; the interval is the slowest rank's; updates and microbatches are those of each.

        Parameters
        ----------
        parts : iterable of TokenCounts
            One per data-parallel rank. Ranks of one tensor- or context-parallel group hold the
            same tokens, or a share of them: count such a group once.
        """
        several, scope = _of_one_scope(parts)
        same = {}
        for name in ("updates", "microbatches"):
            values = {getattr(part, name) for part in several}
            if len(values) > 1:
                shown = ", ".join(sorted(str(v) for v in values))
                msg = f"ranks of one job make the same {name}, and these made {shown}"
                raise ThroughputError(msg)
            same[name] = values.pop()
        known = [part.seconds for part in several if part.seconds is not None]
        return TokenCounts(
            **{name: _sum(several, name) for name in ADDITIVE},  # type: ignore[arg-type]  # ints
            **same,
            seconds=max(known) if len(known) == len(several) else None,
            scope=scope,
            notes=_notes(several),
        )

    def __add__(self, other: object) -> TokenCounts:
        if not isinstance(other, TokenCounts):
            return NotImplemented
        scopes = {self.scope, other.scope}
        # so that sum() over many works: what is summed already is a run
        if len(scopes) == 2 and "run" in scopes:
            parts = [replace(part, scope="run") for part in (self, other)]
            return TokenCounts.over_time(parts)
        return TokenCounts.over_time([self, other])

    def __radd__(self, other: object) -> TokenCounts:
        return self if isinstance(other, int) and other == 0 else NotImplemented

    # Shown

    def __repr__(self) -> str:
        known = [
            f"{name}={getattr(self, name):,}"
            for name in (*ADDITIVE, "updates", "microbatches")
            if getattr(self, name) is not None
        ]
        timed = "" if self.seconds is None else f", seconds={number_text(self.seconds)}"
        return f"TokenCounts({', '.join(known)}, scope={self.scope!r}{timed})"

    def _repr_html_(self) -> str:
        rows = [
            (name.replace("_", " "), f"{getattr(self, name):,}")
            for name in (*ADDITIVE, "updates", "microbatches")
            if getattr(self, name) is not None
        ]
        if self.padding_share is not None:
            rows.append(("padding", percent(self.padding_share)))
        if self.seconds is not None:
            rows.append(("seconds", number_text(self.seconds)))
            rows += [
                (f"{of} per second", f"{number_text(self.rate(of).value)} {self.rate(of).unit}")
                for of in NUMERATORS
                if getattr(self, of) is not None
            ]
        return card(f"Tokens of one {self.scope}", rows, self.notes)


def _optional(value: int | None, name: str) -> int | None:
    return None if value is None else whole(value, name, least=1)


def _of_one_scope(parts: Iterable[TokenCounts]) -> tuple[list[TokenCounts], str]:
    several = listed(parts, "counts")
    if not several or not all(isinstance(part, TokenCounts) for part in several):
        msg = "give the TokenCounts to add, at least one"
        raise ThroughputError(msg)
    scopes = sorted({part.scope for part in several})
    if len(scopes) > 1:
        msg = f"counts of different scopes ({', '.join(scopes)}) do not add: count one of them"
        raise ThroughputError(msg)
    return several, scopes[0]


def _sum(parts: list[TokenCounts], name: str) -> float | None:
    values = [getattr(part, name) for part in parts]
    return None if any(value is None for value in values) else sum(values)


def _notes(parts: list[TokenCounts]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(note for part in parts for note in part.notes))
