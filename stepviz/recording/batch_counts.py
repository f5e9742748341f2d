"""What each recorded update held: tokens where batches have them, else rows.

Batches are kept as they are while steps are recorded and counted afterwards: counting on a GPU
would make the host wait for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from stepviz.throughput.batches import FIELDS

_COUNTS: Final = ("allocated", "real", "executed", "scored", "sequences", "squared_lengths")


class BatchCounts:
    """Keeps batches of recorded steps and counts them at the end."""

    def __init__(self) -> None:
        self.on = False
        self.number = -1  # of the step, as the profiler counts
        self.from_loader = False
        self._kept: list[tuple[int, dict[str, Any]]] = []

    def loader_gave(self, batch: Any) -> None:
        """Take a batch on its way from the loader."""
        if self.on:
            self._kept.append((self.number, _held((batch,), {})))

    def model_got(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Take what a training model was called with, unless the loader's batches are counted."""
        if self.on and not self.from_loader:
            self._kept.append((self.number, _held(args, kwargs)))

    def rows(self, first: int) -> list[dict[str, int | None]]:
        """Return the counts of each step from `first`, microbatches added up.

        A count that one of a step's microbatches does not tell is None.
        """
        found: dict[int, list[dict[str, int | None]]] = {}
        for number, held in self._kept:
            if number >= first:
                found.setdefault(number, []).append(_counts(held))
        self._kept.clear()
        return [
            {"step": number, **{name: _sum([one[name] for one in parts]) for name in _COUNTS}}
            for number, parts in found.items()
        ]


def _sum(values: list[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _held(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a batch that can be counted, or how many rows it has."""
    named = [one for one in (*args, kwargs) if isinstance(one, Mapping)]
    fields = {name: one[name] for one in named for name in FIELDS if one.get(name) is not None}
    if fields:
        return fields
    flat: list[Any] = []
    for one in (*args, *kwargs.values()):
        flat += list(one.values()) if isinstance(one, Mapping) else _list(one)
    tensors = [one for one in flat if hasattr(one, "shape") and hasattr(one, "dtype")]
    whole = [one for one in tensors if _is_tokens(one)]
    if whole:
        # Two alike are tokens and targets; which of them are shifted is told when counted.
        second = [one for one in whole[1:2] if one.shape == whole[0].shape]
        return {"input_ids": whole[0], **({"targets": second[0]} if second else {})}
    sizes = [int(one.shape[0]) for one in tensors if len(one.shape)]
    return {"sequences": sizes[0]} if sizes else {}


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _is_tokens(tensor: Any) -> bool:
    return len(tensor.shape) == 2 and str(tensor.dtype).removeprefix("torch.") in (
        "int64",
        "int32",
    )


def _counts(held: dict[str, Any]) -> dict[str, int | None]:
    from stepviz.errors import ThroughputError
    from stepviz.throughput.counting import count_tokens

    nothing: dict[str, int | None] = dict.fromkeys(_COUNTS)
    if "sequences" in held or not held:
        return {**nothing, "sequences": held.get("sequences")}
    fields = {name: getattr(value, "cpu", lambda v=value: v)() for name, value in held.items()}
    targets, shifted = fields.pop("targets", None), False
    if targets is not None:
        tokens = fields["input_ids"]
        if bool((targets[:, :-1] == tokens[:, 1:]).all()):
            fields["labels"], shifted = targets, True
        elif bool((targets == tokens).all()):
            fields["labels"] = targets
    try:
        found = count_tokens(**fields, shifted=shifted)
    except ThroughputError:
        return nothing
    counts: dict[str, int | None] = {name: getattr(found, name) for name in _COUNTS}
    if found.notes and "attention_mask" not in fields:
        counts["real"] = None  # nothing says which positions are padding
    return counts
